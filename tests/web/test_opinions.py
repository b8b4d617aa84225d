"""Second opinions: programs that are found, asked, stopped, ended, and that crash, hang and lie."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import chess.engine
import pytest

from kibitz.errors import UsageError
from kibitz.external import programs, uci
from kibitz.external.programs import Program, known_programs, read_command
from kibitz.play.chess.score import win_chance
from kibitz.web import opinions
from kibitz.web.chess import opinion as chess_opinion
from kibitz.web.go import opinion as go_opinion
from support.board_client import JSON, Client, WithFake, WithFakes, served, until
from support.causes import mentions
from support.helpers import program
from support.opinion_fakes import fake
from support.processes import is_gone

START = {"game": "chess", "moves": []}
GO = {"game": "go", "size": 9, "komi": 6.5, "moves": ["E5"]}
NAME = Path(sys.executable).stem


class Asked(WithFake):
    """What it is asked, and answers."""

    def body(self, line: Any = START, lines: int = 3, name: str = NAME) -> dict[str, Any]:
        return {"program": name, "line": line, "lines": lines, "seq": 7}

    def until_lines(self, line: Any = START, lines: int = 3, count: int = 1) -> list[dict[str, Any]]:
        """The lines of the first account that has so many."""
        with self.client.lines("/api/opinion", self.body(line, lines)) as coming:
            for each in coming:
                assert "error" not in each, each
                if len(each.get("lines", ())) >= count:
                    return list(each["lines"])
        raise AssertionError("the stream has ended")

    def error(self, line: Any = START) -> str:
        """The line of a stream that must end in an error."""
        with self.client.lines("/api/opinion", self.body(line)) as coming:
            return str(next(each["error"] for each in coming if "error" in each))


@pytest.fixture
def ask(with_fake: WithFakes) -> Callable[[str, str], Asked]:
    """Serves a board with a fake: ask(protocol, fault)."""
    return lambda protocol, fault: Asked(*with_fake(protocol, fault))


def first(client: Client, name: str, line: Any, lines: int, enough: Any) -> dict[str, Any]:
    """The first account that is enough."""
    body = {"program": name, "line": line, "lines": lines}
    with client.lines("/api/opinion", body) as coming:
        return next(each for each in coming if "lines" in each and enough(each))


def test_whites_chance_follows_from_the_score() -> None:
    """Lichess's formula: 0.5 where nothing is lost, 0.75 at 3 pawns, sure at a mate."""
    cp, mate = chess.engine.Cp, chess.engine.Mate
    assert win_chance(cp(0)) == 0.5
    assert win_chance(cp(300)) == pytest.approx(0.751, abs=0.002)
    assert win_chance(cp(-300)) == pytest.approx(0.249, abs=0.002)
    for far in (10_000, 10**9):
        assert (win_chance(cp(far)), win_chance(cp(-far))) == pytest.approx((1, 0))
    for moves in (1, 30):
        assert (win_chance(mate(moves)), win_chance(mate(-moves))) == (1, 0)
    assert (win_chance(chess.engine.MateGiven), win_chance(mate(0))) == (1, 0)


# Which programs there are


def test_a_command_is_a_name_or_a_path_and_its_arguments(tmp_path: Path) -> None:
    path = tmp_path / "my engine"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    assert read_command(str(path)) == Program("my engine", (str(path),), "chess")
    assert read_command(f"'{path}' --fast") == Program("my engine", (str(path), "--fast"), "chess")
    assert read_command(f"{shlex.quote(str(path))} --mode gtp").game == "go"
    gnugo = tmp_path / "gnugo"
    gnugo.symlink_to(path)
    assert read_command(str(gnugo)) == Program("gnugo", (str(gnugo), "--mode", "gtp"), "go")


