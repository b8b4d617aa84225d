"""Work in a separate process, which sends its progress as lines of JSON."""

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

Told = dict[str, Any]
Say = Callable[[Told], None]
Work = Callable[[Told, Say, threading.Event], None]
"""The job of a process. Arguments: the request, a function that sends a message, and an event that stops it."""
PATIENCE = 20.0
"""Seconds that a process has to end after a request."""


class Background:
    """A process that runs a function `work` of a kibitz module.

    It gets a line of JSON, and runs until it is done or its standard input is closed, so it also ends with the board.
    on_told: called with each message, in a thread. on_end: called once, with "done", "stopped" or "failed", and an
    error in one line or "".
    """

    def __init__(self, module: str, asked: Told, on_told: Say, on_end: Callable[[str, str], None]):
        command = [sys.executable, "-c", f"from {__name__} import main; main({module!r})"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=os.name == "posix"
        )
        self._told, self._ended, self._stopped = on_told, on_end, False
        self._asked = asked
        self._over = threading.Event()
        threading.Thread(target=self._listen, name=f"kibitz {module}", daemon=True).start()

    def stop(self) -> None:
        """Request its end; it is killed if it doesn't end in time."""
        self._stopped = True
        self._close()
        threading.Thread(target=self._end_at_last, name="kibitz stops work", daemon=True).start()

    def kill(self) -> None:
        """End it at once."""
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
            self._process.stdin.write(json.dumps(self._asked).encode() + b"\n")
            self._process.stdin.flush()
        with self._process.stdout as lines:
            for line in lines:
                with contextlib.suppress(ValueError):
                    told = json.loads(line)
                    error, done = told.get("error", error), done or bool(told.get("over"))
                    self._told(told)
        self._close()
        self._process.wait()
        self._over.set()
        how = "failed" if error else "stopped" if self._stopped else "done" if done else "failed"
        if how == "failed" and not error:
            error = "the work ended early. See the board's terminal for the cause"
        self._ended(how, error)


def main(module: str) -> None:
    """Run a module's job in this process, and write its messages to standard output."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # output of libraries is not a message to the board
    if os.name == "posix":
        os.nice(3)  # the board has priority
    lock, stop = threading.Lock(), threading.Event()

    def say(told: Told) -> None:
        with lock, contextlib.suppress(OSError):
            out.write(json.dumps(told).encode() + b"\n")

    asked = json.loads(_first_line())
    threading.Thread(target=_watch, args=(stop,), daemon=True).start()
    work: Work = importlib.import_module(module).work
    try:
        work(asked, say, stop)
        say({"over": True})
    except KibitzError as error:
        say({"error": one_line(error)})


def _first_line() -> bytes:
    """Return the first line of standard input, unbuffered: a thread that waits for a buffer's lock could not end."""
    line = b""
    while not line.endswith(b"\n"):
        if not (more := os.read(0, 1)):
            return b"{}"
        line += more
    return line


def _watch(stop: threading.Event) -> None:
    """Stop the work at the end of standard input, and the process if that takes too long."""
    while os.read(0, 1 << 12):
        pass
    stop.set()
    threading.Event().wait(PATIENCE)
    os._exit(1)
