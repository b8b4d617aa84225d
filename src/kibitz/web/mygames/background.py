"""Run work in a separate process, which sends messages about its progress as lines of JSON."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from kibitz.errors import KibitzError, one_line

Message = dict[str, Any]
Send = Callable[[Message], None]
Work = Callable[[Message, Send, threading.Event], None]
"""The type of the function that does the work in a process. Its arguments are the job (a dict), a function that sends a
message, and an event that stops the work.
"""
PATIENCE = 20.0
"""Seconds in which a process must end after a request to stop. Then it is killed."""


class Background:
    """A separate process that runs the function `work` of a kibitz module.

    The process reads its job, a line of JSON, from standard input. It ends when the work is done, or when its standard
    input is closed. So the process also ends when `kibitz board` ends.

    module: the name of the module.
    job: the argument of `work`.
    on_message: a function that is called, in a thread, with each message of the process.
    on_end: a function that is called once at the end, with two arguments. The first is "done", "stopped" or "failed".
        The second is the error message in one line; "" if there is none.
    """

    def __init__(self, module: str, job: Message, on_message: Send, on_end: Callable[[str, str], None]):
        command = [sys.executable, "-c", f"from {__name__} import main; main({module!r})"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=os.name == "posix"
        )
        self._on_message, self._ended, self._stopped = on_message, on_end, False
        self._job = job
        self._over = threading.Event()
        threading.Thread(target=self._listen, name=f"kibitz {module}", daemon=True).start()

    def stop(self) -> None:
        """Ask the process to end. If it still runs after PATIENCE (20) seconds, it is killed."""
        self._stopped = True
        self._close()
        threading.Thread(target=self._end_at_last, name="kibitz stops work", daemon=True).start()

    def kill(self) -> None:
        """Kill the process at once."""
        self._stopped = True
        with contextlib.suppress(OSError):
            self._process.kill()
        self._over.wait(PATIENCE)

    def _end_at_last(self) -> None:
        if not self._over.wait(PATIENCE):
            self.kill()

    def _close(self) -> None:
        assert self._process.stdin
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.close()

    def _listen(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        error, done = "", False
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(self._job).encode() + b"\n")
            self._process.stdin.flush()
        with self._process.stdout as lines:
            for line in lines:
                with contextlib.suppress(ValueError):
                    message = json.loads(line)
                    error, done = message.get("error", error), done or bool(message.get("over"))
                    self._on_message(message)
        self._close()
        self._process.wait()
        self._over.set()
        how = "failed" if error else "stopped" if self._stopped else "done" if done else "failed"
        if how == "failed" and not error:
            error = "the work ended early. See the board's terminal for the cause"
        self._ended(how, error)


def main(module: str) -> None:
    """Run a module's function `work` in this process, and write its messages to standard output."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    # standard output is reserved for messages to kibitz board, so output of libraries goes to standard error
    os.dup2(2, 1)
    if os.name == "posix":
        os.nice(3)  # lowers this process's priority, because kibitz board has priority
    lock, stop = threading.Lock(), threading.Event()

    def send(message: Message) -> None:
        with lock, contextlib.suppress(OSError):
            out.write(json.dumps(message).encode() + b"\n")

    job = json.loads(_first_line())
    threading.Thread(target=_watch, args=(stop,), daemon=True).start()
    work: Work = importlib.import_module(module).work
    try:
        work(job, send, stop)
        send({"over": True})
    except KibitzError as error:
        send({"error": one_line(error)})


def _first_line() -> bytes:
    """Read the first line of standard input without a buffer: otherwise a thread that waits for the buffer's lock could
    not end.
    """
    line = b""
    while not line.endswith(b"\n"):
        if not (more := os.read(0, 1)):
            return b"{}"
        line += more
    return line


def _watch(stop: threading.Event) -> None:
    """Stop the work when standard input ends. If this takes too long, end the process."""
    while os.read(0, 1 << 12):
        pass
    stop.set()
    threading.Event().wait(PATIENCE)
    os._exit(1)
