"""Find chains that live in seki, without two eyes, because nobody can capture them. Also find points of territory that
their owner must fill at the end.

All functions consider only liberties, not eyes. `without_uncapturable` examines each chain that seems dead. The chain
is alive if the opponent can't fill its liberties without a self-atari of a large chain. The opponent may sacrifice a
small chain to destroy an eye. `in_seki` finds the shared liberties of a seki. A shared liberty touches living stones of
both sides. A move there by either side is suicide, or leaves the moving side's chain in atari.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.endings.playouts import LARGEST_NAKADE
from kibitz.games.go.points import GRID, NONE, POINTS
from kibitz.games.go.rules import CELL, CELLS, COLOUR, NEXT, POINT, ROOT, ROWS, STONES, WIDE, is_suicide, place, set_up
from kibitz.kernels import inner, kernel

MAX_SHARED_LIBERTIES = 5
"""The search ignores chains with more liberties than this number, because a seki with more shared liberties is very
rare.
"""


@inner
def _liberties(board, cell, found):  # type: ignore[no-untyped-def]
    """Fill `found` with the liberties of a stone's chain, and return their number, at most the length of `found`.

    board: int16 [7, 441].
    """
    count, stone = 0, np.int64(cell)
    while True:
        for step in (1, -1, WIDE, -WIDE):
            beside = stone + step
            if board[COLOUR, beside] == NONE:
                new = True
                for i in range(count):
                    new = new and found[i] != beside
                if new:
                    if count == found.shape[0]:
                        return count
                    found[count] = beside
                    count += 1
        stone = np.int64(board[NEXT, stone])
        if stone == cell:
            return count


@inner
def _can_capture(board, prey):  # type: ignore[no-untyped-def]
    """Return whether the opponent can fill the liberties of the chain at `prey` without a self-atari of a large chain.

    A large chain has more than LARGEST_NAKADE stones.

    The test assumes that the chain's side makes no moves. The result is True for chains with more than
    MAX_SHARED_LIBERTIES liberties. board: int16 [7, 441].
    """
    depth = MAX_SHARED_LIBERTIES
    boards = np.empty((depth + 1, ROWS, CELLS), np.int16)
    left = np.zeros((depth + 1, depth + 1), np.int64)
    counts, tried = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    boards[0] = board
    own = np.zeros(2, np.int64)
    level = 0
    attacker = 3 - board[COLOUR, prey]
    counts[0] = _liberties(board, prey, left[0])
    if counts[0] > depth:
        return True
    while level >= 0:
        if counts[level] <= 1:
            return True
        if tried[level] == counts[level]:
            level -= 1
            continue
        cell = left[level, tried[level]]
        tried[level] += 1
        if is_suicide(boards[level], cell, attacker):
            continue
        boards[level + 1] = boards[level]
        after = boards[level + 1]
        place(after, cell, attacker, 0)
        free = _liberties(after, cell, own)
        if free == 1 and after[STONES, after[ROOT, cell]] > LARGEST_NAKADE:
            continue
        level += 1
        counts[level], tried[level] = _liberties(after, prey, left[level]), 0
    return False


@kernel
def _revive(colours, dead):  # type: ignore[no-untyped-def]
    """Set the chains that `without_uncapturable` revives to false in `dead`, bool [361]. colours: uint8 [361]."""
    board = np.empty((ROWS, CELLS), np.int16)
    set_up(board, colours)
    gone = np.zeros(CELLS, np.bool_)
    for point in range(POINTS):
        gone[CELL[point]] = dead[point] and (colours[point] == 1 or colours[point] == 2)
    checked = np.zeros(CELLS, np.uint8)  # for each chain's root: 1 stays dead, 2 lives
    seen = np.zeros(CELLS, np.bool_)
    region = np.empty(POINTS, np.int64)
    for point in range(POINTS):
        first = np.int64(CELL[point])
        if not gone[first] or seen[first]:
            continue
        region[0] = first
        seen[first] = True
        size, at, lives = 1, 0, True
        while at < size:
            cell = region[at]
            if gone[cell] and lives:
                root = np.int64(board[ROOT, cell])
                if not checked[root]:
                    checked[root] = 1 if _can_capture(board, root) else 2
                lives = checked[root] == 2
            for step in (1, -1, WIDE, -WIDE):
                beside = cell + step
                if not seen[beside] and (gone[beside] or board[COLOUR, beside] == NONE):
                    seen[beside] = True
                    region[size] = beside
                    size += 1
            at += 1
        if lives:
            for i in range(size):
                dead[POINT[region[i]]] = False


def without_uncapturable(colours: NDArray[np.uint8], dead: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the dead stones, bool [361], without the chains that nobody can capture. These chains are alive.

    If several dead chains are in one region, all of them live, or none of them, because the capture of one chain may
    make room to capture another. colours: uint8 [361], the stones: 0 none, 1 Black, 2 White, 3 outside the board. dead:
    bool [361], the stones that seem dead, as whole chains.
    """
    dead_left = np.array(dead, np.bool_)
    _revive(np.ascontiguousarray(colours, np.uint8), dead_left)
    return dead_left


