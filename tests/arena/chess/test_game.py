"""One game: endings by the rules and by the judge, clocks, and faults of engines that misbehave."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import chess
import chess.engine
import pytest

from kibitz.arena.chess.engine import ChessEngine, MoveAnswer
from kibitz.arena.chess.game import Adjudication, GameResult, Side, over, play
from kibitz.arena.chess.limits import ChessLimits, limits
from kibitz.arena.contest import Fault, StartFailed
from kibitz.arena.players import Participant, player
from support.patience import PATIENCE

DEPTH = limits(None, 1, None, None)


class Scripted(ChessEngine):
    """An engine that plays given moves, with given scores, and takes given seconds, without a process."""

    def __init__(self, moves: str, score: int | None = None, seconds: float = 0.0):
        super().__init__(player_of("true"), 1)
        self._moves = iter(moves.split())
        self._score, self._seconds = score, seconds

    def begin_game(self, game: object) -> None:
        """There is nobody to tell."""

    def answer(self, board: chess.Board, limit: chess.engine.Limit, game: object, patience: float | None) -> MoveAnswer:
        return MoveAnswer(board.parse_san(next(self._moves)), self._seconds, self._score)


def player_of(command: str) -> object:  # type: ignore[return]
    from kibitz.arena.players import Participant

    return Participant(command, (command,))


def scripted(moves: str, **rules: object) -> GameResult:
    """A game whose moves are given, White's and Black's in turn."""
    words = moves.split()
    white, black = Scripted(" ".join(words[0::2])), Scripted(" ".join(words[1::2]))
    return play(Side(white, DEPTH), Side(black, DEPTH), (), rules=Adjudication(**rules))  # type: ignore[arg-type]


def test_mate() -> None:
    played = scripted("f3 e5 g4 Qh4")
    assert (played.result, played.ending, played.termination) == ("0-1", "checkmate", "normal")
    assert len(played.answers) == 4


def test_the_third_repetition_is_claimed_as_it_stands() -> None:
    played = scripted("Nf3 Nf6 Ng1 Ng8 " * 3)
    assert (played.result, played.ending) == ("1/2-1/2", "threefold repetition")
    assert len(played.board.move_stack) == 8


def test_a_game_that_is_too_long_is_drawn() -> None:
    played = scripted("e4 e5 Nf3 Nf6 Nc3 Nc6", plies=5)
    assert (played.result, played.termination) == ("1/2-1/2", "adjudication")
    assert len(played.board.move_stack) == 5


@pytest.mark.parametrize(
    ("fen", "ending"),
    [
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", ("1/2-1/2", "stalemate")),
        ("7k/8/6K1/8/8/8/8/8 b - - 0 1", ("1/2-1/2", "insufficient material")),
        ("7k/8/6K1/8/8/8/8/R7 b - - 100 90", ("1/2-1/2", "fifty moves")),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 100 90", ("1-0", "checkmate")),
        ("7k/8/6K1/8/8/8/8/R7 b - - 99 90", None),
    ],
)
def test_endings(fen: str, ending: tuple[str, str] | None) -> None:
    assert over(chess.Board(fen)) == ending


@pytest.mark.parametrize(
    ("white", "black", "rules", "ending"),
    [
        (10, -10, {"draw": (20, 2)}, "adjudicated draw"),
        (900, -900, {"win": (800, 2)}, "adjudicated win"),
        (900, 900, {"win": (800, 2)}, "checkmate"),  # each thinks that it wins
        (None, 0, {"draw": (20, 2)}, "checkmate"),  # one does not say
        (10, -10, {}, "checkmate"),
    ],
)
def test_the_judge(white: int | None, black: int, rules: dict[str, tuple[int, int]], ending: str) -> None:
    one, other = Scripted("a3 b3 f3 g4", white), Scripted("a6 b6 e5 Qh4", black)
    played = play(Side(one, DEPTH), Side(other, DEPTH), (), rules=Adjudication(**rules))  # type: ignore[arg-type]
    assert played.ending == ending
    if ending == "adjudicated win":
        assert played.result == "1-0"
        assert len(played.answers) == 4


def test_the_clock_runs_out() -> None:
    clock = limits(None, None, None, "1+0.1")
    white, black = Scripted("e4 d4 c4 b4 a4", seconds=0.4), Scripted("e5 d5 c5 b5 a5", seconds=0.05)
    played = play(Side(white, clock), Side(black, clock), ())
    # 1 - .4 + .1 = .7, .4, .1; the fourth move of .4 s is too long
    assert (played.result, played.ending, played.termination) == ("0-1", "time", "time forfeit")
    assert played.at_fault == chess.WHITE
    assert len(played.answers) == 6


@contextmanager
def started(command: str, hang: float = 1.5) -> Iterator[ChessEngine]:
    one = ChessEngine(player(command), hang)
    try:
        one.start()
        yield one
    finally:
        one.close()


@pytest.mark.parametrize(
    ("fault", "limit", "kind", "said"),
    [
        ("crash", DEPTH, "crash", "exit code 7"),
        ("hang", DEPTH, "hang", "found no move within 1"),
        ("illegal", DEPTH, "illegal", "e1e8"),
        ("none", DEPTH, "illegal", "no move"),
        ("pass", DEPTH, "illegal", "no move"),
        ("flood", ChessLimits(movetime=20_000), "crash", "exit code -9"),
        ("lie", DEPTH, "illegal", "e2e4"),
        ("slow", ChessLimits(clock=0.3), "time", "ran out of time"),
    ],
)
def test_the_side_at_fault_forfeits(
    engine: Callable[..., str], fault: str, limit: ChessLimits, kind: str, said: str
) -> None:
    opening = [chess.Move.from_uci("e2e4"), chess.Move.from_uci("e7e5")]
    with started(engine("sound")) as sound, started(engine(fault)) as bad:
        for number in range(2):  # it is started anew after its fault
            bad.start()
            sides = (Side(sound, DEPTH), Side(bad, limit))
            played = play(*(sides if number == 0 else sides[::-1]), opening)  # type: ignore[misc]
            assert played.ending == kind
            assert said in played.reason
            assert played.at_fault == (chess.BLACK if number == 0 else chess.WHITE)
            assert played.result == ("1-0" if number == 0 else "0-1")
            assert sum(1 for ply in range(2, len(played.board.move_stack)) if ply % 2 != number % 2) == 2


def test_garbage_is_passed_over(engine: Callable[..., str]) -> None:
    with started(engine("garbage", score=3)) as one, started(engine("sound")) as other:
        played = play(Side(one, DEPTH), Side(other, DEPTH), (), rules=Adjudication(plies=30))
    assert played.at_fault is None
    assert played.answers[0].score == 3
    assert played.answers[0].nodes == 7


def test_a_closed_engine_faults() -> None:
    with pytest.raises(Fault):
        ChessEngine(player_of("true"), 1).answer(chess.Board(), chess.engine.Limit(depth=1), None, None)  # type: ignore[arg-type]


def test_a_new_game_is_told_before_the_clock_runs(engine: Callable[..., str]) -> None:
    """It clears its memory for 2 s before each game, and has 1.5 s for all of its moves."""
    clock = limits(None, None, None, "1.5+0.5")
    sides = [ChessEngine(Participant("a", tuple(shlex.split(engine("clears")))), 10) for _ in range(2)]
    try:
        for _ in range(2):
            for one in sides:
                one.start()
            played = play(Side(sides[0], clock), Side(sides[1], clock), (), rules=Adjudication(plies=6))
            assert (played.ending, played.reason) == ("longest allowed", "")
    finally:
        for one in sides:
            one.close()


def test_an_engine_that_ended_between_two_games_is_started_again(engine: Callable[..., str]) -> None:
    one = ChessEngine(Participant("a", tuple(shlex.split(engine()))), 10)
    try:
        one.start()
        first = one._process
        assert first is not None
        os.kill(first, signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE
        while one._engine is not None and one._engine.runs and time.monotonic() < deadline:
            time.sleep(0.02)
        one.start()
        one.begin_game(object())
        assert one._process != first
    finally:
        one.close()


def test_an_engine_that_is_only_starting_is_ended(engine: Callable[..., str]) -> None:
    one = ChessEngine(Participant("a", tuple(shlex.split(engine("mute")))), 10)
    begun = threading.Thread(target=_quietly, args=(one.start,), daemon=True)
    begun.start()
    deadline = time.monotonic() + PATIENCE
    while one._process is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process = one._process
    assert process is not None
    one.close()
    begun.join(PATIENCE)
    assert not begun.is_alive()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def _quietly(start: Callable[[], None]) -> None:
    with contextlib.suppress(StartFailed):
        start()
