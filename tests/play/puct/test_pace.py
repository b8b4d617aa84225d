"""When a PUCT search may end because no other move can become the first, and how large its batches are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kibitz.play.puct.pace import LONGEST_BATCH, batch_size, decided
from kibitz.play.puct.search import BatchSizes
from kibitz.play.puct.tree import PuctTree, empty_tree
from kibitz.play.result import SearchLimits


def tree_of(*visits: int) -> PuctTree:
    """A root, and its moves with so many visits."""
    tree = empty_tree(1 + len(visits), 1, 1)
    tree.first[0], tree.children[0] = 1, len(visits)
    tree.visits[:] = 1 + sum(visits), *visits
    return tree


def clock(spent: float = 0.0, before: int = 0, rate: float = 0.0, **limits: Any) -> Any:
    return SimpleNamespace(limits=SearchLimits(**limits), before=before, rate=rate, seconds=lambda: spent)


def test_the_first_move_may_be_ahead_by_more_than_is_left() -> None:
    tree = tree_of(50, 30)
    assert not decided(tree, clock(nodes=100), 80, 0), "the other one could draw level"
    assert decided(tree, clock(nodes=100), 81, 0)
    assert decided(tree, clock(nodes=100, before=1000), 1081, 0)
    assert not decided(tree, clock(), 81, 0), "without limits nothing is decided"
    assert not decided(tree_of(50), clock(nodes=100), 100, 0), "a single move is another's business"


def test_what_time_is_left_for_is_known_by_the_pace_so_far() -> None:
    tree = tree_of(50, 30)  # 81 visits, and 20 ahead
    assert not decided(tree, clock(5.0, seconds=10), 81, 0)
    assert decided(tree, clock(9.5, seconds=10), 81, 0)
    # 81 visits in 8.2 seconds would be 18 more in the 1.8 that are left: it may become a little faster than that.
    assert not decided(tree, clock(8.2, seconds=10), 81, 0)
    assert not decided(tree, clock(9.9, seconds=10), 81, 70), "eleven visits are no pace yet"
    assert decided(tree, clock(9.9, seconds=10), 81, 65)
    assert decided(tree, clock(1.0, seconds=10, nodes=100), 81, 0), "the first of both limits"


@pytest.mark.parametrize(("visits", "size"), [(0, 4), (39, 4), (50, 5), (99, 9), (400, 32)])
def test_batches_grow_with_the_tree(visits: int, size: int) -> None:
    assert batch_size(BatchSizes(4, 32, 10), clock(), visits) == size


def test_batches_are_short_where_time_matters() -> None:
    sizes = BatchSizes(4, 32, 10)
    assert batch_size(sizes, clock(rate=10.5 / LONGEST_BATCH), 400) == 10
    assert batch_size(sizes, clock(rate=1.0 / LONGEST_BATCH), 400) == 4
    assert batch_size(sizes, clock(rate=1e9), 400) == 32
    for limits in ({"nodes": 100}, {"depth": 3}):  # the same work is always the same
        assert batch_size(sizes, clock(rate=1.0, **limits), 400) == 32
