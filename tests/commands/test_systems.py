"""kibitz systems: the table of systems as it is."""

from __future__ import annotations

import json

import pytest

from kibitz import cli
from kibitz.systems import SYSTEMS


def test_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["systems"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(SYSTEMS)
    assert cli.run(["systems", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in told["systems"]] == list(SYSTEMS)
    assert set(told["systems"][0]) == {"name", "game", "title", "paper", "anchor"}
