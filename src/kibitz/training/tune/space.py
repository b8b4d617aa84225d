"""What a search tries: learning rates, regularisation and initial weights, on a grid or drawn from it."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.errors import UsageError
from kibitz.systems import load
from kibitz.systems.base import System
from kibitz.training.trainer import TrainConfig

if TYPE_CHECKING:
    from optuna import Trial

SEARCHED = ("learning_rate", "weight_decay", "initial")
"""The settings that are searched for."""
INITIALS = ("he", "xavier", "0.01", "mocha", "unit")
"""Initial weights that systems know; a system's usual grid has those that it accepts."""


@dataclass(frozen=True)
class Grid:
    """What to try. Drawn trials take rates and coefficients between the least and the largest, on a scale of powers."""

    learning_rates: tuple[float, ...]
    weight_decays: tuple[float, ...]
    initials: tuple[str, ...]

    def points(self, seed: int) -> list[dict[str, Any]]:
        """Every combination, in an order drawn from the seed, so that the first few already say something of all."""
        every = list(itertools.product(self.learning_rates, self.weight_decays, self.initials))
        order = np.random.default_rng(seed).permutation(len(every))
        return [dict(zip(SEARCHED, every[i], strict=True)) for i in order]


@dataclass(frozen=True)
class TuneConfig:
    """What a search is about.

    settings: the system's, the same in every trial but for what is searched; network: which network the trials train,
    of a system that has several; iterations: batches of a trial; trials: how many are drawn, None for the whole grid;
    prune: give a trial up when its validation loss is over the median of those before it.
    """

    system: str
    store: str
    settings: Any
    grid: Grid
    network: str = ""
    iterations: int = 2000
    trials: int | None = None
    prune: bool = True
    plan: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        _check_searchable(self.system, self.settings)
        several = load(self.system).networks
        for name in self.network.split(",") if self.network else []:
            if name not in ("all", *several):
                raise UsageError(
                    f"--network {self.network}: choose from {', '.join(several)}"
                    if several
                    else f"--network {self.network}: {self.system} is one network; leave the option out"
                )

    @property
    def total(self) -> int:
        grid = self.grid
        return self.trials or len(grid.learning_rates) * len(grid.weight_decays) * len(grid.initials)

    def named(self, name: str) -> str:
        """The name that a setting has for the network that is trained."""
        return _named(self.settings, self.network, name)

    @cached_property
    def base(self) -> Any:
        """The settings of a trial, but for what is searched."""
        changed: dict[str, Any] = {self.named("iterations"): self.iterations}
        if self.network:
            changed["networks"] = self.network
        return replace(self.settings, **changed)

    def at(self, point: dict[str, Any]) -> Any:
        """The settings of the trial with these values of what is searched."""
        return replace(self.base, **{self.named(name): value for name, value in point.items()})

    def about(self, data: dict[str, Any]) -> dict[str, Any]:
        """All that makes two searches the same one, in JSON's types."""
        same = {name: value for name, value in asdict(self.base).items() if name not in map(self.named, SEARCHED)}
        return {
            "system": self.system, **same, **{name: list(values) for name, values in asdict(self.grid).items()},
            "drawn": self.trials is not None, "seed": self.plan.seed, "precision": self.plan.precision,
            "validate_positions": self.plan.validate_positions,
            "fingerprint": data["fingerprint"], "split": data["split"],
        }  # fmt: skip


def _named(settings: Any, network: str, name: str) -> str:
    """A setting's name for one network, which may have one of its own: value_learning_rate for learning_rate."""
    own = f"{network}_{name}"
    return own if hasattr(settings, own) else name


def _check_searchable(system: str, settings: Any) -> None:
    """Raises UsageError for a system without the settings that a search is about."""
    lacking = [name for name in (*SEARCHED, "iterations") if not hasattr(settings, name)]
    if lacking:
        raise UsageError(f"{system}: has no setting {lacking[0]}, so that there is nothing to search for")


def usual_grid(system: System, network: str = "") -> Grid:
    """A grid about the system's own numbers: half a power of ten to either side of its learning rate.

    Raises UsageError for a system without such settings.
    """
    own = system.settings_type()
    _check_searchable(system.name, own)
    rate = getattr(own, _named(own, network, "learning_rate"))
    rates = [float(f"{rate * factor:.1g}") for factor in (10**-0.5, 10**0.5)]
    initials = []
    for initial in INITIALS:
        with contextlib.suppress(UsageError):
            system.check(replace(own, initial=initial))
            initials.append(initial)
    return Grid((rates[0], rate, rates[1]), tuple(sorted({0.0, 0.0001, 0.001, own.weight_decay})), tuple(initials))


def of_grid(trial: Trial, grid: Grid) -> dict[str, Any]:
    """What is searched, as the grid has it for this trial."""
    values = (getattr(grid, f.name) for f in fields(grid))
    return {name: trial.suggest_categorical(name, list(some)) for name, some in zip(SEARCHED, values, strict=True)}


def drawn(trial: Trial, grid: Grid) -> dict[str, Any]:
    """What is searched, drawn by Optuna; rounded, so that a person can type it."""

    def between(name: str, values: Sequence[float]) -> float:
        if min(values) == max(values):
            return values[0]
        return float(f"{trial.suggest_float(name, min(values), max(values), log=True):.3g}")

    rate = between("learning_rate", grid.learning_rates)
    positive = [value for value in grid.weight_decays if value > 0]
    decays = bool(positive)
    if positive and len(positive) < len(grid.weight_decays):  # 0 is on no scale of powers: a question of its own
        decays = trial.suggest_categorical("decays", [False, True])
    return {
        "learning_rate": rate,
        "weight_decay": between("weight_decay", positive) if decays else 0.0,
        "initial": trial.suggest_categorical("initial", list(grid.initials)),
    }
