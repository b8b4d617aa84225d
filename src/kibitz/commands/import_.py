"""kibitz import: games from records into a store."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz import records
from kibitz.commands.import_filters import ENDINGS, RESULTS, RULES, SIZES, SPEEDS, Filter, filter_for
from kibitz.commands.tables import print_table
from kibitz.dates import parse_day
from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.filters import Filter as ChessFilter
from kibitz.keys import labelled_reasons
from kibitz.store.split import Split

if TYPE_CHECKING:
    from kibitz.store.store import Store
    from kibitz.store.writer import StoreWriter

KINDS = {".pgn": "chess", ".sgf": "go", ".sgfl": "go"}
"""The game that each ending of a record file stands for."""
REFEREES = ("auto", "playouts", "gnugo", "none")

_PATIENCE = 2.0
"""Seconds before progress is shown."""


def _days(since: str | None, until: str | None, validate_from: str | None, test_from: str | None) -> dict[str, Any]:
    """The dates a user wrote, as days."""
    return {
        "since": parse_day(since, "--since") if since is not None else None,
        "until": parse_day(until, "--until", end=True) if until is not None else None,
        "validate_from": parse_day(validate_from, "--validate-from") if validate_from is not None else None,
        "test_from": parse_day(test_from, "--test-from") if test_from is not None else None,
    }


def import_games(
    files: Annotated[
        list[str],
        typer.Argument(
            help="PGN or SGF files, folders of them, or - for standard input; .zst, .gz, .bz2 and .zip are unpacked.",
            show_default=False,
        ),
    ],
    into: Annotated[Path, typer.Option(help="The store to make: a folder.", show_default=False, metavar="STORE")],
    game: Annotated[
        str | None,
        typer.Option(
            help="What the records are of. Default: told by the files' endings, else chess.", metavar="chess|go"
        ),
    ] = None,
    min_rating: Annotated[
        int | None, typer.Option(help="Chess: lowest rating of either player, in Elo points. Default: no bound.", min=0)
    ] = None,
    max_rating: Annotated[
        int | None,
        typer.Option(help="Chess: highest rating of either player, in Elo points. Default: no bound.", min=0),
    ] = None,
    rank: Annotated[
        str | None, typer.Option(help="Go: lowest rank of either player: 5k, 6d, 1p. Default: no bound.")
    ] = None,
    unrated: Annotated[
        bool,
        typer.Option("--unrated", help="With a bound on rating or rank, keep games of players without one too."),
    ] = False,
    ending: Annotated[
        str,
        typer.Option(
            help="Which endings to keep. Chess: 'checkmate' on the board, 'decisive' (no draws), or 'any'. Go:"
            " 'counted', by 'resignation', on 'time', or 'any'.",
            metavar="|".join(ENDINGS),
        ),
    ] = "any",
    result: Annotated[
        list[str] | None,
        typer.Option(
            help="Keep games of this result; may be given several times. Default: all.", metavar="|".join(RESULTS)
        ),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            help="Go: keep games under these rules; may be given several times. Default: all.", metavar="|".join(RULES)
        ),
    ] = None,
    handicap: Annotated[
        int | None, typer.Option(help="Go: most handicap stones, 0 for even games. Default: no bound.", min=0)
    ] = None,
    size: Annotated[
        list[int] | None,
        typer.Option(
            help="Go: keep games on boards of this side; may be given several times. Default: all.",
            metavar="|".join(SIZES),
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="First day to keep: 2015, 2015-06 or 2015-06-30. Default: no bound.", metavar="DATE"),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(help="Last day to keep; 2015 is the whole of that year. Default: no bound.", metavar="DATE"),
    ] = None,
    speed: Annotated[
        list[str] | None,
        typer.Option(
            help="Chess: keep games of this speed, told by TimeControl or else by the event's name; may be given"
            " several times. Default: all.",
            metavar="|".join(SPEEDS),
        ),
    ] = None,
    min_plies: Annotated[
        int,
        typer.Option("--min-plies", "--min-moves", help="Shortest game to keep, in plies (moves of one side).", min=1),
    ] = 1,
    player: Annotated[
        list[str] | None,
        typer.Option(
            help="Keep games in which a player's name contains this text; may be given several times. Default: all."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Stop when this many games are kept. Default: no bound.", metavar="GAMES")
    ] = None,
    referee: Annotated[
        str,
        typer.Option(
            help="Go: who tells the owners of all points at the end of counted games: random 'playouts', 'gnugo', both"
            " ('auto': GNU Go where playouts do not agree with the written result), or 'none'. A game whose result"
            " neither confirms is left out.",
            metavar="|".join(REFEREES),
        ),
    ] = "auto",
    gnugo: Annotated[
        str | None, typer.Option(help="Go: GNU Go's path. Default: the one that is installed, if any.", metavar="PATH")
    ] = None,
    gnugo_limit: Annotated[
        float,
        typer.Option(
            help="Go: seconds that GNU Go has for a game, before it is killed and the game left out.", min=0.1, max=3600
        ),
    ] = 10.0,
    append: Annotated[
        bool, typer.Option("--append", help="Add to the store if there is one; games it holds already are left out.")
    ] = False,
    validate_share: Annotated[
        float | None,
        typer.Option(help="Percent of the games for validation, drawn by hash. Default: 5.", metavar="PERCENT"),
    ] = None,
    test_share: Annotated[
        float | None,
        typer.Option(help="Percent of the games for the test, drawn by hash. Default: 5.", metavar="PERCENT"),
    ] = None,
    validate_from: Annotated[
        str | None,
        typer.Option(
            help="Games from this day on are the validation, instead of a share. Default: by hash.", metavar="DATE"
        ),
    ] = None,
    test_from: Annotated[
        str | None,
        typer.Option(help="Games from this day on are the test, instead of a share. Default: by hash.", metavar="DATE"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Read games from records, keep those that are wanted, and make a store of them."""
    days = _days(since, until, validate_from, test_from)
    options = {"validate_share": validate_share, "test_share": test_share,
               "validate_from": days["validate_from"], "test_from": days["test_from"]}  # fmt: skip
    divide = {name: value for name, value in options.items() if value is not None}
    replace(Split(), **divide).check()
    found = records.find(files, tuple(KINDS))
    kind = _kind(found, game)
    keep = filter_for(
        kind, min_rating=min_rating, max_rating=max_rating, rank=rank, unrated=unrated, ending=ending,
        result=tuple(result or ()), rules=tuple(rules or ()), handicap=handicap, size=tuple(size or ()),
        since=days["since"], until=days["until"], speed=tuple(speed or ()), min_plies=min_plies,
        player=tuple(player or ()), limit=limit,
    )  # fmt: skip
    if referee not in REFEREES:
        raise UsageError(f"--referee {referee}: choose from {', '.join(REFEREES)}")
    if kind != "go" and (referee != "auto" or gnugo is not None):
        raise UsageError("--referee and --gnugo are for Go; these are records of chess (or else say --game go)")
    judge = _Judge(referee, gnugo, gnugo_limit, into) if kind == "go" and referee != "none" else None
    try:
        done = _import(found, into, kind, keep, divide, append, judge)
    except KeyboardInterrupt:
        kept = f"{into} is as it was before" if append and into.exists() else f"{into} was not made"
        again = "to go on; owners that were found are kept" if judge else "to begin again"
        raise KeyboardInterrupt(f"interrupted; {kept}; run the same command {again}") from None
    for line in done.broken:
        print(f"kibitz: warning: {line}", file=sys.stderr)
    if as_json:
        print(json.dumps(done.as_json(), indent=1, ensure_ascii=False))
    else:
        _report(done)


