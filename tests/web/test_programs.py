"""Moves of other programs: full strength and less, time, and programs that crash, hang and cheat."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import pytest

from kibitz.external import uci
from kibitz.web import opinions
from support.board_client import Client, WithFake, WithFakes, served, until
from support.causes import mentions
from support.helpers import program
from support.opinion_fakes import fake
from support.processes import is_gone

AFTER_E4 = {"game": "chess", "moves": ["e2e4"]}
GO = {"game": "go", "size": 9, "komi": 6.5, "moves": ["E5"]}
NAME = Path(sys.executable).stem


class Played(WithFake):
    """What it is asked, and answers."""

    def move(self, line: Any = AFTER_E4, **limits: Any) -> str:
        told = self.client.stream("/api/programs/think", {"program": NAME, "line": line, "seq": 5, **limits})
        assert all(each["seq"] == 5 for each in told)
        assert told[-1].keys() == {"seq", "move", "done"}
        return str(told[-1]["move"])

    def error(self, line: Any = AFTER_E4, **limits: Any) -> str:
        """The line of a stream that must end in an error."""
        body = {"program": NAME, "line": line, **limits}
        with self.client.lines("/api/programs/think", body) as coming:
            return str(next(each["error"] for each in coming if "error" in each))

    def ended(self) -> None:
        """Waits for the end of the process that was started last, and of its child."""
        until(lambda: all(is_gone(int(number)) for number in self.notes("started")[-1].split()))


@pytest.fixture
def against(with_fake: WithFakes) -> Callable[[str, str], Played]:
    """Serves a board with a fake: against(protocol, fault)."""
    return lambda protocol, fault: Played(*with_fake(protocol, fault))


# UCI


def test_an_engine_moves_and_tells_what_it_thinks(against: Any) -> None:
    board = against("uci", "sound")
    told = board.client.stream("/api/programs/think", {"program": NAME, "line": {"game": "chess"}, "seconds": 0.5})
    assert told[-1]["move"] == "a2a3"
    thought = told[-2]  # however soon the move comes
    assert thought["pv"] == ["e2e4", "e7e5"]
    assert (thought["san"], thought["score"], thought["white"], thought["depth"]) == (["e4", "e5"], 0.3, 0.5276, 3)
    assert "go movetime 500" in board.notes()
    assert board.move(nodes=700) == "a7a5"
    assert "go nodes 700" in board.notes()
    board.move({"game": "chess", "moves": ["e2e4", "a7a5", "d2d4"]})
    assert board.notes().count("ucinewgame") == 1
    board.move({"game": "chess", "moves": ["d2d4"]})
    assert board.notes().count("ucinewgame") == 2
    assert len(board.notes("started")) == 1


def test_an_engine_that_can_play_like_a_rating(against: Any) -> None:
    board = against("uci", "sound")
    about = board.client.stream("/api/programs/about", {"program": NAME})[-1]
    assert (about["program"], about["ratings"]) == ("Fake Fish", [1300, 2000])
    board.move(rating=1400)
    asked = board.notes()
    assert "setoption name UCI_LimitStrength value true" in asked
    assert "setoption name UCI_Elo value 1400" in asked
    board.move()
    assert board.notes().count("setoption name UCI_LimitStrength value false") == 1
    for rating in (1200, 2100):
        assert mentions(board.error(rating=rating), "Fish & 1300 & 2000 & ratings")
    assert len(board.notes("started")) == 1


def test_an_opinion_gives_way_to_a_move_and_has_full_strength_after_it(against: Any) -> None:
    board = against("uci", "sound")
    body = {"program": NAME, "line": {"game": "chess"}, "lines": 1}
    with board.client.lines("/api/opinion", body) as coming:
        assert next(each for each in coming if "lines" in each)
        board.move(rating=1500)
        assert "plays a move now" in next(each["error"] for each in coming if "error" in each)
    with board.client.lines("/api/opinion", body) as coming:
        assert next(each for each in coming if "lines" in each)
    asked = board.notes()
    assert asked.index("setoption name UCI_LimitStrength value false") < max(
        at for at, word in enumerate(asked) if word == "go infinite"
    )


@pytest.mark.parametrize(
    ("fault", "why"),
    [("crash", "Fish & 3"), ("liar", "illegal uci: 'e2e5'"), ("mindless", "no move")],
)
def test_engines_that_do_not_move(against: Any, fault: str, why: str) -> None:
    board = against("uci", fault)
    said = board.error({"game": "chess"})
    assert mentions(said, why)
    assert "\n" not in said
    board.ended()


def test_an_engine_that_crashed_is_started_again(against: Any) -> None:
    board = against("uci", "crash once")
    assert "ended" in board.error()
    assert board.move() == "a7a5"


def test_engines_that_hang(against: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinions, "SILENCE", 0.5)
    board = against("uci", "silent")
    assert mentions(board.error(seconds=0.2), "0.7 & move")
    board.ended()
    monkeypatch.setattr(uci, "PATIENCE", 0.5)
    assert mentions(against("uci", "mute").error(), "0.5")


def test_a_move_that_nobody_waits_for_is_stopped(against: Any) -> None:
    board = against("uci", "silent")
    with board.client.lines("/api/programs/think", {"program": NAME, "line": AFTER_E4, "seconds": 600}):
        until(lambda: "go movetime 600000" in board.notes())
    until(lambda: "stop" in board.notes())
    until(lambda: not board.board.workers.worker(f"program {NAME}").busy)


def test_a_program_that_plays_ends_when_nobody_asks_it(against: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinions, "IDLE", 0.2)
    board = against("uci", "sound")
    board.move()
    board.ended()
    assert board.move()


def test_a_program_that_plays_ends_with_the_board(tmp_path: Path) -> None:
    with served([], [], engines=[fake("uci", "silent", tmp_path)]) as (client, board):
        played = Played(client, board, tmp_path)
        with client.lines("/api/programs/think", {"program": NAME, "line": AFTER_E4, "seconds": 600}):
            until(lambda: "go movetime 600000" in played.notes())
            board.end()
            played.ended()


def test_wrong_requests(against: Any) -> None:
    board = against("uci", "sound")
    path = "/api/programs/think"
    for name in ("/bin/sh", "", f"{NAME}\nquit"):
        assert "unknown engine" in board.client.error(path, {"program": name, "line": AFTER_E4}, 404)
        assert "unknown engine" in board.client.error("/api/programs/about", {"program": name}, 404)
    assert "plays chess" in board.client.error(path, {"program": NAME, "line": GO})
    for wrong in ({"seconds": 601}, {"nodes": -1}, {"rating": "strong"}, {"rating": 10**6}):
        assert "must be" in board.client.error(path, {"program": NAME, "line": AFTER_E4, **wrong})
    assert board.notes("started") == []
    mate = {"game": "chess", "moves": ["f2f3", "e7e5", "g2g4", "d8h4"]}
    assert "over" in board.error(mate)


def test_stockfish(real: Client) -> None:
    program("stockfish")
    about = real.stream("/api/programs/about", {"program": "stockfish"})[-1]
    assert "Stockfish" in about["program"]
    low, high = about["ratings"]
    assert low < 1500 < 2500 < high
    mate = {"game": "chess", "fen": "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "moves": []}
    told = real.stream("/api/programs/think", {"program": "stockfish", "line": mate, "seconds": 0.3})
    assert told[-1]["move"] == "a1a8"
    assert told[-2]["white"] == 1
    assert (told[-2]["score"], told[-2]["mate"]) == (None, 1)
    weak = real.stream(
        "/api/programs/think", {"program": "stockfish", "line": AFTER_E4, "seconds": 0.3, "rating": 1400}
    )
    board = chess.Board()
    board.push_uci("e2e4")
    assert board.is_legal(chess.Move.from_uci(weak[-1]["move"]))


# GTP


def test_a_program_of_go_moves(against: Any) -> None:
    board = against("gtp", "sound")
    assert board.move(GO, seconds=2.4) == "D4"
    asked = board.notes()
    assert asked[-2:] == ["time_settings 0 2 1", "genmove white"]
    assert asked[asked.index("boardsize 9") :][:4] == ["boardsize 9", "clear_board", "komi 6.5", "play black E5"]
    assert board.move({**GO, "moves": []}, seconds=0.1) == "D4"
    assert board.notes()[-2:] == ["time_settings 0 1 1", "genmove black"]
    about = board.client.stream("/api/programs/about", {"program": NAME})[-1]
    assert (about["program"], about["ratings"]) == ("Fake Go 1", None)
    assert mentions(board.error(GO, rating=1400), "rating")
    assert mentions(board.error(GO, nodes=100), "seconds & nodes")


def test_a_program_of_go_may_resign(against: Any) -> None:
    assert against("gtp", "resigner").move(GO) == "resign"


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("crash", "ended"),
        ("liar", "E5 & move"),
        ("babbler", "move"),
        ("picky", "no such board"),
    ],
)
def test_programs_of_go_that_do_not_move(against: Any, fault: str, why: str) -> None:
    assert mentions(against("gtp", fault).error(GO), why)


def test_a_program_of_go_that_hangs(against: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    board = against("gtp", "silent")
    board.client.stream("/api/programs/about", {"program": NAME})  # it has started, however long that takes
    monkeypatch.setattr(opinions, "SILENCE", 0.5)
    monkeypatch.setattr("kibitz.web.go.opinion.ANSWERS", 0.5)
    assert mentions(board.error(GO), "1.5 & move")
    board.ended()


def test_gnu_go(real: Client) -> None:
    program("gnugo")
    asked = {"program": "gnugo", "line": GO, "seconds": 1}
    move = real.stream("/api/programs/think", asked)[-1]["move"]
    real.good("/api/move", {"line": GO, "move": move})
    assert real.stream("/api/programs/about", {"program": "gnugo"})[-1]["ratings"] is None
