"""Means and other estimates with 95% confidence intervals, computed by resampling games.

The positions of one game are correlated: they share a result, an opening and two players. So a thousand positions from
ten games contain little more information than ten games. Every interval here therefore resamples whole games (a cluster
bootstrap). Games are sampled with replacement, each with all its positions. The interval contains the middle 95% of the
results. The seed is fixed, so the same call always gives the same interval.
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
"""The smallest distance of a probability from 0 and 1 in a log loss. Without it, one certain but wrong prediction would
make the loss infinite.
"""

LEVEL = 0.975
"""The upper quantile of a two-sided 95% interval: 0.975."""
SEED = 20170707
RESAMPLES = 1000
MOST_UNITS = 20_000
"""If there are more games than this number, they are randomly grouped into this number of bundles, and bundles are
resampled instead of games.

Bundles of independent games are independent too, so the interval stays correct while its cost is limited.
"""

CHUNK_ENTRIES = 1 << 21
"""The largest number of resampling weights in memory at once. They take 16 MB."""


Kind = Literal["share", "small share", "points", "number", "error", "score", "count"]
"""How a value is printed. "share": in percent. "small share": in percent with two decimals. "points": a difference of
shares, with its sign. "number", "error" and "score": with three decimals. "count": as an integer.
"""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% confidence interval, `low` to `high`. n: the number of positions. games: the number of games
    that have these positions.

    low and high are NaN if all positions are from one game, because one game has no information about differences
    between games. Without positions, n is 0, and value, low and high are NaN.
    """

    value: float
    low: float
    high: float
    n: int
    games: int

    def as_json(self) -> dict[str, float | int | None]:
        """Return the five fields as a dict. NaN becomes None, because JSON has no NaN."""
        return {
            "value": _or_none(self.value),
            "low": _or_none(self.low),
            "high": _or_none(self.high),
            "n": self.n,
            "games": self.games,
        }


