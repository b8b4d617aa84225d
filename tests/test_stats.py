"""Figures over games: against slow loops, on the awkward cases, and whether the intervals hold what they promise."""

from __future__ import annotations

import json
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz.stats import (
    MOST_UNITS,
    ClusterBootstrap,
    Estimate,
    binned_reliability,
    difference_between,
    log_loss,
    reliability,
    slices,
)
from support.examples import share

rows = st.lists(
    st.tuples(st.integers(-3, 6), st.floats(0, 1), st.booleans(), st.booleans()),  # game, probability, outcome, mask
    min_size=1,
    max_size=60,
)


def columns(table: list[tuple[int, float, bool, bool]]) -> tuple[np.ndarray, ...]:
    game, probability, outcome, mask = zip(*table, strict=True)
    return np.array(game, np.int64), np.array(probability), np.array(outcome, float), np.array(mask)


def quick(game: np.ndarray) -> ClusterBootstrap:
    return ClusterBootstrap(game, resamples=40)


@given(rows)
def test_mean_is_the_slow_mean_inside_its_interval(table: list[tuple[int, float, bool, bool]]) -> None:
    game, values, _, mask = columns(table)
    kept = [(g, v) for g, v, m in zip(game, values, mask, strict=True) if m]
    figure = quick(game).mean(values, mask)
    assert figure.n == len(kept)
    assert figure.games == len({g for g, _ in kept})
    if not kept:
        assert math.isnan(figure.value)
        return
    assert figure.value == pytest.approx(sum(v for _, v in kept) / len(kept))
    if figure.games == 1:
        assert math.isnan(figure.low)
        assert math.isnan(figure.high)
    else:
        assert min(v for _, v in kept) - 1e-9 <= figure.low <= figure.value <= figure.high
        assert figure.high <= max(v for _, v in kept) + 1e-9


@given(rows, st.integers(1, 12))
def test_calibration_error_is_the_slow_one(table: list[tuple[int, float, bool, bool]], bins: int) -> None:
    game, probability, outcome, _ = columns(table)
    found: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for p, y in zip(probability, outcome, strict=True):
        found[min(int(p * bins), bins - 1)].append((p, y))
    error = sum(abs(sum(p for p, _ in b) / len(b) - sum(y for _, y in b) / len(b)) * len(b) for b in found.values())
    figure = quick(game).calibration_error(probability, outcome, bins)
    assert figure.value == pytest.approx(error / len(table))
    if figure.games > 1:
        assert 0 <= figure.low <= figure.value <= figure.high <= 1


def test_bootstrap_is_the_slow_bootstrap() -> None:
    """The interval is that of drawing whole games with replacement, done here one game at a time."""
    rng = np.random.default_rng(1)
    game = np.repeat(np.arange(30), rng.integers(1, 20, 30))
    values = rng.random(len(game)) + np.repeat(rng.random(30), np.bincount(game))
    means = []
    for _ in range(2000):
        drawn = [values[game == g] for g in rng.integers(30, size=30)]
        means.append(np.concatenate(drawn).mean())
    low, high = np.percentile(means, [2.5, 97.5])
    figure = ClusterBootstrap(game).mean(values)
    assert figure.low == pytest.approx(low, abs=0.1 * (high - low))
    assert figure.high == pytest.approx(high, abs=0.1 * (high - low))


