"""The positions of many games of a store as one long list, and a random order of this list that needs no memory.

A position is the pair (game, ply): the game's index in the store, and the number of moves before the position. The
class `Positions` numbers the positions of some games from 0 on; these numbers are the ids of the positions. The order
of a shuffled pass is computed when it is needed: batch k of epoch e depends only on (seed, e, k), so training can
resume at any batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import kernel
from kibitz.store.store import Store

_APART = 64


@dataclass(frozen=True)
class Batch:
    """Some positions of games as arrays (see `kibitz.PositionArrays` for the encoding).

    codes: uint8 [n, squares], the piece or stone on each square or point.
    state: uint8 [n, 4], the rest of the position, such as the side to move.
    games, plies: int64 [n], the game of each position, as an index in the store, and the number of moves before the
        position.
    """

    codes: NDArray[np.uint8]
    state: NDArray[np.uint8]
    games: NDArray[np.int64]
    plies: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.games)


class Positions:
    """A numbered list of the positions from ply `first` to ply `last` of some games of a store. The numbers of the
    positions, their ids, are 0 to len - 1.

    games: int64 [n], indices in the store. A negative `last` counts from the end: -1 is the position after the last
    move, and -2 is the position in which the last move was played. The default is all positions of the games. Games
    that are too short for the range have no positions.
    """

    def __init__(self, store: Store, games: NDArray[np.int64], first: int = 0, last: int = -1):
        self.store = store
        self.games = np.ascontiguousarray(games, np.int64)
        self.first = first
        positions = store.plies[self.games] + 1
        stop = positions + last + 1 if last < 0 else np.minimum(positions, last + 1)
        counts = np.maximum(stop - first, 0)
        self._present = self.games[counts > 0]
        self._ends = np.cumsum(counts[counts > 0], dtype=np.int64)
        # The index of the game for every 64th position. A search that begins in this table needs about one access to
        # memory instead of twenty.
        self._marks = np.searchsorted(self._ends, np.arange(0, len(self), _APART), side="right")

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def locate(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the games (indices in the store) and the plies of the positions with these ids, both int64 [n]. An id
        is the number of a position in this list. A ply is the number of moves before the position.

        ids: int64 [n], from 0 to the length of the list - 1. Raises IndexError for other ids.
        """
        ids = np.ascontiguousarray(ids, np.int64)
        if ids.size and not 0 <= ids.min() <= ids.max() < len(self):
            raise IndexError(f"position ids must be from 0 to {len(self) - 1} (got {ids.min()} to {ids.max()})")
        games, plies = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
        _locate(self._marks, self._ends, self._present, self.first, ids, games, plies)
        return games, plies

    def find(self, games: NDArray[np.int64], plies: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids (numbers in this list) of the positions after `plies[i]` moves of the games `games[i]`, int64
        [n]; −1 for a position that is not in this list.

        games, plies: int64 [n], in any order. The games in this list must be in ascending order and without duplicates.
        """
        if not len(self._present):
            return np.full(len(games), -1, np.int64)
        at = np.minimum(np.searchsorted(self._present, games), len(self._present) - 1)
        begins = np.concatenate([[0], self._ends[:-1]])
        ids = begins[at] + plies - self.first
        inside = (self._present[at] == games) & (plies >= self.first) & (ids < self._ends[at])
        return np.where(inside, ids, -1)

    def batch(self, ids: NDArray[np.int64]) -> Batch:
        """Return the positions with these ids as arrays. ids: int64 [n], the numbers of positions in this list, from 0
        to its length - 1.
        """
        games, plies = self.locate(ids)
        codes, state = self.store.replay(games, plies)
        return Batch(codes, state, games, plies)


@kernel
def _locate(marks, ends, present, first, ids, games, plies):  # type: ignore[no-untyped-def]
    """Write the game and the ply of each position id.

    marks: int64 [positions / 64], the index of the game of every 64th position. ends: int64 [games], the cumulated
    number of positions. present: int64 [games], the games' numbers in the store. first: the first ply of each game.
    ids: int64 [n]. Outputs: games and plies, int64 [n].
    """
    for i in range(ids.shape[0]):
        index = marks[ids[i] // _APART]
        while ends[index] <= ids[i]:
            index += 1
        games[i] = present[index]
        plies[i] = ids[i] + first
        if index > 0:
            plies[i] -= ends[index - 1]


@kernel
def _shuffled(size, key, first, ids):  # type: ignore[no-untyped-def]
    """Write entries of a permutation of 0 to size - 1 to ids, int64 [n], beginning with entry `first`. key: uint64,
    selects the permutation.
    """
    half = np.uint64(1)
    while (np.uint64(1) << (half * np.uint64(2))) < size:
        half += np.uint64(1)
    mask = (np.uint64(1) << half) - np.uint64(1)
    for i in range(ids.shape[0]):
        value = np.uint64(first + i)
        # this permutes the numbers below a power of four, which is at least `size`, until the result is below `size`
        while True:
            left, right = value >> half, value & mask
            for turn in range(4):
                word = (right + key + np.uint64(turn) * np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
                word = (word ^ (word >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
                left, right = right, left ^ (word >> np.uint64(40)) & mask
            value = left << half | right
            if value < size:
                break
        ids[i] = value


def permutation(size: int, seed: int, epoch: int, first: int, count: int) -> NDArray[np.int64]:
    """Return a part of a random permutation of 0 to `size` - 1, int64 [count]: the entries `first` to `first + count -
    1`. Seed and epoch determine the permutation.

    Only the requested entries are computed, by a Feistel network of four rounds with cycle walking. size: at most 2^46.
    Raises ValueError for entries outside the permutation.
    """
    if not 0 <= first <= first + count <= size:
        raise ValueError(
            f"entries of the permutation must be from 0 to {size - 1} (got {first} to {first + count - 1})"
        )
    key = np.random.SeedSequence((seed, epoch)).generate_state(1, np.uint64)[0]
    ids = np.empty(count, np.int64)
    _shuffled(np.uint64(size), key, first, ids)
    return ids