class ClusterBootstrap:
    """Computes estimates with confidence intervals for a set of positions. The bootstrap resamples whole games, because
    the positions of a game are correlated.

    game: the id of each position's game, int [positions]. The ids may be any integers in any order. resamples: the
    number of bootstrap resamples. Raises ValueError if `game` is not one-dimensional, or if `resamples` is less than 1.
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
        """Return the mean of `values` over the positions. Its confidence interval comes from resampling games.

        values: numeric or bool [positions], finite where `mask` is true.
        mask: bool [positions], the positions to include; None for all. Only games of included positions are resampled.
        over: [positions], at least 0; None if each position has one value. If a position has many predictions, such as
            one per point of a Go board, `values` has their sum and `over` their number. The result is then the sum of
            `values`, divided by the sum of `over`. Positions with over = 0 are excluded.
        score: whether values are game results, from 0 for a loss to 1 for a win.

        If all values are equal, all resamples have the same mean, and the interval has no width. There is one
        exception: the interval of a proportion that is exactly 0 or 1 has a width, which depends on the number of
        positions. The mean is a proportion in these cases: `values` are booleans, `values` are floats that are all 1,
        `score` is true, or `over` is given and `values` are whole numbers of at least 0.

        Raises ValueError for a wrong shape, or if included values are not finite.
        """
        return self.means([values], mask, over, score)[0]

    def means(
        self,
        columns: Sequence[ArrayLike],
        mask: ArrayLike | None = None,
        over: ArrayLike | None = None,
        score: bool = False,
    ) -> list[Estimate]:
        """Return the mean of each column as an estimate, computed as in `mean`. All columns use the same resamples.

        columns: arrays of values, each [positions]. mask, over, score: see `mean`.
        """
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
            score or _is_share(numbers, values, over is not None)
            for (numbers, _), values in zip(chosen, columns, strict=True)
        ]
        return [_all_alike(one) if is_share else one for one, is_share in zip(found, shares, strict=True)]

    def correlation(self, a: ArrayLike, b: ArrayLike, mask: ArrayLike | None = None) -> Estimate:
        """Return Pearson's correlation of `a` with `b` over the positions, in [-1, 1]; NaN if `a` or `b` is constant.

        Shapes, mask and errors are those of `mean`. Resamples in which `a` or `b` is constant are skipped.
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
        """Return the mean of `a` - `b` over the positions, with the confidence interval of the paired differences.

        This interval is usually much narrower than the intervals of the two means suggest, because `a` and `b` are
        values of the same positions. Shapes, mask and errors are those of `mean`.
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
        """Return the mean of `values` in every bootstrap resample, float64 [resamples]; NaN without positions. values:
        [positions].
        """
        if not self.positions:
            return np.full(self._resamples, math.nan)
        sums = np.bincount(self._of, weights=self._shaped(values), minlength=self._units).astype(np.float64)
        return self._resampled_means(sums[:, None], np.bincount(self._of, minlength=self._units))[:, 0]

    def calibration_error(self, probability: ArrayLike, outcome: ArrayLike, bins: int = 10) -> Estimate:
        """Return the expected calibration error (ECE): the mean absolute difference between predicted probabilities and
        observed frequencies, over equal bins of [0, 1].

        probability, outcome: [positions], in [0, 1]. bins: the number of bins. A bin includes its lower end, and the
        last bin also its upper end. Value and interval are in [0, 1]. Raises ValueError for a wrong shape, values
        outside [0, 1] or fewer than one bin.

        Noise makes an ECE too large, and resampling adds more noise. The interval is therefore a "basic" bootstrap
        interval, which subtracts this bias. It begins at 0 if noise alone can explain the value.
        """
        chance, happened = self._pair(probability, outcome)
        at = _bin(chance, bins)
        flat = np.bincount(self._of * bins + at, weights=chance - happened, minlength=self._units * bins)
        gaps = flat.astype(np.float64).reshape(self._units, bins)
        return self._calibration(gaps, np.bincount(self._of, minlength=self._units), *self._n_and_games(self._of))

    def binned_calibration_error(self, gaps: ArrayLike, over: ArrayLike) -> Estimate:
        """Return the expected calibration error of predictions that the caller has sorted into bins. It is the mean
        absolute difference between predicted probabilities and observed frequencies. A position may have many
        predictions.

        gaps: [positions, bins], the sum of (prediction - outcome) over the position's predictions in each bin. over:
        [positions], the number of the position's predictions. Positions with over = 0 are excluded.
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
        """Return, for each resample, the total of each column divided by the total count, float64 [resamples, columns].
        Only games with a count above 0 are resampled.

        sums: [games, columns], the totals of each game. counts: [games], the number of positions of each game, or their
        weight.
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

    values, others: numeric or bool, one value per position. `one` and `other` must not share games, and must have
    different seeds so that their resamples are independent. The interval is NaN if one of them has only one game.
    Without positions in one of them, the value is NaN too.
    """
    games = one.games + other.games
    if not (one.positions and other.positions):
        return Estimate(math.nan, math.nan, math.nan, one.positions + other.positions, games)
    value = float(np.mean(np.asarray(values, np.float64)) - np.mean(np.asarray(others, np.float64)))
    drawn = [one.resampled_means(values), other.resampled_means(others)]
    few = min(map(len, drawn))
    low, high = np.percentile(drawn[0][:few] - drawn[1][:few], [2.5, 97.5])
    if min(one.games, other.games) == 1:
        low = high = math.nan
    return Estimate(value, float(low), float(high), one.positions + other.positions, games)


