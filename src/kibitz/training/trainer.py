"""The training loop, which is the same for all systems (kinds of networks).

All random choices in iteration i (its examples, the units that dropout zeroes) depend only on the seed and i. So a run
that was stopped at any moment can be resumed from its last checkpoint. On a CPU, it then has the same weights as a run
without a stop.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import pickle
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from kibitz.cores import cores
from kibitz.durable import write_whole
from kibitz.errors import KibitzError
from kibitz.nets.averaging import AveragedWeights
from kibitz.nets.batch_norm import averages
from kibitz.nets.dead_units import revive
from kibitz.nets.optim import move_optimiser
from kibitz.received import inflates
from kibitz.runs import CHECKPOINTS, ONNX, WEIGHTS
from kibitz.store.store import Store
from kibitz.systems.base import Examples, Loss, Stage, System
from kibitz.text import number_of
from kibitz.training.checkpoints import thin
from kibitz.training.compiled import OFF, ON, CannotCompile, compilation_errors, compiled, impossible, missing, wanted
from kibitz.training.dataloader import ahead, make_batch
from kibitz.training.health import HealthCheck, Symptom
from kibitz.training.profile import REPLAY, Profile
from kibitz.training.ranks import ALONE, Ranks
from kibitz.training.rounds import BestParts, TimeShares, next_stage

_VALIDATION_BATCH = 4096
_REVIVAL_BATCH = 256
GPU_THREADS = 12
"""The number of threads that make batches if the network trains on a GPU. On a CPU, one thread makes batches, because
the training needs the other cores.
"""
_VALIDATION_SEED = 1  # the same examples in the same order in every run


@dataclass(frozen=True)
class TrainConfig:
    """The options of the training loop: when to report, validate, save and stop. Intervals, such as `summary_every`,
    are in iterations. If an interval is None, it is proportional to the length of a stage (a part of the training).

    precision, device: the number format and the device; "auto" for the best ones of this machine.
    """

    summary_every: int | None = None
    validate_every: int | None = None
    """The number of iterations between two validations; None for `validations` validations in every stage."""
    checkpoint_every: int | None = None
    validate_positions: int | None = None
    """The number of positions in a validation. None for a number from 2,048 to 51,200 with which the validations take
    about a twentieth of the stage's time.
    """
    validations: int = 20
    patience: int = 20
    """A stage stops after this number of validations without improvement; 0 for no limit."""
    time_limit: float | None = None
    """After this number of seconds, the training saves a checkpoint and stops. None for no limit."""
    seed: int = 0
    precision: str = "auto"
    device: str = "auto"
    ranks: Ranks = ALONE
    """The processes that train together; by default only this one."""
    profile: bool = False
    """Whether to measure how much time each part of an iteration takes."""
    compile: str = OFF
    """Whether torch compiles the training steps: one of `compiled.WISHES`, such as "auto"."""
    average: int = 0
    """The number of iterations over which the weights are averaged (see `nets.averaging`); 0 for no averages.

    The averages are validated and saved, while training continues with the weights that are not averaged.
    """
    checkpoint_megabytes: float = 200.0
    """The limit for the total size of a run's checkpoints, in megabytes. The newest checkpoints are kept, and older
    checkpoints at even intervals.
    """

    def intervals(self, iterations: int, batch: int) -> Intervals:
        """Return the intervals for a stage (a part of the training). iterations: the length of the stage. batch: the
        number of examples per batch.
        """
        validation = self.validate_every or max(1, iterations // self.validations)
        return Intervals(
            self.summary_every or min(300, max(1, iterations // 100)),
            validation,
            self.checkpoint_every or min(2000, max(1, iterations // 50)),
            self.validate_positions or min(51_200, max(2048, validation * batch * 3 // 20)),
        )


@dataclass(frozen=True)
class Intervals:
    """How often a training stage (a part of the training) reports, validates and saves: the number of iterations
    between two summaries, validations and checkpoints. validate_positions: the number of examples in a validation.
    """

    summary: int
    validation: int
    checkpoint: int
    validate_positions: int


@dataclass(frozen=True)
class TrainProgress:
    """The progress of a training run, reported after every iteration.

    stage: the name of the stage, the part of the network that is trained.
    iteration: the number of iterations of the stage that are completed.
    iterations: the number of all iterations of the stage.
    loss, samples_per_second: the mean loss and the speed since the last summary; None if this iteration has no summary.
    note: a message for the user, or "".
    """

    stage: str
    iteration: int
    iterations: int
    loss: float | None = None
    samples_per_second: float | None = None
    validation: Mapping[str, float] | None = None
    """The mean of each metric over the validation examples, by name; None if this iteration was not validated."""
    note: str = ""


class NoExamples(KibitzError):
    """Raised if a stage (a part of the training) has no training examples with the given settings."""


class Diverged(KibitzError):
    """Raised when the loss becomes NaN or infinite, because training can't recover."""


ALL_DONE, STALLED, STOPPED, TIME_LIMIT = "all iterations done", "no better validation", "stopped", "time limit"
"""Reasons for the end of a training run, as texts."""
FINISHED_BEFORE = "finished before"
"""The reason for the end if an earlier call has finished the training."""
ROUND_OVER = "round over"
"""The reason for the end if a stage only pauses, so that the next stage can train."""


