"""The kernels of both games, compiled in a separate process while the first page is shown: `kibitz prepare`."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading

from kibitz import preparation

GAMES = ("chess", "go")
SWITCH = "KIBITZ_BOARD_PREPARE"
"""Environment variable: with 0, nothing is prepared ahead."""


class Preparing:
    """The process, and how far it is. It ends by itself, and with the board: when its standard input is closed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._done = self._total = 0

    def start(self) -> None:
        """Start it, unless this version of kibitz has prepared both games before. Never fails: it is only a help."""
        with contextlib.suppress(OSError):
            if os.environ.get(SWITCH) != "0" and self._process is None and not preparation.are_prepared(GAMES):
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "kibitz", "prepare", "--progress"], stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                    start_new_session=os.name == "posix",
                )  # fmt: skip
                threading.Thread(target=self._follow, args=(self._process,), daemon=True).start()

    def state(self) -> dict[str, int | bool]:
        """is_running: whether it is at work; done, total: kernels, 0 until compiling takes a second."""
        is_running = self._process is not None and self._process.poll() is None
        return {"is_running": is_running, "done": self._done, "total": self._total}

    def end(self) -> None:
        """End it."""
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.kill()
            self._process.wait()

    def _follow(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            done, _, total = line.partition(" ")
            with contextlib.suppress(ValueError):
                self._done, self._total = int(done), int(total)
        process.wait()
