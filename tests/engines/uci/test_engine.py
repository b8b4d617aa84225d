"""The loop, with a player whose every thought the test decides. What a real network does is in test_client.py."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import chess
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kibitz.engines.uci import engine as uci
from kibitz.engines.uci.engine import UciEngine, info_lines, read_lines
from kibitz.engines.uci.options import Options
from kibitz.errors import KibitzError, UsageError
from kibitz.play.result import PvLine, SearchLimits, SearchResult
from support.causes import each_mentions, mentions
from support.patience import PATIENCE

OPTIONS = Options(threads=1)
OnResult = Callable[[SearchResult], None]


def thought(board: chess.Board, depth: int = 1) -> SearchResult:
    """The first legal moves, as if something had been thought about them."""
    moves = list(board.legal_moves)[:3]
    return SearchResult(depth, 30, 0.02, tuple(PvLine(move, 7, None, 0.5, (move,), (400, 300, 300)) for move in moves))


class Fake:
    """A player that does what `mind` does."""

    def __init__(self, options: Options):
        self.options = options
        self.asked: list[SearchLimits] = []
        self.games = 0

    def new_game(self) -> None:
        self.games += 1

    def think(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event, tell: OnResult
    ) -> SearchResult | None:
        self.asked.append(limits)
        return self.mind(board, limits, stop, tell)

    def mind(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event, tell: OnResult
    ) -> SearchResult | None:
        return thought(board)


class Bench:
    """An engine under test: say lines to it, read what it answered."""

    def __init__(self, kind: type[Fake] = Fake, options: Options = OPTIONS):
        self.players: list[Fake] = []
        self.output = io.BytesIO()

        def open_player(wanted: Options) -> Fake:
            if wanted.method == "top-move" or wanted.value == "missing":
                raise UsageError(f"{wanted.method}: not with this network")
            self.players.append(kind(wanted))
            return self.players[-1]

        self.engine = UciEngine("fake-1", open_player, options, self.output)  # type: ignore[arg-type]

    @property
    def lines(self) -> list[str]:
        return self.output.getvalue().decode().splitlines()

    def say(self, *lines: str) -> list[str]:
        """Everything that is answered to these lines until all searches are over."""
        before = len(self.lines)
        self.engine.run(self._then_wait(lines))
        return self.lines[before:]

    def _then_wait(self, lines: tuple[str, ...]) -> Iterator[str]:
        said: list[str] = []
        before = sum(line.startswith("bestmove") for line in self.lines)
        for line in lines:
            if line == "(wait)":
                self.wait_for("bestmove", sum(asked.startswith("go") for asked in said) + before)
            else:
                said.append(line)
                yield line
        if self.engine._thread and not any(line.startswith("go infinite") for line in lines):
            self.engine._thread.join(PATIENCE)

    def wait_for_thought(self) -> None:
        end = time.monotonic() + PATIENCE
        while not (self.players and self.players[-1].asked):
            assert time.monotonic() < end, "nothing was thought about"
            time.sleep(0.002)

    def wait_for(self, start: str, times: int = 1) -> None:
        end = time.monotonic() + PATIENCE
        while sum(line.startswith(start) for line in self.lines) < times:
            assert time.monotonic() < end, f"no {start} in {self.lines}"
            time.sleep(0.002)


def test_uci_is_answered_without_a_player() -> None:
    bench = Bench()
    lines = bench.say("uci")
    assert lines[:2] == ["id name kibitz fake-1", "id author the kibitz developers"]  # exact: UCI
    assert lines[-1] == "uciok"
    assert sum(line.startswith("option name ") for line in lines) == len(lines) - 3
    assert not bench.players
    assert bench.say("isready") == ["readyok"]
    assert len(bench.players) == 1


def test_a_move() -> None:
    lines = Bench().say("go depth 1")
    assert lines == ["info depth 1 multipv 1 score cp 7 nodes 30 nps 1500 time 20 pv g1h3", "bestmove g1h3"]


@pytest.mark.parametrize("wrong", ["fen garbage", "fen 1k6/8/8/8/8/8/8/RK5R w HA - 0 1"])
def test_after_a_refused_position_no_move_is_played(wrong: str) -> None:
    """A move from the position before would be illegal in the GUI's."""
    bench = Bench()
    refused, *rest = bench.say(f"position {wrong}", "go depth 1", "(wait)", "go infinite", "stop")
    assert mentions(refused, "move")
    assert each_mentions(rest, *["info string go & position", "bestmove (none)"] * 2)
    assert not bench.players
    assert bench.say("position startpos moves e2e4 e7e5", "go depth 1")[-1] == "bestmove g1h3"


