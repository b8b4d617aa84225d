"""The positions of a test, and a network's predictions for them, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.store.positions import Batch, Positions, permutation

BATCH_SIZE = 4096
"""Number of positions that are replayed in one batch."""


def sample_indices(positions: Sized, limit: int, seed: int) -> NDArray[np.int64]:
    """Return the ascending indices of at most `limit` positions, sampled uniformly, int64 [n]. limit: 0 for all
    positions.
    """
    size = len(positions)
    if limit <= 0 or limit >= size:
        return np.arange(size, dtype=np.int64)
    return np.sort(permutation(size, seed, 0, 0, limit))


def evaluate_in_batches(
    positions: Positions,
    indices: NDArray[np.int64],
    measure: Callable[[Batch], Mapping[str, NDArray[Any]]],
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    batch_size: int = BATCH_SIZE,
) -> dict[str, NDArray[Any]]:
    """Call `measure` with batches of the positions at these indices. Returns each array that `measure` returns, by
    name, joined over all batches: [n, …], where n is the number of indices.

    The positions are made in batches of `batch_size`, to save memory. on_progress: called with the number of completed
    positions and the total.
    """
    if not len(indices):
        raise ValueError("there are no positions to evaluate")
    results: dict[str, NDArray[Any]] = {}
    for first in range(0, len(indices), batch_size):
        part = indices[first : first + batch_size]
        for name, values in measure(positions.batch(part)).items():
            if name not in results:
                results[name] = np.empty((len(indices), *values.shape[1:]), values.dtype)
            results[name][first : first + len(part)] = values
        on_progress(first + len(part), len(indices))
    return results
