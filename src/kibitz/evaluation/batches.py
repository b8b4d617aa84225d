"""The positions of a test, and a network's answers to them, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.store.positions import Batch, Positions, permutation

BATCH = 4096
"""Positions replayed at once."""


def draw(positions: Sized, most: int, seed: int) -> NDArray[np.int64]:
    """Numbers of at most `most` positions (0: all), rising, each as likely as any other."""
    size = len(positions)
    if most <= 0 or most >= size:
        return np.arange(size, dtype=np.int64)
    return np.sort(permutation(size, seed, 0, 0, most))


def gather(
    positions: Positions,
    numbers: NDArray[np.int64],
    measure: Callable[[Batch], Mapping[str, NDArray[Any]]],
    tell: Callable[[int, int], None] = lambda done, total: None,
    together: int = BATCH,
) -> dict[str, NDArray[Any]]:
    """What `measure` gives for each position (arrays whose first axis is the position), over all of them.

    Codes live for one batch of `together` positions only. `tell` hears how many of how many positions are done.
    """
    if not len(numbers):
        raise ValueError("no positions to measure")
    found: dict[str, NDArray[Any]] = {}
    for first in range(0, len(numbers), together):
        part = numbers[first : first + together]
        for name, values in measure(positions.batch(part)).items():
            if name not in found:
                found[name] = np.empty((len(numbers), *values.shape[1:]), values.dtype)
            found[name][first : first + len(part)] = values
        tell(first + len(part), len(numbers))
    return found
