"""Human traps: what loses, what weaker players choose, and what strong players avoid."""

from __future__ import annotations

from kibitz.analysis.chess.traps import find_traps

RATINGS = (800, 1400, 1500, 2200, 2800)


def test_a_trap_loses_and_is_for_weaker_players() -> None:
    shares = {"a": [0.2, 0.3, 0.6, 0.1, 0.0], "b": [0.5, 0.2, 0.1, 0.1, 0.1]}
    first, second = find_traps(RATINGS, shares, {"a": 0.25, "b": 0.4})
    assert (first.move, first.weak_rating, first.weak, first.strong) == ("b", 800, 0.5, 0.1)
    assert (second.move, second.weak_rating, second.weak) == ("a", 1400, 0.3)  # the 60% at 1500 do not count


def test_no_trap_without_its_three_conditions() -> None:
    usual = {"a": [0.3, 0.3, 0.2, 0.1, 0.0]}
    assert find_traps(RATINGS, usual, {"a": 0.2})
    assert not find_traps(RATINGS, usual, {"a": 0.19})
    assert not find_traps(RATINGS, usual, {})  # not searched
    assert not find_traps(RATINGS, {"a": [0.09, 0.05, 0.2, 0.0, 0.0]}, {"a": 0.5})
    assert not find_traps(RATINGS, {"a": [0.3, 0.3, 0.2, 0.16, 0.0]}, {"a": 0.5})
