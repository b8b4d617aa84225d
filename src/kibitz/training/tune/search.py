"""Search for learning rate, weight decay and initial weights with short trainings that share all other settings. Each
training is a trial.

A trial is an ordinary run, in a folder next to the study's file, so an interrupted trial resumes from its checkpoint.
Trials are numbered from 1. The settings of a trial depend on the seed. If they are sampled, they also depend on the
results of the earlier trials.
"""

from __future__ import annotations

import contextlib
import functools
import math
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz.errors import KibitzError, UsageError
from kibitz.parallel import Backend, map_ordered
from kibitz.runs import CHECKPOINTS, INFO, SEEN, WEIGHTS, Run
from kibitz.store.split import VALIDATE
from kibitz.systems import load
from kibitz.systems.base import monitor_value
from kibitz.training.fit import TrainResult, prepare_data, train
from kibitz.training.trainer import TIME_LIMIT, Diverged, TrainConfig, TrainProgress
from kibitz.training.tune.space import TuneConfig, of_grid, sampled
from kibitz.training.tune.study import opened

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

N_VALIDATIONS = 10
"""Number of validations in a trial."""
BEFORE_PRUNING = 5
"""The number of trials that must be finished before a trial may be ended early because of its bad results (pruned)."""
ALL_DONE = "all trials done"


@dataclass(frozen=True)
class TrialResult:
    """A trial of a hyperparameter search, which is one training run.

    number: the trial's number, from 1.
    settings: a dict from the name of each hyperparameter to its value in this trial.
    state: "done", "pruned", "diverged", or "begun" if the trial has not ended.
    iteration: the last completed iteration.
    figures: the metrics of the trial's best validation, as a dict from names to values.
    path: the directory of the training run.
    """

    number: int
    settings: dict[str, Any]
    state: str
    iteration: int
    figures: dict[str, float]
    path: Path


@dataclass(frozen=True)
class TuneResult:
    """The result of a hyperparameter search. Each trial is one training.

    trials: the trials so far. best: the best trial; None if no trial is done. reason: why the search ended: ALL_DONE,
    TIME_LIMIT, or "stopped" after Ctrl-C. monitor: the metric by which trials are compared (see `systems.base.Stage`).
    """

    trials: list[TrialResult]
    best: TrialResult | None
    reason: str
    monitor: str

    def value(self, trial: TrialResult) -> float:
        """Return the number by which trials are compared, from the trial's best validation; lower is better. It is
        infinite if the trial has no metrics.
        """
        return monitor_value(self.monitor, trial.figures) if self.monitor in trial.figures else math.inf


@dataclass(frozen=True)
class Step:
    """The progress of a hyperparameter search. number: the number of the current trial. ended: the number of trials
    that have ended. progress: the progress of the current trial.
    """

    number: int
    ended: int
    progress: TrainProgress


class TrialPruned(Exception):
    """Raised to end a trial (one training of the search) early, because its validation is worse than the median of the
    earlier trials.
    """


def folder_of(out: Path) -> Path:
    """Return the folder for the training runs of a search. out: the file of the search, which is in the same parent
    folder.
    """
    if out.suffix == ".journal":
        return out.with_suffix("")
    folder = out.with_name(out.name + "-trials")
    # Earlier versions removed the extension of the file name, so that rate-0.1 and rate-0.2 had the same folder. Such a
    # folder is used if it exists.
    earlier = out.with_suffix("")
    return earlier if out.suffix and out.exists() and earlier.is_dir() and not folder.exists() else folder


def search(
    config: TuneConfig,
    out: Path,
    on_progress: Callable[[Step], None] = lambda step: None,
    on_end: Callable[[TrialResult], None] = lambda tried: None,
    log: Callable[[str], None] = lambda line: None,
    backend: Backend | None = None,
) -> TuneResult:
    """Run a hyperparameter search: train all trials that are not finished yet. Ctrl-C and the time limit stop the
    search.

    config: the definition of the search.
    out: the file with the state of the search. If it exists, the search is resumed.
    on_progress: a function that is called after each iteration of a trial.
    on_end: a function that is called after each trial.
    log: a function that is called with each message for the user.
    backend: the workers that train the trials; None to train them one after another in this process.

    The results are the same with and without workers. Workers train each trial to its last iteration and don't call
    `on_progress`. This process then determines when the trial would have been ended early, and ignores later
    validations.

    Raises KibitzError or UsageError if the store has no training games, if no network can be trained with the settings,
    or if the file belongs to another search.
    """
    began = time.monotonic()
    if backend and config.trials is not None:
        raise UsageError(
            "--trials cannot run in parallel: each trial depends on the earlier ones. Leave out --workers and --ray,"
            " or leave out --trials."
        )
    system = load(config.system)
    for name, values in config.grid.values.items():
        for value in values:
            system.check(config.at({name: value}))
    data = prepare_data(system, config.base, config.store)
    if not len(data.games[VALIDATE]):
        raise KibitzError(
            f"{config.store} has no validation games ({data.description['split_in_words']}). Import with a larger"
            " --validate-share."
        )
    stages = system.stages(system.network(config.base), config.base)
    if len(stages) != 1:
        names = ", ".join(stage.name for stage in stages)
        raise UsageError(f"--network must be one network (got {config.network}, which is {names})")
    with opened(out, config.fingerprint(data.description, stages[0].monitor)) as study:
        trials = _Trials(config, study, folder_of(out), stages[0].monitor, began, on_progress, on_end, log)
        return trials.run(backend)


