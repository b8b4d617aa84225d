"""The interface of a system. A system is a kind of network, and implements one paper in one file.

A system selects its games, builds its network, and lists the stages of its training. A stage trains one part of the
network. The training loop, the checkpoints, the commands and the browser interface are the same for all systems, and
not in the system's file.
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
"""The type of the loss function of a training stage, see `Stage`."""


class Examples(Protocol):
    """The interface of the training examples of a stage (a part of the training). Each example has an id, from 0 to
    len(examples) - 1. An example is computed when a batch needs it.
    """

    def __len__(self) -> int: ...

    def batch(self, ids: NDArray[np.int64], epoch: int) -> Arrays:
        """Return the examples with these ids, int64 [n], as a dict of arrays. The first axis of each array runs over
        the examples.

        The result, including random choices, must depend only on the arguments, so that an interrupted training resumes
        exactly. Each example must depend only on its id and the epoch, so that several processes can share a batch;
        classes for which this is false must implement `Parted`. Several threads call this method at the same time.
        epoch: the number of the pass over the examples, from 0.
        """


@runtime_checkable
class Parted(Protocol):
    """The interface of examples whose batches can't be divided among processes row by row, because several rows of a
    batch belong together, such as the two positions of a pair.
    """

    def part(self, ids: NDArray[np.int64], epoch: int, rank: int, world: int) -> Arrays:
        """Return the rows of a batch with which one process computes its loss. Each row belongs to exactly one process.

        ids: the ids of the examples of the whole batch, int64 [n]. epoch: the number of the pass over the examples.
        rank: the index of the process. world: the number of processes.

        The loss of a process is the mean over its rows. If the loss is a mean over groups of rows, such as pairs, each
        process gets the same share of the groups.
        """


def batches_in_epoch(examples: int, batch: int) -> int:
    """Return the number of full batches in one pass over the examples, at least 1. examples: the number of examples.
    batch: the number of examples per batch.

    The last examples of a pass, which don't fill a batch, are skipped. These are different examples in each pass.
    """
    return max(1, examples // batch)


@dataclass(frozen=True)
class Stage:
    """One stage of training: a part of a network and the loss on which it is trained.

    name: the name of the stage, such as "piece".
    module: the part of the network that the stage trains.
    examples: a function that takes a store and the indices of its training games, and returns the examples.
    loss: a function that takes the tensors of a batch. It returns the mean loss to minimize, and the metrics: a dict
        from names to tensors with one value per example.
    optimiser: a function that makes the optimizer.
    learning_rate: a function that takes the iteration, from 0, and the total number of iterations. It returns the
        learning rate.
    batch: the number of examples per batch, such as 512.
    iterations: the number of batches; None for `epochs` passes over the examples.
    epochs: the number of passes if `iterations` is None.
    most_epochs: the largest number of passes, even if `iterations` would need more; 0 for no limit. The limit ends
        training early if a recipe for millions of positions is used with few positions.
    monitor: the metric for early stopping and for choosing the best weights. Lower is better, except for "accuracy".
    keep_last: whether to train to the end and keep the last weights, whatever the validation results are.
    constant_loss: a function that takes the tensors of a batch. It returns the mean loss of the best constant
        prediction. A network whose loss is not lower has learned nothing.
    independent: whether the module shares no weights with the modules of other stages, and no other stage depends on
        it. If all stages are independent, they train in rounds (see training.rounds).
    time_share: the weight of this stage when a time limit is divided among the stages.
    decay: the factor by which each pass over the examples multiplies the learning rate, greater than 0 and at most 1.
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
        """Return the learning rate at an iteration of this stage (a part of the training). iteration: the index of the
        iteration, from 0. iterations: the number of iterations of the stage. examples: the number of training examples.
        """
        passes = iteration // batches_in_epoch(examples, self.batch)
        return self.learning_rate(iteration, iterations) * self.decay**passes

    def iterations_over(self, examples: int) -> int:
        """Return the number of batches that this stage (a part of the training) trains on. examples: the number of
        training examples.
        """
        in_epoch = batches_in_epoch(examples, self.batch)
        planned = self.iterations or max(1, round(self.epochs * in_epoch))
        return min(planned, max(1, round(self.most_epochs * in_epoch))) if self.most_epochs else planned

    def monitor_value(self, means: Mapping[str, float]) -> float:
        """Return the value of the metric that this stage of the training monitors, in a form in which lower is better
        (see the function `monitor_value`). means: a dict from the name of each metric to its mean over the validation
        examples.
        """
        return monitor_value(self.monitor, means)


