"""The command `kibitz import`: read games from PGN or SGF files into a store, kibitz's database of games."""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz import messages, records
from kibitz.analysis.glyphs import figure
from kibitz.commands import accounts
from kibitz.commands.import_.options import FilterOptions, GameFilter, RefereeOptions, SplitOptions, filter_for
from kibitz.commands.interruption import describes_store_if_interrupted
from kibitz.commands.progress import BAR, ELAPSED, LEFT, Progress
from kibitz.commands.tables import print_table
from kibitz.commands.workers import WorkerOptions
from kibitz.errors import KibitzError, UsageError
from kibitz.games import GAMES
from kibitz.games.chess.filters import Filter as ChessFilter
from kibitz.keys import labelled_reasons
from kibitz.messages import not_one_of
from kibitz.parallel import Backend, Workers, open_workers
from kibitz.store.split import Split
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.games.batch import GameBatch
    from kibitz.store.store import Store
    from kibitz.store.writer import StoreWriter


def import_games(
    files: Annotated[
        list[str],
        typer.Argument(
            show_default=False,
            metavar="FILES",
        ),
    ],
    into: Annotated[Path, typer.Option(show_default=False, metavar="STORE")],
    *,
    game: Annotated[
        str | None,
        typer.Option(metavar="chess|go"),
    ] = None,
    filters: FilterOptions,
    ownership: RefereeOptions,
    keep_duplicates: Annotated[
        bool,
        typer.Option(
            "--keep-duplicates",
        ),
    ] = False,
    append: Annotated[bool, typer.Option("--append")] = False,
    division: SplitOptions,
    sharing: WorkerOptions,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Read games from records, select games by the given filters, and write them to a store (a database of games)."""
    divide, backend = division.values(), sharing.backend()
    values = filters.values()
    files = accounts.files_of(files, filters.of_accounts(files, values))
    paths = records.find(files, tuple(records.ENDINGS))
    kind = _game_of(paths, game)
    keep = filter_for(kind, values)
    ownership.check(kind)
    referees = _Referees(ownership, into) if kind == "go" and ownership.labels else None
    state = f"{into} is unchanged" if append and into.exists() else f"{into} was not written"
    again = "to resume; the territory labels found so far are kept" if referees else "to start again"
    with describes_store_if_interrupted(into, f"{state}. Run the same command {again}."):
        done = _import(paths, into, kind, keep, divide, append, referees, backend, keep_duplicates)
    for line in [*done.broken, *_stray_lines(done)]:
        messages.warning(line)
    if as_json:
        print(json.dumps(done.as_json(), indent=1, ensure_ascii=False))
    else:
        _report(done)


def _game_of(files: list[str], named: str | None) -> str:
    """Return the game of the files: the requested game, or the game of their file extensions. Raises UsageError if the
    extensions belong to both games.
    """
    if named is not None:
        if named not in GAMES:
            raise UsageError(not_one_of("--game", named, GAMES))
        return named
    games = records.games_by_ending(files)
    if len(games) > 1:
        one, other = list(games.values())[:2]
        raise UsageError(
            f"a store can contain either chess or Go games (got {one} and {other}). Make a store for chess and one for"
            " Go."
        )
    return next(iter(games))


class _Referees:
    """The referees of an import (see `RefereeOptions`), and the journal: the file that keeps the results of the
    referees, so that an interrupted import need not compute them again.

    The journal is in the folder that contains the store. options: the options for the referees. into: the store's path.
    """

    def __init__(self, options: RefereeOptions, into: Path):
        self.options = options
        if not into.name:
            raise UsageError(f"--into must be the path of a store (got {into}). Example: --into my.store")
        self.journal = into.with_name(f".{into.name}.owners")

    @contextlib.contextmanager
    def labelling(
        self, show: Callable[[int, int], None], workers: Workers | None
    ) -> Iterator[Callable[[GameBatch], GameBatch]]:
        """A context manager that starts the referees (see `RefereeOptions`). It yields a function that adds territory
        labels to a batch of games before the batch is written to the store. The labels are the owner of each point at
        the end of a Go game.

        show: a function that is called with the number of labeled games and the number of games to label in the batch.
        workers: the processes that label games; None for threads of this process.
        """
        from kibitz.games.go.endings.scoring import Referee

        options = self.options
        with Referee(
            options.referee,
            options.gnugo,
            self.journal,
            workers,
            limit_s=options.gnugo_limit,
            keep_unconfirmed=options.unconfirmed,
            play_out=options.play_out,
        ) as referee:
            note = referee.note
            if note:
                messages.note(note)
            yield lambda batch: referee.label(batch, show)
            if referee.note and referee.note != note:  # the referee failed before its first verdict
                messages.warning(referee.note)

    def forget(self) -> None:
        """Delete the journal, the file that keeps the referees' results. Call this method when the store contains all
        of them.
        """
        self.journal.unlink(missing_ok=True)


@dataclass
class ImportResult:
    """The result of an import of games.

    store: the store (database of games) after the import.
    read, kept: the number of games that were read, and the number of games that were added to the store.
    positions: the number of positions in the added games.
    rejections: the number of rejected games by reason.
    broken: the files that could not be read completely.
    seconds: the duration of the import.
    """

    store: Store
    read: int
    kept: int
    positions: int
    rejections: dict[str, Any]
    broken: list[str]
    seconds: float
    divided: bool = False
    """Whether the user gave options that divide the games into training, validation and test."""
    strays: list[str] = field(default_factory=list)
    """Texts between games that belong to no game. Each entry has the file, the line and the first words."""
    more_strays: int = 0
    """The number of further texts between games, which `strays` does not contain."""

    def as_json(self) -> dict[str, Any]:
        """Return the result as a dict for JSON.

        The entry "figures" contains the speed of the import, in games per second. The speed is from a single import, so
        its interval is unknown: "low" and "high" are None.
        """
        rate = figure(round(self.read / self.seconds, 1), self.read)
        return {
            "store": str(self.store.path),
            "read": self.read,
            "kept": self.kept,
            "positions": self.positions,
            "left_out": labelled_reasons(self.rejections),
            "broken": self.broken,
            "strays": {"texts": len(self.strays) + self.more_strays, "first": self.strays},
            "seconds": round(self.seconds, 3),
            "figures": {"games_per_second": rate},
            "total": {"games": len(self.store), "positions": self.store.info["positions"]},
        }


def _import(
    files: list[str], into: Path, game: str, keep: GameFilter, divide: dict[str, Any], append: bool,
    referees: _Referees | None, backend: Backend | None, keep_duplicates: bool,
) -> ImportResult:  # fmt: skip
    """Read the files into the store. Raises KibitzError if no game is accepted."""
    from kibitz.games import game_of
    from kibitz.store.store import Store
    from kibitz.store.writer import StoreWriter

    started = time.monotonic()
    split = None
    if divide:
        split = (Store(into).split if append and into.exists() else Split()).changed(divide)
        split.check()
    rules = game_of(game)
    reader = rules.Reader(files, keep)
    with contextlib.ExitStack() as held:
        writer = held.enter_context(StoreWriter(
            into, game, rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE, split, append, rules.PER_GAME,
            keep_duplicates,
        ))  # fmt: skip
        before, moves_before = writer.games, writer.moves
        show = held.enter_context(_progress(reader, writer, before))
        workers = held.enter_context(open_workers(backend)) if backend else None
        # Reading games is fast compared with finding owners, so all workers find owners, and this process reads.
        readers = None if referees else workers
        batches = held.enter_context(contextlib.closing(reader.batches(readers) if readers else iter(reader)))
        finish = held.enter_context(referees.labelling(show, workers)) if referees else None
        strays, more_strays = list[str](), 0
        for batch in batches:
            strays += batch.strays
            more_strays += batch.more_strays
            writer.add(batch, None if keep.limit is None else keep.limit - (writer.games - before), finish)
            show(0, 0)
            if keep.limit is not None and writer.games - before >= keep.limit:
                break
        imported = writer.games - before
        rejections = writer.rejections.as_json()
        if imported == 0 and not (before and "duplicate" in rejections):
            end = "The store is unchanged." if before else "Nothing was written."
            wrong = reader.broken or [f"{stray.partition(', line')[0]} has no games" for stray in strays[:1]]
            raise KibitzError(_why_nothing(files, writer.read, rejections, wrong, keep, end))
        if imported or divide:
            named = [records.printable(file) for file in files]
            store = writer.commit({"files": named, "filter": keep.as_json(), "read": writer.read, "kept": imported})
        else:  # all games were already in the store
            store = Store(into)
    if referees:
        referees.forget()
    positions = imported + writer.moves - moves_before
    seconds = time.monotonic() - started
    return ImportResult(
        store, writer.read, imported, positions, rejections, reader.broken, seconds, bool(divide), strays, more_strays
    )


_SHOWN_STRAYS = 5


def _stray_lines(done: ImportResult) -> list[str]:
    """Return warnings about text that belongs to no game."""
    lines = [f"skipped text that belongs to no game ({stray})" for stray in done.strays[:_SHOWN_STRAYS]]
    more = len(done.strays) - len(lines) + done.more_strays
    return [*lines, f"skipped {more:,} more pieces of text that belong to no game"] if more else lines


def _why_nothing(
    files: list[str], read: int, rejections: dict[str, Any], broken: list[str], keep: GameFilter, imported: str
) -> str:
    """Return one line for an import without any game: the problem, and what to do. imported: what happened to the
    store.
    """
    name = records.printable(files[0]) if len(files) == 1 else f"{len(files):,} files"
    more = f" {number_of(len(broken) - 1, 'more file')} without games." if len(broken) > 1 else ""
    if read == 0:
        return f"{broken[0].rstrip('.') if broken else f'{name} has no games'}.{more} {imported}"
    chess = isinstance(keep, ChessFilter)
    examples = [example for entry in rejections.values() for example in entry["first"]]
    if chess and rejections.keys() <= {"unreadable move", "no moves"} and not any(each["headers"] for each in examples):
        return (
            f"{name}: this does not look like a PGN file: no game headers, no moves. For Go add --game go. {imported}"
        )
    games = number_of(read, "game")
    first = next(iter(examples), None)
    where = (
        "" if not first else f" ({first['file']} game {first['game']}" if len(files) > 1 else f" (game {first['game']}"
    )
    detail = f"{where}{': ' if first and first['detail'] else ''}{first['detail'] if first else ''})" if where else ""
    reasons = "; ".join(_skipped(rejections, 4))
    filtered = replace(keep, limit=None) != type(keep)()
    remedy = "Use a weaker filter." if filtered else "Check that they are complete games of standard rules."
    damaged = f" {broken[0].rstrip('.')}." if broken else ""
    return f"no usable game in {name}. Skipped {games}: {reasons}{detail}. {remedy}{damaged} {imported}"


def _skipped(rejections: dict[str, Any], most: int) -> list[str]:
    """Describe the most common reasons, with the number of games if there are several reasons."""
    shown = list(rejections.items())[:most]
    return [f"{reason} ({entry['games']:,})" if len(rejections) > 1 else reason for reason, entry in shown]


@contextlib.contextmanager
def _progress(reader: Any, writer: StoreWriter, before: int) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of an import. Yields a function that updates it.

    before: number of games that the store already had.
    The function takes the number of labeled games, and the number of games to label in the batch that is being labeled.
    """
    size, limit = records.size(reader.paths), reader.keep.limit
    with Progress("{task.fields[games]}", BAR, "{task.fields[rate]:,.0f} games/s", ELAPSED, LEFT,
                  patient=True) as progress:  # fmt: skip
        progress.begin("", 100.0 if size or limit else None, games=number_of(0, "game"), rate=0.0)
        written = 0.0

        def show(labelled: int, of: int) -> None:
            nonlocal written
            percent = 100 * reader.consumed / size if size else 0.0
            if of:  # with labels, a batch counts as read only after its games are labeled
                percent = written + (percent - written) * labelled / of
            else:
                written = percent
            if limit:
                percent = max(percent, 100 * (writer.games - before) / limit)
            games, passed = writer.read, progress.seconds  # with the games of a batch that is being labeled
            rate = games / passed if passed > 0 else 0.0
            read = number_of(games, "game")
            progress.update(percent, f"kibitz: {read} read, {rate:,.0f} games/s", games=read, rate=rate)

        yield show


def _report(done: ImportResult) -> None:
    """Print the table at the end."""
    rows = [("games read", f"{done.read:,}"), ("kept", f"{done.kept:,}"), ("positions", f"{done.positions:,}")]
    rows += [(f"skipped: {reason}", f"{entry['games']:,}") for reason, entry in done.rejections.items()]
    if done.broken:
        rows.append(("damaged files", f"{len(done.broken):,}"))
    print_table("", ("", ""), rows, right=[1])
    if done.kept:
        total = f" It has {number_of(len(done.store), 'game')} in all." if len(done.store) != done.kept else ""
        summary = f"written in {done.seconds:.1f} s.{total}"
    elif done.divided:
        summary = f"no new games. The split is now {done.store.split.describe()}."
    else:
        summary = "unchanged. It already has all these games."
    print(f"{done.store.path}: {summary} Next: kibitz info {shlex.quote(str(done.store.path))}")
