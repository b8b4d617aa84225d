"""Common parts of `kibitz analyze` for chess and Go: JSON that is printed game by game, engine failures, and
progress.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kibitz import ongoing, records
from kibitz.commands.pages import check_page
from kibitz.commands.progress import BAR, ELAPSED, LEFT, Progress
from kibitz.errors import KibitzError
from kibitz.external import EngineDied
from kibitz.messages import note
from kibitz.text import number_of

if TYPE_CHECKING:
    from types import TracebackType

Game = TypeVar("Game")

COARSE = 1 << 24
"""For a file smaller than this number of bytes, the progress shows no time left. kibitz reads files in large blocks, so
the estimate would be wrong.
"""

FIRST_SECONDS = 0.8
"""The number of seconds after which the progress bar of one game appears."""

Shown = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""A function that takes a file's path and returns a context manager that shows the progress. The context manager yields
a function to call with the number of games and the number of bytes read so far.
"""


class CheckedFile:
    """A file of games to analyze. The class handles the failure of an engine that evaluates the moves.

    name: the file's name in messages.
    """

    name: str
    failure: EngineDied | None = None
    """The error if the engine failed after at least one game; None if it has not failed."""

    def until_failure(self, games: Iterator[Game]) -> Iterator[Game]:
        """Yield the analyzed games until the engine fails, and store the error in the attribute `failure`. If the
        engine fails in the first game, raise EngineDied.
        """
        complete = 0
        try:
            for game in games:
                yield game
                complete += 1
        except EngineDied as error:
            if not complete:
                raise
            before = number_of(complete, "game")
            self.failure = EngineDied(f"{self.name}: {error} after {before}", error.how)

    def problem(self) -> dict[str, str]:
        """Return {"problem": message} for the JSON output if the engine has failed, otherwise {}."""
        return {"problem": str(self.failure)} if self.failure else {}

    def check_failure(self) -> None:
        """Raise KibitzError if the engine has failed. Before you call this method, write all games that
        `until_failure` yielded.
        """
        if self.failure:
            raise KibitzError(f"{self.failure}. The output contains the games before this error.")


@contextlib.contextmanager
def game_page(
    page: str | None, others: Iterable[str], describe: Callable[[Game], dict[str, Any]]
) -> Iterator[Callable[[Game], None]]:
    """Return a context manager that writes the page of analyzed games when it ends. It yields a function that adds a
    game. After Ctrl-C, the page has the games that were added before.

    page: the file to write; None for no page. others: the other files that the command reads or writes. describe: a
    function that returns the description of a game, see `kibitz.analysis.shown`.

    Raises KibitzError, before any work, if the file can't be written, and UsageError if it is one of the other files.
    """
    if page is None:
        yield lambda game: None
        return
    from kibitz.analysis.files import whole_file
    from kibitz.report.game import render_game_page

    check_page(Path(page), "--page", others)
    games: list[dict[str, Any]] = []
    with whole_file(page, lambda: bool(games)) as file:
        try:
            yield lambda game: games.append(describe(game))
        finally:
            file.write(render_game_page(games))
    note(f"page: {page}")


def same_file(one: str, other: str) -> bool:
    """Return whether two paths lead to the same file. The result is False if a path does not exist."""
    try:
        return Path(one).samefile(other)
    except OSError:  # one of the files doesn't exist
        return False


@contextlib.contextmanager
def as_object(
    run: str, system: str, meaning: str = "", last: Callable[[], dict[str, Any]] = dict
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Return a context manager that prints one JSON object with all games. It yields a function that prints one game,
    so that only one game is in memory.

    run: the network's name. system: the name of its system (kind of network).
    meaning: what the evaluations of the games mean; "" for no text.
    last: a function that returns further fields, which are printed after the games.

    Nothing is printed if there are no games. If a KibitzError or Ctrl-C ends the analysis, the object ends with the
    field "problem", which contains the reason.
    """
    printed = 0

    def one(game: dict[str, Any]) -> None:
        nonlocal printed
        if not printed:
            head = {"run": run, "system": system, **({"evaluation": meaning} if meaning else {})}
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
    """Return a context manager that shows the progress of the analysis of a file. The context manager yields a function
    that updates the progress. This function takes the number of games and the number of bytes that were read so far.

    path: the file.
    measured: whether the caller gives the number of bytes. If it does, the time left is estimated from this number.

    If standard output is a terminal, the output shows how many games are complete. In this case, the context manager
    shows only the progress inside a game, see `GameBar`.
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
        line = f"kibitz: {number_of(games, 'game')} read" if games else ""
        bar.update(consumed, line, games=number_of(games, "game"), inside="")

    def on_positions(done: int, total: int) -> None:
        games, consumed = read
        inside = f"{done:,} of {number_of(total, 'position')} of a game" if done < total else ""
        line = f"kibitz: game {games + 1:,}, {done:,} of {number_of(total, 'position')}"
        bar.update(consumed, line, games=number_of(games, "game"), inside=inside)

    with (
        Progress("{task.fields[games]}", "{task.fields[inside]}", BAR, ELAPSED, LEFT, patient=True) as bar,
        ongoing.listening(on_positions),
    ):
        bar.begin("", total, games=number_of(0, "game"), inside="")
        yield on_games


class GameBar(Progress):
    """A progress bar for the positions of one game. It appears if the analysis of the game takes longer than 0.8
    seconds, and disappears when all positions are searched.
    """

    def __init__(self) -> None:
        super().__init__("{task.completed:,.0f} of {task.total:,.0f} positions", BAR, LEFT)
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        """Shows the bar later; None between games."""
        self._positions = (0, 0)
        self._is_shown = False

    def on_positions(self, done: int, total: int) -> None:
        """Update the bar. done: the number of searched positions of the game. total: the number of all its
        positions.
        """
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
