"""Work shared out to threads: everything is done once, and one failure ends it all."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from kibitz.external.pool import Counter, fan_out
from support.patience import PATIENCE


@pytest.mark.parametrize("workers", [1, 3, 20])
def test_each_item_is_had_once_and_its_place_is_known(workers: int) -> None:
    items, heard = list(range(10)), list[tuple[int, int]]()
    counter = Counter(len(items), lambda done, total: heard.append((done, total)))

    def work(mine: Iterator[int]) -> list[int]:
        squares = []
        for item in mine:
            squares.append(item * item)
            counter.step()
        return squares

    parts, part_of = fan_out(items, work, workers)
    assert len(parts) == min(workers, 10)
    ordered = [0] * 10
    for worker, squares in enumerate(parts):
        ordered[part_of(worker)] = squares
    assert ordered == [item * item for item in items]
    assert heard == [(i + 1, 10) for i in range(10)]


def test_one_failure_ends_the_others() -> None:
    failed, reached = threading.Event(), list[int]()

    def work(mine: Iterator[int]) -> None:
        for item in mine:
            if item == 0:
                failed.set()
                raise KeyError("item 0")
            failed.wait(PATIENCE)
            reached.append(item)
            threading.Event().wait(0.05)

    with pytest.raises(KeyError, match="item 0"):
        fan_out(list(range(1000)), work, 2)
    assert len(reached) < 100


def test_without_items_there_is_one_worker() -> None:
    assert fan_out([], lambda mine: list(mine), 4)[0] == [[]]
