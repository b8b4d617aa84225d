"""Count right and wrong predictions of owners for the 361 points of many positions.

Predictions are large (361 numbers per position), so each batch is immediately reduced to a few sums per position. The
sums, except for the score, exclude points that are neutral at the end or whose owner is unknown.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import BLACK, GRID, NONE, OUTSIDE, POINTS
from kibitz.kernels import inner, kernel

BINS = 10
"""The number of bins (ranges) of the probability that a point belongs to Black at the end."""
LINES = (GRID + 1) // 2
"""The number of lines of the largest board, counted from the edge: line 1 is the edge, and line 10 contains the
center.
"""
KINDS = ("a black stone", "a white stone", "an empty point")
"""The possible contents of a point at the time of the prediction."""
SURE = 0.9
"""A prediction counts as certain if its probability is at least this number."""

PointCounts = dict[str, NDArray[Any]]


_SUMS = np.dtype(
    [
        ("known", "u2"),
        ("right", "f4"),
        ("squared", "f8"),
        ("surely_wrong", "u2"),
        ("score", "f8"),
        ("counts", "u2", (BINS,)),
        ("predicted", "f4", (BINS,)),
        ("black", "u2", (BINS,)),
        ("line_known", "u2", (LINES,)),
        ("line_right", "f4", (LINES,)),
        ("kind_known", "u2", (len(KINDS),)),
        ("kind_right", "f4", (len(KINDS),)),
    ],
    align=True,
)
"""The sums of one position, see `count_points`."""


@kernel
def _tally(chance, owners, colours, sizes, sums):  # type: ignore[no-untyped-def]
    """Fill `sums`, a zeroed array of dtype _SUMS, [n]. The other arguments are those of `count_points`."""
    for i in range(chance.shape[0]):
        of = sums[i]
        for point in range(POINTS):
            colour = colours[i, point]
            if colour == OUTSIDE:
                continue
            p = np.float64(chance[i, point])
            of.score += 2 * p - 1
            if owners[i, point] == NONE:
                continue
            truth = 1 if owners[i, point] == BLACK else 0
            good = 0.5 if p == 0.5 else (1.0 if (p > 0.5) == (truth == 1) else 0.0)
            of.known += 1
            of.right += good
            of.squared += (p - truth) ** 2
            if abs(p - truth) >= SURE:
                of.surely_wrong += 1
            bin_ = min(int(p * BINS), BINS - 1)
            of.counts[bin_] += 1
            of.predicted[bin_] += p
            of.black[bin_] += truth
            row, column, last = point // GRID, point % GRID, np.int64(sizes[i]) - 1
            line = min(min(row, column), min(last - row, last - column))
            of.line_known[line] += 1
            of.line_right[line] += good
            kind = colour - 1 if colour else 2
            of.kind_known[kind] += 1
            of.kind_right[kind] += good


def count_points(
    chance: NDArray[np.float32], owners: NDArray[np.uint8], colours: NDArray[np.uint8], sizes: NDArray[np.uint8]
) -> PointCounts:
    """Compare the predicted owners of points of the board with the final owners. Returns a dict of arrays, whose
    first axis is the position.

    chance: float32 [n, 361], the predicted probability that each point belongs to Black at the end.
    owners: uint8 [n, 361], the final owner of each point: 1 Black, 2 White, 0 neutral or unknown.
    colours: uint8 [n, 361], the stones in the position.
    sizes: uint8 [n], the board sizes.

    The array `score` uses all points of the board. All other arrays use only the points with an owner of 1 or 2, called
    known points. The result has these arrays:

    known: the number of known points.
    right: the number of known points that are predicted correctly. A point with a probability of exactly 0.5 adds 0.5.
    squared: the sum of the squared errors of the probabilities.
    surely_wrong: the number of points for which the probability of the wrong side is at least 0.9.
    score: the predicted score, which is Black's area minus White's. It is the sum of 2 · chance - 1.
    counts, predicted, black: [n, 10], for the calibration. The points are divided into 10 bins by their probability.
        For each bin, `counts` is the number of points, and `predicted` is the sum of their probabilities. `black` is
        the number of points that Black owns at the end.
    line_known, line_right: [n, 10], the values of `known` and `right` for the points on each line. The first line is
        the edge of the board.
    kind_known, kind_right: [n, 3], the values of `known` and `right` for three kinds of points: points with a black
        stone, with a white stone, and empty points.
    """
    sums = np.zeros(len(chance), _SUMS)
    _tally(np.ascontiguousarray(chance, np.float32), owners, colours, sizes, sums.view(np.recarray))
    return {name: np.ascontiguousarray(sums[name]) for name in sums.dtype.names or ()}


@inner
def _distances(colours, colour, away):  # type: ignore[no-untyped-def]
    """Write the distance of each point to the nearest stone of a color to `away`, int64 [361]; 99 if there is none.

    Distances are steps along the lines. colours: uint8 [361].
    """
    for point in range(POINTS):
        away[point] = 0 if colours[point] == colour else 99
    for point in range(POINTS):
        if point >= GRID:
            away[point] = min(away[point], away[point - GRID] + 1)
        if point % GRID:
            away[point] = min(away[point], away[point - 1] + 1)
    for point in range(POINTS - 1, -1, -1):
        if point < POINTS - GRID:
            away[point] = min(away[point], away[point + GRID] + 1)
        if point % GRID < GRID - 1:
            away[point] = min(away[point], away[point + 1] + 1)


@kernel
def _nearest(colours, chance):  # type: ignore[no-untyped-def]
    """Write the prediction of `nearest_stone` to chance, float32 [n, 361]. colours: uint8 [n, 361]."""
    black, white = np.empty(POINTS, np.int64), np.empty(POINTS, np.int64)
    for i in range(colours.shape[0]):
        _distances(colours[i], 1, black)
        _distances(colours[i], 2, white)
        for point in range(POINTS):
            here = colours[i, point]
            if here == OUTSIDE or black[point] == white[point]:
                chance[i, point] = 0.5
            else:
                chance[i, point] = 1.0 if black[point] < white[point] else 0.0


def nearest_stone(colours: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Predict the owner of each point from the nearest stone. The result is float32 [n, 361]. The prediction is 1 if
    the nearest stone is black, and 0 if it is white.

    If a black stone and a white stone are equally near, the prediction is 0.5. It is also 0.5 on an empty board, and
    for points outside the board. Distances are steps along the lines. colours: uint8 [n, 361], the stones in each
    position.
    """
    chance = np.empty(colours.shape, np.float32)
    _nearest(np.ascontiguousarray(colours), chance)
    return chance
