"""Names for games: of the whole one (64 bits, from its start, moves and result), of its first moves; and a set of such
names that grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import kernel

SHARED = 40
"""Games that share this many moves from the start are taken for near-duplicates: one game from two sources, say, with
another end or result. Where theory reaches as far, games of other players are taken for it too, which does no harm."""
_ALL = 1 << 62
_PRIME = np.uint64(0x9E3779B97F4A7C15)


@kernel
def _mix(value, word):  # type: ignore[no-untyped-def]
    value = (value ^ np.uint64(word)) * _PRIME
    return value ^ (value >> np.uint64(29))


@kernel
def _hash_games(moves, offsets, starts, standard, results, most, hashes):  # type: ignore[no-untyped-def]
    for game in range(hashes.shape[0]):
        count = min(offsets[game + 1] - offsets[game], most)
        value = np.uint64(results[game] + 2)
        if starts.shape[1] and not np.array_equal(starts[game], standard):
            for i in range(starts.shape[1]):
                value = _mix(value, starts[game, i])
        for i in range(offsets[game], offsets[game] + count):
            value = _mix(value, moves[i])
        value = _mix(value, count)
        hashes[game] = max(_mix(value, 0), np.uint64(1))  # 0 marks an empty place in the set


def hash_games(
    moves: NDArray[np.uint16],
    plies: NDArray[np.int32],
    starts: NDArray[np.uint8] | None,
    results: NDArray[np.int8],
    standard: NDArray[np.uint8],
) -> NDArray[np.uint64]:
    """One hash a game. Equal games (same start, moves and result) have equal ones; headers do not count.

    moves uint16 [sum of plies]; starts uint8 [games, width], None where all begin from the standard start; standard
    uint8 [width]: that start, which leaves no mark in the hash, so that it does not matter how it was said.
    """
    return _hashes(moves, plies, starts, results, standard, _ALL)


LONG_PLIES = 60
"""From so many moves on, equal moves and an equal result make a duplicate, however the players are spelled."""


def hash_names(hashes: NDArray[np.uint64], plies: NDArray[np.int32], names: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The hashes of games with those of their players and dates mixed in, for games under LONG_PLIES moves: short games
    of different people on different days often have the same moves. All arrays [n]."""
    mixed = (hashes ^ (names * np.uint64(0xBF58476D1CE4E5B9))) * _PRIME
    mixed = np.maximum(mixed ^ (mixed >> np.uint64(31)), np.uint64(1))
    return np.where(plies < LONG_PLIES, mixed, hashes)


def hash_openings(
    moves: NDArray[np.uint16], plies: NDArray[np.int32], starts: NDArray[np.uint8] | None, standard: NDArray[np.uint8]
) -> NDArray[np.uint64]:
    """One hash a game, of its start and its first SHARED moves, or of all where it has fewer; the result does not
    matter. Arguments as in `hash_games`."""
    return _hashes(moves, plies, starts, np.zeros(len(plies), np.int8), standard, SHARED)


def _hashes(
    moves: NDArray[np.uint16],
    plies: NDArray[np.int32],
    starts: NDArray[np.uint8] | None,
    results: NDArray[np.int8],
    standard: NDArray[np.uint8],
    most: int,
) -> NDArray[np.uint64]:
    offsets = np.concatenate(([0], np.cumsum(plies, dtype=np.int64)))
    hashes = np.empty(len(plies), np.uint64)
    if starts is None:
        starts = np.empty((len(plies), 0), np.uint8)
    _hash_games(moves, offsets, starts, standard, results, most, hashes)
    return hashes


@kernel
def _insert(slots, hashes, new):  # type: ignore[no-untyped-def]
    mask = np.uint64(slots.shape[0] - 1)
    added = 0
    for i in range(hashes.shape[0]):
        at = hashes[i] & mask
        while slots[at] != 0 and slots[at] != hashes[i]:
            at = (at + np.uint64(1)) & mask
        new[i] = slots[at] == 0
        if new[i]:
            slots[at] = hashes[i]
            added += 1
    return added


class HashSet:
    """A set of non-zero 64-bit hashes, 13 to 27 bytes each."""

    def __init__(self) -> None:
        self._slots = np.zeros(1 << 12, np.uint64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Add all; true where a hash was not there before (of equal ones, at the first)."""
        while (self._size + len(hashes)) * 5 > len(self._slots) * 3:
            old = self._slots[self._slots != 0]
            self._slots = np.zeros(len(self._slots) * 2, np.uint64)
            _insert(self._slots, old, np.empty(len(old), np.bool_))
        new = np.empty(len(hashes), np.bool_)
        self._size += _insert(self._slots, hashes, new)
        return new
