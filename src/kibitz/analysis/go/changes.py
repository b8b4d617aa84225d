"""Find the chains of stones and the regions of a Go board whose expected owner changes with a move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import BLACK, GRID, NONE, WHITE, on_board, to_gtp

LEAST = 0.25
"""The smallest change of a probability, 0 to 1, that counts as a change of the owner. With this limit, a change from
0.49 to 0.51 does not count.
"""
SHOWN_AREAS = 3
"""The number of changes that are described in words. The text contains only the number of further changes."""
SIDES = {BLACK: "black", WHITE: "white"}


@dataclass(frozen=True)
class Change:
    """A chain of stones or a region of empty points whose expected owner changes because of a move.

    stones: the color of the chain, 1 for Black or 2 for White; 0 for a region of empty points.
    at: a point near the middle of the chain or region, by which texts name it.
    points: the points of the chain or region, as row · 19 + column.
    owner: the color of the new owner, 1 for Black or 2 for White.
    worth: the change of the lead that this change of owner causes, in points; more than 0.
    """

    stones: int
    at: int
    points: tuple[int, ...]
    owner: int
    worth: float

    def words(self, size: int) -> str:
        """Return a text about the change, such as "the black stones at G16 (5) become White's" or "the white stone at
        R5 lives". size: the board size.
        """
        vertex, count, s = to_gtp(self.at, size), len(self.points), "s" if len(self.points) == 1 else ""
        becomes = f"become{s} {SIDES[self.owner].capitalize()}'s"
        if not self.stones:
            return f"{vertex} {becomes}" if count == 1 else f"{count} points around {vertex} {becomes}"
        stones = f"stone at {vertex}" if count == 1 else f"stones at {vertex} ({count})"
        return f"the {SIDES[self.stones]} {stones} {f'live{s}' if self.owner == self.stones else becomes}"

    def as_json(self, size: int) -> dict[str, Any]:
        return {
            "kind": "stones" if self.stones else "points",
            "colour": SIDES.get(self.stones),
            "at": to_gtp(self.at, size),
            "points": [to_gtp(point, size) for point in self.points],
            "owner": SIDES[self.owner],
            "worth": round(self.worth, 2),
        }


def changes(colours: NDArray[np.uint8], before: NDArray[np.float64], after: NDArray[np.float64]) -> list[Change]:
    """Return the changes of owner between two positions, sorted by their value in points (`Change.worth`), the largest
    first.

    colours: uint8 [361], the color of the stone on each point before the move. So the result includes captured chains.
    before, after: float64 [361], the probability that each point belongs to Black, before and after the move.

    A chain changes its owner as a whole, by the mean probability of its points.
    """
    found = []
    for chain in regions(np.flatnonzero((colours == BLACK) | (colours == WHITE)), colours):
        one, other = before[chain].mean(), after[chain].mean()
        if (one > 0.5) != (other > 0.5) and abs(other - one) >= LEAST:
            found.append(_change(int(colours[chain[0]]), chain, before, after))
    moved = (colours == NONE) & ((before > 0.5) != (after > 0.5)) & (abs(after - before) >= LEAST)
    found += [_change(NONE, region, before, after) for region in regions(np.flatnonzero(moved), after > 0.5)]
    return sorted(found, key=lambda change: -change.worth)


def _change(stones: int, points: list[int], before: NDArray[np.float64], after: NDArray[np.float64]) -> Change:
    gain = float(2 * (after[points] - before[points]).sum())
    return Change(stones, middle(points), tuple(points), BLACK if gain > 0 else WHITE, abs(gain))


def regions(points: Iterable[int], kind: NDArray[Any]) -> Iterator[list[int]]:
    """Split points into connected regions, and yield each region as a list of points in ascending order. Neighboring
    points are in the same region if they have the same value in `kind`, [361].
    """
    left = {int(point) for point in points}
    while left:
        region, edge = [], [left.pop()]
        while edge:
            point = edge.pop()
            region.append(point)
            near = {n for n in neighbours(point) if n in left and kind[n] == kind[point]}
            left -= near
            edge += near
        yield sorted(region)


def neighbours(point: int) -> Iterator[int]:
    """Yield the neighbors of a point on the 19×19 grid, at most four. A point is row · 19 + column."""
    row, column = divmod(point, GRID)
    for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
        if 0 <= r < GRID and 0 <= c < GRID:
            yield r * GRID + c


def middle(points: list[int]) -> int:
    """Return the given point that is nearest to the mean row and column of all given points."""
    rows, columns = np.divmod(np.array(points), GRID)
    away = (rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2
    return points[int(away.argmin())]


_ROWS, _COLUMNS = ("upper", "", "lower"), ("left", "", "right")


def where(before: NDArray[np.float64], after: NDArray[np.float64], size: int) -> tuple[str, float]:
    """Return the name of the part of the board (one of nine) where the lead changed most, and this change in points for
    Black. An example is ("the upper left", -6.2).

    Only those parts are considered where the lead changed in the same direction as on the whole board. before, after:
    float64 [361], the probability that each point belongs to Black. size: the board size.
    """
    points = np.array([point for point in range(GRID * GRID) if on_board(point, size)])
    rows, columns = np.divmod(points, GRID)
    part = 3 * rows // size * 3 + 3 * columns // size
    moved = np.bincount(part, 2 * (after - before)[points], 9)
    best = int(np.argmax(moved if moved.sum() > 0 else -moved))
    name = " ".join(word for word in (_ROWS[best // 3], _COLUMNS[best % 3]) if word)
    if best % 2:  # odd indices are the parts at the sides of the board
        name += " side"
    return f"the {name or 'centre'}", float(moved[best])


def words(found: list[Change], part: tuple[str, float], size: int) -> str:
    """Describe in one line what a move changed. The text lists the largest gains of the side whose lead rose. If no
    change of owner favors this side, the text only names the part of the board where the lead changed most.

    found: the changes of owner.
    part: the part of the board where the lead changed most, and this change in points for Black, from `where`.
    size: the board size.
    """
    gainer = BLACK if part[1] > 0 else WHITE
    gained = [change.words(size) for change in found if change.owner == gainer]
    if not gained:
        return f"most of it {'on' if 'side' in part[0] else 'in'} {part[0]}"
    more = len(gained) - SHOWN_AREAS
    return "; ".join(gained[:SHOWN_AREAS]) + (f"; and {more} more" if more > 0 else "")