def monitor_value(monitor: str, means: Mapping[str, float]) -> float:
    """Return the value of a metric in a form in which lower is better: 1 - accuracy for "accuracy", and the metric
    itself for all others.

    monitor: the name of the metric. means: a dict from the name of each metric to its mean over the validation
    examples.
    """
    return 1 - means[monitor] if monitor == "accuracy" else means[monitor]


DOCUMENT, READING, OURS, OFF = "document", "reading", "ours", "off"


@dataclass(frozen=True)
class ValueSource:
    """The source of a setting's value in a recipe that reproduces a document, such as a paper.

    kind: DOCUMENT if the document states the value. READING if the document's text is ambiguous, and the value is one
        of its possible meanings. OURS if the document doesn't state the value, and kibitz chose it. OFF if the recipe
        turns the setting off, because it is an addition of kibitz, or because this recipe has no use for it.
    note: what the document states, in a few words.
    """

    kind: str
    note: str = ""


def document(note: str = "") -> ValueSource:
    """Return the source of a setting's value that a document, such as a paper, states. note: what it states, in a few
    words.
    """
    return ValueSource(DOCUMENT, note)


def reading(note: str) -> ValueSource:
    """Return the source of a setting's value that comes from an ambiguous statement in a document, such as a paper.
    note: the statement, and the meaning that kibitz chose.
    """
    return ValueSource(READING, note)


def ours(note: str = "not stated in the document") -> ValueSource:
    """Return the source of a setting's value that kibitz chose, because the document (such as a paper) does not state
    it. note: the reason.
    """
    return ValueSource(OURS, note)


OPTION_OFF = ValueSource(OFF)
BF16_IF_FAST = ours(
    "bf16 if the processor computes in bf16, else float32. The document does not name a number format. --precision"
    " float32 turns bf16 off"
)
"""The source of the precision "auto", in recipes that reproduce a document."""


@dataclass(frozen=True)
class Recipe:
    """A tested set of settings for training a system (kind of network): `kibitz train SYSTEM STORE --recipe NAME`.

    title: a description in one line.
    settings: values of the system's Settings that differ from the defaults.
    training: values of TrainConfig, such as intervals and patience, that differ from the defaults.
    reaches: measured results of the recipe in words, each with the number of test examples, the data, and the training
        time on two CPU cores.
    departures: the differences between the recipe and the paper or other document, each with its reason.
    sources: a dict from the names of settings to the sources of their values, such as the paper.
    """

    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    reaches: Sequence[str] = ()
    departures: Sequence[str] = ()
    sources: Mapping[str, ValueSource] = field(default_factory=dict)
    """For the recipe `paper`: the source of each value, by the name of the setting or of the field of `training`."""

    def value(self, name: str, settings: Any) -> Any:
        """Return the value that a setting, or an option of the training loop, has in this recipe. name: the name of the
        setting or option. settings: an instance of the Settings of the system (kind of network) with the recipe's
        values.
        """
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
    """Declare a field of the Settings of a system (kind of network), with its default and limits. The field becomes an
    option of `kibitz train` and `kibitz tune`.

    help: the option's help text, one sentence with the unit. choices: the allowed values; () for all. at_least,
    at_most: inclusive limits of a number. over, below: exclusive limits.
    """
    bounds = {"choices": tuple(choices), "at_least": at_least, "over": over, "below": below, "at_most": at_most}
    return field(default=default, metadata={"help": help, **bounds})


def fraction(default: float, help: str) -> Any:
    """Declare a field of the Settings of a system (kind of network) that is at least 0 and less than 1. default: its
    default value. help: the option's help text.
    """
    return setting(default, help, at_least=0, below=1)


def check_bounds(settings: Any) -> None:
    """Raise UsageError if a setting is not among its choices or not within its limits. The message names the option."""
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
    """Return the allowed range of a setting in words, such as "from 0 to 1"; "" if the setting has no limits.

    kind: the Settings class of the system (kind of network). name: the name of the setting.
    """
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
    least = f"at least {low:g}" if low is not None else f"greater than {over:g}" if over is not None else ""
    most = f"less than {below:g}" if below is not None else f"at most {high:g}" if high is not None else ""
    return " and ".join(filter(None, (least, most)))


