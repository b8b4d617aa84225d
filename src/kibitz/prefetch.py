"""Making things one ahead in another thread, so that reading and working on what was read go side by side."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")

_END = object()


def prefetched(items: Generator[T]) -> Generator[T]:
    """The same items, made one ahead in another thread. Closing this closes them there.

    The thread is a daemon's: one that waits for standard input must not keep the program from ending.
    """
    ready: queue.Queue[Any] = queue.Queue(1)
    left = threading.Event()

    def put(item: object) -> bool:
        while not left.is_set():
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
        left.set()
        worker.join(timeout=1)
