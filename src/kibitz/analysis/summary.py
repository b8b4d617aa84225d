"""Summarize a game: the accuracy, the annotations and the mean loss of each player, and the turning point.

The accuracy of a chess game is computed by Lichess's formula from the losses that kibitz finds. The accuracy of a Go
game is computed by KaTrain's formula from the unweighted mean of the lost points. `docs/results/conventions.md`
explains both formulas.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kibitz.analysis.glyphs import SIGNS, figure

AHEAD = 0.7
"""The smallest win probability, 0 to 1, with which a side counts as clearly ahead."""
EVEN = 0.55
"""A position is about equal if both sides have a win probability, 0 to 1, below this value. The page uses the same
value.
"""
_SCALE, _RATE, _SHIFT, _BONUS = 103.1668100711649, 4.354415386753951, -3.166924740191411, 1.0
"""Constants of Lichess's formula for the accuracy of a move in percent. After a loss l of win probability, 0 to 1, the
accuracy is `_SCALE * exp(-_RATE * l) + _SHIFT + _BONUS`.
"""
_WINDOW, _LEAST_WINDOW, _MOST_WINDOW = 10, 2, 8
"""Constants of the window of moves in which the volatility around a move is computed. The number of moves in the window
is the number of the game's moves divided by _WINDOW, but at least _LEAST_WINDOW and at most _MOST_WINDOW.
"""
_CALM, _WILD = 0.005, 0.12
"""The lower and upper limit of a move's weight. The weight is the standard deviation of the values in the move's
window, within these limits.
"""
_LEAST_SHARE = 0.01
"""In a harmonic mean, accuracies are at least this value."""
PER_POINT = 0.75
"""The accuracy of a Go player, 0 to 1, after a mean loss of one point per move."""


def move_accuracy(loss: float) -> float:
    """Return the accuracy of a chess move, 0 to 1. loss: the mover's loss of win probability, 0 to 1."""
    if loss <= 0:
        return 1.0
    return min(max((_SCALE * math.exp(-_RATE * loss) + _SHIFT + _BONUS) / 100, 0.0), 1.0)


def win_accuracy(
    values: Sequence[float], movers: Sequence[str], losses: Sequence[float | None], side: str
) -> float | None:
    """Return the accuracy of a chess player in a game, 0 to 1. Return None if the player has no move with a known loss.

    values: White's win probability in each position, [moves + 1], 0 to 1. Black's win probabilities give the same
        result.
    movers: the side that made each move, [moves].
    losses: the loss of win probability of each move, [moves]; None if it is unknown.
    side: the player's side.

    Every move with a known loss has an accuracy (see `move_accuracy`). The result is the average of two means of the
    player's accuracies. The first is a weighted mean. The weight of a move is the volatility of `values` around the
    move. The second is a harmonic mean.
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
    """The results of one side in a game.

    accuracy: 0 to 1; None if it is unknown.
    loss: the mean loss per move, as win probability (0 to 1) in chess, and in points in Go; None if it is unknown.
    moves: the number of moves with a known loss.
    marks: a dict from each annotation ("?!", "?" and "??") to the number of moves with it.
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
    """The turning point of a game: the move after which one side stays ahead until the end.

    A side stays ahead if two conditions are true. The side's win probability is at least 0.55 in every position after
    the move. In one or more of these positions, the win probability is at least 0.7.

    A game ends about equal if both win probabilities are below 0.55 in the last position. In this case, no side stays
    ahead. The turning point is the move by which a side lost the last clear lead of the game. A lead is clear if the
    side's win probability is at least 0.7.

    If the lead in points is known, it must agree. A side with a win probability of 0.7 is not ahead if the lead is 0 or
    the other side's. Such a position counts as equal.

    ply: the number of the move, from 1. ahead: the side that stays ahead, such as "white"; "" if the game ends about
    equal.
    """

    ply: int
    ahead: str

    def as_json(self) -> dict[str, Any]:
        return {"ply": self.ply, "ahead": self.ahead or None}


@dataclass(frozen=True)
class GameSummary:
    """The summary of a game.

    sides: a dict from the name of each side, such as "white", to its results.
    turning_point: the move after which one side stays ahead (see `TurningPoint`); None if there is no such move.
    """

    sides: Mapping[str, SideSummary]
    turning_point: TurningPoint | None

    def as_json(self) -> dict[str, Any]:
        turning = self.turning_point
        return {
            **{side: one.as_json() for side, one in self.sides.items()},
            "turning_point": turning and turning.as_json(),
        }


def turning_point(
    values: Sequence[float], sides: tuple[str, str], leads: Sequence[float | None] | None = None
) -> TurningPoint | None:
    """Return the turning point of a game; None if it has none.

    values: the win probability of the first side in each position, [moves + 1], 0 to 1.
    sides: the names of both sides, such as ("white", "black").
    leads: the lead of the first side in each position in points, [moves + 1]; None if unknown. A lead counts as it is
        shown, with one decimal.
    """
    if leads is not None:
        values = [
            0.5 if lead is not None and round(lead, 1) * (value - 0.5) <= 0 else value
            for value, lead in zip(values, leads, strict=True)
        ]
    if max(values[-1], 1 - values[-1]) < EVEN:
        last = max((i for i, value in enumerate(values) if max(value, 1 - value) >= AHEAD), default=None)
        return None if last is None else TurningPoint(last + 1, "")
    side = 0 if values[-1] >= 0.5 else 1
    own = [value if side == 0 else 1 - value for value in values]
    ply = next((i + 1 for i in reversed(range(len(own))) if own[i] < EVEN), 0)
    return TurningPoint(ply, sides[side]) if ply > 0 and max(own[ply:]) >= AHEAD else None


def summarize(
    sides: tuple[str, str], values: Sequence[float], movers: Sequence[str], losses: Sequence[float | None],
    signs: Sequence[str], in_points: bool = False, leads: Sequence[float | None] | None = None,
) -> GameSummary:  # fmt: skip
    """Return the summary of a game: the accuracy, the mean loss and the annotations of each side, and the turning
    point.

    sides: the names of both sides.
    values: the win probability of the first side in each position, [moves + 1], 0 to 1.
    movers: the side that made each move, [moves].
    losses: the loss of each move, [moves]; None if it is unknown.
    signs: the annotation of each move, [moves].
    in_points: True if the losses are points of Go; False if they are win probabilities, 0 to 1.
    leads: the lead of the first side in each position in points, [moves + 1]; None if unknown.
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
    return GameSummary(found, turning_point(values, sides, leads))