@dataclass
class TrainOutcome:
    """How a training run ended.

    finished: whether the run is complete; if not, it can be resumed.
    reason: why the training ended, one of the reasons in this module, such as ALL_DONE.
    iteration: the number of completed iterations of the last stage (a part of the training).
    best: the metrics of the best validation of the last stage, as a dict from names to values, with its "iteration".
    profile: the time that each part of the work took (see `Profile.rows`); None if it was not measured.
    """

    finished: bool
    reason: str
    iteration: int
    best: dict[str, float]
    profile: list[dict[str, Any]] | None = None
    parts: list[dict[str, Any]] = field(default_factory=list)
    """If there are several stages, a dict for each: "stage", "iteration", "iterations", and "best", the metrics of its
    best validation.
    """


def best_precision(device: str) -> str:
    """Return "bf16-mixed" if the device has fast bf16 arithmetic, else "32-true" (float32). device: "auto", "cpu" or
    "cuda".
    """
    if device != "cpu" and torch.cuda.is_available():
        return "bf16-mixed" if torch.cuda.is_bf16_supported() else "32-true"
    has = [getattr(torch.cpu, name, bool)() for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    return "bf16-mixed" if any(has) else "32-true"


class _Stop:
    """Turns the first Ctrl-C (or SIGTERM) into a flag, so that the iteration is completed. A second one interrupts the
    iteration.
    """

    def __init__(self) -> None:
        self.requested = False
        self._old: dict[signal.Signals, Any] = {}

    def __enter__(self) -> _Stop:
        for name in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError):  # only the main thread may handle signals
                self._old[name] = signal.signal(name, self._on_signal)
        return self

    def _on_signal(self, *_: object) -> None:
        self.requested = True
        self._restore()

    def _restore(self) -> None:
        for name, handler in self._old.items():
            signal.signal(name, handler)

    def __exit__(self, *_: object) -> None:
        self._restore()