def test_several_choices_with_chances() -> None:
    lines = Bench().say("setoption name MultiPV value 2", "setoption name UCI_ShowWDL value true", "go depth 1")
    assert lines == [
        "info depth 1 multipv 1 score cp 7 wdl 400 300 300 nodes 30 nps 1500 time 20 pv g1h3",
        "info depth 1 multipv 2 score cp 7 wdl 400 300 300 nodes 30 nps 1500 time 20 pv g1f3",
        "bestmove g1h3",
    ]


def test_info_lines() -> None:
    line = PvLine(chess.Move.from_uci("e2e4"), 0, -3, 1.0, (), (0, 0, 1000))
    assert info_lines(SearchResult(4, 1000, 0.0, (line,)), 1, False) == [
        "info depth 4 multipv 1 score mate -3 nodes 1000 nps 1000000 time 0 pv e2e4"
    ]


@pytest.mark.parametrize(
    ("fen", "score"),
    [("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", "mate 0"), ("k7/P7/K7/8/8/8/8/8 b - - 0 1", "cp 0")],
)
def test_no_move_at_all(fen: str, score: str) -> None:
    assert Bench().say(f"position fen {fen}", "go movetime 10") == [
        f"info depth 0 score {score}", "bestmove (none)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("go depth 3", SearchLimits(depth=3)),
        ("go depth 0", SearchLimits(depth=1)),
        ("go nodes 0", SearchLimits(nodes=1)),
        ("go nodes 50 depth 2", SearchLimits(depth=2, nodes=50)),
        ("go mate 2", SearchLimits(depth=3)),
        ("go mate 2 depth 1", SearchLimits(depth=1)),
        ("go mate -2", SearchLimits(depth=4)),
        ("go infinite movetime 10", SearchLimits()),
        ("go movetime 50", SearchLimits(seconds=0.0475)),
        ("go wtime 60030 btime 1", SearchLimits(seconds=1.2)),
        ("go wtime -20 winc 1000", SearchLimits(seconds=0.0)),
        ("go", SearchLimits(seconds=uci.UNLIMITED_SECONDS)),
        ("go btime 1000", SearchLimits(seconds=uci.UNLIMITED_SECONDS)),
        ("go movetime soon", SearchLimits(seconds=uci.UNLIMITED_SECONDS)),
        (
            "go searchmoves d2d4 a2a3 depth 1",
            SearchLimits(depth=1, moves=tuple(map(chess.Move.from_uci, ["d2d4", "a2a3"]))),
        ),
    ],
)
def test_limits(line: str, expected: SearchLimits) -> None:
    bench = Bench()
    bench.say("isready", line, "stop")
    (asked,) = bench.players[0].asked
    if expected.seconds:
        assert asked.seconds is not None
        assert expected.seconds - 0.2 < asked.seconds <= expected.seconds
        asked = replace(asked, seconds=expected.seconds)
    assert asked == expected


def test_the_clock_is_that_of_the_side_to_move() -> None:
    bench = Bench()
    bench.say("isready", "position startpos moves e2e4", "go wtime 1 btime 60030")
    assert bench.players[0].asked[0].seconds == pytest.approx(1.2, abs=0.2)


class Patient(Fake):
    """Thinks until it is stopped."""

    def mind(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event, tell: OnResult
    ) -> SearchResult | None:
        tell(thought(board))
        assert stop.wait(PATIENCE)
        return thought(board, 2)


def test_questions_during_a_search_are_answered_at_once() -> None:
    bench = Bench(Patient)

    def lines() -> Iterator[str]:
        yield "go movetime 100000"
        bench.wait_for("info depth 1")
        yield "isready"
        assert bench.lines[-1] == "readyok"
        yield "uci"
        assert bench.lines[-1] == "uciok"
        yield "position startpos moves e2e4"
        yield "setoption name Hash value 1"
        yield "ucinewgame"
        yield "stop"
        bench.wait_for("bestmove")

    bench.engine.run(lines())
    assert bench.lines[-1] == "bestmove g1h3"
    assert sum("depth 2" in line for line in bench.lines) == 1
    assert len(bench.players) == 1


