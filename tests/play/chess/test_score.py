"""Values as centipawns, mates and chances, by their words."""

from __future__ import annotations

import math

import pytest

from kibitz.play.chess import score
from kibitz.play.chess.score import CLAMP, MATED, STEP


@pytest.mark.parametrize("value", [-0.99, -0.5, -0.1, 0.0, 0.001, 0.25, 0.9, 0.9999])
def test_centipawns_are_those_of_lichess(value: float) -> None:
    centipawns = score.centipawns(value)
    if abs(centipawns) < CLAMP:
        assert 1 / (1 + math.exp(-0.00368208 * centipawns)) == pytest.approx((1 + value) / 2, abs=1e-3)
        assert score.of_centipawns(centipawns) == pytest.approx(value, abs=2e-3)
    assert score.centipawns(-value) == -centipawns


@pytest.mark.parametrize("value", [1.0, 0.99999999, 1.5, 2.0])
def test_centipawns_have_an_end(value: float) -> None:
    assert (score.centipawns(value), score.centipawns(-value)) == (CLAMP, -CLAMP)


@pytest.mark.parametrize("value", [-1.0, -0.6, 0.0, 0.2, 0.7, 1.0])
def test_half_of_what_the_square_leaves_is_drawn(value: float) -> None:
    win, drawn, loss = score.chances(value)
    assert drawn == pytest.approx(500 * (1 - value**2), abs=1)
    assert win - loss == pytest.approx(1000 * value, abs=2)
    assert win + drawn + loss == 1000


def test_mates_beyond_the_values_are_sure() -> None:
    assert score.chances(1.5) == score.chances(1.0) == (1000, 0, 0)
    assert score.chances(-1.5) == (0, 0, 1000)


def test_plies_and_moves_to_a_mate() -> None:
    assert [score.mate(2 - plies * STEP) for plies in (1, 3, 5, 99)] == [1, 2, 3, 50]
    assert [score.mate(-2 + plies * STEP) for plies in (0, 2, 4, 98)] == [0, -1, -2, -49]
    assert score.mate(1.0) is score.mate(-1.0) is score.mate(0.0) is None


def test_a_mate_is_a_ply_further_from_the_parent() -> None:
    assert score.to_parent(MATED) == 2 - STEP
    assert score.to_parent(2 - STEP) == -2 + 2 * STEP
    assert score.to_parent(1.0) == -1.0
    assert score.to_parent(-1.0) == 1.0
    assert score.to_child(2 - STEP) == MATED
    assert score.to_child(1.0) == -1.0
    assert score.to_child(-1.0) == 1.0