@inner
def _leaves_atari(board, cell, colour, scratch, found):  # type: ignore[no-untyped-def]
    """Return whether a move is suicide, or whether it captures nothing and leaves its own chain with one liberty.

    board: int16 [7, 441]. scratch: a board as working memory. found: int64 [2], working memory.
    """
    if is_suicide(board, cell, colour):
        return True
    scratch[:] = board
    captured, _ = place(scratch, cell, colour, 0)
    return captured == 0 and _liberties(scratch, cell, found) == 1


@kernel
def _mark(colours, dead, seki):  # type: ignore[no-untyped-def]
    """Set the stones of `in_seki` to true in `seki`, bool [361].

    colours: uint8 [361], the stones: 0 none, 1 Black, 2 White, 3 outside the board. dead: bool [361], stones that do
    not count as neighbors of a liberty.
    """
    board, scratch = np.empty((ROWS, CELLS), np.int16), np.empty((ROWS, CELLS), np.int16)
    set_up(board, colours)
    found = np.empty(2, np.int64)
    marked = np.zeros(CELLS, np.bool_)
    for point in range(POINTS):
        cell = np.int64(CELL[point])
        if board[COLOUR, cell] != NONE:
            continue
        seen = 0
        for step in (1, -1, WIDE, -WIDE):
            there = board[COLOUR, cell + step]
            if (there == 1 or there == 2) and not dead[POINT[cell + step]]:
                seen |= there
        if seen != 3:
            continue
        if _leaves_atari(board, cell, 1, scratch, found) and _leaves_atari(board, cell, 2, scratch, found):
            for step in (1, -1, WIDE, -WIDE):
                there = board[COLOUR, cell + step]
                if there == 1 or there == 2:
                    marked[board[ROOT, cell + step]] = True
    for point in range(POINTS):
        stone = (colours[point] == 1 or colours[point] == 2) and not dead[point]
        seki[point] = seki[point] or (stone and marked[board[ROOT, CELL[point]]])


def in_seki(colours: NDArray[np.uint8], dead: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the living stones that touch a shared liberty of a seki, which neither side can fill, bool [361].

    The function tests each liberty twice: with the dead stones on the board, and without them. A liberty is shared if
    at least one test shows this. colours: uint8 [361], the stones. dead: bool [361], the dead stones.
    """
    seki = np.zeros(POINTS, np.bool_)
    dead = np.ascontiguousarray(dead, np.bool_)
    _mark(np.where(dead, NONE, colours).astype(np.uint8), dead, seki)
    _mark(np.ascontiguousarray(colours, np.uint8), dead, seki)
    return seki


@inner
def _last_liberty(colours, first, chain, seen, mark):  # type: ignore[no-untyped-def]
    """Return the only liberty of the chain at a point, -1 if it has several or none.

    colours: uint8 [361]. chain, seen: int64 [361], working memory. mark: a new number for each call.
    """
    colour = colours[first]
    chain[0], seen[first] = first, mark
    size, at, found = 1, 0, -1
    while at < size:
        point = chain[at]
        at += 1
        for side in range(4):
            row, column = point // GRID, point % GRID
            row += (side == 0) - (side == 1)
            column += (side == 2) - (side == 3)
            if row < 0 or column < 0 or row >= GRID or column >= GRID:
                continue
            beside = row * GRID + column
            if colours[beside] == NONE:
                if found >= 0 and found != beside:
                    return -1
                found = beside
            elif colours[beside] == colour and seen[beside] != mark:
                seen[beside] = mark
                chain[size] = beside
                size += 1
    return found


@kernel
def _must_fill(colours, dead, seki, owner, filled):  # type: ignore[no-untyped-def]
    """Set the points of `must_fill` to true in `filled`, bool [361].

    colours, owner: uint8 [361]. dead, seki: bool [361].
    """
    chain, seen = np.empty(POINTS, np.int64), np.zeros(POINTS, np.int64)
    now = np.empty(POINTS, np.uint8)
    mark = 0
    for colour in (1, 2):
        for point in range(POINTS):
            now[point] = NONE if dead[point] else colours[point]
            if now[point] == NONE and owner[point] == NONE:
                now[point] = colour
        changed = True
        while changed:
            changed = False
            mark += 1
            for point in range(POINTS):
                if now[point] != colour or colours[point] != colour or seki[point]:
                    continue
                mark += 1
                last = _last_liberty(now, point, chain, seen, mark)
                if last >= 0 and owner[last] == colour:
                    now[last] = colour
                    filled[last] = True
                    changed = True


def must_fill(
    colours: NDArray[np.uint8], dead: NDArray[np.bool_], seki: NDArray[np.bool_], owner: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Return the points of territory that their owner must fill after the neutral points are played, bool [361].

    If the owner doesn't fill such a point, a chain is in atari. Under territory scoring, the point doesn't count. The
    test assumes that the owner has filled all neutral points, which is the best case for the owner. colours: uint8
    [361], the stones. dead: bool [361], the dead stones. seki: bool [361], the stones in seki. owner: uint8 [361], the
    owner map.
    """
    filled = np.zeros(POINTS, np.bool_)
    _must_fill(np.ascontiguousarray(colours, np.uint8), dead, seki, owner, filled)
    return filled
