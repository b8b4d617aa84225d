from __future__ import annotations

import numpy as np
import pytest

from kibitz.arena.go.openings import openings
from kibitz.games.go.points import GRID, SIZES, symmetries
from kibitz.games.go.rules import Board


@pytest.mark.parametrize("size", SIZES)
def test_every_opening_is_legal_and_no_two_are_the_same_turned_or_mirrored(size: int) -> None:
    turns = [np.argsort(turn) for turn in symmetries(size)]
    seen = set()
    for moves in openings(size):
        board = Board(size, superko=True)
        assert len(moves) == (2 if size == 9 else 4)
        for point in moves:
            board.play(board.to_move, point)
        seen.add(min(_stones([int(turn[point]) for point in moves]) for turn in turns))
    assert len(seen) == len(openings(size)) > {9: 40, 13: 200, 19: 3000}[size]


@pytest.mark.parametrize("size", SIZES)
def test_black_begins_in_the_upper_right_corner(size: int) -> None:
    middle = size // 2
    for row, column in {divmod(first, GRID) for first, *_ in openings(size)} - {(middle, middle)}:
        assert row <= middle <= column
        assert row < column


def _stones(moves: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(sorted(moves[0::2])), tuple(sorted(moves[1::2]))
