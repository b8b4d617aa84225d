"""Estimates with 95% intervals over games.

The positions of one game are correlated: they share a result, an opening and two players, so a thousand positions from
ten games contain little more information than ten games. Every interval here therefore resamples whole games (a cluster
bootstrap). Games are sampled with replacement, each with all its positions, and the interval is the middle 95% of the
resamples. The seed is fixed, so the same call always gives the same interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

CLIP = 1e-7
"""In a log loss, probabilities have at least this distance from 0 and 1, so that one certain mistake doesn't make the
loss infinite.
"""

LEVEL = 0.975
"""The upper quantile of a two-sided interval of 95%."""
SEED = 20170707
RESAMPLES = 1000
MOST_UNITS = 20_000
"""If there are more games than this, they are randomly grouped into this number of bundles, which are resampled.

Bundles of independent games are independent too, so the interval stays correct while its cost is limited.
"""

CHUNK_ENTRIES = 1 << 21
"""The largest number of resampling weights in memory, 16 MB."""


Kind = Literal["share", "small share", "points", "number", "error", "score", "count"]
"""Kinds of values, which determine how they are printed. "share": in percent. "small share": in percent with two
decimals. "points": a difference of shares, with its sign. "number", "error" and "score": with three decimals. "count":
as an integer.
"""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval, from `n` positions of `games` games.

    low and high are NaN if there are no positions, or if all positions are from one game, because one game contains no
    information on differences between games. Without positions, n is 0 and value is also NaN.
    """

    value: float
    low: float
    high: float
    n: int
    games: int

    def as_json(self) -> dict[str, float | int | None]:
        """Return the five numbers under their names; NaN, which JSON does not have, becomes None."""
        return {
            "value": _or_none(self.value),
            "low": _or_none(self.low),
            "high": _or_none(self.high),
            "n": self.n,
            "games": self.games,
        }


