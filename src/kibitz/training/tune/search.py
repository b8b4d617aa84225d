"""Search for learning rate, weight decay and initial weights by short trainings that share all other settings.

A trial is an ordinary run, in a folder beside the study's file, so that an interrupted one resumes from its checkpoint.
Trials are numbered from 1. The settings of a trial follow from the seed, and, if they are sampled, from the results of
the trials before it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz.errors import KibitzError, UsageError
from kibitz.runs import CHECKPOINTS, INFO, SEEN, WEIGHTS, Run
from kibitz.store.split import VALIDATE
from kibitz.systems import load
from kibitz.training.fit import prepare_data, train
from kibitz.training.trainer import Diverged, TrainProgress
from kibitz.training.tune.space import SEARCHED, TuneConfig, of_grid, sampled
from kibitz.training.tune.study import opened

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

N_VALIDATIONS = 10
"""Validations of a trial."""
BEFORE_PRUNING = 5
"""Number of finished trials before another one may be pruned."""


@dataclass(frozen=True)
class TrialResult:
    """A trial.

    number: from 1; settings: the values that are searched; state: done, pruned, diverged, or begun if it has not ended;
    iteration: the last one; figures: the measures of its best validation.
    """

    number: int
    settings: dict[str, Any]
    state: str
    iteration: int
    figures: dict[str, float]
    path: Path


@dataclass(frozen=True)
class TuneResult:
    """The result of a search.

    reason: all trials done, stopped, or time limit; monitor: the measure by which they are compared; lower is better.
    """

    trials: list[TrialResult]
    best: TrialResult | None
    reason: str
    monitor: str


@dataclass(frozen=True)
class Step:
    """Progress: the trial's number, how many trials have ended, and the progress of its training."""

    number: int
    ended: int
    progress: TrainProgress


class TrialPruned(Exception):
    """Raised to end a trial that is worse than the median of those before it."""


def folder_of(out: Path) -> Path:
    """The folder of a study's trials, beside its file."""
    return out.with_suffix("") if out.suffix else out.with_name(out.name + "-trials")


def search(
    config: TuneConfig,
    out: Path,
    on_progress: Callable[[Step], None] = lambda step: None,
    on_end: Callable[[TrialResult], None] = lambda tried: None,
    log: Callable[[str], None] = lambda line: None,
) -> TuneResult:
    """Run all trials that are not finished in the file `out`. Ctrl-C and the time limit stop the search.

    on_progress: called after each iteration of a trial; on_end: after each trial; log: with each message.
    Raises KibitzError or UsageError if the store has nothing to learn from, the settings make no network, or the file
    is of another search.
    """
    began = time.monotonic()
    system = load(config.system)
    for name, values in zip(
        SEARCHED, (config.grid.learning_rates, config.grid.weight_decays, config.grid.initials), strict=True
    ):
        for value in values:
            system.check(config.at({name: value}))
    data = prepare_data(system, config.base, config.store)
    if not len(data.games[VALIDATE]):
        raise KibitzError(
            f"{config.store}: no game is for validation, by which trials are compared "
            f"({data.description['split_in_words']}); import with a larger --validate-share"
        )
    stages = system.stages(system.network(config.base), config.base)
    if len(stages) != 1:
        names = ", ".join(stage.name for stage in stages)
        raise UsageError(f"--network {config.network}: a search trains one network, not {names}")
    with opened(out, config.fingerprint(data.description)) as study:
        return _Trials(config, study, folder_of(out), stages[0].monitor, began, on_progress, on_end, log).run()


