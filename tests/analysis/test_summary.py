"""The summary of a game: accuracy by the published formulas, counts, and the turning point."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.analysis.summary import (
    AHEAD,
    EVEN,
    TurningPoint,
    move_accuracy,
    points_accuracy,
    summarize,
    turning_point,
    win_accuracy,
)

SIDES = ("white", "black")
VALUES = st.lists(st.floats(0, 1), min_size=3, max_size=120)


def lichess(values: Sequence[float]) -> dict[str, float]:
    """The accuracy of both players as Lichess describes it, from White's win percentages, White to move first."""
    percents = [100 * value for value in values]
    moves = len(percents) - 1
    size = min(max(moves // 10, 2), 8)
    windows = [percents[:size]] * (size - 2) + [percents[i : i + size] for i in range(len(percents) - size + 1)]
    weights = [min(max(statistics.pstdev(window), 0.5), 12) for window in windows]
    found = {}
    for first, side in enumerate(SIDES):
        own = range(first, moves, 2)
        lost = [(percents[i] - percents[i + 1]) * (1 if side == "white" else -1) for i in own]
        each = [
            100 if one <= 0 else min(100, max(0, 103.1668100711649 * math.exp(-0.04354415386753951 * one) - 2.16692474))
            for one in lost
        ]
        weighted = sum(weights[i] * one for i, one in zip(own, each, strict=True)) / sum(weights[i] for i in own)
        harmonic = len(each) / sum(1 / max(one, 1) for one in each)
        found[side] = (weighted + harmonic) / 200
    return found


@given(VALUES)
def test_accuracy_is_lichesss(values: list[float]) -> None:
    movers = [SIDES[i % 2] for i in range(len(values) - 1)]
    signed = [
        (a - b) * (1 if mover == "white" else -1) for a, b, mover in zip(values, values[1:], movers, strict=False)
    ]
    losses = [max(0.0, one) for one in signed]
    for side, expected in lichess(values).items():
        assert win_accuracy(values, movers, losses, side) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("loss", "expected"), [(0, 1), (-0.2, 1), (0.001, 1), (0.1, 0.6458), (0.3, 0.2577), (1, 0)])
def test_accuracy_of_a_move(loss: float, expected: float) -> None:
    assert move_accuracy(loss) == pytest.approx(expected, abs=1e-4)


def test_moves_without_a_judgment_do_not_count() -> None:
    values, movers = [0.5, 0.5, 0.4, 0.4], ["white", "black", "white"]
    summary = summarize(SIDES, values, movers, [0.1, None, 0.0], ["?!", "", ""])
    white, black = summary.sides["white"], summary.sides["black"]
    assert (white.moves, white.loss, white.marks) == (2, 0.05, {"?!": 1, "?": 0, "??": 0})
    assert (black.moves, black.loss, black.accuracy) == (0, None, None)
    assert summary.as_json()["black"]["accuracy"] == {"value": None, "low": None, "high": None, "n": 0}
    assert summary.as_json()["white"]["marks"] == {"inaccuracies": 1, "mistakes": 0, "blunders": 0}


def test_accuracy_in_points() -> None:
    summary = summarize(
        ("black", "white"), [0.5, 0.6, 0.4], ["black", "white"], [2.0, 0.0], ["", ""], in_points=True
    )  # fmt: skip
    assert summary.sides["black"].accuracy == points_accuracy(2.0) == 0.5625
    assert summary.sides["white"].accuracy == 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.72, 0.8], TurningPoint(1, "white")),
        ([0.5, 0.72, 0.69, 0.71], TurningPoint(1, "white")),  # White stayed ahead in between
        ([0.5, 0.72, 0.52, 0.71], TurningPoint(3, "white")),  # it was open in between
        ([0.5, 0.6, 0.65, 0.6, 0.75], TurningPoint(1, "white")),  # the last move only confirmed the lead
        ([0.5, 0.75, 0.8, 0.61], TurningPoint(1, "white")),  # 61% is still a lead
        ([0.9, 0.9, 0.1, 0.1], TurningPoint(2, "black")),
        ([0.9, 0.9, 0.5, 0.6, 0.5], TurningPoint(2, "")),
        ([0.9, 0.9, 0.5, 0.6], None),  # White is ahead, but not clearly
        ([0.5, 0.6, 0.4], None),
        ([0.9, 0.8], None),
        ([0.5], None),
    ],
)
def test_turning_point(values: list[float], expected: TurningPoint | None) -> None:
    assert turning_point(values, SIDES) == expected


@pytest.mark.parametrize(
    ("leads", "expected"),
    [
        ([0, 5, 5, 5], TurningPoint(1, "white")),
        ([0, 5, -2.0, 5], TurningPoint(3, "white")),  # Black led in between, at 59%
        ([0, 5, 0.04, 5], TurningPoint(3, "white")),  # the lead is shown as 0
        ([0, None, None, 5], TurningPoint(1, "white")),
        ([0, 5, 5, -5], TurningPoint(2, "")),  # at the end nobody is ahead
        ([0, -5, -5, -5], None),
    ],
)
def test_who_is_ahead_leads_in_points_too(leads: list[float | None], expected: TurningPoint | None) -> None:
    values = [0.5, 0.72, 0.59, 0.8]
    assert turning_point(values, SIDES, leads) == expected
    assert turning_point([1 - value for value in values], SIDES[::-1], [lead and -lead for lead in leads]) == expected


@given(VALUES)
def test_after_the_turning_point_one_side_stays_ahead(values: list[float]) -> None:
    found = turning_point(values, SIDES)
    if found is None:
        return
    own = [1 - value if found.ahead == "black" else value for value in values]
    if found.ahead:
        assert min(own[found.ply :]) >= EVEN > own[found.ply - 1]
        assert max(own[found.ply :]) >= AHEAD
    else:
        assert all(1 - AHEAD < value < AHEAD for value in own[found.ply :])
        assert 1 - EVEN < own[-1] < EVEN
