"""A person's run in the faces: the command, the engine, info, analyze, export."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import pytest

from kibitz import cli
from kibitz.commands.engines import UciOptions, opener
from kibitz.engines.uci.engine import UciEngine
from kibitz.engines.uci.options import Options, changed, declared
from kibitz.play.result import SearchLimits, SearchResult, make_line
from support import person
from support.board_client import served
from support.causes import in_process, mentions

QUICK = ["--depth", "1", "--nodes", "0"]


def test_the_engine_plays_like_the_person(personal_run: Path) -> None:
    """At temperature 1, with the book: nearly always the person's own first move, and other moves too after it."""
    options = UciOptions().of_engine(str(personal_run))
    assert (options.temperature, options.person, options.rated) == (100, True, False)
    player = opener(str(personal_run))(Options(**{**options.__dict__, "seed": 1}))
    first = [player.think(chess.Board(), SearchLimits()) for _ in range(30)]
    moves = [thought.lines[0].move.uci() for thought in first if thought]
    assert moves.count("b2b3") >= 24
    later = chess.Board()
    for move in ("b2b3", "g8f6", "c1b2", "h7h6"):
        later.push_uci(move)
    assert len({thought.lines[0].move for _ in range(30) if (thought := player.think(later, SearchLimits()))}) > 3


def test_options_of_a_person_and_of_people(personal_run: Path) -> None:
    mine = "\n".join(declared(UciOptions().of_engine(str(personal_run))))
    human = "\n".join(declared(UciOptions().of_engine("human")))
    assert "option name ThinkTimes type check default false" in mine
    assert "option name Resign type check default false" in mine
    assert "UCI_Elo" not in mine
    assert "UCI_Elo" in human


@pytest.mark.parametrize(("name", "field"), [("Resign", "resign"), ("ThinkTimes", "think_times")])
def test_people_have_habits_and_other_networks_have_none(personal_run: Path, name: str, field: str) -> None:
    for network in ("human", str(personal_run)):
        options = UciOptions().of_engine(network)
        assert not getattr(options, field)
        assert f"option name {name} type check default false" in "\n".join(declared(options))
        assert getattr(changed(options, name.lower(), "true"), field)
    with pytest.raises(ValueError, match=rf"\b{name.lower()}\b"):
        changed(UciOptions().of_engine("chessnet"), name.lower(), "true")


@pytest.mark.parametrize(("rating", "share"), [(800, 0.43), (2199, 0.43), (2200, 0.97), (2800, 0.97)])
def test_human_gives_up_as_often_as_people_of_its_rating(rating: int, share: float) -> None:
    """Whether a lost game is resigned is drawn as it begins; a game that is not lost never is."""
    options = replace(UciOptions().of_engine("human"), resign=True, limit_strength=True, elo=rating, seed=1)
    player = opener("human")(options)
    lost, resigned = chess.Board("rnbqkbnr/pppppppp/8/8/8/8/8/K7 w kq - 0 1"), 0
    for _ in range(100):
        player.new_game()
        told = [player.think(board, SearchLimits()) for board in (chess.Board(), lost)]
        assert told[0] is not None
        assert told[1] is not None
        assert not told[0].resigns
        resigned += told[1].resigns
    assert resigned == pytest.approx(100 * share, abs=12)


class GivesUp:
    """A player that resigns at once."""

    def new_game(self) -> None:
        """Nothing to forget."""

    def think(self, board: chess.Board, limits: SearchLimits, stop: object = None, tell: object = None) -> SearchResult:
        assert limits.clock == 61.0
        return SearchResult(1, 1, 0.0, (make_line(-0.99, 1.0, [12 | 28 << 6]),), resigns=True)


def test_the_engine_says_that_it_resigns() -> None:
    output = io.BytesIO()
    engine = UciEngine("x", lambda options: GivesUp(), Options(), output)
    lines = iter(["position startpos", "go wtime 61000 btime 5"])

    def until_answered() -> object:
        yield from lines
        assert engine._thread is not None
        engine._thread.join()
        yield "quit"

    engine.run(until_answered())  # type: ignore[arg-type]
    assert output.getvalue().decode().splitlines()[-2:] == ["info string resigns", "bestmove (none)"]


