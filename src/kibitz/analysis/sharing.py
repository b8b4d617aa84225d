"""Distribute games to worker processes that analyze them. Collect the results in the order of the games."""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TypeVar

from kibitz.errors import KibitzError
from kibitz.parallel import Workers, map_ordered
from kibitz.play.session import Session
from kibitz.runs import packaged

Record = TypeVar("Record")
Item = TypeVar("Item")
Result = TypeVar("Result")


def shared_out(
    records: Iterable[Record], item: Callable[[Record], Item], work: Callable[[Item], Result], workers: Workers
) -> Generator[tuple[Record, Result]]:
    """Distribute records to worker processes. Yield each record with the worker's result, in the order of the records.

    item: a function that converts a record to a small object. kibitz sends this object to a worker, not the record.
    work: the function that a worker calls with the object. The function returns the worker's result.
    workers: the worker processes.

    If reading a record raises KibitzError, the results of the earlier records are yielded before the error is raised.
    """
    ahead: deque[Record] = deque()
    failed: list[KibitzError] = []

    def items() -> Iterator[Item]:
        try:
            for record in records:
                ahead.append(record)
                yield item(record)
        except KibitzError as error:
            failed.append(error)

    with contextlib.closing(map_ordered(work, items(), workers)) as results:
        for result in results:
            yield ahead.popleft(), result
    if failed:
        raise failed[0]


def name_for_workers(session: Session) -> str:
    """Return the text with which a worker process can load the network of this session: the name of a bundled network,
    or the path of the network's folder.
    """
    path = session.run.path
    return session.name if path in packaged().values() else str(path.resolve())


@functools.lru_cache(maxsize=1)
def opened(name: str) -> Session:
    """Return a loaded network in a worker process. The process keeps the network in memory for its next games.

    name: a result of `name_for_workers`. The network uses one thread, because the workers share the cores.
    """
    return Session(name, threads=1)
