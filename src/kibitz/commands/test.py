"""The command `kibitz test`: measure a network on games outside its training, print the result, and write a result
page.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.pages import check_page, write_page
from kibitz.commands.progress import BAR, LEFT, Progress
from kibitz.commands.provider import Provider, use_provider
from kibitz.commands.tables import print_table
from kibitz.commands.workers import WorkerOptions
from kibitz.errors import UsageError
from kibitz.games import GAME_NAMES
from kibitz.messages import not_one_of, note
from kibitz.parallel import open_workers
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.evaluation.games import Chosen
    from kibitz.evaluation.predictors import RatedEngine
    from kibitz.runs import Run
    from kibitz.stats import Kind

PROGRAMS = {"stockfish": "Stockfish", "gnugo": "GNU Go"}
"""The names of the programs with which the network is compared, by the option that sets the program's path."""
POSITIONS, ENGINE_POSITIONS = 400_000, 2_000
"""The largest number of positions in a test of a network, and in a test of an engine, if --positions is not given."""
LINE_EVERY = 15.0
"""The number of seconds between two lines of progress if standard error is not a terminal."""


@dataclass(frozen=True)
class RunTestOptions:
    """The command-line options for the positions of a test, the programs that also evaluate them, and the files for the
    result.
    """

    split: Annotated[
        str,
        typer.Option(
            metavar="unseen|test|validation|training|all",
        ),
    ] = "unseen"
    positions: Annotated[
        int | None,
        typer.Option(
            min=0,
            show_default="400000; with --engine 2000",
        ),
    ] = None
    stockfish_positions: Annotated[
        int,
        typer.Option(min=0),
    ] = 2000
    stockfish: Annotated[str | None, typer.Option(metavar="PATH")] = None
    gnugo_positions: Annotated[int, typer.Option(min=0)] = 300
    gnugo: Annotated[str | None, typer.Option(metavar="PATH")] = None
    playout_positions: Annotated[int, typer.Option(min=0)] = 2000
    all_symmetries: Annotated[
        bool,
        typer.Option(
            "--all-symmetries",
        ),
    ] = False
    stranger: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
        ),
    ] = None
    curve: Annotated[
        bool,
        typer.Option(
            "--learning-curve",
        ),
    ] = False
    against: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json")] = False

    def check_programs(self, used: str | None, why: str) -> None:
        """Raise UsageError if the user gave the path of a program that the test does not start.

        used: the program that the test may start, "stockfish" or "gnugo"; None if the test starts no program. why: the
        end of the message, such as "is not for personal networks".
        """
        for option, path in (("stockfish", self.stockfish), ("gnugo", self.gnugo)):
            if path is not None and option != used:
                raise UsageError(f"--{option} {why} (got {path}). Leave it out.")

    def most_positions(self, default: int) -> int:
        """Return the largest number of positions in the test; 0 for no limit. default: the number if --positions is not
        given.
        """
        return default if self.positions is None else self.positions

    def programs(self, run: Run) -> dict[str, str | None]:
        """Return a dict of the programs that evaluate the positions for comparison with a network. A key is a program's
        name. Its value is the program's path, or None if the program is not installed.

        run: the network. Raises UsageError if the user gave the path of a program that this test does not start.
        """
        from kibitz.external.programs import find_gnugo, find_named, find_stockfish

        if run.person is not None:
            self.check_programs(None, "is not for personal networks")
            return {}
        game = run.info["game"]
        self.check_programs("gnugo" if game == "go" else "stockfish", f"is not for networks for {GAME_NAMES[game]}")
        if game == "go":
            if not self.gnugo_positions:
                return {}
            return {"gnugo": find_named("--gnugo", self.gnugo, find_gnugo)}
        if not self.stockfish_positions:
            return {}
        return {"stockfish": find_named("--stockfish", self.stockfish, find_stockfish)}


