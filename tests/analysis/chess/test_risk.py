"""The risk of a position: the predicted moves times the probability that each of them is a mistake."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz.analysis.chess.judging import FirstLook
from kibitz.analysis.chess.risk import LOSS, RISK_RATINGS, mistake_probability, risk

MOVES = np.array([7, 3, 9], np.uint16)
LOOK = FirstLook(MOVES, np.array([0.0, 0.5, 0.02]))


def shares(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_a_larger_first_estimate_is_more_often_a_mistake() -> None:
    found = mistake_probability(np.linspace(0, 1, 50), 1600)
    assert (np.diff(found) >= 0).all()
    assert 0 < found[0] < 0.1 < 0.3 < found[-1] < 1


def test_the_same_estimate_is_a_mistake_more_rarely_for_stronger_players() -> None:
    weak, strong = (mistake_probability(np.array([LOSS, 0.3]), rating) for rating in (1000, 2200))
    assert (weak > strong).all()


def test_the_risk_is_that_of_the_likely_moves() -> None:
    safe = risk(LOOK, MOVES, shares(0.98, 0.01, 0.01), 1600)
    bad = risk(LOOK, MOVES, shares(0.01, 0.98, 0.01), 1600)
    assert safe is not None
    assert bad is not None
    assert safe < 0.1 < 0.3 < bad
    each = mistake_probability(LOOK.losses, 1600)
    assert risk(LOOK, MOVES, shares(1, 1, 2), 1600) == pytest.approx((each[0] + each[1] + 2 * each[2]) / 4)


def test_moves_are_found_in_any_order_and_unknown_ones_do_not_count() -> None:
    order = np.array([9, 7, 3, 60], np.uint16)
    assert risk(LOOK, order, shares(0.2, 0.5, 0.3, 5), 1600) == pytest.approx(
        risk(LOOK, MOVES, shares(0.5, 0.3, 0.2), 1600)
    )
    assert risk(LOOK, np.array([60], np.uint16), shares(1), 1600) is None


def test_an_only_move_has_no_risk() -> None:
    one = FirstLook(MOVES[:1], np.array([0.9]))
    assert risk(one, MOVES[:1], shares(1), 1600) == 0
    assert risk(FirstLook(MOVES[:2], np.array([0.9, 0.0])), MOVES[:1], shares(1), 1600) != 0


def test_the_shown_ratings_are_in_order() -> None:
    assert list(RISK_RATINGS) == sorted(RISK_RATINGS)
