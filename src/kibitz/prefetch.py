"""Prefetching: a thread computes the next item of a generator while the caller processes the current one."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")

_END = object()


def prefetched(items: Generator[T]) -> Generator[T]:
    """Yield the items of a generator, which a separate thread computes in advance. Closing the result also closes
    `items` in that thread.

    The thread is a daemon, so the program can end while the thread waits for standard input.
    """
    ready: queue.Queue[Any] = queue.Queue(1)
    closed = threading.Event()

    def put(item: object) -> bool:
        while not closed.is_set():
            with contextlib.suppress(queue.Full):
                ready.put(item, timeout=0.1)
                return True
        return False

    def work() -> None:
        try:
            with contextlib.closing(items):
                for item in items:
                    if not put(item):
                        return
            put(_END)
        except BaseException as error:
            put(error)

    worker = threading.Thread(target=work, name="kibitz reading", daemon=True)
    worker.start()
    try:
        while (item := ready.get()) is not _END:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        closed.set()
        worker.join(timeout=1)