def _kind(files: list[str], told: str | None) -> str:
    """The game of the files. Raises UsageError where they hold more than one."""
    if told is not None:
        if told not in KINDS.values():
            raise UsageError(f"--game {told}: choose from {', '.join(dict.fromkeys(KINDS.values()))}")
        return told
    kinds = {_kind_of(file): file for file in files}
    if len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        raise UsageError(f"{one} and {other}: records of different games; import them into stores of their own")
    return next(iter(kinds))


def _kind_of(file: str) -> str:
    path = Path(file.lower())
    ending = Path(path.stem).suffix if path.suffix in records.PACKED else path.suffix
    return KINDS.get(ending, "chess")


class _Judge:
    """The referees of an import, and the journal beside the store in which they write what they found."""

    def __init__(self, which: str, gnugo: str | None, limit: float, into: Path):
        self.which, self.gnugo, self.limit = which, gnugo, limit
        self.journal = into.with_name(f".{into.name}.owners")

    @contextlib.contextmanager
    def at_work(self, show: Any) -> Iterator[Any]:
        """What is done with a batch before it is written."""
        from kibitz.games.go.endings.scoring import Referee

        with Referee(self.which, self.gnugo, self.journal, limit_s=self.limit) as referee:
            said = referee.note
            if said:
                print(f"kibitz: {said}", file=sys.stderr)
            yield lambda batch: referee.label(batch, lambda done: show(judged=done))
            if referee.note and referee.note != said:  # it never answered
                print(f"kibitz: warning: {referee.note}", file=sys.stderr)

    def forget(self) -> None:
        """The store holds all that was found."""
        self.journal.unlink(missing_ok=True)


