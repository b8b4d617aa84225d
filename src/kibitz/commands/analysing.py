"""kibitz analyze: what a trained network thought of every move of a game."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kibitz import records
from kibitz.errors import KibitzError, UsageError

if TYPE_CHECKING:
    from kibitz.analysis import Analysis
    from kibitz.analysis.moves import Judged
    from kibitz.play.session import Session

_PATIENCE = 2.0
"""Seconds before progress is shown."""
_COARSE = 1 << 24
"""Bytes of a file under which the share read tells nothing of the time left: files are read a megabyte ahead."""


def analyze(
    run: Annotated[
        str, typer.Argument(help="A run, or the name of a packaged network.", show_default=False, metavar="RUN")
    ],
    game_file: Annotated[
        str,
        typer.Argument(
            help="A PGN file, or - for standard input; .zst, .gz and .bz2 are unpacked.",
            show_default=False,
            metavar="FILE",
        ),
    ],
    game: Annotated[
        int | None, typer.Option(help="Number of the game in the file, from 1. Default: 1.", min=1, metavar="N")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every game of the file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
    pgn: Annotated[
        str | None,
        typer.Option(
            help="Write the games to this file, with [%eval] and ?!, ?, ?? where the network says who wins, and its "
            "choices in comments where it expects moves; - prints them instead of the table. Default: not written.",
            metavar="FILE",
        ),
    ] = None,
    swing: Annotated[
        float,
        typer.Option(
            help="Mark moves that cost their player this much winning probability, in points of a hundred, with ?!; "
            "twice that with ?, three times with ??. Moves that gain it get ↑. Needs a network that says who wins.",
            metavar="PERCENT",
        ),
    ] = 10,
) -> None:
    """Show what a network thought of each move of a game.

    Who wins, where it says so: White's chances before and after each move.
    Which moves it expects, where it says so: its first three choices, and where
    the played move ranked among the legal ones (*: below the 10th, or under 1%).

    Evaluations written by --pgn are in pawns from White's side, by Lichess's relation of pawns and winning chances.
    """
    if game is not None and every:
        raise UsageError("--game and --all: choose one of them")
    if not 0 < swing <= 100:
        raise UsageError(f"--swing {swing:g}: points of a hundred, over 0 to 100")
    if as_json and pgn == "-":
        raise UsageError("--json and --pgn -: both print on standard output; name a file for --pgn")
    replaced = bool(pgn) and _same_file(pgn or "", game_file)
    if replaced and not every:
        raise UsageError(f"--pgn {pgn}: its other games would be lost; add --all, or name another file")

    from kibitz.analysis import load
    from kibitz.analysis.annotate import annotated, whole_file
    from kibitz.play.session import Session

    session = Session(run)
    if session.game != "chess":
        raise UsageError(f"{run}: a network for {session.game}, and {game_file} is read as chess")
    analysis = load(session.system)
    number = None if every else game or 1
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(whole_file(pgn)) if pgn else None
        show = stack.enter_context(_json(run, session.system)) if as_json else _table(swing / 100)
        for judged in stack.enter_context(
            contextlib.closing(_judged(game_file, number, session, analysis, swing, replaced))
        ):
            if pgn != "-":
                show(judged)
            if file:
                file.write(annotated(judged))


def _same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:  # one of them is not there
        return False


def _not_replaced(number: int, path: str) -> str:
    return f"{path}: left as it is, since writing it again would lose what is wrong in game {number}; name another file"


def _judged(
    path: str, number: int | None, session: Session, analysis: Analysis, swing: float, whole: bool
) -> Generator[Judged]:
    """The games, judged one by one; what was left out is told on standard error.

    Raises KibitzError where there is nothing to judge, and, with `whole`, before anything is left out.
    """
    from kibitz.analysis.games import read
    from kibitz.analysis.moves import judge
    from kibitz.analysis.ratings import RATING, UNIT, lacking

    name = "standard input" if path == records.STDIN else records.printable(path)
    judged = refused = 0
    first = ""
    unrated: list[int] = []
    with _progress(path) as show, contextlib.closing(read(path, number, show)) as games:
        for record in games:
            where = f"{name} game {record.number}"
            if record.refused:
                refused += 1
                first = first or f"{where}: {record.refused}"
                if number is None:
                    _warn(f"{where}: {record.refused}")
                if whole:
                    raise KibitzError(_not_replaced(record.number, path))
                continue
            for note in record.notes:
                _warn(f"{where}: {note}")
            if record.problem:
                _warn(f"{where}: {record.problem}; analysed up to there")
            if whole and (record.problem or record.notes):
                raise KibitzError(_not_replaced(record.number, path))
            judged += 1
            if RATING in session.beyond and lacking(record.game.headers):
                unrated.append(record.number)
            yield judge(record, session, analysis, swing / 100)
    if unrated:
        which = f"game {unrated[0]} lacks"
        if len(unrated) > 1:
            which = f"{len(unrated):,} games, from {unrated[0]} on, lack"
        usual = session.beyond[RATING] * UNIT
        _warn(f"{name}: {which} a rating, which the network is told; it took the player for one of {usual}")
    if not judged:
        if number is not None:
            raise KibitzError(f"{first}; choose another with --game")
        raise KibitzError(f"{name}: none of its games can be analysed ({refused:,}; {first.removeprefix(name + ' ')})")


def _warn(line: str) -> None:
    print(f"kibitz: warning: {line}", file=sys.stderr)


def _table(swing: float) -> Callable[[Judged], None]:
    """Prints each game as a table."""
    from rich.console import Console

    from kibitz.analysis.terminal import show

    console = Console()
    shown = 0

    def one(judged: Judged) -> None:
        nonlocal shown
        if shown:
            print()
        show(judged, swing, console)
        shown += 1

    return one


@contextlib.contextmanager
def _json(run: str, system: str) -> Iterator[Callable[[Judged], None]]:
    """Prints one object, a game at a time, so that memory stays flat. Nothing is printed where no game comes.

    Where the file turns out to be damaged later, the object ends with what was wrong as "problem".
    """
    shown = 0

    def one(judged: Judged) -> None:
        nonlocal shown
        if not shown:
            print(f'{{"run": {json.dumps(run, ensure_ascii=False)}, "system": {json.dumps(system)}, "games": [')
        print(("," if shown else "") + json.dumps(judged.as_json(), ensure_ascii=False))
        shown += 1

    try:
        yield one
    except KibitzError as error:
        if shown:
            print(f'], "problem": {json.dumps(str(error), ensure_ascii=False)}}}')
        raise
    print("]}")


@contextlib.contextmanager
def _progress(path: str) -> Iterator[Callable[[int, int], None]]:
    """A progress line on standard error, where that is a terminal, the work takes more than two seconds, and the games
    are not printed on a terminal themselves."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield lambda games, consumed: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    total, begun = records.size([path]), time.monotonic()
    if total is not None and total < _COARSE:
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
