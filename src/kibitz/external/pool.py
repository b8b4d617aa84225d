"""Work that is shared out to threads, each with an external program of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Counter:
    """Counts steps done by several threads. on_progress: called with how many of how many, one call at a time."""

    def __init__(self, total: int, on_progress: Callable[[int, int], None]):
        self._total, self._on_progress = total, on_progress
        self._done, self._lock = 0, threading.Lock()

    def step(self) -> None:
        with self._lock:
            self._done += 1
            self._on_progress(self._done, self._total)


def fan_out(
    items: Sequence[Item], work: Callable[[Iterator[Item]], Result], workers: int
) -> tuple[list[Result], Callable[[int], slice]]:
    """Share the items out to threads; the results of all, and the slice of the items that each of them had.

    work: called once in each thread with an iterator over its items, which ends early when another thread has failed.
    workers: threads at most; there is one at least, even without items. Raises what `work` raised first; by then every
    thread has ended. So it is after Ctrl-C.
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
            failed.set()  # Ctrl-C is raised here, not in the threads
            raise
