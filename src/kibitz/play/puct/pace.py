"""The pace of a PUCT search: how many leaves are evaluated in a batch, and whether more visits can change the
result.
"""

from __future__ import annotations

import numpy as np

from kibitz.play.puct.search import BatchSizes
from kibitz.play.puct.tree import PuctTree, lead
from kibitz.play.result import TimeManager

LONGEST_BATCH = 0.025
"""The longest time of a batch in seconds. It is short, because the search can stop only between two batches."""

_MEASURED = 16
"""After this number of visits, the measured speed of the search is used."""
_HOPE = 1.2
"""The search may become faster by up to this factor in its remaining time."""


def batch_size(batches: BatchSizes, clock: TimeManager, visits: int) -> int:
    """Return the number of leaves of the search tree in the next batch. It grows with `visits`, the number of visits of
    the root. batches: how the size depends on the visits. clock: the object that checks the limits of the search.

    If there is a time limit, the size is limited so that a batch takes little time. If not, the size does not depend on
    the speed, so that the same search always gives the same result.
    """
    size = batches.of(visits)
    if not clock.rate or clock.limits.nodes is not None or clock.limits.depth is not None:
        return size
    return max(batches.least, min(size, int(clock.rate * LONGEST_BATCH)))


def decided(tree: PuctTree, clock: TimeManager, nodes: int, before: int) -> bool:
    """Return whether the search can end early, because no other move can become the most visited one before the search
    reaches a limit.

    clock: the object that checks the limits of the search. nodes: the number of positions evaluated so far, as for
    `TimeManager.batch`. before: the visits of the root when the search began.
    """
    left = np.inf
    if clock.limits.nodes is not None:
        left = clock.limits.nodes - (nodes - clock.before)
    spent, visits = clock.seconds(), int(tree.visits[0]) - before
    if clock.limits.seconds is not None and visits >= _MEASURED:
        left = min(left, (clock.limits.seconds - spent) * visits / spent * _HOPE)
    return bool(tree.children[0] > 1 and lead(tree) > left)
