"""The search space of a hyperparameter search: learning rates, weight decays and initial weights, all combinations of
some values or random samples.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.errors import UsageError
from kibitz.messages import not_one_of
from kibitz.systems import load
from kibitz.systems.base import System
from kibitz.training.trainer import TrainConfig

if TYPE_CHECKING:
    from optuna import Trial

INITIAL = "initial"
SEARCHED = ("learning_rate", "weight_decay", INITIAL)
"""Names of the hyperparameters that a search varies. The last one, the kind of initial weights, is varied only if the
system has this setting.
"""
INITIALS = ("he", "xavier", "0.01", "mocha", "unit")
"""Kinds of initial weights. The default search space has those that the system accepts."""


@dataclass(frozen=True)
class Grid:
    """The values of each hyperparameter that a search tries. initials: the kinds of initial weights; empty if the
    system (kind of network) has no choice of initial weights.

    The search tries all combinations, or samples. Samples of learning rates and weight decays are log-uniform between
    the smallest and the largest value. A weight decay of 0 is a separate choice.
    """

    learning_rates: tuple[float, ...]
    weight_decays: tuple[float, ...]
    initials: tuple[str, ...]

    @property
    def values(self) -> dict[str, tuple[Any, ...]]:
        """A dict from the name of each hyperparameter to the values to try."""
        every = zip(SEARCHED, (self.learning_rates, self.weight_decays, self.initials), strict=True)
        return {name: some for name, some in every if some}

    @property
    def total(self) -> int:
        """The number of combinations of the values."""
        return math.prod(map(len, self.values.values()))

    def points(self, seed: int) -> list[dict[str, Any]]:
        """Return all combinations of the values in a random order. Each combination is a dict from the names of the
        hyperparameters to values. seed: the seed of the order.
        """
        every = list(itertools.product(*self.values.values()))
        order = np.random.default_rng(seed).permutation(len(every))
        return [dict(zip(self.values, every[i], strict=True)) for i in order]


@dataclass(frozen=True)
class TuneConfig:
    """The definition of a hyperparameter search.

    system: the name of the system (kind of network).
    store: the path of the game store.
    settings: the settings of all trials. In each trial, the values of the hyperparameters replace those in `settings`.
    grid: the values of the hyperparameters to try.
    network: the network to train, if the system has several; "" for a system with one network.
    iterations: the number of batches per trial, such as 2000.
    trials: the number of sampled trials; None to try all combinations of the grid.
    prune: whether to end a trial early if its validation is worse than the median of the earlier trials.
    plan: the options of the training loop.
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
        if self.grid.initials and not hasattr(self.settings, INITIAL):
            raise UsageError(
                f"--initials does not work with {self.system}, which has only one kind of initial weights (got"
                f" {','.join(self.grid.initials)})"
            )
        several = load(self.system).networks
        for name in self.network.split(",") if self.network else []:
            if name not in (("all", *several) if several else ()):
                raise UsageError(
                    not_one_of("--network", self.network, several)
                    if several
                    else f"--network does not work with {self.system}, which is a single network (got"
                    f" {self.network}). Leave it out."
                )

    @property
    def total(self) -> int:
        """The number of trials of the search."""
        return self.trials or self.grid.total

    def named(self, name: str) -> str:
        """Return the name that a hyperparameter has in the Settings of the system (kind of network). If the trained
        network has a separate setting for it, the result is the name of this setting, such as "value_learning_rate" for
        "learning_rate".
        """
        return _named(self.settings, self.network, name)

    @cached_property
    def base(self) -> Any:
        """The settings that all trials share, as an instance of the Settings of the system (kind of network)."""
        changed: dict[str, Any] = {self.named("iterations"): self.iterations}
        if self.network:
            changed["networks"] = self.network
        return replace(self.settings, **changed)

    def at(self, point: dict[str, Any]) -> Any:
        """Return the complete settings of a trial, as an instance of the Settings of the system (kind of network).
        point: a dict from the names of the hyperparameters to the trial's values.
        """
        return replace(self.base, **{self.named(name): value for name, value in point.items()})

    def fingerprint(self, data: dict[str, Any], monitor: str) -> dict[str, Any]:
        """Return a dict for JSON that identifies this search. A file with another fingerprint belongs to another
        search.

        data: the description of the training data. monitor: the metric by which trials are compared. An earlier version
        had a fault: if the metric was accuracy, it chose the least accurate trial. For accuracy, the fingerprint
        therefore differs from the fingerprint of that version. So files of that version are not resumed.
        """
        same = {name: value for name, value in asdict(self.base).items() if name not in map(self.named, SEARCHED)}
        return {
            "system": self.system, **same, **{name: list(values) for name, values in asdict(self.grid).items()},
            "drawn": self.trials is not None, "seed": self.plan.seed, "precision": self.plan.precision,
            "validate_positions": self.plan.validate_positions,
            "fingerprint": data["fingerprint"], "split": data["split"],
            **({"compared_by": "1 - accuracy"} if monitor == "accuracy" else {}),
        }  # fmt: skip


