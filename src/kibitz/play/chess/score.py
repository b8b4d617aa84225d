"""Values, mates and centipawns.

A value is the expected result in the mover's view, -1..1. Beyond that a value is a mate by the rules: `2 - k·STEP`
mates in k plies, `-2 + k·STEP` is mated in k plies, so that a shorter mate is better and a longer resistance too, and
one comparison of numbers orders everything.
"""

from __future__ import annotations

import math

from kibitz.kernels import kernel

STEP = 1 / 1024
MATED = -2.0
"""The value where the mover is mated on the board."""
CLAMP = 2000
"""Centipawns at most, either way."""
STEEPNESS = 0.00368208
"""Lichess's winning probability is 1 / (1 + exp(−0.00368208 · centipawns)), see https://lichess.org/page/accuracy.
kibitz turns every probability into centipawns, and back, by this formula."""


@kernel
def to_parent(value: float) -> float:
    """A child's value seen from its parent: the other side's, and mates one ply further away."""
    if value > 1:
        return STEP - value
    if value < -1:
        return -STEP - value
    return -value


def to_child(value: float) -> float:
    """The inverse of `to_parent`: the child's value that the parent sees as this."""
    if value > 1:
        return -value - STEP
    if value < -1:
        return STEP - value
    return -value


def mate(value: float) -> int | None:
    """Moves to mate: > 0 the mover mates, < 0 is mated, 0 is mated already; None where no mate is known."""
    if abs(value) <= 1:
        return None
    plies = round((2 - abs(value)) / STEP)
    return (plies + 1) // 2 if value > 0 else -(plies // 2)


def centipawns(value: float) -> int:
    """The centipawns whose winning probability by Lichess's formula is (1 + value) / 2; at most ±CLAMP."""
    value = max(-0.999999, min(0.999999, value))
    return max(-CLAMP, min(CLAMP, round(math.log((1 + value) / (1 - value)) / STEEPNESS)))


def of_centipawns(centipawns: float) -> float:
    """The value, -1..1, of centipawns in the same view: the inverse of `centipawns`."""
    return math.tanh(STEEPNESS * centipawns / 2)


def chances(value: float) -> tuple[int, int, int]:
    """Win, draw and loss per mille, summing to 1000: half of (1 - value²) is drawn, the rest gives the value."""
    value = max(-1.0, min(1.0, value))
    drawn = (1 - value * value) / 2
    win, loss = round(500 * (1 - drawn + value)), round(500 * (1 - drawn - value))
    return win, 1000 - win - loss, loss
