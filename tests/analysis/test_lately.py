"""What changed since the last month, with losses that are written down."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from kibitz.analysis.lately import DAYS, lately
from kibitz.analysis.parts import ENOUGH, Measure

NEWEST = datetime.date(2024, 5, 31)


def measure(losses: list[float]) -> Measure:
    """One move a game, with this loss."""
    n = len(losses)
    return Measure(np.arange(n), np.array(losses), np.full(n, np.nan), np.full(n, -1.0), np.full(n, np.nan))


def day(ago: int) -> datetime.date:
    return NEWEST - datetime.timedelta(days=ago)


def test_the_last_month_ends_with_the_newest_game() -> None:
    days = [day(DAYS), day(DAYS - 1), day(0), None]
    found = lately(measure([4.0, 1.0, 2.0, 9.0]), days, {})
    assert found is not None
    assert found.since == day(DAYS - 1)
    whole = found.as_json()
    assert (whole["since"], whole["loss"]["value"], whole["earlier_loss"]["value"]) == ("2024-05-02", 1.5, 4.0)
    assert (whole["change"]["value"], whole["change"]["low"], whole["changed"]) == (-2.5, None, [])


@pytest.mark.parametrize("days", [[None, None], [day(0), day(1)], [day(0), None]])
def test_without_games_of_both_periods_there_is_nothing_to_say(days: list[datetime.date | None]) -> None:
    assert lately(measure([1.0, 2.0]), days, {}) is None
    assert lately(measure([1.0, 2.0]), [day(0), day(DAYS)], {}) is not None


def test_parts_with_a_sure_change_are_listed() -> None:
    before, after = [3.0, 5.0] * ENOUGH, [1.0, 1.5] * ENOUGH
    n = len(before)
    losses = np.array([*before, *after])
    days = [day(DAYS)] * n + [day(0)] * n
    every, odd = np.ones(2 * n, bool), np.arange(2 * n) % 2 == 1
    same = np.zeros(2 * n, bool)
    same[[0, n]] = True
    found = lately(measure(losses.tolist()), days, {"odd": odd, "every": every, "same": same})
    assert found is not None
    assert found.whole.is_sure
    assert found.whole.change.low < found.whole.change.value < found.whole.change.high < 0
    assert [one.label for one in found.changed] == ["every", "odd"], "the worst first; one game is too few"
    alike = lately(measure([*before, *before]), days, {"every": every})
    assert alike is not None
    assert not alike.whole.is_sure
    assert alike.changed == []
