"""What is counted of predictions for points: a case by hand, and a slow loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz.evaluation.owners.points import BINS, KINDS, LINES, count_points, nearest_stone
from kibitz.games.go.points import GRID, POINTS
from kibitz.games.go.rules import CELL, COLOUR, empty_board
from support.examples import share


def empty(size: int) -> np.ndarray:
    return np.asarray(empty_board(size)[COLOUR, CELL], np.uint8)


def test_four_points_by_hand() -> None:
    colours = empty(9)
    colours[[0, 20]] = 1, 2  # Black in the corner, White on the second line
    owners = np.zeros(POINTS, np.uint8)
    owners[[0, 20, 40, 80]] = 1, 1, 2, 2
    chance = np.full(POINTS, 0.5, np.float32)
    chance[[0, 20, 40, 80]] = 0.95, 0.05, 0.25, 0.5  # right, surely wrong, right, half right
    chance[81:90] = 1.0  # a row below the smaller board's points, some of them outside
    sums = count_points(chance[None], owners[None], colours[None], np.array([9], np.uint8))
    one = {name: values[0] for name, values in sums.items()}
    assert one["known"] == 4
    assert one["right"] == 2.5
    assert one["squared"] == pytest.approx(0.05**2 + 0.95**2 + 0.25**2 + 0.5**2)
    assert one["surely_wrong"] == 1
    inside = [p for p in range(81, 90) if p % GRID < 9]
    assert one["score"] == pytest.approx(0.9 - 0.9 - 0.5 + 0 + len(inside))
    assert {i: int(n) for i, n in enumerate(one["counts"]) if n} == {0: 1, 2: 1, 5: 1, 9: 1}
    assert {i: int(n) for i, n in enumerate(one["black"]) if n} == {0: 1, 9: 1}
    assert one["predicted"][9] == pytest.approx(0.95)
    # 40 is row 2, column 2: the third line; 80 is row 4, column 4: the centre of a board of 9
    assert {i: int(n) for i, n in enumerate(one["line_known"]) if n} == {0: 1, 1: 1, 2: 1, 4: 1}
    assert one["line_right"].tolist() == [1, 0, 1, 0, 0.5, 0, 0, 0, 0, 0]
    assert one["kind_known"].tolist() == [1, 1, 2]
    assert one["kind_right"].tolist() == [1, 0, 1.5]


@given(st.integers(0, 10_000), st.sampled_from([9, 13, 19]))
@settings(max_examples=share(0.5))
def test_sums_agree_with_each_other(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    board = np.tile(empty(size), (3, 1))
    colours = np.where(board == 0, rng.integers(0, 3, board.shape), board).astype(np.uint8)
    owners = np.where(board == 0, rng.integers(0, 3, board.shape), 0).astype(np.uint8)
    chance = rng.random(board.shape).astype(np.float32)
    sums = count_points(chance, owners, colours, np.full(3, size, np.uint8))
    known = owners > 0
    right = ((chance > 0.5) == (owners == 1)) & known
    assert sums["known"].tolist() == known.sum(1).tolist()
    assert sums["right"].tolist() == right.sum(1).tolist()
    for kind in ("line", "kind"):
        assert sums[f"{kind}_known"].sum(1).tolist() == known.sum(1).tolist()
        assert sums[f"{kind}_right"].sum(1).tolist() == right.sum(1).tolist()
    assert sums["counts"].shape == (3, BINS)
    assert sums["counts"].sum(1).tolist() == known.sum(1).tolist()
    assert sums["black"].sum(1).tolist() == (owners == 1).sum(1).tolist()
    assert sums["predicted"].sum(1) == pytest.approx((chance * known).sum(1), rel=1e-4)
    assert sums["score"] == pytest.approx(((2 * chance - 1) * (board == 0)).sum(1), abs=1e-3)
    assert sums["line_known"].shape == (3, LINES)
    assert sums["kind_known"].shape == (3, len(KINDS))


@given(st.integers(0, 10_000), st.sampled_from([9, 13, 19]), st.integers(0, 12))
@settings(max_examples=share(0.5))
def test_nearest_stone_is_the_slow_one(seed: int, size: int, stones: int) -> None:
    rng = np.random.default_rng(seed)
    colours = empty(size)
    inside = np.flatnonzero(colours == 0)
    colours[rng.choice(inside, stones, replace=False)] = rng.integers(1, 3, stones)
    found = nearest_stone(colours[None])[0]

    def away(point: int, colour: int) -> int:
        there = np.flatnonzero(colours == colour)
        row, column = divmod(point, GRID)
        return min((abs(int(s) // GRID - row) + abs(int(s) % GRID - column) for s in there), default=99)

    for point in range(POINTS):
        black, white = away(point, 1), away(point, 2)
        if colours[point] == 3 or black == white:
            assert found[point] == 0.5
        else:
            assert found[point] == (black < white)
