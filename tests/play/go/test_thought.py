"""The conditions of a game of Go, as the players are told them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kibitz.games.go.rulesets import NAMED
from kibitz.play.go.thought import MoveThought, Terms


@pytest.mark.parametrize(
    ("rules", "handicap", "terms"),
    [
        ("chinese", 0, Terms(6.5, False, 0)),
        ("chinese", 3, Terms(9.5, False, 3)),
        ("aga", 3, Terms(8.5, False, 3)),
        ("new-zealand", 3, Terms(6.5, False, 3)),
        ("japanese", 0, Terms(6.5, True, 0)),
        ("japanese", 3, Terms(6.5, True, 3)),
    ],
)
def test_handicap_stones_are_paid_by_the_rules(rules: str, handicap: int, terms: Terms) -> None:
    """A point for each stone, for each but one, or nothing; under territory scoring a stone is no point of area."""
    assert Terms.by(NAMED[rules], 6.5, handicap) == terms
    assert terms.margin == terms.komi + (handicap if rules == "japanese" else 0)
    assert Terms.of_record(rules, 6.5, handicap) == terms


def test_a_record_without_rules_is_counted_by_area() -> None:
    assert Terms.of_record(None, 7.5, 0) == Terms(7.5, False, 0)


def test_a_position_alone_has_no_players() -> None:
    assert Terms(7.5, True, 2).between_players
    assert Terms(7.5, True, 2).for_board() == Terms(7.5, True, 2, between_players=False)


def test_a_move_has_a_map_only_where_it_was_asked_for() -> None:
    move = MoveThought(60, 1, 0.5, 0.5, 0.4, 1.0, 9.0, None, 0, (60,), (1,))
    assert move.owners is None
    assert repr(replace(move, owners=np.zeros(361, np.float32))) == repr(move)