@dataclass(frozen=True)
class EngineOptions:
    """The command-line options for a test of how well external engines predict the moves of players."""

    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
        ),
    ] = None
    nodes: Annotated[
        int | None,
        typer.Option(min=1, show_default="1"),
    ] = None
    engine_option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE"),
    ] = None

    def check(self) -> None:
        """Raise UsageError for --nodes or --engine-option without --engine."""
        for name, value in (("--nodes", self.nodes), ("--engine-option", self.engine_option)):
            if value and not self.engine:
                raise UsageError(f"{name} needs an engine. Add --engine COMMAND.")


def run_test(
    run: Annotated[
        str,
        typer.Argument(
            show_default=False,
            metavar="RUN",
        ),
    ],
    store: Annotated[
        str | None,
        typer.Argument(show_default=False, metavar="STORE"),
    ] = None,
    *,
    options: RunTestOptions,
    engines: EngineOptions,
    sharing: WorkerOptions,
    provider: Provider = None,
) -> None:
    """Test a trained network or an engine on games outside its training, and write a result page."""
    from kibitz.evaluation import EvalConfig, evaluate, own_store
    from kibitz.evaluation.games import CHOICES, choose
    from kibitz.runs import Run
    from kibitz.store.store import Store

    if options.split not in CHOICES:
        raise UsageError(not_one_of("--split", options.split, CHOICES))
    engines.check()
    use_provider(provider)
    if engines.engine:
        _check_engine_test(options, sharing)
        test_engine_command(run, store, options, engines)
        return
    opened = Run(run)
    opened.trained()
    if options.all_symmetries and opened.info["game"] != "go":
        raise UsageError(f"--all-symmetries works only with networks for Go (got {run}). Leave it out.")
    if (options.stranger or options.curve) and opened.person is None:
        raise UsageError(
            f"--stranger and --learning-curve work only with runs of kibitz personal (got {run}). Leave them out."
        )
    if options.against is not None:
        _compare(opened, store, options, sharing)
        return
    programs = options.programs(opened)
    games = Store(store or own_store(opened))
    page = _page(opened, games.path, options.out)
    chosen = choose(opened, games, options.split)
    if chosen.excluded:
        _log(_excluded(run, chosen))
    for option, path in programs.items():
        if path is None:
            name = PROGRAMS[option]
            _log(
                f"{name} is not installed, so its baselines are skipped. Install it, or give its path with --{option}."
            )
    backend = sharing.backend()
    config = EvalConfig(
        options.most_positions(POSITIONS), programs.get("stockfish"), options.stockfish_positions,
        programs.get("gnugo"), options.gnugo_positions, options.playout_positions, options.all_symmetries,
        options.stranger, options.curve,
    )  # fmt: skip
    with contextlib.ExitStack() as stack:
        workers = stack.enter_context(open_workers(backend)) if backend else None
        progress = stack.enter_context(EvaluationBar())
        result = evaluate(
            opened,
            games,
            chosen,
            replace(config, workers=workers),
            command=shlex.join(["kibitz", *sys.argv[1:]]),
            on_progress=progress.on_progress,
            log=_log,
        )
    _publish(result, page, options.as_json, _report)


def _check_engine_test(options: RunTestOptions, sharing: WorkerOptions) -> None:
    """Raise UsageError for options that a test of engines does not use."""
    if options.against is not None:
        raise UsageError("--against cannot be combined with --engine (got both). Choose one.")
    sharing.check_unused("--engine")
    options.check_programs(None, "is for a test without --engine")


