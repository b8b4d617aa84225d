from __future__ import annotations

import pytest

from kibitz.arena.go.limits import CLOCK_MARGIN, GoClock, GoTime, time_limit
from kibitz.errors import UsageError
from support.causes import each_mentions


def test_what_gtp_is_told() -> None:
    assert time_limit(None, None).settings() is None
    assert time_limit(2000, None).settings() == "0 2 1"
    assert time_limit(None, "600").settings() == "600 0 0"
    assert time_limit(None, "600+10").settings() == "600 10 1"
    limits = [str(time_limit(*given)) for given in ((None, None), (2000, None), (None, "600"), (None, "60+5"))]
    assert each_mentions(limits, "no", "2 s & move", "600 s", "60 s & 5 s & move")


def test_main_time_then_seconds_a_move() -> None:
    clock = GoClock(GoTime(10, 2))
    assert clock.time_left() == "10 0"
    assert clock.spend(9.5)
    assert clock.time_left() == "2 1"
    assert clock.spend(2.3)  # half a second of main time, and then 1.8
    assert clock.allowed == 2
    assert clock.spend(2.0)
    assert clock.spend(2 + CLOCK_MARGIN)
    assert not clock.spend(2.2)


def test_sudden_death() -> None:
    clock = GoClock(GoTime(10))
    assert clock.spend(6)
    assert clock.time_left() == "4 0"
    assert clock.patience() == pytest.approx(4.05)
    assert not clock.spend(4.2)


def test_a_time_a_move_is_never_lost() -> None:
    clock = GoClock(GoTime(move=1))
    assert clock.spend(3)
    assert clock.patience() == 6
    assert GoClock(GoTime()).patience() is None


@pytest.mark.parametrize("movetime", [0, -1000, 100, 1500])
def test_times_that_gtp_cannot_say(movetime: int) -> None:
    with pytest.raises(UsageError, match="a multiple of 1000"):
        time_limit(movetime, None)


@pytest.mark.parametrize("clock", ["", "x", "0", "10+x", "10.5", "10+", "+5", "-5"])
def test_clocks_that_cannot_be_read(clock: str) -> None:
    with pytest.raises(UsageError, match="--clock"):
        time_limit(None, clock)


def test_one_of_both() -> None:
    with pytest.raises(UsageError, match="got both"):
        time_limit(1000, "600")
