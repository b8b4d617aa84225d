"""Worker threads, which do the work of requests so that the event loop never blocks.

A WorkerThread has a list of jobs. A job is a series of steps with one result each. After each step the thread continues
with the newest job. So the latest request is processed first, and older work continues afterwards. A canceled job ends
before its next step, or when a long step calls `check_wanted`.
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
    """Work for a worker thread, which consists of steps.

    steps: an iterator. The worker thread calls next() for each step; the value is the step's result.
    put: a function that is called with each result, in the worker thread.
    over: a function that is called once at the end, with the exception that ended the job, or None.
    stop: an event that cancels the job.
    """

    steps: Iterator[Any]
    put: Callable[[Any], None]
    over: Callable[[BaseException | None], None]
    stop: threading.Event = field(default_factory=threading.Event)


_here = threading.local()


class Unwanted(Exception):
    """Raised in a job (the work of a worker thread) if nobody needs its result: its client has disconnected, or the
    thread has ended.
    """


def check_wanted() -> None:
    """Raise Unwanted if the current job (the work of a worker thread) was canceled. Long steps must call this function
    regularly.
    """
    job: Job | None = getattr(_here, "job", None)
    if job is not None and job.stop.is_set():
        raise Unwanted


class WorkerThread:
    """A daemon thread that runs jobs, each of which is an iterator of steps. It starts with the first job, and the
    program can end without waiting for it.

    newest_first: whether the thread continues with the newest job after each step. An older job then waits until all
    newer jobs are completed. If False, the thread completes each job before the next one.
    """

    def __init__(self, name: str, newest_first: bool = True):
        self.name = name
        self._next = -1 if newest_first else 0
        self._jobs: list[Job] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._ended = False

    def add(self, job: Job) -> None:
        """Add a job (work in steps), which the thread starts as soon as possible."""
        with self._changed:
            if self._ended:
                job.stop.set()
            self._jobs.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=f"kibitz {self.name}", daemon=True)
                self._thread.start()
            self._changed.notify()

    def end(self) -> None:
        """Stop all jobs (work in steps) of this thread. Jobs that are added later are stopped too."""
        with self._changed:
            self._ended = True
            for job in self._jobs:
                job.stop.set()

    @property
    def busy(self) -> bool:
        """Whether the thread has a job (work in steps) that is not completed."""
        return bool(self._jobs)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._jobs:
                    self._changed.wait()
                job = self._jobs[self._next]
            if self._step(job):
                continue
            with self._changed:
                self._jobs.remove(job)

    @staticmethod
    def _step(job: Job) -> bool:
        """Run one step of a job. Returns whether more steps may follow."""
        error: BaseException | None = None
        _here.job = job
        try:
            if not job.stop.is_set():
                job.put(next(job.steps))
                return True
        except StopIteration:
            pass
        except BaseException as raised:  # a panic of compiled code is not an Exception, and must not end the thread
            error = raised
        with contextlib.suppress(BaseException):
            job.steps.close()  # type: ignore[attr-defined]
        job.over(error)
        return False


class WorkerPool:
    """Worker threads, each with a name: one for each kind of work with a network or engine, and SHARED (3) threads for
    short jobs.
    """

    SHARED = 3

    def __init__(self) -> None:
        self._workers: dict[str, WorkerThread] = {}
        self._lock = threading.Lock()
        self._ended = False
        self._next = 0

    def worker(self, name: str, newest_first: bool = True) -> WorkerThread:
        """Return the worker thread with this name, which is created at the first call. newest_first: see
        `WorkerThread`.
        """
        with self._lock:
            if name not in self._workers:
                self._workers[name] = WorkerThread(name, newest_first)
                if self._ended:
                    self._workers[name].end()
            return self._workers[name]

    def shared(self) -> WorkerThread:
        """Return a shared worker thread for a short job, an idle one if possible."""
        workers = [self.worker(f"shared {i}", newest_first=False) for i in range(self.SHARED)]
        self._next = (self._next + 1) % self.SHARED
        return next((worker for worker in workers if not worker.busy), workers[self._next])

    def end(self) -> None:
        """Stop all jobs of all threads."""
        with self._lock:
            self._ended = True
            for worker in self._workers.values():
                worker.end()

    @property
    def busy(self) -> bool:
        """Whether any thread has a job (work in steps) that is not completed."""
        return any(worker.busy for worker in list(self._workers.values()))


async def run_in_thread(worker: WorkerThread, function: Callable[[], T]) -> T:
    """Run a function in a worker thread, wait for its end without blocking the event loop, and return its result or
    raise its exception.

    If the caller is canceled, the function is not started, or ends when it calls `check_wanted`. Raises Unwanted if the
    worker thread ends before the function does.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def finish(value: T | None, error: BaseException | None) -> None:
        if result.done():
            return
        if error is not None:
            result.set_exception(error if isinstance(error, Exception) else Failed(repr(error)))
        elif job.stop.is_set():
            result.set_exception(Unwanted())
        else:
            result.set_result(cast(T, value))

    def put(value: T) -> None:
        _later(loop, lambda: finish(value, None))

    def over(error: BaseException | None) -> None:
        _later(loop, lambda: finish(None, error))

    def steps() -> Iterator[T]:
        yield function()

    job = Job(steps(), put, over)
    worker.add(job)
    try:
        return await result
    finally:
        job.stop.set()


class Failed(Exception):
    """Raised in place of a BaseException that is not an Exception, such as a panic of compiled code, if it ended a job
    (the work of a worker thread).
    """


def _later(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    """Call a function on the event loop from another thread. If the loop no longer exists, at the end of the program,
    nothing is called.
    """
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


END = object()
"""The object that marks the end of a stream of results."""


OnStep = Callable[[Any], None]
Steps = Callable[[OnStep, threading.Event], Iterator[Any]]
"""The type of a function that makes the steps of a job, as an iterator. Its arguments are a function that sends a
result from within a step, and the event that cancels the job.
"""


def stream(worker: WorkerThread, steps: Steps) -> tuple[asyncio.Queue[Any], threading.Event]:
    """Run the steps of a job in a worker thread. steps: a function that returns the iterator of the steps. Returns a
    queue, and the event that cancels the job.

    The queue gets each result, then the exception that ended the job, if there is one, and at the end the constant END.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Any] = asyncio.Queue()

    def put(value: Any) -> None:
        _later(loop, lambda: queue.put_nowait(value))

    def over(error: BaseException | None) -> None:
        if error and not isinstance(error, Unwanted):
            put(error)
        put(END)

    stop = threading.Event()
    worker.add(Job(steps(put, stop), put, over, stop))
    return queue, stop
