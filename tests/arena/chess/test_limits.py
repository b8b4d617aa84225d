from __future__ import annotations

import chess
import pytest

from kibitz.arena.chess.game import CLOCK_MARGIN, MOVETIME_GRACE, _patience
from kibitz.arena.chess.limits import ChessLimits, limits
from kibitz.errors import UsageError


def test_nodes_drawn_per_move_are_log_uniform_and_repeatable() -> None:
    side = limits("10-1000", None, None, None)
    drawn = [side.nodes_at(7, game, ply) for game in range(40) for ply in range(50)]
    assert drawn == [side.nodes_at(7, game, ply) for game in range(40) for ply in range(50)]
    numbers = [number for number in drawn if number is not None]
    assert min(numbers) >= 10
    assert max(numbers) <= 1000
    below = sum(number < 100 for number in numbers) / len(numbers)
    assert below == pytest.approx(0.5, abs=0.04)  # 100 is the middle of 10 and 1000 in the logarithm
    assert side.nodes_at(8, 0, 0) != side.nodes_at(7, 0, 0) or side.nodes_at(8, 0, 1) != side.nodes_at(7, 0, 1)
    assert limits("800", None, None, None).nodes_at(1, 2, 3) == 800


def test_what_the_engine_is_told() -> None:
    clocks = {chess.WHITE: 9.5, chess.BLACK: None}
    told = limits(None, None, None, "10+0.1").go(0, 0, 8, clocks, {chess.WHITE: 0.1, chess.BLACK: 1.0})
    assert (told.white_clock, told.black_clock, told.white_inc) == (9.5, 9.5, 0.1)
    told = limits("5", 3, 250, None).go(
        0, 0, 8, {chess.WHITE: None, chess.BLACK: None}, {chess.WHITE: 0.0, chess.BLACK: 0.0}
    )
    assert (told.nodes, told.depth, told.time, told.white_clock) == (5, 3, 0.25, None)


def test_a_limit_names_all_that_was_given_and_nothing_else() -> None:
    several = str(limits("5-8", 3, 250, None)).split(", ")
    assert [part.split()[0] for part in several] == ["5-8", "log-uniform", "depth", "250"]
    assert [part.split()[0] for part in str(limits("5", None, None, "10+0.1")).split(", ")] == ["5", "clock"]


def test_how_long_a_match_waits_for_a_move() -> None:
    assert _patience(ChessLimits(movetime=250), None) == 0.25 + MOVETIME_GRACE
    assert _patience(ChessLimits(clock=10.0), 3.0) == 3.0 + CLOCK_MARGIN
    assert _patience(ChessLimits(movetime=250, clock=10.0), 3.0) == min(0.25 + MOVETIME_GRACE, 3.0 + CLOCK_MARGIN)
    assert _patience(ChessLimits(depth=5), None) is None


def test_a_clock_without_increment_gains_nothing() -> None:
    assert ChessLimits(clock=10.0).increment == 0
    assert limits(None, None, None, "10").increment == 0
    assert limits(None, None, None, "10+2").increment == 2


def test_without_any_limit_a_tenth_of_a_second() -> None:
    assert limits(None, None, None, None) == ChessLimits(movetime=100)


@pytest.mark.parametrize("text", ["", "0", "x", "10-", "-5", "100-10", "10-100-1000"])
def test_nodes_that_cannot_be_read(text: str) -> None:
    if text == "10-":
        assert limits(text, None, None, None).nodes == (10, 10)
        return
    with pytest.raises(UsageError, match="--nodes"):
        limits(text, None, None, None)


@pytest.mark.parametrize("text", ["", "x", "0", "10+x", "10+-1", "inf", "nan"])
def test_clocks_that_cannot_be_read(text: str) -> None:
    with pytest.raises(UsageError, match="--clock"):
        limits(None, None, None, text)
