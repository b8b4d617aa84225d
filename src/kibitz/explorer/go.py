"""Compute keys of Go positions on 19 × 19. A key is a 64-bit hash, which is the same for all rotations and reflections
of a position.

A board has eight symmetries. A position and the moves played in it are transformed by the symmetry that gives the
smallest key. For a symmetric position, several symmetries give this key. Then a move is represented by the smallest of
its possible points, so that equivalent moves are the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.explorer.keys import NO_MOVE, random_words
from kibitz.games.go.points import GRID, NONE, PASS, POINTS, symmetries
from kibitz.games.go.rules import CELL, CELLS, COLOUR, ROWS, Board, place, set_up
from kibitz.kernels import kernel

SYMMETRIES = np.ascontiguousarray(symmetries(GRID)).astype(np.int64)
"""The point to which each symmetry of the board moves each point, int64 [8, 361]."""
_WORDS = random_words(2 * POINTS + 1, 361)
_STONES = np.concatenate([np.zeros((1, POINTS), np.uint64), _WORDS[:-1].reshape(2, POINTS)])  # by colour and point
_WHITE = _WORDS[-1]


@kernel
def _look(board, symmetric_keys):  # type: ignore[no-untyped-def]
    """Write the keys of a board in the eight symmetries to symmetric_keys, uint64 [8]. These keys do not contain the
    side to move.
    """
    symmetric_keys[:] = 0
    for point in range(POINTS):
        colour = board[COLOUR, CELL[point]]
        if colour == 1 or colour == 2:
            for symmetry in range(8):
                symmetric_keys[symmetry] ^= _STONES[colour, SYMMETRIES[symmetry, point]]


@kernel
def _seen(symmetric_keys, move):  # type: ignore[no-untyped-def]
    """Return the smallest of a position's eight keys, and the move in the symmetry with that key.

    symmetric_keys: uint64 [8], the key in each symmetry. move: a point, or PASS and above, which stay the same. If
    several symmetries have this key, the smallest point is returned.
    """
    key = symmetric_keys[0]
    for symmetry in range(1, 8):
        key = min(key, symmetric_keys[symmetry])
    if move >= PASS:
        return key, move
    least = np.int64(POINTS)
    for symmetry in range(8):
        if symmetric_keys[symmetry] == key:
            least = min(least, SYMMETRIES[symmetry, move])
    return key, least


@kernel
def fill_keys(moves, offsets, starts, start_of, first, keys, played, counts):  # type: ignore[no-untyped-def]
    """Compute the keys (64-bit hashes) of the positions of n games, and the moves that were played in them. The games
    are `first` to `first + n - 1`, where n is the length of `counts`. Only games on 19 × 19 get keys.

    The arguments are those of `explorer.chess.fill_keys`. The last three arguments are outputs: keys, uint64 [n,
    depth]; played, uint16 [n, depth]; counts, int64 [n].
    """
    board = np.zeros((ROWS, CELLS), np.int16)
    symmetric_keys = np.zeros(8, np.uint64)
    depth = keys.shape[1]
    for i in range(keys.shape[0]):
        game = first + i
        row = starts[start_of[game]]
        counts[i] = 0
        if row[POINTS + 1] != GRID:
            continue
        set_up(board, row)
        _look(board, symmetric_keys)
        begin, end = offsets[game], offsets[game + 1]
        counts[i] = min(depth, end - begin + 1)
        for ply in range(counts[i]):
            side = (row[POINTS] + ply) & 1
            move = np.int64(moves[begin + ply]) if begin + ply < end else np.int64(NO_MOVE)
            key, seen = _seen(symmetric_keys, move)
            keys[i, ply] = key ^ _WHITE if side else key
            played[i, ply] = seen
            # Moves onto a stone are skipped: they would corrupt the chains. Only a damaged store has such moves.
            if move < PASS and board[COLOUR, CELL[move]] == NONE:
                captured, _ = place(board, np.int64(CELL[move]), 1 + side, ply + 1)
                if captured:
                    _look(board, symmetric_keys)
                else:
                    for symmetry in range(8):
                        symmetric_keys[symmetry] ^= _STONES[1 + side, SYMMETRIES[symmetry, move]]


def key_of(board: Board) -> int:
    """Return the key (a 64-bit hash) of a position on 19 × 19. `fill_keys` computes the same key for the position."""
    symmetric_keys = _symmetric_keys(board)
    return int(symmetric_keys.min() ^ _WHITE if board.to_move == 2 else symmetric_keys.min())


def _symmetric_keys(board: Board) -> NDArray[np.uint64]:
    symmetric_keys = np.zeros(8, np.uint64)
    _look(board.board, symmetric_keys)
    return symmetric_keys


def unseen(board: Board, seen: int) -> int:
    """Return the point of the given board that corresponds to a move in the position index.

    The index stores each position in one of its eight symmetries, and this function undoes the symmetry. If several
    points of the board are equivalent, the result is the point that is furthest to the upper right. seen: the stored
    move.
    """
    if seen >= PASS:
        return seen
    symmetric_keys = _symmetric_keys(board)
    found = [
        int(np.flatnonzero(SYMMETRIES[symmetry] == seen)[0])
        for symmetry in np.flatnonzero(symmetric_keys == symmetric_keys.min())
    ]
    return max(found, key=lambda point: (point % GRID - point // GRID, point % GRID))
