"""Without a network, find the moves that gain material or give check, and sort moves for a search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.attacks import attacked, look
from kibitz.games.chess.board_kernels import other_squares, squares_of
from kibitz.games.chess.material import PIECE_VALUES
from kibitz.games.chess.replay import SIDE
from kibitz.kernels import kernel

QUIET, TACTICAL, MATE = 0, 1, 2
"""Marks of a move: MATE for checkmate, TACTICAL for a material gain of TACTICAL_GAIN or more, QUIET for all others."""
TACTICAL_GAIN = 2
"""The smallest material gain of a tactical move, in pawns."""
MIN_TACTICAL_WEIGHT = 0.04
"""The smallest weight of a tactical move in a search. Networks predict too low probabilities for such moves, because
few training positions have hanging pieces.
"""
MIN_CHECK_WEIGHT = 0.005


@kernel
def note_gains_and_checks(codes, state, moves, offsets, gain, check):  # type: ignore[no-untyped-def]
    """Write two results for each legal move: its immediate material gain in pawns to `gain`, int16 [total], and whether
    it gives check to `check`, bool [total]. This is the compiled form of `gains_and_checks`, with the same arguments.
    """
    board = np.empty(64, np.int8)
    after = np.empty(64, np.int8)  # the board after the move, in the opponent's view
    for i in range(codes.shape[0]):
        black = state[i, SIDE] != 0
        forward = -8 if black else 8
        look(codes[i], np.int64(state[i, SIDE]), board)
        king = np.int64(-1)
        for square in range(64):
            if board[square] == -6:
                king = np.int64(square)
        for at in range(offsets[i], offsets[i + 1]):
            origin, target, promotion = squares_of(moves[at])
            piece = np.int64(board[origin])
            victim = -np.int64(board[target])
            for square in range(64):
                after[square] = -board[square]
            after[origin] = 0
            after[target] = -(promotion if promotion else piece)
            emptied, filled = other_squares(piece, victim, origin, target)
            if emptied >= 0:
                if filled >= 0:
                    after[filled] = after[emptied]
                else:
                    victim = np.int64(1)
                after[emptied] = 0
            won = PIECE_VALUES[victim] + (PIECE_VALUES[promotion] - 1 if promotion else 0)
            if won > 0:
                # Can the opponent recapture? `attacked` uses the mover's view: the signs are changed, and changed back.
                for square in range(64):
                    after[square] = -after[square]
                if attacked(after, target, forward):
                    won -= PIECE_VALUES[promotion] if promotion else PIECE_VALUES[piece]
                for square in range(64):
                    after[square] = -after[square]
            gain[at] = won
            check[at] = king >= 0 and attacked(after, king, -forward)


def gains_and_checks(
    codes: NDArray[np.uint8], state: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
    """Return two arrays: the immediate material gain of each legal move in pawns, int16 [total], and whether the move
    gives check, bool [total].

    codes, state: the positions, uint8 [n, 64] and uint8 [n, 4], see `kibitz.PositionArrays`. moves: uint16 [total], the
    packed legal moves (see `kibitz.games.chess.moves.from_move`) of all positions. offsets: int64 [n + 1], the index at
    which each position's moves begin. A capture gains the value of the captured piece. If the opponent can recapture,
    the value of the capturing piece is subtracted. Further exchanges aren't counted.
    """
    gain, check = np.empty(len(moves), np.int16), np.empty(len(moves), np.bool_)
    note_gains_and_checks(codes, state, moves, offsets, gain, check)
    return gain, check


@kernel
def _order_moves(moves, offsets, weights, marks, cut, max_width, widths):  # type: ignore[no-untyped-def]
    """Sort moves, weights and marks by descending weight (stable), normalize the weights, and write widths, int64 [n].

    moves: uint16 [total]. weights: float32 [total], 1 in sum for each position. marks: uint8 [total]. The other
    arguments are those of `order_moves`.
    """
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
            if width < max_width and within < cut:
                width += 1
                within += weights[at]
        widths[i] = width


def order_moves(
    moves: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    priors: NDArray[np.float32],
    gain: NDArray[np.int16],
    check: NDArray[np.bool_],
    cut: float,
    max_width: int,
) -> tuple[NDArray[np.uint16], NDArray[np.float32], NDArray[np.uint8], NDArray[np.int64]]:
    """Sort the moves of each position by descending weight. Returns four arrays: packed moves (see
    `kibitz.games.chess.moves.from_move`), uint16 [total]; weights, float32 [total]; marks, uint8 [total]; and widths,
    int64 [n].

    The weight of a move is its probability, raised to a minimum for winning captures and checks, and then normalized so
    that the weights sum to 1 in each position. The mark is TACTICAL for a move that gains 2 pawns or more
    (TACTICAL_GAIN), and QUIET for all others. The width is the number of moves, from the first on, whose weights sum to
    `cut`; it is at most `max_width`.

    moves: uint16 [total], the packed legal moves of all positions. offsets: int64 [n + 1], the index at which each
    position's moves begin. priors: float32 [total], the predicted probabilities, which sum to 1 in each position. gain,
    check: the results of `gains_and_checks`.
    """
    tactical = gain >= TACTICAL_GAIN
    least = np.where(
        tactical, np.float32(MIN_TACTICAL_WEIGHT), np.where(check, np.float32(MIN_CHECK_WEIGHT), np.float32(1e-6))
    )
    weights = np.maximum(priors, least).astype(np.float32)
    moves, marks = moves.copy(), tactical.astype(np.uint8)
    widths = np.empty(len(offsets) - 1, np.int64)
    _order_moves(moves, offsets, weights, marks, cut, max_width, widths)
    return moves, weights, marks, widths