def settings_from(kind: type, values: Mapping[str, Any]) -> Any:
    """Build the Settings of a system, a kind of network, from the stored settings of a run (a trained network). kind:
    the Settings class. values: a dict from the name of each stored setting to its value. The names may be those of
    earlier versions.

    If `values` lacks a setting, the setting gets its default. A few newer settings are an exception, because their
    defaults would change how older networks work. The dict `kind.unnamed` has the values of these settings for older
    networks. Raises KibitzError for an unknown setting, because its meaning can't be guessed.
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
    """The attributes that every network must have. outputs: the names of its outputs. side_inputs: a dict from the name
    of each side input (an input in addition to the position) to its default value. See `System`.
    """

    outputs: tuple[str, ...]
    side_inputs: dict[str, int]


class System:
    """The base class of the systems (kinds of networks). A subclass implements a paper: it sets `name`, `settings_type`
    and `recipes`, and builds and trains its network.

    `network(settings)` returns a network. Its inputs are `codes`, the pieces or stones, uint8 [n, squares], and
    `state`, the side to move and more, uint8 [n, columns]. It returns a tuple of tensors, whose names are in the
    attribute `outputs` of the network (see systems.declaration.OUTPUTS). Outputs are probabilities, not logits.

    A network may have side inputs, such as ratings, which are additional columns of `state`. Its attribute
    `side_inputs` maps the name of each side input to its default (0 to 255), which is used if the value is unknown.

    The `Declaration` has everything else that kibitz must know about the system.
    """

    name: ClassVar[str]
    settings_type: ClassVar[type]
    recipes: Mapping[str, Recipe] = {}
    """The recipes (sets of training settings) by name. `kibitz train` uses "default" if the command names no recipe.
    "paper" follows the document that the declaration names, such as a summary of the paper.
    """
    networks: tuple[str, ...] = ()
    """Names for the option --networks: the networks that this system trains separately; () if the system has a single
    network.
    """
    begins_from: tuple[str, ...] = ()
    """Names of other systems whose trained networks `kibitz train --start-from` accepts. The method `adopt` converts
    their weights.
    """

    @property
    def declaration(self) -> Declaration:
        """The declaration of this system (kind of network), which describes it without torch."""
        return find(self.name)

    @property
    def game(self) -> str:
        """The game of this system (kind of network), "chess" or "go"."""
        return self.declaration.game

    def check(self, settings: Any) -> None:
        """Raise UsageError if no network can be trained with these settings. settings: an instance of `settings_type`.

        This method checks the choices and limits of each setting. Subclasses add checks of combinations.
        """
        check_bounds(settings)

    def games(self, store: Store, settings: Any) -> NDArray[np.int64]:
        """Return the games of a store that training can use: their indices, int64 [n]. By default, these are all games.
        Subclasses select the games that the paper would use.
        """
        return np.arange(len(store))

    def network(self, settings: Any) -> nn.Module:
        """Return a new network for these settings, with torch's initial weights."""
        raise NotImplementedError

    def prepare(self, network: nn.Module, store: Store, games: NDArray[np.int64], settings: Any, seed: int) -> None:
        """Set the initial weights of a new network. By default, torch's initial weights stay.

        games: int64 [n], the indices of the training games, for systems whose initial weights depend on training
        examples. seed: the seed for random numbers.
        """

    def adopt(self, network: nn.Module, system: str, weights: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Return initial weights for `network`, from the weights of a trained network of `system`.

        By default, the function returns `weights` unchanged; their names and shapes must be those of `network`. A
        subclass may also accept weights of other systems (other kinds of networks), and convert them. It lists these
        systems in its attribute `begins_from`. Raises UsageError if the weights don't fit.
        """
        if {name: value.shape for name, value in weights.items()} != {
            name: value.shape for name, value in network.state_dict().items()
        }:
            raise UsageError(
                "the two networks have different architectures. Leave out the settings that change the network."
            )
        return weights

    def stages(self, network: nn.Module, settings: Any) -> Sequence[Stage]:
        """Return the stages of training, in the order in which they are trained. Each stage trains a part of the
        network.
        """
        raise NotImplementedError


def grown(begun: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return initial weights for a network that extends a smaller trained network. Weights that the trained network has
    are copied.

    begun, weights: dicts from names to weights, for the new network and for the trained network.

    A residual block that the trained network lacks starts as the identity, because the weights of its second
    convolution are set to 0. Raises UsageError if a weight of the trained network is missing in `begun` or has another
    shape there.
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