@pytest.mark.slow
def test_the_command(my_games: Path, human_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r"
    assert cli.run(["personal", str(my_games), "--from", str(human_run), "--run", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["run"], told["reason"], told["finished"]) == (str(path), "done", True)
    assert cli.run(["personal", str(my_games), "--from", str(human_run), "--run", str(path)]) == 0
    assert mentions(capsys.readouterr().out, "finished & games")
    assert cli.run(["info", str(path)]) == 0
    told_too = capsys.readouterr().out
    assert f"{person.PERSON}: 60 games from 2020-01-01" in told_too
    assert cli.run(["info", str(path / "games"), "--json"]) == 0
    players = json.loads(capsys.readouterr().out)["players"]
    assert players[0] == {"name": person.PERSON, "games": 60, "spellings": list(person.SPELLINGS)}


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--player", "nobody"], 2, "--player & nobody & player"),
        (["--from", "winner"], 2, "--from & winner & human & run"),
        (["--from", "nowhere"], 1, "nowhere is not a run"),
        (["--time-limit", "0"], 2, "--time-limit & minutes & 0"),
        (["--update"], 2, "--update & run & --run"),
    ],
)
def test_calls_that_cannot_work(
    arguments: list[str], code: int, told: str, my_games: Path, human_run: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    call = ["personal", str(my_games), "--from", str(human_run)]  # it succeeds in test_the_command
    assert cli.run([*call, *arguments]) == code
    error = capsys.readouterr().err
    assert mentions(error, told)
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.rglob("run.json"))


def test_it_is_not_trained_by_hand(small_run: Path, my_games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["train", "personal", str(my_games)]) != 0
    assert cli.run(["systems"]) == 0
    assert "personal" not in capsys.readouterr().out


def test_habits_are_for_persons(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--think-times", "--resign"):
        assert cli.run(["uci", "chessnet", option]) == 2
        assert mentions(capsys.readouterr().err, f"{option} & human & personal & chessnet & networks")


def test_analysis(personal_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "game.pgn").write_text(person.games(1), encoding="utf-8")
    assert cli.run(["analyze", str(personal_run), str(tmp_path / "game.pgn"), *QUICK]) == 0
    out = capsys.readouterr().out
    assert "b3" in out
    assert not mentions(out, "weaker & stronger")


def analysed(personal_run: Path, folder: Path, text: str) -> dict[str, Any]:
    (folder / "game.pgn").write_text(text, encoding="utf-8")
    game: dict[str, Any] = json.loads(in_process(["analyze", personal_run, folder / "game.pgn", *QUICK, "--json"]).out)[
        "games"
    ][0]
    return game


def test_the_analysis_predicts_only_the_person_and_knows_its_training_games(
    personal_run: Path, my_games: Path, tmp_path: Path
) -> None:
    """The book of a person is not laid over the moves of the opponent, and no rating is compared with the person's."""
    known = my_games.read_text(encoding="utf-8").split("\n\n[Event")[0]
    old = analysed(personal_run, tmp_path, known)
    own = {"white", "black"} - {"black" if person.PERSON in old["headers"]["Black"] else "white"}
    other = own.pop()
    assert {move["side"] for move in old["moves"] if "choices" not in move} == {other}
    assert old["predictable"][other] is None
    assert not any({"by_strength", "usual_loss", "risk"} & move.keys() for move in old["moves"])
    assert mentions(old["note"], f"{person.PERSON} & trained on this game")
    assert mentions(analysed(personal_run, tmp_path, person.games(1, seed=9))["note"], "not trained")
    stranger = analysed(
        personal_run, tmp_path, known.replace(person.PERSON, "Somebody").replace("ana munoz", "Somebody")
    )
    assert mentions(stranger["note"], person.PERSON)
    assert not any("choices" in move for move in stranger["moves"])
    moved = tmp_path / "run"
    shutil.copytree(personal_run, moved, ignore=shutil.ignore_patterns("games"))
    assert mentions(analysed(moved, tmp_path, known)["note"], "may & trained")


def test_the_board_compares_no_ratings(personal_run: Path) -> None:
    line = {"line": {"moves": ["b2b3"], "ratings": [1500, 1450]}, "seq": 1}
    with served([str(personal_run)]) as (client, _):
        name = next(each["name"] for each in client.get("/api/networks").json["networks"] if each["person"])
        for network, compares in ((name, False), ("human", True)):
            found = [one for one in client.stream("/api/analyse", {**line, "network": network}) if "moves" in one]
            assert [("by_rating" in one, "rating" in one) for one in found] == [(compares, compares)] * 2
        assert client.good("/api/ratings", {**line, "network": "human"})
        assert mentions(client.error("/api/ratings", {**line, "network": name}), name)


def test_the_export_does_not_tell_whose_network_it_is(personal_run: Path, tmp_path: Path) -> None:
    done = in_process(["export", personal_run, "--to", tmp_path / "out"])
    assert done.code == 0, done
    assert mentions(done.err, "name")
    for file in (tmp_path / "out").iterdir():
        assert all(name.encode() not in file.read_bytes() for name in person.SPELLINGS)
    assert json.loads((tmp_path / "out" / "description.json").read_text())["network"] == "a person"
