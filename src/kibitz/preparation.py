"""Show a message while numba compiles kibitz's functions, once after an install: "One-time preparation of the search: 6
of 14". A compiled function is called a kernel.

The module `kernels` reports the progress to the functions in the list `listeners`. `kibitz prepare` compiles in
advance. This module imports nothing large.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kibitz import environment

LIBRARIES = ("numba", "llvmlite", "numpy")
"""Libraries whose versions determine whether compiled functions can be used again."""
MOST_DAYS = 80
"""After this number of days, `are_prepared` assumes that compiled functions must be compiled again, because the cache
removes unused ones after 90 days.
"""


class Preparation(NamedTuple):
    """The progress of compiling kernels, the functions that numba compiles.

    done: the number of compiled kernels. total: the expected number of kernels (see `expected`); 0 if it is unknown.
    is_running: whether a kernel is being compiled now.
    left: the estimated number of seconds until all are compiled; None if it is unknown.
    """

    done: int
    total: int
    is_running: bool
    left: int | None = None

    def text(self) -> str:
        """Return one line, such as "One-time preparation of the search: 6 of 14, about 20 s left". If the total is
        unknown, the line has no numbers.
        """
        if self.total:
            left = "" if self.left is None else f", about {self.left} s left"
            return f"One-time preparation of the search: {self.done} of {max(self.done, self.total)}{left}"
        return "One-time preparation of the search, after an install or an update"


Listener = Callable[[Preparation], None]
listeners: list[Listener] = []
"""Functions that are called with the progress when numba begins or ends to compile a function. The calls begin once all
compilations together have taken more than a second.
"""

KERNELS: Mapping[str, int] = {
    "chess": 4,
    "chess search": 14,
    "go": 11,
    "go search": 35,
    "prepare chess": 14,
    "prepare go": 33,
}
"""The number of compiled functions (kernels) that each kind of work needs. Functions that only other kernels call are
not counted.
"""
_work: list[str] = []


def expect(work: str) -> None:
    """Record what this process is going to do, so that progress messages can show how many kernels it needs. work: the
    kind of work, a key of KERNELS such as "chess search".
    """
    if work not in _work:
        _work.append(work)


def expected() -> int:
    """Return the number of kernels that this process needs, for all work passed to `expect`; 0 if there was no such
    call.
    """
    return sum(KERNELS[work] for work in _work)


def _mark(game: str) -> Path:
    """Return the path of the file that records that a game's kernels are compiled, for this version of the program and
    its libraries.
    """
    import hashlib
    from importlib.metadata import version

    package = Path(__file__).parent
    parts = [sys.version, *(version(name) for name in LIBRARIES)]
    for path in sorted(package.rglob("*.py")):
        found = path.stat()
        parts.append(f"{path.relative_to(package)} {found.st_size} {found.st_mtime_ns}")
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return environment.user_folder() / f"prepared-{game}-{digest}"


def remember(games: Sequence[str]) -> None:
    """Record on disk that the functions for some games are compiled, so that `are_prepared` returns true. If the disk
    can't be written, nothing is recorded.

    games: "chess", "go" or both.
    """
    for game in games:
        with contextlib.suppress(OSError):
            mark = _mark(game)
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def are_prepared(games: Sequence[str]) -> bool:
    """Return whether numba has probably compiled the functions for some games already. games: "chess", "go" or both.

    The result is true if `remember` was called for all these games in the last MOST_DAYS (80) days. The call must come
    from this version of kibitz, with the same Python and libraries.
    """
    for game in games:
        try:
            age_s = time.time() - _mark(game).stat().st_mtime
        except OSError:  # there is no such file, or this user may not enter its folder
            return False
        if age_s > MOST_DAYS * 86_400:
            return False
    return True


class PreparationLine:
    """Shows the progress of compiling on standard error. To use it, append an instance to the list
    `kibitz.preparation.listeners`, whose functions are called with the progress.

    On a terminal, one line is updated, and removed at the end. If standard error is not a terminal, only the first call
    prints a line.
    """

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        self._is_shown = False
        self._width = 0

    def __call__(self, preparation: Preparation) -> None:
        with contextlib.suppress(OSError, ValueError):  # standard error may be closed
            if self._is_terminal:
                text = preparation.text() if preparation.is_running else ""
                # old Windows consoles support no other way to remove a line
                sys.stderr.write(f"\r{' ' * self._width}\r{text}")
                self._width = len(text)
                sys.stderr.flush()
            elif not self._is_shown:
                self._is_shown = True
                print(preparation.text(), file=sys.stderr)