def reliability(
    probability: ArrayLike, outcome: ArrayLike, game: ArrayLike | ClusterBootstrap, bins: int = 10
) -> list[dict[str, Any]]:
    """Return the rows of a reliability diagram: the observed frequency for each bin of predicted probabilities.

    game: the id of each position's game, or a `ClusterBootstrap`. probability, outcome, bins: see
    `ClusterBootstrap.calibration_error`. Each row is {"low", "high": the bin's ends, "predicted": the mean prediction,
    "observed": the observed frequency as an estimate in JSON form, "n": the number of positions}. Bins without
    positions have no row.

    If a frequency is 0 or 1, resampling gives no interval. The width of the interval then depends on the number of
    positions. It depends on the number of games instead if all positions of a game have the same outcome, such as the
    result of the game.
    """
    groups = game if isinstance(game, ClusterBootstrap) else ClusterBootstrap(game)
    chance, happened = groups._pair(probability, outcome)
    yes_and_no = bool(np.isin(happened, (0, 1)).all())
    positions, events = np.bincount(groups._of), np.bincount(groups._of, happened)
    is_of_game = yes_and_no and bool(((events == 0) | (events == positions)).all())
    at = _bin(chance, bins)
    rows = []
    for index in range(bins):
        inside = at == index
        if not inside.any():
            continue
        observed = groups.mean(happened == 1 if yes_and_no else happened, inside)
        if is_of_game and observed.value in (0.0, 1.0) and observed.games > 1:
            observed = _all_alike(replace(observed, low=observed.value, high=observed.value), observed.games)
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
    """Return the rows of a reliability diagram, as `reliability` does, for predictions that the caller has sorted into
    bins. A position may have many predictions.

    predicted: [positions, bins], the sum of the position's predictions in each bin.
    happened: [positions, bins], for how many of these predictions the event happened.
    counts: [positions, bins], the number of these predictions.
    game: see `reliability`.

    A row's "n" is the number of predictions in the bin. The estimate in "observed" has another "n", the number of
    positions with predictions in the bin.
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
    """Return the log loss of each position in nats, −log of the predicted probability of the actual outcome.

    probability, outcome: in [0, 1]; their shapes are broadcast. probability is that of the outcome 1. For an outcome
    between 0 and 1, the loss is the weighted mean of the losses for 1 and 0. Probabilities are clipped to [1e-7, 1 -
    1e-7], so no loss exceeds 16.2.
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
    score: bool = False,
) -> list[dict[str, Any]]:
    """Divide the positions into slices (groups) by `key`, such as by rating, and return the mean of `values` for each
    slice. The rows are {"slice": label, "figure": Estimate} in order. Empty slices have rows too.

    values: [positions].
    key: [positions], the number that decides to which slice a position belongs.
    edges: ascending numbers, which may be infinite. Slice i has the positions with edges[i] <= key < edges[i + 1]. If
        edges is None, `key` contains indices into `labels`.
    labels: the names of the slices, one fewer than edges; None for names that are made from the edges.
    game: the id of each position's game, or a `ClusterBootstrap`.
    over, score: as in `ClusterBootstrap.mean`.

    A last row "other" has the positions of no slice, whose key is NaN or outside the edges. It is missing if there are
    no such positions. Raises ValueError if both edges and labels are None, or if lengths do not fit.
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
    rows = [
        {"slice": name, "figure": groups.mean(values, at == index, over, score)} for index, name in enumerate(names)
    ]
    if not inside.all():
        rows.append({"slice": "other", "figure": groups.mean(values, ~inside, over, score)})
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
    """Return whether a mean of 0 or 1 is a share, which gets an interval: the values are booleans, integers with
    `over`, or scores that are all 1.
    """
    kind = np.asarray(values).dtype.kind
    if over_others:
        return bool(numbers.min(initial=0) >= 0) and (kind in "biu" or bool((numbers % 1 == 0).all()))
    return kind == "b" or (kind == "f" and bool((numbers == 1).all()))


def _all_alike(share: Estimate, independent: int | None = None) -> Estimate:
    """Return a share of 0 or 1 with an interval. Resampling gives no interval here, because all positions have the same
    result.

    The width of the interval is `1 - 0.025 ** (1 / n)`. If the true share of the other result were that large, n equal
    results would have a probability of 2.5%. n is `independent`; if that is None, the number of positions, as if each
    were from a different game.
    """
    if not share.high - share.low < 1e-9 or share.value not in (0.0, 1.0):
        return share
    other = 1 - (1 - LEVEL) ** (1 / (independent or share.n))
    return replace(share, low=share.value * (1 - other), high=1 - (1 - share.value) * (1 - other))


def _bundled(table: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Group rows at random into `MOST_UNITS` bundles, and return the sum of each bundle."""
    pile = rng.permutation(len(table)) % MOST_UNITS
    return np.column_stack([np.bincount(pile, weights=column, minlength=MOST_UNITS) for column in table.T])


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number
