"""kibitz explore: the table, the JSON, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kibitz import cli
from kibitz.api import stores
from support.causes import mentions, refused
from support.helpers import import_games

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return import_games(tmp_path_factory.mktemp("explore") / "a.store", limit=200).path


def run(*arguments: object) -> int:
    return cli.run(["explore", *map(str, arguments)])


def test_table_json_and_api_say_the_same(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(path, "e4", "c5", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert stores.open_store(path).explore(["e4 c5"]) == found
    assert set(found) == {
        "store", "game", "fen", "opening", "rating", "games", "white", "draws", "black", "average_rating", "moves",
        "examples",
    }  # fmt: skip
    assert set(found["moves"][0]) == {"move", "san", "games", "white", "draws", "black", "average_rating"}
    assert run(path, "1. e4 c5") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "B20 Sicilian Defense"
    assert lines[1].split() == ["move", "games", "share", "White", "won", "drawn", "Black", "won", "rating"]
    first = found["moves"][0]
    assert lines[2].split()[:2] == [first["san"], str(first["games"])]
    whole = next(line for line in lines if line.startswith("all"))
    assert whole.split()[1] == str(found["games"])
    assert mentions(lines, "games & highest rated")


def test_a_range_of_ratings(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = []
    for band in ("-1800", "1801-"):
        assert run(path, "--rating", band, "--json") == 0
        counts.append(json.loads(capsys.readouterr().out)["games"])
    assert sum(counts) == 200
    assert 0 < counts[0] < 200


@pytest.mark.parametrize(
    ("without", "cause", "names"),
    [
        (["e4"], ["e5"], ["move 1", "e5"]),
        (["--fen", START], ["--fen", "8/8"], ["FEN"]),
        (["--fen", START], ["--fen", "8/8/8/8/8/8/8/8 w - - 0 1"], ["FEN", "8/8/8/8/8/8/8/8 w - - 0 1"]),
        (["--rating", "1600-2000"], ["--rating", "20"], ["rating", "20"]),
    ],
)
def test_what_is_refused(path: Path, without: list[str], cause: list[str], names: list[str]) -> None:
    refused(["explore", path, *without], ["explore", path, *cause], code=2, names=names)


def test_no_store(path: Path, tmp_path: Path) -> None:
    refused(["explore", path], ["explore", tmp_path / "none"], code=1, names=[str(tmp_path / "none"), "store"])
