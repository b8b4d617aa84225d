"""kibitz analyze, for chess."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from kibitz import records
from kibitz.commands.analyze.output import as_object, progress, same_file, warn
from kibitz.errors import KibitzError, UsageError

if TYPE_CHECKING:
    from kibitz.analysis import Analysis
    from kibitz.analysis.chess.moves import AnalysedGame
    from kibitz.play.session import Session


def analyze_chess(
    session: Session, run: str, game_file: str, number: int | None, as_json: bool, pgn: str | None, swing: float,
    rating: str | None = None,
) -> None:  # fmt: skip
    if not 0 < swing <= 100:
        raise UsageError(f"--swing {swing:g}: points of a hundred, over 0 to 100")
    replaced = bool(pgn) and same_file(pgn or "", game_file)
    if replaced and number is not None:
        raise UsageError(f"--pgn {pgn}: its other games would be lost; add --all, or name another file")

    ratings = _ratings(session, rating) if rating is not None else None
    from kibitz.analysis import load
    from kibitz.analysis.chess.pgn import annotated
    from kibitz.analysis.files import whole_file
    from kibitz.systems import find

    analysis = load(session.system)
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(whole_file(pgn)) if pgn else None
        put = (
            stack.enter_context(as_object(run, session.system, find(session.system).meaning.note)) if as_json else None
        )
        table = _table(swing / 100)
        for judged in stack.enter_context(
            contextlib.closing(_judged(game_file, number, session, analysis, swing, replaced, ratings))
        ):
            if put:
                put(judged.as_json())
            elif pgn != "-":
                table(judged)
            if file:
                file.write(annotated(judged))


def _ratings(session: Session, text: str) -> tuple[int, int]:
    """The ratings of `--rating`. Raises UsageError for a network that is told none."""
    from kibitz.analysis.chess.ratings import RATING, read_pair

    if RATING not in session.side_inputs:
        raise UsageError(f"--rating {text}: {session.name} is not told ratings; take human")
    return read_pair(text)


def _not_replaced(number: int, path: str) -> str:
    return f"{path}: left as it is, since writing it again would lose what is wrong in game {number}; name another file"


def _judged(
    path: str,
    number: int | None,
    session: Session,
    analysis: Analysis,
    swing: float,
    whole: bool,
    ratings: tuple[int, int] | None = None,
) -> Generator[AnalysedGame]:
    """The games, judged one by one; what was left out is told on standard error.

    Raises KibitzError where there is nothing to judge, and, with `whole`, before anything is left out.
    """
    from kibitz.analysis.chess.games import read
    from kibitz.analysis.chess.moves import analyse
    from kibitz.analysis.chess.ratings import RATING, UNIT, lacking
    from kibitz.systems import find

    name = "standard input" if path == records.STDIN else records.printable(path)
    judged = refused = 0
    first = ""
    unrated: list[int] = []
    with progress(path) as show, contextlib.closing(read(path, number, show)) as games:
        for record in games:
            where = f"{name} game {record.number}"
            if record.refused:
                refused += 1
                first = first or f"{where}: {record.refused}"
                if number is None:
                    warn(f"{where}: {record.refused}")
                if whole:
                    raise KibitzError(_not_replaced(record.number, path))
                continue
            for note in record.notes:
                warn(f"{where}: {note}")
            if record.problem:
                warn(f"{where}: {record.problem}; analysed up to there")
            if whole and (record.problem or record.notes):
                raise KibitzError(_not_replaced(record.number, path))
            judged += 1
            if RATING in session.side_inputs and ratings is None and lacking(record.game.headers):
                unrated.append(record.number)
            yield analyse(record, session, analysis, swing / 100, ratings, find(session.system).meaning)
    if unrated:
        which = f"game {unrated[0]} lacks"
        if len(unrated) > 1:
            which = f"{len(unrated):,} games, from {unrated[0]} on, lack"
        usual = session.side_inputs[RATING] * UNIT
        took = f"took the player for one of {usual}" if usual else "was told that it is not known"
        warn(f"{name}: {which} a rating, which the network is told; it {took}")
    if not judged:
        if number is not None:
            raise KibitzError(f"{first}; choose another with --game")
        raise KibitzError(f"{name}: none of its games can be analysed ({refused:,}; {first.removeprefix(name + ' ')})")


def _table(swing: float) -> Callable[[AnalysedGame], None]:
    """Prints each game as a table."""
    from rich.console import Console

    from kibitz.analysis.chess.terminal import show

    console = Console()
    shown = 0

    def one(judged: AnalysedGame) -> None:
        nonlocal shown
        if shown:
            print()
        show(judged, swing, console)
        shown += 1

    return one
