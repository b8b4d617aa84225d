"""Progress inside long work, such as the positions of one game that a search has finished.

The work calls `report`, and a command that shows progress adds a listener. This module imports nothing large.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Listener = Callable[[int, int], None]
"""A function that takes the number of finished positions and the number of all positions."""

listeners: list[Listener] = []
"""The functions that get the progress. They are called from the thread that does the work."""


def report(done: int, total: int) -> None:
    """Report the progress to every function that `listening` has registered: `done` of `total` positions are
    finished.
    """
    for listener in listeners:
        listener(done, total)


def counted(items: Iterable[Item], total: int) -> Iterator[Item]:
    """Yield the items, and report the progress (see `report`). An item counts as finished when the next one is
    requested. total: the number of items.
    """
    report(0, total)
    for done, item in enumerate(items, 1):
        yield item
        report(done, total)


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Inside this context, call `listener(done, total)` for each report of progress."""
    listeners.append(listener)
    try:
        yield
    finally:
        listeners.remove(listener)
