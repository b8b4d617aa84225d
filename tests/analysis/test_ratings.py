"""What a network is told beside the position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kibitz.analysis import ratings
from kibitz.analysis.moves import Judged

BEYOND = {"rating": 150, "outcome": 3}
GAME = '[WhiteElo "{}"]\n[BlackElo "{}"]\n\n1. e4 e5 *\n'


@pytest.mark.parametrize(
    ("white", "black", "column", "lacking"),
    [
        ("2000", "1605", [125, 100, 125], False), ("?", "1605", [150, 100, 150], True), ("", "-", [150] * 3, True),
        ("9999", "5", [255, 150, 255], False), ("0", "2000", [150, 125, 150], True),
    ],
)  # fmt: skip
def test_the_movers_rating(
    white: str, black: str, column: list[int], lacking: bool, judge_fake: Callable[..., Judged], make_fake: Any
) -> None:
    fake = make_fake(BEYOND, value=[0.0])
    judged = judge_fake(GAME.format(white, black), fake)
    ((_, state),) = fake.asked
    assert state[:, 4].tolist() == column
    assert state[:, 5].tolist() == [3, 3, 3]
    assert ratings.lacking(judged.record.game.headers) == lacking


def test_nothing_is_told_where_nothing_is_asked() -> None:
    state = np.zeros((3, 4), np.uint8)
    headers: Any = {}
    assert np.array_equal(ratings.told(state, headers, {}), state)


def test_the_unit_is_that_of_training() -> None:
    from kibitz.systems import movenets

    assert ratings.UNIT == movenets.RATING_UNIT
