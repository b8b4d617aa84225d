"""Apply a function to many independent items in this process, in worker processes, or on Ray, a library for clusters.
The results are the same in all three ways.

`map_unordered` and `map_ordered` apply the function. For workers in other processes, the function and the items are
pickled, so they must be small. The function must be defined at the top level of a module, or be a `functools.partial`
of a function that is.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from kibitz.errors import UsageError
from kibitz.messages import not_one_of

Item = TypeVar("Item")
Result = TypeVar("Result")

BACKENDS = ("serial", "processes", "ray")
DEATHS = 3
"""The number of times that an item is given to another worker after its worker died. After one more death, the work
ends with an error.
"""
AHEAD = 2
"""The largest number of items per worker that are in progress. An item is in progress if it is assigned to a worker, or
completed but not yet returned in order.
"""


@dataclass(frozen=True)
class Backend:
    """The kind and the number of workers for a task.

    name: "serial" (this process), "processes" or "ray".
    workers: the number of items that are processed at the same time. A Ray cluster uses all of its cores instead.
    address: HOST:PORT of a Ray cluster; None for a local Ray, which ends with the task.
    """

    name: str = "serial"
    workers: int = 1
    address: str | None = None

    def __post_init__(self) -> None:
        if self.name not in BACKENDS:
            raise UsageError(not_one_of("backend", self.name, BACKENDS))
        if self.workers < 1:
            raise UsageError(f"workers must be at least 1 (got {self.workers})")


SERIAL = Backend()


class Workers(Protocol):
    """A group of running workers. It can be used for several calls of `map_unordered` and `map_ordered`, one after the
    other.

    count: the number of items that the workers process at the same time.
    """

    count: int

    def use(self, function: Callable[[Any], object]) -> None:
        """Set the function that processes the items of the following calls of `submit`. When this method is called, no
        item may be pending (submitted but not finished).
        """

    def submit(self, index: int, item: object) -> None:
        """Give an item to the workers. At most `2 * count` items may be pending, which means submitted but not
        finished.

        index: a number for the item, which `finished` returns together with the result.
        """

    def finished(self) -> list[tuple[int, Any]]:
        """Wait until at least one item is finished. Return the index and the result of each finished item. If the
        function raised an exception, this method raises it.
        """

    def abandon(self) -> None:
        """Cancel all items that are submitted but not finished, and end the workers that are processing them."""

    def close(self) -> None:
        """End all workers immediately."""


@contextlib.contextmanager
def open_workers(backend: Backend = SERIAL) -> Iterator[Workers]:
    """A context manager that starts workers, which can be used for several calls of `map_unordered` and `map_ordered`.
    The workers end when the context ends. Raises KibitzError if Ray isn't available.
    """
    with contextlib.closing(_start(backend)) as workers:
        yield workers


def _start(backend: Backend) -> Workers:
    if backend.name == "ray":
        from kibitz.parallel.on_ray import RayWorkers

        return RayWorkers(backend.workers, backend.address)
    if backend.name == "processes":
        from kibitz.parallel.processes import ProcessWorkers

        return ProcessWorkers(backend.workers)
    return _Here()


def map_unordered(
    function: Callable[[Item], Result], items: Iterable[Item], workers: Backend | Workers = SERIAL
) -> Generator[tuple[int, Result]]:
    """Apply a function to all items. Yield the index and the result of each item, in the order in which the items
    finish.

    An item is taken from `items` only when a worker is free. If the generator is closed, or after an error, the work
    ends immediately. If a worker dies, another worker gets its item, at most three times. Raises the exceptions of the
    function. Raises KibitzError if workers die more often, or if Ray isn't available.
    """
    return _mapped(function, items, workers, ordered=False)


def map_ordered(
    function: Callable[[Item], Result], items: Iterable[Item], workers: Backend | Workers = SERIAL
) -> Generator[Result]:
    """Apply a function to all items like `map_unordered`. Yield only the results, in the order of the items. Only a few
    items are in memory at a time.
    """
    with contextlib.closing(_mapped(function, items, workers, ordered=True)) as results:
        for _, result in results:
            yield result


def _mapped(
    function: Callable[[Item], Result], items: Iterable[Item], workers: Backend | Workers, ordered: bool
) -> Generator[tuple[int, Result]]:
    if isinstance(workers, Backend):
        with open_workers(workers) as opened:
            yield from _mapped(function, items, opened, ordered)
        return
    workers.use(function)
    try:
        yield from _shared_out(workers, items, ordered)
    except BaseException:
        workers.abandon()
        raise


def _shared_out(workers: Workers, items: Iterable[Item], ordered: bool) -> Generator[tuple[int, Any]]:
    numbered = enumerate(items)
    limit = AHEAD * workers.count
    done: dict[int, Any] = {}
    out = due = 0
    more = True
    while True:
        while more and out + len(done) < limit:
            if (following := next(numbered, None)) is None:
                more = False
            else:
                workers.submit(*following)
                out += 1
        if not out:
            return
        for index, result in workers.finished():
            done[index] = result
            out -= 1
        for index in _ready(done, due, ordered):
            yield index, done.pop(index)
            due = index + 1


def _ready(done: dict[int, Any], due: int, ordered: bool) -> list[int]:
    """Return the indices of results that can be returned now."""
    if not ordered:
        return list(done)
    end = due
    while end in done:
        end += 1
    return list(range(due, end))


class _Here:
    """`Workers` without processes: this process handles one item after the other."""

    count = 1

    def __init__(self) -> None:
        self._todo: deque[tuple[int, object]] = deque()
        self._function: Callable[[Any], object] | None = None

    def use(self, function: Callable[[Any], object]) -> None:
        self._function = function

    def submit(self, index: int, item: object) -> None:
        self._todo.append((index, item))

    def finished(self) -> list[tuple[int, Any]]:
        assert self._function is not None
        index, item = self._todo.popleft()
        return [(index, self._function(item))]

    def abandon(self) -> None:
        self._todo.clear()

    close = abandon
