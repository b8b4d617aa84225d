"""Make pseudo-random 64-bit numbers, from which the keys (hashes) of positions are computed. Indexes on disk contain
these keys, so the numbers are the same on every machine and with every version of NumPy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NO_MOVE = 65535
"""The value in place of a move for the last position of a game."""


def random_words(count: int, seed: int) -> NDArray[np.uint64]:
    """Return pseudo-random 64-bit numbers, uint64 [count], from the generator SplitMix64."""
    with np.errstate(over="ignore"):
        value = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        words: NDArray[np.uint64] = value ^ value >> np.uint64(31)
    return words
