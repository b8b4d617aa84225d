from __future__ import annotations

import chess

from kibitz.arena.openings import opening_of, openings


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


def test_openings_come_in_pairs_in_the_order_of_the_seed() -> None:
    count = len(openings())
    order = [opening_of(game, 3) for game in range(4 * count)]
    assert order[0::2] == order[1::2]
    assert sorted(order[0 : 2 * count : 2]) == list(range(count))
    assert sorted(order[2 * count :: 2]) == list(range(count))
    assert order != [opening_of(game, 4) for game in range(4 * count)]
