"""The network of one chess player: `human` with adapters, small layers that learn the person's moves while the other
weights don't change.

After each block comes an adapter: two 1×1 convolutions, to a few channels and back. Before training, its output equals
its input. With thousands of games, all weights may be trained instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from kibitz import ongoing
from kibitz.personal import names
from kibitz.personal.adapter import ADAPTERS, ALL, NOTHING, adapters, hold_the_rest
from kibitz.personal.chess.answers import position_keys
from kibitz.personal.games import NEITHER, OwnPositions, sides_of
from kibitz.personal.system import PersonalSystem
from kibitz.store.store import Store
from kibitz.systems import human
from kibitz.systems.base import Arrays, Examples, Recipe, Tensors, setting

RETENTION_WEIGHT = 0.3
"""The weight of the term of the loss for the predicted game results. The term keeps these predictions unchanged while
adapters learn moves.
"""


@dataclass(frozen=True)
class Settings(human.Settings):
    """The settings of the system (kind of network) `personal`. Each field is described in its declaration. The
    inherited settings `blocks` and `filters` must be the same as in the base network.
    """

    players: str = setting("", "Names of the person in the game records, one per line.")
    learns: str = setting(
        ADAPTERS,
        "Part to train; adapters: only the adapters; all: the whole network; nothing: no training.",
        choices=(ADAPTERS, ALL, NOTHING),
    )
    rank: int = setting(16, "Number of channels per adapter.", at_least=1)
    rating: int = setting(0, "Rating of the person, in units of 16 points; 0 means unknown.", at_least=0, at_most=255)
    opponent_rating: int = setting(
        0, "Rating of the usual opponent, in units of 16 points; 0 means unknown.", at_least=0, at_most=255
    )
    speed: int = setting(0, "Usual speed, as a code; 0 means unknown.", at_least=0)
    scale: int = setting(0, "Scale of the ratings, as a code; 0 means unknown.", at_least=0)
    balance: float = setting(0.0, "How often rare ratings are sampled; 0, because all games have the same weight.")
    withhold: float = setting(
        0.0, "Share of the samples that hide inputs; 0, because the network gets all known inputs."
    )
    learning_rate: float = setting(0.001, "Learning rate at the first iteration; it decays linearly to 0.", at_least=0)
    batch: int = setting(128, "Number of positions per batch.", at_least=1)
    epochs: int = setting(3, "Number of epochs.", at_least=1)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The person's names as the game records spell them, from the setting `players`."""
        return tuple(name for name in self.players.split(names.SEPARATOR) if name)


RECIPES = {"default": Recipe("adapters of rank 16 after every block", {})}


class PersonalHuman(human.Human):
    """The network `human` with an adapter, a small trainable layer, after each residual block. There are no adapters if
    the settings train all weights.

    Inputs and outputs are the same as for `human`. The default values of the side inputs (inputs in addition to the
    position) are typical for the person's games.
    """

    def __init__(self, settings: Settings):
        super().__init__(settings)
        inputs = {name: getattr(settings, name) for name in ("rating", "opponent_rating", "speed", "scale")}
        self.side_inputs = {**human.Human.side_inputs, **inputs}  # type: ignore[misc]
        self.learns = settings.learns
        count = settings.blocks if settings.learns == ADAPTERS else 0
        self.adapters = adapters(count, settings.filters, settings.rank)
        if settings.learns != ALL:
            hold_the_rest(self)

    def trunk(self, codes: Tensor, state: Tensor, adapted: bool = True) -> tuple[Tensor, Tensor]:
        """Return the features of the board, [n, filters, 8, 8], and the features of the side inputs (ratings, speed and
        other facts besides the board), [n, 64], as `human.Human.trunk` does. codes, state: the positions, uint8 [n, 64]
        and uint8 [n, 12], see `kibitz.PositionArrays`. adapted: False to skip the adapters, the small layers trained on
        the person's games.
        """
        conditions = self.conditions(state)
        grid = F.relu(self.stem(self.planes(codes, state)))
        for i, block in enumerate(self.blocks):
            grid = block(grid, conditions)
            if adapted and self.adapters:
                grid = self.adapters[i](grid)
        return grid, conditions

    @torch.no_grad()
    def expected_before(self, codes: Tensor, state: Tensor) -> Tensor:
        """Return the probabilities of win, draw and loss for the side to move, float32 [n, 3], as the network predicts
        them without its adapters. The adapters are the small layers trained on the person's games.

        codes, state: the positions, uint8 [n, 64] and uint8 [n, 12], see `kibitz.PositionArrays`.
        """
        grid, conditions = self.trunk(codes, state, adapted=False)
        return self.outcome_logits(grid, conditions, codes, state).softmax(1)


