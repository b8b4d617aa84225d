"""Show a message while kernels are compiled, which happens once after an install: "One-time preparation of the search:
6 of 14".

This module imports nothing large. `kernels` calls the listeners, and `kibitz prepare` compiles in advance.
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
"""Libraries whose versions are in the key of each kernel."""
MOST_DAYS = 80
"""After this number of days, kernels are compiled again, because unused kernels are removed after 90 days."""


class Preparation(NamedTuple):
    """The progress of compiling kernels.

    done: the number of compiled kernels. total: the expected number of kernels (see `expected`); 0 if it is unknown.
    is_running: whether a kernel is being compiled now.
    """

    done: int
    total: int
    is_running: bool

    def text(self) -> str:
        """Return one line, such as "One-time preparation of the search: 6 of 14"."""
        if self.total:
            return f"One-time preparation of the search: {self.done} of {max(self.done, self.total)}"
        return "One-time preparation of the search, after an install or an update"


Listener = Callable[[Preparation], None]
listeners: list[Listener] = []
"""Functions that are called when the compilation of a kernel begins or ends, if all compilations together take more
than a second.
"""

KERNELS: Mapping[str, int] = {
    "chess": 4,
    "chess search": 14,
    "go": 11,
    "go search": 35,
    "prepare chess": 14,
    "prepare go": 33,
}
"""The number of kernels that Python calls directly, for each kind of work."""
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
    """Record on disk that the kernels for chess, for Go or for both are compiled. games: "chess", "go" or both. If the
    disk can't be written, this does nothing.
    """
    for game in games:
        with contextlib.suppress(OSError):
            mark = _mark(game)
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def are_prepared(games: Sequence[str]) -> bool:
    """Return whether the kernels for chess, for Go or for both are probably compiled already. games: "chess", "go" or
    both.

    The result is true if this version of kibitz, with the same Python and libraries, called `remember` for all of them
    in the last MOST_DAYS days.
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
    """Shows the progress of compiling kernels on standard error. On a terminal, this is one line that is updated, and
    is removed at the end. If standard error is not a terminal, a line is printed only once, at the first call.
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
