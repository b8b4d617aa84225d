"""The network of one Go player: `gohuman` with adapters, small layers that learn the player's moves while the other
weights don't change.

After each block comes an adapter, as in `personal.chess.system`. Before training, its output equals its input. With
thousands of games, all weights may be trained instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from kibitz import ongoing
from kibitz.games.go.points import GRID, SIZES, symmetries
from kibitz.games.go.replay import SIDE, SIZE
from kibitz.games.go.sides import GameSides
from kibitz.personal import names
from kibitz.personal.adapter import ADAPTERS, ALL, NOTHING, adapters, hold_the_rest
from kibitz.personal.games import NEITHER, OwnPositions, sides_of
from kibitz.personal.go.answers import SYMMETRIES, position_keys
from kibitz.personal.system import PersonalSystem
from kibitz.store.sampling import splitmix64
from kibitz.store.store import Store
from kibitz.systems import gohuman
from kibitz.systems.base import Arrays, Examples, Recipe, Tensors, setting

RETENTION_WEIGHT = 0.3
"""The weight of the term of the loss for the predictions of winner, territory and lead. The term keeps these
predictions unchanged while adapters learn moves.
"""
BATCH = 256


@dataclass(frozen=True)
class Settings(gohuman.Settings):
    """The settings of the system (kind of network) `gopersonal`. Each field is described in its declaration. The
    inherited settings `blocks` and `filters` must be the same as in the base network.
    """

    players: str = setting("", "Names of the player in the game records, one per line.")
    learns: str = setting(
        ADAPTERS,
        "Part to train; adapters: only the adapters; all: the whole network; nothing: no training.",
        choices=(ADAPTERS, ALL, NOTHING),
    )
    channels: int = setting(16, "Number of channels per adapter.", at_least=1)
    rank: int = setting(0, "Rank of the player, as a code; 0 means unknown.", at_least=0, at_most=255)
    opponent_rank: int = setting(0, "Rank of the usual opponent, as a code; 0 means unknown.", at_least=0, at_most=255)
    server: int = setting(0, "Server of the player, as a code; 0 means unknown.", at_least=0)
    min_moves: int = setting(2, "Minimum length of training games, in moves.", at_least=1)
    withhold: float = setting(
        0.0, "Share of the samples that hide inputs; 0, because the network gets all known inputs."
    )
    withhold_players: float = setting(
        0.0, "Share of the samples that hide ranks, server and handicap together; 0 for the same reason."
    )
    learning_rate: float = setting(0.001, "Learning rate at the first iteration; it decays linearly to 0.", at_least=0)
    batch: int = setting(64, "Number of positions per batch.", at_least=1)
    epochs: int = setting(2, "Number of epochs.", at_least=1)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The player's names as the game records spell them, from the setting `players`."""
        return tuple(name for name in self.players.split(names.SEPARATOR) if name)


RECIPES = {"default": Recipe("adapters of 16 channels after every block", {})}


