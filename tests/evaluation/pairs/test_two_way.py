"""Intervals over pairs of games, against a slow bootstrap and against the truth of made-up games."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from kibitz.evaluation.pairs import two_way
from kibitz.evaluation.pairs.two_way import TwoWayBootstrap, clustered_mean
from kibitz.stats import ClusterBootstrap, difference_between, reliability, slices


def made(rng: np.random.Generator, won: int, lost: int, pairs: int, spread: float) -> tuple[NDArray[np.int64], ...]:
    """Games of both sides with a strength each, and pairs that are right the likelier the stronger both are."""
    one, other = rng.normal(0, spread, won), rng.normal(0, spread, lost)
    left, right = rng.integers(won, size=pairs), rng.integers(lost, size=pairs)
    chance = 1 / (1 + np.exp(-(0.8 + one[left] + other[right])))
    return left, 1000 + right, (rng.random(pairs) < chance).astype(np.int64)


def slow(won: NDArray[np.int64], lost: NDArray[np.int64], values: NDArray[np.int64], times: int) -> tuple[float, float]:
    """Games of either side drawn with replacement, and every pair between drawn games counted once a drawing."""
    rng = np.random.default_rng(99)
    left, right = np.unique(won).tolist(), np.unique(lost).tolist()
    means = []
    for _ in range(times):
        some, others = rng.choice(left, len(left)).tolist(), rng.choice(right, len(right)).tolist()
        total = [
            value * some.count(a) * others.count(b)
            for a, b, value in zip(won.tolist(), lost.tolist(), values.tolist(), strict=True)
        ]
        counts = [some.count(a) * others.count(b) for a, b in zip(won.tolist(), lost.tolist(), strict=True)]
        if sum(counts):
            means.append(sum(total) / sum(counts))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def test_interval_is_that_of_a_slow_bootstrap() -> None:
    won, lost, values = made(np.random.default_rng(5), 12, 9, 150, 1.5)
    figure = TwoWayBootstrap(won, lost, resamples=4000).mean(values)
    low, high = slow(won, lost, values, 2000)
    assert figure.value == pytest.approx(values.mean())
    assert (figure.n, figure.games) == (150, 21)
    assert figure.low == pytest.approx(low, abs=0.025)
    assert figure.high == pytest.approx(high, abs=0.025)
    one_sided = ClusterBootstrap(won).mean(values)
    assert high - low > 1.2 * (one_sided.high - one_sided.low), "the other side's games are chance, too"


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(7)
    rows = np.random.default_rng(8).normal(0, 1, (2, 200_000))
    truth = float((1 / (1 + np.exp(-(0.8 + rows[0] + rows[1])))).mean())
    held, held_by_one = 0, 0
    for _ in range(150):
        won, lost, values = made(rng, 40, 40, 4000, 1.0)
        for groups, one in ((TwoWayBootstrap(won, lost, 300), False), (ClusterBootstrap(won, 300), True)):
            figure = groups.mean(values)
            if figure.low <= truth <= figure.high:
                held, held_by_one = held + (not one), held_by_one + one
    assert held >= 0.88 * 150, "95%, less what chance and 40 games take"
    assert held_by_one < 0.88 * 150, "one side's games alone promise too much"


def test_bundles_of_games_give_the_same_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    won, lost, values = made(np.random.default_rng(11), 300, 300, 20_000, 1.0)
    whole = TwoWayBootstrap(won, lost).mean(values)
    monkeypatch.setattr(two_way, "BUNDLES", 100)
    bundled = TwoWayBootstrap(won, lost).mean(values)
    assert (bundled.value, bundled.n, bundled.games) == (whole.value, whole.n, whole.games)
    assert bundled.high - bundled.low == pytest.approx(whole.high - whole.low, rel=0.25)


def test_masks_slices_and_bins_work_as_over_positions() -> None:
    rng = np.random.default_rng(3)
    won, lost, values = made(rng, 20, 20, 500, 1.0)
    groups = TwoWayBootstrap(won, lost)
    some = rng.random(500) < 0.2
    figure = groups.mean(values, some)
    assert figure.value == pytest.approx(values[some].mean())
    assert (figure.n, figure.games) == (some.sum(), len(np.unique(won[some])) + len(np.unique(lost[some])))
    rows = slices(values, groups, some.astype(int), labels=("no", "yes"))
    assert rows[1]["figure"] == figure
    chance = np.clip(rng.normal(0.6, 0.2, 500), 0, 1)
    plain, both = ClusterBootstrap(won).calibration_error(chance, values), groups.calibration_error(chance, values)
    assert both.value == pytest.approx(plain.value)
    assert [row["n"] for row in reliability(chance, values, groups)] == [
        row["n"] for row in reliability(chance, values, won)
    ]


def test_one_game_of_a_side_has_no_interval() -> None:
    figure = TwoWayBootstrap([1, 1, 1], [2, 3, 4]).mean([0, 1, 1])
    assert figure.value == pytest.approx(2 / 3)
    assert math.isnan(figure.low)
    assert math.isnan(figure.high)
    assert figure.as_json()["low"] is None
    nothing = TwoWayBootstrap([1, 2], [3, 4]).mean([1, 1], [False, False])
    assert (nothing.n, nothing.games) == (0, 0)


def test_difference_of_pairs_that_share_no_game() -> None:
    rng = np.random.default_rng(2)
    one, other = made(rng, 30, 30, 900, 1.0), made(rng, 40, 40, 900, 1.0)
    groups = [TwoWayBootstrap(one[0], one[1], seed=1), TwoWayBootstrap(other[0], other[1], seed=2)]
    figure = difference_between(groups[0], one[2], groups[1], other[2])
    assert figure.value == pytest.approx(one[2].mean() - other[2].mean())
    widths = [groups[0].mean(one[2]), groups[1].mean(other[2])]
    wanted = math.hypot(*(width.high - width.low for width in widths))
    assert figure.high - figure.low == pytest.approx(wanted, rel=0.15)


def test_what_hangs_on_three_games() -> None:
    rng = np.random.default_rng(4)
    games = rng.permuted(np.tile(np.arange(40), (300, 1)), axis=1)[:, :3]
    strength = rng.normal(0, 1, 40)
    values = (strength[games].sum(axis=1) + rng.normal(0, 1, 300) > 0).astype(float)
    figure = clustered_mean(values, games)
    assert figure.value == pytest.approx(values.mean())
    assert (figure.n, figure.games) == (300, 40)
    off = values - values.mean()
    shares = (games[:, None, :, None] == games[None, :, None, :]).any(axis=(2, 3))
    variance = float((off[:, None] * off[None, :] * shares).sum()) / 300**2
    assert (figure.high - figure.low) / 2 == pytest.approx(1.96 * variance**0.5, rel=0.1)
    lone = clustered_mean(values, np.arange(900).reshape(300, 3))
    assert (lone.high - lone.low) / 2 == pytest.approx(1.96 * float(values.std()) / 300**0.5)
    assert figure.high - figure.low > 1.5 * (lone.high - lone.low), "values that share games tell less"
    assert clustered_mean([0.0] * 9, np.arange(27).reshape(9, 3)).low == 0
    assert math.isnan(clustered_mean([1.0], [[3, 3, 3]]).low)
