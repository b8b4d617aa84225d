"""kibitz analyze, for Go."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kibitz import records
from kibitz.commands.analyze.output import as_object, progress, same_file, warn
from kibitz.errors import KibitzError, UsageError

if TYPE_CHECKING:
    from kibitz.analysis.go.games import AnalysedGame
    from kibitz.play.session import Session


@dataclass(frozen=True)
class Wanted:
    """What the options ask for.

    number: of the game in the file, None for all. sgf: a file to write. swing: points, None for the usual ones. move:
    the position to show, None for the usual ones. owners: the map of every position.
    """

    number: int | None = None
    as_json: bool = False
    sgf: str | None = None
    swing: float | None = None
    move: int | None = None
    owners: bool = False


def analyze_go(session: Session, run: str, path: str, wanted: Wanted) -> None:
    if wanted.swing is not None and not 0 < wanted.swing <= 361:
        raise UsageError(f"--swing {wanted.swing:g}: points of lead, over 0 to 361")
    if wanted.owners and not wanted.as_json:
        raise UsageError("--owners: prints numbers; add --json")
    if wanted.sgf and same_file(wanted.sgf, path):
        raise UsageError(f"--sgf {wanted.sgf}: its own comments and variations would be lost; name another file")

    from rich.console import Console

    from kibitz.analysis.files import whole_file
    from kibitz.analysis.go.sgf import annotated
    from kibitz.analysis.go.terminal import show

    console = Console()
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(whole_file(wanted.sgf)) if wanted.sgf else None
        put = stack.enter_context(as_object(run, session.system)) if wanted.as_json else None
        for i, judged in enumerate(stack.enter_context(contextlib.closing(_judged(path, session, wanted)))):
            if put:
                put(judged.as_json(wanted.move, wanted.owners))
            elif wanted.sgf != "-":
                if i:
                    print()
                show(judged, wanted.move, console)
            if file:
                file.write(annotated(judged))


def _judged(path: str, session: Session, wanted: Wanted) -> Generator[AnalysedGame]:
    """The games, judged one by one; what was left out is told on standard error. Raises KibitzError where there is
    nothing to judge."""
    from kibitz.analysis import load_owners
    from kibitz.analysis.go.games import analyse
    from kibitz.games.go.io.sgf import Unreadable, read_records

    analysis = load_owners(session.system)
    name = "standard input" if path == records.STDIN else records.printable(path)
    number = judged = refused = 0
    first = late = ""  # late: the first game's line, which is the error itself where no other game follows
    strange: set[int] = set()
    with progress(path, measured=False) as show:
        for record in read_records([path]):
            show(number, 0)
            if isinstance(record, Unreadable) and record.number == 0:  # the file itself, or what is left of it
                line = f"{record.file}: {record.reason}"
                if not Path(path).is_dir():
                    raise KibitzError(line)
                warn(line)
                continue
            number += 1
            if late:
                warn(late)
                late = ""
            if wanted.number not in (None, number):
                continue
            where = f"{name} game {number}"
            if isinstance(record, Unreadable) and Path(path).is_dir():
                where = f"{record.file} game {record.number}"
            problem = record.reason if isinstance(record, Unreadable) else _too_large(record.size, session)
            if isinstance(record, Unreadable) or problem:
                refused += 1
                line = f"{where}: {problem}"
                first = first or line
                if wanted.number is None and number == 1:
                    late = line
                elif wanted.number is None:
                    warn(line)
            else:
                found = analyse(number, record, session, analysis, wanted.swing)
                if record.size not in _sizes(session) and record.size not in strange:
                    strange.add(record.size)
                    warn(f"{where}: {record.size}×{record.size}, of which {session.name} has learned nothing")
                if found.problem:
                    warn(f"{where}: {found.problem}; analysed up to there")
                if wanted.move is not None and wanted.move > len(found.moves):
                    warn(f"{where}: --move {wanted.move}: it has {len(found.moves)} moves; its end is shown")
                judged += 1
                yield found
            if wanted.number == number:
                break
    if not number:
        raise KibitzError(f"{name}: no game in it; is it an SGF file?")
    if wanted.number is not None and number < wanted.number:
        count = "1 game" if number == 1 else f"{number:,} games"
        raise KibitzError(
            f"{name}: there is no game {wanted.number}, the file has {count}; choose --game 1 to {number}"
        )
    if not judged:
        if wanted.number is not None or number == 1:
            raise KibitzError(first)
        raise KibitzError(f"{name}: none of its games can be analysed ({refused:,}; {first.removeprefix(name + ' ')})")


def _too_large(size: int, session: Session) -> str | None:
    """Why the network cannot see a board of that size; None where it can."""
    largest = max(_sizes(session))
    if size <= largest:
        return None
    return f"a board of {size}×{size}, and {session.name} sees up to {largest}×{largest}; take another run"


def _sizes(session: Session) -> list[int]:
    """The boards that the network learned from; from run.json, since a run's settings load torch."""
    return [int(size) for size in str(session.run.info["settings"].get("sizes", "19")).split(",")]