@dataclass
class Done:
    """What one import did: counts are of this import, `store` is as it stands after it."""

    store: Store
    read: int
    kept: int
    positions: int
    left_out: dict[str, Any]
    broken: list[str]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Counts as they are, and what was measured as a figure (of one run, so without an interval)."""
        rate = {"value": round(self.read / self.seconds, 1), "low": None, "high": None, "n": self.read}
        return {
            "store": str(self.store.path),
            "read": self.read,
            "kept": self.kept,
            "positions": self.positions,
            "left_out": labelled_reasons(self.left_out),
            "broken": self.broken,
            "seconds": round(self.seconds, 3),
            "figures": {"games_per_second": rate},
            "total": {"games": len(self.store), "positions": self.store.info["positions"]},
        }


def _import(
    files: list[str], into: Path, game: str, keep: Filter, divide: dict[str, Any], append: bool, judge: _Judge | None
) -> Done:
    """Read the files into the store. Raises KibitzError where no game was left to keep."""
    from kibitz.games import game_of
    from kibitz.store.store import Store
    from kibitz.store.writer import StoreWriter

    begun = time.monotonic()
    split = None
    if divide:
        split = replace(Store(into).split if append and into.exists() else Split(), **divide)
        split.check()
    rules = game_of(game)
    reader = rules.Reader(files, keep)
    with contextlib.ExitStack() as held:
        writer = held.enter_context(StoreWriter(
            into, game, rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE, split, append, rules.PER_GAME
        ))  # fmt: skip
        before, moves_before = writer.games, writer.moves
        show = held.enter_context(_progress(reader, writer, before))
        batches = held.enter_context(contextlib.closing(iter(reader)))
        finish = held.enter_context(judge.at_work(show)) if judge else None
        for batch in batches:
            writer.add(batch, None if keep.limit is None else keep.limit - (writer.games - before), finish)
            show()
            if keep.limit is not None and writer.games - before >= keep.limit:
                break
        kept = writer.games - before
        left_out = writer.left_out.as_json()
        if kept == 0 and not (before and "duplicate" in left_out):
            end = "the store is as it was" if before else "no store was written"
            raise KibitzError(f"{_why_nothing(writer.read, left_out, reader.broken, keep)}; {end}")
        if kept or divide:
            named = [records.printable(file) for file in files]
            store = writer.commit({"files": named, "filter": keep.as_json(), "read": writer.read, "kept": kept})
        else:  # all of it was there before
            store = Store(into)
    if judge:
        judge.forget()
    positions = kept + writer.moves - moves_before
    return Done(store, writer.read, kept, positions, left_out, reader.broken, time.monotonic() - begun)


def _why_nothing(read: int, left_out: dict[str, Any], broken: list[str], keep: Filter) -> str:
    """One line on an import that kept no game: what was wrong, what to do."""
    if read == 0:
        more = f" (and {len(broken) - 1} more files like it)" if len(broken) > 1 else ""
        return (broken[0] if broken else "no game in these files") + more
    reasons = ", ".join(f"{reason} {entry['games']:,}" for reason, entry in list(left_out.items())[:4])
    first = next((entry["first"][0] for entry in left_out.values() if entry["first"]), None)
    example = f" (the first: {first['file']} game {first['game']})" if first else ""
    remedy = "widen the filter" if keep != type(keep)() else "check that these are whole games of standard rules"
    if isinstance(keep, ChessFilter) and reasons.startswith("no moves"):
        remedy += ", or say --game go where it is Go"
    damaged = f"; {broken[0]}" if broken else ""
    return f"no game left of {read:,} read: {reasons}{example}; {remedy}{damaged}"


@contextlib.contextmanager
def _progress(reader: Any, writer: StoreWriter, before: int) -> Iterator[Any]:
    """A progress line on standard error, where that is a terminal and the import takes more than two seconds."""
    if not sys.stderr.isatty():
        yield lambda judged=0: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    total, begun = records.size(reader.paths), time.monotonic()
    bar = Progress(
        TextColumn("{task.fields[games]:,} games"), BarColumn(), TextColumn("{task.fields[rate]:,.0f} games/s"),
        TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn(), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    task = bar.add_task("", total=1.0 if total or reader.keep.limit else None, games=0, rate=0.0)

    def show(judged: int = 0) -> None:
        passed = time.monotonic() - begun
        if passed < _PATIENCE:
            return
        bar.start()
        share = reader.consumed / total if total else 0.0
        if reader.keep.limit:
            share = max(share, (writer.games - before) / reader.keep.limit)
        bar.update(task, completed=share, games=writer.read + judged, rate=(writer.read + judged) / passed)

    try:
        yield show
    finally:
        bar.stop()


def _report(done: Done) -> None:
    """The table at the end."""
    rows = [("games read", f"{done.read:,}"), ("kept", f"{done.kept:,}"), ("positions", f"{done.positions:,}")]
    rows += [(f"left out: {reason}", f"{entry['games']:,}") for reason, entry in done.left_out.items()]
    if done.broken:
        rows.append(("files that were broken", f"{len(done.broken):,}"))
    print_table("", ("", ""), rows, right=[1])
    total = f", {len(done.store):,} games in all" if len(done.store) != done.kept else ""
    unchanged = "unchanged: it held all these games before" if not done.kept else f"{done.seconds:.1f} s{total}"
    print(f"{done.store.path}: {unchanged}; next: kibitz info {done.store.path}")
