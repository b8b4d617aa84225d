"""A fixed sample of positions: a number of each game, drawn from the plies that qualify.

The draw of a game depends on its hash and the seed alone, not on the store it lies in or the games beside it. A share
of all plies may be held out in the same way, for a test on other positions of the very games that were learned from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import kernel
from kibitz.store.store import Store


@dataclass(frozen=True)
class Sample:
    """Drawn positions, by game and ply: games int64 [n], plies int64 [n], in the order of the games given."""

    games: NDArray[np.int64]
    plies: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.games)


def sample_positions(
    store: Store,
    games: NDArray[np.int64],
    each: int,
    *,
    first: int = 0,
    exclude: NDArray[np.bool_] | None = None,
    share: float = 0.0,
    held_out: bool = False,
    seed: int = 0,
) -> Sample:
    """At most `each` positions of every game, without repetition; 0 takes all that qualify.

    first: the first ply that may be drawn; the last is the one after the last move. exclude: bool per move of the
    store; positions reached by such a move are never sampled. share: percent of the plies held out; held_out: draw from
    these, or from the others. Sorted by game and ply.
    """
    games = np.ascontiguousarray(games, np.int64)
    hashes = store.column("hash")[games].astype(np.uint64)
    most = (np.minimum(store.plies[games] + 1, each) if each else store.plies[games] + 1).sum()
    sampled, plies = np.empty(most, np.int64), np.empty(most, np.int64)
    none = exclude if exclude is not None else np.zeros(0, np.bool_)
    limit = np.uint64(round(share * 100))
    count = _draw(store.offsets, games, hashes, each, first, none, limit, held_out, np.uint64(seed), sampled, plies)
    return Sample(sampled[:count].copy(), plies[:count].copy())


def whole_times(times: NDArray[np.float64], hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How often each game counts, int64 [n]: `times` rounded down or up, by a chance that follows from its hash, so
    that it is right on average."""
    chance = (splitmix64(hashes.astype(np.uint64)) >> np.uint64(40)) / 2.0**24
    return np.floor(times + chance).astype(np.int64)


def splitmix64(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Random bits for each word, uint64 [n]: the same word gives the same bits."""
    return _all_mixed(np.ascontiguousarray(words, np.uint64))  # type: ignore[no-any-return]


@kernel
def _mixed(word):  # type: ignore[no-untyped-def]
    """SplitMix64's finish: 64 bits of which each depends on all of the word."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def _all_mixed(words):  # type: ignore[no-untyped-def]
    bits = np.empty_like(words)
    for i in range(words.shape[0]):
        bits[i] = _mixed((words[i] + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
    return bits


@kernel
def _qualifies(offsets, game, ply, key, exclude, limit, held_out):  # type: ignore[no-untyped-def]
    if exclude.shape[0] and ply > 0 and exclude[offsets[game] + ply - 1]:
        return False
    held = limit > 0 and _mixed(key ^ np.uint64(ply) * np.uint64(0x9E3779B97F4A7C15)) % np.uint64(10000) < limit
    return held == held_out


@kernel
def _draw(offsets, games, hashes, each, first, exclude, limit, held_out, seed, sampled, plies):  # type: ignore[no-untyped-def]
    count = 0
    for i in range(games.shape[0]):
        game = games[i]
        last = offsets[game + 1] - offsets[game]
        key = _mixed(hashes[i] + (seed + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
        left = 0
        for ply in range(first, last + 1):
            left += _qualifies(offsets, game, ply, key, exclude, limit, held_out)
        needed = min(each, left) if each else left
        word = key
        for ply in range(first, last + 1):
            if needed == 0:
                break
            if not _qualifies(offsets, game, ply, key, exclude, limit, held_out):
                continue
            word = _mixed(word + np.uint64(0x9E3779B97F4A7C15))
            if word % np.uint64(left) < np.uint64(needed):  # each of those left has the same chance
                sampled[count], plies[count] = game, ply
                count += 1
                needed -= 1
            left -= 1
    return count
