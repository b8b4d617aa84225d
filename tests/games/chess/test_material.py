from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from kibitz.games.chess.material import (
    CODE_VALUES,
    ENDGAME_UP_TO,
    MAX_PIECES_INSUFFICIENT,
    OPENING_OVER,
    PIECE_VALUES,
    insufficient_material,
    phase,
)
from kibitz.games.chess.replay import encode_board


def board_of(pieces: str, rng: random.Random) -> chess.Board:
    board = chess.Board.empty()
    for square, symbol in zip(rng.sample(range(8, 56), len(pieces)), pieces, strict=True):
        board.set_piece_at(square, chess.Piece.from_symbol(symbol))
    return board


@pytest.mark.parametrize(
    "pieces", ["", "N", "b", "Nn", "NB", "Bb", "BBB", "bbBB", "P", "q", "R", "NN", "NNB", "NnBb", "BBBBBbbbbb"]
)
def test_insufficient_material_is_that_of_python_chess(pieces: str) -> None:
    rng = random.Random(len(pieces))
    for _ in range(300):
        board = board_of("Kk" + pieces, rng)
        insufficient = bool(insufficient_material(encode_board(board)[:64]))
        assert insufficient == board.is_insufficient_material()
    assert len(pieces) + 2 <= MAX_PIECES_INSUFFICIENT


def test_values_of_codes_are_those_of_pieces_with_the_sign_of_the_side() -> None:
    for code in range(1, 13):
        assert CODE_VALUES[code] == PIECE_VALUES[(code - 1) % 6 + 1] * (1 if code <= 6 else -1)
    assert CODE_VALUES[encode_board(chess.Board("4k3/8/8/8/8/8/PPP5/QR2K3 w - - 0 1"))[:64]].sum(dtype=np.int64) == 17


@pytest.mark.parametrize("officers", range(15))
def test_phase_counts_officers_of_both_sides(officers: int) -> None:
    board = board_of("KkPPpp" + "NbRqnBrQNbRqnB"[:officers], random.Random(officers))
    expected = 0 if officers > OPENING_OVER else 1 if officers > ENDGAME_UP_TO else 2
    assert phase(encode_board(board)[None, :64]).tolist() == [expected]
