"""Common parts of `kibitz analyze` for chess and Go: JSON that is printed game by game, warnings, and progress."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kibitz import ongoing, records
from kibitz.commands.progress import BAR, ELAPSED, LEFT, Progress
from kibitz.errors import KibitzError
from kibitz.external import EngineDied

if TYPE_CHECKING:
    from types import TracebackType

Game = TypeVar("Game")

COARSE = 1 << 24
"""For files smaller than this number of bytes, no time left is shown, because files are read ahead by a megabyte."""

FIRST_SECONDS = 0.8
"""The number of seconds after which the progress inside a game is shown."""

Shown = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""A function that takes a file's path and returns a context manager that shows the progress. The context manager yields
a function to call with the number of games and the number of bytes read so far.
"""


class CheckedFile:
    """A file of games that are analyzed, possibly by an engine that may fail. name: the file's name in messages."""

    name: str
    failure: EngineDied | None = None
    """The failure of the engine after at least one game; None if it has not failed."""

    def until_failure(self, games: Iterator[Game]) -> Iterator[Game]:
        """Yield the games until the engine fails, and keep its failure in `failure`. Raises EngineDied if the engine
        fails in the first game.
        """
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
        """Return the engine's failure as the field "problem" of the JSON output; {} if it has not failed."""
        return {"problem": str(self.failure)} if self.failure else {}

    def check_failure(self) -> None:
        """Raise KibitzError if the engine has failed. First write the games that were analyzed before the failure, then
        call this method.
        """
        if self.failure:
            raise KibitzError(f"{self.failure}. The output contains the games before this error.")


def same_file(one: str, other: str) -> bool:
    """Return whether two paths lead to the same file. False if a path does not exist."""
    try:
        return Path(one).samefile(other)
    except OSError:  # one of the files doesn't exist
        return False


@contextlib.contextmanager
def as_object(
    run: str, system: str, note: str = "", last: Callable[[], dict[str, Any]] = dict
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A context manager that prints one JSON object with all games. It yields a function that prints one game, so only
    one game is in memory.

    note: the meaning of the games' evaluations; "" for none.
    last: a function that returns the fields after the games.

    Nothing is printed if there are no games. If a KibitzError or Ctrl-C ends the analysis, the object ends with the
    field "problem", the reason.
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
    except (KibitzError, KeyboardInterrupt) as error:
        if printed:
            print(f'], "problem": {json.dumps(str(error) or "interrupted", ensure_ascii=False)}}}', flush=True)
        raise
    print("".join(["]", *(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in last().items()), "}"]))


@contextlib.contextmanager
def progress(path: str, measured: bool = True) -> Iterator[Callable[[int, int], None]]:
    """A context manager that shows the progress of an analysis of a file's games. It yields a function to call with the
    number of games and the number of bytes read so far.

    If standard output is a terminal, the games are printed there, and only the progress inside a game is shown, see
    `GameBar`. measured: whether the function gets the number of bytes, from which the time left is estimated.
    """
    if sys.stdout.isatty():
        with GameBar() as inside, ongoing.listening(inside.on_positions):
            yield lambda games, consumed: None
        return
    total = records.size([path]) if measured else None
    if total is not None and total < COARSE:
        total = None
    read = (0, 0)

    def on_games(games: int, consumed: int) -> None:
        nonlocal read
        read = games, consumed
        bar.update(consumed, f"kibitz: {games:,} games read", games=games, inside="")

    def on_positions(done: int, total: int) -> None:
        games, consumed = read
        inside = f"{done:,} of {total:,} positions of a game" if done < total else ""
        line = f"kibitz: {games:,} games read" + (f", {inside}" if inside else "")
        bar.update(consumed, line, games=games, inside=inside)

    with (
        Progress("{task.fields[games]:,} games", "{task.fields[inside]}", BAR, ELAPSED, LEFT, patient=True) as bar,
        ongoing.listening(on_positions),
    ):
        bar.begin("", total, games=0, inside="")
        yield on_games


class GameBar(Progress):
    """The progress inside one game: the number of searched positions. The bar appears after FIRST_SECONDS, and
    disappears when all positions are searched.
    """

    def __init__(self) -> None:
        super().__init__("{task.completed:,.0f} of {task.total:,.0f} positions", BAR, LEFT)
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        """Shows the bar later; None between games."""
        self._positions = (0, 0)
        self._is_shown = False

    def on_positions(self, done: int, total: int) -> None:
        """Update the bar. The arguments are those of `ongoing.Listener`."""
        with self._lock:
            self._positions = done, total
            if done >= total:
                self._end()
            elif self._is_shown and done == 0:
                self.begin("", total)
            elif self._is_shown:
                self.update(done)
            elif done == 0 and self._timer is None:
                self._timer = threading.Timer(FIRST_SECONDS, self._show, [time.monotonic()])
                self._timer.daemon = True
                self._timer.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._end()
        super().__exit__(kind, error, trace)

    def _show(self, since: float) -> None:
        with self._lock:
            if self._timer is not None:
                done, total = self._positions
                self._is_shown = True
                self.begin("", total, since=since)
                self.update(done)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._is_shown = None, False
        self.hide()
