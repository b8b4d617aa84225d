"""Positions of a test: all or an even sample, measured a batch at a time as if at once."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz.evaluation.batches import evaluate_in_batches, sample_indices
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store


def test_draw_takes_all_or_an_even_sample(small_store: Store) -> None:
    positions = Positions(small_store, np.arange(50))
    everything = np.arange(len(positions))
    for most in (0, len(positions), len(positions) + 1):
        assert np.array_equal(sample_indices(positions, most, 1), everything)
    some = sample_indices(positions, 1000, 1)
    assert len(np.unique(some)) == 1000
    assert (np.diff(some) > 0).all()
    assert np.array_equal(some, sample_indices(positions, 1000, 1))
    assert not np.array_equal(some, sample_indices(positions, 1000, 2))
    quarters = np.bincount(some * 4 // len(positions), minlength=4)
    assert (abs(quarters - 250) < 75).all(), "five standard deviations"


def test_gather_is_the_same_in_any_pieces(small_store: Store) -> None:
    positions = Positions(small_store, np.array([5, 3, 8]))
    numbers = sample_indices(positions, 0, 0)
    whole = positions.batch(numbers)
    heard: list[tuple[int, int]] = []

    def measure(batch: Batch) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
        return {"men": (batch.codes > 0).sum(1), "state": batch.state, "ply": batch.plies}

    found = evaluate_in_batches(positions, numbers, measure, lambda done, total: heard.append((done, total)), 7)
    assert np.array_equal(found["men"], (whole.codes > 0).sum(1))
    assert np.array_equal(found["state"], whole.state)
    assert np.array_equal(found["ply"], whole.plies)
    assert heard[0] == (7, len(numbers))
    assert heard[-1] == (len(numbers), len(numbers))
    with pytest.raises(ValueError, match="no positions"):
        evaluate_in_batches(positions, numbers[:0], measure)
