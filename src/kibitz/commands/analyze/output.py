"""What `kibitz analyze` does for both games alike: JSON a game at a time, warnings, progress."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kibitz import records
from kibitz.errors import KibitzError

_PATIENCE = 2.0
"""Seconds before progress is shown."""
_COARSE = 1 << 24
"""Bytes of a file under which the share read tells nothing of the time left: files are read a megabyte ahead."""


def same_file(one: str, other: str) -> bool:
    """Whether two paths name one file that exists."""
    try:
        return Path(one).samefile(other)
    except OSError:  # one of them is not there
        return False


def warn(line: str) -> None:
    """A line on standard error; the work goes on."""
    print(f"kibitz: warning: {line}", file=sys.stderr)


@contextlib.contextmanager
def as_object(run: str, system: str, note: str = "") -> Iterator[Callable[[dict[str, Any]], None]]:
    """Prints one object, with the games that come one by one, so that memory stays flat. Nothing is printed where none
    comes. note: what its evaluations mean, where that is to be said.

    Where the file turns out to be damaged later, the object ends with what was wrong as "problem".
    """
    shown = 0

    def one(game: dict[str, Any]) -> None:
        nonlocal shown
        if not shown:
            head = {"run": run, "system": system, **({"evaluation": note} if note else {})}
            print(json.dumps(head, ensure_ascii=False)[:-1] + ', "games": [')
        print(("," if shown else "") + json.dumps(game, ensure_ascii=False))
        shown += 1

    try:
        yield one
    except KibitzError as error:
        if shown:
            print(f'], "problem": {json.dumps(str(error), ensure_ascii=False)}}}')
        raise
    print("]}")


@contextlib.contextmanager
def progress(path: str, measured: bool = True) -> Iterator[Callable[[int, int], None]]:
    """A progress line on standard error, where that is a terminal, the work takes more than two seconds, and the games
    are not printed on a terminal themselves. measured: bytes read are told, so that the time left can be guessed."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield lambda games, consumed: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    total, begun = records.size([path]), time.monotonic()
    if not measured or (total is not None and total < _COARSE):
        total = None
    bar = Progress(
        TextColumn("{task.fields[games]:,} games"), BarColumn(), TimeElapsedColumn(), TextColumn("left:"),
        TimeRemainingColumn(), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    task = bar.add_task("", total=total, games=0)

    def show(games: int, consumed: int) -> None:
        if time.monotonic() - begun >= _PATIENCE:
            bar.start()
            bar.update(task, completed=consumed, games=games)

    try:
        yield show
    finally:
        bar.stop()
