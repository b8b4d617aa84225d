"""Values, mates and centipawns.

A value is the expected result in the mover's view, -1 to 1. Values beyond are mates by the rules: `2 - k·STEP` mates in
k plies, and `-2 + k·STEP` is mated in k plies. So a shorter mate is better, a longer defense is better, and one
comparison of numbers orders all values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kibitz.kernels import kernel

if TYPE_CHECKING:
    import chess.engine

STEP = 1 / 1024
MATED = -2.0
"""The value if the mover is mated on the board."""
_MATES = 1_000_000
"""Centipawns of an engine's mate: their win probability is 1."""
CLAMP = 2000
"""The largest number of centipawns, in both directions."""
STEEPNESS = 0.00368208
"""Lichess's win probability is `1 / (1 + exp(−0.00368208 · centipawns))`, see https://lichess.org/page/accuracy.

kibitz converts every probability into centipawns, and back, with this formula.
"""


@kernel
def to_parent(value: float) -> float:
    """Return a child's value in its parent's view: that of the opponent, with mates one ply further away."""
    if value > 1:
        return STEP - value
    if value < -1:
        return -STEP - value
    return -value


def to_child(value: float) -> float:
    """Return the child's value that `to_parent` converts to `value`."""
    if value > 1:
        return -value - STEP
    if value < -1:
        return STEP - value
    return -value


def mate(value: float) -> int | None:
    """Return moves to mate: > 0 the mover mates, < 0 is mated, 0 is already mated; None if no mate is known."""
    if abs(value) <= 1:
        return None
    plies = round((2 - abs(value)) / STEP)
    return (plies + 1) // 2 if value > 0 else -(plies // 2)


def centipawns(value: float) -> int:
    """Return the centipawns whose win probability by Lichess's formula is (1 + value) / 2; at most ±CLAMP."""
    value = max(-0.999999, min(0.999999, value))
    return max(-CLAMP, min(CLAMP, round(math.log((1 + value) / (1 - value)) / STEEPNESS)))


def of_centipawns(centipawns: float) -> float:
    """Return the value, -1 to 1, of centipawns in the same view: the inverse of `centipawns`."""
    return math.tanh(STEEPNESS * centipawns / 2)


def win_chance(score: chess.engine.Score) -> float:
    """Return the win probability, 0 to 1, of an engine's score in the same view; 1 or 0 for a mate."""
    centipawns = score.score(mate_score=_MATES)
    assert centipawns is not None
    return (1 + of_centipawns(centipawns)) / 2


def chances(value: float) -> tuple[int, int, int]:
    """Return win, draw and loss per mille, summing to 1000: half of (1 - value²) is drawn, and the rest gives the
    value."""
    value = max(-1.0, min(1.0, value))
    drawn = (1 - value * value) / 2
    win, loss = round(500 * (1 - drawn + value)), round(500 * (1 - drawn - value))
    return win, 1000 - win - loss, loss
