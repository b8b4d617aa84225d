"""Find other programs: on the PATH, or where Debian installs games, which most PATHs don't include."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

from kibitz.errors import UsageError

GAMES = "/usr/games"


def find_program(word: str) -> str | None:
    """Return the path of a program, from its name or path; None if it is not installed."""
    return shutil.which(word) or (shutil.which(f"{GAMES}/{word}") if os.sep not in word else None)


def find_stockfish(path: str | None = None) -> str | None:
    """Return the path of Stockfish: of the program at `path`, or of the installed one; None if there is none."""
    return shutil.which(path) if path else find_program("stockfish")


def find_gnugo(path: str | None = None) -> str | None:
    """Return the absolute path of GNU Go, because it may run in another folder. Arguments as in `find_stockfish`."""
    program = shutil.which(path) if path else find_program("gnugo")
    return os.path.abspath(program) if program else None


def find_named(option: str, path: str | None, find: Callable[[str | None], str | None]) -> str | None:
    """Return `find(path)` for the path of an option. Raises UsageError if it isn't a program."""
    program = find(path)
    if path is not None and program is None:
        raise UsageError(f"{option} must be a program (got {path}). Install it or give its path.")
    return program
