"""Means over pairs of positions, with confidence intervals that take into account the two games of each pair.

A pair depends on two games: one that White won and one that Black won. Pairs that share a game are correlated. If only
the games of one side were resampled, the other side's games would be treated as fixed, and the intervals would be too
narrow. So the games of both sides are resampled, each side separately. The weight of a pair in a resample is the
product of how often its two games were sampled (Owen's "pigeonhole bootstrap", 2007). The method is conservative:
variance that is specific to one pair is counted three times. This is negligible if each game has many pairs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kibitz.stats import RESAMPLES, SEED, ClusterBootstrap, Estimate

BUNDLES = 400
"""The largest number of resampled units per side. If one side has more games, they are randomly grouped into this
number of units.
"""


class TwoWayBootstrap(ClusterBootstrap):
    """Computes means over pairs, with confidence intervals that take both games of each pair into account. It has all
    methods of `ClusterBootstrap`, with pairs in place of positions.

    won, lost: int64 [pairs], the two games of each pair: the one that White won and the one that Black won. An
    estimate's `games` is the number of games in `won` and `lost` together. An estimate has no interval if `won` or
    `lost` has only a single game.
    """

    def __init__(self, won: ArrayLike, lost: ArrayLike, resamples: int = RESAMPLES, seed: int = SEED) -> None:
        row, rows = _numbered(np.asarray(won))
        column, columns = _numbered(np.asarray(lost))
        # Pairs are grouped by their combination of two games.
        super().__init__(row * columns + column, resamples, seed)
        self._row, self._column = np.divmod(np.unique(row * columns + column), max(1, columns))
        self.games = rows + columns
        rng = np.random.default_rng(seed)
        self._bundles = [rng.permutation(count) % BUNDLES for count in (rows, columns)]

    def _n_and_games(self, of: NDArray[np.intp]) -> tuple[int, int]:
        cells = np.bincount(of, minlength=self._units) > 0
        return len(of), sum(len(np.unique(side[cells])) for side in (self._row, self._column))

    def _resampled_means(self, sums: NDArray[np.float64], counts: NDArray[Any]) -> NDArray[np.float64]:
        """Return the means as ClusterBootstrap does; resamples without any pair are excluded."""
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
        nonempty = totals[-1] > 0
        if not nonempty.any():
            return np.full((self._resamples, sums.shape[1]), math.nan)
        return np.column_stack([total[nonempty] / totals[-1][nonempty] for total in totals[:-1]])


def clustered_mean(values: ArrayLike, games: ArrayLike) -> Estimate:
    """Return the mean of values that depend on several games each, with a confidence interval.

    values: [n]. games: int64 [n, k], the k games on which each value depends.

    The interval comes from a cluster-robust variance, not from a bootstrap: for each game, the deviations of all its
    values are summed, and the squares of these sums are added. Each value is part of the sums of k games, so its
    variance is counted k times. A correction makes it count only once.
    """
    numbers, ids = np.asarray(values, np.float64), np.asarray(games)
    known, of = np.unique(ids, return_inverse=True)
    value = float(numbers.mean())
    off = numbers - value
    sums = np.bincount(of.ravel(), weights=np.repeat(off, ids.shape[1]), minlength=len(known))
    variance = (sums @ sums - (ids.shape[1] - 1) * (off @ off)) / len(numbers) ** 2
    reach = 1.96 * math.sqrt(max(variance, 0.0)) if len(known) > ids.shape[1] else math.nan
    low, high = max(value - reach, float(numbers.min())), min(value + reach, float(numbers.max()))
    if math.isnan(reach):
        low = high = math.nan
    return Estimate(value, low, high, len(numbers), len(known))


def _numbered(ids: NDArray[Any]) -> tuple[NDArray[np.intp], int]:
    known, numbers = np.unique(ids, return_inverse=True)
    return numbers, len(known)


def _weights(rng: np.random.Generator, resamples: int, units: int) -> NDArray[np.float64]:
    """Return how often each unit is sampled in each resample, [resamples, units]."""
    drawn = rng.integers(units, size=(resamples, units)) + np.arange(resamples)[:, None] * units
    return np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units).astype(np.float64)
