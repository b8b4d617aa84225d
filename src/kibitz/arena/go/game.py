"""Play one game of Go between two programs: rules, clocks, and faults of programs. The game ends after two passes in a
row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kibitz.arena.contest import Fault
from kibitz.arena.go.engine import GoEngine, MoveAnswer
from kibitz.arena.go.limits import GoClock, GoTime
from kibitz.arena.go.referee import lead
from kibitz.games.go import KOMI
from kibitz.games.go.points import BLACK, POINTS, WHITE, to_gtp
from kibitz.games.go.rules import Board

FORFEITS = {"crash": "F", "hang": "F", "time": "T", "illegal": "F"}
"""The letter after "+" in an SGF result, such as "B+T", for each kind of fault."""

Referee = Callable[[Board, float], tuple[float, str]]


@dataclass(frozen=True)
class GoRules:
    """The rules of a game of Go. They are Chinese rules: area scoring, no suicide, positional superko.

    size: the board size. komi: in points. moves: the number of moves after which the game ends and is scored.
    """

    size: int = 19
    komi: float = KOMI
    moves: int = 3 * POINTS


@dataclass
class Side:
    """One side of a game of Go.

    engine: the engine that plays this side. time: the time limit. seed: the random seed that is sent to the engine.
    """

    engine: GoEngine
    time: GoTime = field(default_factory=GoTime)
    seed: int = 0


@dataclass(frozen=True)
class GameResult:
    """The result of a game of Go.

    rules: the rules of the game.
    moves: all moves as (color, point), beginning with the opening.
    opening: the number of moves of the opening.
    answers: a dict from each color (1 Black, 2 White) to the moves that its engine played.
    result: the result as in SGF ("B+3.5", "W+R", "0").
    ending: how the game ended, as text.
    at_fault: the color that lost by a fault of its engine, such as a crash; None without a fault.
    reason: the description of the fault; "" without a fault.
    referee: what determined the dead stones for the score, such as "GNU Go"; "" if the game was not scored.
    """

    rules: GoRules
    moves: tuple[tuple[int, int], ...]
    opening: int
    answers: dict[int, tuple[MoveAnswer, ...]]
    result: str
    ending: str
    at_fault: int | None = None
    reason: str = ""
    referee: str = ""


def play(black: Side, white: Side, opening: Sequence[int], rules: GoRules, referee: Referee = lead) -> GameResult:
    """Play one game from an opening, and return its result. Both engines must be started. If an engine crashes, hangs,
    plays an illegal move or exceeds its time, it loses; no error is raised.

    black, white: the two sides.
    opening: the points of the opening's moves, Black first.
    rules: the rules of the game.
    referee: a function that scores the final position. The final position is the position after two passes in a row, or
        after `rules.moves` moves.
    """
    sides = {BLACK: black, WHITE: white}
    clocks = {colour: GoClock(side.time) for colour, side in sides.items()}
    board = Board(rules.size, superko=True)
    moves: list[tuple[int, int]] = []
    answers: dict[int, list[MoveAnswer]] = {BLACK: [], WHITE: []}

    def ended(result: str, ending: str, at_fault: int | None = None, reason: str = "", referee: str = "") -> GameResult:
        given = {colour: tuple(of_side) for colour, of_side in answers.items()}
        return GameResult(rules, tuple(moves), len(opening), given, result, ending, at_fault, reason, referee)

    def counted(ending: str) -> GameResult:
        margin, name = referee(board, rules.komi)
        result = f"{'B' if margin > 0 else 'W'}+{abs(margin):g}" if margin else "0"
        return ended(result, ending, referee=name)

    for point in opening:
        moves.append((board.to_move, point))
        board.play(*moves[-1])
    turn = board.to_move
    try:
        for turn, side in sides.items():
            side.engine.new_game(rules.komi, clocks[turn], moves, side.seed)
        turn = board.to_move
        while True:
            answer = _answer(sides[turn].engine, board, clocks[turn])
            answers[turn].append(answer)
            if answer.point is None:
                return ended(f"{_letter(3 - turn)}+R", "resignation")
            moves.append((turn, answer.point))
            board.play(turn, answer.point)
            if board.passes >= 2:
                return counted("both passed")
            if board.ply >= rules.moves:
                return counted("longest allowed")
            turn = 3 - turn
            sides[turn].engine.play(*moves[-1])
    except Fault as fault:
        return ended(f"{_letter(3 - turn)}+{FORFEITS[fault.kind]}", fault.kind, turn, fault.reason)


def _answer(engine: GoEngine, board: Board, clock: GoClock) -> MoveAnswer:
    """Request a move, and return it if it is legal and in time. Otherwise raises Fault."""
    allowed = clock.allowed
    answer = engine.answer(board.to_move, clock)
    if not clock.spend(answer.seconds):
        raise engine.fault(
            "time", f"ran out of time: the move took {answer.seconds:.2f} s, and {allowed:.2f} s were left"
        )
    point = answer.point
    if point is not None and (why := board.why_not(board.to_move, point)):
        raise engine.fault("illegal", f"played an illegal move ({to_gtp(point, board.size)}: {why})")
    return answer


def _letter(colour: int) -> str:
    return "B" if colour == BLACK else "W"
