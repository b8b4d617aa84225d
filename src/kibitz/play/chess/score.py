"""The scale of values in chess searches, which includes mates. Functions convert values to centipawns and
probabilities.

A value is the expected result from the mover's point of view: -1 is a loss, and 1 is a win. Values outside of this
range are mates: at `2 - k·STEP` the mover mates in k plies, and at `-2 + k·STEP` the mover is mated in k plies. So a
shorter mate has a larger value, and being mated later also has a larger value. To order values, compare the numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kibitz.kernels import kernel

if TYPE_CHECKING:
    import chess.engine

STEP = 1 / 1024
MATED = -2.0
"""The value for the side to move if it is mated on the board."""
_MATES = 1_000_000
"""Centipawns that represent an engine's mate, so that its win probability is 1."""
CLAMP = 2000
"""The largest absolute value of centipawns."""
STEEPNESS = 0.00368208
"""The factor in Lichess's formula for the win probability, `1 / (1 + exp(−STEEPNESS · centipawns))`, see
https://lichess.org/page/accuracy.

kibitz converts every probability into centipawns, and back, with this formula.
"""


@kernel
def to_parent(value: float) -> float:
    """Return the value of a child node from the point of view of its parent, where the opponent moves. For the parent,
    a mate is one ply further away.
    """
    if value > 1:
        return STEP - value
    if value < -1:
        return -STEP - value
    return -value


def to_child(value: float) -> float:
    """Return the value of a parent node from the point of view of its child, where the opponent moves. This function is
    the inverse of `to_parent`.
    """
    if value > 1:
        return -value - STEP
    if value < -1:
        return STEP - value
    return -value


def mate(value: float) -> int | None:
    """Return the number of moves to mate: above 0 if the mover mates, below 0 if the mover gets mated, and 0 if the
    mover is already mated. Return None if the value is not a mate. value: -1 to 1, or beyond this range for a mate (see
    the docstring of this module).
    """
    if abs(value) <= 1:
        return None
    plies = round((2 - abs(value)) / STEP)
    return (plies + 1) // 2 if value > 0 else -(plies // 2)


def centipawns(value: float) -> int:
    """Return the centipawns, from -2000 to 2000 (CLAMP), for which Lichess's formula gives the win probability `(1 +
    value) / 2`. See STEEPNESS for the formula.
    """
    value = max(-0.999999, min(0.999999, value))
    return max(-CLAMP, min(CLAMP, round(math.log((1 + value) / (1 - value)) / STEEPNESS)))


def of_centipawns(centipawns: float) -> float:
    """Return the value, between -1 and 1, that corresponds to centipawns, for the same side. This function is the
    inverse of the function `centipawns()`.
    """
    return math.tanh(STEEPNESS * centipawns / 2)


def win_chance(score: chess.engine.Score) -> float:
    """Return the win probability, 0 to 1, for an engine's score, for the side whose score it is. A mate gives 1
    or 0.
    """
    centipawns = score.score(mate_score=_MATES)
    assert centipawns is not None
    return (1 + of_centipawns(centipawns)) / 2


def chances(value: float) -> tuple[int, int, int]:
    """Return the probabilities of win, draw and loss for a value, in thousandths, which sum to 1000. The probability of
    a draw is assumed to be (1 - value²) / 2. The probability of a win minus that of a loss equals the value.
    """
    value = max(-1.0, min(1.0, value))
    drawn = (1 - value * value) / 2
    win, loss = round(500 * (1 - drawn + value)), round(500 * (1 - drawn - value))
    return win, 1000 - win - loss, loss
