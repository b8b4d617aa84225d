from __future__ import annotations

import chess

from kibitz.arena.chess.openings import openings


def test_every_opening_is_legal_and_reaches_a_position_of_its_own() -> None:
    positions = set()
    for moves in openings():
        board = chess.Board()
        assert 4 <= len(moves) <= 8
        for move in moves:
            assert board.is_legal(move)
            board.push(move)
        positions.add(board.epd())
    assert len(positions) == len(openings()) >= 100
