"""The interface of a system. A system implements one paper in one file.

A system selects its games, builds its network, and lists the stages of its training. The training loop, the
checkpoints, the commands and the board are the same for all systems; they are not in the system's file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from kibitz.errors import KibitzError, UsageError
from kibitz.messages import not_one_of
from kibitz.store.store import Store
from kibitz.systems import find
from kibitz.systems.declaration import Declaration
from kibitz.systems.spelling import AUTO, option_of, respelled

Arrays = dict[str, NDArray[Any]]
Tensors = Mapping[str, Tensor]
Loss = Callable[[Tensors], tuple[Tensor, dict[str, Tensor]]]
"""The loss of a stage, see `Stage`."""


class Examples(Protocol):
    """The training examples of a stage, computed when a batch needs them. They are numbered from 0 to len - 1."""

    def __len__(self) -> int: ...

    def batch(self, ids: NDArray[np.int64], epoch: int) -> Arrays:
        """Return the examples with these ids, int64 [n], as a dict of arrays. The first axis of each array is the
        example.

        The result, random choices included, must be a function of the arguments, so that an interrupted training run
        resumes exactly. Each example must depend only on its id and the epoch, so that several processes can share a
        batch. Otherwise the class must implement `part` (see `Parted`). Several threads call this method at the same
        time.
        """


@runtime_checkable
class Parted(Protocol):
    """Examples whose batches several processes can't divide row by row, because the rows of a batch belong together,
    for example as pairs.
    """

    def part(self, ids: NDArray[np.int64], epoch: int, rank: int, world: int) -> Arrays:
        """Return the part of a batch for process `rank` of `world` processes. The loss is a mean over the rows of the
        part.

        Each row is in the part of exactly one process. If the loss is a mean over groups of other rows, such as pairs,
        each part has the same share of every group.
        """


def batches_in_epoch(examples: int, batch: int) -> int:
    """Return the number of full batches in one pass over `examples` examples, at least 1.

    A pass skips the last examples, which don't fill a batch. Each pass skips different examples.
    """
    return max(1, examples // batch)


@dataclass(frozen=True)
class Stage:
    """One part of a network, trained on one loss.

    name: the stage's name, for example "piece".
    module: the part of the network that the stage trains.
    examples: a function that returns the training examples from some games of a store.
    loss: a function that takes the tensors of a batch. It returns the mean loss to minimize, and the metrics by name,
        each with one value per example.
    optimiser: a function that makes the optimizer.
    learning_rate: a function that takes the iteration, from 0, and the number of iterations. It returns the learning
        rate.
    batch: examples per batch, for example 512.
    iterations: number of batches; None for `epochs` passes over the examples.
    epochs: number of passes if `iterations` is None.
    most_epochs: largest number of passes, even if `iterations` would need more; 0 for no limit. The limit ends training
        early if there are only few positions for a recipe that is made for millions.
    monitor: the metric for early stopping and for the choice of the best weights. Lower is better, except for
        "accuracy".
    keep_last: whether to train to the end and keep the last weights, whatever the validation results are.
    constant_loss: a function that takes the tensors of a batch. It returns the mean loss of the best constant
        prediction. If a network's loss does not fall below this loss, the network has learned nothing.
    independent: whether the module shares no weights with other stages' modules and no other stage depends on it. If
        all stages are independent, they train in rounds (see training.rounds).
    time_share: the weight by which a time limit is divided among the stages.
    decay: factor of the learning rate after each pass over the examples, over 0 to 1.
    """

    name: str
    module: nn.Module
    examples: Callable[[Store, NDArray[np.int64]], Examples]
    loss: Loss
    optimiser: Callable[[], torch.optim.Optimizer]
    learning_rate: Callable[[int, int], float]
    batch: int
    iterations: int | None
    epochs: float = 0.0
    most_epochs: float = 0.0
    monitor: str = "loss"
    keep_last: bool = False
    constant_loss: Callable[[Tensors], float] | None = None
    independent: bool = False
    time_share: float = 1.0
    decay: float = 1.0

    def rate(self, iteration: int, iterations: int, examples: int) -> float:
        """Return the learning rate at an iteration, from 0 to `iterations` − 1. examples: the number of examples."""
        passes = iteration // batches_in_epoch(examples, self.batch)
        return self.learning_rate(iteration, iterations) * self.decay**passes

    def iterations_over(self, examples: int) -> int:
        """Return the number of batches of this stage. examples: the number of examples."""
        in_epoch = batches_in_epoch(examples, self.batch)
        planned = self.iterations or max(1, round(self.epochs * in_epoch))
        return min(planned, max(1, round(self.most_epochs * in_epoch))) if self.most_epochs else planned

    def monitor_value(self, means: Mapping[str, float]) -> float:
        """Return the monitored metric from the means of a validation, so that lower is better (see `monitor_value`)."""
        return monitor_value(self.monitor, means)


def monitor_value(monitor: str, means: Mapping[str, float]) -> float:
    """Return the monitored metric from the means of a validation, so that lower is better. If the metric is the
    accuracy, the result is 1 - accuracy.
    """
    return 1 - means[monitor] if monitor == "accuracy" else means[monitor]


DOCUMENT, READING, OURS, OFF = "document", "reading", "ours", "off"


@dataclass(frozen=True)
class ValueSource:
    """The source of a setting's value in a recipe.

    kind: one of four kinds. DOCUMENT: the document states the value. READING: the document can be read in several ways.
        OURS: the document doesn't mention the value. OFF: the setting is an addition of kibitz, which the recipe turns
        off.
    note: what the document states, in a few words.
    """

    kind: str
    note: str = ""


def document(note: str = "") -> ValueSource:
    """Return the source of a value that the document states."""
    return ValueSource(DOCUMENT, note)


def reading(note: str) -> ValueSource:
    """Return the source of a value that follows from one of several possible readings of the document."""
    return ValueSource(READING, note)


def ours(note: str = "not stated in the document") -> ValueSource:
    """Return the source of a value that the document does not state."""
    return ValueSource(OURS, note)


OPTION_OFF = ValueSource(OFF)
BF16_IF_FAST = ours(
    "bf16 if the processor computes in bf16, else float32. The document states no number format. --precision float32"
    " turns bf16 off"
)
"""The source of the precision "auto" in recipes of documents."""


@dataclass(frozen=True)
class Recipe:
    """A tested way to train a system: `kibitz train SYSTEM STORE --recipe NAME`.

    title: a title of one line.
    settings: values that differ from the defaults of the system's Settings.
    training: values that differ from the defaults of TrainConfig (intervals, patience).
    reaches: measured results, each with its value, n, data, and time on two cores.
    departures: the differences from the paper, each with its reason.
    """

    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    reaches: Sequence[str] = ()
    departures: Sequence[str] = ()
    sources: Mapping[str, ValueSource] = field(default_factory=dict)
    """For the recipe `paper`: the source of each value, by the name of the setting or of the field of `training`."""

    def value(self, name: str, settings: Any) -> Any:
        """Return the value of the setting or training option `name`. settings: the recipe's Settings."""
        return self.training[name] if name in self.training else getattr(settings, name)


