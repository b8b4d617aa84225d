"""Report the progress of long work, such as how many positions of a game a search has finished.

The code that does the work calls `report`. A command that shows progress registers a function with `listening`. This
module imports nothing large.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Listener = Callable[[int, int], None]
"""The type of a function that takes two numbers: the finished positions and all positions."""

listeners: list[Listener] = []
"""The functions that `report` calls. They are called in the thread that does the work."""


def report(done: int, total: int) -> None:
    """Call every registered listener with the progress: `done` of `total` positions are finished."""
    for listener in listeners:
        listener(done, total)


def counted(items: Iterable[Item], total: int) -> Iterator[Item]:
    """Yield the items unchanged, and report the progress to all listeners. An item counts as finished when the caller
    requests the next one. total: the number of items.
    """
    report(0, total)
    for done, item in enumerate(items, 1):
        yield item
        report(done, total)


def batches(total: int, size: int) -> Iterator[int]:
    """Yield the index of the first item of each batch, and report the number of finished items to all listeners. A
    batch counts as finished when the caller requests the next one.

    total: the number of items. size: the number of items in a batch; the last batch may be smaller.
    """
    report(0, total)
    for first in range(0, total, size):
        yield first
        report(min(first + size, total), total)


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Inside this context, `listener(done, total)` is called for each report of progress in this process."""
    listeners.append(listener)
    try:
        yield
    finally:
        listeners.remove(listener)
