"""Random playouts: both sides play random moves to the end of the game, many times, and the owners are counted.

A side plays any legal move that does not fill one of its own eyes, and passes if it has none; two passes end the
playout. Then every point has an owner: it is a stone or an eye. Playouts tell dead from living stones at the end of
most games, and they are the baseline of every prediction of the owners.

The random numbers come from our own generator (xorshift), so that equal seeds give equal results everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import NONE, PASS, POINTS
from kibitz.games.go.replay import KO, SIDE, colours_of
from kibitz.games.go.rules import CELL, CELLS, COLOUR, NEXT, ROWS, WIDE, is_suicide, place, set_up
from kibitz.kernels import kernel

BOTH = 2
"""Instead of the side to move: Black begins half of the playouts, White the others."""
_LIMIT = 3 * POINTS
"""Moves after which a playout is stopped: with several kos it might never end."""


@kernel
def _next(state):  # type: ignore[no-untyped-def]
    """The next state of the generator; it is also the random number."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@kernel
def _is_eye(board, cell, colour):  # type: ignore[no-untyped-def]
    """Whether an empty cell is a one-point eye: all neighbours have that colour, and the other colour is on no diagonal
    at the edge, on at most one elsewhere."""
    for step in (1, -1, WIDE, -WIDE):
        if board[COLOUR, cell + step] == 3 - colour or board[COLOUR, cell + step] == NONE:
            return False
    others, edge = 0, 0
    for step in (WIDE + 1, WIDE - 1, -WIDE + 1, -WIDE - 1):
        there = board[COLOUR, cell + step]
        if there == 3 - colour:
            others += 1
        elif there == 3:
            edge = 1
    return others + edge < 2


@kernel
def _play_out(board, colour, ko, empty, where, count, random):  # type: ignore[no-untyped-def]
    """Play a board to its end. empty: its `count` empty cells; where: each cell's place among them, else -1."""
    passes = 0
    for _ in range(_LIMIT):
        untried, moved = count, False
        while untried:
            random = _next(random)
            at = np.int64((random >> np.uint64(32)) * np.uint64(untried) >> np.uint64(32))
            cell = empty[at]
            if cell != ko and not _is_eye(board, cell, colour) and not is_suicide(board, cell, colour):
                moved = True
                break
            untried -= 1  # swap it behind the cells that are not tried yet
            other = empty[untried]
            empty[at], empty[untried] = other, cell
            where[other], where[cell] = at, untried
        if not moved:
            passes += 1
            if passes == 2:
                break
            ko, colour = 0, 3 - colour
            continue
        passes = 0
        count -= 1
        last = empty[count]
        empty[where[cell]], where[last] = last, where[cell]
        where[cell] = -1
        captured, ko = place(board, cell, colour, 0)
        if captured:
            for step in (1, -1, WIDE, -WIDE):
                stone = cell + step
                if board[COLOUR, stone] == NONE and where[stone] < 0:  # a captured chain; its links are still valid
                    while where[stone] < 0:
                        empty[count], where[stone] = stone, count
                        count += 1
                        stone = board[NEXT, stone]
        colour = 3 - colour
    return random


@kernel
def _owner(board, cell):  # type: ignore[no-untyped-def]
    """The owner of a cell at the end of a playout; NONE if both colours touch it, or none."""
    if board[COLOUR, cell]:
        return board[COLOUR, cell]
    seen = 0
    for step in (1, -1, WIDE, -WIDE):
        there = board[COLOUR, cell + step]
        if there == 1 or there == 2:
            seen |= there
    return seen if seen < 3 else 0


@kernel
def _share(colours, side, ko, playouts, seed, share):  # type: ignore[no-untyped-def]
    """See `black_share`. ko: a cell, 0 for none; share float32 [361]: filled."""
    start = np.empty((ROWS, CELLS), np.int16)
    set_up(start, colours)
    empties = np.empty(POINTS, np.int16)
    places = np.full(CELLS, -1, np.int16)
    count = 0
    for point in range(POINTS):
        cell = CELL[point]
        if start[COLOUR, cell] == NONE:
            empties[count], places[cell] = cell, count
            count += 1
    random = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x2545F4914F6CDD1D)
    if random == 0:
        random = np.uint64(1)
    twice = np.zeros(POINTS, np.int32)  # 2 for each playout in which Black owns a point, 1 if neutral
    board, empty, where = np.empty_like(start), np.empty_like(empties), np.empty_like(places)
    for i in range(playouts):
        board[:], empty[:], where[:] = start, empties, places
        first = 1 + (i & 1 if side == BOTH else side)
        random = _play_out(board, first, ko, empty, where, count, random)
        for point in range(POINTS):
            if colours[point] != 3:
                owner = _owner(board, CELL[point])
                twice[point] += 2 if owner == 1 else (1 if owner == 0 else 0)
    for point in range(POINTS):
        share[point] = np.float32(0.5) if colours[point] == 3 else np.float32(twice[point]) / (2 * playouts)


def black_share(
    colours: NDArray[np.uint8], side: int = BOTH, playouts: int = 200, seed: int = 0, ko: int = PASS
) -> NDArray[np.float32]:
    """float32 [361]: the share of playouts in which Black owns each point at the end, 0..1.

    A neutral point counts half; points outside the board are 0.5. colours uint8 [361]; side: to move first, 0 Black,
    1 White, BOTH in turn; ko: point of a forbidden first move. Releases the interpreter's lock.
    """
    share = np.empty(POINTS, np.float32)
    colours = np.ascontiguousarray(colours, np.uint8)
    _share(colours, side, 0 if ko == PASS else int(CELL[ko]), playouts, seed & (2**63 - 1), share)
    return share


def black_shares(
    codes: NDArray[np.uint8], state: NDArray[np.uint8], playouts: int = 200, seed: int = 0
) -> NDArray[np.float32]:
    """float32 [n, 361]: `black_share` of positions as a store replays them (codes [n, 361], state [n, 4])."""
    shares = np.empty((len(codes), POINTS), np.float32)
    for i, colours in enumerate(colours_of(codes)):
        (kos,) = np.nonzero(codes[i] & 15 == KO)
        ko = int(kos[0]) if len(kos) else PASS
        shares[i] = black_share(colours, int(state[i, SIDE]), playouts, seed + i, ko)
    return shares
