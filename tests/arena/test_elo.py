"""Scores, intervals, LOS and SPRT, beside hand calculations and a plain formula."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit  # as scipy.stats has them, which takes a second to import

from kibitz.arena.elo import LARGE, Sprt, Tally, elo, expected, student_cdf, student_quantile

counts = st.integers(0, 300)
pairs = st.tuples(counts, counts, counts, counts, counts)


def of_pairs(numbers: tuple[int, int, int, int, int]) -> Tally:
    """A tally with these pairs. (Middle pairs as two draws: what they are made of does not change score or Elo.)"""
    none, half, one, more, both = numbers
    return Tally(2 * both + more, half + 2 * one + more, 2 * none + half, numbers)


def test_elo_of_known_scores() -> None:
    assert str(elo(0.5)) == "0.0"  # not -0.0
    assert elo(0.75) == pytest.approx(190.85, abs=0.01)  # the textbook's 191
    assert elo(10 / 11) == pytest.approx(400)
    assert (elo(0.0), elo(1.0)) == (-math.inf, math.inf)
    assert expected(400) == pytest.approx(10 / 11)


def test_trinomial_interval_by_hand() -> None:
    # 30 won, 50 drawn, 20 lost: mean 0.55; squares 30·0.45² + 50·0.05² + 20·0.55² = 12.25; error sqrt(12.25 / 99 / 100)
    score = Tally(30, 50, 20).score()
    assert score.value == pytest.approx(0.55)
    assert score.high - score.value == pytest.approx(1.984217 * 0.0351763, abs=1e-6)  # t of 99 degrees of freedom
    assert Tally(30, 50, 20).los() == pytest.approx(0.92084, abs=1e-5)  # its distribution at 0.05 / 0.0351763


def test_pentanomial_interval_by_hand() -> None:
    # pairs 1, 2, 4, 2, 1: squares 2·0.25 + 4·0.0625 = 0.75; error sqrt(0.75 / 9 / 10), and t of 9 degrees of freedom
    score = of_pairs((1, 2, 4, 2, 1)).score()
    assert score.value == 0.5
    assert score.high - 0.5 == pytest.approx(2.262157 * math.sqrt(0.75 / 90), abs=1e-6)


@given(st.integers(1, 1200), st.floats(-8, 8))
def test_students_distribution_beside_scipys(freedom: int, t: float) -> None:
    assert student_cdf(t, freedom) == pytest.approx(stdtr(freedom, t), abs=2e-4)
    assert student_quantile(0.975, freedom) == pytest.approx(stdtrit(freedom, 0.975), rel=2e-3)
    if freedom < LARGE:
        assert student_cdf(t, freedom) == pytest.approx(stdtr(freedom, t), abs=1e-12)


@pytest.mark.parametrize("number", [3, 5, 10, 40])
def test_intervals_hold_what_they_say(number: int) -> None:
    """Pairs of equal players, 35% won and 30% drawn: 95 of 100 intervals hold the half, however few the pairs."""
    rng, held, trials = np.random.default_rng(number), 0, 2000
    for _ in range(trials):
        points = rng.choice(3, (number, 2), p=(0.35, 0.3, 0.35))
        counts = np.bincount(points.ravel(), minlength=3)
        pairs = np.bincount(points.sum(1), minlength=5)
        score = Tally(int(counts[2]), int(counts[1]), int(counts[0]), tuple(pairs.tolist())).score()
        held += score.low <= 0.5 <= score.high
    assert held / trials > 0.935


def test_pairs_that_offset_each_other_narrow_the_interval() -> None:
    """20 openings that White wins: single games are as uneven as can be, and pairs all alike but for one."""
    paired = Tally(21, 0, 19, (0, 0, 19, 0, 1))
    assert paired.score().high - paired.score().low < 0.33 * (
        Tally(21, 0, 19).score().high - Tally(21, 0, 19).score().low
    )


def test_without_games_nothing_is_said() -> None:
    nothing = Tally(0, 0, 0)
    assert nothing.elo().as_json() == {"value": None, "low": None, "high": None, "n": 0}
    assert nothing.los() == 0.5
    assert Sprt(0, 10).llr(nothing) == 0


def test_all_won() -> None:
    whole = of_pairs((0, 0, 0, 0, 10)).elo().as_json()
    assert whole["value"] is None
    assert whole["high"] is None
    assert whole["low"] == pytest.approx(elo(0.025**0.1))  # ten of ten: the share whose tenth power is 2.5%
    assert of_pairs((0, 0, 0, 0, 10)).los() > 0.999


@given(pairs)
def test_changing_sides_changes_signs(numbers: tuple[int, int, int, int, int]) -> None:
    one, other = of_pairs(numbers), of_pairs(tuple(reversed(numbers)))  # type: ignore[arg-type]
    json.dumps(one.elo().as_json(), allow_nan=False)
    assert one.los() == pytest.approx(1 - other.los(), abs=1e-9)
    if one.games:
        assert one.score().value == pytest.approx(1 - other.score().value)
        assert one.score().low == pytest.approx(1 - other.score().high)
        assert one.score().low <= one.score().value <= one.score().high
    assert Sprt(-5, 5).llr(one) == pytest.approx(-Sprt(-5, 5).llr(other), abs=1e-6)


@given(st.integers(50, 300), st.integers(50, 300), st.integers(50, 300))
def test_sprt_beside_fishtests_short_formula(wins: int, draws: int, losses: int) -> None:
    """n / 2 · log of the spread around one hypothesis over that around the other: close where the score is."""
    tally = Tally(wins, draws, losses)
    share = [count / tally.games for count in (wins, draws, losses)]
    around = [sum(p * (a - expected(elo)) ** 2 for p, a in zip(share, (1, 0.5, 0), strict=True)) for elo in (-5, 5)]
    plain = tally.games / 2 * math.log(around[0] / around[1])
    assert Sprt(-5, 5).llr(tally) == pytest.approx(plain, rel=0.1, abs=0.02)


def test_sprt_by_hand() -> None:
    # no draws: the closest distributions are (1 - s, s) themselves, so the ratio is Wald's own
    s0, s1 = expected(0), expected(50)
    by_hand = 60 * math.log(s1 / s0) + 40 * math.log((1 - s1) / (1 - s0))
    assert Sprt(0, 50).llr(Tally(60, 0, 40)) == pytest.approx(by_hand, abs=0.01)


def test_sprt_bounds_and_decisions() -> None:
    test = Sprt(0, 10, 0.05, 0.05)
    assert test.bounds == pytest.approx((-2.944, 2.944), abs=1e-3)  # the usual ±2.94
    assert test.decision(of_pairs((10, 20, 40, 20, 10))) is None
    assert test.decision(of_pairs((100, 400, 1000, 700, 300))) == "H1"
    assert test.decision(of_pairs((300, 700, 1000, 400, 100))) == "H0"
    assert test.as_json(Tally(0, 0, 0))["decision"] is None
