"""Sample the positions of a test, and compute values for them in batches, to save memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.store.positions import Batch, Positions, permutation

BATCH_SIZE = 4096
"""The number of positions that are computed from the moves of the games in one batch."""


def sample_indices(positions: Sized, limit: int, seed: int) -> NDArray[np.int64]:
    """Return the indices of a uniform sample of the positions, ascending, int64 [n].

    positions: the positions, of which only the number is used. limit: the largest number of indices; 0 for all
    positions. seed: the random seed.
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
    """Call `measure` with batches of positions, and join the arrays of all batches. Return a dict with the same keys as
    the dicts that `measure` returns. Its values are the joined arrays, [n, …], where n is the number of indices.

    positions: the list that contains the positions.
    indices: int64 [n], the positions to use.
    measure: a function that computes a dict of arrays, [k, …], for a batch of k positions.
    on_progress: a function that is called with the number of completed positions and the total.
    batch_size: the number of positions in a batch, which limits the memory.

    Raises ValueError if there are no indices.
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
