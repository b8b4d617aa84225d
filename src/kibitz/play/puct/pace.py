"""How a PUCT search goes on: how many leaves at once, and whether more visits can change the answer."""

from __future__ import annotations

import numpy as np

from kibitz.play.puct.search import BatchSizes
from kibitz.play.puct.tree import PuctTree, lead
from kibitz.play.result import TimeManager

LONGEST_BATCH = 0.025
"""Seconds that a batch may take: a stop is seen between two of them."""

_MEASURED = 16
"""Visits after which their rate is known well enough."""
_HOPE = 1.2
"""So many times faster the search may become than it was up to now."""


def batch_size(batches: BatchSizes, clock: TimeManager, visits: int) -> int:
    """How many leaves to evaluate at once, where the root has so many visits: more as the tree grows.

    Where time matters, as far as a batch does not take long; where it does not, the same work is always the same.
    """
    size = batches.of(visits)
    if not clock.rate or clock.limits.nodes is not None or clock.limits.depth is not None:
        return size
    return max(batches.least, min(size, int(clock.rate * LONGEST_BATCH)))


def decided(tree: PuctTree, clock: TimeManager, nodes: int, before: int) -> bool:
    """Whether no other move can be visited more often than the first one within the limits.

    nodes: positions evaluated, as the clock counts them; before: visits of the root when the search began.
    """
    left = np.inf
    if clock.limits.nodes is not None:
        left = clock.limits.nodes - (nodes - clock.before)
    spent, made = clock.seconds(), int(tree.visits[0]) - before
    if clock.limits.seconds is not None and made >= _MEASURED:
        left = min(left, (clock.limits.seconds - spent) * made / spent * _HOPE)
    return bool(tree.children[0] > 1 and lead(tree) > left)
