"""kibitz analyze about one player's own games, with the packaged network of human and a shallow search."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from kibitz.analysis.chess.moves import AnalysedGame
from kibitz.cli import run
from kibitz.commands.analyze.chess import PgnGames
from support import person
from support.causes import Ended, assert_refused, mentions

QUICK = ["--depth", "1", "--nodes", "0"]
PLIES = 14


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten games of the person, some under another spelling, and one of two others."""
    path = tmp_path_factory.mktemp("mine") / "my-games.pgn"
    other = person.games(1, first=90, person="Somebody Else", plies=PLIES)
    person.write(path, 10, plies=PLIES)
    path.write_text(path.read_text(encoding="utf-8") + "\n" + other, encoding="utf-8")
    return path


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: str | Path) -> str:
    """The one line that a call ends with that cannot be done."""
    ended = Ended(run(["analyze", *map(str, arguments)]), *capsys.readouterr())
    assert_refused(ended, code=code, names=())
    return ended.err


def test_the_report_as_json_and_as_a_page(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    options = ["--all", "--player", "ANA munoz", "--json", "--page", str(page)]
    assert run(["analyze", "human", str(games), *options, *QUICK]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert "warning" not in err
    assert len(found["games"]) == 10
    player = found["player"]
    assert player["name"] == person.PERSON
    assert (player["games"], player["won"] + player["drawn"] + player["lost"]) == (10, 10)
    own = [
        move["loss"]
        for game in found["games"]
        for move in game["moves"]
        if move["side"] == ("white" if game["headers"]["White"] in person.SPELLINGS else "black")
    ]
    assert player["moves"] == len(own)
    assert player["loss"]["value"] == pytest.approx(sum(own) / len(own), abs=1e-4)
    assert player["usual_loss"]["n"] == len(own)
    assert {"by_phase", "by_piece", "by_time_left", "by_side", "by_result", "by_opening", "worst"} <= player.keys()
    html = page.read_text(encoding="utf-8")
    assert person.PERSON in html
    assert html.count('<svg class="board"') == min(10, len(player["worst"]))


def test_the_player_in_nearly_all_games_needs_no_name(
    games: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["analyze", "human", str(games), "--mine", *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.match(rf"{person.PERSON} \([a-z ]*14", lines[0])
    assert max(map(len, lines)) <= 80
    for words in ("all moves", "by phase", "by time left", "by opening as White (whole games)", "Worst mistakes"):
        assert any(line.startswith(words) for line in lines), words


def test_a_folder_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(2):
        (tmp_path / f"{i}.pgn").write_text(person.games(1, first=i, person="Cy", seed=i, plies=PLIES), encoding="utf-8")
    (tmp_path / "other.pgn").write_text(person.games(1, person="Di", plies=PLIES), encoding="utf-8")
    (tmp_path / "empty.pgn").write_text("nothing\n", encoding="utf-8")
    assert run(["analyze", "human", str(tmp_path), "--player", "cy", "--json", *QUICK]) == 0
    out, err = capsys.readouterr()
    player = json.loads(out)["player"]
    assert player["games"] == 2
    assert {Path(mistake["file"]).name for mistake in player["worst"]} <= {"0.pgn", "1.pgn"}
    assert mentions(err, "empty.pgn & PGN")


def test_interrupted_it_tells_what_it_has(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = PgnGames.analysed

    def two(self: PgnGames, *arguments: Any) -> Generator[AnalysedGame]:
        found = whole(self, *arguments)
        yield next(found)
        yield next(found)
        raise KeyboardInterrupt

    monkeypatch.setattr(PgnGames, "analysed", two)
    page = tmp_path / "report.html"
    assert run(["analyze", "human", str(games), "--mine", "--page", str(page), *QUICK]) == 130
    out, err = capsys.readouterr()
    assert "2 games" in out.splitlines()[0]
    assert mentions(err, "2 & 10 & games")
    assert "2 games" in page.read_text(encoding="utf-8")


def test_names_that_are_not_there(games: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    err = refused(capsys, 2, "human", games, "--player", "Ana Munos")
    assert mentions(err, "Ana Munos & game")
    assert person.PERSON in err
    two = tmp_path / "two.pgn"
    two.write_text(person.games(2, person="Cy", plies=PLIES), encoding="utf-8")
    assert run(["analyze", "human", str(two), "--mine", *QUICK]) == 0
    two.write_text(person.games(1, person="Cy", plies=PLIES), encoding="utf-8")
    capsys.readouterr()
    assert "Choose one with --player" in refused(capsys, 2, "human", two, "--mine")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--player", "x", "--mine"], "Choose one"),
        (["--mine", "--game", "2"], "Leave --game out"),
        (["--mine", "--raw"], "Leave --raw out"),
        (["--mine", "--page", "nowhere/report.html"], "no folder nowhere"),
        (["--mine", "--page", "."], "the folder"),
    ],
)
def test_options_that_make_no_sense(
    games: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert says in refused(capsys, 1 if "--page" in arguments else 2, "human", games, *arguments)


def test_what_it_cannot_do(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mentions(refused(capsys, 2, "convchess", games, "--mine"), "wins")
    assert "file name" in refused(capsys, 2, "human", "-", "--mine")
    assert "lost" in refused(capsys, 2, "human", games, "--mine", "--pgn", games)
    board = tmp_path / "mine.sgf"
    board.write_text("(;GM[1]SZ[19]PB[Ann]PW[Bob];B[pd];W[dp])", encoding="utf-8")
    assert "does not predict moves" in refused(capsys, 2, "gocnn", board, "--player", "Ann")


def test_a_wrong_player_is_refused_before_the_network_is_loaded(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_network(*_: object) -> None:
        raise AssertionError("the network is loaded")

    board = tmp_path / "mine.sgf"
    board.write_text("(;GM[1]SZ[19]PB[Ann]PW[Bob];B[pd];W[dp])", encoding="utf-8")
    monkeypatch.setattr("kibitz.play.session.Session", no_network)
    page = tmp_path / "report.html"
    for network, file in (("human", games), ("gohuman", board)):
        for more in ([], ["--page", page]):
            assert "has no games in" in refused(capsys, 2, network, file, "--player", "nobody", *more)
        assert "no folder" in refused(
            capsys, 1, network, file, "--mine", "--page", tmp_path / "nowhere" / "report.html"
        )
        assert "no such file" in refused(capsys, 1, network, tmp_path / f"missing{file.suffix}", "--mine")
        assert "standard input" in refused(capsys, 2, network, "-", "--mine")
    assert not page.exists()


def test_a_page_does_not_take_the_place_of_games(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = games.read_bytes()
    link = tmp_path / "link.html"
    link.symlink_to(games)
    for page in (games, games.parent / "." / games.name, link):
        assert mentions(refused(capsys, 2, "human", games, "--mine", "--page", page), "--page")
    assert "another file" in refused(capsys, 2, "human", games.parent, "--mine", "--page", games)
    both = tmp_path / "new"
    assert mentions(refused(capsys, 2, "human", games, "--mine", "--page", both, "--pgn", both), "--page & --pgn")
    assert games.read_bytes() == before
    assert not both.exists()


def test_a_game_that_is_there_twice_counts_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = person.games(2, person="Cy", plies=PLIES)
    for name in ("a.pgn", "b.pgn"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    again = text.replace('[Date "2020.01.01"]', '[Date "2021.01.01"]')
    (tmp_path / "c.pgn").write_text(again, encoding="utf-8")
    assert run(["analyze", "human", str(tmp_path), "--player", "cy", "--json", *QUICK]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["player"]["games"] == 3
    assert f"{tmp_path}: skipped 3 repeated games" in err