@pytest.mark.parametrize(
    ("words", "why"), [("no-such-engine", "must be a program"), ("'x", "quotation mark"), ("", "nothing")]
)
def test_a_command_that_is_none(words: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_command(words)


def test_well_known_programs_are_there_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kibitz.external.programs.GAMES", str(tmp_path / "games"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert known_programs([]) == []
    (tmp_path / "games").mkdir()
    for path in (tmp_path / "stockfish", tmp_path / "games" / "gnugo"):
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    assert [(each.name, each.game) for each in known_programs([])] == [("stockfish", "chess"), ("gnugo", "go")]
    given = read_command("stockfish")
    assert [each.name for each in known_programs([given, given])] == ["stockfish", "stockfish 2", "gnugo"]


def test_nothing_that_a_request_says_is_run(ask: Any, tmp_path: Path) -> None:
    board = ask("uci", "sound")
    made = tmp_path / "made"
    for name in ("/bin/sh", f"touch {made}", "../../bin/sh", "", f"{NAME}\nquit"):
        assert "unknown engine" in board.client.error("/api/opinion", board.body(name=name), 404)
    assert not made.exists()
    assert "program must be" in board.client.error("/api/opinion", {**board.body(), "program": ["sh"]})
    foreign = {**JSON, "Origin": "http://evil.example"}
    assert board.client.ask("POST", "/api/opinion", b"{}", foreign).status == 403
    assert board.notes("started") == []  # nobody has asked


def test_wrong_requests(ask: Any) -> None:
    board = ask("uci", "sound")
    assert "plays chess" in board.client.error("/api/opinion", board.body(GO))
    for lines in (0, 6, "all"):
        assert "lines must be" in board.client.error("/api/opinion", {**board.body(), "lines": lines})
    crowd = {"game": "chess", "fen": "k7/8/8/8/8/P7/PPPPPPPP/K7 w - - 0 1"}
    assert "too many pieces" in board.error(crowd)
    mate = {"game": "chess", "moves": ["f2f3", "e7e5", "g2g4", "d8h4"]}
    assert "over" in board.error(mate)
    assert board.until_lines()  # it goes on


# UCI


def test_an_engine_is_told_in_the_view_of_white(ask: Any) -> None:
    board = ask("uci", "sound")
    best, second = board.until_lines(count=2)
    assert best == {
        "moves": ["e2e4", "e7e5"], "san": ["e4", "e5"], "score": 0.3, "mate": None, "white": 0.5276, "depth": 3
    }  # fmt: skip
    assert (second["san"], second["score"]) == (["d4", "d5", "c4"], -0.2)  # a bound is no score
    until(lambda: "stop" in board.notes())  # its client has left
    assert any(each.startswith("setoption name MultiPV value 3") for each in board.notes())


def test_the_newest_request_has_it(ask: Any) -> None:
    board = ask("uci", "sound")
    with board.client.lines("/api/opinion", board.body()) as older:
        assert next(each for each in older if "lines" in each)
        assert board.until_lines({"game": "chess", "moves": ["g1f3", "g8f6", "f3g1", "f6g8"]})
        assert "another tab" in next(each["error"] for each in older if "error" in each)
    assert len(board.notes("started")) == 1


def test_an_engine_ends_with_the_board(tmp_path: Path) -> None:
    with served([], [], engines=[fake("uci", "stubborn", tmp_path)]) as (client, board):
        asked = Asked(client, board, tmp_path)
        with client.lines("/api/opinion", asked.body()) as coming:
            assert next(each for each in coming if "lines" in each)
        (started,) = asked.notes("started")
    until(lambda: all(is_gone(int(number)) for number in started.split()))


def test_a_crash_is_one_line_and_it_can_be_started_again(ask: Any) -> None:
    board = ask("uci", "crash once")
    assert mentions(board.error(), "Fish & 3")
    assert board.until_lines()
    assert len(board.notes("started")) == 2


def test_an_engine_that_never_answers(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uci, "PATIENCE", 8.0)  # the program itself must have started by then
    board = ask("uci", "mute")
    assert mentions(board.error(), "8")
    (started,) = board.notes("started")
    until(lambda: is_gone(int(started.split()[0])))


def test_an_engine_that_says_nothing_of_a_position(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinions, "SILENCE", 0.5)
    board = ask("uci", "silent")
    assert mentions(board.error(), "0.5 & no result")


def test_an_engine_that_does_not_stop_is_ended(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chess_opinion, "STOPPED", 0.5)
    board = ask("uci", "stubborn")
    assert board.until_lines()
    (started,) = board.notes("started")
    until(lambda: is_gone(int(started.split()[0])))
    assert board.until_lines()
    assert len(board.notes("started")) == 2


def test_an_engine_that_lies(ask: Any) -> None:
    board = ask("uci", "liar")
    (line,) = board.until_lines()
    assert (line["san"], line["score"]) == (["Nf3"], -0.15)
    assert board.until_lines()  # its move at the stop was illegal; another one is started


def test_a_program_that_nobody_asks_is_ended(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinions, "IDLE", 0.2)
    board = ask("uci", "sound")
    assert board.until_lines()
    (started,) = board.notes("started")
    until(lambda: is_gone(int(started.split()[0])))
    assert board.until_lines()


def test_stockfish(real: Client) -> None:
    program("stockfish")
    white = {"game": "chess", "fen": "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "moves": []}
    best = first(real, "stockfish", white, 2, lambda each: len(each["lines"]) == 2)["lines"][0]
    assert (best["san"], best["mate"], best["score"], best["white"]) == (["Ra8#"], 1, None, 1.0)
    black = {"game": "chess", "fen": "r5k1/5ppp/8/8/8/8/5PPP/6K1 w - - 0 1", "moves": ["g1h1"]}
    best = first(real, "stockfish", black, 1, lambda each: each["lines"])["lines"][0]
    assert (best["san"], best["mate"], best["white"]) == (["Ra1#"], -1, 0.0)
    queen = {"game": "chess", "fen": "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1", "moves": []}
    found = first(real, "stockfish", queen, 5, lambda each: each["depth"] >= 8 and len(each["lines"]) == 5)
    assert len({line["moves"][0] for line in found["lines"]}) == 5
    for line in found["lines"]:
        assert line["score"] > 3
        assert line["white"] > 0.7
        played = chess.Board(queen["fen"])  # type: ignore[arg-type]
        assert [played.san_and_push(chess.Move.from_uci(move)) for move in line["moves"]] == line["san"]


# GTP


def test_a_program_of_go_is_told_in_the_view_of_black(ask: Any) -> None:
    board = ask("gtp", "sound")
    best, second = board.until_lines(GO, count=2)
    assert best == {"moves": ["D4", "F6"], "san": ["D4", "F6"], "black": 0.3, "score": -3.2, "visits": 30}
    assert (second["moves"], second["black"]) == (["C3"], 0.4)
    until(lambda: board.notes()[-1] == "protocol_version")  # what ends an analysis
    asked = board.notes()
    assert asked[asked.index("boardsize 9") :][:4] == [
        "boardsize 9", "clear_board", "komi 6.5", "play black E5"
    ]  # fmt: skip
    assert "kata-analyze white 20 maxmoves 10" in asked
    (best,) = board.until_lines({**GO, "moves": ["E5", "C3"]}, 1)
    assert (best["black"], best["score"]) == (0.7, 3.2)


def test_the_format_of_leela_zero(ask: Any) -> None:
    board = ask("gtp", "lz")
    (best,) = board.until_lines({**GO, "moves": []})
    assert (best["moves"], best["black"], best["score"]) == (["D4", "F6"], 0.7, None)
    assert "lz-analyze black 20" in board.notes()  # it knows no number of moves


def test_a_program_that_only_estimates_scores(ask: Any) -> None:
    """As GNU Go does: its moves, and then the score after each, in the view of Black; White's best comes first."""
    board = ask("gtp", "estimates")
    answer = board.client.stream("/api/opinion", board.body({**GO, "moves": ["E5"]}))
    assert [(line["moves"], line["score"]) for line in answer[-2]["lines"]] == [
        (["C3"], -5.5),
        (["G5"], 0),
        (["D4"], 2.5),
    ]
    assert answer[-2]["estimates"] is True
    plays = [each for each in board.notes() if each.startswith(("play", "undo"))]
    assert plays == ["play black E5", "play white D4", "undo", "play white C3", "undo", "play white G5", "undo"]


def test_stones_that_are_set_up(ask: Any) -> None:
    board = ask("gtp", "sound")
    board.until_lines(
        {"game": "go", "size": 9, "setup": {"B": ["C3", "G7"], "W": ["E5"]}, "side": "w", "moves": ["D4"]}
    )
    plays = [each for each in board.notes() if each.startswith("play")]
    assert plays == ["play black C3", "play black G7", "play white E5", "play white D4"]


@pytest.mark.parametrize(
    ("fault", "why"),
    [("crash", "ended"), ("refuse", "not today"), ("picky", "no such board"), ("dumb", "cannot analyze")],
)
def test_programs_of_go_that_do_not_analyse(ask: Any, fault: str, why: str) -> None:
    assert why in ask("gtp", fault).error(GO)


def test_a_program_of_go_that_lies(ask: Any) -> None:
    (only,) = ask("gtp", "liar").until_lines({**GO, "moves": []})
    assert only == {"moves": ["E5"], "san": ["E5"], "black": 0.25, "score": None, "visits": 4}


def test_programs_of_go_that_hang(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_opinion, "STARTS", 0.5)
    monkeypatch.setattr(opinions, "SILENCE", 0.5)
    assert mentions(ask("gtp", "mute").error(GO), "list_commands & 0.5")


def test_gnu_go(real: Client) -> None:
    program("gnugo")
    answer = real.stream("/api/opinion", {"program": "gnugo", "line": GO, "lines": 3})
    assert answer[-1].get("done")
    lines = answer[-2]["lines"]
    assert len(lines) == 3
    assert all(isinstance(line["score"], float) and line["black"] is None for line in lines)
    stones = {"B": ["C3", "C7", "G3", "G7", "E5", "E3", "E7"], "W": ["A1"]}
    strong = {"game": "go", "size": 9, "komi": 0, "setup": stones, "side": "w", "moves": []}
    answer = real.stream("/api/opinion", {"program": "gnugo", "line": strong, "lines": 1})
    assert answer[-2]["lines"][0]["score"] > 10  # Black is far ahead, and it is White's turn


def test_the_list(ask: Any) -> None:
    known = ask("gtp", "sound").client.get("/api/programs").json["programs"]
    assert (known[0]["name"], known[0]["game"]) == (NAME, "go")
    assert os.path.basename(shlex.split(known[0]["command"])[1]) == "opinion_fakes.py"


@pytest.mark.parametrize("quoted", [True, False])
def test_a_command_with_the_folders_of_windows(monkeypatch: pytest.MonkeyPatch, quoted: bool) -> None:
    path = r"C:\Engines\stockfish 16\sf.exe" if quoted else r"C:\Engines\sf.exe"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(programs, "find_program", lambda word: word if word == path else None)
    found = read_command(f'"{path}" --fast' if quoted else f"{path} --fast")
    assert found.command[0].endswith(path)
    assert found.command[1:] == ("--fast",)
