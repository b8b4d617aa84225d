"""Train a network from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz.api.checks import check_number, check_whole, name_arguments, plain
from kibitz.errors import UsageError
from kibitz.messages import did_you_mean, not_one_of
from kibitz.systems.spelling import AUTO

if TYPE_CHECKING:
    from kibitz.api.networks import TrainedNetwork
    from kibitz.training.trainer import TrainConfig, TrainProgress

PRECISIONS = {"auto": "auto", "float32": "32-true", "bf16": "bf16-mixed"}
COMPILE = ("auto", "on", "off")


@dataclass(frozen=True)
class TrainingProgress:
    """The progress of training. `train` passes it to the function `on_progress` after each iteration, each validation
    and each summary. A summary is a regular report of loss and speed.

    stage: the name of the part of the network that is being trained.
    iteration: the current iteration, from 1.
    iterations: the number of iterations of this stage.
    loss: the mean training loss since the last summary; None between summaries.
    samples_per_second: the speed of training; None between summaries.
    validation: after a validation, a dict from the names of metrics to their means; else None.
    note: a message to the user, or "".

    >>> import kibitz
    >>> progress = kibitz.TrainingProgress("winner", 20, 100, loss=0.69)
    >>> f"{progress.iteration / progress.iterations:.0%}, loss {progress.loss}"
    '20%, loss 0.69'
    """

    stage: str
    iteration: int
    iterations: int
    loss: float | None = None
    samples_per_second: float | None = None
    validation: Mapping[str, float] | None = None
    note: str = ""


@dataclass(frozen=True)
class TrainingRun:
    """The result of `train`: a run, which is the folder of a trained network with its logs.

    path: the run's folder.
    finished: False if training was stopped and can be resumed.
    reason: why training ended, as text.
    iteration: the number of the last iteration in the last stage. A stage is a part of the training; some networks are
        trained in several stages.
    best: the metrics of the best validation in the last stage, and the "iteration" of this validation; {} if there was
        no validation.
    continued: whether this call resumed a run that an earlier call began.

    >>> import kibitz
    >>> small = dict(layers="16conv4x4.pool2x2.ip8", iterations=20, batch=64)
    >>> run = kibitz.train("winner", "my.store", run="runs/doctest", **small)
    >>> run.finished, run.iteration, str(run.path)
    (True, 20, 'runs/doctest')
    >>> rows = run.metrics()
    >>> rows[0]["kind"], rows[0]["stage"]
    ('summary', 'winner')
    """

    path: Path
    finished: bool
    reason: str
    iteration: int
    best: Mapping[str, float]
    continued: bool = False

    def metrics(self) -> list[dict[str, Any]]:
        """Return the records of training as dicts, in order: one for each summary, validation and warning. They are the
        lines of the file metrics.jsonl in the run's folder.
        """
        from kibitz.runs import Run

        return Run(self.path).metrics()

    def load_network(self) -> TrainedNetwork:
        """Return the network with the weights that had the best validation. Raises KibitzError if there was no
        validation yet.
        """
        from kibitz.api.networks import load_network

        return load_network(self.path)


def _ignore(progress: TrainingProgress) -> None:
    """Do nothing; the default callback."""


@dataclass(frozen=True)
class TrainingOptions:
    """Options of the training loop; `train` takes them as keywords.

    time_limit: the time for this call in minutes; None for no limit.
    seed: the random seed, 0 or more.
    validate_every: the number of iterations between two validations.
    summary_every: the number of iterations between two summaries. A summary is a report of loss and speed.
    validate_positions: the number of positions in one validation.
    patience: the number of validations without improvement after which training stops; 0 for never.
    average: the length of the moving average of the weights, in iterations; 0 for no average. The averaged weights are
        validated and saved.
    precision: "auto", "float32" or "bf16".
    device: "auto", "cpu" or "cuda".
    compile: whether torch compiles the training steps: "on", "off", or "auto" for compilation on a GPU if torch
        supports it.

    If an option is None, the value in the recipe applies. If the recipe has no value either, validate_every,
    summary_every and validate_positions are computed from the number of iterations. The other defaults are a patience
    of 20, no average, the precision "auto", and no compilation.

    >>> import kibitz
    >>> kibitz.TrainingOptions(time_limit=30).seed
    0
    """

    time_limit: float | None = None
    seed: int = 0
    validate_every: int | None = None
    summary_every: int | None = None
    validate_positions: int | None = None
    patience: int | None = None
    average: int | None = None
    precision: str | None = None
    device: str = "auto"
    compile: str | None = None

    def check(self) -> None:
        """Raise UsageError for the first option whose value is out of range. The message names the option."""
        _check_device(self.device)
        if self.precision is not None and self.precision not in PRECISIONS:
            raise UsageError(not_one_of("precision", self.precision, PRECISIONS))
        if self.compile not in (None, *COMPILE):
            raise UsageError(not_one_of("compile", self.compile, COMPILE))
        if self.time_limit is not None:
            check_number("time_limit (minutes)", self.time_limit, above=0)
        check_whole("seed", self.seed, 0, 2**31 - 1)
        for name, least in (
            ("validate_every", 1),
            ("summary_every", 1),
            ("validate_positions", 1),
            ("patience", 0),
            ("average", 0),
        ):
            if (value := getattr(self, name)) is not None:
                check_whole(name, value, least)

    def config(self, recipe: Mapping[str, Any]) -> TrainConfig:
        """Return the configuration of the training loop. recipe: a dict from the names of settings to their values in a
        recipe, which is a named set of settings. Options that are not None replace these values.
        """
        from kibitz.training.trainer import TrainConfig

        values = {**asdict(self), "precision": PRECISIONS[self.precision] if self.precision else None}
        given = {name: value for name, value in values.items() if value is not None}
        if self.time_limit is not None:
            given["time_limit"] = self.time_limit * 60
        return TrainConfig(**{**recipe, **given})


def _keywords(system: str, *_: object, **__: object) -> list[str]:
    """Return the names of all keywords of `train` for a system. Raises UsageError for an unknown system."""
    from kibitz.systems import load

    return [field.name for kind in (TrainingOptions, load(system).settings_type) for field in fields(kind)]


@name_arguments(_keywords)
def train(
    system: str,
    store: str | Path,
    *,
    run: str | Path | None = None,
    recipe: str | None = None,
    start_from: str | Path | None = None,
    on_progress: Callable[[TrainingProgress], object] = _ignore,
    export: bool = True,
    **settings: Any,
) -> TrainingRun:
    """Train a system (a kind of network) on a store, or resume training that was stopped. Needs PyTorch.

    system: the name of a system, see `list_systems`.
    store: the folder of the store, kibitz's compact game database.
    run: the folder of the result. If None, kibitz uses the run in runs/ with the same settings, games and seed. If
        runs/ has no such run, kibitz makes a new run there.
    recipe: a named set of settings, such as "default", "long" or "paper". `kibitz systems SYSTEM` lists them.
    start_from: a run or bundled network for the initial weights. If it has the same system, its settings also apply.
    on_progress: a function that is called after every iteration, summary and validation, in the thread that trains. If
        it returns True, training stops as with Ctrl-C: the run is saved, and the same call resumes it. An exception in
        this function ends training, and `train` raises it.
    export: whether to write model.onnx, which makes the network usable without PyTorch.
    settings: fields of `TrainingOptions`, and settings of the system. They replace the values in the recipe.

    Raises KibitzError if PyTorch is not installed, the store has no training games, or the loss becomes NaN or
    infinite. Raises UsageError for unknown systems, recipes and settings, for values out of range, and for a `run` with
    another system, settings, games or seed.

    >>> import kibitz
    >>> def report(progress):
    ...     if progress.validation:
    ...         print(progress.stage, progress.iteration, sorted(progress.validation))
    ...     return progress.iteration == 20
    >>> small = dict(layers="16conv4x4.pool2x2.ip8", iterations=40, batch=64)
    >>> run = kibitz.train("winner", "my.store", run="runs/stopped", on_progress=report, validate_every=10, **small)
    winner 10 ['accuracy', 'loss']
    winner 20 ['accuracy', 'loss']
    >>> run.finished, run.reason
    (False, 'stopped')
    >>> kibitz.train("winner", "my.store", run="runs/stopped", validate_every=10, **small).continued
    True
    >>> run.load_network().outputs
    ('white_wins',)
    """
    from kibitz.systems import DEFAULT, find_recipe, load

    chosen = load(system)
    of_loop = {each.name: plain(settings.pop(each.name)) for each in fields(TrainingOptions) if each.name in settings}
    options = TrainingOptions(**of_loop)
    options.check()
    named = recipe or DEFAULT

    from kibitz.training.fit import train as start
    from kibitz.training.trainer import FINISHED_BEFORE

    plan = options.config(find_recipe(system, named).training)

    def report(progress: TrainProgress) -> bool:
        values = {field.name: getattr(progress, field.name) for field in fields(TrainingProgress)}
        return on_progress(TrainingProgress(**values)) is True

    done = start(
        system, chosen.settings_type(**_settings(system, recipe, start_from, settings)), str(store),
        run=None if run is None else Path(run), plan=plan, start_from=None if start_from is None else str(start_from),
        recipe=named if recipe or start_from is None else "", command="kibitz.train (from Python)", on_progress=report,
        export=export,
    )  # fmt: skip
    from kibitz.report.curves import draw_curve

    outcome = done.outcome
    draw_curve(done.path, again=outcome.reason != FINISHED_BEFORE)
    return TrainingRun(
        done.path, outcome.finished, outcome.reason, outcome.iteration, dict(outcome.best), done.continued
    )


_TYPES: dict[type, Any] = {int: int, bool: bool, str: (str, int)}
"""The types that are accepted for a setting of each type. Numbers are accepted for texts, because chessnet's setting
`planes` is a name, and some of its names are numbers.
"""
_KINDS = {int: "a whole number", bool: "True or False", str: "a text"}


def _settings(
    system: str, recipe: str | None, start_from: str | Path | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings that differ from the system's defaults: those of the run to start from, of the recipe, and of
    the caller.
    """
    from kibitz.runs import Run
    from kibitz.systems import DEFAULT, find_recipe, load

    known = {field.name: type(field.default) for field in fields(load(system).settings_type)}
    if unknown := [name for name in given if name not in known]:
        raise UsageError(
            f"{system} has no setting {', '.join(unknown)}.{did_you_mean(unknown[0], known)} Its settings:"
            f" {', '.join(sorted(known))}."
        )
    given = {name: plain(value) for name, value in given.items()}
    for name, value in given.items():
        if name == "batch" and value == AUTO:
            continue
        if known[name] is float:
            check_number(name, value)
        elif not isinstance(value, _TYPES.get(known[name], object)) or (
            isinstance(value, bool) and known[name] is not bool
        ):
            raise UsageError(f"{name} must be {_KINDS[known[name]]} (got {value!r})")
    merged: dict[str, Any] = {}
    if start_from is not None:
        earlier = Run(start_from)
        if earlier.info["system"] == system:
            merged |= asdict(earlier.settings)
    if recipe or start_from is None:
        merged |= find_recipe(system, recipe or DEFAULT).settings
    return {**merged, **given}


def _check_device(device: str) -> None:
    """Raise UsageError for an unknown device."""
    if device not in ("auto", "cpu", "cuda"):
        raise UsageError(not_one_of("device", device, ("auto", "cpu", "cuda")))
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("device must be cpu or auto on this computer: PyTorch finds no GPU (got cuda)")
