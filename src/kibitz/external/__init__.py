"""Run external programs, such as chess engines. `programs` finds the programs. `gtp` and `uci` start them and
communicate with them, with time limits. kibitz ends every program that it has started.
"""

from __future__ import annotations

import contextlib
import os
import signal

from kibitz.errors import KibitzError

running: set[int] = set()
"""The process groups, by process id, of the programs that kibitz has started and not yet ended."""


class EngineDied(KibitzError):
    """Raised if an external program fails.

    how: "hung" if the program gave no reply in time, "died" if it has ended, and "absent" if a UCI engine could not be
        started. If a GTP program could not be started, it is "died".
    detail: the exit code or the operating system's message; "" if the error's message already contains this text.
    """

    def __init__(self, message: str, how: str, detail: str = ""):
        super().__init__(message)
        self.how = how
        self.detail = detail

    def __reduce__(self) -> tuple[type[EngineDied], tuple[str, str, str]]:
        return type(self), (str(self), self.how, self.detail)


def kill_group(process: int) -> None:
    """Kill a program and the processes that it has started. The program must have been started as a process group.

    process: the process id of the program.
    """
    running.discard(process)
    with contextlib.suppress(OSError, AttributeError):  # the process has ended, or the system has no process groups
        os.killpg(process, signal.SIGKILL)


def kill_all() -> None:
    """Kill all running external programs, including those that are still starting. Call this before this process
    ends.
    """
    for process in list(running):
        kill_group(process)