def test_engine_command(run: str, store: str | None, options: RunTestOptions, engines: EngineOptions) -> None:
    """Run `kibitz test [NETWORK] STORE --engine COMMAND`: test the engines. If a network is given, test the network
    too.

    run: the path of the network if `store` is given, otherwise the path of the store.
    store: the path of the store if a network is given, otherwise None.
    """
    from kibitz.evaluation.games import choose, choose_without_run
    from kibitz.evaluation.predictors import EngineTest, evaluate_engines
    from kibitz.runs import Run
    from kibitz.store.store import Store

    if options.stranger or options.curve or options.all_symmetries:
        raise UsageError(
            "--stranger, --learning-curve and --all-symmetries cannot be combined with --engine. Leave --engine out."
        )
    network = None if store is None else Run(run)
    games = Store(run if store is None else store)
    if games.game == "go" and (engines.nodes or engines.engine_option):
        raise UsageError(
            "--nodes and --engine-option work only with UCI engines. For a GTP engine, put these settings in its"
            " command."
        )
    if network is not None:
        network.trained()
    chosen = choose_without_run(games, options.split) if network is None else choose(network, games, options.split)
    if chosen.excluded:
        _log(_excluded(run, chosen))
    test = EngineTest(
        tuple(rated_engine(text, games.game, engines.engine_option or ()) for text in engines.engine or ()),
        engines.nodes or 1,
        options.most_positions(ENGINE_POSITIONS),
    )
    page = options.out or games.path.parent / f"test-engine-{games.path.resolve().name.removesuffix('.store')}.html"
    check_page(page, "--out", [str(path) for path in games.path.iterdir() if path.is_file()])
    with EvaluationBar() as progress:
        result = evaluate_engines(test, games, chosen, network, progress.on_progress, _log)
    result |= _provenance(result, network)
    _publish(result, page, options.as_json, _report_engines)


def _provenance(result: dict[str, Any], network: Run | None) -> dict[str, Any]:
    """Return the keys that describe what a test of engines tested."""
    names = ", ".join(dict.fromkeys(engine["name"] for engine in result["engines"] if engine["name"]))
    return {
        "title": f"{names} as a predictor of moves",
        "system": "" if network is None else network.info["system"],
        "run": None if network is None else network.name,
        "weights_sha256": None if network is None else network.weights_sha256(),
        "command": shlex.join(["kibitz", *sys.argv[1:]]),
    }


def _publish(result: dict[str, Any], page: Path, as_json: bool, report: Callable[[dict[str, Any]], None]) -> None:
    """Write the result page, and print the result."""
    from kibitz.report.page import render_test_page

    result["page"] = str(page)
    try:
        write_page(page, render_test_page(result), "--out")
    finally:  # the results took long to compute, so they are printed even if the page can't be written
        if as_json:
            print(json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False))
        else:
            report(result)
    if not as_json:
        print(f"report: {page}")


_RATED = re.compile(r"(?P<rating>\d{3,4})=(?P<command>.+)", re.DOTALL)


def rated_engine(text: str, game: str, options: Sequence[str] = ()) -> RatedEngine:
    """Return the engine that a value of the option --engine describes.

    text: the value, COMMAND or RATING=COMMAND. game: "chess" or "go". options: UCI options of the form "Name=Value".
    Raises UsageError or KibitzError if the engine can't be used, for example if the program is not installed.
    """
    from kibitz.arena.players import player
    from kibitz.evaluation.predictors import RatedEngine

    rating, command = None, text
    if match := _RATED.fullmatch(text.strip()):
        rating, command = int(match["rating"]), match["command"]
    found = player(command, options if game == "chess" else (), game=game)
    return RatedEngine(found.command, command, rating, dict(found.options))


def _report_engines(result: dict[str, Any]) -> None:
    """Print the tables of a test of engines."""
    data = result["data"]
    paired = f" and {result['run']} on the same positions" if result["run"] else ""
    print(f"{result['title']}{paired}, on {data['store']}: {data['split']}")
    print()
    _print_tables(result)


