"""Estimates with 95% intervals, taken over games.

The positions of one game are correlated: they share a result, an opening and two players, so a thousand positions of
ten games tell little more than ten games do. Every interval here therefore resamples whole games (a cluster
bootstrap): games are drawn with replacement, each with all its positions, and the interval holds the middle 95% of
what the resamples give. The draws start from a fixed seed, so the same call always gives the same interval.
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
"""Probabilities are kept this far from 0 and 1 in a log loss, so one sure mistake does not make it infinite."""

LEVEL = 0.975
"""Upper end of a two-sided interval of 95%."""
SEED = 20170707
RESAMPLES = 1000
MOST_UNITS = 20_000
"""More games than this are dealt at random into this many bundles, and bundles are resampled. Bundles of independent
games are independent too, so the interval stays right while its cost stays bounded."""

CHUNK_ENTRIES = 1 << 21
"""Resampling weights held at once, 16 MB of them."""


Kind = Literal["share", "small share", "points", "number", "error", "score", "count"]
"""How values are printed: "share" in percent, "small share" with two decimals; "points", a difference of shares, with
its sign; "number", "error" and "score" with three decimals; "count" as a whole number."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval, from `n` positions of so many games.

    `low` and `high` are NaN where no interval can be given: without positions (`n` = 0, `value` NaN as well) and with
    positions of one game only, since one game says nothing about how games differ.
    """

    value: float
    low: float
    high: float
    n: int
    games: int

    def as_json(self) -> dict[str, float | int | None]:
        """The five numbers under their names; NaN, which JSON does not have, becomes None."""
        return {
            "value": _or_none(self.value),
            "low": _or_none(self.low),
            "high": _or_none(self.high),
            "n": self.n,
            "games": self.games,
        }


class ClusterBootstrap:
    """Positions grouped by game: the figures of one test, all over the same games.

    `game` is int64 of shape (positions,): the game id of each position, any ids in any order. `resamples` is the number
    of bootstrap draws. Raises ValueError when `game` is not one-dimensional.
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

    def mean(self, values: ArrayLike, mask: ArrayLike | None = None, over: ArrayLike | None = None) -> Estimate:
        """The mean of `values` over positions, with the bootstrap interval over games.

        `values` is numeric or bool of shape (positions,), finite where `mask` (bool, same shape; all when None) is
        true. Only games with positions in the mask are counted and resampled. A share (of yes and no, or of whole
        numbers over others) of 0 or 1 has an interval, too. Raises ValueError on another shape or on values that are
        not finite.

        Where a position holds many things to be right about (the points of a board), `values` may be sums over them
        and `over`, not negative, how many there are: the figure is then sum of values / sum of over. Positions that
        hold none are not counted.
        """
        return self.means([values], mask, over)[0]

    def means(
        self, columns: Sequence[ArrayLike], mask: ArrayLike | None = None, over: ArrayLike | None = None
    ) -> list[Estimate]:
        """The means of several values over the same positions, as `mean` gives them, at the cost of one: the resamples
        are drawn once."""
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
        """Pearson's correlation of `a` with `b` over positions, in [-1, 1]; NaN where either does not vary.

        Shapes, mask and errors as in `mean`. Resamples in which either does not vary are passed over.
        """
        (first, of), (second, _) = self._select(a, mask), self._select(b, mask)
        n, games = self._n_and_games(of)
        if n == 0 or np.ptp(first) == 0 or np.ptp(second) == 0:
            return Estimate(math.nan, math.nan, math.nan, n, games)
        first, second = first - first.mean(), second - second.mean()  # so that squares lose no digits
        products = (first, second, first * first, second * second, first * second)
        columns = [np.bincount(of, weights=values, minlength=self._units) for values in products]
        sums = np.column_stack(columns).astype(np.float64)
        value = float(_correlations(sums.sum(axis=0)[None] / n)[0])
        drawn = _correlations(self._resampled_means(sums, np.bincount(of, minlength=self._units)))
        drawn = drawn[np.isfinite(drawn)]
        return _with_interval(value, drawn, n, games) if drawn.size else Estimate(value, math.nan, math.nan, n, games)

    def difference(self, a: ArrayLike, b: ArrayLike, mask: ArrayLike | None = None) -> Estimate:
        """The mean of `a` - `b`, position by position: much tighter than comparing two intervals, as both sides met
        the same positions. Shapes, mask and errors as in `mean`."""
        return self.mean(self._shaped(a, "a") - self._shaped(b, "b"), mask)

    def resampled_means(self, values: ArrayLike) -> NDArray[np.float64]:
        """The mean of `values` in every resample, float64 (resamples,)."""
        sums = np.bincount(self._of, weights=self._shaped(values), minlength=self._units).astype(np.float64)
        return self._resampled_means(sums[:, None], np.bincount(self._of, minlength=self._units))[:, 0]

    def calibration_error(self, probability: ArrayLike, outcome: ArrayLike, bins: int = 10) -> Estimate:
        """The expected calibration error (ECE): how far predicted and observed shares lie apart, mean over positions.

        `probability` and `outcome` have shape (positions,) and lie in [0, 1]; `bins` equal bins divide [0, 1], the
        last one with its upper end. Value and interval lie in [0, 1]. Noise can only add to an ECE, and adds to that
        of a resample once more; so the interval is the "basic" one, which takes that shift off again, and it reaches
        down to 0 where noise alone explains the value. Raises ValueError on another shape, values outside [0, 1] or
        fewer than one bin.
        """
        chance, happened = self._pair(probability, outcome)
        at = _bin(chance, bins)
        flat = np.bincount(self._of * bins + at, weights=chance - happened, minlength=self._units * bins)
        gaps = flat.astype(np.float64).reshape(self._units, bins)
        return self._calibration(gaps, np.bincount(self._of, minlength=self._units), *self._n_and_games(self._of))

    def binned_calibration_error(self, gaps: ArrayLike, over: ArrayLike) -> Estimate:
        """The same where a position holds many predictions, which its caller has put into bins.

        `gaps` has shape (positions, bins): in each bin, the sum of predicted less observed; `over` (positions,) is how
        many predictions each position holds. Positions that hold none are not counted.
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
        """The figure of `calibration_error` from each game's gaps [games, bins] and number of predictions [games]."""
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
                raise ValueError(f"{name} must lie in [0, 1] everywhere")
        return chance, happened

    def _shaped(self, values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.shape != (self.positions,):
            raise ValueError(f"{name} must have shape ({self.positions},), one a position, not {numbers.shape}")
        return numbers

    def _select(self, values: ArrayLike, mask: ArrayLike | None) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Values and game indices of the positions in the mask."""
        numbers, of = self._shaped(values), self._of
        if mask is not None:
            kept = self._mask(mask)
            numbers, of = numbers[kept], of[kept]
        if not np.all(np.isfinite(numbers)):
            raise ValueError("values are not all finite: mask out the positions that have none")
        return numbers, of

    def _mask(self, mask: ArrayLike) -> NDArray[np.bool_]:
        kept = np.asarray(mask, dtype=np.bool_)
        if kept.shape != (self.positions,):
            raise ValueError(f"mask must have shape ({self.positions},), one a position, not {kept.shape}")
        return kept

    def _n_and_games(self, of: NDArray[np.intp]) -> tuple[int, int]:
        """How many positions, and of how many games."""
        return len(of), int(np.count_nonzero(np.bincount(of, minlength=self._units)))

    def _resampled_means(self, sums: NDArray[np.float64], counts: NDArray[Any]) -> NDArray[np.float64]:
        """Column total / count in every resample of the games that count, shape (resamples, columns).

        `sums` has shape (games, columns), per-game totals; `counts` (games,) is what they are divided by: how many
        positions each game has, or how much its positions count.
        """
        present = counts > 0
        totals = self._resampled(np.column_stack([sums[present], counts[present]]))
        shares: NDArray[np.float64] = totals[:, :-1] / totals[:, -1:]
        return shares

    def _resampled(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Column totals of every resample, shape (resamples, columns). Weights are made a chunk at a time."""
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
    """The mean of `values` over the positions of `one` less that of `others` over those of `other`, which have no game
    in common. The two must have different seeds: equal draws would not be independent. No interval if either has one
    game."""
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
    """What a reliability picture shows: per bin of predicted probability, how often it happened.

    Arguments as in `ClusterBootstrap.calibration_error`, `game` as in `ClusterBootstrap`. Each row is {"low", "high":
    the bin's ends, "predicted": mean probability, "observed": the figure as JSON, "n": positions}. Bins without
    positions have no row.
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
    """The rows of `reliability` where a position holds many predictions, which its caller has put into bins.

    Arrays of shape (positions, bins): in each bin the sum of predictions, how many came true, how many there are. A
    row's "n" counts predictions; its figure's n counts positions that have any in the bin.
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
    """The log loss of each position, in nats: -log of the probability given to what happened.

    `probability` and `outcome` broadcast and lie in [0, 1]; an outcome between 0 and 1 weighs both sides.
    Probabilities are clipped to [1e-7, 1 - 1e-7], so no loss exceeds 16.2.
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
    """The mean of `values` slice by slice: rows {"slice": label, "figure": Estimate}, in order, empty slices included.

    With `edges` (rising; infinities allowed), slice i holds the positions with edges[i] <= key < edges[i + 1], and
    `labels` (one fewer than edges) names them, or else the edges do. Without `edges`, `key` holds indices into
    `labels`. Positions in no slice (key NaN or outside) are not lost: a last row "other" has them, if there are any.
    `over` as in `ClusterBootstrap.mean`.
    Raises ValueError when neither is given, or lengths do not fit.
    """
    groups = game if isinstance(game, ClusterBootstrap) else ClusterBootstrap(game)
    keys = groups._shaped(key, "key")
    if edges is not None:
        bounds = np.asarray(edges, dtype=np.float64)
        if len(bounds) < 2 or not np.all(np.diff(bounds) > 0):
            raise ValueError(f"edges must rise and be at least two, not {list(edges)}")
        whole = np.issubdtype(np.asarray(key).dtype, np.integer)
        names = list(labels) if labels is not None else _edge_labels(bounds, whole)
        if len(names) != len(bounds) - 1:
            raise ValueError(f"{len(bounds)} edges make {len(bounds) - 1} slices, but there are {len(names)} labels")
        at = np.searchsorted(bounds, keys, side="right") - 1
    elif labels is not None:
        names = list(labels)
        at = np.where(np.isin(keys, np.arange(len(names))), keys, -1).astype(np.intp)
    else:
        raise ValueError("slices needs edges or labels")
    inside = (at >= 0) & (at < len(names))
    rows = [{"slice": name, "figure": groups.mean(values, at == index, over)} for index, name in enumerate(names)]
    if not inside.all():
        rows.append({"slice": "other", "figure": groups.mean(values, ~inside, over)})
    return rows


def _edge_labels(bounds: NDArray[np.float64], whole: bool) -> list[str]:
    """ "0-9" for whole keys, "0 to 0.5" for others, "2500 and over" and "under 1000" at open ends."""
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
    """Correlations from means of a, b, a², b² and ab, shape (n, 5)."""
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
    """The figure with the middle 95% of what the resamples gave. Sums taken in another order differ in the last bit:
    the value must not fall outside for that."""
    if games == 1:
        return Estimate(value, math.nan, math.nan, n, games)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(value, min(float(low), value), max(float(high), value), n, games)


def _is_share(numbers: NDArray[np.float64], values: ArrayLike, over_others: bool) -> bool:
    """Whether a mean of 0 or 1 is a share: of yes and no, of whole numbers over others, or scores that are all 1."""
    kind = np.asarray(values).dtype.kind
    if over_others:
        return bool(numbers.min(initial=0) >= 0) and (kind in "biu" or bool((numbers % 1 == 0).all()))
    return kind == "b" or (kind == "f" and bool((numbers == 1).all()))


def _all_alike(share: Estimate) -> Estimate:
    """A share with its interval; where all positions are alike, resamples say nothing of how games differ. But that n
    of n come out alike has a chance of 2.5% where a share of 1 - 0.025 ** (1 / n) comes out otherwise; n are the
    positions, as if each were of a game of its own, so that the interval is no wider than that."""
    if not share.high - share.low < 1e-9 or share.value not in (0.0, 1.0):
        return share
    other = 1 - (1 - LEVEL) ** (1 / share.n)
    return replace(share, low=share.value * (1 - other), high=1 - (1 - share.value) * (1 - other))


def _bundled(table: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Rows dealt at random into `MOST_UNITS` piles, each pile summed."""
    pile = rng.permutation(len(table)) % MOST_UNITS
    return np.column_stack([np.bincount(pile, weights=column, minlength=MOST_UNITS) for column in table.T])


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number
