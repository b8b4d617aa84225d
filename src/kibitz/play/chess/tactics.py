"""What the rules alone tell of a move: does it give check, does it win something? And which moves to look at first."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.attacks import attacked, look
from kibitz.games.chess.replay import SIDE

# Pawns' worth of P N B R Q K; a king is never lost, so that what defends by king alone is not counted as lost either.
_WORTH = np.array([0, 1, 3, 3, 5, 9, 0], np.int64)
QUIET, LOUD, MATE = 0, 1, 2
"""Marks of a move: nothing special; wins two pawns' worth or more at first sight; mates."""
WINS = 2
FLOOR = 0.04
"""Weight at least, of a move that wins something: networks have seen few positions where pieces hang."""
CHECK_FLOOR = 0.005


@numba.njit(nogil=True, cache=True)
def _signs(codes, state, moves, offsets, gain, check):  # type: ignore[no-untyped-def]
    board = np.empty(64, np.int8)
    after = np.empty(64, np.int8)
    for i in range(codes.shape[0]):
        black = state[i, SIDE] != 0
        forward = -8 if black else 8
        look(codes[i], state[i, SIDE], board)
        king = -1
        for square in range(64):
            if board[square] == -6:
                king = square
        for at in range(offsets[i], offsets[i + 1]):
            move = np.int64(moves[at])
            origin, target, promotion = move & 63, move >> 6 & 63, move >> 12
            piece = np.int64(board[origin])
            victim = -np.int64(board[target])
            for square in range(64):
                after[square] = -board[square]  # the other side's view
            after[origin] = 0
            after[target] = -(promotion if promotion else piece)
            if piece == 1 and victim == 0 and (origin ^ target) & 7:  # en passant
                after[(origin & 56) | (target & 7)] = 0
                victim = np.int64(1)
            if piece == 6 and (target - origin == 2 or origin - target == 2):
                corner, passed = (origin + 3, origin + 1) if target > origin else (origin - 4, origin - 1)
                after[passed] = after[corner]
                after[corner] = 0
            won = _WORTH[victim] + (_WORTH[promotion] - 1 if promotion else 0)
            if won > 0:
                # The other side takes back what it can; `after` mirrored again shows whether it can.
                for square in range(64):
                    after[square] = -after[square]
                if attacked(after, target, forward):
                    won -= _WORTH[promotion] if promotion else _WORTH[piece]
                for square in range(64):
                    after[square] = -after[square]
            gain[at] = won
            check[at] = king >= 0 and attacked(after, king, -forward)


def gains_and_checks(
    codes: NDArray[np.uint8], state: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
    """What legal moves win at first sight, in pawns int16 [total], and whether they give check bool [total].

    A capture wins what stands there, less what captures if that can be taken back; nothing is looked at beyond.
    """
    gain, check = np.empty(len(moves), np.int16), np.empty(len(moves), np.bool_)
    _signs(codes, state, moves, offsets, gain, check)
    return gain, check


@numba.njit(nogil=True, cache=True)
def _arrange(moves, offsets, weights, marks, cut, most, widths):  # type: ignore[no-untyped-def]
    for i in range(offsets.shape[0] - 1):
        first, end = offsets[i], offsets[i + 1]
        total = 0.0
        for at in range(first, end):
            total += weights[at]
            move, weight, mark = moves[at], weights[at], marks[at]
            to = at
            while to > first and weights[to - 1] < weight:
                moves[to], weights[to], marks[to] = moves[to - 1], weights[to - 1], marks[to - 1]
                to -= 1
            moves[to], weights[to], marks[to] = move, weight, mark
        within = 0.0
        width = 0
        for at in range(first, end):
            weights[at] /= total
            if width < most and within < cut:
                width += 1
                within += weights[at]
        widths[i] = width


def order_moves(
    moves: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    shares: NDArray[np.float32],
    gain: NDArray[np.int16],
    check: NDArray[np.bool_],
    cut: float,
    most: int,
) -> tuple[NDArray[np.uint16], NDArray[np.float32], NDArray[np.uint8], NDArray[np.int64]]:
    """Each position's moves by falling weight: moves, weights float32 [total], marks uint8 [total], widths int64 [n].

    shares: the policy's, summing to 1 in each position; a weight is that, but at least a floor for moves that win
    something or give check. width: how many first moves hold the part `cut` of the weight, at most `most`.
    """
    loud = gain >= WINS
    floors = np.where(loud, np.float32(FLOOR), np.where(check, np.float32(CHECK_FLOOR), np.float32(1e-6)))
    weights = np.maximum(shares, floors).astype(np.float32)
    moves, marks = moves.copy(), loud.astype(np.uint8)
    widths = np.empty(len(offsets) - 1, np.int64)
    _arrange(moves, offsets, weights, marks, cut, most, widths)
    return moves, weights, marks, widths
