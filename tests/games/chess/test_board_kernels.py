from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from kibitz.games.chess import board_kernels
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import CASTLING, CLOCK, encode_board
from support.inner_kernels import callable_kernel

next_state, other_squares = callable_kernel(board_kernels.next_state), callable_kernel(board_kernels.other_squares)
play_moves, squares_of = callable_kernel(board_kernels.play_moves), callable_kernel(board_kernels.squares_of)


@pytest.mark.parametrize("seed", range(20))
def test_both_ways_to_play_a_move_agree_with_python_chess(seed: int) -> None:
    """play_moves and other_squares with next_state hold the same rules; the clock and the rights included."""
    rng = random.Random(seed)
    board = chess.Board()
    if seed % 2:
        board = chess.Board("r3k2r/1P4p1/8/2pP4/5pP1/8/1p4P1/R3K2R w KQkq c6 0 1")
    for _ in range(120):
        legal = list(board.legal_moves)
        if not legal:
            return
        special = [move for move in legal if board.is_castling(move) or board.is_en_passant(move) or move.promotion]
        move = rng.choice(special if special and rng.random() < 0.5 else legal)
        row, captures = encode_board(board), board.is_capture(move)
        codes, taken = row[:64].copy(), np.zeros(1, np.bool_)
        after = play_moves(
            codes, np.array([from_move(move)], np.uint16), 0, 1, int(row[64 + CASTLING]), int(row[64 + CLOCK]), taken
        )
        origin, target, promotion = squares_of(from_move(move))
        piece, captured = int(row[origin] - 1) % 6 + 1, int(row[target])
        other = row[:64].copy()
        other[origin], other[target] = 0, row[origin] + (promotion - 1 if promotion else 0)
        emptied, filled = other_squares(piece, captured, origin, target)
        if filled >= 0:
            other[filled] = other[emptied]
        if emptied >= 0:
            other[emptied] = 0
        assert next_state(piece, captured, origin, target, int(row[64 + CASTLING]), int(row[64 + CLOCK])) == after
        double_step = board.piece_type_at(move.from_square) == chess.PAWN and abs(origin - target) == 16
        board.push(move)
        expected = encode_board(board)
        np.testing.assert_array_equal(codes, expected[:64])
        np.testing.assert_array_equal(other, expected[:64])
        assert after == (expected[64 + CASTLING], expected[64 + CLOCK], origin % 8 + 1 if double_step else 0)
        assert taken[0] == captures
