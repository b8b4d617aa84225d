"""The cache of evaluations, against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kibitz.play.puct import cache as caches
from kibitz.play.puct.cache import empty_cache, forget, recall
from support.inner_kernels import callable_kernel

remember = callable_kernel(caches.remember)
ROW = np.zeros(5, np.uint8)
entries = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 60)), max_size=300)


@given(entries)
def test_what_it_recalls_was_said_of_that_position(positions: list[tuple[int, int]]) -> None:
    cache = empty_cache(1)
    said = {}
    for i, (number, count) in enumerate(positions):
        key = np.uint64(number * 0x9E3779B97F4A7C15 % 2**64)
        priors = np.arange(i, i + count, dtype=np.float32)
        remember(cache, key, np.float32(i), priors, ROW)
        said[int(key)] = (float(i), priors.tolist())
        slot = recall(cache, key, count)
        assert slot >= 0, "the last one is known"
    for known, (value, priors) in said.items():
        slot = recall(cache, np.uint64(known), len(priors))
        if slot >= 0:
            at = cache.begins[slot] % len(cache.priors)
            assert cache.values[slot] == value
            assert cache.priors[at : at + len(priors)].tolist() == priors
        assert recall(cache, np.uint64(known), len(priors) + 1) < 0, "with other moves it is another position"
    assert recall(cache, np.uint64(12345), 3) < 0


def test_it_takes_no_more_than_it_may() -> None:
    for size in (100_000, 8_000_000):
        cache = empty_cache(size)
        assert size - 16 <= sum(array.nbytes for array in cache) <= size + 16
        assert len(cache.keys).bit_count() == 1, "slots are chosen by the last bits of a key"


def test_a_position_larger_than_the_cache_is_not_kept() -> None:
    cache = empty_cache(1)
    remember(cache, np.uint64(7), np.float32(0.5), np.ones(3000, np.float32), ROW)
    assert recall(cache, np.uint64(7), 3000) < 0


def test_the_tail_of_a_row_is_kept() -> None:
    cache = empty_cache(1, tail=2)
    remember(cache, np.uint64(7), np.float32(0.5), np.ones(3, np.float32), np.arange(9, dtype=np.uint8))
    assert cache.tails[recall(cache, np.uint64(7), 3)].tolist() == [7, 8]


def test_old_positions_give_way_to_new_ones() -> None:
    """Priors of 50 moves go round the ring more than twice; those that others were written over are not known."""
    cache = empty_cache(8000, usual=1)
    numbers = np.arange(1, 101, dtype=np.uint64)
    for number in numbers:
        remember(cache, number, np.float32(number), np.full(50, number, np.float32), ROW)
    slots = [recall(cache, number, 50) for number in numbers]
    held = len(cache.priors) // 50
    assert all(slot < 0 for slot in slots[:-held])
    known = [(int(number), slot) for number, slot in zip(numbers, slots, strict=True) if slot >= 0]
    assert len(known) == held
    for number, slot in known:
        begin = cache.begins[slot] % len(cache.priors)
        assert set(cache.priors[begin : begin + 50].tolist()) == {number}


def test_a_position_is_forgotten() -> None:
    cache = empty_cache(1)
    for key in (7, 8):
        remember(cache, np.uint64(key), np.float32(0.5), np.ones(3, np.float32), ROW)
    forget(cache, 7)
    assert recall(cache, np.uint64(7), 3) < 0 <= recall(cache, np.uint64(8), 3)
