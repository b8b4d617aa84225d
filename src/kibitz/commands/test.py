"""kibitz test: a system's own table for a run, and its result page."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.tables import print_table
from kibitz.errors import KibitzError

if TYPE_CHECKING:
    from kibitz.runs import Run
    from kibitz.stats import Kind

_PATIENCE = 2.0
"""Seconds before progress is shown."""

_LINE_EVERY = 15.0
"""Seconds between lines of progress, where standard error is no terminal."""


def run_test(
    run: Annotated[
        str, typer.Argument(help="A run's directory, or the name of a packaged network.", show_default=False)
    ],
    store: Annotated[
        str | None, typer.Argument(help="The store with the games. Default: the run's own.", show_default=False)
    ] = None,
    split: Annotated[
        str,
        typer.Option(
            help="Which of the store's games: 'unseen' by the run (of its own store the 'test' games), 'validation'"
            " (by the run's split), or 'all'.",
            metavar="unseen|test|validation|all",
        ),
    ] = "unseen",
    positions: Annotated[
        int,
        typer.Option(
            help="Positions at most (deepchess: pairs of them), drawn evenly from the games; 0 for all of them.", min=0
        ),
    ] = 400_000,
    stockfish_positions: Annotated[
        int,
        typer.Option(
            help="Positions that Stockfish answers at depth 1; at depth 10 a fifth as many. 0 for none.", min=0
        ),
    ] = 2000,
    stockfish: Annotated[
        str | None, typer.Option(help="Stockfish's path. Default: the one that is installed, if any.", metavar="PATH")
    ] = None,
    gnugo_positions: Annotated[
        int, typer.Option(help="Positions that GNU Go answers beside a network of Go. 0 for none.", min=0)
    ] = 300,
    gnugo: Annotated[
        str | None, typer.Option(help="GNU Go's path. Default: the one that is installed, if any.", metavar="PATH")
    ] = None,
    playout_positions: Annotated[
        int, typer.Option(help="Positions that random playouts answer beside a network of Go. 0 for none.", min=0)
    ] = 2000,
    all_ways: Annotated[
        bool,
        typer.Option(
            "--all-ways",
            help="Go: the board is shown to the network turned and mirrored in all eight ways, and the mean counts;"
            " takes eight times as long.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The result page. Default: test-STORE.html in the run; for a packaged network"
            " test-NAME-STORE.html beside the store.",
            metavar="FILE",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Test a trained network on games it has not seen: its system's table, baselines beside it, and a result page."""
    from kibitz.errors import UsageError
    from kibitz.evaluation import EvalConfig, evaluate, own_store
    from kibitz.evaluation.games import CHOICES, choose
    from kibitz.external.programs import find_gnugo, find_named, find_stockfish
    from kibitz.report.page import render_test_page
    from kibitz.runs import Run
    from kibitz.store.store import Store

    if split not in CHOICES:
        raise UsageError(f"--split {split}: choose from {', '.join(CHOICES)}")
    opened = Run(run)
    opened.trained()
    if all_ways and opened.info["game"] != "go":
        raise UsageError(f"--all-ways is for networks of Go; {run} is one of {opened.info['game']}")
    engines: dict[str, str | None] = {}
    if opened.info["game"] == "go":
        if gnugo_positions:
            engines["gnugo"] = find_named("--gnugo", gnugo, find_gnugo)
    elif stockfish_positions:
        engines["stockfish"] = find_named("--stockfish", stockfish, find_stockfish)
    games = Store(store or own_store(opened))
    page = _page(opened, games.path, out)
    chosen = choose(opened, games, split)
    if chosen.left_out:
        _say(f"{chosen.left_out:,} games that {run} has seen are left out; {len(chosen.games):,} are left to test on")
    for option, name in (("stockfish", "Stockfish"), ("gnugo", "GNU Go")):
        if option in engines and engines[option] is None:
            _say(f"{name} is not installed, so its baselines are left out; install it, or name it with --{option}")
    config = EvalConfig(
        positions, engines.get("stockfish"), stockfish_positions, engines.get("gnugo"), gnugo_positions,
        playout_positions, all_ways,
    )  # fmt: skip
    with _Progress() as progress:
        result = evaluate(
            opened, games, chosen, config, command=shlex.join(["kibitz", *sys.argv[1:]]), on_progress=progress.tell,
            log=_say,
        )  # fmt: skip
    result["page"] = str(page)
    problem = _write(page, render_test_page(result))
    if as_json:
        print(json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        _report(result)
    if problem:  # the figures took a while: they are told all the same
        raise KibitzError(problem)
    if not as_json:
        print(f"result page: {page}")


def _page(run: Run, store: Path, out: Path | None) -> Path:
    """Where the page goes. Raises KibitzError, before any work, for a place that cannot be written to."""
    from kibitz.runs import packaged

    games = store.resolve().name.removesuffix(".store")
    page = run.path / f"test-{games}.html"
    for name, path in packaged().items():
        if path == run.path:  # nothing is written into the package, which may be where only root writes
            page = store.parent / f"test-{name}-{games}.html"
    page = out or page
    if page.is_dir():
        raise KibitzError(f"{page}: a folder; name a file with --out")
    if not page.parent.is_dir():
        raise KibitzError(f"{page}: there is no folder {page.parent}; make it, or choose another place with --out")
    if not os.access(page.parent, os.W_OK):
        raise KibitzError(f"{page}: no permission to write in {page.parent}; choose another place with --out")
    return page


def _write(page: Path, text: str) -> str | None:
    """Write the page whole or not at all; what went wrong, in one line."""
    from kibitz.runs import write_whole

    try:
        write_whole(page, text.encode())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return f"{page}: {reason}; the page was not written, choose another place with --out"
    return None


def _say(line: str) -> None:
    print(f"kibitz: {line}", file=sys.stderr)


class _Progress:
    """A bar on a terminal, a line now and then anywhere else; on standard error, and only for what takes a while."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
            TextColumn("{task.fields[rate]}"), TextColumn("left:"), TimeRemainingColumn(), console=self._console,
            transient=True, disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task: Any = None
        self._what = ""
        self._begun = self._said = time.monotonic()

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tell(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self._what:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(what, total=total, rate="")
            self._what, self._begun = what, now
            self._said = now + _PATIENCE - _LINE_EVERY
        passed = now - self._begun
        rate = done / passed if passed > 0 else 0.0
        self._bar.update(self._task, completed=done, rate=f"{rate:,.0f}/s" if total > 1 else "")
        if passed < _PATIENCE and total > 1:
            return
        self._bar.start()
        if not self._console.is_terminal and done < total and now - self._said >= _LINE_EVERY:
            left = f", {(total - done) / rate:,.0f} s left" if rate else ""
            _say(f"{what}: {done:,} of {total:,}, {rate:,.0f}/s{left}")
            self._said = now


def _report(result: dict[str, Any]) -> None:
    """The tables: figures, baselines, slices; and what must be said with them."""
    from kibitz.report.numbers import cell_text, figure_text, interval_text

    headline, data, paper = result["headline"], result["data"], result["paper"]
    main = {name: result["figures"][name] for name in result.get("main", result["figures"])}

    def cells(name: str, kind: Kind, figure: dict[str, Any]) -> tuple[str, ...]:
        return (
            name, figure_text(figure["value"], kind), interval_text(figure, kind),
            f"{figure['n']:,}", f"{figure['games']:,}",
        )  # fmt: skip

    unit = result.get("texts", {}).get("unit", "positions")

    def table(heading: str, rows: list[tuple[str, ...]]) -> None:
        print_table("", (heading, "value", "95% interval", unit, "games"), rows, right=(1, 2, 3, 4))
        print()

    print(f"{result['run']} ({result['system']}: {result['title']}) on {data['store']}: {data['split']}")
    print(f"weights {result['weights']}, sha256 {result['weights_sha256'][:12]}")
    print()
    table("figure", [cells(figure["label"], figure["kind"], figure) for figure in main.values()])
    kind = result["figures"][headline]["kind"]
    network = cells("the network", kind, result["figures"][headline])
    table(f"{headline} of", [network, *(cells(row["label"], kind, row) for row in result["baselines"].values())])
    for part in result["by"].values():
        rows = [cells(row["slice"], kind, row["figure"]) for row in part["rows"]]
        table(f"{headline} by {part['label']}", rows)
    for part in result.get("tables", ()):
        rows = [
            (row[0], *(cell_text(cell, of) for cell, of in zip(row[1:], part["kinds"], strict=True)))
            for row in part["rows"]
        ]
        right = range(1, len(part["columns"]) + 1)
        print_table(f"{part['title']}: {part['text']}", (part["heading"], *part["columns"]), rows, right=right)
        print()
    print(f"the paper: {paper['title']}: {paper['figure']}" if paper["title"] else paper["figure"])
    if data.get("note"):
        print(data["note"])
