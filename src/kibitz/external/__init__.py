"""External programs: found by `programs`, called in GTP or UCI with time limits, and ended in every case."""

from __future__ import annotations

import contextlib
import os
import signal

from kibitz.errors import KibitzError

running: set[int] = set()
"""The process groups of the programs that were started and not yet killed."""


class EngineDied(KibitzError):
    """A program did not answer in time (`how` is "hung"), has ended ("died"), or could not be started ("absent"; a GTP
    program: "died"). It is gone now.

    detail: the exit code or what the system said, in words; "" where the message says all.
    """

    def __init__(self, message: str, how: str, detail: str = ""):
        super().__init__(message)
        self.how = how
        self.detail = detail


def kill_group(process: int) -> None:
    """End a program that was started as a group of its own, and where it was a script, whatever it started."""
    running.discard(process)
    with contextlib.suppress(OSError, AttributeError):  # it has ended; or the system has no process groups
        os.killpg(process, signal.SIGKILL)


def kill_all() -> None:
    """End all programs, also those that are only starting: this process is about to end."""
    for process in list(running):
        kill_group(process)
