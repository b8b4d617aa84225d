"""Compile kibitz's numba functions for both games in a separate process (`kibitz prepare`), while the browser shows the
first page of `kibitz board`.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading

from kibitz import preparation

GAMES = ("chess", "go")
SWITCH = "KIBITZ_BOARD_PREPARE"
"""The name of an environment variable. If its value is 0, nothing is compiled in advance."""


class Preparing:
    """A process that compiles kibitz's kernels (numba functions) before they are needed.

    The process ends when all kernels are compiled, or when kibitz board ends and thereby closes the process's standard
    input.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._done = self._total = 0
        self._left: int | None = None

    def start(self) -> None:
        """Start the process, unless the functions for chess and Go are already compiled for this version of kibitz. If
        the process can't be started, nothing happens, because the browser page of `kibitz board` also works without it.
        """
        with contextlib.suppress(OSError):
            if os.environ.get(SWITCH) != "0" and self._process is None and not preparation.are_prepared(GAMES):
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "kibitz", "prepare", "--progress"], stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                    start_new_session=os.name == "posix",
                )  # fmt: skip
                threading.Thread(target=self._follow, args=(self._process,), daemon=True).start()

    def state(self) -> dict[str, int | bool | None]:
        """Return the progress of compiling kernels (numba functions) as a dict with these keys.

        is_running: whether the process is running.
        done: the number of kernels compiled so far.
        total: the number of all kernels to compile. During the first second, `done` and `total` are 0.
        left: the estimated number of seconds until all are compiled; None if it is unknown.
        """
        is_running = self._process is not None and self._process.poll() is None
        return {"is_running": is_running, "done": self._done, "total": self._total, "left": self._left}

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.kill()
            self._process.wait()

    def _follow(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with contextlib.suppress(ValueError):
                self._done, self._total, *left = map(int, line.split())
                self._left = left[0] if left else None
        process.wait()