class _Trials:
    """The trials of an open study.

    The state "done" is Optuna's state COMPLETE; "pruned" and "diverged" are PRUNED. An interrupted trial has the state
    RUNNING until the next call marks it as FAIL and tries its number again.
    """

    def __init__(
        self,
        config: TuneConfig,
        study: Study,
        folder: Path,
        monitor: str,
        began: float,
        on_progress: Callable[[Step], None],
        on_end: Callable[[TrialResult], None],
        log: Callable[[str], None],
    ):
        from optuna.pruners import MedianPruner
        from optuna.trial import TrialState

        self.config, self.study, self.folder, self.monitor, self.began = config, study, folder, monitor, began
        self.on_progress, self.on_end, self.log = on_progress, on_end, log
        self.states = TrialState
        self.points = config.grid.points(config.plan.seed)
        self.study.pruner = MedianPruner(n_startup_trials=BEFORE_PRUNING, n_warmup_steps=config.iterations // 3)

    def run(self, backend: Backend | None = None) -> TuneResult:
        for trial in self.study.get_trials(deepcopy=False, states=(self.states.RUNNING,)):
            self.study.tell(trial.number, state=self.states.FAIL)
        # the program was killed before these trials were started
        while self.study.get_trials(deepcopy=False, states=(self.states.WAITING,)):
            self.study.tell(self.study.ask(), state=self.states.FAIL)
        reason = ALL_DONE
        try:
            self._tidy()
            if backend:
                reason = self._run_apart(backend)
            while (left := self._left()) and reason == ALL_DONE:
                reason = self._try(left[0])
                self._tidy()
        except KeyboardInterrupt:  # Ctrl-C between two training runs
            reason = "stopped"
        tried = [self._tried(trial) for trial in self._trials(begun=True)]
        return TuneResult(sorted(tried, key=lambda trial: trial.number), self._best(), reason, self.monitor)

    # Reading the study

    def _trials(self, begun: bool = False) -> list[FrozenTrial]:
        """Return the trials that have ended. begun: whether to include the trial that has not ended."""
        states = (self.states.COMPLETE, self.states.PRUNED) + ((self.states.RUNNING,) if begun else ())
        trials = self.study.get_trials(deepcopy=False, states=states)
        return [trial for trial in trials if "settings" in trial.user_attrs]

    def _left(self) -> list[int]:
        """Return the numbers of the trials that have not ended."""
        ended = {trial.user_attrs["number"] for trial in self._trials()}
        return [number for number in range(1, self.config.total + 1) if number not in ended]

    def _tried(self, trial: FrozenTrial) -> TrialResult:
        values = trial.user_attrs
        number = values["number"]
        return TrialResult(
            number, values["settings"], values.get("ended", "begun"), values.get("iteration", 0),
            values.get("figures", {}), self._path(number),
        )  # fmt: skip

    def _best(self) -> TrialResult | None:
        done = [trial for trial in map(self._tried, self._trials()) if trial.state == "done"]
        return min(done, key=lambda trial: (monitor_value(self.monitor, trial.figures), trial.number), default=None)

    def _path(self, number: int) -> Path:
        return self.folder / f"trial-{number:03d}"

    # One trial

    def _try(self, number: int) -> str:
        """Run one trial. Returns ALL_DONE if the search can continue with the next trial, else the reason to stop."""
        plan = _plan(self.config, self.began)
        if plan is None:
            return TIME_LIMIT
        trial, path = self._new_trial(number), self._path(number)
        watch = _PruningWatch(self, trial, number, path)
        try:
            done = _train(self.config, plan, path, trial.user_attrs["settings"], watch.on_progress, self.log)
            watch.recall(self.config.iterations + 1)
        except Diverged:
            self._end(trial, number, "diverged", watch)
        except TrialPruned:
            self._end(trial, number, "pruned", watch)
        else:
            if not done.outcome.finished:
                return done.outcome.reason
            self._finish(trial, number, dict(done.outcome.best), done.outcome.iteration, watch)
        return ALL_DONE

    def _finish(self, trial: Trial, number: int, best: dict[str, float], iteration: int, watch: _PruningWatch) -> None:
        """Record the end of a trial whose training is complete. Raises KibitzError if nothing was measured."""
        if self.monitor not in best:
            raise KibitzError(
                f"{self.config.store} has no validation example for {self.config.network or self.config.system}."
                " Import more games, or use a larger --validate-share."
            )
        watch.iteration, watch.figures = iteration, best
        self._end(trial, number, "done", watch)

    # Trials by workers

    def _run_apart(self, backend: Backend) -> str:
        """Let workers train the grid's unfinished trials; return ALL_DONE, or the reason why they stopped.

        Trials are compared in the order of their numbers, each with the trials before it, as in one process.
        """
        trials: dict[int, Trial] = {}

        def errands() -> Iterator[_Errand]:
            for number in self._left():
                trial = trials[number] = self._new_trial(number)
                yield _Errand(number, self._path(number).resolve(), trial.user_attrs["settings"])

        reason = ALL_DONE
        config = replace(self.config, store=str(Path(self.config.store).resolve()))
        work = functools.partial(_train_apart, config, time.time() - (time.monotonic() - self.began))
        with contextlib.closing(map_ordered(work, errands(), backend)) as trained:
            for one in trained:
                if reason == ALL_DONE:
                    reason = self._compare(trials[one.number], one)
                    self._tidy()
        return reason

    def _compare(self, trial: Trial, one: _Trained) -> str:
        """Record the result of a worker's trial. Returns ALL_DONE, or the reason why the trial was stopped."""
        for line in one.log:
            self.log(line)
        watch = _PruningWatch(self, trial, one.number, self._path(one.number))
        if one.reason == TIME_LIMIT:
            return TIME_LIMIT
        try:
            watch.replay(one)
        except TrialPruned:
            self._end(trial, one.number, "pruned", watch)
            return ALL_DONE
        if one.diverged_at is not None:
            watch.iteration = one.diverged_at
            self._end(trial, one.number, "diverged", watch)
        elif one.reason:
            return one.reason
        else:
            self._finish(trial, one.number, one.best, one.iteration, watch)
        return ALL_DONE

    def _new_trial(self, number: int) -> Trial:
        """Start the trial with this number. Its settings are those of the grid, of an interrupted trial, or sampled."""
        from optuna.samplers import RandomSampler, TPESampler

        free = self.config.trials is not None
        self.study.sampler = (
            TPESampler(seed=(self.config.plan.seed + 0x9E3779B1 * number) % 2**32) if free else RandomSampler(seed=0)
        )
        fixed: dict[str, Any] = {} if free else self.points[number - 1]
        for earlier in self.study.get_trials(deepcopy=False, states=(self.states.FAIL,)) if free else []:
            if earlier.user_attrs.get("number") == number and earlier.params:
                fixed = earlier.params
        self.study.enqueue_trial(fixed, user_attrs={"number": number})
        trial = self.study.ask()
        trial.set_user_attr("settings", (sampled if free else of_grid)(trial, self.config.grid))
        return trial

    def _end(self, trial: Trial, number: int, how: str, watch: _PruningWatch) -> None:
        trial.set_user_attr("ended", how)
        trial.set_user_attr("iteration", watch.iteration)
        trial.set_user_attr("figures", {} if how == "diverged" else watch.figures)
        if how == "done":
            ended = self.study.tell(trial, monitor_value(self.monitor, watch.figures))
        else:
            ended = self.study.tell(trial, state=self.states.PRUNED)
        self.on_end(self._tried(ended))

    def _tidy(self) -> None:
        """Remove the files of ended trials, except run.json, the metrics, and the weights of the best trial."""
        best = self._best()
        for trial in map(self._tried, self._trials()):
            shutil.rmtree(trial.path / CHECKPOINTS, ignore_errors=True)
            (trial.path / "last.pt").unlink(missing_ok=True)
            if best is None or trial.number != best.number:
                for name in (WEIGHTS, SEEN):
                    (trial.path / name).unlink(missing_ok=True)


class _PruningWatch:
    """Reports the progress of a trial to the caller, and its validations to Optuna, which may prune the trial."""

    def __init__(self, trials: _Trials, trial: Trial, number: int, path: Path):
        self.trials, self.trial, self.number, self.path = trials, trial, number, path
        self.ended = len(trials._trials())
        self.iteration = 0
        self.figures: dict[str, float] = {}
        self._recalled = False

    def recall(self, before: int) -> None:
        """Report to Optuna the validations of this trial that an earlier, interrupted call of `search` made. before:
        only validations before this iteration are reported. A second call of `recall` has no effect.
        """
        if not self._recalled:
            self._recalled = True
            for iteration, figures in _validations(self.path):
                if iteration < before:
                    self._report(iteration, figures)

    def replay(self, one: _Trained) -> None:
        """Report to Optuna the validations of a trial that a worker has trained. Optuna decides whether the trial is
        pruned.

        Raises TrialPruned at the validation at which a search in one process would have stopped the trial.
        """
        self._recalled = True
        whole = not one.reason and one.diverged_at is None
        # With few positions, a trial may end before its number of iterations.
        last = one.iteration if whole else self.trials.config.iterations
        for iteration, figures in _validations(self.path):
            if one.diverged_at is not None and iteration > one.diverged_at:
                return
            self.iteration = iteration
            self._report(iteration, figures)
            if self.trials.config.prune and iteration < last and self.trial.should_prune():
                raise TrialPruned

    def _report(self, iteration: int, figures: dict[str, float]) -> None:
        value = monitor_value(self.trials.monitor, figures)
        self.trial.report(value, iteration)
        if not self.figures or value < monitor_value(self.trials.monitor, self.figures):
            self.figures = {**figures, "iteration": iteration}

    def on_progress(self, progress: TrainProgress) -> None:
        self.recall(progress.iteration)
        self.iteration = progress.iteration
        self.trials.on_progress(Step(self.number, self.ended, progress))
        if progress.validation is not None:
            self._report(progress.iteration, dict(progress.validation))
            if self.trials.config.prune and progress.iteration < progress.iterations and self.trial.should_prune():
                raise TrialPruned


def _validations(path: Path) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield the validations of a run so far, as pairs of iteration and measures."""
    no_measures = ("kind", "stage", "iteration", "samples", "n")
    for row in Run(path).metrics():
        if row["kind"] == "validation":
            yield row["iteration"], {name: value for name, value in row.items() if name not in no_measures}


def _plan(config: TuneConfig, began: float, now: Callable[[], float] = time.monotonic) -> TrainConfig | None:
    """Return the plan of a trial that starts now; None if the search has no time left. began: the search's start by the
    clock `now`.
    """
    seconds = config.plan.time_limit
    if seconds is not None and (seconds := seconds - (now() - began)) <= 0:
        return None
    interval = max(1, config.iterations // N_VALIDATIONS)
    return replace(
        config.plan,
        summary_every=interval,
        validate_every=interval,
        checkpoint_every=2 * interval,
        patience=0,
        time_limit=seconds,
    )


def _train(
    config: TuneConfig,
    plan: TrainConfig,
    path: Path,
    point: dict[str, Any],
    on_progress: Callable[[TrainProgress], None],
    log: Callable[[str], None],
) -> TrainResult:
    """Train a trial, or resume it. Raises Diverged, and the exceptions of `on_progress`."""
    if path.exists() and not (path / INFO).is_file():  # the program was killed before this trial started
        shutil.rmtree(path)
    return train(
        config.system, config.at(point), config.store, run=path, plan=plan, export=False, on_progress=on_progress,
        log=log,
    )  # fmt: skip


@dataclass(frozen=True)
class _Errand:
    """A trial for a worker: its number, its folder and its settings."""

    number: int
    path: Path
    point: dict[str, Any]


@dataclass
class _Trained:
    """The result of a worker's trial. reason: why the trial was not finished. best: the measures of its best
    validation.
    """

    number: int
    reason: str = ""
    iteration: int = 0
    diverged_at: int | None = None
    best: dict[str, float] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)


def _train_apart(config: TuneConfig, began: float, errand: _Errand) -> _Trained:
    """Train one trial in a worker. began: start of the search by the wall clock, which other processes share."""
    plan, came_to = _plan(config, began, time.time), _Trained(errand.number)
    if plan is None:
        came_to.reason = TIME_LIMIT
        return came_to

    def note(progress: TrainProgress) -> None:
        came_to.iteration = progress.iteration

    try:
        done = _train(config, plan, errand.path, errand.point, note, came_to.log.append)
    except Diverged:
        came_to.diverged_at = came_to.iteration
        return came_to
    came_to.iteration, came_to.best = done.outcome.iteration, dict(done.outcome.best)
    came_to.reason = "" if done.outcome.finished else done.outcome.reason
    return came_to
