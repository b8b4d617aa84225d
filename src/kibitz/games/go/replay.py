"""Compute any position of the games in a store from their moves.

A move is a point, or PASS. Black and White move in turn, beginning with the side to move of the start position. A
position is 361 codes and 4 state numbers, all uint8. A code is kind + 16 · age:

kind   0 empty, 1-6 a black stone whose chain has 1, 2, 3, 4, 5, 6 or more liberties, 7-12 a white one likewise, 13 an
       empty point that the ko rule forbids for the next move, 14 outside a board smaller than 19 × 19
age    when the stone was played: 1-8 that many plies ago (1: it is the last move), 9: 9-16 plies, 10: 17-32,
       11: 33-64, 12: 65-128, 13: longer; 0 for setup stones and points without a stone
state  side to move (0 Black, 1 White), the board's size, passes just before (up to 2), plies so far (up to 255)

Ply 0 is the start position and ply i the position after i moves, so a game of n moves has n + 1 positions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import BLACK, GRID, NONE, OUTSIDE, PASS, POINTS, SIZES
from kibitz.games.go.rules import (
    CELL,
    CELLS,
    COLOUR,
    LIBERTIES,
    PLAYED,
    POINT,
    ROOT,
    ROWS,
    WIDE,
    Board,
    empty_board,
    liberties,
    place,
    set_up,
)
from kibitz.games.indices import check_indices
from kibitz.kernels import kernel

SIDE, SIZE, PASSES, PLIES = range(4)
START_WIDTH = POINTS + 2
"""The length of a row with a start position: the colors of the 361 points, the side to move, and the board's size."""
EMPTY, BLACK_STONE, WHITE_STONE, KO, OFF = 0, 1, 7, 13, 14
"""The kinds of points, a part of each point's code (see the module's docstring). OFF is outside of the board.

The kind of a stone is BLACK_STONE or WHITE_STONE, plus the number of its chain's liberties minus 1.
"""
AGE = 16
OLDEST = 13
"""The largest age class of a stone: it was played more than 128 plies ago."""


def ages() -> NDArray[np.uint8]:
    """Return a table from the age of a stone (the plies since it was played) to its age class, 0 to 13, uint8 [130].
    The docstring of this module lists the classes.

    Entry p, for p from 1 to 128, is the class of a stone that was played p plies ago. Entry 129 is the class of all
    older stones, and entry 0 is 0.
    """
    age = np.arange(130)
    return np.searchsorted([1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 33, 65, 129], age, side="right").astype(np.uint8)


_AGES = ages() * AGE


@kernel
def look(board, side, size, passes, ply, ko, codes, state):  # type: ignore[no-untyped-def]
    """Write the position on a board to the arrays `codes`, uint8 [361], and `state`, uint8 [4]. board: int16 [7, 441],
    see `rules.py`.

    side: the side to move, 0 Black or 1 White. size: the size of the board. passes: the number of successive passes
    before this position. ply: the number of moves before it. ko: the cell (a column of the board array) where the ko
    rule forbids a stone, or 0.
    """
    if size < GRID:
        codes[:] = OFF
    for row in range(size):
        cell = (row + 1) * WIDE
        for point in range(row * GRID, row * GRID + size):
            cell += 1
            colour = board[COLOUR, cell]
            if colour == NONE:
                codes[point] = EMPTY
                continue
            root = board[ROOT, cell]
            free = board[LIBERTIES, root]
            if free == 0:
                free = liberties(board, root)
            kind = (BLACK_STONE if colour == 1 else WHITE_STONE) + free - 1
            played = board[PLAYED, cell]
            if played:
                kind += _AGES[min(ply - played + 1, 129)]
            codes[point] = kind
    if ko:
        codes[POINT[ko]] = KO
    state[SIDE] = side
    state[SIZE] = size
    state[PASSES] = min(passes, 2)
    state[PLIES] = min(ply, 255)


@kernel
def _replay(moves, offsets, starts, start_of, games, plies, codes, state):  # type: ignore[no-untyped-def]
    """Write positions to codes, uint8 [n, 361], and state, uint8 [n, 4]. The other arguments are those of `replay`,
    after checks.
    """
    board = np.zeros((ROWS, CELLS), np.int16)
    game, ply, passes, ko = np.int64(-1), 0, 0, 0
    for i in range(games.shape[0]):
        row = starts[start_of[games[i]]]
        if games[i] != game or plies[i] < ply:  # otherwise the replay continues from the last position
            game, ply, passes, ko = games[i], 0, 0, 0
            set_up(board, row)
        first = offsets[game]
        for move in moves[first + ply : first + plies[i]]:
            ply += 1
            ko = 0
            # Moves onto a stone are skipped: they would corrupt the chains. Only a damaged store has such moves.
            if move < PASS and board[COLOUR, CELL[move]] == NONE:
                passes = 0
                _, ko = place(board, np.int64(CELL[move]), 1 + (row[POINTS] + ply - 1) % 2, ply)
            else:
                passes += 1
        look(board, (row[POINTS] + ply) & 1, row[POINTS + 1], passes, ply, ko, codes[i], state[i])


