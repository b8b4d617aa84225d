"""kibitz systems: the table of systems as it is."""

from __future__ import annotations

import json

import pytest

from kibitz import cli
from kibitz.runs import packaged
from kibitz.systems import SYSTEMS


def test_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["systems"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:-4]] == list(SYSTEMS)
    assert max(len(line) for line in lines[:-3]) <= 80
    assert all(name in lines[-3] for name in packaged())
    assert cli.run(["systems", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in told["systems"]] == list(SYSTEMS)
    assert set(told["systems"][0]) == {"name", "game", "title", "paper", "anchor", "answers"}


def test_the_recipes_of_a_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["systems", "chessnet"]) == 0
    text = capsys.readouterr().out
    for part in ("--recipe default", "--recipe long", "--recipe paper", "AdaGrad's sums", "accumulator 0.1"):
        assert part in text
    assert cli.run(["systems", "chessnet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    recipes = {recipe["name"]: recipe for recipe in told["recipes"]}
    assert recipes["paper"]["settings"] == {"accumulator": 0.1}
    assert recipes["paper"]["departures"]
    assert cli.run(["systems", "checkers"]) == 2
    assert "unknown system" in capsys.readouterr().err
