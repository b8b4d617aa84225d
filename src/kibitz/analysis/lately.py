"""Compare the loss per move in a player's games of the last month with the loss in the earlier games."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.parts import Measure, figure_of
from kibitz.stats import Estimate

DAYS = 30
"""The number of days in the last month. The last day is the date of the player's newest game."""


@dataclass(frozen=True)
class LossChange:
    """The change of a player's mean loss from the earlier games to the last month (see `Lately`), for one group of
    moves. Losses are win probabilities (0 to 1) in chess, and points in Go.

    label: the name of the group of moves, such as the name of a phase.
    loss: the mean loss per move in the last month.
    earlier: the mean loss per move in the earlier games.
    change: `loss` minus `earlier`; a negative value is an improvement.
    """

    label: str
    loss: Estimate
    earlier: Estimate
    change: Estimate

    @property
    def is_sure(self) -> bool:
        """Whether the change is significant: its confidence interval does not contain 0."""
        return not math.isnan(self.change.low) and not self.change.low <= 0 <= self.change.high

    def as_json(self) -> dict[str, Any]:
        return {
            "label": self.label, "loss": figure_of(self.loss), "earlier_loss": figure_of(self.earlier),
            "change": figure_of(self.change),
        }  # fmt: skip


@dataclass(frozen=True)
class Lately:
    """How a player's loss changed from the earlier games to the games of the last month. The last month is the 30 days
    that end with the date of the player's newest game.

    since: the first day of the last month.
    whole: the change over all moves.
    changed: the groups of moves with a significant change, the largest increase of the loss first.
    """

    since: datetime.date
    whole: LossChange
    changed: Sequence[LossChange]

    def as_json(self) -> dict[str, Any]:
        whole = {name: value for name, value in self.whole.as_json().items() if name != "label"}
        return {"since": str(self.since), **whole, "changed": [one.as_json() for one in self.changed]}


def lately(
    measure: Measure, days: Sequence[datetime.date | None], parts: Mapping[str, NDArray[np.bool_]]
) -> Lately | None:
    """Compare a player's losses in the last month (see `Lately`) with the losses in the earlier games. Return None if
    one of these two periods has no moves. Games without a date do not count.

    measure: the losses of the player's moves, and the game of each move.
    days: the date of each game, [games]; None for an unknown date.
    parts: the groups of moves to compare, such as phases. A key is the name of a group. The value, bool [moves], is
        true for the moves in the group.
    """
    known = [day.toordinal() for day in days if day is not None]
    if not known:
        return None
    since = max(known) - DAYS + 1
    each = np.array([-1 if day is None else day.toordinal() for day in days])[measure.game]
    now, before = each >= since, (each >= 0) & (each < since)
    if not now.any() or not before.any():
        return None
    rows = [_change(measure, label, mask & now, mask & before) for label, mask in parts.items()]
    changed = sorted((row for row in rows if row.is_sure), key=lambda row: -row.change.value)
    return Lately(datetime.date.fromordinal(since), _change(measure, "all moves", now, before), changed)


def _change(measure: Measure, label: str, now: NDArray[np.bool_], before: NDArray[np.bool_]) -> LossChange:
    loss, earlier = measure.mean_loss(now), measure.mean_loss(before)
    # No game is in both groups, so the errors are independent.
    value = loss.value - earlier.value
    low = value - math.hypot(loss.value - loss.low, earlier.high - earlier.value)
    high = value + math.hypot(loss.high - loss.value, earlier.value - earlier.low)
    return LossChange(label, loss, earlier, Estimate(value, low, high, loss.n + earlier.n, loss.games + earlier.games))
