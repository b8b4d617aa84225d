"""What a system is: everything one paper says, in one file, and nothing that all of them share.

A system names its games, builds its network, and lists the stages of its training; the loop, snapshots, intervals and
faces are the same for all and never ask which system they serve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from kibitz.store.store import Store

Arrays = dict[str, NDArray[Any]]
Tensors = Mapping[str, Tensor]


class Examples(Protocol):
    """What a stage learns from: numbered examples, made when asked for."""

    def __len__(self) -> int: ...

    def batch(self, numbers: NDArray[np.int64], epoch: int) -> Arrays:
        """The examples with these numbers (0 .. len - 1) as arrays whose first axis is the example.

        Must depend on its arguments alone, chance included, so that a broken training goes on exactly.
        """


def batches_in_epoch(examples: int, batch: int) -> int:
    """Full batches in one pass; the few examples left over are in another place of the next pass's order."""
    return max(1, examples // batch)


@dataclass(frozen=True)
class Stage:
    """One part of a network, trained on one loss.

    loss: tensors of a batch -> (mean loss to be minimised, measures by name, each one value per example).
    learning_rate: (iteration from 0, all iterations) -> rate.
    iterations: batches; None for `epochs` passes over the examples. most_epochs: passes at most in either case, so that
    a recipe made for millions of positions stops in good time on a few; 0 for no limit.
    better: the measure that early stopping watches, smaller is better (of "accuracy", greater).
    keep_last: train to the end and keep the last weights, whatever the validations say.
    guess: the mean loss over a batch of the best answer that is always the same; a training that stays there has
    learned nothing.
    """

    name: str
    module: nn.Module
    examples: Callable[[Store, NDArray[np.int64]], Examples]
    loss: Callable[[Tensors], tuple[Tensor, dict[str, Tensor]]]
    optimiser: Callable[[], torch.optim.Optimizer]
    learning_rate: Callable[[int, int], float]
    batch: int
    iterations: int | None
    epochs: float = 0.0
    most_epochs: float = 0.0
    better: str = "loss"
    keep_last: bool = False
    guess: Callable[[Tensors], float] | None = None

    def iterations_over(self, examples: int) -> int:
        """Batches of this stage over so many examples."""
        in_epoch = batches_in_epoch(examples, self.batch)
        planned = self.iterations or max(1, round(self.epochs * in_epoch))
        return min(planned, max(1, round(self.most_epochs * in_epoch))) if self.most_epochs else planned

    def cost(self, means: Mapping[str, float]) -> float:
        """What early stopping compares, smaller is better."""
        return 1 - means[self.better] if self.better == "accuracy" else means[self.better]


@dataclass(frozen=True)
class Recipe:
    """A way to train a system that is known to work: `kibitz train SYSTEM STORE --recipe NAME`.

    title: one line of what it is. settings: what differs from the defaults of the system's Settings. training: what
    differs from the defaults of the loop's Plan (intervals, patience). reaches: what it is known to reach, on what
    data, in what time on two cores; measured, each with its figure and n. departures: where the recipe is not to the
    letter of its paper, each with its reason.
    """

    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    reaches: Sequence[str] = ()
    departures: Sequence[str] = ()


def setting(default: Any, help: str) -> Any:
    """A field of a system's Settings: its default and one line of help with its unit; becomes an option of `train`."""
    return field(default=default, metadata={"help": help})


def settings_from(kind: type, values: Mapping[str, Any]) -> Any:
    """Settings from stored values; names that the class does not know are left out."""
    known = {f.name for f in fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in known})


class Network(Protocol):
    """What faces ask of a system's network beside its answers, see `System`."""

    outputs: tuple[str, ...]
    beyond: dict[str, int]


class System(Protocol):
    """One paper.

    `network(settings)` takes codes uint8 [n, squares] and state uint8 [n, numbers] and gives a tuple of tensors named
    by its attribute `outputs`, each ready for a reader (probabilities, not logits); planes are made inside it. A
    network that is told more than the position reads it from further columns of the state; its attribute `beyond`
    names them, with the value (0..255) of each where nobody says otherwise.
    `games(store, settings)` are the numbers of the store's games that the paper would take. `stages(network, settings)`
    train it. Its test table is in the room `examine/`, under its name, so that a system's file stays the paper.
    """

    name: ClassVar[str]
    game: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    anchor: ClassVar[str]
    settings_type: ClassVar[type]
    recipes: ClassVar[Mapping[str, Recipe]]
    """By name; "default" is what `train` takes where nothing is said, "paper" the paper's own numbers."""

    def check(self, settings: Any) -> None:
        """Raises UsageError, naming what is wrong, for settings that no network can be trained with."""

    def games(self, store: Store, settings: Any) -> NDArray[np.int64]: ...

    def network(self, settings: Any) -> nn.Module: ...

    def prepare(self, network: nn.Module, store: Store, games: NDArray[np.int64], settings: Any, seed: int) -> None:
        """Initial weights, drawn from `seed`; may look at training examples."""

    def stages(self, network: nn.Module, settings: Any) -> Sequence[Stage]: ...
