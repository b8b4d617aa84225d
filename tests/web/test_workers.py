"""Desks: the newest job first, nothing for clients that are gone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kibitz.web.workers import END, Job, Unwanted, WorkerPool, WorkerThread, run_in_thread, stream
from support.board_client import until
from support.patience import PATIENCE


def job(steps: Iterator[Any], found: list[Any]) -> Job:
    return Job(steps, found.append, lambda error: found.append(error or "over"))


def test_the_newest_goes_first_and_older_work_goes_on() -> None:
    worker, found = WorkerThread("test"), list[Any]()
    begun, go_on = threading.Event(), threading.Event()

    def old() -> Iterator[str]:
        begun.set()
        go_on.wait(PATIENCE)
        yield "old 1"
        yield "old 2"

    worker.add(job(old(), found))
    assert begun.wait(PATIENCE)
    worker.add(job(iter(["new 1", "new 2"]), found))
    go_on.set()
    until(lambda: not worker.busy)
    assert found == ["old 1", "new 1", "new 2", "over", "old 2", "over"]


def test_short_work_is_done_in_the_order_of_its_coming() -> None:
    """However many requests come, each is answered after those that were there before it."""
    worker, free, done = WorkerThread("test", newest_first=False), threading.Event(), list[int]()
    over = threading.Semaphore(0)

    def steps(number: int) -> Iterator[int]:
        assert free.wait(PATIENCE)
        yield number

    for number in range(5):
        worker.add(Job(steps(number), done.append, lambda error: over.release()))
    free.set()
    for _ in range(5):
        assert over.acquire(timeout=PATIENCE)
    assert done == [0, 1, 2, 3, 4]


def test_a_job_that_nobody_wants_does_nothing_more() -> None:
    worker, found, steps, closed = WorkerThread("test"), list[Any](), list[int](), threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                steps.append(len(steps))
                yield len(steps)
        finally:
            closed.set()

    mine = job(endless(), found)
    mine.put = lambda value: mine.stop.set() if value == 3 else None
    worker.add(mine)
    assert closed.wait(PATIENCE)
    until(lambda: not worker.busy)
    assert len(steps) == 3
    assert found == ["over"]
    late = job(endless(), found)
    late.stop.set()
    worker.add(late)
    until(lambda: not worker.busy)
    assert len(steps) == 3


def test_what_a_job_raises_ends_it_alone() -> None:
    class Panic(BaseException):
        pass

    worker, found = WorkerThread("test"), list[Any]()

    def broken(error: BaseException) -> Iterator[int]:
        yield 1
        raise error

    for error in (ValueError("no"), Panic("worse")):
        worker.add(job(broken(error), found))
        until(lambda: not worker.busy)
        assert found.pop() is error
    worker.add(job(iter([2]), found))
    until(lambda: not worker.busy)
    assert found == [1, 1, 2, "over"]


def test_short_work_goes_to_whom_is_idle() -> None:
    pool, free = WorkerPool(), threading.Event()
    assert not pool.busy

    def steps() -> Iterator[None]:
        assert free.wait(PATIENCE)
        yield

    taken = []
    for _ in range(WorkerPool.SHARED):
        taken.append(pool.shared())
        taken[-1].add(job(steps(), []))
    assert len(set(taken)) == WorkerPool.SHARED
    assert pool.busy
    assert {pool.shared() for _ in taken} == set(taken), "where all are busy, each in turn"
    free.set()
    until(lambda: not pool.busy)


def test_results_come_to_the_event_loop() -> None:
    pool = WorkerPool()

    async def ask() -> None:
        assert await run_in_thread(pool.shared(), lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            await run_in_thread(pool.shared(), lambda: 1 // 0)

        def steps(tell: Any, stop: threading.Event) -> Iterator[int]:
            tell("on the way")
            yield 1
            raise ValueError("no")

        queue, stop = stream(pool.worker("one"), steps)
        found = [await queue.get() for _ in range(4)]
        assert found[:2] == ["on the way", 1]
        assert isinstance(found[2], ValueError)
        assert found[3] is END
        assert not stop.is_set()
        pool.end()
        with pytest.raises(Unwanted):
            await run_in_thread(pool.shared(), lambda: 7)
        with pytest.raises(Unwanted):
            await run_in_thread(pool.worker("a new one"), lambda: 7)

    asyncio.run(ask())
