"""A cache of a network's evaluations of positions. The cache has a limited size, and stays from move to move of a game.

An evaluation consists of the value of a position and the priors (predicted probabilities) of its moves. The key of the
position (a 64-bit hash) determines the slot of the evaluation in a table. A new evaluation replaces an older one in the
same slot. The priors are in a ring buffer, in which new priors overwrite the oldest ones. Moves are not stored, because
a position's legal moves always have the same order.

The search encodes a position as a row of numbers. The last `tail` numbers of the row are further outputs of the
network, and the cache stores them too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import inner, kernel

_SLOT = 8 + 8 + 2 + 4


class EvaluationCache(NamedTuple):
    """The arrays of a cache of network evaluations. An entry is the evaluation of one position. It has a slot in the
    arrays, and its priors (move probabilities) are in a ring buffer.

    keys: uint64 [slots], the key (a 64-bit hash) of the position in each slot. The number of slots is a power of two.
    begins: int64 [slots], where the entry's priors begin in the ring; -1 if the slot is empty. This number counts all
        places that were used since the ring was empty. The index in `priors` is the number modulo `room`.
    counts: int16 [slots], the number of moves.
    values: float32 [slots], the value of the position.
    priors: float32 [room], the ring buffer.
    end: int64 [1], how many places of the ring have been used since the ring was empty.
    tails: uint8 [slots, tail], the last `tail` numbers of the position's row, which are network outputs (see
        search.SearchRules).
    """

    keys: NDArray[np.uint64]
    begins: NDArray[np.int64]
    counts: NDArray[np.int16]
    values: NDArray[np.float32]
    priors: NDArray[np.float32]
    end: NDArray[np.int64]
    tails: NDArray[np.uint8]


def empty_cache(size: int, usual: int = 32, tail: int = 0) -> EvaluationCache:
    """Return an empty cache of at most `size` bytes, but at least about 4 kB. It uses memory only as it fills.

    usual: the typical number of moves of a position. tail: how many numbers at the end of a position's row (its
    encoding in the search) are stored.
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
    """Return the slot in the cache that has the evaluation of a position; -1 if it is not in the cache. key: uint64,
    the position's key (a 64-bit hash). count: the number of its legal moves.
    """
    slot = np.int64(key & np.uint64(cache.keys.shape[0] - 1))
    begin = cache.begins[slot]
    if begin < 0 or cache.keys[slot] != key or cache.counts[slot] != count:
        return -1
    return slot if begin >= cache.end[0] - cache.priors.shape[0] else -1


@inner
def remember(cache, key, value, priors, row):  # type: ignore[no-untyped-def]
    """Store the evaluation of a position in the cache.

    key: uint64, the key (a 64-bit hash) of the position. value: float, for the side to move. priors: float32 [count],
    the probabilities of its moves. row: uint8 [width], the position, of which the tail (the last numbers, with network
    outputs) is stored.
    """
    count, room = priors.shape[0], cache.priors.shape[0]
    if count > room:
        return
    begin = cache.end[0]
    if begin % room + count > room:  # an entry must not wrap around the end of the ring
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
    """Empty the slot of the cache that can have the evaluation of the position with this key."""
    cache.begins[key & (len(cache.keys) - 1)] = -1
