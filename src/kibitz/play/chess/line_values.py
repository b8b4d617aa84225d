"""The value of a single first move: one network evaluation of the position after it, and a check by the rules.

A search that sends its visits to a few moves knows little about the others. `MoveEvaluator` evaluates the position
after each given move once. `check_moves` searches each of them for a few plies by material alone. It finds short mates
of either side, and hanging pieces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.replay import CLOCK, SQUARES, START_WIDTH, decode_board
from kibitz.play.chess import bare_king
from kibitz.play.chess.quiescence import MATE_SCORE, NO_ROWS, SURE, quiescence_search
from kibitz.play.chess.score import STEP, of_centipawns
from kibitz.play.session import Answers, NetworkSession

if TYPE_CHECKING:
    from kibitz.play.puct.search import Entered

CHECK_PLIES = 5
"""Number of plies of the check after a move; after them, only captures are searched. With 4 plies it would miss mates
in 3 by the other side.
"""
MATE_PLIES = 5
"""Number of plies in which `find_mate` searches for a mate by the side to move."""
SLACK_CENTIPAWNS = 50
"""In the check, a position may be better than its material by up to this number of centipawns."""
MATERIAL_FACTOR = 1.4
"""Centipawns for each hundredth of a pawn of material. The factor is above 1, because a side that is behind in material
usually has other disadvantages too.
"""
MATERIAL_WEIGHT, OPINION_WEIGHT = 0.34, 0.76
"""Weights of a pawn of material after the check, and of a search's value. Their sum is a value in log odds. They were
fitted by least squares to Stockfish's values on half of the games of tools/label_mistakes.py.
"""
MOST_PAWNS = 20
WON_CENTIPAWNS, CERTAIN_CENTIPAWNS = 300, 500
"""The material limits a value if the balance is at least the first number. The limit has its full effect from the
second number on.
"""
WON_BASE, WON_FACTOR = 250, 0.65
"""The upper limit in centipawns: a base, plus a factor for each hundredth of a pawn of material. Stockfish values a won
position less than its material suggests. Without this limit, 46 of 1,000 lines had at least 300 centipawns too many.
"""
CONVINCED = 0.9
"""A search's value above this number raises the limit, because it shows an attack that decides the game, for
instance.
"""
CONVINCED_CENTIPAWNS = 1000
"""The number of centipawns by which a search's value of 1 raises the limit."""
SUREST = 0.998
"""Upper limit of a search's value when it is converted to log odds."""
CHECK_VISITS = 64
"""The check's weight decreases with the visits of the move. It is 0 if there are at least this number of visits."""
BARE_KING_VALUE = 0.98
"""The value of a position with a bare king, for a side that has enough material to mate and that loses nothing at
once.
"""
BARE_KING_MATERIAL = 250
"""Hundredths of a pawn that this side must still have at the end of the check."""

MAX_BARE_KING_CLOCK = 50
"""If at least this number of plies has passed without a capture or pawn move, the fifty-move rule may prevent the
mate.
"""


@dataclass(frozen=True)
class MoveCheck:
    """The result of the check for one move, in the view of the side that makes it.

    centipawns: the material balance after the best play of the next plies.
    value: the value of a mate that was found (score.py); None if there is none.
    bare_king: 1 if the mover can mate a bare king, -1 if the mover's bare king can be mated, else 0.
    line: the packed moves of the mate after this move; () without a mate.
    """

    centipawns: int
    value: float | None = None
    bare_king: int = 0
    line: tuple[int, ...] = ()

    def corrected(self, value: float, visits: int) -> float:
        """Return the value of the move, given a search's value (-1 to 1, or a mate) after `visits` visits, 1 or
        more."""
        if self.value is not None:
            return self.value
        if abs(value) > 1:
            return value
        if self.bare_king:
            return max(value, BARE_KING_VALUE) if self.bare_king > 0 else min(value, -BARE_KING_VALUE)
        value = min(self._with_material(value), self._limit(value))
        highest = of_centipawns(MATERIAL_FACTOR * self.centipawns + SLACK_CENTIPAWNS)
        if value <= highest:
            return value
        share = max(0.0, 1 - visits / CHECK_VISITS)
        return (1 - share) * value + share * highest

    def _limit(self, value: float) -> float:
        """Return the highest value, up to 1, of a move that wins material, given a search's value."""
        if self.centipawns <= WON_CENTIPAWNS:
            return 1.0
        full = min(1.0, (self.centipawns - WON_CENTIPAWNS) / (CERTAIN_CENTIPAWNS - WON_CENTIPAWNS))
        limit = WON_BASE + WON_FACTOR * self.centipawns
        limit += CONVINCED_CENTIPAWNS * max(1 - full, (value - CONVINCED) / (1 - CONVINCED))
        return of_centipawns(limit)

    def _with_material(self, value: float) -> float:
        """Return the value, -1 to 1, corrected for the material in the check."""
        opinion = max(-SUREST, min(SUREST, value))
        pawns = max(-MOST_PAWNS, min(MOST_PAWNS, self.centipawns / 100))
        odds = MATERIAL_WEIGHT * pawns + OPINION_WEIGHT * math.log((1 + opinion) / (1 - opinion))
        return math.tanh(odds / 2)


