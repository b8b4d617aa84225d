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
    """Return ascending indices of at most `limit` positions (0 for all), sampled uniformly, int64 [n]."""
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
    """Apply `measure` to the positions of these indices, batch by batch. Returns the arrays of all batches by name,
    joined along the first axis, which is the position: each array is [n, …].

    Codes exist only for one batch of `batch_size` positions at a time. `on_progress` is called with the number of
    completed positions and the total.
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
