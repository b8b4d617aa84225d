"""`kibitz train SYSTEM STORE`: the options of the loop, and those of the system that is named."""

from __future__ import annotations

import contextlib
import inspect
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.errors import UsageError

if TYPE_CHECKING:
    from kibitz.training.trainer import Beat

PRECISIONS = {"auto": "auto", "float32": "32-true", "bf16": "bf16-mixed"}


def train(
    system: Annotated[str, typer.Argument(help="The system: see kibitz systems.")],
    store: Annotated[str, typer.Argument(help="The store to learn from.")],
    recipe: Annotated[
        str | None,
        typer.Option(
            help="Settings that go together: default (the best known for half an hour on two cores), long, paper …; "
            "kibitz systems SYSTEM shows them."
        ),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="Directory of the run. [default: runs/SYSTEM-1, or the next free number]")
    ] = None,
    start_from: Annotated[
        str | None,
        typer.Option(help="Run or packaged network whose weights to begin with, to teach it your own games."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Minutes after which this call stops, to go on later.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.", min=0, max=2**31 - 1)] = 0,
    summary_every: Annotated[
        int | None, typer.Option(help="Iterations between summaries. [default: a hundredth of all, up to 300]", min=1)
    ] = None,
    validate_every: Annotated[
        int | None, typer.Option(help="Iterations between validations. [default: a twentieth of all]", min=1)
    ] = None,
    snapshot_every: Annotated[
        int | None, typer.Option(help="Iterations between snapshots. [default: a fiftieth of all, up to 2000]", min=1)
    ] = None,
    snapshot_megabytes: Annotated[
        float | None,
        typer.Option(
            help="Most that the run's snapshots may take: an even series of them is kept. [default: 200]", min=0
        ),
    ] = None,
    validate_positions: Annotated[
        int | None,
        typer.Option(
            help="Positions of a validation. [default: from 2,048 to 51,200, by the length of the training]", min=1
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(help="Validations without a better one before it stops; 0 never. [default: 20]", min=0),
    ] = None,
    validate_share: Annotated[
        float | None, typer.Option(help="Percent of games for validation. [default: the store's]")
    ] = None,
    test_share: Annotated[
        float | None, typer.Option(help="Percent of games for the test. [default: the store's]")
    ] = None,
    validate_from: Annotated[
        str | None, typer.Option(help="Validation takes games from this day on (2015, 2015-06-30).")
    ] = None,
    test_from: Annotated[str | None, typer.Option(help="The test takes games from this day on.")] = None,
    precision: Annotated[
        str | None, typer.Option(help="auto (bf16 where the machine computes in it), float32 or bf16. [default: auto]")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    json: Annotated[bool, typer.Option("--json", help="Print how it ended as one JSON object.")] = False,
    **settings: Any,
) -> None:
    """Train a system on a store. Ctrl-C is safe; the same command goes on.

    Without more it takes the system's recipe "default"; --recipe paper has the paper's own numbers. `kibitz train
    SYSTEM --help` lists the settings of that system too, each with the recipe's value.
    """
    from kibitz.dates import parse_day
    from kibitz.store.split import Split
    from kibitz.store.store import Store
    from kibitz.systems import DEFAULT, find_recipe, load
    from kibitz.training.fit import train as start
    from kibitz.training.trainer import TrainConfig

    if precision is not None and precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: choose from {', '.join(PRECISIONS)}")
    if time_limit is not None and time_limit <= 0:
        raise UsageError(f"--time-limit {time_limit:g}: minutes, more than 0")
    chosen = load(system)
    check_device(device)
    split: Split | None = None
    given: dict[str, Any] = {
        "validate_share": validate_share,
        "test_share": test_share,
        "validate_from": parse_day(validate_from, "--validate-from") if validate_from else None,
        "test_from": parse_day(test_from, "--test-from") if test_from else None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if given:  # shares alone ask for a split by hash; days replace the store's days
        base = Store(store).split
        split = Split(**{"validate_share": base.validate_share, "test_share": base.test_share, **given})
    named = recipe or DEFAULT
    looks = {
        "summary_every": summary_every, "validate_every": validate_every, "snapshot_every": snapshot_every,
        "snapshot_megabytes": snapshot_megabytes, "validate_positions": validate_positions, "patience": patience,
        "precision": PRECISIONS[precision] if precision else None,
    }  # fmt: skip
    plan = TrainConfig(
        **{**find_recipe(system, named).training, **{key: value for key, value in looks.items() if value is not None}},
        time_limit=None if time_limit is None else time_limit * 60, seed=seed,
        device=device,
    )  # fmt: skip
    with _Progress() as progress:
        done = start(
            system, chosen.settings_type(**settings), store, run=run, split=split, plan=plan, start_from=start_from,
            recipe=named if recipe or start_from is None else "",
            command=shlex.join(["kibitz", *sys.argv[1:]]), tell=progress.tell, say=progress.say,
        )  # fmt: skip
    _draw(done.path)
    _report(done, json)


def check_device(device: str) -> None:
    """Raises UsageError for a device that there is not."""
    if device not in ("auto", "cpu", "cuda"):
        raise UsageError(f"--device {device}: choose from auto, cpu, cuda")
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("--device cuda: this machine has none that torch can use; leave the option out")


def with_settings(
    name: str, function: Callable[..., None], arguments: Sequence[str], without: Sequence[str] = ()
) -> Callable[..., None]:
    """A command with the settings of the system that the command line names as options of their own; else as it is.

    name, function: the command's; function takes the settings as further keywords. without: settings that are no
    options of this command.
    """
    from kibitz.systems import SYSTEMS

    named = next((word for word in arguments if word in SYSTEMS), None)
    own = [p for p in inspect.signature(function).parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=_resolved(function, p.name)) for p in own]
    if named and name in arguments:
        from kibitz.systems import load

        begun = _settings_of(arguments, named, "recipe" in {p.name for p in own})
        for field in fields(load(named).settings_type):
            if field.name in without:
                continue
            kind, word = type(field.default), field.name.replace("_", "-")
            names = f"--{word}/--no-{word}" if kind is bool else f"--{word}"  # --start-from may have switched it on
            option = typer.Option(names, help=field.metadata["help"], rich_help_panel=f"Settings of {named}")
            parameters.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=begun.get(field.name, field.default),
                    annotation=Annotated[kind, option],
                )
            )

    def command(**values: Any) -> None:
        function(**values)

    command.__doc__ = function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _settings_of(arguments: Sequence[str], system: str, recipes: bool) -> dict[str, Any]:
    """The defaults of the system's options, as far as they are not those of its Settings.

    They are those of the run that --start-from names, where it is one of this system, and those of the recipe that
    --recipe names; without either, and where the command has recipes, of the recipe "default".
    """
    from kibitz.errors import KibitzError
    from kibitz.runs import Run
    from kibitz.systems import DEFAULT, find_recipe

    words = [part for word in arguments for part in word.split("=", 1)]
    settings: dict[str, Any] = {}
    begun = words[words.index("--start-from") + 1] if "--start-from" in words[:-1] else None
    named = words[words.index("--recipe") + 1] if recipes and "--recipe" in words[:-1] else None
    with contextlib.suppress(KibitzError):  # what is wrong is told when the command runs
        if begun is not None and (info := Run(begun).info)["system"] == system:
            settings |= info["settings"]
        if recipes and (named or begun is None):
            settings |= find_recipe(system, named or DEFAULT).settings
    return settings


def _resolved(function: Callable[..., None], name: str) -> Any:
    """The annotation of one of a command's own parameters, as an object."""
    from typing import get_type_hints

    return get_type_hints(function, include_extras=True)[name]


class _Progress:
    """The bar on a terminal; on anything else a line at each validation and one a minute. Always on standard error."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.console = Console(stderr=True)
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
            TextColumn("{task.fields[figures]}"), TimeRemainingColumn(), console=self.console,
            disable=not self.console.is_terminal,
        )  # fmt: skip
        self.task: Any = None
        self.stage = ""

    def __enter__(self) -> _Progress:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def say(self, line: str) -> None:
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def tell(self, beat: Beat) -> None:
        if self.stage != beat.stage:
            if self.task is not None:
                self.bar.stop_task(self.task)
            # The part that an earlier call did must not count in the time left.
            self.task = self.bar.add_task(beat.stage, total=beat.iterations, completed=beat.iteration - 1, figures="")
            self.stage = beat.stage
        self.bar.update(self.task, completed=beat.iteration)
        if beat.samples_per_second is not None:
            loss = "" if beat.loss is None else f"loss {beat.loss:.4f}, "
            self.bar.update(self.task, figures=f"{loss}{beat.samples_per_second:,.0f} samples/s")
        if beat.note:
            self.say(f"{beat.stage} {beat.iteration:,}: {beat.note}")


def _draw(path: Path) -> None:
    from kibitz.report.curves import save_learning_curve
    from kibitz.runs import Run

    if rows := Run(path).metrics():
        save_learning_curve(rows, path / "learning.svg")


def _report(done: Any, as_json: bool) -> None:
    import json

    from kibitz.runs import Run

    outcome = done.outcome
    if as_json:
        info = Run(done.path).info
        print(json.dumps({"run": str(done.path), "continued": done.continued, **{
            key: info.get(key) for key in ("system", "finished", "ended", "iteration", "best", "seconds")
        }}))  # fmt: skip
    elif outcome.reason == "finished before":
        print(f"{done.path}: this training is finished (iteration {outcome.iteration:,}); train another with --seed")
    else:
        best = ", ".join(f"{name} {value:.4f}" for name, value in outcome.best.items() if name != "iteration")
        at = f" at iteration {outcome.best['iteration']:,.0f}" if "iteration" in outcome.best else ""
        print(
            f"{done.path}: {outcome.reason} after {outcome.iteration:,} iterations"
            + (f"; best validation: {best}{at}" if best else "")
        )
        print(f"next: kibitz test {done.path}" if outcome.finished else "the same command goes on from here")
    if outcome.reason == "stopped":
        raise typer.Exit(130)