class ClusterBootstrap:
    """Positions grouped by game, to compute all results of one test.

    game: int64 [positions], the id of each position's game. The ids may be any numbers in any order. resamples: the
    number of bootstrap resamples. Raises ValueError if `game` is not one-dimensional.
    """

    def __init__(self, game: ArrayLike, resamples: int = RESAMPLES, seed: int = SEED) -> None:
        ids = np.asarray(game)
        if ids.ndim != 1:
            raise ValueError(f"game ids must have shape (positions,), not {ids.shape}")
        if resamples < 1:
            raise ValueError(f"resamples must be at least 1, not {resamples}")
        unique, inverse = np.unique(ids, return_inverse=True)
        self.games = self._units = len(unique)
        self.positions = len(ids)
        self._of: NDArray[np.intp] = inverse
        self._resamples = resamples
        self._seed = seed

    def mean(
        self, values: ArrayLike, mask: ArrayLike | None = None, over: ArrayLike | None = None, score: bool = False
    ) -> Estimate:
        """Return the mean of `values` over positions, with the bootstrap interval over games.

        values: numeric or bool [positions], finite where `mask` is true.
        mask: bool [positions]; None for all. Only games with positions in the mask are counted and resampled.
        over: not negative, [positions]. If a position has many predictions (the points of a board), `values` are sums
            over them and `over` is their number: the result is sum of values / sum of over. Positions with 0 are not
            counted.
        score: whether values are game results, 0 for a loss and 1 for a win. A mean of 0 or 1 then has an interval.

        A share of 0 or 1 also has an interval; `values` are then booleans, or integers with `over`. Raises ValueError
        for a wrong shape, or values that are not finite.
        """
        found = self.means([values], mask, over)[0]
        return _all_alike(found) if score and found.n else found

    def means(
        self, columns: Sequence[ArrayLike], mask: ArrayLike | None = None, over: ArrayLike | None = None
    ) -> list[Estimate]:
        """Return the means of several values over the same positions, as `mean` does, with a single set of
        resamples."""
        if not columns:
            return []
        weights = np.ones(self.positions) if over is None else self._shaped(over, "over")
        if over is not None:
            mask = (weights > 0) & (True if mask is None else self._mask(mask))
        chosen = [self._select(values, mask) for values in columns]
        of = chosen[0][1]
        n, games = self._n_and_games(of)
        if n == 0:
            return [Estimate(math.nan, math.nan, math.nan, 0, 0) for _ in columns]
        sums = np.column_stack([np.bincount(of, weights=numbers, minlength=self._units) for numbers, _ in chosen])
        counts = np.bincount(of, weights=self._select(weights, mask)[0], minlength=self._units)
        drawn = self._resampled_means(sums.astype(np.float64), counts)
        whole = sums.sum(axis=0) / counts.sum()
        found = [_with_interval(float(value), drawn[:, i], n, games) for i, value in enumerate(whole)]
        shares = [
            _is_share(numbers, values, over is not None) for (numbers, _), values in zip(chosen, columns, strict=True)
        ]
        return [_all_alike(one) if is_share else one for one, is_share in zip(found, shares, strict=True)]

    def correlation(self, a: ArrayLike, b: ArrayLike, mask: ArrayLike | None = None) -> Estimate:
        """Return Pearson's correlation of `a` with `b` over positions, in [-1, 1]; NaN if either does not vary.

        Shapes, mask and errors are those of `mean`. Resamples in which either does not vary are skipped.
        """
        (first, of), (second, _) = self._select(a, mask), self._select(b, mask)
        n, games = self._n_and_games(of)
        if n == 0 or np.ptp(first) == 0 or np.ptp(second) == 0:
            return Estimate(math.nan, math.nan, math.nan, n, games)
        first, second = first - first.mean(), second - second.mean()  # centered, so that squares lose no digits
        products = (first, second, first * first, second * second, first * second)
        columns = [np.bincount(of, weights=values, minlength=self._units) for values in products]
        sums = np.column_stack(columns).astype(np.float64)
        value = float(_correlations(sums.sum(axis=0)[None] / n)[0])
        drawn = _correlations(self._resampled_means(sums, np.bincount(of, minlength=self._units)))
        drawn = drawn[np.isfinite(drawn)]
        return _with_interval(value, drawn, n, games) if drawn.size else Estimate(value, math.nan, math.nan, n, games)

    def difference(self, a: ArrayLike, b: ArrayLike, mask: ArrayLike | None = None) -> Estimate:
        """Return the mean of `a` - `b`, position by position.

        The interval is much narrower than a comparison of the two means would suggest, because both are computed on the
        same positions. Shapes, mask and errors are those of `mean`.
        """
        first, second = self._shaped(a, "a"), self._shaped(b, "b")
        found = self.mean(first - second, mask)
        if found.value != -1:
            return found
        # The difference is -1 in all positions. `_all_alike` gives an interval only for a mean of 0 or 1. So the
        # interval of second - first is computed, and the signs are reversed.
        turned = self.mean(second - first, mask)
        return replace(turned, value=-turned.value, low=-turned.high, high=-turned.low)

    def resampled_means(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the mean of `values` in every resample, float64 [resamples]."""
        sums = np.bincount(self._of, weights=self._shaped(values), minlength=self._units).astype(np.float64)
        return self._resampled_means(sums[:, None], np.bincount(self._of, minlength=self._units))[:, 0]

    def calibration_error(self, probability: ArrayLike, outcome: ArrayLike, bins: int = 10) -> Estimate:
        """Return the expected calibration error (ECE): the mean absolute difference between predicted probabilities and
        observed frequencies.

        probability, outcome: [positions], in [0, 1]. bins: number of equal bins of [0, 1]; only the last bin includes
        its upper end. Value and interval are in [0, 1]. Noise can only increase an ECE, and resampling adds noise
        again. So the interval is a "basic" bootstrap interval, which subtracts this increase. It extends to 0 if noise
        alone explains the value. Raises ValueError for a wrong shape, values outside [0, 1] or fewer than one bin.
        """
        chance, happened = self._pair(probability, outcome)
        at = _bin(chance, bins)
        flat = np.bincount(self._of * bins + at, weights=chance - happened, minlength=self._units * bins)
        gaps = flat.astype(np.float64).reshape(self._units, bins)
        return self._calibration(gaps, np.bincount(self._of, minlength=self._units), *self._n_and_games(self._of))

    def binned_calibration_error(self, gaps: ArrayLike, over: ArrayLike) -> Estimate:
        """Return the calibration error if a position has many predictions, which the caller has put into bins.

        gaps: [positions, bins], for each bin the sum of predicted minus observed values. over: [positions], the number
        of predictions of each position. Positions with 0 are not counted.
        """
        binned = np.asarray(gaps, np.float64)
        if binned.ndim != 2 or len(binned) != self.positions or binned.shape[1] < 1:
            raise ValueError(f"gaps must have shape ({self.positions}, bins), not {binned.shape}")
        counts = self._shaped(over, "over")
        of = self._of[counts > 0]
        sums = np.column_stack([np.bincount(self._of, weights=one, minlength=self._units) for one in binned.T])
        total = np.bincount(self._of, counts, self._units)
        return self._calibration(sums.astype(np.float64), total, *self._n_and_games(of))

    def _calibration(self, gaps: NDArray[np.float64], counts: NDArray[Any], n: int, games: int) -> Estimate:
        """Return the estimate of `calibration_error` from each game's gaps, [games, bins], and number of predictions,
        [games]."""
        if n == 0:
            return Estimate(math.nan, math.nan, math.nan, 0, 0)
        whole = gaps.sum(axis=0) / counts.sum()
        value = float(np.abs(whole).sum())
        shares = self._resampled_means(gaps, counts)
        figure = _with_interval(value, 2 * value - np.abs(shares).sum(axis=1), n, games)
        noise = np.abs(shares - whole).sum(axis=1)
        low = 0.0 if value <= np.percentile(noise, 95) else max(figure.low, 0.0)
        return figure if games == 1 else Estimate(value, low, min(figure.high, 1.0), n, games)

    def _pair(self, probability: ArrayLike, outcome: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        chance, happened = self._shaped(probability, "probability"), self._shaped(outcome, "outcome")
        for name, numbers in (("probability", chance), ("outcome", happened)):
            if not np.all((numbers >= 0) & (numbers <= 1)):
                raise ValueError(f"every {name} must be from 0 to 1")
        return chance, happened

    def _shaped(self, values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.shape != (self.positions,):
            raise ValueError(
                f"{name} must have shape ({self.positions},), one number per position, not {numbers.shape}"
            )
        return numbers

    def _select(self, values: ArrayLike, mask: ArrayLike | None) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return values and game indices of the positions in the mask."""
        numbers, of = self._shaped(values), self._of
        if mask is not None:
            selected = self._mask(mask)
            numbers, of = numbers[selected], of[selected]
        if not np.all(np.isfinite(numbers)):
            raise ValueError("every value must be finite: mask out the positions without a finite value")
        return numbers, of

    def _mask(self, mask: ArrayLike) -> NDArray[np.bool_]:
        selected = np.asarray(mask, dtype=np.bool_)
        if selected.shape != (self.positions,):
            raise ValueError(f"mask must have shape ({self.positions},), one value per position, not {selected.shape}")
        return selected

    def _n_and_games(self, of: NDArray[np.intp]) -> tuple[int, int]:
        """Return the number of positions, and the number of their games."""
        return len(of), int(np.count_nonzero(np.bincount(of, minlength=self._units)))

    def _resampled_means(self, sums: NDArray[np.float64], counts: NDArray[Any]) -> NDArray[np.float64]:
        """Return column total / count in every resample of the games that count, float64 [resamples, columns].

        sums: [games, columns], totals per game. counts: [games], the divisors: the number of positions of each game, or
        their weight.
        """
        present = counts > 0
        totals = self._resampled(np.column_stack([sums[present], counts[present]]))
        shares: NDArray[np.float64] = totals[:, :-1] / totals[:, -1:]
        return shares

    def _resampled(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return column totals of every resample, float64 [resamples, columns]. Weights are made in chunks."""
        rng = np.random.default_rng(self._seed)
        if len(table) > MOST_UNITS:
            table = _bundled(table, rng)
        units = len(table)
        rows = max(1, CHUNK_ENTRIES // units)
        totals = []
        for start in range(0, self._resamples, rows):
            size = min(rows, self._resamples - start)
            drawn = rng.integers(units, size=(size, units)) + np.arange(size)[:, None] * units
            weights = np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units)
            totals.append(weights.astype(np.float64) @ table)
        return np.concatenate(totals)


def difference_between(
    one: ClusterBootstrap, values: ArrayLike, other: ClusterBootstrap, others: ArrayLike
) -> Estimate:
    """Return the mean of `values` over the positions of `one`, minus the mean of `others` over the positions of
    `other`.

    `one` and `other` must have no game in common, and different seeds, because equal resamples would not be
    independent. The result has no interval if one of them has only one game.
    """
    value = float(np.mean(np.asarray(values, np.float64)) - np.mean(np.asarray(others, np.float64)))
    drawn = [one.resampled_means(values), other.resampled_means(others)]
    few = min(map(len, drawn))
    low, high = np.percentile(drawn[0][:few] - drawn[1][:few], [2.5, 97.5])
    if min(one.games, other.games) == 1:
        low = high = math.nan
    return Estimate(value, float(low), float(high), one.positions + other.positions, one.games + other.games)


def reliability(
    probability: ArrayLike, outcome: ArrayLike, game: ArrayLike | ClusterBootstrap, bins: int = 10
) -> list[dict[str, Any]]:
    """Return the contents of a reliability diagram: the observed frequency for each bin of predicted probability.

    The arguments are those of `ClusterBootstrap.calibration_error`; `game` is that of `ClusterBootstrap`. Each row is
    {"low", "high": the bin's ends, "predicted": mean probability, "observed": the estimate as JSON, "n": positions}.
    Bins without positions have no row.
    """
    groups = game if isinstance(game, ClusterBootstrap) else ClusterBootstrap(game)
    chance, happened = groups._pair(probability, outcome)
    yes_and_no = bool(np.isin(happened, (0, 1)).all())
    at = _bin(chance, bins)
    rows = []
    for index in range(bins):
        inside = at == index
        if not inside.any():
            continue
        observed = groups.mean(happened == 1 if yes_and_no else happened, inside)
        rows.append(
            {
                "low": index / bins,
                "high": (index + 1) / bins,
                "predicted": float(chance[inside].mean()),
                "observed": observed.as_json(),
                "n": observed.n,
            }
        )
    return rows


def binned_reliability(
    predicted: ArrayLike, happened: ArrayLike, counts: ArrayLike, game: ArrayLike | ClusterBootstrap
) -> list[dict[str, Any]]:
    """Return the rows of `reliability` if a position has many predictions, which the caller has put into bins.

    predicted, happened, counts: [positions, bins], for each bin the sum of the predictions, the number of events, and
    the number of predictions. In a row, "n" is the number of predictions. The n of its estimate is the number of
    positions that have predictions in the bin.
    """
    groups = game if isinstance(game, ClusterBootstrap) else ClusterBootstrap(game)
    chance, true, many = (np.asarray(values, np.float64) for values in (predicted, happened, counts))
    bins = many.shape[1]
    return [
        {
            "low": index / bins,
            "high": (index + 1) / bins,
            "predicted": float(chance[:, index].sum() / many[:, index].sum()),
            "observed": groups.mean(true[:, index], over=many[:, index]).as_json(),
            "n": int(many[:, index].sum()),
        }
        for index in range(bins)
        if many[:, index].any()
    ]


def log_loss(probability: ArrayLike, outcome: ArrayLike) -> NDArray[np.float64]:
    """Return the log loss of each position, in nats: −log of the probability of the actual outcome.

    probability, outcome: in [0, 1], broadcast; an outcome between 0 and 1 weighs both sides. Probabilities are clipped
    to [1e-7, 1 - 1e-7], so no loss exceeds 16.2.
    """
    chance = np.clip(np.asarray(probability, dtype=np.float64), CLIP, 1 - CLIP)
    happened = np.asarray(outcome, dtype=np.float64)
    loss: NDArray[np.float64] = -(happened * np.log(chance) + (1 - happened) * np.log1p(-chance))
    return loss


def slices(
    values: ArrayLike,
    game: ArrayLike | ClusterBootstrap,
    key: ArrayLike,
    *,
    edges: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
    over: ArrayLike | None = None,
) -> list[dict[str, Any]]:
    """Return the mean of `values` slice by slice, as rows {"slice": label, "figure": Estimate} in order. Empty slices
    are included.

    edges: ascending numbers, which may be infinite. Slice i has the positions with edges[i] <= key < edges[i + 1].
    labels: the names of the slices, one fewer than edges; None for names that are made from the edges. Without edges,
        `key` has indices into `labels`.
    over: as in `ClusterBootstrap.mean`.

    Positions that belong to no slice, because their key is NaN or outside the edges, are in a last row "other". Raises
    ValueError without edges and labels, or if lengths do not fit.
    """
    groups = game if isinstance(game, ClusterBootstrap) else ClusterBootstrap(game)
    keys = groups._shaped(key, "key")
    if edges is not None:
        bounds = np.asarray(edges, dtype=np.float64)
        if len(bounds) < 2 or not np.all(np.diff(bounds) > 0):
            raise ValueError(f"edges must be two or more numbers in ascending order (got {list(edges)})")
        whole = np.issubdtype(np.asarray(key).dtype, np.integer)
        names = list(labels) if labels is not None else _edge_labels(bounds, whole)
        if len(names) != len(bounds) - 1:
            raise ValueError(f"{len(bounds)} edges make {len(bounds) - 1} slices, but there are {len(names)} labels")
        at = np.searchsorted(bounds, keys, side="right") - 1
    elif labels is not None:
        names = list(labels)
        at = np.where(np.isin(keys, np.arange(len(names))), keys, -1).astype(np.intp)
    else:
        raise ValueError("slices needs edges or labels (got neither)")
    inside = (at >= 0) & (at < len(names))
    rows = [{"slice": name, "figure": groups.mean(values, at == index, over)} for index, name in enumerate(names)]
    if not inside.all():
        rows.append({"slice": "other", "figure": groups.mean(values, ~inside, over)})
    return rows


def _edge_labels(bounds: NDArray[np.float64], whole: bool) -> list[str]:
    """Format the bounds of slices: "0-9" for integer keys, "0 to 0.5" for others, "2500 and over" and "under 1000" at
    open ends.
    """
    names = []
    for low, high in pairwise(bounds.tolist()):
        if math.isinf(low) and math.isinf(high):
            names.append("all")
        elif math.isinf(high):
            names.append(f"{low:g} and over")
        elif math.isinf(low):
            names.append(f"under {high:g}")
        elif not whole:
            names.append(f"{low:g} to {high:g}")
        elif high - low == 1:
            names.append(f"{low:g}")
        else:
            names.append(f"{low:g}-{high - 1:g}" if low >= 0 else f"{low:g} to {high - 1:g}")
    return names


def _correlations(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return correlations from means of a, b, a², b² and ab, [n, 5]."""
    a, b, aa, bb, ab = means.T
    spread = np.sqrt(np.maximum(aa - a * a, 0) * np.maximum(bb - b * b, 0))
    correlations: NDArray[np.float64] = np.full(len(means), np.nan)
    np.divide(ab - a * b, spread, out=correlations, where=spread > 0)
    return np.clip(correlations, -1, 1)


def _bin(chance: NDArray[np.float64], bins: int) -> NDArray[np.intp]:
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    at: NDArray[np.intp] = np.minimum((chance * bins).astype(np.intp), bins - 1)
    return at


def _with_interval(value: float, drawn: NDArray[np.float64], n: int, games: int) -> Estimate:
    """Return the estimate with the middle 95% of the resamples' values.

    Sums in another order differ in the last bit, so the interval is extended to include the value.
    """
    if games == 1:
        return Estimate(value, math.nan, math.nan, n, games)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(value, min(float(low), value), max(float(high), value), n, games)


def _is_share(numbers: NDArray[np.float64], values: ArrayLike, over_others: bool) -> bool:
    """Return whether a mean of 0 or 1 is a share: of booleans, of integers over others, or scores that are all 1."""
    kind = np.asarray(values).dtype.kind
    if over_others:
        return bool(numbers.min(initial=0) >= 0) and (kind in "biu" or bool((numbers % 1 == 0).all()))
    return kind == "b" or (kind == "f" and bool((numbers == 1).all()))


def _all_alike(share: Estimate) -> Estimate:
    """Return a share of 0 or 1 with an interval. All positions have the same result, so resamples don't vary.

    The width of the interval is `1 - 0.025 ** (1 / n)`. If the true share of the other result were that large, n equal
    results would have a probability of 2.5%. n is the number of positions, as if each were from a different game.
    """
    if not share.high - share.low < 1e-9 or share.value not in (0.0, 1.0):
        return share
    other = 1 - (1 - LEVEL) ** (1 / share.n)
    return replace(share, low=share.value * (1 - other), high=1 - (1 - share.value) * (1 - other))


def _bundled(table: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Group rows at random into `MOST_UNITS` bundles, and return the sum of each bundle."""
    pile = rng.permutation(len(table)) % MOST_UNITS
    return np.column_stack([np.bincount(pile, weights=column, minlength=MOST_UNITS) for column in table.T])


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number