@pytest.mark.parametrize("kind", [Fake, Patient])
def test_infinite_waits_for_stop(kind: type[Fake]) -> None:
    bench = Bench(kind)

    def lines() -> Iterator[str]:
        yield "go infinite"
        bench.wait_for("info depth 1")
        time.sleep(0.05)
        assert not any(line.startswith("bestmove") for line in bench.lines)
        yield "stop"
        bench.wait_for("bestmove")

    bench.engine.run(lines())


def test_a_go_ends_the_search_that_runs() -> None:
    bench = Bench(Patient)
    lines = bench.say("go infinite", "position startpos moves e2e4", "go depth 1", "stop")
    assert [line for line in lines if line.startswith("bestmove")] == ["bestmove g1h3", "bestmove g8h6"]
    assert mentions(lines, "search")


@pytest.mark.parametrize("last", ["quit", "stop"])
def test_the_end_of_the_input_ends_the_search(last: str) -> None:
    bench = Bench(Patient)
    bench.engine.run(iter(["go infinite", last]))
    assert bench.lines[-1] == "bestmove g1h3"


def test_after_bestmove_the_search_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread takes a moment to end; what comes in that moment must not be taken to come during a search."""
    search = UciEngine._search

    def slow_to_end(*args: Any) -> None:
        search(*args)
        time.sleep(0.1)

    monkeypatch.setattr(UciEngine, "_search", slow_to_end)
    bench = Bench()
    lines = bench.say("go depth 1", "(wait)", "setoption name Hash value 8", "isready")
    assert len(bench.players) == 2
    assert lines[-1] == "readyok"
    assert not any("during" in line for line in bench.say("go depth 1", "(wait)", "go depth 1"))


def test_the_last_thought_is_told_once() -> None:
    class Deep(Fake):
        def mind(
            self, board: chess.Board, limits: SearchLimits, stop: threading.Event, tell: OnResult
        ) -> SearchResult | None:
            tell(replace(thought(board), seconds=0.01))
            return thought(board)

    assert len(Bench(Deep).say("go depth 1")) == 2


def test_a_slow_load_is_taken_from_the_time() -> None:
    class Slow(Fake):
        def __init__(self, options: Options):
            super().__init__(options)
            time.sleep(0.1)

    bench = Bench(Slow)
    bench.say("go movetime 80")
    assert bench.players[0].asked == [SearchLimits(seconds=0.0)]


class Failing(Fake):
    def mind(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event, tell: OnResult
    ) -> SearchResult | None:
        board.push(next(iter(board.legal_moves)))
        raise ZeroDivisionError("a\nbug")


class Unable(Fake):
    def mind(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event, tell: OnResult
    ) -> SearchResult | None:
        raise KibitzError("this position is beyond me")


def test_a_search_that_cannot_be_done_prints_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Bench(Unable).say("go depth 1")
    assert mentions(lines, "info string & beyond me")
    assert lines[-1] == "bestmove g1h3"
    assert capsys.readouterr().err == ""


class Illegal(Fake):
    def mind(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event, tell: OnResult
    ) -> SearchResult | None:
        return replace(thought(board), lines=(replace(thought(board).lines[0], move=chess.Move.from_uci("e2e5")),))


class Speechless(Fake):
    def mind(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event, tell: OnResult
    ) -> SearchResult | None:
        return None


@pytest.mark.parametrize(
    ("kind", "told"), [(Failing, "a bug"), (Illegal, "illegal move e2e5"), (Speechless, "found no move")]
)
@pytest.mark.parametrize(("go", "move"), [("go depth 1", "g1h3"), ("go depth 1 searchmoves d2d4", "d2d4")])
def test_a_failing_search_still_moves(
    capsys: pytest.CaptureFixture[str], kind: type[Fake], told: str, go: str, move: str
) -> None:
    bench = Bench(kind)
    lines = bench.say(go)
    assert mentions(lines, f"{told} & search")
    assert re.fullmatch(rf"info depth 0 score cp 0 nodes 0 time \d+ pv {move}", lines[-2])
    assert lines[-1] == f"bestmove {move}"
    assert "Traceback" in capsys.readouterr().err
    assert bench.say("isready") == ["readyok"]


def test_options_make_a_new_player_where_it_needs_one() -> None:
    bench = Bench()
    bench.say("isready", "setoption name Move Overhead value 5", "setoption name UCI_ShowWDL value true", "isready")
    assert len(bench.players) == 1
    bench.say("setoption name HASH value 8", "setoption name temperature value 50", "isready", "go depth 1")
    assert [player.options for player in bench.players[1:]] == [
        replace(OPTIONS, hash=8, temperature=50, overhead=5, show_wdl=True)
    ]


def test_the_table_is_forgotten_before_the_next_search() -> None:
    bench = Bench()
    bench.say("ucinewgame", "isready")
    assert bench.players[0].games == 0  # new as it is
    bench.say("go depth 1", "setoption name Clear Hash", "(wait)", "go depth 1", "ucinewgame", "isready", "isready")
    assert bench.players[0].games == 2


def test_an_option_that_cannot_be_is_told() -> None:
    lines = Bench().say("setoption name Hash value lots", "setoption name Contempt value true", "setoption")
    assert each_mentions(lines, "info string & Hash & lots & 16384", "info string & contempt", "info string & name")


@pytest.mark.parametrize("before", [[], ["isready"]])
def test_a_player_that_cannot_be_made_leaves_the_former(before: list[str]) -> None:
    bench = Bench()
    lines = bench.say(
        *before, "setoption name Move_Overhead value 7", "setoption name method value top-move", "isready"
    )
    assert each_mentions(lines[-3:], "info string top-move", "info string & options", "readyok")
    assert bench.engine._options == replace(OPTIONS, overhead=7)
    assert len(bench.players) == 1
    assert bench.say("go depth 1")[-1] == "bestmove g1h3"


def test_a_wrong_call_is_an_error() -> None:
    """What the command line asks for is not silently played as something else."""
    bench = Bench(options=replace(OPTIONS, method="top-move"))
    with pytest.raises(UsageError, match="not with this network"):
        bench.say("isready")
    assert each_mentions(bench.lines, "info string top-move")


def test_debug_tells_the_limits() -> None:
    bench = Bench()
    assert "info string SearchLimits(depth=4," in "\n".join(bench.say("debug on", "go depth 4"))
    assert "info string" not in "\n".join(bench.say("debug off", "go depth 4"))


def test_what_is_not_known_is_told_and_passed_over() -> None:
    lines = Bench().say("", "  ", "xyzzy \x1b[2J", "joho debug on", "register later", "ponderhit", "isready")
    assert each_mentions(lines, "info string & xyzzy ?[2J", "info string & joho debug on", "readyok")


def test_an_output_that_is_gone_is_no_error() -> None:
    bench = Bench()
    bench.output.close()
    bench.engine.run(iter(["uci", "isready", "go depth 1", "go depth 1"]))
    assert len(bench.players[0].asked) == 2


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_lines_of_any_bytes(monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    monkeypatch.setattr(uci, "LONGEST_LINE", 16)
    stream = io.BytesIO(b"uci\r\n" + b"\xff\x00\n" + b"x" * 16 + b"\n" + b"y" * 40 + b"\nisready" + end)
    skipped: list[str] = []
    assert list(read_lines(stream, skipped.append)) == ["uci", "\ufffd\x00", "isready"]
    assert skipped == ["x" * 16, "y" * 16]


def test_a_line_that_is_too_long_is_told_once_and_its_position_is_not_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uci, "LONGEST_LINE", 64)
    position = b"position startpos moves" + b" g1f3 g8f6 f3g1 f6g8" * 40 + b"\n"
    bench = Bench()
    bench.engine.run(read_lines(io.BytesIO(b"x" * 500 + b"\n" + position + b"go depth 1\n"), bench.engine.report_long))
    assert each_mentions(
        bench.lines, "info string x & longer than 1 MiB", "info string position & longer than 1 MiB & no move", "go",
        "bestmove (none)",
    )  # fmt: skip
    assert bench.say("position startpos", "go depth 1")[-1] == "bestmove g1h3"


def test_a_byte_order_mark_is_no_part_of_the_first_command() -> None:
    assert list(read_lines(io.BytesIO(b"\xef\xbb\xbfuci\r\nisready\r\n"), pytest.fail)) == ["uci", "isready"]


WORDS = (
    "uci isready debug setoption name value Hash MultiPV method top-prob ucinewgame position startpos moves e2e4 e7e5 "
    "fen 8/8/8/8/8/8/8/8 4k3/8/8/8/8/8/8/4K3 w - go infinite depth wtime movetime searchmoves stop 0 1 -7"
)
words = st.sampled_from(WORDS.split()) | st.text(max_size=8)
sentences = st.lists(words, max_size=8).map(" ".join)


@given(st.lists(sentences, max_size=12))
@example(["go infinite", "go", "position fen", "go infinite", "setoption name", "stop", "stop"])
def test_no_sentence_kills_it(lines: list[str]) -> None:
    lines = [line for line in lines if line.split()[:1] != ["quit"]]
    bench = Bench()
    bench.engine.run(iter([*lines, "stop", "isready"]))
    asked = sum(line.lower().split()[:1] == ["go"] for line in lines)
    said = bench.lines
    assert "readyok" in said
    assert sum(line.startswith("bestmove ") for line in said) == asked
    assert all(line.isprintable() and line.startswith(STARTS) for line in said)


STARTS = ("id ", "option ", "uciok", "readyok", "info ", "bestmove ")


class Ponderer(Fake):
    """Without a limit it thinks until it is told to stop, else it answers at once; it expects a reply."""

    def mind(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event, tell: OnResult
    ) -> SearchResult | None:
        if limits == SearchLimits(moves=limits.moves):
            assert stop.wait(PATIENCE)
        move = chess.Move.from_uci("e2e4")
        line = PvLine(move, 7, None, 0.5, (move, chess.Move.from_uci("e7e5")), (400, 300, 300))
        return SearchResult(2, len(self.asked), 0.02, (line,))


def test_the_expected_reply_is_told_to_a_gui_that_ponders() -> None:
    bench = Bench(Ponderer)
    assert bench.say("go depth 1")[-1] == "bestmove e2e4"
    assert bench.say("setoption name Ponder value true", "go depth 1")[-1] == "bestmove e2e4 ponder e7e5"
    assert len(bench.players) == 1


def test_pondering_ends_with_stop() -> None:
    bench = Bench(Ponderer)
    lines = bench.say("go ponder wtime 60000 btime 60000", "isready", "stop")
    assert [line.split()[0] for line in lines] == ["readyok", "info", "bestmove"]
    assert bench.players[0].asked == [SearchLimits()]


def test_after_a_ponderhit_the_clock_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(Ponderer)
    ponder = "go ponder wtime 60000 btime 60000"
    now = 1000.0
    monkeypatch.setattr(uci, "time", SimpleNamespace(monotonic=lambda: now))

    def lines() -> Iterator[str]:
        nonlocal now
        yield ponder
        bench.wait_for_thought()
        now += 30  # the other side thinks for long
        yield "ponderhit"
        yield "ponderhit"
        bench.wait_for("bestmove")

    bench.engine.run(lines())
    pondered, timed = bench.players[0].asked
    assert pondered == SearchLimits()
    bench.say("go wtime 60000 btime 60000")
    assert timed == bench.players[0].asked[-1]
    assert timed.seconds


def test_nothing_is_answered_before_a_ponderhit() -> None:
    """Neither by a player that is done at once nor where no move is legal."""
    bench = Bench()

    def lines() -> Iterator[str]:
        for setup in ("position startpos", "position fen 7k/5KQ1/8/8/8/8/8/8 b - - 0 1"):
            before = len(bench.lines)
            yield setup
            yield "go ponder movetime 10"
            bench.wait_for("info", sum(line.startswith("info") for line in bench.lines[:before]) + 1)
            assert not any(line.startswith("bestmove") for line in bench.lines[before:])
            yield "ponderhit"
            bench.wait_for("bestmove", sum(line.startswith("bestmove") for line in bench.lines[:before]) + 1)

    bench.engine.run(lines())
    assert bench.lines[-1] == "bestmove (none)"


def test_a_ponderhit_without_pondering_is_passed_over() -> None:
    bench = Bench(Ponderer)
    assert bench.say("ponderhit", "go infinite", "ponderhit", "stop")[-1] == "bestmove e2e4"
    assert len(bench.players[0].asked) == 1


def test_chess960_is_refused_in_one_line() -> None:
    bench = Bench()
    assert each_mentions(bench.say("setoption name UCI_Chess960 value true"), "info string UCI_Chess960")
    assert bench.say("setoption name UCI_Chess960 value false") == []