class OwnMoves(human.PlayedMoves):
    """The training examples: the positions in which the person moved. All positions are replayed once, when the object
    is made.

    A batch of n examples has the arrays of `human.PlayedMoves`, and `weight`, float32 [n], the weight of each example
    in the loss. If a position occurs k times among all examples, each of the k examples has the weight 1 / k. Without
    these weights, training would mostly memorize the opening, which the person's opening book predicts better.

    If only adapters (small layers in a frozen network) are trained, a batch also has `expected`, float32 [n, 3]: the
    probabilities of win, draw and loss that the network predicts without the adapters.
    """

    def __init__(self, store: Store, games: NDArray[np.int64], network: PersonalHuman, settings: Settings):
        super().__init__(store, games, settings)
        self.positions = OwnPositions(store, games, sides_of(store, settings.spellings))
        self._all = super().batch(np.arange(len(self.positions)), 0) if len(self.positions) else {}
        if self._all:
            keys = position_keys(self._all["codes"], self._all["state"])
            _, of, counts = np.unique(keys, return_inverse=True, return_counts=True)
            self._all["weight"] = (1 / counts[of]).astype(np.float32)
        if settings.learns == ADAPTERS and self._all:
            self._all["expected"] = self._expected(network)

    def _expected(self, network: PersonalHuman) -> NDArray[np.float32]:
        device = next(network.parameters()).device
        parts = [
            network.expected_before(
                *(torch.from_numpy(self._all[name][i : i + 1024]).to(device) for name in ("codes", "state"))
            )
            for i in ongoing.batches(len(self), 1024)
        ]
        return cast("NDArray[np.float32]", torch.cat(parts).float().cpu().numpy())

    def batch(self, ids: NDArray[np.int64], epoch: int) -> Arrays:
        return {name: values[ids] for name, values in self._all.items()}


def loss(network: PersonalHuman, batch: Tensors) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the mean loss of a batch, and a dict from a metric's name to its value for each position, float32 [n]. The
    loss is −weight · log P(move), with the weight of each position, plus a term for the predicted result of the game.

    If only adapters (small layers in a frozen network) are trained, the term keeps the predicted results as they are
    without adapters. If all weights are trained, the term compares the predicted results with the real results. The
    metrics are those of `human`. The metric "loss" contains only the loss for the move.
    """
    grid, conditions = network.trunk(batch["codes"], batch["state"])
    move, measures = human.move_loss(network, grid, batch)
    move = batch["weight"] * move
    logits = network.outcome_logits(grid, conditions, batch["codes"], batch["state"])
    wanted = batch["expected"] if "expected" in batch else batch["outcome"]
    losses = F.cross_entropy(logits, wanted, reduction="none")
    return (move + RETENTION_WEIGHT * losses).mean(), {"loss": move.detach(), **measures}


class PersonalChessSystem(PersonalSystem):
    """The system (the kind of network) `personal`: a chess network of one person. `kibitz personal` trains such
    networks from the weights of a network of the system `human`.
    """

    name = "personal"
    settings_type = Settings
    begins_from = ("human",)
    recipes = RECIPES
    example = "my-games.pgn"

    def games(self, store: Store, settings: Settings) -> NDArray[np.int64]:
        return np.flatnonzero((store.plies > 1) & (sides_of(store, settings.spellings) != NEITHER))

    def network(self, settings: Settings) -> PersonalHuman:
        return PersonalHuman(settings)

    def draw_weights(self, network: PersonalHuman, generator: torch.Generator) -> None:
        human.draw_weights(network, generator)

    def loss(self, network: PersonalHuman, batch: Tensors) -> tuple[Tensor, dict[str, Tensor]]:
        return loss(network, batch)

    def examples(self, store: Store, games: NDArray[np.int64], network: PersonalHuman, settings: Settings) -> Examples:
        return OwnMoves(store, games, network, settings)


SYSTEM: Any = PersonalChessSystem()
