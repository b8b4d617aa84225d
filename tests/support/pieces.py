"""Pieces of work for tests of kibitz.parallel. Workers import them from here by name."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

from kibitz.errors import KibitzError


def square(number: int) -> int:
    return number * number


def refuse_seven(number: int) -> int:
    if number == 7:
        raise KibitzError("seven is not a number that can be squared")
    return number * number


def die_at_five(folder: Path, deaths: int, number: int) -> int:
    """Note each call in the folder. The first `deaths` workers that get 5 are killed."""
    calls = len(list(folder.glob(f"{number}-*")))
    (folder / f"{number}-{calls}").touch()
    if number == 5 and calls < deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def wait_for_file(path: Path, number: int) -> int:
    """Say who works, and wait until the file is there (or until killed)."""
    path.with_name(f"pid-{os.getpid()}").touch()
    with open(path) as fifo:  # blocks until somebody writes
        fifo.read()
    return number


class NotInWorkers:
    """A number that a worker process cannot load."""

    def __reduce__(self) -> tuple[object, ...]:
        return (_one_here, ())


def _one_here() -> int:
    if multiprocessing.parent_process() is not None:
        raise ValueError("not in a worker")
    return 1


def product(one: object, number: int) -> int:
    return int(str(one)) * number
