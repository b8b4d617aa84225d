"""Play one game of chess between two engines: rules, clocks, early ends of games, and faults of engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import chess

from kibitz.arena.chess.engine import ChessEngine, MoveAnswer
from kibitz.arena.chess.limits import ChessLimits
from kibitz.arena.contest import Fault

CLOCK_MARGIN = 0.05
"""The seconds by which a move may exceed the engine's clock. They allow for the communication. An engine that needs
more time loses on time.
"""

MOVETIME_GRACE = 5.0
"""The seconds by which a move may exceed the time per move before the engine counts as hung. Late moves within these
seconds are counted in the table of the match.
"""

TERMINATIONS = {"crash": "abandoned", "hang": "abandoned", "time": "time forfeit", "illegal": "rules infraction"}
"""The value of the PGN tag Termination, as the PGN standard defines it, for each kind of fault."""


@dataclass(frozen=True)
class Adjudication:
    """The rules that end a game early, because both engines agree on the result or because the game is too long.

    draw: (centipawns, moves). The game is a draw if the evaluations by both engines were at most this number of
        centipawns from 0, for this number of moves in a row. None: this rule is off.
    win: (centipawns, moves). A side wins if the evaluations by both engines were at least this number of centipawns in
        favor of the side, for this number of moves in a row. None: this rule is off.
    plies: the number of plies after which the game is a draw.
    """

    draw: tuple[int, int] | None = None
    win: tuple[int, int] | None = None
    plies: int = 600


@dataclass
class Side:
    """One side of a game of chess.

    engine: the engine that plays this side. limits: the limits of its searches. answers: the moves that it has played
    so far.
    """

    engine: ChessEngine
    limits: ChessLimits
    answers: list[MoveAnswer] = field(default_factory=list)


@dataclass(frozen=True)
class GameResult:
    """The result of a game of chess.

    board: the final position, with all moves.
    opening: the number of plies of the opening.
    answers: the engines' moves after the opening, in order.
    result: the result as in PGN, such as "1-0".
    ending: how the game ended, as text ("checkmate", "stalemate", ...).
    termination: the value of the PGN tag Termination.
    at_fault: the color that lost by a fault of its engine, such as a crash; None without a fault.
    reason: the description of the fault; "" without a fault.
    """

    board: chess.Board
    opening: int
    answers: tuple[MoveAnswer, ...]
    result: str
    ending: str
    termination: str
    at_fault: chess.Color | None = None
    reason: str = ""


def play(
    white: Side,
    black: Side,
    opening: Sequence[chess.Move],
    *,
    seed: int = 0,
    number: int = 0,
    rules: Adjudication | None = None,
) -> GameResult:
    """Play one game from an opening, and return its result. Both engines must be started. If an engine crashes, hangs,
    plays an illegal move or exceeds its time, it loses; no error is raised.

    white, black: the two sides.
    opening: the moves of the opening from the start position.
    seed, number: the seed of the match and the number of the game. They determine node limits that are sampled.
    rules: the rules by which the game ends early; None for the default.

    Checkmate, stalemate and insufficient material end the game. The game is a draw as soon as a position occurs for the
    third time. It is also a draw after fifty moves of both sides without a capture or a pawn move.
    """
    rules = rules or Adjudication()
    sides = {chess.WHITE: white, chess.BLACK: black}
    clocks = {colour: side.limits.clock for colour, side in sides.items()}
    board = chess.Board()
    for move in opening:
        board.push(move)
    game = object()
    answers: list[MoveAnswer] = []

    def ended(result: str, ending: str, termination: str = "normal", **fault: object) -> GameResult:
        return GameResult(board, len(opening), tuple(answers), result, ending, termination, **fault)  # type: ignore[arg-type]

    def forfeited(turn: chess.Color, fault: Fault) -> GameResult:
        result = "0-1" if turn == chess.WHITE else "1-0"
        return ended(result, fault.kind, TERMINATIONS[fault.kind], at_fault=turn, reason=fault.reason)

    for turn, side in sides.items():
        try:
            side.engine.begin_game(game)
        except Fault as fault:
            return forfeited(turn, fault)
    increments = {colour: side.limits.increment for colour, side in sides.items()}
    while True:
        if by_rule := over(board):
            return ended(*by_rule)
        if by_judge := adjudicate(answers, len(opening), len(board.move_stack), rules):
            return ended(*by_judge, termination="adjudication")
        side, turn = sides[board.turn], board.turn
        limit = side.limits.go(seed, number, len(board.move_stack), clocks, increments)
        left = clocks[turn]
        try:
            try:
                answer = side.engine.answer(board, limit, game, _patience(side.limits, left))
            except Fault as fault:
                if fault.kind == "hang" and left is not None and _patience(side.limits, left) == left + CLOCK_MARGIN:
                    raise Fault("time", f"ran out of time: it found no move within {left:.2f} s") from None
                raise
            if left is not None:
                if answer.seconds > left + CLOCK_MARGIN:
                    raise Fault(
                        "time", f"ran out of time: the move took {answer.seconds:.2f} s, and {left:.2f} s were left"
                    )
                clocks[turn] = max(left - answer.seconds, 0.0) + side.limits.increment
        except Fault as fault:
            return forfeited(turn, fault)
        answers.append(answer)
        board.push(answer.move)


def _patience(limits: ChessLimits, left: float | None) -> float | None:
    """Return the seconds to wait for a move; None for the time after which an engine counts as hung. left: seconds on
    the clock.
    """
    waits = []
    if left is not None:
        waits.append(left + CLOCK_MARGIN)
    if limits.movetime is not None:
        waits.append(limits.movetime / 1000 + MOVETIME_GRACE)
    return min(waits) if waits else None


def over(board: chess.Board) -> tuple[str, str] | None:
    """Return the result, such as "1-0", and the reason as text, if the rules of chess have ended the game. Return None
    if the game continues.
    """
    if board.is_checkmate():
        return ("0-1" if board.turn == chess.WHITE else "1-0"), "checkmate"
    if board.is_stalemate():
        return "1/2-1/2", "stalemate"
    if board.is_insufficient_material():
        return "1/2-1/2", "insufficient material"
    if board.is_fifty_moves():
        return "1/2-1/2", "fifty moves"
    if board.is_repetition(3):
        return "1/2-1/2", "threefold repetition"
    return None


def adjudicate(answers: Sequence[MoveAnswer], opening: int, plies: int, rules: Adjudication) -> tuple[str, str] | None:
    """Return the result, such as "1-0", and the reason as text, if `rules` end the game early. Return None if the game
    continues.

    answers: the moves that the engines have played so far.
    opening: the number of plies of the opening.
    plies: the number of plies so far.
    """
    if rules.draw is not None:
        scores = _white_scores(answers, opening, 2 * rules.draw[1])
        if scores and all(abs(score) <= rules.draw[0] for score in scores):
            return "1/2-1/2", "adjudicated draw"
    if rules.win is not None:
        scores = _white_scores(answers, opening, 2 * rules.win[1])
        for sign, result in ((1, "1-0"), (-1, "0-1")):
            if scores and all(sign * score >= rules.win[0] for score in scores):
                return result, "adjudicated win"
    if plies >= rules.plies:
        return "1/2-1/2", "longest allowed"
    return None


def _white_scores(answers: Sequence[MoveAnswer], opening: int, last: int) -> list[int]:
    """Return the scores of the last `last` plies from White's point of view, in centipawns; [] if an engine reported no
    score.
    """
    if len(answers) < last:
        return []
    scores = []
    for ply, answer in enumerate(answers[-last:], opening + len(answers) - last):
        if answer.score is None:
            return []
        scores.append(answer.score if ply % 2 == 0 else -answer.score)
    return scores