def replay(
    moves: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    starts: NDArray[np.uint8],
    start_of: NDArray[np.int32],
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return n positions of games, as the arrays `codes`, uint8 [n, 361], and `state`, uint8 [n, 4]. Position i is
    the one in the game `games[i]` after `plies[i]` moves.

    moves: uint16, the moves of all games, one game after the other.
    offsets: int64 [games + 1], the index in `moves` at which each game's moves begin.
    starts: uint8 [k, 363], the start positions, in the form that `start_row` returns.
    start_of: int32 [games], the row of each game's start position in `starts`.
    games, plies: int64 [n]. The call is fastest if the plies of each game are in ascending order.

    Raises IndexError for a game or ply that does not exist.
    """
    games, plies = check_indices(offsets, games, plies)
    codes = np.empty((len(games), POINTS), np.uint8)
    state = np.empty((len(games), 4), np.uint8)
    _replay(moves, offsets, starts, start_of, games, plies, codes, state)
    return codes, state


def encode_board(board: Board) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the position on a board as the arrays `codes`, uint8 [361], and `state`, uint8 [4]."""
    codes, state = np.empty(POINTS, np.uint8), np.empty(4, np.uint8)
    ko = 0 if board.ko == PASS else int(CELL[board.ko])
    look(board.board, 0 if board.to_move == BLACK else 1, board.size, board.passes, board.ply, ko, codes, state)
    return codes, state


@kernel
def _children(board, colour, size, ply, cells, codes, state, captured):  # type: ignore[no-untyped-def]
    """Write the positions after each move to codes, uint8 [n, 361], and state, uint8 [n, 4], with captured, int64 [n].

    board: int16 [7, 441]. colour: the mover's. cells: int64 [n], the moves as cells.
    """
    after = np.empty_like(board)
    for i in range(cells.shape[0]):
        after[:] = board
        captured[i], ko = place(after, cells[i], colour, ply + 1)
        look(after, 2 - colour, size, 0, ply + 1, ko, codes[i], state[i])


def children(
    board: Board, colour: int, points: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
    """Play each of n legal moves on a copy of the board. Return the n positions after these moves, and the number of
    stones that each move captures.

    The result is three arrays: codes, uint8 [n, 361], state, uint8 [n, 4], and captures, int64 [n]. colour: the color
    that moves, 1 Black or 2 White. points: int64 [n], the points of the moves; a pass is not allowed.
    """
    codes = np.empty((len(points), POINTS), np.uint8)
    state = np.empty((len(points), 4), np.uint8)
    captured = np.empty(len(points), np.int64)
    _children(board.board, colour, board.size, board.ply, CELL[points].astype(np.int64), codes, state, captured)
    return codes, state, captured


def colours_of(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the color of each point, uint8: 0 none, 1 Black, 2 White, 3 outside the board. codes: uint8, codes of
    points (see `kibitz.PositionArrays`), in any shape, which is also the shape of the result.
    """
    colours: NDArray[np.uint8] = _COLOUR_OF[codes & 15]
    return colours


def swap_colors(
    codes: NDArray[np.uint8], state: NDArray[np.uint8], selected: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Swap Black and White, both the stones and the side to move, in the positions for which `selected`, bool [n], is
    true.

    codes, state: the positions, uint8 [n, 361] and uint8 [n, 4], see `kibitz.PositionArrays`. Both arrays are changed
    in place and returned.
    """
    rows = np.flatnonzero(selected)
    for begin in range(0, len(rows), _SWAPPED_AT_ONCE):
        block = rows[begin : begin + _SWAPPED_AT_ONCE]
        codes[block] = (codes[block] & np.uint8(0xF0)) | _OTHER_KIND[codes[block] & 15]
    state[rows, SIDE] ^= 1
    return codes, state


_SWAPPED_AT_ONCE = 1024
"""Number of positions whose colors are swapped together, so that the copies stay small."""
_OTHER_KIND = np.array([EMPTY, *range(7, 13), *range(1, 7), KO, OFF, 15], np.uint8)
_COLOUR_OF = np.array([NONE] + [1] * 6 + [2] * 6 + [NONE, OUTSIDE, OUTSIDE], np.uint8)


def start_row(
    size: int = GRID, black: tuple[int, ...] = (), white: tuple[int, ...] = (), side: int = 0
) -> NDArray[np.uint8]:
    """Return a start position in the form in which a store saves it, uint8 [363]: the colors of 361 points, the side to
    move, and the board's size. black, white: the points of the setup stones. side: the side to move, 0 Black or 1
    White.
    """
    row = np.zeros(START_WIDTH, np.uint8)
    row[:POINTS] = empty_board(size)[COLOUR, CELL]
    row[list(black)], row[list(white)] = 1, 2
    row[POINTS:] = side, size
    return row


STANDARD_START = start_row()


def are_starts(starts: NDArray[np.uint8]) -> bool:
    """Return whether all rows of `starts`, uint8 [k, 363], are valid start positions (see `start_row`): the size is
    supported, stones are only on the board, and the side to move is 0 or 1.
    """
    for size in SIZES:
        rows = starts[starts[:, POINTS + SIZE] == size, :POINTS]
        outside = start_row(size)[:POINTS] == OUTSIDE
        if ((rows == OUTSIDE) != outside).any() or (rows > OUTSIDE).any():
            return False
    return bool((starts[:, POINTS + SIDE] <= 1).all() and np.isin(starts[:, POINTS + SIZE], SIZES).all())
