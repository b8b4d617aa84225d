"""Distribute work to threads. Each thread can use its own process of an external program."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Counter:
    """Counts the completed steps of several threads together.

    total: the number of all steps. on_progress: a function that is called with the number of completed steps and with
    `total`. Only one call runs at a time.
    """

    def __init__(self, total: int, on_progress: Callable[[int, int], None]):
        self._total, self._on_progress = total, on_progress
        self._done, self._lock = 0, threading.Lock()

    def step(self) -> None:
        """Count one completed step, and call `on_progress`."""
        with self._lock:
            self._done += 1
            self._on_progress(self._done, self._total)


def fan_out(
    items: Sequence[Item], work: Callable[[Iterator[Item]], Result], workers: int
) -> tuple[list[Result], Callable[[int], slice]]:
    """Distribute the items to threads. Return two values: a list of results, and a function. The list has one result
    for each thread, in the order of the threads' indices. The function takes the index of a thread, and returns the
    slice of `items` for that thread.

    work: a function that is called once in each thread, with an iterator over the thread's items. If another thread has
        failed, the iterator ends early.
    workers: the largest number of threads; there is always at least one.

    If `work` raises an error, `fan_out` raises the error after every thread has ended. If `work` fails in several
    threads, the error of the thread with the lowest index is raised. After Ctrl-C, KeyboardInterrupt is also raised
    only after every thread has ended.
    """
    workers = max(1, min(workers, len(items)))
    failed = threading.Event()

    def part(worker: int) -> slice:
        return slice(worker, None, workers)

    def until_failed(mine: Sequence[Item]) -> Iterator[Item]:
        for item in mine:
            if failed.is_set():
                return
            yield item

    def run(worker: int) -> Result:
        try:
            return work(until_failed(items[part(worker)]))
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(run, worker) for worker in range(workers)]
        try:
            return [future.result() for future in futures], part
        except BaseException:
            failed.set()  # for example Ctrl-C, which is raised only in this thread: the other threads must end too
            raise
