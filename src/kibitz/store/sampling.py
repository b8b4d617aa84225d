"""Draw a fixed random sample of positions from games: a number of positions from each game.

The sample of a game depends only on its hash and the seed, not on the store or its other games. A share of all
positions can be held out in the same way, to test a network on other positions of its training games.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import inner, kernel
from kibitz.store.store import Store


@dataclass(frozen=True)
class Sample:
    """Sampled positions, in the order in which their games were given.

    games, plies: int64 [n], the game of each position, as an index in the store, and the number of moves before it.
    """

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
    """Return a random sample of at most `each` positions per game, without replacement; if `each` is 0, all positions.
    The positions are in the order of `games`, and by ply within a game.

    games: int64 [n], indices in the store.
    first: the first ply from which positions are sampled. The last one is the position after the last move.
    exclude: bool [moves], for each move of the store whether to exclude the position after it; None to exclude none.
    share: how many percent of all positions are held out, 0 to 100.
    held_out: whether to sample from the held-out positions; if False, from all other positions.
    seed: the seed of the sample and of the choice of the held-out positions.
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
    """Return how often training uses each game, as integers, int64 [n].

    times: float64 [n], the wanted numbers, which are rounded. hashes: uint64 [n], the hashes of the games, which decide
    whether a number is rounded up or down. The fractional part of the number is the probability of rounding up, so the
    mean stays the same.
    """
    chance = (splitmix64(hashes.astype(np.uint64)) >> np.uint64(40)) / 2.0**24
    return np.floor(times + chance).astype(np.int64)


def splitmix64(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a pseudorandom number for each number, uint64 [n]. words: uint64 [n]. Equal numbers give equal results."""
    return _all_mixed(np.ascontiguousarray(words, np.uint64))  # type: ignore[no-any-return]


@inner
def _mixed(word):  # type: ignore[no-untyped-def]
    """Mix a word, uint64, so that each bit of the result depends on all of its bits: the last step of SplitMix64."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def _all_mixed(words):  # type: ignore[no-untyped-def]
    """Mix each word, uint64 [n], into random bits, uint64 [n]."""
    bits = np.empty_like(words)
    for i in range(words.shape[0]):
        bits[i] = _mixed((words[i] + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
    return bits


@inner
def _qualifies(offsets, game, ply, key, exclude, limit, held_out):  # type: ignore[no-untyped-def]
    """Return whether a ply of a game can be sampled.

    offsets: int64 [games + 1], the index at which each game's moves begin. exclude: bool [moves], or empty. limit:
    uint64, the held-out share in hundredths of a percent. key: uint64, the random bits of the game.
    """
    if exclude.shape[0] and ply > 0 and exclude[offsets[game] + ply - 1]:
        return False
    held = limit > 0 and _mixed(key ^ np.uint64(ply) * np.uint64(0x9E3779B97F4A7C15)) % np.uint64(10000) < limit
    return held == held_out


@kernel
def _draw(offsets, games, hashes, each, first, exclude, limit, held_out, seed, sampled, plies):  # type: ignore[no-untyped-def]
    """Write the sampled (game, ply) pairs to `sampled` and `plies`, int64, and return their number.

    offsets: int64 [games + 1]. games: int64 [n], with hashes uint64 [n]. each, first, exclude, limit and held_out are
    those of `_qualifies` and `sample_positions`.
    """
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
            if word % np.uint64(left) < np.uint64(needed):  # every remaining ply has the same probability
                sampled[count], plies[count] = game, ply
                count += 1
                needed -= 1
            left -= 1
    return count