def _compare(run: Run, store: str | None, options: RunTestOptions, sharing: WorkerOptions) -> None:
    """Compare the run with the network of --against. Raises UsageError for another --split, and for options that only a
    test has.
    """
    from kibitz.commands.against import compare_with
    from kibitz.evaluation import own_store
    from kibitz.store.store import Store

    assert options.against is not None
    sharing.check_unused("--against")
    if options.split != "unseen":
        raise UsageError(
            f"--split cannot be combined with --against (got {options.split}). Leave it out: --against uses only games"
            " that neither network was trained on."
        )
    unused = {
        "--out": options.out is not None, "--all-symmetries": options.all_symmetries,
        "--stockfish": options.stockfish is not None, "--gnugo": options.gnugo is not None,
        "--stranger": options.stranger is not None,
        "--learning-curve": options.curve,
    }  # fmt: skip
    if given := [option for option, is_given in unused.items() if is_given]:
        raise UsageError(f"{given[0]} cannot be combined with --against, which does not use it. Leave one of them out.")
    games = Store(store or own_store(run))
    with EvaluationBar() as bar:
        count = options.most_positions(POSITIONS)
        compare_with(run, options.against, games, count, options.as_json, bar.on_progress)


def _page(run: Run, store: Path, out: Path | None) -> Path:
    """Return the path of the result page. Raises KibitzError, before any work, if the page can't be written."""
    from kibitz.runs import packaged

    games = store.resolve().name.removesuffix(".store")
    page = run.path / f"test-{games}.html"
    for name, path in packaged().items():
        # For a bundled network, the page is not written into its folder, because often only the administrator may.
        if path == run.path:
            page = store.parent / f"test-{name}-{games}.html"
    page = out or page
    files = (*run.path.iterdir(), *store.iterdir()) if store.is_dir() else run.path.iterdir()
    check_page(page, "--out", [str(path) for path in files if path.is_file() and path.suffix != ".html"])
    return page


def _excluded(run: str, chosen: Chosen) -> str:
    """Return how many games a test leaves out, because the network was trained or validated with them."""
    left = len(chosen.games)
    return (
        f"skipped {number_of(chosen.excluded, 'training or validation game')} of {run};"
        f" {number_of(left, 'game')} {'is' if left == 1 else 'are'} left"
    )


def _log(line: str) -> None:
    note(line)


class EvaluationBar(Progress):
    """A progress bar for each part of a test."""

    def __init__(self) -> None:
        super().__init__(
            "{task.description}", BAR, "{task.completed:,.0f} of {task.total:,.0f}", "{task.fields[rate]}", LEFT,
            patient=True, every=LINE_EVERY,
        )  # fmt: skip
        self._part, self._reported = "", time.monotonic()

    def on_progress(self, part: str, done: int, total: int) -> None:
        """Update the bar. part: the name of the part of the test. done, total: the completed amount and the size of the
        part.

        If the name is new, a new part begins. The elapsed time of the new part starts at the last call for the previous
        part.
        """
        if part != self._part:
            self.begin(part, total, at_once=total <= 1, since=self._reported, rate="")
            self._part = part
        self._reported = time.monotonic()
        rate = f"{self.rate(done):,.0f}/s" if total > 1 else ""
        self.update(done, f"kibitz: {part}: {done:,} of {total:,}{', ' if rate else ''}{rate}", rate=rate)


def _report(result: dict[str, Any]) -> None:
    """Print the tables of a test: figures, baselines, slices, and their notes."""
    data, paper = result["data"], result["paper"]
    print(f"{result['run']} ({result['system']}: {result['title']}) on {data['store']}: {data['split']}")
    print(f"weights {result['weights']}, sha256 {result['weights_sha256'][:12]}")
    print()
    _print_tables(result)
    if paper["title"]:
        print(f"paper: {paper['title']}\nresult in the paper: {paper['figure']}")
    elif paper["figure"]:
        print(f"related results: {paper['figure']}")
    if data.get("note"):
        print(data["note"])


def _print_tables(result: dict[str, Any]) -> None:
    """Print the metrics, baselines, slices and tables of a result."""
    from kibitz.report.numbers import cell_text, figure_text, interval_text

    headline = result["headline"]
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

    table("metric", [cells(figure["label"], figure["kind"], figure) for figure in main.values()])
    kind = result["figures"][headline]["kind"]
    if result["baselines"]:
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
