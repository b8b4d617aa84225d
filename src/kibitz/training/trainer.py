"""The training loop: one for all systems.

Everything random in iteration i (its examples, what dropout leaves out) follows from the seed and i, so that a training
that was stopped at any moment goes on from its last snapshot to the same weights as one that never stopped (on a CPU).
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import math
import pickle
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from lightning_fabric import Fabric
from safetensors.torch import load_file, save
from torch import Tensor, nn

from kibitz.errors import KibitzError
from kibitz.runs import ONNX, WEIGHTS, write_whole
from kibitz.store.store import Store
from kibitz.systems.base import Examples, Stage, System, batches_in_epoch
from kibitz.training.checkpoints import SNAPSHOTS, thin
from kibitz.training.dataloader import make, prefetch_batches
from kibitz.training.health import HealthCheck, Symptom

_VALIDATION_BATCH = 4096
_VALIDATION_SEED = 1  # the validation's order is its own, and the same in every run


@dataclass(frozen=True)
class TrainConfig:
    """How often to look and when to stop. Intervals are in iterations; None follows the length of each stage."""

    summary_every: int | None = None
    validate_every: int | None = None
    """None for `validations` of them in every stage."""
    snapshot_every: int | None = None
    validate_positions: int | None = None
    """None for as many as cost about a twentieth of the stage's time, from 2,048 to 51,200."""
    validations: int = 20
    patience: int = 20
    """Stop after this many validations without a better one; 0 never."""
    time_limit: float | None = None
    """Seconds of this call after which it stops, with a snapshot."""
    seed: int = 0
    precision: str = "auto"
    device: str = "auto"
    snapshot_megabytes: float = 200.0
    """Most that the snapshots of a run may take: the newest are kept, and of the older ones an even series."""

    def intervals(self, iterations: int, batch: int) -> Intervals:
        """For a stage of so many iterations with batches of so many examples."""
        validation = self.validate_every or max(1, iterations // self.validations)
        return Intervals(
            self.summary_every or min(300, max(1, iterations // 100)),
            validation,
            self.snapshot_every or min(2000, max(1, iterations // 50)),
            self.validate_positions or min(51_200, max(2048, validation * batch * 3 // 20)),
        )


@dataclass(frozen=True)
class Intervals:
    """Iterations between summaries, validations and snapshots of one stage, and examples of a validation."""

    summary: int
    validation: int
    snapshot: int
    validate_positions: int


@dataclass(frozen=True)
class Beat:
    """What progress is told after every iteration."""

    stage: str
    iteration: int
    iterations: int
    loss: float | None = None
    samples_per_second: float | None = None
    validation: Mapping[str, float] | None = None
    """The means of the validation's measures, where there was one."""
    note: str = ""


class Diverged(KibitzError):
    """The loss is no number any more: such a network learns nothing again."""


@dataclass
class TrainOutcome:
    """How a call of `train` ended."""

    finished: bool
    reason: str
    iteration: int
    best: dict[str, float]


def best_precision(device: str) -> str:
    """bf16 where the machine computes in it (on such a CPU `winner` trains half as fast again), else float32."""
    if device != "cpu" and torch.cuda.is_available():
        return "bf16-mixed" if torch.cuda.is_bf16_supported() else "32-true"
    has = [getattr(torch.cpu, name, bool)() for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    return "bf16-mixed" if any(has) else "32-true"


class _Stop:
    """Turns the first Ctrl-C (or SIGTERM) into a flag, so that no iteration is cut; the second one is the usual."""

    def __init__(self) -> None:
        self.asked = False
        self._old: dict[signal.Signals, Any] = {}

    def __enter__(self) -> _Stop:
        for name in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError):  # not in the main thread: then signals are not ours to take
                self._old[name] = signal.signal(name, self._ask)
        return self

    def _ask(self, *_: object) -> None:
        self.asked = True
        self._restore()

    def _restore(self) -> None:
        for name, handler in self._old.items():
            signal.signal(name, handler)

    def __exit__(self, *_: object) -> None:
        self._restore()


@contextlib.contextmanager
def _small_numbers_flushed() -> Iterator[None]:
    """Numbers below the normal format become 0: they mean nothing here, and a CPU is slow with them."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


class _Pace:
    """Tells once, from the first iterations of a stage, how long it will take on this machine."""

    WARM_UP, SECONDS, SHORT = 3, 4.0, 10.0
    """Iterations that do not count; seconds to measure; a forecast of fewer seconds is not worth a line."""

    def __init__(self, stage: Stage, first: int, iterations: int, later: Sequence[Stage]):
        self.stage, self.first, self.iterations, self.later = stage, first, iterations, later
        self.began = 0.0

    def forecast(self, iteration: int) -> str:
        """A line, or nothing while it is too early to say."""
        done = iteration - self.first - self.WARM_UP
        if done <= 0:
            self.began = time.monotonic()
            return ""
        if (seconds := time.monotonic() - self.began) < self.SECONDS:
            return ""
        left = (self.iterations - iteration) * seconds / done
        rate = done * self.stage.batch / seconds
        line = (
            f"{self.iterations:,} iterations of {self.stage.batch:,}: about {duration(left)} at {rate:,.0f} samples/s"
        )
        if self.later and all(stage.iterations for stage in self.later):
            more = sum(stage.batch * (stage.iterations or 0) for stage in self.later) / rate
            line += f"; all {len(self.later) + 1} stages that are left about {duration(left + more)} at that pace"
        return line if left > self.SHORT else ""


def duration(seconds: float) -> str:
    """In words that one can plan with: 40 seconds, 19 minutes, 3.5 hours, 11 days."""
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            count = seconds / unit
            return f"{count:.0f} {name}" if count >= 10 or unit == 60 else f"{count:.1f} {name}"
    return f"{seconds:.0f} seconds"


class Trainer:
    """One training in one run directory.

    system, settings, network: the system's, prepared; games and validation: numbers of the store's games on either
    side. tell: is called with each Beat; where it returns True the training stops as by Ctrl-C.
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
        tell: Callable[[Beat], object] = lambda beat: None,
    ):
        self.path, self.plan, self._listener = path, plan, tell
        self._stop = _Stop()
        self.store, self.games, self.validation = store, games, validation
        precision: Any = best_precision(plan.device) if plan.precision == "auto" else plan.precision
        for name in ("lightning_fabric", "lightning_utilities.core.rank_zero"):
            logging.getLogger(name).setLevel(logging.WARNING)  # they announce what was asked of them
        self.fabric = Fabric(accelerator=plan.device, devices=1, precision=precision)
        self.network = network.to(self.fabric.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.stages = list(system.stages(self.network, settings))
        self.started = time.monotonic()
        self._best_stage = ""
        self._sums: dict[str, float] = {}
        self._samples = 0
        self._summed_loss = 0.0
        self._clock = 0.0
        self._warned: set[str] = set()
        self._checks_without_better = 0
        self._best: dict[str, float] = {}

    def tell(self, beat: Beat) -> None:
        """Pass progress on; True in answer stops the training after this iteration."""
        if self._listener(beat) is True:
            self._stop.asked = True

    # The state of a training: what last.pt holds.

    def _save(self, number: int, iteration: int, optimiser: torch.optim.Optimizer) -> None:
        state = {
            "stage": number,
            "iteration": iteration,
            "network": self.network.state_dict(),
            "optimiser": optimiser.state_dict(),
            "best": self._best,
            "best_stage": self._best_stage,
            "checks_without_better": self._checks_without_better,
            "sums": self._sums,
            "samples": self._samples,
        }
        file = io.BytesIO()
        torch.save(state, file)
        write_whole(self.path / "last.pt", file.getvalue())

    def _resume(self) -> tuple[int, int, dict[str, Any] | None]:
        """Stage, iteration and optimiser state to go on from; metrics written after that snapshot are dropped."""
        path = self.path / "last.pt"
        if not path.is_file():
            self._keep_rows(0, 0)
            return 0, 0, None
        try:
            state = torch.load(path, map_location=self.fabric.device, weights_only=True)
        except (RuntimeError, EOFError, pickle.UnpicklingError):
            raise KibitzError(
                f"{path}: damaged, so that this run cannot go on; train anew with another --run"
            ) from None
        self.network.load_state_dict(state["network"])
        self._best, self._best_stage = state["best"], state["best_stage"]
        self._checks_without_better = state["checks_without_better"]
        self._sums, self._samples = state["sums"], state["samples"]
        self._keep_rows(state["stage"], state["iteration"])
        return state["stage"], state["iteration"], state["optimiser"]

    def _keep_rows(self, number: int, iteration: int) -> None:
        path = self.path / "metrics.jsonl"
        earlier = {stage.name for stage in self.stages[:number]}
        current = self.stages[number].name if number < len(self.stages) else ""
        kept = []
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            with contextlib.suppress(ValueError):
                row = json.loads(line)
                if row["stage"] in earlier or (row["stage"] == current and row["iteration"] <= iteration):
                    kept.append(line + "\n")
                    if row["kind"] == "warning":
                        self._warned.add(f"{row['stage']} {row['warning']}")
        path.write_text("".join(kept), encoding="utf-8")

    def _row(self, **values: Any) -> None:
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    # The loop

    def train(self) -> TrainOutcome:
        """Train every stage to its end, or to the plan's time limit, or until asked to stop (Ctrl-C, SIGTERM)."""
        number, iteration, optimiser_state = self._resume()
        with self._stop as stop, _small_numbers_flushed():
            while number < len(self.stages):
                stage = self.stages[number]
                optimiser = stage.optimiser()
                if optimiser_state is not None:
                    optimiser.load_state_dict(optimiser_state)
                reached, why = self._train_stage(number, stage, optimiser, iteration, stop)
                if why in ("stopped", "time limit"):
                    return TrainOutcome(False, why, reached, self._best)
                if self._best_stage == stage.name:  # the next stage, and the end, go on from the best of this one
                    self.network.load_state_dict(load_file(self.path / WEIGHTS, device=str(self.fabric.device)))
                number, iteration, optimiser_state = number + 1, 0, None
                self._checks_without_better, self._best = 0, self._best if number == len(self.stages) else {}
                if number < len(self.stages):
                    self._save(number, 0, self.stages[number].optimiser())
        return TrainOutcome(True, why, reached, self._best)

    def _train_stage(
        self, number: int, stage: Stage, optimiser: torch.optim.Optimizer, first: int, stop: _Stop
    ) -> tuple[int, str]:
        plan = self.plan
        examples = stage.examples(self.store, self.games)
        if not len(examples):
            raise KibitzError(
                f"{self.store.path}: the settings leave nothing to learn for {stage.name}; relax those that choose "
                "games or moves, --min-rating say, or import other games"
            )
        validation = stage.examples(self.store, self.validation)
        base = [group.get("rate", 1.0) for group in optimiser.param_groups]
        optimiser = cast(torch.optim.Optimizer, self.fabric.setup_optimizers(optimiser))
        self.network.train()
        self._clock = time.monotonic()
        iterations = stage.iterations_over(len(examples))
        every = plan.intervals(iterations, stage.batch)
        health = HealthCheck(stage, iterations, self._sample(validation) if len(validation) else None)
        pace: _Pace | None = _Pace(stage, first, iterations, self.stages[number + 1 :])
        iteration = first
        why = "all iterations done"
        if plan.patience and self._checks_without_better >= plan.patience:
            return iteration, "no better validation"
        for batch in self._fed(examples, stage, first, iterations):
            torch.manual_seed((plan.seed << 32) + (number << 28) + iteration)
            for group, factor in zip(optimiser.param_groups, base, strict=True):
                group["lr"] = stage.learning_rate(iteration, iterations) * factor
            with self.fabric.autocast():
                loss, measures = stage.loss(batch)
            self.fabric.backward(loss)
            if (iteration + 1) % every.validation == 0:
                self._warn(stage, iteration + 1, iterations, health.dead_units(self.network, optimiser))
            optimiser.step()
            optimiser.zero_grad()
            iteration += 1
            self._count(measures)
            if iteration % every.summary == 0 or iteration == iterations:
                self._summarise(stage, iteration, iterations, stage.learning_rate(iteration - 1, iterations))
            else:
                self.tell(Beat(stage.name, iteration, iterations))
            if pace is not None and (line := pace.forecast(iteration)):
                self.tell(Beat(stage.name, iteration, iterations, note=line))
                pace = None
            last = iteration == iterations
            if len(validation) and (iteration % every.validation == 0 or last):
                means = self._validate(stage, validation, iteration, iterations)
                self._warn(stage, iteration, iterations, health.learned_nothing(iteration, self._recent_loss(), means))
                if plan.patience and self._checks_without_better >= plan.patience:
                    why, last = "no better validation", True
            over = plan.time_limit is not None and time.monotonic() - self.started > plan.time_limit
            if iteration % every.snapshot == 0 or last or stop.asked or over:
                self._snapshot(number, stage, optimiser, iteration)
            if last:
                break
            if stop.asked or over:
                if over and not self._best:  # a short training still leaves weights to use
                    if len(validation):
                        self._validate(stage, validation, iteration, iterations)
                    else:
                        self._keep_best(stage)
                return iteration, "stopped" if stop.asked else "time limit"
        if not len(validation):
            self._keep_best(stage)
        return iteration, why

    def _fed(self, examples: Examples, stage: Stage, first: int, last: int) -> Iterator[dict[str, Tensor]]:
        for batch in prefetch_batches(examples, stage.batch, self.plan.seed, first, last):
            yield {name: values.to(self.fabric.device, non_blocking=True) for name, values in batch.items()}

    def _count(self, measures: dict[str, Tensor]) -> None:
        for name, values in measures.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(values.float().sum())
        self._samples += len(next(iter(measures.values())))

    def _summarise(self, stage: Stage, iteration: int, iterations: int, learning_rate: float) -> None:
        now = time.monotonic()
        means = {name: total / max(1, self._samples) for name, total in self._sums.items()}
        rate = self._samples / max(now - self._clock, 1e-9)
        self._check(stage, means, iteration)
        self._row(
            kind="summary", stage=stage.name, iteration=iteration, samples=iteration * stage.batch, **means,
            learning_rate=learning_rate, samples_per_second=round(rate),
        )  # fmt: skip
        self.tell(Beat(stage.name, iteration, iterations, means.get("loss"), rate))
        self._summed_loss = means.get("loss", 0.0)
        self._sums, self._samples, self._clock = {}, 0, now

    def _recent_loss(self) -> float:
        """The mean training loss since the last summary, or of that summary where it was just made."""
        return self._sums.get("loss", 0.0) / self._samples if self._samples else self._summed_loss

    def _check(self, stage: Stage, means: dict[str, float], iteration: int) -> None:
        """Raises Diverged where the loss, or what chooses the weights, is no number any more."""
        for name in ("loss", stage.better):
            if not math.isfinite(means.get(name, 0.0)):
                raise Diverged(
                    f"{self.path}: the {name} of {stage.name} is no number any more at iteration {iteration:,}; "
                    "train anew with a smaller --learning-rate"
                )

    @torch.no_grad()
    def _validate(self, stage: Stage, examples: Examples, iteration: int, iterations: int) -> dict[str, float]:
        """Measure the stage on the same validation examples each time; keep the weights if it was never better.

        Gives the mean of each measure.
        """
        before = time.monotonic()
        self.network.eval()
        sums: dict[str, float] = {}
        count = 0
        wanted = min(len(examples), self.plan.intervals(iterations, stage.batch).validate_positions)
        batch = min(_VALIDATION_BATCH, wanted)
        for place in range(min(-(-wanted // batch), batches_in_epoch(len(examples), batch))):
            tensors = make(examples, batch, _VALIDATION_SEED, place)
            with self.fabric.autocast():
                _, measures = stage.loss({name: values.to(self.fabric.device) for name, values in tensors.items()})
            for name, values in measures.items():
                sums[name] = sums.get(name, 0.0) + float(values.float().sum())
            count += len(next(iter(measures.values())))
        self.network.train()
        means = {name: total / count for name, total in sums.items()}
        self._check(stage, means, iteration)
        self._row(
            kind="validation", stage=stage.name, iteration=iteration, samples=iteration * stage.batch, **means, n=count
        )
        first = self._best_stage != stage.name
        if first or stage.keep_last or stage.cost(means) < stage.cost(self._best):
            self._best = {**means, "iteration": iteration}
            self._checks_without_better = 0
            self._keep_best(stage)
        else:
            self._checks_without_better += 1
        self._clock += time.monotonic() - before  # the rate is that of training
        shown = ", ".join(f"{name} {value:.4f}" for name, value in means.items())
        self.tell(Beat(stage.name, iteration, iterations, validation=means, note=f"validation {shown}"))
        return means

    def _sample(self, examples: Examples) -> dict[str, Tensor]:
        batch = make(examples, min(_VALIDATION_BATCH, len(examples)), _VALIDATION_SEED, 0)
        return {name: values.to(self.fabric.device) for name, values in batch.items()}

    def _warn(self, stage: Stage, iteration: int, iterations: int, seen: Symptom | None) -> None:
        """Tell of what was seen, once a stage for each kind; the training goes on."""
        if seen and f"{stage.name} {seen.kind}" not in self._warned:
            self._warned.add(f"{stage.name} {seen.kind}")
            self._row(kind="warning", stage=stage.name, iteration=iteration, warning=seen.kind, text=seen.text)
            self.tell(Beat(stage.name, iteration, iterations, note=f"warning: {seen.text}"))

    def _keep_best(self, stage: Stage) -> None:
        self._best_stage = stage.name
        (self.path / ONNX).unlink(missing_ok=True)  # an export of other weights; the next one comes at the end
        save_weights(self.network, self.path / WEIGHTS)

    def _snapshot(self, number: int, stage: Stage, optimiser: torch.optim.Optimizer, iteration: int) -> None:
        before = time.monotonic()
        folder = self.path / SNAPSHOTS
        folder.mkdir(exist_ok=True)
        save_weights(self.network, folder / f"{stage.name}-{iteration:06d}.safetensors")
        thin(folder, [stage.name for stage in self.stages], self.plan.snapshot_megabytes)
        self._save(number, iteration, optimiser)
        self._clock += time.monotonic() - before


def save_weights(network: nn.Module, path: Path) -> None:
    """Write the network's weights whole or not at all."""
    write_whole(path, save({name: value.contiguous() for name, value in network.state_dict().items()}))
