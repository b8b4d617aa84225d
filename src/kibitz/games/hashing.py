"""Hashes of games, by which kibitz finds duplicates, and a set of hashes that can grow.

One kind of hash depends on the start position, all moves and the result. The other kind depends on the start position
and the first moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import inner, kernel

SHARED = 40
"""Two games are near-duplicates if they have the same start position and the same first SHARED moves.

For example, two sources may have the same game with different last moves or results. Games of different players also
count as near-duplicates if their opening is the same for so long, which does no harm.
"""
_ALL = 1 << 62
_PRIME = np.uint64(0x9E3779B97F4A7C15)


@inner
def _mix(value, word):  # type: ignore[no-untyped-def]
    """Return the hash `value` (uint64) combined with one more number."""
    value = (value ^ np.uint64(word)) * _PRIME
    return value ^ (value >> np.uint64(29))


@kernel
def _hash_games(moves, offsets, starts, standard, results, most, hashes):  # type: ignore[no-untyped-def]
    """Write a hash of each game to `hashes`, uint64 [games].

    moves: uint16. offsets: int64 [games + 1]. starts: uint8 [games, width], width 0 if all are standard. standard:
    uint8 [width]. results: int8 [games]. most: the number of moves to include.
    """
    for game in range(hashes.shape[0]):
        count = min(offsets[game + 1] - offsets[game], most)
        value = np.uint64(results[game] + 2)
        if starts.shape[1] and not np.array_equal(starts[game], standard):
            for i in range(starts.shape[1]):
                value = _mix(value, starts[game, i])
        for i in range(offsets[game], offsets[game] + count):
            value = _mix(value, moves[i])
        value = _mix(value, count)
        hashes[game] = max(_mix(value, 0), np.uint64(1))  # 0 marks an empty slot of the set


def hash_games(
    moves: NDArray[np.uint16],
    plies: NDArray[np.int32],
    starts: NDArray[np.uint8] | None,
    results: NDArray[np.int8],
    standard: NDArray[np.uint8],
) -> NDArray[np.uint64]:
    """Return one hash per game, uint64 [games]. Games with the same start position, moves and result have equal hashes.

    moves: uint16 [sum of plies], the moves of all games, one game after the other.
    plies: int32 [games], the number of moves of each game.
    starts: uint8 [games, width], the start positions; None if all games begin from the standard start position.
    results: int8 [games], the results.
    standard: uint8 [width], the standard start position. A game that begins from this position has the same hash as a
        game whose record has no start position.

    The headers of a game record, such as the players' names, do not change the hash.
    """
    return _hashes(moves, plies, starts, results, standard, _ALL)


LONG_PLIES = 60
"""Games with at least this number of moves are duplicates if their moves and results are equal, whatever the players'
names are.
"""


def hash_names(hashes: NDArray[np.uint64], plies: NDArray[np.int32], names: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the final hashes of games, uint64 [n]. The hash of a short game is combined with a hash of its players and
    date, because short games of different people often have the same moves. The hash of a long game stays the same.

    A short game has fewer than 60 plies (LONG_PLIES). hashes: uint64 [n], from `hash_games`. plies: int32 [n], the
    number of moves of each game. names: uint64 [n], the hashes of players and dates.
    """
    mixed = (hashes ^ (names * np.uint64(0xBF58476D1CE4E5B9))) * _PRIME
    mixed = np.maximum(mixed ^ (mixed >> np.uint64(31)), np.uint64(1))
    return np.where(plies < LONG_PLIES, mixed, hashes)


def hash_openings(
    moves: NDArray[np.uint16], plies: NDArray[np.int32], starts: NDArray[np.uint8] | None, standard: NDArray[np.uint8]
) -> NDArray[np.uint64]:
    """Return one hash per game, uint64 [games], of its start position and its first SHARED (40) moves. The result of
    the game has no effect.

    The arguments are those of `hash_games`: the moves of all games, the number of moves of each game, the start
    positions, and the standard start position.
    """
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
    """Add hashes (uint64 [n], not 0) to `slots`, and return the number of new hashes.

    slots: uint64, whose length is a power of two; 0 for an empty slot. new: bool [n], an output: whether each hash is
    new.
    """
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
    """A growing set of 64-bit hashes other than 0. It uses 13 to 27 bytes of memory per hash."""

    def __init__(self) -> None:
        self._slots = np.zeros(1 << 12, np.uint64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Add hashes to the set. Returns for each hash whether it was not in the set before, bool [n]. If a new hash
        occurs several times in `hashes`, only its first occurrence counts as new.

        hashes: uint64 [n], not 0.
        """
        while (self._size + len(hashes)) * 5 > len(self._slots) * 3:
            old = self._slots[self._slots != 0]
            self._slots = np.zeros(len(self._slots) * 2, np.uint64)
            _insert(self._slots, old, np.empty(len(old), np.bool_))
        new = np.empty(len(hashes), np.bool_)
        self._size += _insert(self._slots, hashes, new)
        return new
