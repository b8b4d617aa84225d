"""Figures over pairs of positions, with intervals that respect the games of both.

A pair hangs on two games: one that White won and one that Black won. All pairs that share a game hang together, on
either side; resampling the games of one side alone would take the other side's as given and promise too much. So the
games of both sides are drawn with replacement, each side by itself, and a pair counts as often as its one game was
drawn times its other: a resample holds every pair between the games drawn (Owen's "pigeonhole bootstrap", 2007). It
errs on the safe side: what is chance in a single pair, apart from both of its games, it counts three times over; of
many pairs a game that is little.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kibitz.stats import RESAMPLES, SEED, ByGame, Figure

BUNDLES = 400
"""More games of a side than this are dealt at random into so many bundles, and these are resampled."""


class ByBothGames(ByGame):
    """Pairs grouped by both of their games; everything that ByGame gives, where "a position" is a pair.

    won, lost: int64 [pairs], the game of each pair that White won, and the one that Black won. A figure's `games` are
    those of both sides. It has no interval where one side has a single game.
    """

    def __init__(self, won: ArrayLike, lost: ArrayLike, resamples: int = RESAMPLES, seed: int = SEED) -> None:
        row, rows = _numbered(np.asarray(won))
        column, columns = _numbered(np.asarray(lost))
        super().__init__(row * columns + column, resamples, seed)  # its unit: two games that have pairs
        self._row, self._column = np.divmod(np.unique(row * columns + column), max(1, columns))
        self.games = rows + columns
        rng = np.random.default_rng(seed)
        self._bundles = [rng.permutation(count) % BUNDLES for count in (rows, columns)]

    def drawn(self, values: ArrayLike) -> NDArray[np.float64]:
        """The mean of `values` in every resample."""
        numbers = self._shaped(values)
        sums = np.bincount(self._of, weights=numbers, minlength=self._units).astype(np.float64)
        return self._shares(sums[:, None], np.bincount(self._of, minlength=self._units))[:, 0]

    def _counted(self, of: NDArray[np.intp]) -> tuple[int, int]:
        cells = np.bincount(of, minlength=self._units) > 0
        return len(of), sum(len(np.unique(side[cells])) for side in (self._row, self._column))

    def _shares(self, sums: NDArray[np.float64], counts: NDArray[Any]) -> NDArray[np.float64]:
        """As ByGame's; resamples in which no game drawn has a pair with another one are left out."""
        present = counts > 0
        row, rows = _numbered(self._bundles[0][self._row[present]])
        column, columns = _numbered(self._bundles[1][self._column[present]])
        if min(rows, columns) == 1:
            return np.full((self._resamples, sums.shape[1]), math.nan)
        rng = np.random.default_rng(self._seed)
        one, other = (_weights(rng, self._resamples, count) for count in (rows, columns))
        totals = []
        for values in (*sums[present].T, counts[present]):
            table = np.bincount(row * columns + column, weights=values, minlength=rows * columns)
            totals.append(((one @ table.reshape(rows, columns)) * other).sum(axis=1))
        some = totals[-1] > 0
        if not some.any():
            return np.full((self._resamples, sums.shape[1]), math.nan)
        return np.column_stack([total[some] / totals[-1][some] for total in totals[:-1]])


def apart(one: ByBothGames, values: ArrayLike, other: ByBothGames, others: ArrayLike) -> Figure:
    """The mean of `values` over the pairs of `one` less that of `others` over the pairs of `other`, which have no game
    in common. The two must have different seeds: equal draws would not be independent."""
    value = float(np.mean(np.asarray(values, np.float64)) - np.mean(np.asarray(others, np.float64)))
    drawn = [one.drawn(values), other.drawn(others)]
    few = min(map(len, drawn))
    low, high = np.percentile(drawn[0][:few] - drawn[1][:few], [2.5, 97.5])
    return Figure(value, float(low), float(high), one.positions + other.positions, one.games + other.games)


def over_games(values: ArrayLike, games: ArrayLike) -> Figure:
    """The mean of `values` [n], each of which hangs on all of its `games` int64 [n, k].

    Values that share a game hang together: the variance sums, game by game, how far all values of that game are off
    the mean together. What is chance in a value alone stands in each of its k games and counts but once.
    """
    numbers, ids = np.asarray(values, np.float64), np.asarray(games)
    known, of = np.unique(ids, return_inverse=True)
    value = float(numbers.mean())
    off = numbers - value
    together = np.bincount(of.ravel(), weights=np.repeat(off, ids.shape[1]), minlength=len(known))
    variance = (together @ together - (ids.shape[1] - 1) * (off @ off)) / len(numbers) ** 2
    reach = 1.96 * math.sqrt(max(variance, 0.0)) if len(known) > ids.shape[1] else math.nan
    low, high = max(value - reach, float(numbers.min())), min(value + reach, float(numbers.max()))
    if math.isnan(reach):
        low = high = math.nan
    return Figure(value, low, high, len(numbers), len(known))


def _numbered(ids: NDArray[Any]) -> tuple[NDArray[np.intp], int]:
    known, numbers = np.unique(ids, return_inverse=True)
    return numbers, len(known)


def _weights(rng: np.random.Generator, resamples: int, units: int) -> NDArray[np.float64]:
    """How often each unit is drawn in each resample, [resamples, units]."""
    drawn = rng.integers(units, size=(resamples, units)) + np.arange(resamples)[:, None] * units
    return np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units).astype(np.float64)