def clustered(seed: int, games: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """All positions of a game share its outcome; two thirds of the games have outcome 1 whatever their length."""
    rng = np.random.default_rng(seed)
    game = np.repeat(np.arange(games), rng.integers(5, 30, games))
    return game, (rng.random(games) < 2 / 3).astype(float)[game]


def test_interval_over_games_is_wider_and_holds_the_truth() -> None:
    held = {"games": 0, "positions": 0}
    for seed in range(150):
        game, outcome = clustered(seed)
        over_games = ClusterBootstrap(game, resamples=300).mean(outcome)
        over_positions = ClusterBootstrap(np.arange(len(game)), resamples=300).mean(outcome)
        assert over_games.high - over_games.low > 2 * (over_positions.high - over_positions.low)
        held["games"] += over_games.low <= 2 / 3 <= over_games.high
        held["positions"] += over_positions.low <= 2 / 3 <= over_positions.high
    assert held["games"] >= 0.88 * 150
    assert held["positions"] <= 0.6 * 150


def test_calibration_error_of_calibrated_probabilities_reaches_zero() -> None:
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        game = np.repeat(np.arange(80), 10)
        chance = rng.random(80)
        outcome = (rng.random(80) < chance).astype(float)
        held += ClusterBootstrap(game, resamples=300).calibration_error(chance[game], outcome[game]).low == 0
    assert held >= 52


def test_calibration_error_that_is_there_is_seen() -> None:
    rng = np.random.default_rng(0)
    game = np.repeat(np.arange(500), 10)
    outcome = (rng.random(5000) < 0.5).astype(float)
    figure = ClusterBootstrap(game).calibration_error(np.full(5000, 0.8), outcome)
    assert figure.value == pytest.approx(0.3, abs=0.03)
    assert 0.25 < figure.low < 0.3 < figure.high + 0.03


def test_order_and_names_of_games_do_not_matter_and_calls_repeat() -> None:
    game, outcome = clustered(3)
    first = ClusterBootstrap(game).mean(outcome)
    assert ClusterBootstrap(game).mean(outcome) == first
    shuffled = np.random.default_rng(0).permutation(len(game))
    again = ClusterBootstrap(game[shuffled] * 1000 - 7).mean(outcome[shuffled])
    assert (again.value, again.low, again.high) == pytest.approx((first.value, first.low, first.high))


def test_paired_difference_is_tighter_than_two_intervals() -> None:
    game, outcome = clustered(4)
    worse = outcome - 0.1
    groups = ClusterBootstrap(game)
    figure = groups.difference(outcome, worse)
    assert figure.value == pytest.approx(0.1)
    assert figure.high - figure.low < 1e-9
    assert groups.difference(outcome > 0.5, worse > 0.5).value == 0


def test_equal_values_give_a_point() -> None:
    figure = ClusterBootstrap(np.array([5, 5, 9, 9, 9])).mean(np.full(5, 0.1))
    assert (figure.low, figure.high) == pytest.approx((0.1, 0.1))


def test_nothing_to_measure() -> None:
    empty = ClusterBootstrap(np.array([], np.int64))
    for figure in (
        empty.mean([]),
        empty.calibration_error([], []),
        ClusterBootstrap([1, 2]).mean([1, 0], [False, False]),
    ):
        assert math.isnan(figure.value)
        assert (figure.n, figure.games) == (0, 0)
        assert json.loads(json.dumps(figure.as_json(), allow_nan=False))["value"] is None


def test_more_games_than_units_keep_the_interval() -> None:
    games = MOST_UNITS * 2 + 5
    values = (np.random.default_rng(0).random(games) < 0.5).astype(float)
    figure = ClusterBootstrap(np.arange(games), resamples=200).mean(values)
    assert figure.games == games
    assert figure.high - figure.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(games), rel=0.2)