def check_moves(rows: NDArray[np.uint8]) -> list[MoveCheck]:
    """Return the check of moves. rows: uint8 [n, 68], the positions after the moves; in none of them the game may be
    over.
    """
    return [_check(row) for row in rows]


def find_mate(row: NDArray[np.uint8], drawn: NDArray[np.uint8] = NO_ROWS) -> tuple[float, tuple[int, ...]] | None:
    """Return the value and the line (packed moves) of a mate that the side to move can force; None if none is found.

    The mate takes at most MATE_PLIES plies. row: uint8 [68]. drawn: uint8 [k, 68], positions that are drawn if they
    occur.
    """
    found = quiescence_search(row[None], MATE_PLIES, threads=1, drawn=drawn)
    depth = max(0, int(found.reached[0]))
    score = int(found.scores[0, depth])
    if score < SURE:
        return None
    return 2 - (MATE_SCORE - score) * STEP, tuple(int(move) for move in found.lines[0, depth] if move)


def _check(row: NDArray[np.uint8]) -> MoveCheck:
    # Each position is searched alone, so that its result doesn't depend on the other positions of a batch.
    found = quiescence_search(row[None], CHECK_PLIES, threads=1)
    depth = max(0, int(found.reached[0]))
    score = int(found.scores[0, depth])
    line = tuple(int(move) for move in found.lines[0, depth] if move)
    if score >= SURE:
        return MoveCheck(-score, -2 + (MATE_SCORE - score + 1) * STEP, line=line)
    if score <= -SURE:
        return MoveCheck(-score, 2 - (MATE_SCORE + score + 1) * STEP, line=line)
    return MoveCheck(-score, bare_king=_bare_king(row, -score))


def _bare_king(row: NDArray[np.uint8], centipawns: int) -> int:
    """Return MoveCheck.bare_king for a move. row: the position after the move."""
    codes = row[:SQUARES]
    whites, blacks = int(((codes >= 1) & (codes <= 6)).sum()), int((codes >= 7).sum())
    near_draw = row[SQUARES + CLOCK] > MAX_BARE_KING_CLOCK
    if min(whites, blacks) != 1 or abs(centipawns) < BARE_KING_MATERIAL or near_draw:
        return 0
    board = decode_board(codes, row[SQUARES:START_WIDTH])
    mover = not board.turn  # the side that has just moved
    strong = chess.WHITE if blacks == 1 else chess.BLACK
    if (centipawns > 0) != (strong == mover) or not bare_king.has_mating_material(board, strong):
        return 0
    return 1 if strong == mover else -1


class _NoOpinion:
    """A value network that outputs 0 everywhere, so that only captures and material count."""

    outputs: tuple[str, ...] = ("value",)

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Answers:
        return {"value": np.zeros(len(codes), np.float32)}


class MoveEvaluator:
    """Evaluates the positions after single moves, with one network evaluation each.

    policy: a network that predicts moves. value: a network that evaluates positions; None if there is no such network,
    so that only captures and material count.
    """

    def __init__(self, policy: NetworkSession, value: NetworkSession | None):
        from kibitz.play.puct import chess as rules

        valued = _NoOpinion() if value is None else value
        self._rules = rules.ChessRules(policy, valued, captures=rules.CaptureWeights())

    def values(
        self, row: NDArray[np.uint8], moves: Sequence[int], drawn_keys: NDArray[np.uint64]
    ) -> list[tuple[float, tuple[int, ...]]]:
        """Return the value of each packed legal move for the mover, see score.py, and the line if a mate was found.

        row: uint8 [68], the position. drawn_keys: uint64, keys of positions that are drawn if they occur again.
        """
        from kibitz.play.puct.tree import DRAW, LOSS, UNKNOWN, WIN

        if not moves:
            return []
        packed = np.array(moves, np.uint16)
        entered = self._rules.enter(np.repeat(row[None, :START_WIDTH], len(packed), 0), packed)
        ended = np.where((entered.ended != LOSS) & np.isin(entered.again, drawn_keys), DRAW, entered.ended)
        known = {LOSS: 2 - STEP, WIN: -2 + 2 * STEP, DRAW: 0.0}
        open_ = np.flatnonzero(ended == UNKNOWN)
        values = dict(zip(open_.tolist(), self._opinions(entered, open_), strict=True))
        found: list[tuple[float, tuple[int, ...]]] = []
        for i, end in enumerate(ended.tolist()):
            if end == UNKNOWN:
                check = _check(entered.rows[i])
                found.append((check.corrected(values[i], 1), check.line))
            else:
                mating = (int(entered.moves[entered.offsets[i]]),) if end == WIN else ()
                found.append((known[end], mating))
        return found

    def _opinions(self, entered: Entered, at: NDArray[np.intp]) -> list[float]:
        """Return the values, -1 to 1, of some of the positions for the side that has just moved."""
        if not len(at):
            return []
        parts = [entered.moves[entered.offsets[i] : entered.offsets[i + 1]] for i in at]
        offsets = np.cumsum([0, *map(len, parts)])
        opinions, _ = self._rules.evaluate(entered.rows[at], np.concatenate(parts), offsets)
        return [float(np.clip(-np.nan_to_num(opinion), -1, 1)) for opinion in opinions]