class PersonalGoHuman(gohuman.GoHuman):
    """The network `gohuman` with an adapter, a small trainable layer, after each residual block. There are no adapters
    if the settings train all weights.

    Inputs and outputs are the same as for `gohuman`. The default values of the side inputs (inputs in addition to the
    position) are typical for the player's games.
    """

    def __init__(self, settings: Settings):
        super().__init__(settings)
        inputs = {name: getattr(settings, name) for name in ("rank", "opponent_rank", "server")}
        self.side_inputs = {**gohuman.GoHuman.side_inputs, **inputs}  # type: ignore[misc]
        self.learns = settings.learns
        count = settings.blocks if settings.learns == ADAPTERS else 0
        self.adapters = adapters(count, settings.filters, settings.channels)
        if settings.learns != ALL:
            hold_the_rest(self)

    def trunk(self, codes: Tensor, state: Tensor, adapted: bool = True) -> tuple[Tensor, gohuman.BoardMask, Tensor]:
        """Return three values, as `gohuman.GoHuman.trunk` does: the features of the board, [n, filters, 19, 19]; the
        mask of the board; and the features of the side inputs (komi, ranks and other facts besides the board), [n, 64].
        codes, state: the positions, uint8 [n, 361] and uint8 [n, 10], see `kibitz.PositionArrays`. adapted: False to
        skip the adapters, the small layers trained on the player's games.
        """
        board, conditions = gohuman.BoardMask.of(codes, state), self.conditions(state)
        grid = self.stem(self.planes(codes, state))
        mask = board.mask.to(grid.dtype)
        grid = F.relu(grid + self.told(conditions).to(grid.dtype)[:, :, None, None]) * mask
        for i, block in enumerate(self.blocks):
            grid = block(grid, board, conditions)
            if adapted and self.adapters:
                grid = self.adapters[i](grid) * mask
        return grid, board, conditions

    @torch.no_grad()
    def expected_before(self, codes: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return three predictions of the network without its adapters, for the side to move, as float32 tensors.

        They are the win probability, [n]; the probability that each intersection will belong to the side to move, [n,
        361]; and the lead in points, [n]. The adapters are the small layers trained on the player's games. codes,
        state: the positions, uint8 [n, 361] and uint8 [n, 10], see `kibitz.PositionArrays`.
        """
        grid, board, conditions = self.trunk(codes, state, adapted=False)
        owners = self.owner_logits(grid)
        win, lead, _ = self.results(grid, board, conditions, state, owners)
        return torch.sigmoid(win), torch.sigmoid(owners), lead


class OwnGoMoves:
    """The training examples: the positions in which the player moved, in random rotations and reflections. All
    positions are replayed once, when the object is made.

    A batch of n positions has `codes`, `state` with the side inputs (komi, ranks and other facts besides the board),
    and these arrays:
    move: int64 [n], a point (row · 19 + column), or 361 for a pass.
    weight: float32 [n], the weight of each position in the loss: 1 / c for a position that occurs c times in the games.
        Frequent positions have a small weight, because the player's opening book predicts them better.
    win, owners, lead: float32 [n], [n, 361] and [n], the predictions of the network without its adapters, see
        `PersonalGoHuman.expected_before`. They exist only if adapters (small layers in a frozen network) are trained.
    """

    def __init__(self, store: Store, games: NDArray[np.int64], network: PersonalGoHuman, settings: Settings):
        positions = OwnPositions(store, games, sides_of(store, settings.spellings))
        batch = positions.batch(np.arange(len(positions)))
        more = GameSides(store).of(batch.games, batch.state[:, SIDE])
        self.codes, self.state = batch.codes, np.concatenate([batch.state, more], 1)
        self.move = store.moves[store.offsets[batch.games] + batch.plies].astype(np.int64)
        _, of, counts = np.unique(position_keys(self.codes, self.state)[0], return_inverse=True, return_counts=True)
        self.weight = (1 / counts[of]).astype(np.float32) if len(of) else np.empty(0, np.float32)
        self.sources = np.stack([symmetries(size) if size in SIZES else symmetries(GRID) for size in range(GRID + 1)])
        self.expected = self._expected(network) if settings.learns == ADAPTERS and len(of) else {}

    def __len__(self) -> int:
        return len(self.move)

    def _expected(self, network: PersonalGoHuman) -> Arrays:
        device = next(network.parameters()).device
        found: dict[str, list[NDArray[Any]]] = {"win": [], "owners": [], "lead": []}
        for at in ongoing.batches(len(self), BATCH):
            rows = slice(at, at + BATCH)
            answers = network.expected_before(
                torch.from_numpy(self.codes[rows]).to(device), torch.from_numpy(self.state[rows]).to(device)
            )
            for name, values in zip(found, answers, strict=True):
                # float16 for the owners, to save memory: there is a number for each point of each position.
                dtype = np.float16 if name == "owners" else np.float32
                found[name].append(values.float().cpu().numpy().astype(dtype))
        return {name: np.concatenate(parts) for name, parts in found.items()}

    def batch(self, ids: NDArray[np.int64], epoch: int) -> Arrays:
        bits = splitmix64(ids.astype(np.uint64) + (np.uint64(epoch) << np.uint64(40)))
        symmetry, state = (bits & np.uint64(7)).astype(np.int64), self.state[ids]
        size = state[:, SIZE].astype(np.int64)
        sources = self.sources[size, symmetry]
        arrays = {
            "codes": np.take_along_axis(self.codes[ids], sources, 1),
            "state": state,
            "move": SYMMETRIES[size, symmetry, self.move[ids]],
            "weight": self.weight[ids],
        }
        if self.expected:
            owners = np.take_along_axis(self.expected["owners"][ids], sources, 1).astype(np.float32)
            arrays |= {"win": self.expected["win"][ids], "owners": owners, "lead": self.expected["lead"][ids]}
        return arrays


def loss(network: PersonalGoHuman, batch: Tensors) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the mean loss of a batch, and a dict from a metric's name to its value for each position, float32 [n].

    The loss of a position is −weight · log P(move), in nats. If only adapters (small layers in a frozen network) are
    trained, the loss has a second term. This term keeps the predictions of winner, territory and lead as they are
    without adapters.

    The metric "loss" is the first term. The metric "accuracy" is 1 if the network predicts the played move, and 0 if
    not. batch: the arrays of a batch of `OwnGoMoves`.
    """
    grid, board, conditions = network.trunk(batch["codes"], batch["state"])
    moves = network.move_logits(grid, board, conditions, batch["codes"])
    move = batch["weight"] * F.cross_entropy(moves, batch["move"], reduction="none")
    each = move
    if "owners" in batch:
        owners = network.owner_logits(grid)
        win, lead, _ = network.results(grid, board, conditions, batch["state"], owners)
        mask = board.mask.flatten(1)
        owned = F.binary_cross_entropy_with_logits(owners, batch["owners"], reduction="none") * mask
        off = F.smooth_l1_loss(lead, batch["lead"], reduction="none") / POINTS_OFF
        losses = (
            F.binary_cross_entropy_with_logits(win, batch["win"], reduction="none") + owned.sum(1) / mask.sum(1) + off
        )
        each = move + RETENTION_WEIGHT * losses
    return each.mean(), {"loss": move.detach(), "accuracy": (moves.argmax(1) == batch["move"]).float()}


POINTS_OFF = 10.0
"""The error of the predicted lead, in points, that has the same weight as one nat of the other losses."""


class PersonalGoSystem(PersonalSystem):
    """The system (the kind of network) `gopersonal`: a Go network of one player. `kibitz personal` trains such networks
    from the weights of a network of the system `gohuman`.
    """

    name = "gopersonal"
    settings_type = Settings
    begins_from = ("gohuman",)
    recipes = RECIPES
    example = "my-games.sgf"

    def games(self, store: Store, settings: Settings) -> NDArray[np.int64]:
        fits = np.isin(store.column("size"), SIZES) & (store.plies >= settings.min_moves)
        return np.flatnonzero(fits & (sides_of(store, settings.spellings) != NEITHER))

    def network(self, settings: Settings) -> PersonalGoHuman:
        return PersonalGoHuman(settings)

    def draw_weights(self, network: PersonalGoHuman, generator: torch.Generator) -> None:
        gohuman.draw_weights(network, generator)

    def loss(self, network: PersonalGoHuman, batch: Tensors) -> tuple[Tensor, dict[str, Tensor]]:
        return loss(network, batch)

    def examples(
        self, store: Store, games: NDArray[np.int64], network: PersonalGoHuman, settings: Settings
    ) -> Examples:
        return OwnGoMoves(store, games, network, settings)


SYSTEM: Any = PersonalGoSystem()
