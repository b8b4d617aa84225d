"""Numbers of positions, and the random order of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.store.positions import Positions, permutation
from kibitz.store.store import Store


@given(size=st.integers(1, 3000), seed=st.integers(0, 2**32), epoch=st.integers(0, 100), data=st.data())
def test_a_shuffle_is_a_permutation(size: int, seed: int, epoch: int, data: st.DataObject) -> None:
    """Each number once; and any piece of it is what the whole has there."""
    whole = permutation(size, seed, epoch, 0, size)
    np.testing.assert_array_equal(np.sort(whole), np.arange(size))
    first = data.draw(st.integers(0, size))
    count = data.draw(st.integers(0, size - first))
    np.testing.assert_array_equal(permutation(size, seed, epoch, first, count), whole[first : first + count])


def test_orders_differ_and_are_mixed() -> None:
    orders = [permutation(10_000, seed, epoch, 0, 10_000) for seed, epoch in ((0, 0), (0, 1), (1, 0))]
    for i, one in enumerate(orders):
        assert abs(np.corrcoef(one, np.arange(10_000))[0, 1]) < 0.05
        for other in orders[i + 1 :]:
            assert (one == other).mean() < 0.01


def shuffled_slowly(size: int, seed: int, epoch: int) -> list[int]:
    """The same permutation with the numbers of Python: Feistel's four rounds on half the bits, walked until inside."""
    key = int(np.random.SeedSequence((seed, epoch)).generate_state(1, np.uint64)[0])
    half = next(bits for bits in range(1, 33) if 1 << 2 * bits >= size)
    found = []
    for value in range(size):
        while True:
            left, right = value >> half, value & (1 << half) - 1
            for turn in range(4):
                word = (right + key + turn * 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9 % 2**64
                word = (word ^ word >> 31) * 0x94D049BB133111EB % 2**64
                left, right = right, left ^ word >> 40 & (1 << half) - 1
            value = left << half | right
            if value < size:
                break
        found.append(value)
    return found


@pytest.mark.parametrize("size", [1, 4, 5, 300])
def test_a_shuffle_stays_as_it_was(size: int) -> None:
    """A training that goes on with a later version sees its examples in the order that it began with."""
    assert permutation(size, 3, 2, 0, size).tolist() == shuffled_slowly(size, 3, 2)


def test_large_sizes() -> None:
    numbers = permutation(2**45 + 7, 3, 0, 2**45 - 1000, 1000)
    assert len(np.unique(numbers)) == 1000
    assert numbers.min() >= 0
    assert numbers.max() < 2**45 + 7


@pytest.mark.parametrize(("first", "count"), [(-1, 1), (0, 11), (10, 1), (5, -1)])
def test_places_that_are_not_there(first: int, count: int) -> None:
    with pytest.raises(ValueError, match="from 0 to 9"):
        permutation(10, 0, 0, first, count)


@given(
    games=st.lists(st.integers(0, 3000), max_size=12),
    first=st.integers(0, 60),
    last=st.integers(-60, 120),
)
def test_locate(bundled_store: Store, games: list[int], first: int, last: int) -> None:
    """Against a list of all pairs."""
    expected = []
    for game in games:
        plies = range(int(bundled_store.plies[game]) + 1)
        stop = len(plies) + last if last < 0 else last  # the last ply that belongs to it
        expected += [(game, ply) for ply in plies if first <= ply <= stop]
    positions = Positions(bundled_store, np.array(games, np.int64), first, last)
    assert len(positions) == len(expected)
    found = positions.locate(np.arange(len(positions)))
    assert list(zip(*(part.tolist() for part in found), strict=True)) == expected


@pytest.mark.parametrize("number", [-1, 10**9])
def test_numbers_that_are_not_there(bundled_store: Store, number: int) -> None:
    positions = Positions(bundled_store, np.arange(len(bundled_store)))
    assert len(positions) == bundled_store.info["positions"]
    with pytest.raises(IndexError, match=f"to {len(positions) - 1} .got {number} "):
        positions.locate(np.array([number]))


def test_a_batch_is_the_replayed_positions(bundled_store: Store) -> None:
    positions = Positions(bundled_store, np.arange(20), 1, -2)
    numbers = permutation(len(positions), 0, 0, 0, 50)
    batch = positions.batch(numbers)
    codes, state = bundled_store.replay(batch.games, batch.plies)
    np.testing.assert_array_equal(batch.codes, codes)
    np.testing.assert_array_equal(batch.state, state)
    assert len(batch) == 50
    assert (batch.plies >= 1).all()
    assert (batch.plies < bundled_store.plies[batch.games]).all()