_LARGEST = {int: 1e9, float: 1e30}
"""The largest value of a setting. torch and numpy can't represent larger numbers."""


def setting(
    default: Any,
    help: str,
    *,
    choices: Sequence[Any] = (),
    at_least: float | None = None,
    over: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> Any:
    """Declare a field of a system's Settings: its default, a help text of one sentence with the unit, and the allowed
    values.

    The field becomes an option of `train` and `tune`. choices: the allowed values. at_least, over, below, at_most:
    limits of a number; at_least and at_most are allowed values, over and below are not.
    """
    bounds = {"choices": tuple(choices), "at_least": at_least, "over": over, "below": below, "at_most": at_most}
    return field(default=default, metadata={"help": help, **bounds})


def fraction(default: float, help: str) -> Any:
    """Declare a setting that is at least 0 and less than 1."""
    return setting(default, help, at_least=0, below=1)


def check_bounds(settings: Any) -> None:
    """Raise UsageError, with the option's name, for the first setting outside its choices or limits."""
    for each in fields(settings):
        value, allowed = getattr(settings, each.name), _bounds(type(settings), each.name)
        if value == AUTO and isinstance(each.default, int):
            raise UsageError(
                f"{option_of(each.name)} must be a number (got {AUTO}). Only --batch of kibitz train can be {AUTO}."
            )
        choices = allowed.get("choices", ())
        if choices and value not in choices:
            raise UsageError(not_one_of(option_of(each.name), value, choices))
        if not _within(value, allowed):
            raise UsageError(f"{option_of(each.name)} must be {_bounds_in_words(allowed)} (got {value:g})")
        largest = _LARGEST.get(type(value), math.inf)
        if isinstance(value, (int, float)) and largest < abs(value) < math.inf:
            raise UsageError(f"{option_of(each.name)} must be at most {largest:g} (got {value:g})")


def _bounds(kind: type, name: str) -> Mapping[str, Any]:
    """Return the limits of a setting. If a subclass changes a field's default, the field keeps the limits of the base
    class.
    """
    for base in kind.__mro__:
        metadata = getattr(base, "__dataclass_fields__", {}).get(name)
        if metadata and any(value not in (None, ()) for key, value in metadata.metadata.items() if key != "help"):
            return cast("Mapping[str, Any]", metadata.metadata)
    return {}


def range_of(kind: type, name: str) -> str:
    """Return the range of a setting in words, such as "from 0 to 1"; "" for a setting without limits."""
    allowed = _bounds(kind, name)
    limited = any(allowed.get(limit) is not None for limit in ("at_least", "over", "below", "at_most"))
    return _bounds_in_words(allowed) if limited else ""


def _within(value: Any, allowed: Mapping[str, Any]) -> bool:
    low, over, below, high = (allowed.get(name) for name in ("at_least", "over", "below", "at_most"))
    if low is None and over is None and below is None and high is None:
        return True
    return (
        math.isfinite(value)
        and (low is None or value >= low)
        and (over is None or value > over)
        and (below is None or value < below)
        and (high is None or value <= high)
    )


def _bounds_in_words(allowed: Mapping[str, Any]) -> str:
    low, over, below, high = (allowed.get(name) for name in ("at_least", "over", "below", "at_most"))
    if low == 0 and below == 1:
        return "at least 0 and less than 1"
    if low == 0 and high == 1:
        return "from 0 to 1"
    if low is not None and (below is not None or high is not None):
        return f"from {low:g} to {high:g}" if high is not None else f"at least {low:g} and less than {below:g}"
    least = f"at least {low:g}" if low is not None else f"greater than {over or 0:g}"
    most = f"less than {below:g}" if below is not None else f"at most {high:g}" if high is not None else ""
    return f"{least} and {most}" if most else least


def settings_from(kind: type, values: Mapping[str, Any]) -> Any:
    """Build the Settings from the values in a run.json, which may have names of earlier versions.

    A setting that is missing in the file gets its default. If a setting was added later and its default changed the
    behavior, the class's `unnamed` has the value for such files. Raises KibitzError for a name that this version
    doesn't know, because its meaning can't be guessed.
    """
    known = {f.name for f in fields(kind)}
    current = respelled(values, known, {f.name: f.metadata.get("choices", ()) for f in fields(kind)})
    for name in current:
        if name not in known:
            raise KibitzError(
                f"the setting {name} is unknown to this version of kibitz. Install the version that trained the"
                " network."
            )
    return kind(**{**getattr(kind, "unnamed", {}), **current})


class Network(Protocol):
    """The attributes that every network of a system must have, see `System`."""

    outputs: tuple[str, ...]
    side_inputs: dict[str, int]


class System:
    """The implementation of one paper. A subclass sets `name`, `settings_type` and `recipes`, and builds and trains its
    network.

    `network(settings)` returns a network. The network takes `codes`, uint8 [n, squares], and `state`, uint8
    [n, numbers]. It returns a tuple of tensors, named by its attribute `outputs` (see systems.declaration.OUTPUTS).
    Outputs are probabilities, not logits. The network computes its input planes from these arrays. A network with side
    inputs, such as ratings, reads them from further columns of the state. Its attribute `side_inputs` maps the name of
    each side input to the value (0 to 255) that is used if an interface has no value for it.

    The `Declaration` has everything else that kibitz must know about the system.
    """

    name: ClassVar[str]
    settings_type: ClassVar[type]
    recipes: Mapping[str, Recipe] = {}
    """Recipes by name. `train` uses "default" if the command names no recipe. "paper" has the values of the paper."""
    networks: tuple[str, ...] = ()
    """Names of the networks that a run trains separately, for the option --networks; () if the system has a single
    network.
    """
    begins_from: tuple[str, ...] = ()
    """Other systems whose networks `--start-from` accepts; `adopt` converts their weights."""

    @property
    def declaration(self) -> Declaration:
        return find(self.name)

    @property
    def game(self) -> str:
        return self.declaration.game

    def check(self, settings: Any) -> None:
        """Check the settings. Raises UsageError, which describes the fault, if no network can be trained with them.

        This method checks the choices and limits of each field. Systems add checks of combinations.
        """
        check_bounds(settings)

    def games(self, store: Store, settings: Any) -> NDArray[np.int64]:
        """Return the indices of the store's games that the paper would use, int64 [n]; by default,
        these are all games.
        """
        return np.arange(len(store))

    def network(self, settings: Any) -> nn.Module:
        """Return the network for these settings, with torch's initial weights."""
        raise NotImplementedError

    def prepare(self, network: nn.Module, store: Store, games: NDArray[np.int64], settings: Any, seed: int) -> None:
        """Set the initial weights from `seed`. A system may use training examples for this; games: int64 [n], the
        indices of the training games. By default, torch's initial weights stay.
        """

    def adopt(self, network: nn.Module, system: str, weights: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Return initial weights for `network`, taken from a trained network of `system`.

        By default these are the trained network's weights, which must have the same shapes. Systems may convert weights
        of other shapes. Raises UsageError if the weights don't fit.
        """
        if {name: value.shape for name, value in weights.items()} != {
            name: value.shape for name, value in network.state_dict().items()
        }:
            raise UsageError(
                "the two networks have different architectures. Leave out the settings that change the network."
            )
        return weights

    def stages(self, network: nn.Module, settings: Any) -> Sequence[Stage]:
        """Return the stages of training, in order."""
        raise NotImplementedError


def grown(begun: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of a new network that starts from a trained network. Each weight that the trained network has
    is taken from there. begun: all weights of the new network, by name. weights: the weights of the trained network, by
    name.

    Residual blocks that only `begun` has become identities: their second convolution is set to 0. Normalization layers
    that only `begun` has stay identities. Raises UsageError if the trained network has weights that `begun` lacks, such
    as more blocks, or other shapes.
    """
    taken = dict(begun)
    for stored, value in weights.items():
        normal = stored.replace("first.bias", "norm.bias")
        name = normal if stored not in taken and normal in taken else stored
        if name not in taken:
            remedy = "Add --norm." if ".norm." in name else "Use the same number of --blocks."
            raise UsageError(f"the layer {name} of that network is not in the new network. {remedy}")
        if value.shape != taken[name].shape:
            raise UsageError(
                f"the layer {name} has different shapes in the two networks. Leave out the settings that change this"
                " layer."
            )
        taken[name] = value
    for name, value in begun.items():
        if name.endswith(("second.weight", "second.bias")) and name not in weights:
            taken[name] = torch.zeros_like(value)
    return taken
