"""Threads that do the work, so that the event loop is never kept waiting.

A WorkerThread has a stack of jobs. A job is a series of steps, each of which gives one result; after each step the
thread turns to the newest job, so that the last request is answered first, and older work goes on
afterwards. A job whose client is gone is dropped before its next step.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

T = TypeVar("T")


@dataclass(eq=False)
class Job:
    """steps: the results, one by one, made in the desk's thread. put: is given each, in that thread; over: is called
    once at the end, with the exception that ended it, if one did. stop: set where nobody wants more."""

    steps: Iterator[Any]
    put: Callable[[Any], None]
    over: Callable[[BaseException | None], None]
    stop: threading.Event = field(default_factory=threading.Event)


class WorkerThread:
    """One thread, which starts with the first job; it is a daemon: nothing waits for it at the end."""

    def __init__(self, name: str):
        self.name = name
        self._pile: list[Job] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._ended = False

    def add(self, job: Job) -> None:
        with self._changed:
            if self._ended:
                job.stop.set()
            self._pile.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=f"kibitz {self.name}", daemon=True)
                self._thread.start()
            self._changed.notify()

    def end(self) -> None:
        """Stop everything; jobs that come later are stopped too."""
        with self._changed:
            self._ended = True
            for job in self._pile:
                job.stop.set()

    @property
    def busy(self) -> bool:
        return bool(self._pile)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._pile:
                    self._changed.wait()
                job = self._pile[-1]
            if self._step(job):
                continue
            with self._changed:
                self._pile.remove(job)

    @staticmethod
    def _step(job: Job) -> bool:
        """One step of a job; whether more may follow."""
        error: BaseException | None = None
        try:
            if not job.stop.is_set():
                job.put(next(job.steps))
                return True
        except StopIteration:
            pass
        except BaseException as raised:  # a panic of compiled code is no Exception, and must not end the thread
            error = raised
        with contextlib.suppress(BaseException):
            job.steps.close()  # type: ignore[attr-defined]
        job.over(error)
        return False


class WorkerPool:
    """All desks, by name: one for each network and each player, and some that share whatever else is asked."""

    SHARED = 3

    def __init__(self) -> None:
        self._desks: dict[str, WorkerThread] = {}
        self._lock = threading.Lock()
        self._ended = False
        self._next = 0

    def desk(self, name: str) -> WorkerThread:
        with self._lock:
            if name not in self._desks:
                self._desks[name] = WorkerThread(name)
                if self._ended:
                    self._desks[name].end()
            return self._desks[name]

    def shared(self) -> WorkerThread:
        """A desk for something short: an idle one where there is one."""
        desks = [self.desk(f"shared {i}") for i in range(self.SHARED)]
        self._next = (self._next + 1) % self.SHARED
        return next((desk for desk in desks if not desk.busy), desks[self._next])

    def end(self) -> None:
        with self._lock:
            self._ended = True
            for desk in self._desks.values():
                desk.end()

    @property
    def busy(self) -> bool:
        return any(desk.busy for desk in list(self._desks.values()))


async def run_in_thread(desk: WorkerThread, function: Callable[[], T]) -> T:
    """The result of a function that runs at a desk; raises what it raises."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def finish(value: T | None, error: BaseException | None) -> None:
        if result.done():
            return
        if error is not None:
            result.set_exception(error if isinstance(error, Exception) else Failed(repr(error)))
        elif job.stop.is_set():
            result.cancel()
        else:
            result.set_result(cast(T, value))

    def put(value: T) -> None:
        _later(loop, lambda: finish(value, None))

    def over(error: BaseException | None) -> None:
        _later(loop, lambda: finish(None, error))

    def steps() -> Iterator[T]:
        yield function()

    job = Job(steps(), put, over)
    desk.add(job)
    try:
        return await result
    finally:
        job.stop.set()


class Failed(Exception):
    """Something that is no Exception (a panic of compiled code) ended a job."""


def _later(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    """Call something on the event loop from another thread; at the end of the program there may be no loop."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


END = object()
"""What a stream's queue ends with."""


Tell = Callable[[Any], None]
Steps = Callable[[Tell, threading.Event], Iterator[Any]]
"""Makes the steps of a job from a function that tells something within a step, and the event that stops the job."""


def stream(desk: WorkerThread, steps: Steps) -> tuple[asyncio.Queue[Any], threading.Event]:
    """Have a desk run these steps: a queue of what they tell and of their results, then END, or the exception and END;
    and the event that stops them."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Any] = asyncio.Queue()

    def put(value: Any) -> None:
        _later(loop, lambda: queue.put_nowait(value))

    def over(error: BaseException | None) -> None:
        if error:
            put(error)
        put(END)

    stop = threading.Event()
    desk.add(Job(steps(put, stop), put, over, stop))
    return queue, stop
