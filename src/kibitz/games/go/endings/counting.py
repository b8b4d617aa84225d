"""Compute the score at the end of a Go game from its owner map.

An owner map is uint8 [361]: 1 for a point of Black, 2 for a point of White, 0 for neutral points and outside the board.
The shared liberties of a seki are also neutral. The point of a living stone belongs to the stone's color; the point of
a dead stone belongs to the other color. There are two scoring methods:

area       every point of a color is counted (Chinese, AGA, New Zealand, Ing and Tromp-Taylor rules). Passes cost
           nothing. With AGA's pass stones, territory and area scoring give the same result.
territory  every empty point is counted, and every stone of the other color that was captured or is dead on the board
           (Japanese and Korean rules). Eyes of groups in seki are not territory: the owner map is 0 there.

Some rules compensate White for handicap stones, see `games.go.handicap`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.handicap import bonus_of, bonus_points
from kibitz.games.go.points import BLACK, NONE, POINTS, WHITE
from kibitz.games.go.rules import CELL, CELLS, POINT, WIDE
from kibitz.kernels import kernel

AREA = ("chinese", "aga", "new zealand", "ing", "tromp-taylor")
TERRITORY = ("japanese", "korean")


def points(
    owner: NDArray[np.uint8], colours: NDArray[np.uint8], captured: tuple[int, int], by_territory: bool
) -> tuple[int, int]:
    """Return the scores of Black and of White in points, without komi.

    owner: uint8 [361], the owner map (see the module's docstring). colours: uint8 [361], all stones on the board at the
    end, including dead stones. captured: how many black stones and how many white stones have been captured.
    by_territory: whether to use territory scoring, which counts empty points and prisoners; otherwise area scoring.
    """
    found = []
    for colour in (BLACK, WHITE):
        own = owner == colour
        if by_territory:
            dead = int(np.count_nonzero(own & (colours == 3 - colour)))  # a point of territory, and a prisoner
            found.append(int(np.count_nonzero(own & (colours == NONE))) + 2 * dead + captured[2 - colour])
        else:
            found.append(int(np.count_nonzero(own)))
    return found[0], found[1]


def area(owner: NDArray[np.uint8]) -> int:
    """Return Black's lead in points by area scoring, without komi: the points that Black owns minus those that White
    owns. owner: uint8 [361], 1 Black, 2 White, 0 neutral.
    """
    black, white = points(owner, owner, (0, 0), by_territory=False)
    return black - white


def territory(owner: NDArray[np.uint8], colours: NDArray[np.uint8], captured: tuple[int, int]) -> int:
    """Return Black's lead in points by territory scoring, without komi: Black's territory and prisoners minus White's.

    owner: uint8 [361], 1 Black, 2 White, 0 neutral. colours: uint8 [361], all stones on the board at the end, including
    dead stones. captured: how many black stones and how many white stones have been captured.
    """
    black, white = points(owner, colours, captured, by_territory=True)
    return black - white


def compensation(rules: str | None, handicap: int) -> int:
    """Return the points that White gets for handicap stones in addition to the komi. rules: the name of the rules, such
    as "chinese"; None if unknown. handicap: the number of handicap stones.
    """
    return bonus_points(bonus_of(rules), handicap)


def lead(
    owner: NDArray[np.uint8],
    colours: NDArray[np.uint8],
    captured: tuple[int, int],
    komi: float,
    rules: str | None,
    handicap: int = 0,
) -> float:
    """Return Black's lead in points under the rules of a game; negative if White leads.

    owner: uint8 [361], the owner of each point: 1 Black, 2 White, 0 neutral. komi: in points. colours: uint8 [361], all
    stones on the board at the end, including dead stones. captured: how many black stones and how many white stones
    have been captured. rules: the name of the rules; None (unknown) means area scoring. handicap: the number of
    handicap stones.
    """
    if rules in TERRITORY:
        return territory(owner, colours, captured) - komi
    return area(owner) - komi - compensation(rules, handicap)


@kernel
def fill_owners(colours, dead, hollow, owner):  # type: ignore[no-untyped-def]
    """Write the owner of each point of a final position to `owner`, uint8 [361]: 1 Black, 2 White, 0 neutral. This is
    the compiled form of `settle`.

    colours: uint8 [361], the stones: 0 none, 1 Black, 2 White, 3 outside the board. dead: bool [361], the dead stones.
    hollow: bool [361], living stones whose eyes do not count, as in a seki under territory rules.
    """
    wall = np.zeros(CELLS, np.uint8)  # colours of living stones; 3 at the edge
    open_ = np.zeros(CELLS, np.uint8)  # other points, as long as their region has not been visited
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
    """Return the owner of each point of a final position, uint8 [361]: 1 Black, 2 White, 0 neutral or outside the
    board.

    The point of a living stone belongs to the stone's color. The dead stones are removed. Then a region of empty points
    belongs to a color if only stones of this color surround it, and is neutral if both colors touch it.

    colours: uint8 [361], the stones: 0 none, 1 Black, 2 White, 3 outside the board. dead: bool [361], the dead stones.
    seki: bool [361], living stones whose eyes do not count, as in a seki under territory rules; a region that only
    these stones surround is neutral.
    """
    owner = np.empty(POINTS, np.uint8)
    fill_owners(colours, dead, _NOWHERE if seki is None else seki, owner)
    return owner
