"""The command `kibitz train`: the options of the training, and the settings of the selected system (kind of
network).
"""

from __future__ import annotations

import functools
import math
import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.progress import BAR, LEFT, Progress
from kibitz.errors import UsageError
from kibitz.messages import not_one_of, note
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.store.split import Split
    from kibitz.training.fit import TrainResult
    from kibitz.training.ranks import Ranks
    from kibitz.training.trainer import TrainProgress

PRECISIONS = {"auto": "auto", "float32": "32-true", "bf16": "bf16-mixed"}
"""The values of the option --precision, each with the name that Lightning, the library for training, uses."""
INTERRUPTED = 130
"""The exit code if the user stopped the training, for example by Ctrl-C."""


@dataclass(frozen=True)
class StartOptions:
    """The command-line options for the start of a training: its recipe (set of settings), its folder and the initial
    weights.
    """

    recipe: Annotated[
        str | None,
        typer.Option(),
    ] = None
    run: Annotated[Path | None, typer.Option(show_default="runs/SYSTEM-1, or the next free number")] = None
    start_from: Annotated[
        str | None,
        typer.Option(),
    ] = None


@dataclass(frozen=True)
class LoopOptions:
    """The command-line options for the length of the training and the intervals of summaries, validations and
    checkpoints. If an option is None, the recipe's value or a default applies.
    """

    time_limit: Annotated[float | None, typer.Option()] = None
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1)] = 0
    summary_every: Annotated[
        int | None,
        typer.Option(show_default="a hundredth of all, up to 300", min=1),
    ] = None
    validate_every: Annotated[int | None, typer.Option(show_default="a twentieth of all", min=1)] = None
    checkpoint_every: Annotated[
        int | None,
        typer.Option(show_default="a fiftieth of all, up to 2000", min=1),
    ] = None
    checkpoint_megabytes: Annotated[
        float | None,
        typer.Option(show_default="200", min=0),
    ] = None
    average: Annotated[
        int | None,
        typer.Option(
            show_default="0; recipe plateau: 1000",
            min=0,
        ),
    ] = None
    validate_positions: Annotated[
        int | None,
        typer.Option(show_default="from 2,048 to 51,200, by the length of the training", min=1),
    ] = None
    patience: Annotated[
        int | None,
        typer.Option(show_default="20", min=0),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return the options that the user gave, as a dict. Each key is the name of a field of `TrainConfig`, such as
        "patience". Options with the value None are omitted. The time limit is converted from minutes to seconds. Raises
        UsageError for a value out of range.
        """
        check_time_limit(self.time_limit)
        if self.checkpoint_megabytes is not None and not math.isfinite(self.checkpoint_megabytes):
            raise UsageError(f"--checkpoint-megabytes must be at least 0 (got {self.checkpoint_megabytes:g})")
        values = {**asdict(self), "time_limit": None if self.time_limit is None else self.time_limit * 60}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class StoreSplitOptions:
    """The command-line options for a split of the games that differs from the split that the store contains."""

    validate_share: Annotated[float | None, typer.Option(show_default="the store's")] = None
    test_share: Annotated[float | None, typer.Option(show_default="the store's")] = None
    validate_from: Annotated[str | None, typer.Option()] = None
    test_from: Annotated[str | None, typer.Option()] = None

    def split(self, store: str) -> Split | None:
        """Return the split of the games that the options describe; None if the user gave no option of this class.

        A split has a percentage of validation games and a percentage of test games. A percentage that the user did not
        give is taken from the store's split. The dates of the store's split are not used. If the user gave no day, a
        hash of each game decides its part of the split.

        store: the path of the store. Raises UsageError for an invalid day, or if two options exclude each other.
        """
        from kibitz.dates import parse_day
        from kibitz.store.split import Split, check_options
        from kibitz.store.store import Store

        values: dict[str, Any] = {
            "validate_share": self.validate_share,
            "test_share": self.test_share,
            "validate_from": None if self.validate_from is None else parse_day(self.validate_from, "--validate-from"),
            "test_from": None if self.test_from is None else parse_day(self.test_from, "--test-from"),
        }
        given = {name: value for name, value in values.items() if value is not None}
        if not given:
            return None
        check_options(given)
        base = Store(store).split
        return Split(**{"validate_share": base.validate_share, "test_share": base.test_share, **given})


@dataclass(frozen=True)
class MachineOptions:
    """The command-line options for the devices, the processes and the precision of the training."""

    precision: Annotated[
        str | None,
        typer.Option(show_default="auto"),
    ] = None
    device: Annotated[str, typer.Option()] = "auto"
    devices: Annotated[
        int | None,
        typer.Option(show_default="1", min=1),
    ] = None
    num_nodes: Annotated[int | None, typer.Option(min=1)] = None
    node_rank: Annotated[int | None, typer.Option(min=0)] = None
    main_address: Annotated[str | None, typer.Option()] = None
    compile: Annotated[
        str | None,
        typer.Option(
            show_default="off; recipe gpu: auto",
        ),
    ] = None
    profile: Annotated[bool, typer.Option("--profile")] = False


def train(
    system: Annotated[str, typer.Argument(metavar="SYSTEM")],
    store: Annotated[str, typer.Argument(metavar="STORE")],
    *,
    start: StartOptions,
    loop: LoopOptions,
    division: StoreSplitOptions,
    machine: MachineOptions,
    json: Annotated[bool, typer.Option("--json")] = False,
    **settings: Any,
) -> None:
    """Train a kind of network, called a system, on the games of a store. To resume the training after Ctrl-C, run the
    same command again.

    By default, the training uses the system's recipe "default", a set of settings. If the system is from a paper,
    --recipe paper follows this paper, or a summary of it. `kibitz train SYSTEM --help` also lists the settings of this
    system with the recipe's values.
    """
    from kibitz.systems import load
    from kibitz.training.ranks import ReportedByOtherRank, joined, resolve_rank
    from kibitz.training.trainer import FINISHED_BEFORE

    if start.start_from == "":
        raise UsageError(
            "--start-from must be a run or a bundled network (got nothing). To list networks: kibitz systems"
        )
    given = loop.given()
    if machine.precision is not None:
        given["precision"] = lightning_precision(machine.precision)
    if machine.compile is not None:
        given["compile"] = machine.compile
    given |= {"device": machine.device, "profile": machine.profile}
    chosen = load(system)
    check_device(machine.device)
    where = resolve_rank(machine.devices, machine.num_nodes, machine.node_rank, machine.main_address)
    if where.world > where.here and not where.outside and not where.local:
        note(f"{where.world} processes connect at {where.host}:{where.port}")
    try:
        with joined(where, machine.device) as ranks:
            done = _train(system, store, chosen.settings_type(**settings), start, division.split(store), given, ranks)
            if not ranks.main:
                raise typer.Exit(INTERRUPTED if done.outcome.reason == "stopped" else 0)
    except ReportedByOtherRank as error:
        raise typer.Exit(error.exit_code) from None
    from kibitz.report.curves import draw_curve

    draw_curve(done.path, again=done.outcome.reason != FINISHED_BEFORE)
    _report(done, json)


def _train(
    system: str,
    store: str,
    settings: Any,
    start: StartOptions,
    split: Split | None,
    given: dict[str, Any],
    ranks: Ranks,
) -> TrainResult:
    """Train a system (kind of network). given: the fields of the loop's plan that are on the command line. The main
    process shows the progress.
    """
    from kibitz.systems import DEFAULT, find_recipe
    from kibitz.training.fit import train as fit
    from kibitz.training.trainer import TrainConfig

    recipe = start.recipe or DEFAULT
    plan = TrainConfig(**{**find_recipe(system, recipe).training, **given, "ranks": ranks})
    call = functools.partial(
        fit, system, settings, store, run=start.run, split=split, plan=plan, start_from=start.start_from,
        recipe=recipe if start.recipe or start.start_from is None else "",
        command=shlex.join(["kibitz", *sys.argv[1:]]),
    )  # fmt: skip
    if not ranks.main:
        return call()
    with TrainingBar() as progress:
        return call(on_progress=progress.on_progress, log=progress.log)


def lightning_precision(name: str) -> str:
    """Return the name that Lightning, the library for training, uses for a value of --precision. Raises UsageError for
    an unknown value.
    """
    if name not in PRECISIONS:
        raise UsageError(not_one_of("--precision", name, PRECISIONS))
    return PRECISIONS[name]


def check_time_limit(minutes: float | None) -> None:
    """Raise UsageError if the time limit, in minutes, is 0 or negative. None means no time limit."""
    if minutes is not None and not minutes > 0:
        raise UsageError(f"--time-limit must be greater than 0 minutes (got {minutes:g})")


def check_device(device: str) -> None:
    """Raise UsageError for an unknown value of --device, and for "cuda" if PyTorch finds no GPU."""
    if device not in ("auto", "cpu", "cuda"):
        raise UsageError(not_one_of("--device", device, ("auto", "cpu", "cuda")))
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("--device must be cpu or auto on this computer: PyTorch finds no GPU (got cuda)")


class TrainingBar(Progress):
    """A progress bar for each stage of a training. Without a terminal, it prints a line at each validation, and once
    per minute.
    """

    def __init__(self) -> None:
        super().__init__(
            "{task.description}", BAR, "{task.completed:,.0f} of {task.total:,.0f}", "{task.fields[figures]}", LEFT,
            stays=True,
        )  # fmt: skip
        self._stage = self._figures = ""

    def on_progress(self, progress: TrainProgress) -> None:
        """Update the bar. The training loop calls this method after every iteration."""
        if self._stage != progress.stage:
            self.begin(progress.stage, progress.iterations, progress.iteration - 1, figures="")
            self._stage, self._figures = progress.stage, ""
        if progress.samples_per_second is not None:
            loss = "" if progress.loss is None else f"loss {progress.loss:.4f}, "
            self._figures = f"{loss}{progress.samples_per_second:,.0f} samples/s"
        if progress.note:
            self.log(f"{progress.stage} {progress.iteration:,}: {progress.note}")
        figures = f": {self._figures}" if self._figures else ""
        self.update(
            progress.iteration,
            f"{progress.stage} {progress.iteration:,} of {progress.iterations:,}{figures}",
            figures=self._figures,
        )


def _report(done: Any, as_json: bool) -> None:
    import json

    from kibitz.runs import Run

    outcome = done.outcome
    if as_json:
        info = Run(done.path).info
        print(json.dumps({"run": str(done.path), "continued": done.continued, **{
            key: info.get(key) for key in ("system", "finished", "ended", "iteration", "best", "seconds")
        }, **({"parts": outcome.parts} if outcome.parts else {}),
            **({} if outcome.profile is None else {"profile": outcome.profile})}))  # fmt: skip
    elif outcome.reason == "finished before":
        print(
            f"{done.path}: this training run is finished (iteration {outcome.iteration:,}). To train another network,"
            " change --seed."
        )
    else:
        best = ", ".join(f"{name} {value:.4f}" for name, value in outcome.best.items() if name != "iteration")
        at = f" at iteration {outcome.best['iteration']:,.0f}" if "iteration" in outcome.best else ""
        print(
            f"{done.path}: {outcome.reason} after {number_of(outcome.iteration, 'iteration')}"
            + (f"; best validation: {best}{at}" if best else "")
        )
        for part in outcome.parts:
            print(f"  {_how_far(part)}")
        test = f"next: kibitz test {shlex.quote(str(done.path))}"
        print(test if outcome.finished else "Run the same command again to resume.")
    if outcome.profile and not as_json:
        _print_profile(outcome.profile)
    if outcome.reason == "stopped":
        raise typer.Exit(INTERRUPTED)


def _how_far(part: dict[str, Any]) -> str:
    """Describe the progress of one of several networks in a line."""
    of = f" of {part['iterations']:,}" if part["iterations"] else ""
    measures = {name: value for name, value in part["best"].items() if name in ("accuracy", "loss")}
    best = ", ".join(f"{name} {value:.4f}" for name, value in measures.items()) or "not validated yet"
    return f"{part['stage']}: {part['iteration']:,}{of} iterations; best validation: {best}"


def _print_profile(rows: list[dict[str, Any]]) -> None:
    from kibitz.commands.tables import print_table
    from kibitz.training.profile import PARTS

    print_table(
        "where the time went",
        ("part", "seconds", "share", "ms an iteration"),
        [
            (
                PARTS.get(row["part"], "making batches (in other threads)"),
                f"{row['seconds']:,.1f}",
                "" if row["share"] is None else f"{row['share']:.1%}",
                f"{row['ms_an_iteration']:,.2f}",
            )
            for row in rows
        ],
        right=(1, 2, 3),
    )
