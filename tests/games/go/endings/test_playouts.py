"""Random playouts: deterministic, symmetrical, and right about who lives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.games.go.endings.playouts import black_share, black_shares
from kibitz.games.go.points import GRID, POINTS
from kibitz.games.go.replay import encode_board
from kibitz.games.go.rules import Board
from support import go_diagrams as diagrams
from support import go_oracle as oracle


def test_equal_seeds_give_equal_shares_and_others_do_not() -> None:
    board = diagrams.colours(diagrams.DAME)
    first = black_share(board, playouts=50, seed=7)
    assert np.array_equal(first, black_share(board, playouts=50, seed=7))
    assert not np.array_equal(first, black_share(board, playouts=50, seed=8))


def test_two_eyes_live_in_every_playout() -> None:
    alive = diagrams.colours(".X.XO....\nXXXXO....\nOOOOO....\n" + ".........\n" * 6)
    share = black_share(alive, playouts=100).reshape(GRID, GRID)
    assert (share[0, :4] == 1).all()
    assert (share[1, :4] == 1).all()


def test_a_stone_without_eyes_dies_and_the_wall_lives() -> None:
    share = black_share(diagrams.colours(diagrams.DEAD), playouts=400).reshape(GRID, GRID)
    assert share[4, 1] > 0.6
    assert (share[:9, 3] > 0.6).all()
    assert (share[:9, 4] < 0.4).all()


def test_outside_the_board_is_a_half() -> None:
    share = black_share(diagrams.colours(diagrams.PLAIN), playouts=10).reshape(GRID, GRID)
    assert (share[9:] == 0.5).all()
    assert (share[:, 9:] == 0.5).all()


def test_colours_and_sides_are_alike() -> None:
    """On an empty board the side that begins has a little more, whichever it is."""
    empty = np.zeros(POINTS, np.uint8)
    black, white = (black_share(empty, side, playouts=1000, seed=3).mean() for side in (0, 1))
    assert 0.5 < black < 0.53
    assert black == pytest.approx(1 - white, abs=0.01)


def test_a_ko_may_not_be_taken_back_at_once() -> None:
    """White to move has one legal point that is no eye; it is the ko, so White passes and Black fills it."""
    board = Board(9)
    for colour, places in ((1, ((0, 1), (1, 0), (2, 1), (1, 2))), (2, ((0, 2), (2, 2), (1, 3)))):
        for row, column in places:
            if (row, column) != (1, 2):
                board.put(colour, row * GRID + column)
    board.put(2, 1 * GRID + 1)
    board.play(1, 1 * GRID + 2)
    assert board.ko == 1 * GRID + 1
    codes, state = encode_board(board)
    with_ko = black_shares(codes[None], state[None], playouts=200, seed=5)[0]
    without = black_share(board.colours(), 1, playouts=200, seed=5)
    assert np.array_equal(with_ko, black_share(board.colours(), 1, 200, 5, board.ko))
    assert not np.array_equal(with_ko, without)


@given(st.integers(0, 10_000))
def test_any_position_ends(seed: int) -> None:
    slow = oracle.boards.Board(9)
    for i, point in enumerate(oracle.random_game(9, 60, seed)):
        oracle.play(slow, 1 + i % 2, point)
    share = black_share(oracle.colours(slow), playouts=5, seed=seed)
    assert share.min() >= 0
    assert share.max() <= 1
