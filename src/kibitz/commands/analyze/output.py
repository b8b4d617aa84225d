"""Common parts of `kibitz analyze` for chess and Go: JSON that is printed game by game, warnings, and progress."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from kibitz import records
from kibitz.commands.progress import BAR, ELAPSED, LEFT, Progress
from kibitz.errors import KibitzError
from kibitz.external import EngineDied

Game = TypeVar("Game")

COARSE = 1 << 24
"""For files smaller than this number of bytes, no time left is shown, because files are read ahead by a megabyte."""

Shown = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""A function that makes the display of progress for a path. The display is a function of the numbers of games and of
bytes read so far.
"""


class CheckedFile:
    """A file of games that an engine may evaluate. name: its name in messages."""

    name: str
    failure: EngineDied | None = None
    """The failure of the engine after at least one game; None if it has not failed."""

    def until_failure(self, games: Iterator[Game]) -> Iterator[Game]:
        """Yield games until the engine fails. Raises EngineDied if it fails at the first one."""
        complete = 0
        try:
            for game in games:
                yield game
                complete += 1
        except EngineDied as error:
            if not complete:
                raise
            before = "1 game" if complete == 1 else f"{complete:,} games"
            self.failure = EngineDied(f"{self.name}: {error} after {before}", error.how)

    def problem(self) -> dict[str, str]:
        """Return the failure as a field of the JSON output."""
        return {"problem": str(self.failure)} if self.failure else {}

    def check_failure(self) -> None:
        """Raise KibitzError if the engine failed. It is called after the earlier games are written."""
        if self.failure:
            raise KibitzError(f"{self.failure}. The output contains the games before this error.")


def same_file(one: str, other: str) -> bool:
    """Return whether two paths lead to the same existing file."""
    try:
        return Path(one).samefile(other)
    except OSError:  # one of the files doesn't exist
        return False


@contextlib.contextmanager
def as_object(
    run: str, system: str, note: str = "", last: Callable[[], dict[str, Any]] = dict
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Print one JSON object that contains the games, game by game, so that memory does not grow. Yields the function
    that prints a game.

    note: the meaning of the games' evaluations; "" for none.
    last: returns the fields that follow the games.
    Nothing is printed if there are no games. If the file is damaged, the object ends with the error as "problem".
    """
    printed = 0

    def one(game: dict[str, Any]) -> None:
        nonlocal printed
        if not printed:
            head = {"run": run, "system": system, **({"evaluation": note} if note else {})}
            print(json.dumps(head, ensure_ascii=False)[:-1] + ', "games": [')
        print(("," if printed else "") + json.dumps(game, ensure_ascii=False))
        printed += 1

    try:
        yield one
    except KibitzError as error:
        if printed:
            print(f'], "problem": {json.dumps(str(error), ensure_ascii=False)}}}')
        raise
    print("".join(["]", *(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in last().items()), "}"]))


@contextlib.contextmanager
def progress(path: str, measured: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of reading the games of a file. Yields a function that is called with the number of games and
    the number of bytes read so far.

    Nothing is shown if standard output is a terminal, because the games themselves are printed there. measured: whether
    the function gets the number of bytes, so that the time left can be estimated.
    """
    if sys.stdout.isatty():
        yield lambda games, consumed: None
        return
    total = records.size([path]) if measured else None
    if total is not None and total < COARSE:
        total = None
    with Progress("{task.fields[games]:,} games", BAR, ELAPSED, LEFT, patient=True) as bar:
        bar.begin("", total, games=0)
        yield lambda games, consumed: bar.update(consumed, f"kibitz: {games:,} games read", games=games)
