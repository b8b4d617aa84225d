"""Run worker processes on this machine. Each worker has one item at a time. So if a worker dies, the main process knows
which item must be processed again.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from kibitz.errors import KibitzError, one_line
from kibitz.parallel import DEATHS

_CONTEXT = multiprocessing.get_context("spawn")  # a forked process would inherit locks that other threads hold
ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
"""Environment variables of a worker. Each worker uses one thread, because the workers share the cores. The same number
of threads also gives the same sums of floating-point numbers.
"""
MALLOC_SETTINGS = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(256 << 20)}
"""Environment variables of a worker. With them, the C library glibc keeps up to 256 MB of freed memory for the next
item.

Otherwise, memory is returned to the operating system and requested again for every item. The operating system fills the
memory with zeros each time, which took a sixth of an import's time.
"""
LEAVING = 5.0
"""The seconds in which an idle worker may end by itself before it is killed."""
WORKERS = {**ONE_THREAD, **MALLOC_SETTINGS}
_FUNCTION_FOLLOWS = b""
"""A message to a worker that announces a function as the next message. All other messages are items."""


class ProcessWorkers:
    """Workers that are processes on this computer, with the interface `kibitz.parallel.Workers`. The workers also end
    if the main process ends for any reason.
    """

    def __init__(self, count: int):
        self.count = count
        self._function = b""
        self._todo: deque[tuple[int, object]] = deque()
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[_Worker, int, object]] = {}
        self._deaths: Counter[int] = Counter()

    def use(self, function: Callable[[Any], object]) -> None:
        self._function = pickle.dumps(function)
        self._deaths.clear()

    def submit(self, index: int, item: object) -> None:
        self._todo.append((index, item))
        self._hand_out()

    def _hand_out(self) -> None:
        while self._todo and len(self._busy) < self.count:
            index, item = self._todo.popleft()
            worker = self._idle.pop() if self._idle else _Worker()
            self._busy[worker.connection] = (worker, index, item)
            worker.send(self._function, pickle.dumps(item, pickle.HIGHEST_PROTOCOL))

    def finished(self) -> list[tuple[int, Any]]:
        results: list[tuple[int, Any]] = []
        while not results:
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)
                worker, index, item = self._busy.pop(connection)
                try:
                    good, answer = pickle.loads(connection.recv_bytes())
                except (EOFError, OSError):
                    self._died(worker, index, item)
                    continue
                self._idle.append(worker)
                if not good:
                    raise answer
                results.append((index, answer))
            self._hand_out()
        return results

    def _died(self, worker: _Worker, index: int, item: object) -> None:
        worker.end()
        self._deaths[index] += 1
        if self._deaths[index] > DEATHS:
            raise KibitzError(
                f"worker processes stopped {DEATHS + 1} times during the same task, most recently with exit code"
                f" {worker.process.exitcode}. Check the free memory or use fewer workers."
            )
        self._todo.appendleft((index, item))

    def abandon(self) -> None:
        for worker, _, _ in self._busy.values():
            worker.end()
        self._busy.clear()
        self._todo.clear()

    def close(self) -> None:
        self.abandon()
        for worker in self._idle:
            worker.connection.close()  # the worker then ends, together with the programs that it has started
        for worker in self._idle:
            worker.process.join(LEAVING)
            worker.end()
        self._idle.clear()


class _Worker:
    """A process, and this process's end of the pipe to it."""

    def __init__(self) -> None:
        self._function = b""
        self.connection, theirs = _CONTEXT.Pipe()
        self.process: BaseProcess = _CONTEXT.Process(target=_serve, args=(theirs,), daemon=True)
        with environment(WORKERS), _without_interrupts():
            self.process.start()
        theirs.close()

    def send(self, function: bytes, item: bytes) -> None:
        """Send an item to the worker. If the worker does not have its function yet, the function is sent first.

        function: the pickled function that processes the item. item: the pickled item.
        """
        with contextlib.suppress(OSError):  # the worker has died, which the next read will show
            if function != self._function:
                self.connection.send_bytes(_FUNCTION_FOLLOWS)
                self.connection.send_bytes(function)
                self._function = function
            self.connection.send_bytes(item)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Delay Ctrl-C within this context: a process that is starting would print a traceback before it can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """A context manager that sets environment variables, so that processes started inside the context inherit them.
    variables: a dict from each variable's name to its value.
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _serve(connection: Connection) -> None:
    """Run a worker: item after item, until the other end of the pipe is closed."""
    # Ctrl-C reaches the whole process group; the parent process ends the workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the signal was blocked when the process started
    source, function = b"", None
    while True:
        try:
            message = connection.recv_bytes()
            if message == _FUNCTION_FOLLOWS:
                source, function = connection.recv_bytes(), None
                continue
        except (EOFError, OSError):
            return
        try:
            # The function is loaded when the first item arrives. Only items get replies, and an error in loading must
            # be sent as a reply.
            if function is None:
                function = pickle.loads(source)
            answer = pickle.dumps((True, function(pickle.loads(message))), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            answer = _failure(error)
        try:
            connection.send_bytes(answer)
        except OSError:
            return


def _failure(error: Exception) -> bytes:
    """Return an error for the parent process, with its traceback as a note. An error that can't be pickled is replaced
    by its text.
    """
    if not isinstance(error, KibitzError):
        error.add_note("in a worker process:\n" + "".join(traceback.format_tb(error.__traceback__)))
    try:
        message = pickle.dumps((False, error))
        pickle.loads(message)
        return message
    except Exception:
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {one_line(error)}")))
