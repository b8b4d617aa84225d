"""`kibitz search SYSTEM STORE`: which learning rate, regularisation and initial weights suit a system and its games."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.tables import print_table
from kibitz.commands.train import PRECISIONS, check_device
from kibitz.errors import KibitzError, UsageError

if TYPE_CHECKING:
    from kibitz.training.tune.search import Step, TrialResult, TuneResult
    from kibitz.training.tune.space import TuneConfig

NOT_OPTIONS = (
    "learning_rate",
    "value_learning_rate",
    "weight_decay",
    "initial",
    "networks",
    "iterations",
    "value_iterations",
)
"""Settings of a system that are no options of a search, because the search sets them."""

_LINE_EVERY = 60.0
"""Seconds between lines about one trial, where standard error is no terminal."""


def search(
    system: Annotated[str, typer.Argument(help="The system: see kibitz systems.")],
    store: Annotated[str, typer.Argument(help="The store to learn from.")],
    learning_rates: Annotated[
        str | None, typer.Option(help="Learning rates to try, with commas. Default: the system's, and about it.")
    ] = None,
    l2s: Annotated[
        str | None, typer.Option(help="Coefficients of the setting l2 to try. Default: 0, 0.0001, 0.001, the system's.")
    ] = None,
    initials: Annotated[
        str | None, typer.Option(help="Initial weights to try, as --initial of train. Default: those it knows.")
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(help="Which network the trials train, of a system with several. Default: piece; all if shared."),
    ] = None,
    iterations_per_trial: Annotated[int, typer.Option(help="Batches of each trial.", min=1)] = 2000,
    trials: Annotated[
        int | None,
        typer.Option(help="Draw so many trials between what is given (Optuna's TPE), not the whole grid.", min=1),
    ] = None,
    prune: Annotated[bool, typer.Option(help="Give up a trial whose validation is worse than the median's.")] = True,
    out: Annotated[
        Path | None, typer.Option(help="File of the study. Default: searches/SYSTEM-STORE.journal.", metavar="FILE")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Minutes after which this call stops, to go on later.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.", min=0, max=2**31 - 1)] = 0,
    validate_positions: Annotated[int, typer.Option(help="Positions of a validation.", min=1)] = 51_200,
    precision: Annotated[
        str, typer.Option(help="auto (bf16 where the machine computes in it), float32 or bf16.")
    ] = "auto",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    json: Annotated[bool, typer.Option("--json", help="Print what was found as one JSON object.")] = False,
    **settings: Any,
) -> None:
    """Search for a system's learning rate, l2 and initial weights by short trainings.

    Ctrl-C is safe, and so is anything else: the same command goes on. `kibitz search SYSTEM --help` lists the settings
    of that system that all trials share.
    """
    from kibitz.systems import load

    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: choose from {', '.join(PRECISIONS)}")
    if time_limit is not None and time_limit <= 0:
        raise UsageError(f"--time-limit {time_limit:g}: minutes, more than 0")
    chosen = load(system)
    check_device(device)

    from kibitz.training.trainer import TrainConfig
    from kibitz.training.tune.search import folder_of
    from kibitz.training.tune.search import search as start
    from kibitz.training.tune.space import Grid, TuneConfig, usual_grid

    shared = chosen.settings_type(**settings)
    usual_network = ""
    if hasattr(shared, "networks"):
        usual_network = "all" if getattr(shared, "share", "none") == "body" else "piece"
    network = network or usual_network
    usual = usual_grid(chosen, network)
    grid = Grid(
        usual.learning_rates if learning_rates is None else _numbers("--learning-rates", learning_rates, zero=False),
        usual.weight_decays if l2s is None else _numbers("--l2s", l2s, zero=True),
        usual.initials if initials is None else _words("--initials", initials),
    )
    plan = TrainConfig(
        validate_positions=validate_positions, time_limit=None if time_limit is None else time_limit * 60, seed=seed,
        precision=PRECISIONS[precision], device=device,
    )  # fmt: skip
    what = TuneConfig(system, store, shared, grid, network, iterations_per_trial, trials, prune, plan)
    if out is None:
        suffix = "" if network == usual_network else "-" + network.replace(",", "-")
        out = Path("searches") / f"{system}-{Path(store).stem}{suffix}.journal"
    with _Progress(what) as progress:
        found = start(what, out, progress.tell, progress.ended, progress.say)
    _report(what, found, out, folder_of(out), json)


def _words(option: str, given: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(word.strip() for word in given.split(",")))
    if "" in words:
        raise UsageError(f"{option} {given or 'with nothing'}: give one or more, with commas between")
    return words


def _numbers(option: str, given: str, zero: bool) -> tuple[float, ...]:
    numbers = []
    for word in _words(option, given):
        try:
            number = float(word)
        except ValueError:
            number = -1.0
        if not (number >= 0 if zero else number > 0) or number == float("inf"):
            raise UsageError(f"{option} {given}: {word} is no number {'of 0 or more' if zero else 'over 0'}")
        numbers.append(number)
    return tuple(dict.fromkeys(numbers))


class _Progress:
    """The bar over all trials on a terminal; elsewhere a line now and then. A line at each trial's end, always on
    standard error."""

    def __init__(self, what: TuneConfig) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.what = what
        self.console = Console(stderr=True)
        self.bar = Progress(
            TextColumn("trial {task.fields[trial]} of " + str(what.total)), BarColumn(),
            TextColumn("{task.percentage:.0f}%"), TextColumn("{task.fields[figures]}"), TimeRemainingColumn(),
            console=self.console, disable=not self.console.is_terminal,
        )  # fmt: skip
        self.task: Any = None
        self.began = self.line = time.monotonic()
        self.first: int | None = None
        self.done = 0

    def __enter__(self) -> _Progress:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def say(self, line: str) -> None:
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def tell(self, step: Step) -> None:
        beat, each = step.beat, self.what.iterations
        done = step.ended * each + beat.iteration
        if self.first is None:  # what an earlier call did must not count in the time left
            self.first, self.began = done - 1, time.monotonic()
            self.task = self.bar.add_task(
                "", total=self.what.total * each, completed=done - 1, trial=step.ended + 1, figures=""
            )
        self.done = done
        self.bar.update(self.task, completed=done, trial=step.ended + 1)
        if beat.loss is not None:
            self.bar.update(self.task, figures=f"loss {beat.loss:.4f}")
            if not self.console.is_terminal and time.monotonic() - self.line > _LINE_EVERY:
                self.say(f"trial {step.number}: iteration {beat.iteration:,} of {each:,}, loss {beat.loss:.4f}")
                self.line = time.monotonic()

    def ended(self, tried: TrialResult) -> None:
        self.done = (
            tried.number * self.what.iterations
        )  # trials come in the order of their numbers; one may be cut short
        if self.task is not None:
            self.bar.update(self.task, completed=self.done)
        how = f"pruned at iteration {tried.iteration:,}" if tried.state == "pruned" else tried.state
        figures = ", ".join(f"{name} {value:.4f}" for name, value in tried.figures.items() if name != "iteration")
        settings = ", ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in tried.settings.items())
        self.say(f"trial {tried.number} of {self.what.total}: {settings}: {how}{': ' if figures else ''}{figures}"
                 + self._left())  # fmt: skip
        self.line = time.monotonic()

    def _left(self) -> str:
        """The time left, for a file that somebody follows; the bar shows it on a terminal."""
        here = self.done - (self.first or 0)
        to_do = self.what.total * self.what.iterations - self.done
        if self.console.is_terminal or here <= 0 or to_do < self.what.iterations:
            return ""
        minutes = (time.monotonic() - self.began) / here * to_do / 60
        return f"; about {minutes:.0f} min left" if minutes >= 1 else "; less than a minute left"


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def train_line(what: TuneConfig, best: TrialResult) -> str:
    """The whole training with what was found, as a person types it."""
    found = {what.named(name): value for name, value in best.settings.items()}
    usual = type(what.settings)()
    others = {
        f.name: getattr(what.settings, f.name)
        for f in fields(what.settings)
        if f.name not in found and getattr(what.settings, f.name) != getattr(usual, f.name)
    }
    words = ["kibitz", "train", what.system, what.store]
    for name, value in {**found, **others}.items():
        option = name.replace("_", "-")
        words += [f"--{'' if value else 'no-'}{option}"] if isinstance(value, bool) else [f"--{option}", _shown(value)]
    if what.plan.seed:
        words += ["--seed", str(what.plan.seed)]
    if what.plan.precision != "auto":
        words += ["--precision", next(name for name, value in PRECISIONS.items() if value == what.plan.precision)]
    return shlex.join(words)


def _report(what: TuneConfig, found: TuneResult, out: Path, folder: Path, as_json: bool) -> None:
    import json

    line = train_line(what, found.best) if found.best else None
    left = what.total - sum(trial.state != "begun" for trial in found.trials)
    if as_json:
        rows = [{**asdict(trial), "path": str(trial.path)} for trial in found.trials]
        best = found.best and {**asdict(found.best), "path": str(found.best.path)}
        print(json.dumps({
            "study": str(out), "ended": found.reason, "left": max(0, left), "trials": rows, "best": best, "next": line,
        }))  # fmt: skip
    else:
        _print_trials(found)
        if found.best:
            print(f"best: trial {found.best.number} ({found.best.path})")
        if left > 0:
            print(f"{found.reason} with {left} of {what.total} trials left; the same command goes on ({out})")
        if line:
            print(f"next: {line}")
    if found.reason == "stopped":
        raise typer.Exit(130)
    if found.best is None and left <= 0:
        raise KibitzError(f"{out}: every trial diverged; search with smaller --learning-rates and another --out")


def _print_trials(found: TuneResult) -> None:
    """The table, the best trial first; those that did not come to their end follow."""
    if not found.trials:
        return
    settings = list(found.trials[0].settings)
    measures = list(dict.fromkeys(name for trial in found.trials for name in trial.figures if name != "iteration"))
    order: Callable[[TrialResult], Any] = lambda trial: (  # noqa: E731
        trial.state != "done", trial.figures.get(found.monitor, float("inf")), trial.number
    )  # fmt: skip
    rows: list[Sequence[str]] = []
    for trial in sorted(found.trials, key=order):
        figures = [f"{trial.figures[name]:.4f}" if name in trial.figures else "–" for name in measures]
        state = f"pruned at {trial.iteration:,}" if trial.state == "pruned" else trial.state
        rows.append([str(trial.number), *(_shown(trial.settings[name]) for name in settings), *figures, state])
    headings = ["trial", *(name.replace("_", " ") for name in settings), *(f"validation {name}" for name in measures)]
    right = [i for i in range(len(headings)) if i != 1 + settings.index("initial")]
    print_table("", [*headings, "state"], rows, right)
