"""One game of Go: passes, resignations, the limit, clocks, and faults of programs that misbehave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from kibitz.arena.contest import Fault, StartFailed
from kibitz.arena.go import engine as engine_module
from kibitz.arena.go.engine import GoEngine, MoveAnswer
from kibitz.arena.go.game import GameResult, GoRules, Side, play
from kibitz.arena.go.limits import GoClock, GoTime
from kibitz.arena.players import Participant, player
from kibitz.games.go.points import BLACK, PASS, WHITE, from_gtp
from kibitz.games.go.rules import Board
from support.causes import mentions, naming
from support.gtp_player import fake

NINE = GoRules(9, 7.5, 243)


class Scripted(GoEngine):
    """Plays given vertices and takes given seconds, without a process."""

    def __init__(self, moves: str, seconds: float = 0.0):
        super().__init__(Participant("scripted", ("true",)), 1, 9)
        self._moves, self._seconds = iter(moves.split()), seconds
        self.told: list[tuple[int, int]] = []

    def new_game(self, komi: float, clock: GoClock, opening: object, seed: int) -> None:
        self.told = list(opening)  # type: ignore[call-overload]

    def play(self, colour: int, point: int) -> None:
        self.told.append((colour, point))

    def answer(self, colour: int, clock: GoClock) -> MoveAnswer:
        word = next(self._moves)
        return MoveAnswer(None if word == "resign" else from_gtp(word, 9), self._seconds)


def even(board: Board, komi: float) -> tuple[float, str]:
    return -komi, "nobody"


def scripted(moves: str, opening: Sequence[int] = (), rules: GoRules = NINE, time: GoTime = GoTime()) -> GameResult:  # noqa: B008
    words = moves.split()
    black, white = Scripted(" ".join(words[0::2]), 0.6), Scripted(" ".join(words[1::2]))
    played = play(Side(black, time), Side(white, time), opening, rules, even)
    assert [colour for colour, _ in played.moves] == [BLACK, WHITE] * (len(played.moves) // 2) + [BLACK] * (
        len(played.moves) % 2
    )
    return played


def test_two_passes_end_the_game() -> None:
    played = scripted("E5 pass C3 pass pass")
    assert (played.result, played.ending, played.referee) == ("W+7.5", "both passed", "nobody")
    assert played.moves[-2:] == ((WHITE, PASS), (BLACK, PASS))
    assert [len(played.answers[colour]) for colour in (BLACK, WHITE)] == [3, 2]


def test_both_are_told_the_opening_and_each_others_moves() -> None:
    opening = (from_gtp("E5", 9), from_gtp("C3", 9))
    black, white = Scripted("G7 resign"), Scripted("C7")
    played = play(Side(black), Side(white), opening, NINE, even)
    start = [(BLACK, opening[0]), (WHITE, opening[1])]
    assert black.told == [*start, (WHITE, from_gtp("C7", 9))]
    assert white.told == [*start, (BLACK, from_gtp("G7", 9))]
    assert (played.result, played.ending, played.opening) == ("W+R", "resignation", 2)


def test_a_draw_and_a_win() -> None:
    assert scripted("pass pass", rules=GoRules(9, 0)).result == "0"
    assert scripted("pass pass", rules=GoRules(9, -3)).result == "B+3"


def test_a_game_that_is_too_long_is_counted() -> None:
    played = scripted("A1 A2 A3 A4 A5 A6", rules=GoRules(9, 7.5, 5))
    assert (played.result, played.ending, len(played.moves)) == ("W+7.5", "longest allowed", 5)


@pytest.mark.parametrize(
    ("moves", "loser", "why"),
    [
        ("E5 E5", WHITE, "E5: on a stone"),
        ("E5 A2 E4 B1 A1", BLACK, "A1: suicide"),
        ("B1 B2 A2 A1", WHITE, "A1: suicide"),
        # a ko at C3 and D3, taken back at once
        ("C4 D4 C2 D2 B3 E3 D3 C3 D3", BLACK, "D3 & ko"),
        # two stones sent, one returned: no simple ko, but the position comes again
        ("A2 B2 B1 C2 J9 D1 C1 A1 B1", BLACK, "B1: repeats a position"),
    ],
)
def test_illegal_moves(moves: str, loser: int, why: str) -> None:
    played = scripted(moves)
    assert (played.ending, played.at_fault) == ("illegal", loser)
    assert mentions(played.reason, why)
    assert played.result == ("W+F" if loser == BLACK else "B+F")


def test_the_clock_runs_out() -> None:
    played = scripted("A1 A3 B1 B3 C1 C3 D1 D3", time=GoTime(1))
    assert (played.result, played.ending, played.at_fault) == ("W+T", "time", BLACK)
    assert len(played.moves) == 2


@contextmanager
def started(command: str, hang: float = 1.5) -> Iterator[GoEngine]:
    one = GoEngine(player(command, game="go"), hang, 9)
    try:
        one.start()
        yield one
    finally:
        one.close()


@pytest.mark.parametrize(
    ("fault", "time", "kind", "said"),
    [
        ("crash", GoTime(), "crash", "crashed: the program ended during the command 'genmove "),
        ("hang", GoTime(), "hang", "did not reply to 'genmove "),
        ("occupied", GoTime(), "illegal", "on a stone"),
        ("off", GoTime(), "illegal", "T19 & board"),
        ("nonsense", GoTime(), "illegal", "board"),
        ("error", GoTime(), "illegal", "sent no move"),
        ("refuse", GoTime(), "illegal", "refused the legal move"),
        ("slow", GoTime(1), "time", "ran out of time"),
        ("hang", GoTime(1), "time", "ran out of time"),
        ("deaf", GoTime(100), "hang", "did not reply to 'time_left "),  # before its clock runs
    ],
)
def test_the_side_at_fault_forfeits(fault: str, time: GoTime, kind: str, said: str) -> None:
    with (
        started(fake("sound", 30), hang=60) as sound,
        started(
            fake(fault, 3), hang=1.5 if (fault, time) in (("hang", GoTime()), ("deaf", GoTime(100))) else 60
        ) as bad,
    ):
        for number in range(2):  # it is started anew after its fault
            bad.start()
            sides = (Side(sound), Side(bad, time))
            played = play(*(sides if number == 0 else sides[::-1]), (), NINE, even)  # type: ignore[misc]
            assert played.ending == kind
            assert mentions(played.reason, said)
            assert played.at_fault == (WHITE if number == 0 else BLACK)
            assert played.result[:2] == ("B+" if number == 0 else "W+")


def test_garbage_is_passed_over_and_a_resignation_counts() -> None:
    with started(fake("garbage", 4)) as one, started(fake("resign", 4)) as other:
        assert one.identity == "garbage 1"
        played = play(Side(one), Side(other), (), NINE, even)
        assert played.result == "B+R"
        assert play(Side(one), Side(one), (), NINE, even).at_fault is not None  # one process cannot be both sides


@pytest.mark.parametrize(
    ("fault", "said"),
    [("exit", "command 'name'"), ("19", "9 & board"), ("mute", "reply & GTP")],
)
def test_programs_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch, fault: str, said: str) -> None:
    monkeypatch.setattr(engine_module, "START_PATIENCE", 0.3 if fault == "mute" else 20)
    with pytest.raises(StartFailed, match=naming(said)), started(fake(fault)):
        pass


def test_a_closed_engine_faults() -> None:
    with pytest.raises(Fault, match="ended"):
        GoEngine(Participant("none", ("true",)), 1, 9).answer(BLACK, GoClock(GoTime()))
