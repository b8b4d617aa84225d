"""Random playouts: play random moves to the end of the game, many times, and count how often each point is Black's.

A side plays any legal move that does not fill one of its eyes, and passes if it has no such move. Two passes end the
playout. Then every point has an owner, because it is a stone or an eye. At the end of most games, playouts distinguish
dead from living stones. Their result is also the baseline with which ownership predictions are compared.

The random numbers come from a generator in this file (xorshift), so equal seeds give equal results on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import NONE, PASS, POINTS
from kibitz.games.go.replay import KO, SIDE, colours_of
from kibitz.games.go.rules import CELL, CELLS, COLOUR, NEXT, ROOT, ROWS, STONES, WIDE, is_suicide, place, set_up
from kibitz.kernels import inner, kernel

BOTH = 2
"""The value for the argument `side` with which Black moves first in half of the playouts, and White in the others."""
LARGEST_NAKADE = 5
"""The largest number of stones that a careful player sacrifices inside an eye space, so that it gives only one eye."""
_LIMIT = 3 * POINTS
"""Number of moves after which a playout is stopped. With several kos it might never end."""


@kernel
def _next(state):  # type: ignore[no-untyped-def]
    """Return the next state of the generator (uint64), which is also the random number."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@inner
def _is_eye(board, cell, colour):  # type: ignore[no-untyped-def]
    """Return whether an empty cell is a one-point eye of a color.

    All neighbors must have that color. The other color may have at most one of the cell's diagonal neighbors, and none
    of them if the cell is at the edge. board: int16 [7, 441].
    """
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


@inner
def _only_liberty(board, cell):  # type: ignore[no-untyped-def]
    """Return the only liberty of a stone's chain; 0 if the chain has several. board: int16 [7, 441]."""
    found, stone = np.int64(0), np.int64(cell)
    while True:
        for step in (1, -1, WIDE, -WIDE):
            beside = stone + step
            if board[COLOUR, beside] == NONE and beside != found:
                if found:
                    return np.int64(0)
                found = beside
        stone = np.int64(board[NEXT, stone])
        if stone == cell:
            return found


@inner
def _stones_in_self_atari(board, cell, colour):  # type: ignore[no-untyped-def]
    """Return the size of the chain that a move on an empty cell makes. The result is 0 if the move captures something,
    or if the chain is not in atari after the move.

    board: int16 [7, 441].
    """
    free, stones = np.int64(0), 1
    for step in (1, -1, WIDE, -WIDE):
        beside = cell + step
        there = board[COLOUR, beside]
        if there == NONE:
            if free:
                return 0
            free = beside
        elif there == 3 - colour and _only_liberty(board, beside):
            return 0
    seen = (np.int64(0), np.int64(0), np.int64(0))
    for step in (1, -1, WIDE, -WIDE):
        if board[COLOUR, cell + step] != colour:
            continue
        root = np.int64(board[ROOT, cell + step])
        if root in seen:
            continue
        seen = (root, seen[0], seen[1])
        stones += board[STONES, root]
        stone = root
        while True:
            for side in (1, -1, WIDE, -WIDE):
                beside = stone + side
                if board[COLOUR, beside] == NONE and beside != cell and beside != free:
                    if free:
                        return 0
                    free = beside
            stone = np.int64(board[NEXT, stone])
            if stone == root:
                break
    return stones


@inner
def _wastes_stones(board, cell, colour):  # type: ignore[no-untyped-def]
    """Return whether a move puts more than three of the mover's stones into atari without making an eye space with a
    single eye.

    The shapes that leave room for a single eye are four stones as a square or a T, and five as a square with a tail or
    a cross. board: int16 [7, 441].
    """
    count = _stones_in_self_atari(board, cell, colour)
    if count <= 3:
        return False
    if count > LARGEST_NAKADE:
        return True
    stones = np.zeros(LARGEST_NAKADE, np.int64)
    stones[0] = cell
    known = 1
    for step in (1, -1, WIDE, -WIDE):
        own = np.int64(cell + step)
        if board[COLOUR, own] != colour:
            continue
        for i in range(known):
            if stones[i] == own:
                own = np.int64(0)
                break
        stone = own
        while own and known < count:
            stones[known] = stone
            known += 1
            stone = np.int64(board[NEXT, stone])
            if stone == own:
                break
    touching, most = 0, 0
    for i in range(known):
        around = 0
        for j in range(known):
            away = abs(stones[i] - stones[j])
            around += away == 1 or away == WIDE
        touching += around
        most = max(most, around)
    return touching < 2 * known and most < known - 1


@inner
def _urgent(board, last, colour, ko):  # type: ignore[no-untyped-def]
    """Return a move that responds to the stone just played at `last`; 0 if there is none. board: int16 [7, 441].

    The move captures the stone's chain, or saves one of the mover's chains from atari by a capture or an extension.
    """
    if board[COLOUR, last] != 3 - colour:
        return np.int64(0)
    take = _only_liberty(board, last)
    if take and take != ko:
        return take
    for step in (1, -1, WIDE, -WIDE):
        own = last + step
        if board[COLOUR, own] != colour:
            continue
        run = _only_liberty(board, own)
        if not run:
            continue
        stone = np.int64(own)
        while True:
            for side in (1, -1, WIDE, -WIDE):
                if board[COLOUR, stone + side] == 3 - colour:
                    take = _only_liberty(board, stone + side)
                    if take and take != ko:
                        return take
            stone = np.int64(board[NEXT, stone])
            if stone == own:
                break
        if run != ko and not is_suicide(board, run, colour) and not _stones_in_self_atari(board, run, colour):
            return run
    return np.int64(0)


