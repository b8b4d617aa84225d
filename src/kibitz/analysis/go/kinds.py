"""Classify the moves of Go by the part of the board and by the kind of the move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.go.changes import neighbours, regions
from kibitz.games.go.points import GRID, NONE, OUTSIDE

AREAS = ("corner", "side", "centre")
"""The parts of a board. A point is near an edge if it is on one of the outer lines, which are a third of all lines: 6
on 19×19, 3 on 9×9. A point of a corner is near two edges, and a point of a side is near one edge. All other points are
in the center.
"""
KINDS = ("capture", "atari", "contact", "extension", "loose")
"""The kinds of moves. The first of these conditions that is true decides the kind. A capture takes stones. An atari
leaves a chain of the opponent with one liberty. A contact move is next to a stone of the opponent, and an extension is
next to a stone of the mover. A loose move is next to no stone.
"""


def area_of(point: int, size: int) -> int:
    """Return the part of the board that contains a point: 0 for a corner, 1 for a side, 2 for the center. point: row ·
    19 + column. size: the board size.
    """
    row, column = divmod(point, GRID)
    return sum(min(line, size - 1 - line) >= size // 3 for line in (row, column))


def kind_of(point: int, before: NDArray[np.uint8], after: NDArray[np.uint8]) -> int:
    """Return the kind of a Go move as a number: 0 capture, 1 atari, 2 contact move, 3 extension, 4 any other move. The
    number is an index into KINDS.

    point: the point of the move, row · 19 + column. before, after: the colors of the stones before and after the move,
    uint8 [361].
    """
    other = 3 - int(after[point]) if after[point] != NONE else OUTSIDE
    if ((before == other) & (after != other)).any():
        return 0
    beside = [one for one in neighbours(point) if after[one] == other]
    if any(len(_liberties(chain, after)) == 1 for chain in regions(np.flatnonzero(after == other), after)
           if set(beside) & set(chain)):  # fmt: skip
        return 1
    if beside:
        return 2
    return 3 if any(after[one] == after[point] for one in neighbours(point)) else 4


def _liberties(chain: list[int], colours: NDArray[np.uint8]) -> set[int]:
    return {near for point in chain for near in neighbours(point) if colours[near] == NONE}
