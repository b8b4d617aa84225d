"""The input planes of Go networks, by name and in NumPy, to show them to people.

A plane is float32 [size²], one number for each point of the board. The class `BoardPlanes` in `encodings.py` computes
the same planes of many positions inside a network. The functions of this module take one position as two arrays: codes,
uint8 [361], and state, uint8 [4 or more]. The module `replay.py` describes both arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import GRID
from kibitz.games.go.replay import AGE, BLACK_STONE, KO, OFF, OLDEST, SIDE, SIZE, WHITE_STONE

NamedPlanes = dict[str, NDArray[np.float32]]
Codes = NDArray[np.uint8]
State = NDArray[np.uint8]

RECENT = 8
"""The largest number of recent moves that can have separate planes."""


def plane_table(liberties: int, recent: int, ages: bool) -> NDArray[np.float32]:
    """Return a table of the input planes, float32 [512, planes]. A row has the values of all planes at a point with one
    code. Row `code` is for Black to move, and row 256 + `code` for White. `kibitz.PositionArrays` describes the codes.

    liberties: 3 or 6, the largest number of liberties that planes distinguish. recent: the number of planes for the
    last moves. ages: whether to add planes for older moves.
    """
    table = np.zeros((2, 256, 2 * liberties + 2 + recent + (OLDEST - RECENT if ages else 0)), np.float32)
    for code in range(256):
        kind, age = code % AGE, code // AGE
        if kind >= OFF:
            continue
        table[:, code, 2 * liberties + 1] = 1
        if kind == KO:
            table[:, code, 2 * liberties] = 1
        elif kind >= BLACK_STONE:
            white = kind >= WHITE_STONE
            count = min(kind - (WHITE_STONE if white else BLACK_STONE), liberties - 1)
            for side in range(2):
                table[side, code, count + (liberties if white != bool(side) else 0)] = 1
            if 1 <= age <= recent:
                table[:, code, 2 * liberties + 1 + age] = 1
            if ages and RECENT < age <= OLDEST:
                table[:, code, 2 * liberties + 1 + recent + age - RECENT] = 1
    return table.reshape(512, -1)


def board(codes: Codes, state: State, liberties: int = 3, recent: int = 0, ages: bool = False) -> NamedPlanes:
    """Return the input planes of one position, as a dict from names to planes, float32 [size²]. The planes are those of
    `encodings.BoardPlanes`.

    codes, state: the position, uint8 [361] and uint8 [4 or more], see `kibitz.PositionArrays`. liberties: 3 or 6, the
    largest number of liberties that planes distinguish. recent: the number of planes for the last moves. ages: whether
    to add planes for older moves.
    """
    seen = _on_board(codes, state).astype(np.int64) + 256 * int(state[SIDE])
    names = _names(liberties, recent, ages)
    return dict(zip(names, plane_table(liberties, recent, ages)[seen].T, strict=True))


def _names(most: int, recent: int, ages: bool) -> list[str]:
    counts = [str(count) if count < most else f"{count} or more" for count in range(1, most + 1)]
    names = [
        f"{side} stones with {count} {'liberty' if count == '1' else 'liberties'}"
        for side in ("own", "the other side's")
        for count in counts
    ]
    names += ["the point that ko forbids", "intersections of the board"]
    names += [
        "the last move",
        "the move before the last one",
        *(f"the move {ago} moves ago" for ago in range(3, RECENT + 1)),
    ][:recent]
    if ages:
        spans = ("9 to 16", "17 to 32", "33 to 64", "65 to 128", "129 or more")
        names += [f"stones played {span} moves ago" for span in spans]
    return names


def chains(codes: Codes, state: State) -> NDArray[np.float32]:
    """Number the chains, and return for each point the number of the chain on this point, float32 [size²]; 0 for an
    empty point.

    The numbers are 1, 2, 3 and so on, in the order of each chain's first point, row by row from the upper left. codes,
    state: the position, uint8 [361] and uint8 [4 or more], see `kibitz.PositionArrays`.
    """
    size = int(state[SIZE])
    kinds = _on_board(codes, state) % AGE
    colours = np.where((kinds < BLACK_STONE) | (kinds >= KO), 0, np.where(kinds < WHITE_STONE, 1, 2))
    numbers = np.zeros(size * size, np.float32)
    last = 0
    for first in np.flatnonzero(colours):
        if numbers[first]:
            continue
        last += 1
        found = [int(first)]
        while found:
            point = found.pop()
            if colours[point] != colours[first] or numbers[point]:
                continue
            numbers[point] = last
            row, column = divmod(point, size)
            found += [point - size] * (row > 0) + [point + size] * (row < size - 1)
            found += [point - 1] * (column > 0) + [point + 1] * (column < size - 1)
    return numbers


def _on_board(codes: Codes, state: State) -> Codes:
    """Return the codes of the points on the board, [size²]."""
    size = int(state[SIZE])
    return codes.reshape(GRID, GRID)[:size, :size].ravel()
