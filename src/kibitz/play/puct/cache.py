"""What the network said of positions, by key: bounded, and kept from move to move of a game.

Entries lie in a ring of priors, the oldest of which are overwritten, and are found by a table with one slot for a key.
Moves are not stored: a position's legal moves always come in the same order. Beside the value an entry keeps what else
the network said of the position: the last `tail` numbers of its row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import kernel

_SLOT = 8 + 8 + 2 + 4


class EvaluationCache(NamedTuple):
    """keys uint64 [slots], a power of two; begins int64 [slots]: where an entry's priors begin, counted over all
    rounds of the ring, -1 without one; counts int16: how many; values float32; priors float32 [room]; end int64 [1]:
    where the next entry begins; tails uint8 [slots, tail]."""

    keys: NDArray[np.uint64]
    begins: NDArray[np.int64]
    counts: NDArray[np.int16]
    values: NDArray[np.float32]
    priors: NDArray[np.float32]
    end: NDArray[np.int64]
    tails: NDArray[np.uint8]


def empty_cache(size: int, usual: int = 32, tail: int = 0) -> EvaluationCache:
    """A cache of at most so many bytes (for less than 4 kB: of about 4 kB). Memory is taken as it fills.

    usual: moves of a position, about; tail: numbers of a row that are kept.
    """
    slots, slot = 16, _SLOT + tail
    while 2 * slots * (slot + 4 * usual) <= size:
        slots *= 2
    room = max(2048, (size - slots * slot) // 4)
    return EvaluationCache(
        np.zeros(slots, np.uint64), np.full(slots, -1, np.int64), np.zeros(slots, np.int16),
        np.zeros(slots, np.float32), np.zeros(room, np.float32), np.zeros(1, np.int64),
        np.zeros((slots, tail), np.uint8),
    )  # fmt: skip


@kernel
def recall(cache, key, count):  # type: ignore[no-untyped-def]
    """The slot of a position with this key and so many moves, -1 where it is not known (any more)."""
    slot = np.int64(key & np.uint64(cache.keys.shape[0] - 1))
    begin = cache.begins[slot]
    if begin < 0 or cache.keys[slot] != key or cache.counts[slot] != count:
        return -1
    return slot if begin >= cache.end[0] - cache.priors.shape[0] else -1


@kernel
def remember(cache, key, value, priors, row):  # type: ignore[no-untyped-def]
    """Keep a position's value, the priors of its moves, and the tail of its row."""
    count, room = priors.shape[0], cache.priors.shape[0]
    if count > room:
        return
    begin = cache.end[0]
    if begin % room + count > room:  # an entry lies in one piece
        begin += room - begin % room
    slot = np.int64(key & np.uint64(cache.keys.shape[0] - 1))
    cache.keys[slot], cache.begins[slot], cache.counts[slot], cache.values[slot] = key, begin, count, value
    for i in range(count):
        cache.priors[begin % room + i] = priors[i]
    tail = cache.tails.shape[1]
    for i in range(tail):
        cache.tails[slot, i] = row[row.shape[0] - tail + i]
    cache.end[0] = begin + count


def forget(cache: EvaluationCache, key: int) -> None:
    """Do not keep what is known of a position."""
    cache.begins[key & (len(cache.keys) - 1)] = -1
