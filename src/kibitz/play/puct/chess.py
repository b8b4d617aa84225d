"""What PUCT needs of chess: the positions after moves, whether the game is over there, and what is played there."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import chess
import numba
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.legal import in_check, legal_moves
from kibitz.games.chess.replay import CASTLING, CLOCK, EN_PASSANT, SIDE, SQUARES, START_WIDTH, encode_board, replay
from kibitz.play.puct.tree import DRAW, LOSS, UNKNOWN

FIFTY = 100
"""Plies without a capture or pawn move after which a game is drawn."""

_random = np.random.default_rng(0x5EED)
_PIECES = _random.integers(1, 2**63, (SQUARES, 13), np.int64).astype(np.uint64)
_PIECES[:, 0] = 0
_RIGHTS = _random.integers(1, 2**63, 16, np.int64).astype(np.uint64)
_PASSED = _random.integers(1, 2**63, 9, np.int64).astype(np.uint64)
_BLACK = np.uint64(_random.integers(1, 2**63))


class Entered(NamedTuple):
    """Positions that were reached: rows uint8 [n, 68] (codes, state), keys uint64 [n], ended int8 [n] (UNKNOWN, or LOSS
    and DRAW for the side to move), and of all positions legal moves and where each one's begin [n + 1]."""

    rows: NDArray[np.uint8]
    keys: NDArray[np.uint64]
    ended: NDArray[np.int8]
    moves: NDArray[np.uint16]
    offsets: NDArray[np.int64]


@numba.njit(nogil=True, cache=True)
def _keys(rows, keys, dead):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        key = np.uint64(0)
        knights, light, dark, others = 0, 0, 0, 0
        for square in range(64):
            code = rows[i, square]
            if code == 0:
                continue
            key ^= _PIECES[square, code]
            kind = (code - 1) % 6
            if kind == 1:
                knights += 1
            elif kind == 2:
                if ((square >> 3) + square) & 1:
                    light += 1
                else:
                    dark += 1
            elif kind != 5:
                others += 1
        key ^= _RIGHTS[rows[i, 64 + CASTLING]] ^ _PASSED[rows[i, 64 + EN_PASSANT]]
        if rows[i, 64 + SIDE]:
            key ^= _BLACK
        keys[i] = key
        # Nobody can mate: one minor piece at most, or bishops of one colour of squares alone.
        dead[i] = others == 0 and (knights + light + dark <= 1 or (knights == 0 and (light == 0 or dark == 0)))


def keys_of(rows: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """A key for each position [n], the same for what the rules call the same position, and where nobody can mate."""
    keys, dead = np.empty(len(rows), np.uint64), np.empty(len(rows), np.bool_)
    _keys(rows, keys, dead)
    return keys, dead


def enter(parents: NDArray[np.uint8], moves: NDArray[np.uint16]) -> Entered:
    """The positions after one legal move in each of the parents, rows [n, 68]."""
    n = np.arange(len(parents) + 1)  # to the replay each is a game of one move, from a start position of its own
    codes, state = replay(moves, n, parents, n[:-1].astype(np.int32), n[:-1], np.ones(len(parents), np.int64))
    return _described(np.concatenate([codes, state], 1))


def start(board: chess.Board) -> Entered:
    """A board's position, as `enter` gives those after a move."""
    return _described(encode_board(board)[None])


def _described(rows: NDArray[np.uint8]) -> Entered:
    codes, state = np.ascontiguousarray(rows[:, :SQUARES]), np.ascontiguousarray(rows[:, SQUARES:START_WIDTH])
    keys, dead = keys_of(rows)
    moves, offsets = legal_moves(codes, state)
    stuck = np.diff(offsets) == 0
    ended = np.where(dead | (state[:, CLOCK] >= FIFTY), DRAW, UNKNOWN).astype(np.int8)
    if stuck.any():
        ended[stuck] = np.where(in_check(codes[stuck], state[stuck]), LOSS, DRAW)
    return Entered(rows, keys, ended, moves, offsets)


def history(board: chess.Board) -> Counter[int]:
    """How often each earlier position of the board's game occurred that may come again, by its key."""
    seen: Counter[int] = Counter()
    past = board.copy()
    rows = []
    for _ in range(min(board.halfmove_clock, len(board.move_stack))):
        past.pop()
        rows.append(encode_board(past))
    if rows:
        seen.update(keys_of(np.stack(rows))[0].tolist())
    return seen
