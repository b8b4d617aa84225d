"""kibitz rate: the rating of a player's games as text, as JSON and in Python, and what is refused."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

import kibitz
from kibitz import cli
from support import person
from support.causes import mentions


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rate") / "my-games.pgn"
    person.write(path, 10)
    return path


def run(*arguments: object) -> int:
    return cli.run(["rate", *map(str, arguments)])


def test_text_json_and_python_agree(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(games, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    strength = kibitz.rate(games)
    assert found == {"level": 0.9, **strength.as_json()}
    assert (found["name"], found["games"]) == (person.PERSON, 10)
    rating = found["rating"]
    assert rating["low"] < rating["value"] < rating["high"]
    assert set(found["by_side"]) == {"black", "white"}
    assert run(games, "--player", "ANA munoz") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{person.PERSON}: 10 games")
    assert str(rating["value"]) in lines[1]
    assert f"{rating['low']} to {rating['high']}" in lines[1]
    assert mentions(lines, "as White")


def test_a_scale_without_measurements_is_named(games: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(games) == 0
    assert not mentions(capsys.readouterr().out, "not measured")
    elsewhere = tmp_path / "elsewhere.pgn"
    text = games.read_text(encoding="utf-8")
    elsewhere.write_text(re.sub(r'\[Site "[^"]*"\]', '[Site "Hamburg"]', text), encoding="utf-8")
    assert run(elsewhere) == 0
    assert mentions(capsys.readouterr().out, "not measured")


def test_repeated_games_count_once(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = games.read_text(encoding="utf-8")
    (tmp_path / "a.pgn").write_text(text, encoding="utf-8")
    (tmp_path / "b.pgn").write_text(text, encoding="utf-8")
    assert run(tmp_path, "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["games"] == 10
    assert "10 repeated games" in err


def test_games_that_are_too_fast_are_counted(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, fast = games.read_text(encoding="utf-8"), tmp_path / "fast.pgn"
    fast.write_text(text.replace("180+2", "15+0", 3), encoding="utf-8")
    assert run(fast, "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["games"] == 7
    assert mentions(err, "skipped 3 & 29 seconds")
    assert run(games, "--json") == 0
    assert "skipped" not in capsys.readouterr().err


def test_what_is_refused(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = tmp_path / "few.pgn"
    person.write(few, 4)
    assert run(games) == 0
    capsys.readouterr()
    go = tmp_path / "go"
    go.mkdir()
    (go / "game.sgf").write_text("(;GM[1]SZ[9]PB[Ann]PW[Bob];B[ee];W[ec])")
    packed = tmp_path / "game.sgf.gz"
    packed.write_bytes(gzip.compress((go / "game.sgf").read_bytes()))
    with pytest.raises(kibitz.UsageError, match="chess only"):
        kibitz.rate(packed)
    for code, arguments, words in (
        (1, [few], ["at least 5", "4"]),
        (1, [tmp_path / "none.pgn"], ["none.pgn"]),
        (2, [games, "--player", "Nobody"], ["Nobody"]),
        (2, ["-"], ["standard input"]),
        (2, ["game.sgf"], ["game.sgf", "chess"]),
        (2, [go], [str(go), "chess only"]),
        (2, [packed], [str(packed), "chess only"]),
        (2, ["ogs:somebody"], ["ogs:somebody", "chess"]),
        (2, [games, "--since", "2025"], ["--since"]),
    ):
        assert run(*arguments) == code, arguments
        err = capsys.readouterr().err
        assert err.startswith("error: "), err
        assert len(err.splitlines()) == 1, err
        assert all(word in err for word in words), err
