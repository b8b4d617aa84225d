"""What a network is told beside the position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kibitz.analysis.chess import ratings
from kibitz.analysis.chess.moves import AnalysedGame
from kibitz.errors import UsageError

BEYOND = {"rating": 150, "outcome": 3}
GAME = '[WhiteElo "{}"]\n[BlackElo "{}"]\n\n1. e4 e5 *\n'


@pytest.mark.parametrize(
    ("white", "black", "column", "lacking"),
    [
        ("2000", "1605", [125, 100, 125], False), ("?", "1605", [150, 100, 150], True), ("", "-", [150] * 3, True),
        ("9999", "5", [150] * 3, True), ("0", "2000", [150, 125, 150], True),
    ],
)  # fmt: skip
def test_the_movers_rating(
    white: str, black: str, column: list[int], lacking: bool, judge_fake: Callable[..., AnalysedGame], make_fake: Any
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
    assert np.array_equal(ratings.add_side_inputs(state, headers, {}), state)


def test_the_unit_is_that_of_training() -> None:
    from kibitz.systems.movers import nets

    assert ratings.UNIT == nets.RATING_UNIT


HUMAN = dict.fromkeys(
    ("rating", "opponent_rating", "speed", "scale", "last_from", "last_to", "before_from", "before_to"), 0
)
TOLD = (
    '[Event "Rated game"]\n[Site "https://lichess.org/a"]\n[WhiteElo "2000"]\n[BlackElo "1600"]\n[TimeControl "180+0"]'
    "\n\n1. e4 e5 2. Nf3 *\n"
)


def test_both_ratings_speed_scale_and_last_moves(judge_fake: Callable[..., AnalysedGame], make_fake: Any) -> None:
    fake = make_fake(HUMAN, value=[0.0])
    judge_fake(TOLD, fake)
    state = fake.asked[0][1]
    assert state[:, 4].tolist() == [125, 100, 125, 100]
    assert state[:, 5].tolist() == [100, 125, 100, 125]
    assert set(state[:, 6]) == {2}, "blitz"
    assert set(state[:, 7]) == {2}, "lichess"
    e2, e4, e7, e5, g1, f3 = (square + 1 for square in (12, 28, 52, 36, 6, 21))
    assert state[:, 8:].tolist() == [[0, 0, 0, 0], [e2, e4, 0, 0], [e7, e5, e2, e4], [g1, f3, e7, e5]]


def test_ratings_that_are_given_come_before_the_headers() -> None:
    state = np.array([[0, 0, 0, 0], [1, 0, 0, 0]], np.uint8)
    headers: Any = {"WhiteElo": "2000", "BlackElo": "2000"}
    assert ratings.add_side_inputs(state, headers, HUMAN, ratings=(800, 1600))[:, 4:6].tolist() == [
        [50, 100],
        [100, 50],
    ]


@pytest.mark.parametrize(
    ("white", "known"), [("99", 0), ("100", 100), ("4000", 4000), ("4001", 0), ("9999", 0), ("?", 0), ("", 0)]
)
def test_a_rating_that_nobody_has_is_not_believed(white: str, known: int) -> None:
    headers: Any = {"WhiteElo": white, "BlackElo": "2000"}
    assert ratings.ratings_of(headers) == (known, 2000)
    assert ratings.lacking(headers) == (known == 0)


@pytest.mark.parametrize(
    ("text", "pair"), [("1500", (1500, 1500)), ("1500,1720", (1500, 1720)), (" 900/950", (900, 950))]
)
def test_a_pair_of_ratings(text: str, pair: tuple[int, int]) -> None:
    assert ratings.read_pair(text) == pair


@pytest.mark.parametrize("text", ["", "strong", "0", "99", "4001", "-5", "1500,", "1,2,3", "1e3"])
def test_no_pair_of_ratings(text: str) -> None:
    with pytest.raises(UsageError, match="--rating"):
        ratings.read_pair(text)
