"""The common part of the chess and Go systems (kinds of networks) for one person. Such networks are trained in a single
stage. It trains the adapters, which are small layers in a frozen network, or all weights.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from kibitz.errors import UsageError
from kibitz.personal.adapter import Adapter
from kibitz.store.store import Store
from kibitz.systems.base import Examples, Stage, System, Tensors


class PersonalSystem(System):
    """The base class of the systems (kinds of networks) for a network of one person. `kibitz personal` trains such
    networks from the weights of a network of the base system, such as `human`.

    The network must have the attribute `adapters`, a list of Adapter (a small trainable layer). The class attribute
    `begins_from` contains only the name of the base system.

    example: the name of a file of games, such as "my-games.pgn", which error messages use as an example.
    """

    example: str

    @abstractmethod
    def examples(self, store: Store, games: NDArray[np.int64], network: Any, settings: Any) -> Examples:
        """Return the training examples: the positions in which the person moved, in the given games of the store."""

    @abstractmethod
    def draw_weights(self, network: Any, generator: torch.Generator) -> None:
        """Set all weights of a network to random initial values, except the weights of its adapters (small trainable
        layers).
        """

    @abstractmethod
    def loss(self, network: Any, batch: Tensors) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the mean loss of a batch, and each position's metrics: a dict from names to float32 tensors [n]."""

    def check(self, settings: Any) -> None:
        super().check(settings)
        if not settings.spellings:
            raise UsageError(
                f"the system {self.name} cannot be trained with kibitz train. Use: kibitz personal {self.example}"
                " --player NAME"
            )

    def prepare(self, network: nn.Module, store: Store, games: NDArray[np.int64], settings: Any, seed: int) -> None:
        self.draw_weights(network, torch.Generator().manual_seed(seed))
        with torch.no_grad():
            for adapter in cast(nn.ModuleList, network.adapters):
                cast(Adapter, adapter).up.weight.zero_()

    def adopt(self, network: nn.Module, system: str, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the initial weights for `network`, as a dict from a weight's name to its tensor. The adapters (small
        trainable layers) keep their weights, and all other weights come from the base network.

        system: the name of the base network's system. weights: the weights of the base network, as a dict from a
        weight's name to its tensor. Raises UsageError if the two networks have different architectures.
        """
        begun = dict(network.state_dict())
        theirs = {name: value.shape for name, value in weights.items()}
        if theirs != {name: value.shape for name, value in begun.items() if not name.startswith("adapters.")}:
            raise UsageError(
                f"the two networks have different architectures. Choose a run of the system '{self.begins_from[0]}'"
                " with the same"
                " number of blocks and filters."
            )
        return {**begun, **weights}

    def stages(self, network: nn.Module, settings: Any) -> Sequence[Stage]:
        return [
            Stage(
                name="moves",
                module=network,
                examples=lambda store, games: self.examples(store, games, network, settings),
                loss=lambda batch: self.loss(network, batch),
                optimiser=lambda: torch.optim.AdamW(
                    [p for p in network.parameters() if p.requires_grad], weight_decay=0.0
                ),
                learning_rate=lambda iteration, iterations: settings.learning_rate * (1 - iteration / iterations),
                batch=settings.batch,
                iterations=None,
                epochs=settings.epochs,
            )
        ]
