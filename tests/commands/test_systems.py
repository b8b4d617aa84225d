"""kibitz systems: the table of systems as it is."""

from __future__ import annotations

import json

import pytest

from kibitz import cli
from kibitz.manifest import version_of
from kibitz.runs import Run, packaged
from kibitz.systems import SYSTEMS


def test_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["systems"]) == 0
    lines = capsys.readouterr().out.splitlines()
    end = lines.index("")
    assert [line.split()[0] for line in lines[1:end]] == list(SYSTEMS)
    assert max(len(line) for line in lines) <= 80
    assert [line.split()[:2] for line in lines[end + 3 : -2]] == [[name, version_of(name)] for name in packaged()]
    assert cli.run(["systems", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in told["systems"]] == list(SYSTEMS)
    assert set(told["systems"][0]) == {"name", "game", "title", "paper", "anchor", "answers"}
    assert [entry["version"] for entry in told["networks"]] == [version_of(name) for name in packaged()]
    for entry in told["networks"]:
        assert entry["changes"][0]["version"] == entry["version"]
        assert all(change["brings"] for change in entry["changes"])
    assert told["networks"][0]["weights_sha256"] == Run(told["networks"][0]["name"]).weights_sha256()


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