@kernel
def _play_out(board, colour, ko, empty, where, count, random, careful):  # type: ignore[no-untyped-def]
    """Play a board to its end. board: int16 [7, 441].

    empty: its `count` empty cells, in any order. where: each cell's index in `empty`, or -1. random: the state of the
    generator. careful: see `black_share`.
    """
    passes, previous = 0, np.int64(0)
    for _ in range(_LIMIT):
        untried, moved, cell = count, False, np.int64(0)
        if careful and previous:
            random = _next(random)
            if random >> np.uint64(60):  # true in 15 of 16 cases
                cell = _urgent(board, previous, colour, ko)
                moved = cell > 0
        while untried and not moved:
            random = _next(random)
            at = np.int64((random >> np.uint64(32)) * np.uint64(untried) >> np.uint64(32))
            cell = empty[at]
            if (
                cell != ko
                and not _is_eye(board, cell, colour)
                and not is_suicide(board, cell, colour)
                and not (careful and _wastes_stones(board, cell, colour))
            ):
                moved = True
                break
            untried -= 1  # the cell is moved behind the cells that are not tried yet
            other = empty[untried]
            empty[at], empty[untried] = other, cell
            where[other], where[cell] = at, untried
        if not moved:
            passes += 1
            if passes == 2:
                break
            ko, colour, previous = 0, 3 - colour, np.int64(0)
            continue
        passes, previous = 0, cell
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
    """Return the owner of a cell at the end of a playout; NONE if the cell touches both colors or no color."""
    if board[COLOUR, cell]:
        return board[COLOUR, cell]
    seen = 0
    for step in (1, -1, WIDE, -WIDE):
        there = board[COLOUR, cell + step]
        if there == 1 or there == 2:
            seen |= there
    return seen if seen < 3 else 0


@kernel
def _share(colours, side, ko, playouts, seed, careful, share):  # type: ignore[no-untyped-def]
    """Fill `share`, float32 [361], with the result of `black_share`. ko: a cell, 0 for none."""
    start = np.empty((ROWS, CELLS), np.int16)
    set_up(start, colours)
    empties = np.empty(POINTS, np.int16)
    index_of = np.full(CELLS, -1, np.int16)
    count = 0
    for point in range(POINTS):
        cell = CELL[point]
        if start[COLOUR, cell] == NONE:
            empties[count], index_of[cell] = cell, count
            count += 1
    random = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x2545F4914F6CDD1D)
    if random == 0:
        random = np.uint64(1)
    twice = np.zeros(POINTS, np.int32)  # sums: 2 for each playout in which Black owns the point, 1 if it is neutral
    board, empty, where = np.empty_like(start), np.empty_like(empties), np.empty_like(index_of)
    for i in range(playouts):
        board[:], empty[:], where[:] = start, empties, index_of
        first = 1 + (i & 1 if side == BOTH else side)
        random = _play_out(board, first, ko, empty, where, count, random, careful)
        for point in range(POINTS):
            if colours[point] != 3:
                owner = _owner(board, CELL[point])
                twice[point] += 2 if owner == 1 else (1 if owner == 0 else 0)
    for point in range(POINTS):
        share[point] = np.float32(0.5) if colours[point] == 3 else np.float32(twice[point]) / (2 * playouts)


def black_share(
    colours: NDArray[np.uint8],
    side: int = BOTH,
    playouts: int = 200,
    seed: int = 0,
    ko: int = PASS,
    careful: bool = False,
) -> NDArray[np.float32]:
    """Return the share of random playouts in which each point is Black's at the end, float32 [361], 0 to 1.

    A playout in which a point is neutral counts as half. Points outside the board are 0.5. colours: uint8 [361], the
    stones. side: the side that moves first: 0 Black, 1 White, or BOTH for each side in half of the playouts. playouts:
    the number of playouts. seed: the random seed. ko: a point that is forbidden for the first move; PASS for none.
    careful: whether players respond to ataris and don't put their own large chains into atari, so that a seki usually
    survives. Other threads can run during the call.
    """
    share = np.empty(POINTS, np.float32)
    colours = np.ascontiguousarray(colours, np.uint8)
    _share(colours, side, 0 if ko == PASS else int(CELL[ko]), playouts, seed & (2**63 - 1), careful, share)
    return share


def black_shares(
    codes: NDArray[np.uint8], state: NDArray[np.uint8], playouts: int = 200, seed: int = 0
) -> NDArray[np.float32]:
    """Return the share of random playouts in which each point is Black's at the end, for several positions, float32 [n,
    361], 0 to 1 (see `black_share`). codes, state: the positions, uint8 [n, 361] and uint8 [n, 4], see
    `kibitz.PositionArrays`. playouts: the number of playouts per position. seed: the random seed.
    """
    shares = np.empty((len(codes), POINTS), np.float32)
    for i, colours in enumerate(colours_of(codes)):
        (kos,) = np.nonzero(codes[i] & 15 == KO)
        ko = int(kos[0]) if len(kos) else PASS
        shares[i] = black_share(colours, int(state[i, SIDE]), playouts, seed + i, ko)
    return shares
