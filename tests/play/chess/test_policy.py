from __future__ import annotations

import chess
import numpy as np
import pytest

from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import encode_board
from kibitz.play.chess.policy import move_probabilities, normalised
from support.chess_fakes import Fake

FENS = [
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
    "8/P6k/8/8/8/8/p6K/8 w - - 0 1",
    "8/P6k/8/8/8/8/p6K/8 b - - 0 1",
]


def positions() -> tuple[np.ndarray, np.ndarray]:
    rows = np.stack([encode_board(chess.Board(fen)) for fen in FENS])
    return np.ascontiguousarray(rows[:, :64]), np.ascontiguousarray(rows[:, 64:])


@pytest.mark.parametrize("rows", ["square", "piece"])
def test_each_move_has_its_pair_s_probability(rows: str) -> None:
    codes, state = positions()
    answers = Fake(rows).evaluate(codes, state)
    moves, offsets = legal_moves(codes, state)
    found = move_probabilities(answers, codes, moves, offsets)
    assert found.dtype == np.float32
    assert found.shape == moves.shape
    for i, fen in enumerate(FENS):
        board = chess.Board(fen)
        for at in range(offsets[i], offsets[i + 1]):
            move = chess.Move(int(moves[at]) & 63, int(moves[at]) >> 6 & 63, int(moves[at]) >> 12 or None)
            assert move in board.legal_moves
            asked = move.from_square if rows == "square" else board.piece_type_at(move.from_square) - 1
            pair = answers["origin"][i, move.from_square] * answers["target"][i, asked, move.to_square]
            assert found[at] == (0 if move.promotion in (2, 3, 4) else pytest.approx(pair))


def test_a_promotion_has_its_part_of_the_pair() -> None:
    """Where a network says what a pawn on each file becomes; other moves have all of their pair."""
    codes, state = positions()
    answers = Fake("square").evaluate(codes, state)
    moves, offsets = legal_moves(codes, state)
    files = np.arange(len(FENS) * 32, dtype=np.float32).reshape(len(FENS), 8, 4) / 100
    found = move_probabilities({**answers, "promotion": files}, codes, moves, offsets)
    assert found.dtype == np.float32
    promotions = 0
    for at, move in enumerate(map(to_move, moves.tolist())):
        i = int(np.searchsorted(offsets, at, "right")) - 1
        pair = answers["origin"][i, move.from_square] * answers["target"][i, move.from_square, move.to_square]
        part = files[i, move.to_square % 8, move.promotion - chess.KNIGHT] if move.promotion else 1.0
        assert found[at] == pytest.approx(pair * part)
        promotions += bool(move.promotion)
    assert promotions >= 8


def test_normalised_sums_to_one_and_survives_nothing() -> None:
    offsets = np.array([0, 2, 5])
    shares = normalised(np.array([0.1, 0.3, 0, 0, 0], np.float32), offsets)
    np.testing.assert_allclose(shares, [0.25, 0.75, 1 / 3, 1 / 3, 1 / 3])
    assert normalised(np.zeros(0, np.float32), np.zeros(1, np.int64)).shape == (0,)


def test_what_is_no_number_counts_as_nothing() -> None:
    codes, state = positions()
    answers = Fake().evaluate(codes, state)
    answers["origin"][:] = np.nan
    moves, offsets = legal_moves(codes, state)
    assert not move_probabilities(answers, codes, moves, offsets).any()