class _Trials:
    """The trials of an open study.

    In Optuna's terms, "done" is complete; "pruned" and "diverged" are pruned. An interrupted trial is running until the
    next call marks it as failed, and its number is tried again.
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

    def run(self) -> TuneResult:
        for trial in self.study.get_trials(deepcopy=False, states=(self.states.RUNNING,)):
            self.study.tell(trial.number, state=self.states.FAIL)
        reason = "all trials done"
        try:
            self._tidy()
            while (left := self._left()) and reason == "all trials done":
                reason = self._try(left[0])
                self._tidy()
        except KeyboardInterrupt:  # between two trainings
            reason = "stopped"
        tried = [self._tried(trial) for trial in self._trials(begun=True)]
        return TuneResult(sorted(tried, key=lambda trial: trial.number), self._best(), reason, self.monitor)

    # Reading the study

    def _trials(self, begun: bool = False) -> list[FrozenTrial]:
        """The trials that have ended; with `begun` also the one that has not."""
        states = (self.states.COMPLETE, self.states.PRUNED) + ((self.states.RUNNING,) if begun else ())
        trials = self.study.get_trials(deepcopy=False, states=states)
        return [trial for trial in trials if "settings" in trial.user_attrs]

    def _left(self) -> list[int]:
        """The numbers of the trials that have not ended."""
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
        return min(done, key=lambda trial: (trial.figures[self.monitor], trial.number), default=None)

    def _path(self, number: int) -> Path:
        return self.folder / f"trial-{number:03d}"

    # One trial

    def _try(self, number: int) -> str:
        """Run one trial. Returns "all trials done" if the search can continue with the next one, else why not."""
        config, path = self.config, self._path(number)
        seconds = config.plan.time_limit
        if seconds is not None and (seconds := seconds - (time.monotonic() - self.began)) <= 0:
            return "time limit"
        trial = self._ask(number)
        point = trial.user_attrs["settings"]
        if path.exists() and not (path / INFO).is_file():  # killed before it began
            shutil.rmtree(path)
        interval = max(1, config.iterations // N_VALIDATIONS)
        plan = replace(
            config.plan,
            summary_every=interval,
            validate_every=interval,
            checkpoint_every=2 * interval,
            patience=0,
            time_limit=seconds,
        )
        watch = _PruningWatch(self, trial, number, path)
        try:
            done = train(
                config.system,
                config.at(point),
                config.store,
                run=path,
                plan=plan,
                export=False,
                on_progress=watch.on_progress,
                log=self.log,
            )
            watch.recall(config.iterations + 1)
        except Diverged:
            self._end(trial, number, "diverged", watch)
        except TrialPruned:
            self._end(trial, number, "pruned", watch)
        else:
            if not done.outcome.finished:
                return done.outcome.reason
            if self.monitor not in done.outcome.best:
                raise KibitzError(
                    f"{config.store}: {config.network or config.system} has no example for validation, by which trials"
                    " are compared; import more games, or with a larger --validate-share"
                )
            watch.iteration, watch.figures = done.outcome.iteration, dict(done.outcome.best)
            self._end(trial, number, "done", watch)
        return "all trials done"

    def _ask(self, number: int) -> Trial:
        """Start the trial of that number, with the grid's settings, those of an interrupted trial, or sampled ones."""
        from optuna.samplers import RandomSampler, TPESampler

        free = self.config.trials is not None
        self.study.sampler = (
            TPESampler(seed=(self.config.plan.seed + 0x9E3779B1 * number) % 2**32) if free else RandomSampler(seed=0)
        )
        fixed: dict[str, Any] = {} if free else self.points[number - 1]
        for earlier in self.study.get_trials(deepcopy=False, states=(self.states.FAIL,)) if free else []:
            if earlier.user_attrs.get("number") == number:
                fixed = earlier.params
        if not self.study.get_trials(deepcopy=False, states=(self.states.WAITING,)):  # else killed just after this
            self.study.enqueue_trial(fixed, user_attrs={"number": number})
        trial = self.study.ask()
        trial.set_user_attr("settings", (sampled if free else of_grid)(trial, self.config.grid))
        return trial

    def _end(self, trial: Trial, number: int, how: str, watch: _PruningWatch) -> None:
        trial.set_user_attr("ended", how)
        trial.set_user_attr("iteration", watch.iteration)
        trial.set_user_attr("figures", {} if how == "diverged" else watch.figures)
        if how == "done":
            ended = self.study.tell(trial, watch.figures[self.monitor])
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
    """Reports the progress of a trial, and its validations to Optuna, which may prune it."""

    def __init__(self, trials: _Trials, trial: Trial, number: int, path: Path):
        self.trials, self.trial, self.number, self.path = trials, trial, number, path
        self.ended = len(trials._trials())
        self.iteration = 0
        self.figures: dict[str, float] = {}
        self._recalled = False

    def recall(self, before: int) -> None:
        """Report, once, the validations of an earlier call before that iteration."""
        if not self._recalled:
            self._recalled = True
            for row in Run(self.path).metrics():
                if row["kind"] == "validation" and row["iteration"] < before:
                    no_measures = ("kind", "stage", "iteration", "samples", "n")
                    self._report(row["iteration"], {k: v for k, v in row.items() if k not in no_measures})

    def _report(self, iteration: int, figures: dict[str, float]) -> None:
        monitor = self.trials.monitor
        self.trial.report(figures[monitor], iteration)
        if not self.figures or figures[monitor] < self.figures[monitor]:
            self.figures = {**figures, "iteration": iteration}

    def on_progress(self, progress: TrainProgress) -> None:
        self.recall(progress.iteration)
        self.iteration = progress.iteration
        self.trials.on_progress(Step(self.number, self.ended, progress))
        if progress.validation is not None:
            self._report(progress.iteration, dict(progress.validation))
            if self.trials.config.prune and progress.iteration < progress.iterations and self.trial.should_prune():
                raise TrialPruned
