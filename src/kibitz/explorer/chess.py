"""Compute keys of chess positions. A key is a 64-bit hash of the position. Positions that are the same by the rules
have the same key, no matter which moves led to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kibitz.explorer.keys import NO_MOVE, random_words
from kibitz.games.chess.attacks import can_pass
from kibitz.games.chess.board_kernels import RIGHTS_AFTER
from kibitz.games.chess.replay import CASTLING, EN_PASSANT, SIDE, encode_board
from kibitz.kernels import kernel

if TYPE_CHECKING:
    import chess

_WORDS = random_words(13 * 64 + 16 + 9 + 1, 64)
_PIECES = np.concatenate([np.zeros((1, 64), np.uint64), _WORDS[64 : 13 * 64].reshape(12, 64)])  # by code and square
_RIGHTS = _WORDS[13 * 64 : 13 * 64 + 16].copy()
_PASSED = np.concatenate([np.zeros(1, np.uint64), _WORDS[13 * 64 + 17 : 13 * 64 + 25]])  # by en-passant file + 1
_BLACK = _WORDS[13 * 64 + 25]


@kernel
def _board_key(codes):  # type: ignore[no-untyped-def]
    """Return the key of the pieces alone, uint64. codes: uint8 [64]."""
    key = np.uint64(0)
    for square in range(64):
        key ^= _PIECES[codes[square], square]
    return key


@kernel
def fill_keys(moves, offsets, starts, start_of, first, keys, played, counts):  # type: ignore[no-untyped-def]
    """Compute the keys (64-bit hashes) of the positions of n games, and the moves that were played in them. The games
    are `first` to `first + n - 1`, where n is the length of `counts`.

    moves, offsets, starts, start_of: the arrays of the store, as in `kibitz.games.chess.replay.replay`.
    keys: output, uint64 [n, depth], the Zobrist keys of the first `depth` positions of each game.
    played: output, uint16 [n, depth], the move that was played in each position, packed as in the store; 65535 at the
        end of a game.
    counts: output, int64 [n], the number of positions of each game, at most `depth`.

    This compiled function duplicates the code of `board_kernels.play_moves`, and also updates the key.
    """
    board = np.empty(64, np.uint8)
    view = np.empty(64, np.int8)
    depth = keys.shape[1]
    for i in range(keys.shape[0]):
        game = first + i
        row = starts[start_of[game]]
        for square in range(64):
            board[square] = row[square]
        key = _board_key(board)
        side, rights, passed = np.int64(row[64 + SIDE]), np.int64(row[64 + CASTLING]), np.int64(row[64 + EN_PASSANT])
        begin, end = offsets[game], offsets[game + 1]
        counts[i] = min(depth, end - begin + 1)
        for ply in range(counts[i]):
            full = key ^ _RIGHTS[rights]
            if side:
                full ^= _BLACK
            if passed and can_pass(board, side, passed, view):
                full ^= _PASSED[passed]
            keys[i, ply] = full
            if begin + ply == end:
                played[i, ply] = NO_MOVE
                break
            move = np.int64(moves[begin + ply])
            played[i, ply] = move
            origin, target, promotion = move & 63, move >> 6 & 63, move >> 12
            piece, captured = np.int64(board[origin]), np.int64(board[target])
            key ^= _PIECES[piece, origin] ^ _PIECES[captured, target]
            board[origin] = 0
            passed = np.int64(0)
            if piece == 1 or piece == 7:
                step = target - origin
                if step == 16 or step == -16:
                    passed = (origin & 7) + 1
                elif captured == 0 and step & 7 != 0:
                    taken = (origin & 56) | (target & 7)
                    key ^= _PIECES[board[taken], taken]
                    board[taken] = 0
                if 1 < promotion < 6:  # other values occur only in damaged stores, and would be outside of the table
                    piece += promotion - 1
            elif (piece == 6 or piece == 12) and origin & 7 == 4 and (target - origin == 2 or origin - target == 2):
                corner = origin + 3 if target > origin else origin - 4
                beside = (origin + target) >> 1
                rook = board[corner]
                key ^= _PIECES[rook, corner] ^ _PIECES[rook, beside]
                board[corner], board[beside] = 0, rook
            board[target] = piece
            key ^= _PIECES[piece, target]
            rights &= RIGHTS_AFTER[origin] & RIGHTS_AFTER[target]
            side ^= 1


def key_of(board: chess.Board) -> int:
    """Return the key (a 64-bit hash) of the position on a python-chess board. `fill_keys` computes the same key for the
    position.
    """
    return key_of_row(encode_board(board))


def key_of_row(row: NDArray[np.uint8]) -> int:
    """Return the key (a 64-bit hash) of a position.

    row: uint8 [68], the 64 codes and the 4 state values of `kibitz.PositionArrays`. The en-passant file must be 0
    unless an en-passant capture is legal.
    """
    key = _board_key(row[:64]) ^ _RIGHTS[row[64 + CASTLING]] ^ _PASSED[row[64 + EN_PASSANT]]
    return int(key ^ _BLACK if row[64 + SIDE] else key)
