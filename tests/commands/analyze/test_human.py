"""kibitz analyze with a network that is told ratings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kibitz.cli import run
from support.causes import mentions

GAME = '[White "a"]\n[Black "b"]\n{}\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 *\n'
RATED = '[WhiteElo "1500"]\n[BlackElo "1720"]\n'


@pytest.fixture
def rated(tmp_path: Path) -> str:
    (tmp_path / "rated.pgn").write_text(GAME.format(RATED))
    return str(tmp_path / "rated.pgn")


@pytest.fixture
def unrated(tmp_path: Path) -> str:
    (tmp_path / "unrated.pgn").write_text(GAME.format(""))
    return str(tmp_path / "unrated.pgn")


def test_each_move_for_its_player_a_weaker_and_a_stronger_one(
    human_run: Path, rated: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["analyze", str(human_run), rated, "--json"]) == 0
    out, err = capsys.readouterr()
    (game,) = json.loads(out)["games"]
    assert not err
    ratings = [move["by_strength"]["rating"] for move in game["moves"]]
    assert ratings == [1500, 1720, 1500, 1720, 1500, 1720, 1500]
    for move in game["moves"]:
        one = move["by_strength"]
        assert one["player"] == pytest.approx(move["probability"], abs=2e-4)
        assert all(0 <= one[name] <= 1 for name in ("player", "weaker", "stronger"))
    assert any(move["by_strength"]["weaker"] != move["by_strength"]["stronger"] for move in game["moves"])
    assert [move["san"] for move in game["slips"]] == [
        move["san"] for move in game["swings"] if move["by_strength"]["slip"]
    ]


def test_a_slip_is_costly_and_unlikely(human_run: Path, rated: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", str(human_run), rated, "--json", "--swing", "0.01"]) == 0
    moves = json.loads(capsys.readouterr().out)["games"][0]["moves"]
    for move in moves:
        costly = move["change"] is not None and move["change"] <= -0.0001
        assert move["by_strength"]["slip"] == (costly and move["by_strength"]["player"] < 0.05)


def test_the_table_has_both_strengths(human_run: Path, rated: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", str(human_run), rated]) == 0
    heading = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("move "))
    assert heading.split()[3:6] == ["weaker", "same", "stronger"]


def test_ratings_can_be_given(human_run: Path, unrated: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", str(human_run), unrated, "--json", "--rating", "900,2100"]) == 0
    out, err = capsys.readouterr()
    assert not err
    assert [m["by_strength"]["rating"] for m in json.loads(out)["games"][0]["moves"][:2]] == [900, 2100]


def test_a_game_without_ratings_is_told(human_run: Path, unrated: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", str(human_run), unrated, "--json"]) == 0
    out, err = capsys.readouterr()
    assert "by_strength" not in json.loads(out)["games"][0]["moves"][0]
    assert mentions(err, "1 & 100 & 4000 & rating")


@pytest.mark.parametrize(
    ("network", "rating", "told"),
    [
        ("human", "0", "--rating & 0 & 100 to 4000"), ("human", "x", "--rating & x & players"),
        ("chessnet", "1500", "--rating & 1500 & chessnet & rating inputs"),
    ],
)  # fmt: skip
def test_ratings_that_cannot_be(
    network: str, rating: str, told: str, human_run: Path, rated: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = str(human_run) if network == "human" else network
    assert run(["analyze", name, rated, "--rating", rating]) == 2
    assert mentions(capsys.readouterr().err, told)


def test_moves_by_rating_as_a_picture(unrated: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "moves.svg"
    assert run(["analyze", "human", unrated, "--by-rating", str(picture), "--move", "2", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["ply"] == 2
    assert found["moves"][0]["san"] in ("Nf3", "Nc3", "Bc4")
    assert "moves.svg" in err
    drawn = picture.read_text(encoding="utf-8")
    assert "After 1...e5. White to move." in drawn
    assert f">{found['moves'][0]['san']}<" in drawn
    assert run(["analyze", "human", unrated, "--by-rating", str(picture)]) == 0
    out, err = capsys.readouterr()
    assert "After 4.Ba4. Black to move." in out
    assert "warning" not in err
    short = tmp_path / "short.pgn"
    short.write_text("1. e4 e5 2. Nf6 Nc6\n", encoding="utf-8")
    assert run(["analyze", "human", str(short), "--by-rating", str(picture)]) == 0
    out, err = capsys.readouterr()
    assert "After 1...e5. White to move." in out
    assert mentions(err, "short.pgn & game 1 & Nf6")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--by-rating", "FOLDER/moves.svg", "--move", "8"], "--move & 0 & 7 & 8"),
        (["--by-rating", "FOLDER/moves.gif"], "moves.gif & svg & png"),
        (["--by-rating", "FOLDER/moves.svg", "--all"], "--by-rating & --all"),
        (["--by-rating", "FOLDER/moves.svg", "--practical"], "--by-rating & --practical"),
        (["--by-rating", "FOLDER/moves.svg", "--csv", "FOLDER/moves.svg"], "moves.svg"),
        (["--move", "2"], "--move & --by-rating"),
    ],
)
def test_what_a_picture_of_moves_by_rating_cannot_be(
    unrated: str, tmp_path: Path, options: list[str], names: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [option.replace("FOLDER", str(tmp_path)) for option in options]
    assert run(["analyze", "human", unrated, *options]) == 2
    assert mentions(capsys.readouterr().err, names)
    assert not list(tmp_path.glob("moves.*"))


def test_moves_by_rating_need_a_network_with_ratings(
    unrated: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = str(tmp_path / "moves.svg")
    assert run(["analyze", "chessnet", unrated, "--by-rating", picture]) == 2
    assert mentions(capsys.readouterr().err, "--by-rating & chessnet & human")
    assert run(["analyze", "human", unrated, "--by-rating", picture, "--game", "2"]) == 1
    assert mentions(capsys.readouterr().err, "game 2 & 1 game")
    assert run(["analyze", "human", unrated, "--by-rating", picture]) == 0
