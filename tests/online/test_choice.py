"""The filter for the games of an account, and the reasons of failed connections, without a server."""

from __future__ import annotations

import datetime

import pytest

from kibitz.errors import UsageError
from kibitz.online.accounts import SITES, GameChoice
from kibitz.online.client import _reason

HOUR = 3_600_000
NOON = 1_767_355_200_000  # January 2, 2026, 12:00 UTC


def test_a_choice_that_no_game_can_meet_is_refused() -> None:
    site = SITES["lichess"]
    GameChoice(speeds=(site.speeds[0],), limit=1).check(site)
    for choice in (GameChoice(speeds=("glacial",)), GameChoice(limit=0)):
        with pytest.raises(UsageError):
            choice.check(site)


def test_the_last_day_belongs_to_the_period() -> None:
    day = datetime.date(2026, 1, 2)
    choice = GameChoice(since=day, until=day)
    assert (choice.begin, choice.end) == (NOON - 12 * HOUR, NOON + 12 * HOUR)
    moments = (NOON - 13 * HOUR, NOON - 12 * HOUR, NOON + 11 * HOUR, NOON + 12 * HOUR)
    assert [choice.takes(moment, "blitz", True) for moment in moments] == [False, True, True, False]
    assert GameChoice().end is None


def test_the_reason_is_that_of_the_system_below() -> None:
    error = RuntimeError("All attempts failed")
    assert _reason(error) == "all attempts failed"
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert _reason(error) == "connection refused"
