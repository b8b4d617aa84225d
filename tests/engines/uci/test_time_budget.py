"""The share of the clock for one move: properties over any clock, and clocks that tournaments use."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.engines.uci.time_budget import moves_left, seconds_to_think

clocks = st.integers(-100_000, 10_000_000)
small = st.integers(0, 10_000)


@given(clocks, st.integers(-10, 100_000), st.none() | st.integers(-5, 200), st.none() | clocks, small)
def test_never_more_than_there_is(
    remaining: int, increment: int, moves: int | None, move_time: int | None, overhead: int
) -> None:
    seconds = seconds_to_think(remaining, increment, moves, move_time, overhead)
    assert seconds is not None
    assert 0 <= seconds * 1000 <= max(0, remaining - overhead)
    if move_time is not None:
        assert seconds * 1000 <= max(0, move_time)


@given(clocks, small, small, st.none() | st.integers(1, 60), small)
def test_more_time_is_never_less_thought(
    remaining: int, more: int, increment: int, moves: int | None, overhead: int
) -> None:
    def at(clock: int, gain: int) -> float:
        seconds = seconds_to_think(clock, gain, moves, None, overhead)
        assert seconds is not None
        return seconds

    assert at(remaining, increment) <= at(remaining + more, increment) <= at(remaining + more, increment + more)


@given(st.integers(1000, 600_000), st.integers(0, 5000), st.none() | st.integers(1, 40), st.none() | st.integers(1, 99))
def test_a_whole_game_stays_on_the_clock(clock: int, increment: int, control: int | None, first: int | None) -> None:
    """Every move takes its share and half the overhead more: 200 moves, and time is left after each."""
    overhead, left = 30, float(clock)
    for move in range(200):
        to_go = control and control - move % control
        seconds = seconds_to_think(int(left), increment, to_go, None, overhead, first and first + move)
        assert seconds is not None
        if seconds == 0:
            assert left < overhead + 1  # only what is as good as gone is played at once
            break
        left -= seconds * 1000 + overhead / 2
        assert left > 0
        left += increment + (clock if to_go == 1 else 0)


@pytest.mark.parametrize(
    ("remaining", "increment", "moves", "move_time", "low", "high"),
    [
        (600_000, 0, None, None, 15, 25),  # ten minutes
        (180_000, 2000, None, None, 6, 9),  # three and two
        (60_000, 0, 40, None, 1.5, 2.5),
        (60_000, 0, 2, None, 25, 31),
        (60_000, 0, 1, None, 40, 59.97),  # the clock is filled up after this move, and never emptied before
        (100, 0, None, None, 0, 0.01),
        (100, 100, None, None, 0.025, 0.07),
        (30, 0, None, None, 0, 0),
        (0, 0, None, None, 0, 0),
        (-500, 1000, None, None, 0, 0),
        (None, 0, None, 50, 0.0475, 0.0475),
        (None, 0, None, 10, 0.0095, 0.0095),
        (1000, 0, None, 5000, 0, 0.05),  # the clock is the harder limit
        (600_000, 0, None, 100, 0.095, 0.095),
    ],
)
def test_clocks(
    remaining: int | None, increment: int, moves: int | None, move_time: int | None, low: float, high: float
) -> None:
    seconds = seconds_to_think(remaining, increment, moves, move_time, overhead=30)
    assert seconds is not None
    assert low <= seconds <= high


def test_no_clock_no_limit() -> None:
    assert seconds_to_think(None, 1000, 10, None, 30) is None


def test_fewer_moves_are_left_the_further_a_game_is() -> None:
    left = [moves_left(move) for move in range(1, 150)]
    assert 49 < left[0] < 52
    assert all(before >= after >= 16 for before, after in pairwise(left))


def test_no_move_takes_nearly_all_unless_the_clock_is_filled_up_after_it() -> None:
    assert seconds_to_think(1000, 100_000) == 0.42
    assert seconds_to_think(1000, 100_000, 1) == 0.8
