"""The command `kibitz tune`: find a good learning rate, weight decay and choice of initial weights for a kind of
network, called a system.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.progress import BAR, LEFT, Progress
from kibitz.commands.tables import print_table
from kibitz.commands.train import PRECISIONS, check_device, check_time_limit, lightning_precision
from kibitz.commands.workers import WorkerOptions
from kibitz.errors import KibitzError, UsageError
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.training.trainer import TrainConfig
    from kibitz.training.tune.search import Step, TrialResult, TuneResult
    from kibitz.training.tune.space import Grid, TuneConfig

NOT_OPTIONS = (
    "learning_rate",
    "value_learning_rate",
    "weight_decay",
    "initial",
    "networks",
    "iterations",
    "value_iterations",
)
"""Settings of a system that are not options of `kibitz tune`, because the command itself chooses their values."""


@dataclass(frozen=True)
class SpaceOptions:
    """The command-line options for the values to try. For a system (kind of network) that consists of several networks,
    one of these options selects the network to train.
    """

    learning_rates: Annotated[str | None, typer.Option()] = None
    weight_decays: Annotated[str | None, typer.Option()] = None
    initials: Annotated[str | None, typer.Option()] = None
    network: Annotated[
        str | None,
        typer.Option(),
    ] = None

    def grid(self, usual: Grid) -> Grid:
        """Return the grid: the learning rates, the weight decays and the choices of initial weights to try.

        usual: the default grid of the system (kind of network). If the user did not give an option, the grid has the
        default values for this option. Raises UsageError for invalid values.
        """
        from kibitz.training.tune.space import Grid

        rates, decays, initials = self.learning_rates, self.weight_decays, self.initials
        return Grid(
            usual.learning_rates if rates is None else _numbers("--learning-rates", rates, zero=False),
            usual.weight_decays if decays is None else _numbers("--weight-decays", decays, zero=True),
            usual.initials if initials is None else _words("--initials", initials),
        )


@dataclass(frozen=True)
class TrialOptions:
    """The command-line options for the number of trials (short training runs), and the length of each trial."""

    iterations_per_trial: Annotated[int, typer.Option(min=1)] = 2000
    trials: Annotated[
        int | None,
        typer.Option(min=1),
    ] = None
    prune: Annotated[bool, typer.Option()] = True


@dataclass(frozen=True)
class TrialLoopOptions:
    """The command-line options for how each trial (short training run) is trained, and how long all trials together may
    take.
    """

    time_limit: Annotated[float | None, typer.Option()] = None
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1)] = 0
    validate_positions: Annotated[int, typer.Option(min=1)] = 51_200
    precision: Annotated[str, typer.Option()] = "auto"
    device: Annotated[str, typer.Option()] = "auto"

    def check(self) -> None:
        """Raise UsageError for an invalid precision or time limit."""
        lightning_precision(self.precision)
        check_time_limit(self.time_limit)

    def plan(self) -> TrainConfig:
        """Return the configuration with which each trial (short training run) is trained. The field `time_limit` is an
        exception: it is the limit for all trials together, in seconds; None for no limit.
        """
        from kibitz.training.trainer import TrainConfig

        return TrainConfig(
            validate_positions=self.validate_positions,
            time_limit=None if self.time_limit is None else self.time_limit * 60,
            seed=self.seed,
            precision=lightning_precision(self.precision),
            device=self.device,
        )


def tune(
    system: Annotated[str, typer.Argument(metavar="SYSTEM")],
    store: Annotated[str, typer.Argument(metavar="STORE")],
    *,
    space: SpaceOptions,
    trials: TrialOptions,
    out: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    loop: TrialLoopOptions,
    sharing: WorkerOptions,
    json: Annotated[bool, typer.Option("--json")] = False,
    **settings: Any,
) -> None:
    """Find a system's best learning rate, weight decay and choice of initial weights in short training runs, the
    trials.

    To resume the search after Ctrl-C or a crash, run the same command again. `kibitz tune SYSTEM --help` also lists the
    settings of this system, which are the same in all trials.
    """
    from kibitz.systems import load

    loop.check()
    backend = sharing.backend()
    chosen = load(system)
    check_device(loop.device)

    from kibitz.training.tune.search import folder_of, search
    from kibitz.training.tune.space import TuneConfig, usual_grid

    shared = chosen.settings_type(**settings)
    usual_network = ""
    if hasattr(shared, "networks"):
        usual_network = "all" if getattr(shared, "share", "none") == "body" else "piece"
    network = space.network or usual_network
    grid = space.grid(usual_grid(chosen, network))
    request = TuneConfig(
        system, store, shared, grid, network, trials.iterations_per_trial, trials.trials, trials.prune, loop.plan()
    )
    if out is None:
        suffix = "" if network == usual_network else "-" + network.replace(",", "-")
        out = Path("searches") / f"{system}-{Path(store).stem}{suffix}.journal"
    if not out.name or out.is_dir():
        raise UsageError(f"--out must be a file (got the folder {out})")
    with TuningProgress(request) as progress:
        if backend:
            progress.begin("", request.total * request.iterations, trial=1, figures="")
        result = search(request, out, progress.on_step, progress.on_trial_end, progress.log, backend)
    _report(request, result, out, folder_of(out), json)


def _words(option: str, given: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(word.strip() for word in given.split(",")))
    if "" in words:
        raise UsageError(f"{option} must be values separated by commas (got {given or 'nothing'})")
    return words


def _numbers(option: str, given: str, zero: bool) -> tuple[float, ...]:
    numbers = []
    for word in _words(option, given):
        try:
            number = float(word)
        except ValueError:
            number = -1.0
        if not (number >= 0 if zero else number > 0) or number == float("inf"):
            raise UsageError(
                f"each number of {option} must be {'at least 0' if zero else 'greater than 0'} (got {word} in {given})"
            )
        numbers.append(number)
    return tuple(dict.fromkeys(numbers))


class TuningProgress(Progress):
    """A progress bar over all trials (short training runs), and a line at the end of each trial. Without a terminal, it
    also prints a line every minute.
    """

    def __init__(self, request: TuneConfig) -> None:
        super().__init__(
            "trial {task.fields[trial]} of " + str(request.total), BAR, "{task.percentage:.0f}%",
            "{task.fields[figures]}", LEFT, stays=True,
        )  # fmt: skip
        self.request = request
        self._trial = 0
        self._figures = ""

    def on_step(self, step: Step) -> None:
        """Update the bar. The search calls this method after every iteration of a trial."""
        progress, each = step.progress, self.request.iterations
        done = step.ended * each + progress.iteration
        if not self._trial:
            self.begin("", self.request.total * each, done - 1, trial=step.ended + 1, figures="")
        if self._trial != step.number:
            self._trial, self._figures = step.number, ""
        if progress.loss is not None:
            self._figures = f"loss {progress.loss:.4f}"
        line = f"trial {step.number}: iteration {progress.iteration:,} of {each:,}"
        line += f", {self._figures}" if self._figures else ""
        self.update(done, line, trial=step.ended + 1, figures=self._figures)

    def on_trial_end(self, trial: TrialResult) -> None:
        """Print the result of a trial. The search calls this method at the end of each trial, in the order of the
        trials' numbers. It also calls the method for a trial that it pruned (ended early).
        """
        each, total = self.request.iterations, self.request.total
        # This is the first trial of this call. The trials of earlier calls must not count for the speed.
        if not self._trial:
            self._trial, self._first = trial.number, (trial.number - 1) * each
        if self._total is not None:
            self.update(trial.number * each, trial=min(trial.number + 1, total))
        how = f"pruned at iteration {trial.iteration:,}" if trial.state == "pruned" else trial.state
        figures = ", ".join(f"{name} {value:.4f}" for name, value in trial.figures.items() if name != "iteration")
        settings = ", ".join(f"{name.replace('_', ' ')} {_text(value)}" for name, value in trial.settings.items())
        left = "" if self.on_terminal or trial.number >= self.request.total else self.time_left()
        self.log(
            f"trial {trial.number} of {self.request.total}: {settings}: {how}{': ' if figures else ''}{figures}"
            f"{'; ' if left else ''}{left}"
        )


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def train_line(request: TuneConfig, best: TrialResult) -> str:
    """Return the command line, as text, for a full training with the settings of the best trial.

    request: the configuration of the search. best: the best trial.
    """
    from kibitz.systems import DEFAULT, find_recipe

    tuned = {request.named(name): value for name, value in best.settings.items()}
    # The command uses the system's default recipe; settings that differ from it are written out
    usual = replace(type(request.settings)(), **find_recipe(request.system, DEFAULT).settings)
    others = {
        f.name: getattr(request.settings, f.name)
        for f in fields(request.settings)
        if f.name not in tuned and getattr(request.settings, f.name) != getattr(usual, f.name)
    }
    words = ["kibitz", "train", request.system, request.store]
    for name, value in {**tuned, **others}.items():
        option = name.replace("_", "-")
        words += [f"--{'' if value else 'no-'}{option}"] if isinstance(value, bool) else [f"--{option}", str(value)]
    if request.plan.seed:
        words += ["--seed", str(request.plan.seed)]
    if request.plan.precision != "auto":
        words += ["--precision", next(name for name, value in PRECISIONS.items() if value == request.plan.precision)]
    return shlex.join(words)


def _report(request: TuneConfig, result: TuneResult, out: Path, folder: Path, as_json: bool) -> None:
    import json

    line = train_line(request, result.best) if result.best else None
    left = request.total - sum(trial.state != "begun" for trial in result.trials)
    if as_json:
        rows = [{**asdict(trial), "path": str(trial.path)} for trial in result.trials]
        best = result.best and {**asdict(result.best), "path": str(result.best.path)}
        print(json.dumps({
            "study": str(out), "ended": result.reason, "left": max(0, left), "trials": rows, "best": best, "next": line,
        }))  # fmt: skip
    else:
        _print_trials(result)
        if result.best:
            print(f"best: trial {result.best.number} ({result.best.path})")
        if left > 0:
            rest = f"{left} of {number_of(request.total, 'trial')} left"
            print(f"{result.reason} with {rest}. Run the same command again to resume ({out}).")
        if line:
            print(f"next: {line}")
    if result.reason == "stopped":
        raise typer.Exit(130)
    if result.best is None and left <= 0:
        raise KibitzError(f"every trial diverged ({out}). Use smaller --learning-rates and another --out.")


def _print_trials(result: TuneResult) -> None:
    """Print a table of the trials, the best trial first. Trials that were not completed follow."""
    if not result.trials:
        return
    settings = list(result.trials[0].settings)
    measures = list(dict.fromkeys(name for trial in result.trials for name in trial.figures if name != "iteration"))
    order: Callable[[TrialResult], Any] = lambda trial: (  # noqa: E731
        trial.state != "done", result.value(trial), trial.number
    )  # fmt: skip
    rows: list[Sequence[str]] = []
    for trial in sorted(result.trials, key=order):
        figures = [f"{trial.figures[name]:.4f}" if name in trial.figures else "–" for name in measures]
        state = f"pruned at {trial.iteration:,}" if trial.state == "pruned" else trial.state
        rows.append([str(trial.number), *(_text(trial.settings[name]) for name in settings), *figures, state])
    headings = ["trial", *(name.replace("_", " ") for name in settings), *(f"validation {name}" for name in measures)]
    right = [i for i, heading in enumerate(headings) if heading != "initial"]
    print_table("", [*headings, "state"], rows, right)
