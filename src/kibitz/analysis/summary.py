"""The summary of a game: accuracy, annotations and mean loss of each player, and the turning point.

The accuracy of a chess game is the definition of Lichess, with the losses that kibitz finds. The accuracy of a Go game
is the function of KaTrain, with the plain mean of the points lost. `docs/results/conventions.md` explains both.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kibitz.analysis.glyphs import SIGNS, figure

AHEAD = 0.7
"""A side is ahead from this win probability on."""
_SCALE, _RATE, _SHIFT, _BONUS = 103.1668100711649, 4.354415386753951, -3.166924740191411, 1.0
"""Lichess's accuracy of a move in percent, after a loss l from 0 to 1: _SCALE * exp(-_RATE * l) + _SHIFT + _BONUS."""
_WINDOW, _LEAST_WINDOW, _MOST_WINDOW = 10, 2, 8
"""A window for the volatility has a tenth of the moves of a game, within these limits."""
_CALM, _WILD = 0.005, 0.12
"""Limits of the weight of a move, which is the standard deviation of the values in its window."""
_LEAST_SHARE = 0.01
"""Smaller accuracies count as this one in a harmonic mean."""
PER_POINT = 0.75
"""The accuracy of a Go game after a mean loss of one point."""


def move_accuracy(loss: float) -> float:
    """Return the accuracy of a chess move, 0 to 1. loss: of the mover's win probability, 0 to 1."""
    if loss <= 0:
        return 1.0
    return min(max((_SCALE * math.exp(-_RATE * loss) + _SHIFT + _BONUS) / 100, 0.0), 1.0)


def win_accuracy(
    values: Sequence[float], movers: Sequence[str], losses: Sequence[float | None], side: str
) -> float | None:
    """Return the accuracy of a chess player in a game, 0 to 1; None without a judged move.

    values: one side's win probability in each position, [moves + 1]. movers, losses: [moves]; None for a move that is
    not judged. The result is the mean of two means over the player's moves: one is weighted by the volatility of the
    values around a move, the other is harmonic.
    """
    size = min(max(len(movers) // _WINDOW, _LEAST_WINDOW), _MOST_WINDOW)
    weighted, weights, inverse, count = 0.0, 0.0, 0.0, 0
    for i, (mover, loss) in enumerate(zip(movers, losses, strict=True)):
        if mover != side or loss is None:
            continue
        start = max(i + 2 - size, 0)
        weight = min(max(statistics.pstdev(values[start : start + size]), _CALM), _WILD)
        accuracy = move_accuracy(loss)
        weighted, weights = weighted + weight * accuracy, weights + weight
        inverse, count = inverse + 1 / max(accuracy, _LEAST_SHARE), count + 1
    return (weighted / weights + count / inverse) / 2 if count else None


def points_accuracy(loss: float) -> float:
    """Return the accuracy of a Go player in a game, 0 to 1. loss: the mean loss per move in points."""
    return float(PER_POINT**loss)


@dataclass(frozen=True)
class SideSummary:
    """One player's game.

    accuracy: 0 to 1; None if it is unknown. loss: the mean loss per move, of win probability, 0 to 1, or in points of
    Go. moves: their number. marks: the number of moves with each of SIGNS.
    """

    accuracy: float | None
    loss: float | None
    moves: int
    marks: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        return {
            "accuracy": figure(self.accuracy, self.moves),
            "average_loss": figure(self.loss, self.moves),
            "marks": {SIGNS[sign]: self.marks[sign] for sign in SIGNS},
        }


@dataclass(frozen=True)
class TurningPoint:
    """The move after which the side that is ahead stays the same until the end.

    ply: of the move, from 1. ahead: that side; "" if neither is ahead from then on.
    """

    ply: int
    ahead: str

    def as_json(self) -> dict[str, Any]:
        return {"ply": self.ply, "ahead": self.ahead or None}


@dataclass(frozen=True)
class GameSummary:
    """The summary of a game: each side by its name, and the turning point, None if there is none."""

    sides: Mapping[str, SideSummary]
    turning_point: TurningPoint | None

    def as_json(self) -> dict[str, Any]:
        turning = self.turning_point
        return {
            **{side: one.as_json() for side, one in self.sides.items()},
            "turning_point": turning and turning.as_json(),
        }


def turning_point(values: Sequence[float], sides: tuple[str, str]) -> TurningPoint | None:
    """Return the turning point of a game; None if the same side, or neither, is ahead in all positions.

    values: the win probability of the first side in each position, [moves + 1].
    """
    ahead = [sides[0] if value >= AHEAD else sides[1] if value <= 1 - AHEAD else "" for value in values]
    ply = len(ahead) - 1
    while ply > 0 and ahead[ply - 1] == ahead[-1]:
        ply -= 1
    return TurningPoint(ply, ahead[-1]) if ply > 0 else None


def summarize(
    sides: tuple[str, str], values: Sequence[float], movers: Sequence[str], losses: Sequence[float | None],
    signs: Sequence[str], in_points: bool = False,
) -> GameSummary:  # fmt: skip
    """Return the summary of a game.

    sides: their names; values are those of the first one, [moves + 1], 0 to 1.
    movers, losses, signs: of each move, [moves]. A loss is None for a move that is not judged.
    in_points: the losses are points of Go, not win probabilities.
    """
    found = {}
    for side in sides:
        own = [loss for mover, loss in zip(movers, losses, strict=True) if mover == side and loss is not None]
        loss = sum(own) / len(own) if own else None
        if in_points:
            accuracy = None if loss is None else points_accuracy(loss)
        else:
            accuracy = win_accuracy(values, movers, losses, side)
        marked = [sign for mover, sign in zip(movers, signs, strict=True) if mover == side]
        found[side] = SideSummary(accuracy, loss, len(own), {sign: marked.count(sign) for sign in SIGNS})
    return GameSummary(found, turning_point(values, sides))
