"""The score at the end, from who owns what.

An owner map is uint8 [361]: 1 where Black owns a point, 2 where White does, 0 where nobody does (neutral points, the
shared liberties of a seki) and outside the board. A living stone's point belongs to its colour, a dead one's to the
other. Two ways to count:

area       points owned, with a stone on them or not (Chinese, AGA, New Zealand, Ing, Tromp-Taylor rules). Passes cost
           nothing; AGA's pass stones make its territory count the same as its area count.
territory  empty points owned, and one point for each stone of the other colour that was taken or is dead on the board
           (Japanese, Korean rules). Eyes of groups in seki are no territory: the owner map says 0 there.

For handicap stones White is given points where the rules say so, see `games.go.handicap`.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.handicap import bonus_of, bonus_points
from kibitz.games.go.points import BLACK, NONE, POINTS, WHITE
from kibitz.games.go.rules import CELL, CELLS, POINT, WIDE

AREA = ("chinese", "aga", "new zealand", "ing", "tromp-taylor")
TERRITORY = ("japanese", "korean")


def area(owner: NDArray[np.uint8]) -> int:
    """Points that Black owns minus those that White owns."""
    return int(np.count_nonzero(owner == BLACK)) - int(np.count_nonzero(owner == WHITE))


def territory(owner: NDArray[np.uint8], colours: NDArray[np.uint8], captured: tuple[int, int]) -> int:
    """Black's territory and prisoners minus White's.

    colours uint8 [361]: the stones as they lie at the end, dead ones still there; captured: the stones that Black and
    that White lost in play.
    """
    lost = list(captured)
    points = 0
    for colour, sign in ((BLACK, 1), (WHITE, -1)):
        own = owner == colour
        points += sign * int(np.count_nonzero(own & (colours == NONE)))
        dead = int(np.count_nonzero(own & (colours == 3 - colour)))
        points += sign * dead  # the point itself; the prisoner comes below
        lost[2 - colour] += dead
    return points + lost[1] - lost[0]


def compensation(rules: str | None, handicap: int) -> int:
    """Points that White is given for handicap stones, beside the komi."""
    return bonus_points(bonus_of(rules), handicap)


def lead(
    owner: NDArray[np.uint8],
    colours: NDArray[np.uint8],
    captured: tuple[int, int],
    komi: float,
    rules: str | None,
    handicap: int = 0,
) -> float:
    """Points by which Black leads under the rules of a game; negative where White does. Rules that are not named are
    counted by area."""
    if rules in TERRITORY:
        return territory(owner, colours, captured) - komi
    return area(owner) - komi - compensation(rules, handicap)


@numba.njit(nogil=True, cache=True)
def _settle(colours, dead, hollow, owner):  # type: ignore[no-untyped-def]
    wall = np.zeros(CELLS, np.uint8)  # living stones, and the edge
    open_ = np.zeros(CELLS, np.uint8)  # what is neither, until its region is known
    wall[:] = 3
    for point in range(POINTS):
        owner[point] = 0
        if colours[point] != 3:
            alive = (colours[point] == 1 or colours[point] == 2) and not dead[point]
            wall[CELL[point]] = colours[point] if alive else 0
            open_[CELL[point]] = not alive
            if alive:
                owner[point] = colours[point]
    region = np.empty(POINTS, np.int16)
    for first in range(POINTS):
        if not open_[CELL[first]]:
            continue
        open_[CELL[first]] = 0
        region[0] = CELL[first]
        size, at, touched, solid = 1, 0, 0, False
        while at < size:
            for step in (1, -1, WIDE, -WIDE):
                cell = region[at] + step
                if wall[cell] == 0:
                    if open_[cell]:
                        open_[cell] = 0
                        region[size] = cell
                        size += 1
                elif wall[cell] < 3:
                    touched |= wall[cell]
                    solid = solid or not hollow[POINT[cell]]
            at += 1
        if (touched == 1 or touched == 2) and solid:
            for cell in region[:size]:
                owner[POINT[cell]] = touched


_NOWHERE = np.zeros(POINTS, np.bool_)


def settle(
    colours: NDArray[np.uint8], dead: NDArray[np.bool_], seki: NDArray[np.bool_] | None = None
) -> NDArray[np.uint8]:
    """The owner map of a final position, uint8 [361], from which stones are dead.

    Living stones own their points. With the dead ones taken off, a region of empty points belongs to the colour that
    alone surrounds it, and to nobody where both touch it.

    colours uint8 [361]; dead bool [361]; seki bool [361]: living stones whose eyes count for nobody, as in a seki under
    rules that count territory: a region that only such stones surround stays 0.
    """
    owner = np.empty(POINTS, np.uint8)
    _settle(colours, dead, _NOWHERE if seki is None else seki, owner)
    return owner
