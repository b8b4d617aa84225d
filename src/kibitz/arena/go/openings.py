"""The openings of Go matches: first stones in the corners. No opening favors Black or White."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import GRID, POINTS, symmetries

_CORNER = {
    9: ((3, 3), (2, 3), (3, 2), (2, 2), (2, 4), (4, 2)),
    13: ((3, 3), (2, 3), (3, 2), (2, 2)),
    19: ((3, 3), (2, 3), (3, 2), (2, 2), (2, 4), (4, 2), (3, 4), (4, 3)),
}
"""Usual first moves in a corner, by board size: the number of lines from the side, and from the edge."""
_FIRST, *_OTHERS = ((True, False), (True, True), (False, True), (False, False))
"""The corners of the board as pairs (right, low). Black's first move is in the upper right corner."""


@cache
def openings(size: int) -> tuple[tuple[int, ...], ...]:
    """Return all openings for a board size, each as the points of its moves, Black first: two stones on 9 × 9, four on
    larger boards.

    The positions after any two openings differ, even if a board is rotated or mirrored.
    """
    last, kinds = size - 1, _CORNER[size]

    def point(corner: tuple[bool, bool], kind: tuple[int, int]) -> int:
        (right, low), (column, row) = corner, kind
        return (last - row if low else row) * GRID + (last - column if right else column)

    stones = 2 if size == 9 else 4
    lines = [
        tuple(point(corner, kind) for corner, kind in zip((_FIRST, *corners), chosen, strict=True))
        for corners in permutations(_OTHERS, stones - 1)
        for chosen in product(kinds, repeat=stones)
    ]
    if size == 9:
        middle = last // 2 * (GRID + 1)
        lines += [(middle, point(_FIRST, kind)) for kind in kinds]
    # Remove lines with the same point twice. Such lines exist because the middle of a side belongs to two corners.
    lines = [moves for moves in lines if len(set(moves)) == stones]
    return tuple(lines[at] for at in _first_of_each(np.array(lines), size))


def _first_of_each(moves: NDArray[np.int64], size: int) -> list[int]:
    """Return the index of the first opening for each distinct position; symmetric positions are the same. moves: [n,
    stones].
    """
    numbers = []
    for turn in symmetries(size):
        turned = turn[moves]
        ordered = np.concatenate([np.sort(turned[:, 0::2]), np.sort(turned[:, 1::2])], axis=1)
        numbers.append(ordered @ (np.int64(POINTS) ** np.arange(moves.shape[1])))
    _, first = np.unique(np.min(numbers, axis=0), return_index=True)
    return sorted(int(at) for at in first)
