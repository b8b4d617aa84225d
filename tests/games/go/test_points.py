"""Names of points, and the board's eight ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.games.go.points import GRID, PASS, SIZES, from_gtp, on_board, symmetries, to_gtp, to_sgf


def test_names() -> None:
    assert to_sgf(0) == "aa"
    assert to_sgf(18 * GRID + 3) == "ds"
    assert to_sgf(PASS) == ""
    assert to_gtp(3 * GRID + 15, 19) == "Q16"
    assert to_gtp(8 * GRID + 8, 9) == "J1"
    assert to_gtp(PASS, 9) == "pass"
    assert from_gtp("q16", 19) == 3 * GRID + 15
    assert from_gtp(" Pass ", 19) == PASS


@given(st.sampled_from(SIZES), st.integers(0, 18), st.integers(0, 18))
def test_there_and_back(size: int, row: int, column: int) -> None:
    point = row * GRID + column
    if on_board(point, size):
        assert from_gtp(to_gtp(point, size), size) == point
    else:
        assert row >= size or column >= size


@pytest.mark.parametrize("text", ["", "i5", "A0", "A20", "Z9", "5A", "D", "D٤", "A1000", "pas"])
def test_no_vertex(text: str) -> None:
    with pytest.raises(ValueError, match=r"vertex|board"):
        from_gtp(text, 19)


def test_not_on_a_small_board() -> None:
    with pytest.raises(ValueError, match="board of 9"):
        from_gtp("K1", 9)


@pytest.mark.parametrize("size", SIZES)
def test_symmetries_are_those_of_the_square(size: int) -> None:
    ways = symmetries(size)
    assert np.array_equal(ways[0], np.arange(361))
    assert len({tuple(way) for way in ways}) == 8
    outside = [point for point in range(361) if not on_board(point, size)]
    for way in ways:
        assert sorted(way) == list(range(361))
        assert (way[outside] == outside).all()
        inside = [point for point in range(361) if on_board(point, size)]
        for point in inside:  # neighbours stay neighbours
            for step in (1, GRID):
                if on_board(point + step, size) and (step == GRID or point % GRID < size - 1):
                    assert abs(int(way[point]) - int(way[point + step])) in (1, GRID)