@contextlib.contextmanager
def _denormals_flushed() -> Iterator[None]:
    """Flush denormal numbers to 0 inside the context: a CPU is slow with them, and such small values don't matter
    here.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


class _Pace:
    """Forecasts, once per stage, how long the stage (a part of the training) will take on this machine."""

    WARM_UP, SECONDS, SHORT = 3, 4.0, 10.0
    """WARM_UP: the number of first iterations that are not measured. SECONDS: how long the speed is measured. SHORT:
    the shortest forecast, in seconds, that is reported.
    """

    def __init__(self, batch: int, first: int, iterations: int, later: Sequence[Stage]):
        self.batch, self.first, self.iterations, self.later = batch, first, iterations, later
        self.began = 0.0

    def forecast(self, iteration: int) -> str:
        """Return a forecast of the remaining training time, in one line. Returns "" if the training speed was not
        measured for long enough, or if little time is left. iteration: the number of completed iterations.
        """
        done = iteration - self.first - self.WARM_UP
        if done <= 0:
            self.began = time.monotonic()
            return ""
        if (seconds := time.monotonic() - self.began) < self.SECONDS:
            return ""
        left = (self.iterations - iteration) * seconds / done
        rate = done * self.batch / seconds
        whole = f"{number_of(self.iterations, 'iteration')} of {self.batch:,}"
        line = f"{whole}: about {duration(left)} at {rate:,.0f} samples/s"
        if self.later and all(stage.iterations for stage in self.later):
            more = sum(stage.batch * (stage.iterations or 0) for stage in self.later) / rate
            line += f"; all {len(self.later) + 1} remaining stages: about {duration(left + more)} at this speed"
        return line if left > self.SHORT else ""


def duration(seconds: float) -> str:
    """Return a duration in words, such as "40 seconds", "19 minutes", "3.5 hours" or "11 days"."""
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            count = seconds / unit
            return f"{count:.0f} {name}" if count >= 10 or unit == 60 else f"{count:.1f} {name}"
    return f"{seconds:.0f} seconds"


@dataclass
class _StageRun:
    """A stage (a part of the training) during training.

    index: the stage's index.
    loss: the stage's loss function, perhaps compiled by torch.
    rate_factors: factors of the learning rate, one for each parameter group of the optimizer.
    iterations: the length of the whole stage.
    iteration: the number of completed iterations.
    pace: None after the forecast is reported.
    averages: the averages of the stage's weights, kept while other stages train.
    sums, samples, spent: the data for the stage's next summary, kept while other stages train: the sums of the measures
        over examples, the number of examples, and the seconds that they took.
    """

    index: int
    stage: Stage
    loss: Loss
    examples: Examples
    validation: Examples
    optimiser: torch.optim.Optimizer
    rate_factors: list[float]
    iterations: int
    intervals: Intervals
    health: HealthCheck
    pace: _Pace | None
    iteration: int
    best: dict[str, float] = field(default_factory=dict)
    checks_without_better: int = 0
    validated_at: int = 0
    averages: AveragedWeights | None = None
    sums: dict[str, float] = field(default_factory=dict)
    samples: int = 0
    spent: float = 0.0

    @property
    def done(self) -> bool:
        return self.iteration == self.iterations

    @property
    def seen(self) -> int:
        """The number of examples in all completed iterations. A batch has no more examples than the stage (a part of
        the training).
        """
        return self.iteration * min(self.stage.batch, len(self.examples))


class Trainer:
    """Trains a network, and writes checkpoints and logs to the directory of the run.

    network: the network after `system.prepare`, perhaps with the weights of another network. games, validation: the
    indices of the training and validation games in the store, int64. revive: whether to replace dead units before the
    training (see `nets.dead_units`), for a run that starts from another network.
    """

    def __init__(
        self,
        path: Path,
        system: System,
        settings: Any,
        network: nn.Module,
        store: Store,
        games: Any,
        validation: Any,
        plan: TrainConfig,
        on_progress: Callable[[TrainProgress], object] = lambda progress: None,
        revive: bool = False,
    ):
        self.path, self.plan, self._on_progress, self._revives = path, plan, on_progress, revive
        self._stop = _Stop()
        self.store, self.games, self.validation = store, games, validation
        precision: Any = best_precision(plan.device) if plan.precision == "auto" else plan.precision
        self.ranks = plan.ranks
        self.fabric = self.ranks.fabric(plan.device, precision)
        self.on_gpu = self.fabric.device.type == "cuda"
        self.profile = Profile(plan.profile, torch.cuda.synchronize if self.on_gpu else lambda: None)
        self.network = network.to(self.fabric.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.stages = list(system.stages(self.network, settings))
        self.started = time.monotonic()
        self._best_stage = ""
        self._sums: dict[str, float] = {}  # sums over the iterations before those in _unread
        self._samples = 0
        self._unread: Tensor | None = None  # sums of measures that stay on the device until they are needed
        self._measures: tuple[str, ...] = ()
        self._to_interrupt = ""
        self._summed_loss = 0.0
        self._clock = 0.0  # when the measures since the last summary began, without the time of validations
        self._spent = 0.0  # seconds of these measures before the present stage began or resumed
        self._warned: set[str] = set()
        self._checks_without_better = 0
        self._best: dict[str, float] = {}
        self._shares = TimeShares(self.stages, plan.time_limit, self.ranks.alone)
        self._parts = BestParts(self.network, self.stages) if self._shares.rounds else None
        self._runs: dict[int, _StageRun] = {}  # the stages that have started, by index
        self._finished: dict[int, str] = {}  # the reason why each finished stage ended, by index
        # for each stage that hasn't started in this call: its state from last.pt
        self._resumed: dict[int, dict[str, Any]] = {}
        self._earlier: dict[str, dict[str, Any]] = {}  # the progress of each stage in last.pt, by its name
        self._cut_short = False  # whether a stage paused before its end although other stages depend on it
        self._averages = self._new_averages(0)

    def _notify(self, progress: TrainProgress) -> None:
        """Call `on_progress`. If it returns True, the training stops after this iteration.

        If several processes train, it stops one iteration later, because they must agree.
        """
        if self.ranks.main and self._on_progress(progress) is True:
            self._stop.requested = True

    def _new_averages(self, index: int, state: dict[str, Any] | None = None) -> AveragedWeights | None:
        """Return new averages of a stage's weights; None if the plan has no averages.

        If stages train in rounds, the averages have only the stage's module, which no other stage changes. state: the
        averages in last.pt; None for a new stage.
        """
        if not self.plan.average or index >= len(self.stages):
            return None
        module = self.stages[index].module if self._parts is not None else self.network
        averages = AveragedWeights(module, self.plan.average)
        if state is not None:
            averages.load(state)
        return averages

    def _averaged(self) -> contextlib.AbstractContextManager[None]:
        """Return a context in which the network has its averaged weights, if there are any."""
        return contextlib.nullcontext() if self._averages is None else self._averages.averaged_weights()

    # The state of a training run in last.pt.

    def _save(self, index: int, iteration: int, optimiser: torch.optim.Optimizer) -> None:
        self._gather_sums()
        if not self.ranks.main:
            return
        state = {
            "stage": index,
            "iteration": iteration,
            "network": self.network.state_dict(),
            "optimiser": optimiser.state_dict(),
            "best": self._best,
            "best_stage": self._best_stage,
            "checks_without_better": self._checks_without_better,
            "sums": self._sums,
            "samples": self._samples,
            "spent": time.monotonic() - self._clock,
            "averages": None if self._averages is None else self._averages.state(),
            "rounds": self._state_of_rounds(),
            "parts": self._progress_of_parts(),
            "cut_short": self._cut_short,
        }
        file = io.BytesIO()
        torch.save(state, file)
        write_whole(self.path / "last.pt", file.getvalue())

    def _resume(self) -> tuple[int, int, dict[str, Any] | None]:
        """Return the stage index, iteration and optimizer state to resume from. Rows of metrics.jsonl that are later
        are removed.
        """
        path = self.path / "last.pt"
        saved = self.ranks.broadcast(path.read_bytes() if self.ranks.main and path.is_file() else None)
        if saved is None:
            self._drop_rows_after(0, 0)
            return 0, 0, None
        damaged = KibitzError(f"{path} is damaged, so this run cannot resume. Train with another --run.")
        try:
            if inflates(saved):
                raise damaged
            state = torch.load(io.BytesIO(saved), map_location=self.fabric.device, weights_only=True)
        except (RuntimeError, EOFError, ValueError, LookupError, TypeError, AttributeError, pickle.UnpicklingError):
            raise damaged from None
        try:
            self.network.load_state_dict(state["network"])
            self._best, self._best_stage = state["best"], state["best_stage"]
            self._checks_without_better = state["checks_without_better"]
            if self.ranks.main:
                self._sums, self._samples = state["sums"], state["samples"]
            self._spent = float(state.get("spent", 0.0))
            where = int(state["stage"]), int(state["iteration"]), state["optimiser"]
            self._earlier = {part["stage"]: part for part in state.get("parts") or ()}
            self._cut_short = bool(state.get("cut_short"))
            rounds = state.get("rounds") or {}
            # last.pt is from a version that trained the stages one after the other
            earlier = self._parts is not None and not rounds
            self._averages = self._new_averages(where[0], None if earlier else state.get("averages"))
            self._resume_rounds(rounds)
            if earlier:
                self._finish_earlier(where[0])
        except (RuntimeError, KeyError, TypeError, ValueError, AttributeError, IndexError):
            raise damaged from None
        self._drop_rows_after(*where[:2])
        return where

    def _drop_rows_after(self, index: int, iteration: int) -> None:
        if not self.ranks.main:
            return
        path = self.path / "metrics.jsonl"
        done = self._finished if self._shares.rounds else range(index)
        earlier = {self.stages[number].name for number in done}
        current = self.stages[index].name if index < len(self.stages) else ""
        rows = []
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []:
            with contextlib.suppress(ValueError, KeyError, TypeError):  # a row that is incomplete or invalid is skipped
                row = json.loads(line)
                paused = self._resumed.get(self._index_of(row["stage"]), {}).get("iteration", -1)
                if (
                    row["stage"] in earlier
                    or (row["stage"] == current and row["iteration"] <= iteration)
                    or (row["stage"] != current and row["iteration"] <= paused)
                ):
                    rows.append(line + "\n")
                    if row["kind"] == "warning":
                        self._warned.add(f"{row['stage']} {row['warning']}")
        write_whole(path, "".join(rows).encode())

    def _row(self, **values: Any) -> None:
        if not self.ranks.main:
            return
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    # The loop

    def train(self) -> TrainOutcome:
        """Train the stages, which are parts of the training, until all are finished, or until the time limit, Ctrl-C or
        SIGTERM.
        """
        index, iteration, optimiser_state = self._resume()
        with self._stop as stop, _denormals_flushed():
            while index < len(self.stages):
                if index not in self._runs:
                    self._runs[index] = self._begin_stage(index, iteration, optimiser_state)
                    if self._revives and iteration == 0 and (index == 0 or self._parts is not None):
                        self._revive(self._runs[index])
                run = self._runs[index]
                # Starts the measurement again, so that the forecast does not include the pause.
                if run.pace is not None:
                    run.pace.first = run.iteration
                self._shares.begin(index, run.iteration, run.iterations, self.started)
                reason = self._train_stage(run, stop)
                if reason in (STOPPED, TIME_LIMIT):
                    return self._outcome(False, reason, run)
                if self._parts is not None:
                    index, iteration, optimiser_state = self._next_in_round(run, reason)
                    continue
                run.best = self._best
                self._cut_short |= reason == ROUND_OVER
                # A stage ends with its best weights, which the next stage and the final result use.
                if self._best_stage == run.stage.name:
                    best = self.ranks.broadcast((self.path / WEIGHTS).read_bytes() if self.ranks.main else b"")
                    try:
                        self.network.load_state_dict(load(best))
                    except (SafetensorError, RuntimeError):
                        raise KibitzError(f"{self.path / WEIGHTS} is damaged. Train with another --run.") from None
                index, iteration, optimiser_state = index + 1, 0, None
                self._averages = self._new_averages(index)
                self._sums, self._samples, self._unread, self._spent = {}, 0, None, 0.0
                self._clock = time.monotonic()
                self._checks_without_better, self._best = 0, self._best if index == len(self.stages) else {}
                if index < len(self.stages):
                    self._save(index, 0, self.stages[index].optimiser())
        return self._outcome(True, TIME_LIMIT if self._cut_short else reason, run)

    def _revive(self, run: _StageRun) -> None:
        """Replace units that are 0 for all examples by new units, which are the same in each process."""
        batch = self._sample(run.examples, _REVIVAL_BATCH)
        generator = torch.Generator().manual_seed(self.plan.seed)
        learning = [p for group in run.optimiser.param_groups for p in group["params"]]
        dead, units = revive(self.network, learning, lambda: run.stage.loss(batch), generator)
        if dead:
            self._warn(run, 0, Symptom("revived", f"{dead:,} of {units:,} units were dead and got new weights"))

    def _outcome(self, finished: bool, reason: str, run: _StageRun) -> TrainOutcome:
        self.ranks.gather(None)  # no process ends while another process still needs it
        parts, iteration, best = self._progress_of_parts(), run.iteration, self._best
        if self._parts is not None:  # which stage trained last depends on the interruptions
            iteration, best = parts[-1]["iteration"], parts[-1]["best"]
            reason = self._finished[len(self.stages) - 1] if finished else reason
        return TrainOutcome(finished, reason, iteration, best, self.profile.rows() if self.profile.on else None, parts)

    # In rounds, stages that do not depend on each other take turns.

    def _next_in_round(self, run: _StageRun, reason: str) -> tuple[int, int, dict[str, Any] | None]:
        """Pause or end a stage (a part of the training), and switch to the next stage. Returns the index, the iteration
        and the optimizer state of the next stage.
        """
        assert self._parts is not None
        run.best, run.checks_without_better = self._best, self._checks_without_better
        run.averages = self._averages
        self._gather_sums()
        run.sums, run.samples, run.spent = self._sums, self._samples, time.monotonic() - self._clock
        if reason != ROUND_OVER:
            self._finished[run.index] = reason
            self.network.load_state_dict(self._parts.of(run.stage.name), strict=False)
        index = next_stage(run.index, self._finished, len(self.stages))
        if index == len(self.stages):
            return index, 0, None
        paused, saved = self._runs.get(index), self._resumed.get(index, {})
        self._best = paused.best if paused else saved.get("best", {})
        self._checks_without_better = paused.checks_without_better if paused else saved.get("checks", 0)
        self._best_stage = self.stages[index].name if self._best else ""
        self._averages = paused.averages if paused else self._new_averages(index, saved.get("averages"))
        self._continue_summary(paused, saved)
        iteration, optimiser_state = saved.get("iteration", 0), saved.get("optimiser")
        if reason != ROUND_OVER:  # a finished stage is not trained again
            optimiser = paused.optimiser if paused else self.stages[index].optimiser()
            if not paused and optimiser_state is not None:
                optimiser.load_state_dict(optimiser_state)
            self._save(index, paused.iteration if paused else iteration, optimiser)
        return index, iteration, optimiser_state

    def _continue_summary(self, paused: _StageRun | None, saved: Mapping[str, Any]) -> None:
        """Restore the measures since the last summary of a stage (a part of the training). paused: the stage, if it has
        trained in this call. saved: its state in last.pt, or {}.
        """
        self._sums, self._samples, self._unread = {}, 0, None
        if paused is not None:
            self._sums, self._samples, self._spent = paused.sums, paused.samples, paused.spent
        else:
            self._spent = float(saved.get("spent", 0.0))
            if self.ranks.main:  # the main process has the sums of all processes
                self._sums, self._samples = dict(saved.get("sums", {})), int(saved.get("samples", 0))
        self._clock = time.monotonic() - self._spent

    def _index_of(self, name: str) -> int:
        return next((index for index, stage in enumerate(self.stages) if stage.name == name), -1)

    def _state_of_rounds(self) -> dict[str, Any] | None:
        """Return the state, for last.pt, of the stages (parts of the training) that are paused."""
        if self._parts is None:
            return None
        aside = dict(self._resumed)
        for index, run in self._runs.items():
            aside[index] = {
                "iteration": run.iteration, "iterations": run.iterations, "best": run.best,
                "checks": run.checks_without_better, "optimiser": run.optimiser.state_dict(),
                "averages": None if run.averages is None else run.averages.state(),
                "sums": run.sums, "samples": run.samples, "spent": run.spent,
            }  # fmt: skip
        return {"aside": aside, "finished": self._finished, "best_weights": self._parts.weights}

    def _resume_rounds(self, state: dict[str, Any]) -> None:
        """Restore the state that `_state_of_rounds` returned."""
        if self._parts is not None and state:
            self._resumed = {int(index): values for index, values in state["aside"].items()}
            self._finished = {int(index): str(reason) for index, reason in state["finished"].items()}
            self._parts.weights = {name: values.cpu() for name, values in state["best_weights"].items()}

    def _finish_earlier(self, index: int) -> None:
        """Mark the stages (parts of the training) before this one as finished, with their current weights: an earlier
        version trained the stages one after the other.
        """
        assert self._parts is not None
        for before, stage in enumerate(self.stages[:index]):
            self._finished[before] = ALL_DONE
            self._parts.keep(self.network, stage.name)

    def _progress_of_parts(self) -> list[dict[str, Any]]:
        """Return the progress of each stage (a part of the training), see the class TrainOutcome; [] if there is only
        one stage.
        """
        if len(self.stages) == 1:
            return []
        parts = []
        for index, stage in enumerate(self.stages):
            run, saved = self._runs.get(index), self._resumed.get(index) or self._earlier.get(stage.name, {})
            here = self._best if self._best_stage == stage.name else {}  # {} if the next stage has begun
            best = here or (run.best if run else saved.get("best", {}))
            parts.append({
                "stage": stage.name, "iteration": run.iteration if run else saved.get("iteration", 0),
                "iterations": run.iterations if run else saved.get("iterations"), "best": best,
            })  # fmt: skip
        return parts

    def _begin_stage(self, index: int, iteration: int, optimiser_state: dict[str, Any] | None) -> _StageRun:
        """Prepare a stage's examples, optimizer and checks. Raises NoExamples if there are none."""
        stage = self.stages[index]
        optimiser = stage.optimiser()
        if optimiser_state is not None:
            optimiser.load_state_dict(optimiser_state)
        move_optimiser(optimiser, self.on_gpu)
        examples = stage.examples(self.store, self.games)
        if not len(examples):
            raise NoExamples(
                f"{self.store.path} has no examples for {stage.name} with these settings. Import other games, or use"
                " weaker filters such as a lower --min-rating."
            )
        validation = stage.examples(self.store, self.validation)
        rate_factors = [group.get("rate", 1.0) for group in optimiser.param_groups]
        optimiser = cast(torch.optim.Optimizer, self.fabric.setup_optimizers(optimiser))
        self.network.train()
        iterations = stage.iterations_over(len(examples))
        loss = self._loss(stage, examples, iteration, iterations)
        self._clock = time.monotonic() - self._spent
        return _StageRun(
            index, stage, loss, examples, validation, optimiser, rate_factors, iterations,
            self.plan.intervals(iterations, stage.batch),
            HealthCheck(stage, iterations, self._sample(validation, _VALIDATION_BATCH) if len(validation) else None),
            _Pace(min(stage.batch, len(examples)), iteration, iterations, self.stages[index + 1 :]),
            iteration,
        )  # fmt: skip

    def _loss(self, stage: Stage, examples: Examples, iteration: int, iterations: int) -> Loss:
        """Return the stage's loss, compiled if the plan requires it.

        With `auto`, all processes continue without compilation if one of them can't compile. The wish `on` raises
        UsageError in this case.
        """
        device = self.fabric.device
        if not wanted(self.plan.compile, device):
            return stage.loss

        def note(text: str) -> None:
            self._notify(TrainProgress(stage.name, iteration + 1, iterations, note=text))

        fast = compiled(stage.loss)
        if not (why := missing(device)):
            note("compiling the training steps, which takes about a minute the first time")
            with self.profile.part("compile"):
                why = self._first_failure(fast, stage, examples, iteration)
        why = next(filter(None, self.ranks.gather(why)), "")
        if not why:
            return fast
        if self.plan.compile == ON:
            raise impossible(why)
        note(f"training is not compiled: {why}")
        return stage.loss

    def _first_failure(self, loss: Loss, stage: Stage, examples: Examples, iteration: int) -> str:
        """Run the loss and its gradient once, and return why torch can't compile them; "" if it can."""
        batch = make_batch(examples, stage.batch, self.plan.seed, iteration, self.ranks.rank, self.ranks.world)
        before = [part.clone() for part in self.network.buffers()]
        try:
            with compilation_errors():
                with self.fabric.autocast():
                    value, _ = loss({name: values.to(self.fabric.device) for name, values in batch.items()})
                self.fabric.backward(value)
        except CannotCompile as error:
            return str(error)
        finally:
            for p in self.network.parameters():
                p.grad = None
            for part, old in zip(self.network.buffers(), before, strict=True):
                part.copy_(old)
        return ""

    def _train_stage(self, run: _StageRun, stop: _Stop) -> str:
        """Train a stage (a part of the training) from `run.iteration` on. Returns the reason why the stage stopped."""
        if self._stalled:
            return STALLED
        for batch in self._batches(run):
            self._step(run, batch, stop)
            self._report(run)
            if len(run.validation) and (run.iteration % run.intervals.validation == 0 or run.done):
                means = self._validate(run)
                self._warn(run, run.iteration, run.health.learned_nothing(run.iteration, self._recent_loss(), means))
            ended = run.done or self._stalled
            # Before the state is saved, so that a run that is stopped here has the same validations as any other run.
            if over := not ended and self._shares.over(run.iteration):
                self._keep_some(run)
            interruption = self._interruption(stop) if self.ranks.alone else self._to_interrupt
            if run.iteration % run.intervals.checkpoint == 0 or ended or interruption:
                self._save_checkpoint(run)
            if ended:
                break
            if interruption:
                if interruption == TIME_LIMIT:
                    self._keep_some(run)
                elif not self._best:
                    # Without a validation so far, the current weights are saved. A validation now could take long.
                    self._keep_averaged(run.stage)
                return interruption
            if over:
                return ROUND_OVER
        if not len(run.validation):
            self._keep_averaged(run.stage)
        return STALLED if self._stalled else ALL_DONE

    def _keep_some(self, run: _StageRun) -> None:
        """Save weights when a stage (a part of the training) pauses, so that a short run also has usable weights.

        If there is a time limit and the stage's last validation was some time ago, the stage is validated again.
        """
        behind = run.iteration - run.validated_at > run.intervals.validation // 2
        if self._best and not (behind and self._shares.limit is not None):
            return
        if len(run.validation):
            self._validate(run)
        else:
            self._keep_averaged(run.stage)

    @property
    def _stalled(self) -> bool:
        """Whether the last `patience` validations brought no improvement."""
        return 0 < self.plan.patience <= self._checks_without_better

    def _interruption(self, stop: _Stop) -> str:
        """Return the reason to interrupt a stage (a part of the training) before its end, or ""."""
        if stop.requested:
            return STOPPED
        limit = self.plan.time_limit
        return TIME_LIMIT if limit is not None and time.monotonic() - self.started > limit else ""

    def _batches(self, run: _StageRun) -> Iterator[dict[str, Tensor]]:
        """Yield this process' part of the stage's remaining batches, on the network's device."""
        rank, world = self.ranks.rank, self.ranks.world
        return self._fed(
            lambda i: make_batch(run.examples, run.stage.batch, self.plan.seed, i, rank, world),
            range(run.iteration, run.iterations),
            "wait",
            "copy",
        )

    def _fed(
        self, make: Callable[[int], dict[str, Tensor]], iterations: Sequence[int], *parts: str
    ) -> Iterator[dict[str, Tensor]]:
        """Yield batches on the network's device; threads make them. parts: the parts of the profile for waiting and for
        copying.
        """

        def batch_of(iteration: int) -> dict[str, Tensor]:
            with self.profile.part(REPLAY):
                batch = make(iteration)
                if not self.on_gpu:
                    return batch
                torch.cuda.set_device(self.fabric.device)  # a new thread uses the first device by default
                # pinned memory can be copied to the GPU during the computation
                return {name: values.pin_memory() for name, values in batch.items()}

        source = ahead(batch_of, iterations, min(GPU_THREADS, cores()) if self.on_gpu else 1)
        while True:
            with self.profile.part(parts[0]):
                batch = next(source, None)
            if batch is None:
                return
            with self.profile.part(parts[-1]):
                batch = {name: values.to(self.fabric.device, non_blocking=True) for name, values in batch.items()}
            yield batch

    def _step(self, run: _StageRun, batch: dict[str, Tensor], stop: _Stop) -> None:
        """Run one iteration: loss, gradients, and a step of the optimizer."""
        seed = (self.plan.seed << 32) + (run.index << 28) + run.iteration
        # dropout omits different units on each rank
        torch.manual_seed((seed + self.ranks.rank * 0x9E3779B97F4A7C15) % 2**64)
        learning_rate = run.stage.rate(run.iteration, run.iterations, len(run.examples))
        for group, factor in zip(run.optimiser.param_groups, run.rate_factors, strict=True):
            group["lr"] = learning_rate * factor
        with self.profile.part("forward"), self.fabric.autocast():
            loss, measures = run.loss(batch)
        with self.profile.part("backward"):
            self.fabric.backward(loss)
        with self.profile.part("exchange") if not self.ranks.alone else contextlib.nullcontext():
            self._exchange(run, len(next(iter(measures.values()))), stop)
        # In the first iteration, layers before weights of 0 (in adapters, for example) have no gradient.
        if run.iteration and (run.iteration + 1) % run.intervals.validation == 0:
            self._warn(run, run.iteration + 1, run.health.dead_units(self.network, run.optimiser))
        with self.profile.part("step"):
            run.optimiser.step()
            run.optimiser.zero_grad()
            if self._averages is not None:
                self._averages.update()
        run.iteration += 1
        self.profile.iterations += 1
        with self.profile.part("figures"):
            self._count(measures)

    def _exchange(self, run: _StageRun, rows: int, stop: _Stop) -> None:
        """Sum the gradients of all processes, and agree whether to end after this iteration."""
        if self.ranks.alone:
            return
        wish = self._interruption(stop)
        parameters = [p for group in run.optimiser.param_groups for p in group["params"]]
        late, stopped = self.ranks.add_gradients(parameters, rows, [wish == TIME_LIMIT, wish == STOPPED])
        self._to_interrupt = STOPPED if stopped else TIME_LIMIT if late else ""

    # Reports

    def _report(self, run: _StageRun) -> None:
        """Report the completed iteration: with a summary if one is due, and once with the forecast."""
        if run.iteration % run.intervals.summary == 0 or run.done:
            self._summarise(run)
        else:
            self._notify(TrainProgress(run.stage.name, run.iteration, run.iterations))
        if run.pace is not None and (line := run.pace.forecast(run.iteration)):
            self._notify(TrainProgress(run.stage.name, run.iteration, run.iterations, note=line))
            run.pace = None

    def _count(self, measures: dict[str, Tensor]) -> None:
        """Add the measures of a batch to the sums. The measures are not read from the device, because the program would
        have to wait for the GPU.
        """
        if tuple(measures) != self._measures:
            self._read_sums()
            self._measures = tuple(measures)
        sums = _sums_of(measures)
        self._unread = sums if self._unread is None else self._unread + sums
        self._samples += len(next(iter(measures.values())))

    def _read_sums(self) -> None:
        """Copy the sums from the device and reset them."""
        if self._unread is not None:
            for name, value in zip(self._measures, self._unread.tolist(), strict=True):
                self._sums[name] = self._sums.get(name, 0.0) + value
            self._unread = None

    def _gather_sums(self) -> None:
        """Collect the sums of all ranks in the main process."""
        self._read_sums()
        if self.ranks.alone:
            return
        parts = self.ranks.gather((self._sums, self._samples))
        self._sums, self._samples = {}, 0
        if self.ranks.main:
            for sums, samples in parts:
                self._samples += samples
                for name, value in sums.items():
                    self._sums[name] = self._sums.get(name, 0.0) + value

    def _means(self) -> tuple[dict[str, float], int]:
        """Return the means of the measures since the last summary, and the number of examples, on every rank."""
        self._gather_sums()
        sums, samples = self.ranks.broadcast((self._sums, self._samples))
        return {name: total / max(1, samples) for name, total in sums.items()}, samples

    def _summarise(self, run: _StageRun) -> None:
        """Write the means of the measures since the last summary, and the learning rate, to metrics.jsonl."""
        stage, iteration = run.stage, run.iteration
        means, samples = self._means()
        now = time.monotonic()
        rate = samples / max(now - self._clock, 1e-9)
        self._check(stage, means, iteration)
        self._row(
            kind="summary", stage=stage.name, iteration=iteration, samples=run.seen, **means,
            learning_rate=stage.rate(iteration - 1, run.iterations, len(run.examples)), samples_per_second=round(rate),
        )  # fmt: skip
        self._notify(TrainProgress(stage.name, iteration, run.iterations, means.get("loss"), rate))
        self._summed_loss = means.get("loss", 0.0)
        self._sums, self._samples, self._clock = {}, 0, now

    def _recent_loss(self) -> float:
        """Return the mean training loss since the last summary, or of that summary if it was just made."""
        means, samples = self._means()
        return means.get("loss", 0.0) if samples else self._summed_loss

    def _check(self, stage: Stage, means: dict[str, float], iteration: int) -> None:
        """Raise Diverged if the loss or the monitored measure is NaN or infinite."""
        for name in ("loss", stage.monitor):
            if not math.isfinite(means.get(name, 0.0)):
                raise Diverged(
                    f"{self.path}: the {name} of {stage.name} became NaN or infinite at iteration {iteration:,}. "
                    "Train again with a smaller --learning-rate."
                )

    @torch.no_grad()
    def _validate(self, run: _StageRun) -> dict[str, float]:
        """Evaluate the stage (a part of the training) on its validation examples, which are always the same. Save the
        weights if they are the best so far.

        If the weights are averaged, the averages are evaluated and saved; a row "validation_raw" has the measures of
        the raw weights. Returns the mean of each measure.
        """
        began = time.monotonic()
        stage, iteration = run.stage, run.iteration
        run.validated_at = iteration
        self.ranks.average(averages(self.network))
        if self._averages is not None:
            self._validation_row("validation_raw", run)
        with self._averaged():
            self.ranks.average(averages(self.network))
            means = self._validation_row("validation", run)
            self._check(stage, means, iteration)
            first = self._best_stage != stage.name
            if first or stage.keep_last or stage.monitor_value(means) < stage.monitor_value(self._best):
                self._best = {**means, "iteration": iteration}
                self._checks_without_better = 0
                self._keep_best(stage)
            else:
                self._checks_without_better += 1
        self._clock += time.monotonic() - began  # the speed of training must not include this time
        figures = ", ".join(f"{name} {value:.4f}" for name, value in means.items())
        self._notify(
            TrainProgress(stage.name, iteration, run.iterations, validation=means, note=f"validation {figures}")
        )
        return means

    def _validation_row(self, kind: str, run: _StageRun) -> dict[str, float]:
        """Write a row of the kind `kind` to metrics.jsonl, with the mean of each measure over the validation examples.
        Returns the means.
        """
        means, count = self._validation_means(run)
        self._row(kind=kind, stage=run.stage.name, iteration=run.iteration, samples=run.seen, **means, n=count)
        return means

    def _validation_means(self, run: _StageRun) -> tuple[dict[str, float], int]:
        """Return the mean of each measure over the validation examples, and their number.

        Each process takes whole batches, because a measure may depend on all examples of a batch.
        """
        examples = run.validation
        total = min(len(examples), run.intervals.validate_positions)
        batches = -(-total // _VALIDATION_BATCH)
        size = total // batches  # batches have equal sizes, so that fewer examples than batches are omitted
        mine = range(self.ranks.rank, batches, self.ranks.world)
        self.network.eval()
        found: dict[int, tuple[tuple[str, ...], Tensor, int]] = {}
        for i, tensors in zip(
            mine, self._fed(lambda i: make_batch(examples, size, _VALIDATION_SEED, i), mine, "validation"), strict=True
        ):
            with self.profile.part("validation"), self.fabric.autocast():
                _, measures = run.stage.loss(tensors)
                found[i] = tuple(measures), _sums_of(measures), len(next(iter(measures.values())))
        self.network.train()
        parts: dict[int, tuple[tuple[str, ...], list[float], int]] = {}
        for some in self.ranks.gather({i: (names, sums.tolist(), n) for i, (names, sums, n) in found.items()}):
            parts |= some
        sums: dict[str, float] = {}
        for i in range(batches):  # the sums are added in this order, whichever process measured them
            for name, value in zip(*parts[i][:2], strict=True):
                sums[name] = sums.get(name, 0.0) + value
        count = sum(n for _, _, n in parts.values())
        return {name: value / count for name, value in sums.items()}, count

    def _sample(self, examples: Examples, most: int) -> dict[str, Tensor]:
        batch = make_batch(examples, min(most, len(examples)), _VALIDATION_SEED, 0)
        return {name: values.to(self.fabric.device) for name, values in batch.items()}

    def _warn(self, run: _StageRun, iteration: int, symptom: Symptom | None) -> None:
        """Report a symptom, and continue training. Each kind of symptom is reported once per stage."""
        stage = run.stage.name
        if symptom and f"{stage} {symptom.kind}" not in self._warned:
            self._warned.add(f"{stage} {symptom.kind}")
            self._row(kind="warning", stage=stage, iteration=iteration, warning=symptom.kind, text=symptom.text)
            self._notify(TrainProgress(stage, iteration, run.iterations, note=f"warning: {symptom.text}"))

    # Weights

    def _keep_averaged(self, stage: Stage) -> None:
        with self._averaged():
            self._keep_best(stage)

    def _keep_best(self, stage: Stage) -> None:
        self._best_stage = stage.name
        if self._parts is not None:
            self._parts.keep(self.network, stage.name)
        if not self.ranks.main:
            return
        # the exported file has older weights; a new one is written at the end
        (self.path / ONNX).unlink(missing_ok=True)
        if self._parts is not None:
            merged = {name: value.contiguous() for name, value in self._parts.merged(self.network).items()}
            write_whole(self.path / WEIGHTS, save(merged))
        else:
            save_weights(self.network, self.path / WEIGHTS)

    def _save_checkpoint(self, run: _StageRun) -> None:
        """Write the weights as a checkpoint, and the state to resume from as last.pt."""
        began = time.monotonic()
        with self.profile.part("checkpoint"):
            self.ranks.average(averages(self.network))
            if self.ranks.main:
                folder = self.path / CHECKPOINTS
                folder.mkdir(exist_ok=True)
                with self._averaged():
                    save_weights(self.network, folder / f"{run.stage.name}-{run.iteration:06d}.safetensors")
                thin(folder, [stage.name for stage in self.stages], self.plan.checkpoint_megabytes)
            self._save(run.index, run.iteration, run.optimiser)
        self._clock += time.monotonic() - began


def _sums_of(measures: Mapping[str, Tensor]) -> Tensor:
    """Return the sum of each measure over its examples, float64 [measures], on their device."""
    return torch.stack([values.float().sum() for values in measures.values()]).double()


def save_weights(network: nn.Module, path: Path) -> None:
    """Write the network's weights to a safetensors file atomically: after an interruption, the file has either its old
    or its new contents.
    """
    write_whole(path, save({name: value.contiguous() for name, value in network.state_dict().items()}))
