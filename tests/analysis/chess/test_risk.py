"""The risk of a position: the predicted moves times the probability that each of them is a mistake."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz.analysis.chess.judging import FirstLook
from kibitz.analysis.chess.risk import LOSS, RISK_RATINGS, VISITS, mistake_probability, risk, searched_losses
from kibitz.play.puct.player import NO_ROOT_MOVES, RootMoves

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


def test_a_searched_loss_counts_instead_of_the_estimate() -> None:
    some = shares(0.5, 0.3, 0.2)
    good, bad = (risk(LOOK, MOVES, some, 1600, {7: loss, 3: 0.0, 9: 0.0}) for loss in (0.0, 0.3))
    assert good is not None
    assert bad is not None
    assert good < 0.02
    assert 0.4 < bad < 0.5  # the first move has half of the probability
    # The estimate of a searched move changes nothing.
    other = FirstLook(MOVES, np.array([0.4, 0.0, 0.3]))
    assert risk(other, MOVES, some, 1600, {7: 0.3, 3: 0.0, 9: 0.0}) == bad
    assert risk(other, MOVES, some, 1600) != risk(LOOK, MOVES, some, 1600)
    assert risk(FirstLook(MOVES[:1], np.zeros(1)), MOVES[:1], shares(1), 1600, {7: 0.9}) == 0


def test_a_move_that_the_search_hardly_visited_is_a_mistake_more_often() -> None:
    alone = shares(0, 0, 1)
    before, after = risk(LOOK, MOVES, alone, 1600), risk(LOOK, MOVES, alone, 1600, {7: 0.0})
    assert before is not None
    assert after is not None
    assert before < after < 1


def test_losses_are_those_of_moves_with_many_visits_or_a_proven_result() -> None:
    moves, values = np.array([7, 3, 9, 4], np.uint16), np.array([0.5, 0.1, 0.9, -1.0])
    visits, proven = np.array([VISITS, 99, VISITS - 1, 1]), np.array([False, False, False, True])
    found = searched_losses(RootMoves(moves, values, visits, proven))
    assert found == pytest.approx({7: 0.0, 3: 0.2, 4: 0.75})
    more = searched_losses(RootMoves(moves, values, visits + 1, proven))
    assert more == pytest.approx({7: 0.2, 3: 0.4, 9: 0, 4: 0.95})
    assert searched_losses(NO_ROOT_MOVES) == {}