def _named(settings: Any, network: str, name: str) -> str:
    """Return the name of a setting for one network. If the network has a separate setting, its name is returned, such
    as "value_learning_rate" for "learning_rate".
    """
    own = f"{network}_{name}"
    return own if hasattr(settings, own) else name


def _check_searchable(system: str, settings: Any) -> None:
    """Raise UsageError if the system lacks a setting that a search needs."""
    needed = [name for name in (*SEARCHED, "iterations") if name != INITIAL]
    lacking = [name for name in needed if not hasattr(settings, name)]
    if lacking:
        raise UsageError(
            f"{system} has no setting {lacking[0]}, so kibitz tune cannot train it. Choose another system."
        )


def usual_grid(system: System, network: str = "") -> Grid:
    """Return the default search space of a system (kind of network). The learning rates are the default of the
    settings, and this default divided and multiplied by √10 (rounded). The weight decays are 0, 0.0001, 0.001 and the
    default. The initial weights are all kinds that the system allows. network: the network to train, if the system has
    several.

    Raises UsageError if the system lacks a setting that a search needs: learning rate, weight decay or number of
    iterations.
    """
    own = system.settings_type()
    _check_searchable(system.name, own)
    rate = getattr(own, _named(own, network, "learning_rate"))
    rates = [float(f"{rate * factor:.1g}") for factor in (10**-0.5, 10**0.5)]
    initials = []
    for initial in INITIALS if hasattr(own, INITIAL) else ():
        with contextlib.suppress(UsageError):
            system.check(replace(own, initial=initial))
            initials.append(initial)
    return Grid((rates[0], rate, rates[1]), tuple(sorted({0.0, 0.0001, 0.001, own.weight_decay})), tuple(initials))


def of_grid(trial: Trial, grid: Grid) -> dict[str, Any]:
    """Return the hyperparameters of a trial as a dict from names to values: one combination of the grid's values.
    trial: Optuna's trial, which selects the combination.
    """
    return {name: trial.suggest_categorical(name, list(some)) for name, some in grid.values.items()}


def sampled(trial: Trial, grid: Grid) -> dict[str, Any]:
    """Return the hyperparameters of a trial as a dict from names to values, which Optuna samples within the limits of
    `grid`. Numbers are rounded, so that they are easy to type.
    """

    def between(name: str, values: Sequence[float]) -> float:
        if min(values) == max(values):
            return values[0]
        return float(f"{trial.suggest_float(name, min(values), max(values), log=True):.3g}")

    rate = between("learning_rate", grid.learning_rates)
    positive = [value for value in grid.weight_decays if value > 0]
    decays = bool(positive)
    if positive and len(positive) < len(grid.weight_decays):  # a logarithmic scale has no 0, so 0 is sampled separately
        decays = trial.suggest_categorical("decays", [False, True])
    return {
        "learning_rate": rate,
        "weight_decay": between("weight_decay", positive) if decays else 0.0,
        **({INITIAL: trial.suggest_categorical(INITIAL, list(grid.initials))} if grid.initials else {}),
    }