def test_values_under_the_mask_may_be_missing_but_no_others() -> None:
    groups = ClusterBootstrap([0, 1, 2])
    assert groups.mean([1, math.nan, 0], [True, False, True]).value == 0.5
    with pytest.raises(ValueError, match="mask out"):
        groups.mean([1, math.nan, 0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: ClusterBootstrap([[1, 2]]),
        lambda: ClusterBootstrap([1, 2]).mean([1, 2, 3]),
        lambda: ClusterBootstrap([1, 2]).mean([1, 2], [True]),
        lambda: ClusterBootstrap([1, 2]).calibration_error([0.5, 1.5], [0, 1]),
        lambda: ClusterBootstrap([1, 2]).calibration_error([0.5, math.nan], [0, 1]),
        lambda: ClusterBootstrap([1, 2]).calibration_error([0.5, 0.5], [0, 1], bins=0),
        lambda: slices([1, 2], [1, 2], [0, 1]),
        lambda: slices([1, 2], [1, 2], [0, 1], edges=[3, 2]),
        lambda: slices([1, 2], [1, 2], [0, 1], edges=[0, 1, 2], labels=["one"]),
    ],
)
def test_wrong_calls_are_refused(call: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each message is its own
        call()  # type: ignore[operator]


@given(rows, st.integers(1, 12))
@settings(max_examples=share(0.5))
def test_reliability_rows_make_up_the_whole(table: list[tuple[int, float, bool, bool]], bins: int) -> None:
    game, probability, outcome, _ = columns(table)
    made = reliability(probability, outcome, game, bins)
    assert sum(row["n"] for row in made) == len(table)
    assert sum(row["predicted"] * row["n"] for row in made) == pytest.approx(probability.sum())
    assert sum(row["observed"]["value"] * row["n"] for row in made) == pytest.approx(outcome.sum())
    assert all(row["low"] - 1e-9 <= row["predicted"] <= row["high"] + 1e-9 for row in made)


@given(st.floats(0, 1), st.booleans())
def test_log_loss_is_the_formula_and_finite(probability: float, outcome: bool) -> None:
    clipped = min(max(probability, 1e-7), 1 - 1e-7)
    found = float(log_loss(np.array([probability]), np.array([outcome]))[0])
    assert found == pytest.approx(-math.log(clipped if outcome else 1 - clipped), abs=1e-9)
    assert 0 <= found < 16.2


def test_slices_by_edges_keep_what_fits_none() -> None:
    key = np.array([-1, 0, 9, 10, 19, 25])
    made = slices(np.arange(6), np.arange(6), key, edges=[0, 10, 20])
    assert [(row["slice"], row["figure"].n) for row in made] == [("0-9", 2), ("10-19", 2), ("other", 2)]
    assert [row["figure"].value for row in made] == [1.5, 3.5, 2.5]


def test_slices_name_open_ends_and_put_nan_aside() -> None:
    key = np.array([1500.0, 2100, 2600, math.nan])
    made = slices([1, 1, 0, 0], ClusterBootstrap([0, 1, 2, 3]), key, edges=[-math.inf, 2000, 2500, math.inf])
    assert [row["slice"] for row in made] == ["under 2000", "2000 to 2500", "2500 and over", "other"]
    assert [row["figure"].value for row in made] == [1, 1, 0, 0]
    assert all(isinstance(row["figure"], Estimate) for row in made)


def test_slices_by_labels_keep_empty_ones() -> None:
    made = slices([1, 0, 1], [0, 1, 2], [0, 2, 7], labels=["opening", "middlegame", "endgame"])
    assert [(row["slice"], row["figure"].n) for row in made] == [
        ("opening", 1),
        ("middlegame", 0),
        ("endgame", 1),
        ("other", 1),
    ]


@given(rows)
@settings(max_examples=share(0.5))
def test_means_of_several_values_are_those_of_each(table: list[tuple[int, float, bool, bool]]) -> None:
    game, values, others, mask = columns(table)
    groups = quick(game)
    for one, alone in zip(groups.means([values, others], mask), (values, others), strict=True):
        assert one.as_json() == pytest.approx(groups.mean(alone, mask).as_json())
    assert groups.means([]) == []


@given(rows)
def test_correlation_is_the_slow_one(table: list[tuple[int, float, bool, bool]]) -> None:
    game, values, others, mask = columns(table)
    values = np.round(values, 3)  # differences that are lost in rounding are no variation
    figure = quick(game).correlation(values, others, mask)
    assert figure.n == mask.sum()
    if not mask.any() or np.ptp(values[mask]) == 0 or np.ptp(others[mask]) == 0:
        assert math.isnan(figure.value)
        return
    assert figure.value == pytest.approx(np.corrcoef(values[mask], others[mask])[0, 1], abs=1e-9)
    if not math.isnan(figure.low):
        assert -1 <= figure.low <= figure.value <= figure.high <= 1


def test_correlation_has_an_interval_that_narrows() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=4000)
    b = a + rng.normal(size=4000)  # 0.707
    wide, narrow = (ClusterBootstrap(np.arange(n) // 2).correlation(a[:n], b[:n]) for n in (100, 4000))
    assert wide.low < 0.707 < wide.high
    assert narrow.low < 0.707 < narrow.high
    assert narrow.high - narrow.low < (wide.high - wide.low) / 3
    far = ClusterBootstrap(np.arange(4000) // 2).correlation(a + 1e6, b)
    assert far.value == pytest.approx(narrow.value, abs=1e-6)


boards = st.lists(
    st.tuples(st.integers(0, 4), st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=6)),
    min_size=1,
    max_size=20,
)
"""Positions of games, each with some predictions and what came true."""


@given(boards)
def test_positions_of_many_predictions_are_those_predictions_one_by_one(
    table: list[tuple[int, list[tuple[float, bool]]]],
) -> None:
    """Sums over the points of a board give the figures of the points themselves, intervals too."""
    bins = 4
    game = np.array([one for one, _ in table])
    held = np.array([len(points) for _, points in table])
    chance, happened, counts = (np.zeros((len(table), bins)) for _ in range(3))
    for i, (_, points) in enumerate(table):
        for p, y in points:
            at = min(int(p * bins), bins - 1)
            chance[i, at] += p
            happened[i, at] += y
            counts[i, at] += 1
    each = np.repeat(game, held)
    p = np.array([p for _, points in table for p, _ in points])
    y = np.array([y for _, points in table for _, y in points], float)

    def same(a: Estimate, b: Estimate) -> bool:
        assert a.n == np.count_nonzero(held)
        ends = [(a.value, b.value), (a.games, b.games)]
        if a.value not in (0, 1):  # where all are alike, the interval depends on how many positions there are
            ends += [(a.low, b.low), (a.high, b.high)]
        return all(one == pytest.approx(other, abs=1e-9, nan_ok=True) for one, other in ends)

    groups = quick(game)
    assert same(groups.mean(happened.sum(1), over=held), quick(each).mean(y))
    assert same(groups.binned_calibration_error(chance - happened, held), quick(each).calibration_error(p, y, bins))
    rows, expected = (
        binned_reliability(chance, happened, counts, groups),
        reliability(p, y, each, bins) if len(p) else [],
    )
    for one, other in zip(rows, expected, strict=True):
        assert (one["low"], one["high"], one["n"]) == (other["low"], other["high"], other["n"])
        assert one["predicted"] == pytest.approx(other["predicted"])
        assert one["observed"]["value"] == pytest.approx(other["observed"]["value"])
        assert one["observed"]["games"] == other["observed"]["games"]


def test_slices_over_what_positions_hold() -> None:
    rows = slices([1, 4, 0], [1, 2, 3], [0, 0, 1], labels=("a", "b"), over=[2, 4, 0])
    assert [row["figure"].value for row in rows] == [pytest.approx(5 / 6), pytest.approx(math.nan, nan_ok=True)]
    assert [row["figure"].n for row in rows] == [2, 0]
    with pytest.raises(ValueError, match="gaps must have shape"):
        ClusterBootstrap([1, 2]).binned_calibration_error([0.5, 0.5], [1, 1])


def test_shares_that_are_all_alike_have_intervals() -> None:
    """Ten of ten: of a share that comes out otherwise in 31% of the cases 2.5% of all tens would still be alike."""
    groups = ClusterBootstrap(np.arange(10))
    for values in (np.ones(10, bool), np.ones(10)):
        right = groups.mean(values)
        assert (right.value, right.high) == (1, 1)
        assert right.low == pytest.approx(0.025**0.1)
    wrong = groups.mean(np.zeros(10, bool))
    assert (wrong.value, wrong.low) == (0, 0)
    assert wrong.high == pytest.approx(1 - 0.025**0.1)
    points = groups.mean(np.full(10, 361), over=np.full(10, 361))
    assert (points.value, points.low) == (1, pytest.approx(0.025**0.1))
    number = groups.mean(np.ones(10, int))  # a count that is always 1 is no share
    assert (number.low, number.high) == (1, 1)
    assert np.isnan(ClusterBootstrap(np.zeros(5)).mean(np.ones(5, bool)).low)
    assert reliability(np.full(12, 0.95), np.ones(12), np.arange(12))[0]["observed"]["low"] == pytest.approx(
        0.025 ** (1 / 12)
    )


def test_bins_in_which_nothing_or_everything_happened_have_intervals() -> None:
    for happened, bound in ((0.0, 1 - 0.025 ** (1 / 12)), (1.0, 0.025 ** (1 / 12))):
        (row,) = reliability(np.full(12, 0.95), np.full(12, happened), np.arange(12))
        assert row["observed"]["high" if happened == 0 else "low"] == pytest.approx(bound)
        counts = np.tile([12.0, 0.0], (12, 1))
        (row,) = binned_reliability(0.5 * counts, happened * counts, counts, np.arange(12))
        assert row["observed"]["high" if happened == 0 else "low"] == pytest.approx(bound)


def test_a_bin_of_results_that_are_all_alike_has_an_interval_over_games() -> None:
    """Three games with a hundred positions each are three results, not three hundred."""
    game, won = np.repeat(np.arange(6), 100), np.repeat([1, 1, 1, 0, 1, 0], 100)
    chance = np.repeat([0.95, 0.95, 0.95, 0.15, 0.25, 0.25], 100)
    lost, mixed, winning = reliability(chance, won, game)
    assert winning["observed"]["low"] == pytest.approx(0.025 ** (1 / 3))
    assert winning["n"] == 300
    assert mixed["observed"]["value"] == 0.5
    assert lost["observed"]["high"] is None  # from one game
    won[599] = 1  # now it is an event of positions, which differs inside a game
    assert reliability(chance, won, game)[-1]["observed"]["low"] == pytest.approx(0.025 ** (1 / 300))


def test_without_positions_there_is_no_mean_and_no_difference() -> None:
    none, some = ClusterBootstrap([], resamples=5), ClusterBootstrap([1, 2], resamples=5, seed=2)
    assert np.isnan(none.resampled_means([])).tolist() == [True] * 5
    for one, other in ((none, some), (some, none)):
        found = difference_between(one, np.ones(one.positions), other, np.ones(other.positions))
        assert np.isnan([found.value, found.low, found.high]).all()
        assert (found.n, found.games) == (2, 2)


def test_differences_are_no_shares() -> None:
    values = np.array([3, -3] * 100)
    groups = ClusterBootstrap(np.arange(200))
    whole, halves = groups.mean(values, over=np.full(200, 10)), groups.mean(values / 2, over=np.full(200, 5))
    assert (whole.value, whole.low, whole.high) == pytest.approx((0, halves.low, halves.high))
    assert whole.low < -0.01
    one, none, few = np.ones(10), np.zeros(10), ClusterBootstrap(np.arange(10))
    more, fewer = few.difference(one, none), few.difference(none, one)
    assert (fewer.value, fewer.low, fewer.high) == (-1, -more.high, -more.low)
    assert more.low == pytest.approx(0.025**0.1)


def test_what_never_happened_is_no_less_certain_than_what_happened_once() -> None:
    groups = ClusterBootstrap(np.repeat(np.arange(50), 80))
    never, once = np.zeros(4000, bool), np.zeros(4000, bool)
    once[7] = True
    assert 0.0005 < groups.mean(never).high < 2 * groups.mean(once).high


def test_results_that_are_all_0_have_an_interval_like_results_that_are_all_1() -> None:
    groups = ClusterBootstrap(np.arange(12))
    lost, won = groups.mean(np.zeros(12), score=True), groups.mean(np.ones(12), score=True)
    assert (lost.value, lost.low, lost.high) == (0, 0, pytest.approx(1 - won.low))
    assert won.low < 0.8
    assert groups.mean(np.zeros(12)).high == 0, "a loss of 0 is no share"
    assert math.isnan(groups.mean(np.zeros(12), np.zeros(12, bool), score=True).value)
    halves = np.array([0.5] * 6 + [0.0] * 6)
    _, wrong = slices(halves, groups, np.arange(12) // 6, labels=("even", "wrong"), score=True)
    assert wrong["figure"].high == pytest.approx(1 - 0.025 ** (1 / 6))
    assert groups.means([np.zeros(12)], score=True) == [lost]
