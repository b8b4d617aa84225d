"""The system (kind of network) `human`: predicts the move of a chess player with a given rating, and the result of the
game.

The system was designed for kibitz, and does not follow a single paper. It is one network for all ratings: residual
blocks, whose computation depends on the players' ratings, an output for the move and an output for win, draw and loss.
It uses published ideas (Maia, Allie, ChessMimic), but none of their code or weights. The parts of this file are, from
top to bottom: side inputs (the facts besides the board), network, losses, games, examples, training.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from kibitz.errors import UsageError
from kibitz.games.chess.encodings import (
    AttackPlanes,
    MoverView,
    PiecePlanes,
    RightsPlanes,
    Stack,
)
from kibitz.games.chess.mix import EXAMPLE, mixed_weights, parse_mix
from kibitz.games.chess.replay import CLOCK, SIDE, to_mover_view
from kibitz.games.chess.sides import (
    BEYOND,
    LAST,
    OPPONENT,
    RATING,
    RATING_UNIT,
    SCALE,
    SCALES,
    SPEED,
    SPEEDS,
    scale_codes,
    side_inputs,
    speed_codes,
)
from kibitz.nets.batch_norm import BatchNorm
from kibitz.nets.constant import of_labels
from kibitz.nets.dead_units import ConsumedUnits
from kibitz.nets.muon import muon
from kibitz.nets.optim import plateau
from kibitz.store.positions import Positions
from kibitz.store.sampling import splitmix64, whole_times
from kibitz.store.store import Store
from kibitz.systems.base import Arrays, Recipe, Stage, System, Tensors, grown, setting
from kibitz.systems.movers.nets import real, real_pairs


@dataclass(frozen=True)
class Settings:
    """The settings of `human`. The defaults are those of the bundled network."""

    # network
    blocks: int = setting(6, "Number of residual blocks.", at_least=1)
    filters: int = setting(64, "Number of filters per convolution.", at_least=1)
    norm: bool = setting(True, "Use batch normalization in each block.")
    # games
    balance: float = setting(
        0.5,
        "How often rare ratings are sampled; 0: as often as in the games; 1: all bands of 200 points equally often.",
        at_least=0,
        at_most=1,
    )
    mix: str = setting(
        "", f"Shares of the samples by rating scale, speed and rating, such as {EXAMPLE}; other games fill the rest."
    )
    withhold: float = setting(
        0.1,
        "Share of the samples without ratings, and also the share without the last moves and the share without"
        " the speed.",
        at_least=0,
        at_most=1,
    )
    # losses
    outcome_weight: float = setting(
        0.3, "Weight of the loss for the result, relative to the loss for the move.", at_least=0
    )
    only: str = setting(
        "all",
        "Part to train; all: everything; outcome: only the prediction of the result, which keeps the move"
        " predictions unchanged.",
        choices=("all", "outcome"),
    )
    # optimiser
    learning_rate: float = setting(0.005, "Maximum learning rate, after the warmup.", at_least=0)
    warmup: int = setting(200, "Number of iterations at the start in which the learning rate rises from 0.", at_least=0)
    cooldown: float = setting(
        0.5,
        "Share of the iterations, at the end, in which the learning rate decays to a thousandth; 0 means no decay.",
        at_least=0,
        at_most=1,
    )
    weight_decay: float = setting(
        0.01,
        "Weight decay: each step subtracts this share of each weight, times the learning rate, apart from the"
        " gradient.",
        at_least=0,
    )
    batch: int = setting(512, "Number of positions per batch.", at_least=1)
    iterations: int = setting(3_000, "Number of batches.", at_least=1)
    most_epochs: float = setting(
        12.0, "Maximum number of epochs, even if --iterations allows more; 0 means no limit.", at_least=0
    )

    unnamed: ClassVar[Mapping[str, Any]] = {"norm": False}


PLATEAU_TRAINING = {
    "patience": 0, "average": 1_000, "validate_every": 500, "validate_positions": 8_192, "checkpoint_every": 100,
    "summary_every": 100, "checkpoint_megabytes": 60.0,
}  # fmt: skip
"""Options of the training loop for training at a constant learning rate until the user stops it."""
RECIPES = {
    "default": Recipe(
        "4 blocks of 64 filters, a first network",
        {"blocks": 4, "iterations": 3_000},
        reaches=(
            "games of masters from years after the training games: top-1 accuracy 39.9% (38.5 to 41.2), n = 5,000 "
            "moves, after 1.5"
            " million positions of players of all ratings. 13.7 minutes on one core with AMX",
        ),
    ),
    "long": Recipe("6 blocks of 64 filters, the size of the bundled network", {"iterations": 18_000}),
    "gpu": Recipe(
        "10 blocks of 128 filters, for a GPU",
        {"blocks": 10, "filters": 128, "batch": 2048, "learning_rate": 0.006, "iterations": 20_000},
        {"compile": "auto"},
    ),
    "plateau": Recipe(
        "fine-tunes at a constant learning rate until you stop it: kibitz train human STORE --recipe plateau"
        " --start-from human. Then use cool",
        {"learning_rate": 0.003, "warmup": 100, "cooldown": 0.0, "outcome_weight": 0.5, "mix": EXAMPLE,
         "iterations": 3_000_000, "most_epochs": 0.0},
        PLATEAU_TRAINING,
    ),
    "cool": Recipe(
        "ends the training of a run with plateau: --start-from PLATEAU. The learning rate decays to a thousandth over"
        " all"
        " iterations",
        {"learning_rate": 0.003, "warmup": 0, "cooldown": 1.0, "outcome_weight": 0.5, "mix": EXAMPLE,
         "iterations": 3_000, "most_epochs": 0.0},
        {"patience": 0},
    ),
}  # fmt: skip


# Network


class Conditions(nn.Module):
    """Converts the side inputs, such as the players' ratings, to features. Input: `state`, uint8 [n, 12]. Output: float
    [n, 64].

    Each player's rating becomes a vector. The vector is interpolated linearly between a learned vector for 800 and a
    learned vector for 2800. Lower and higher ratings are extrapolated. An unknown rating has a separate learned vector.
    """

    WIDTH, RATING_WIDTH, KIND_WIDTH = 64, 16, 8
    LOW, HIGH = 800, 2800

    def __init__(self) -> None:
        super().__init__()
        self.low = nn.Parameter(torch.zeros(2, self.RATING_WIDTH))  # mover, opponent
        self.high = nn.Parameter(torch.zeros(2, self.RATING_WIDTH))
        self.unknown = nn.Parameter(torch.zeros(2, self.RATING_WIDTH))
        self.speed = nn.Embedding(len(SPEEDS), self.KIND_WIDTH)
        self.scale = nn.Embedding(len(SCALES), self.KIND_WIDTH)
        self.mix = nn.Linear(2 * self.RATING_WIDTH + 2 * self.KIND_WIDTH, self.WIDTH)

    def forward(self, state: Tensor) -> Tensor:
        """Return the features, float [n, 64]. state: uint8 [n, 12], see `kibitz.PositionArrays`. The first four columns
        describe the position, such as the side to move. The other columns are the side inputs, such as ratings and
        speed.
        """
        ratings = state[:, RATING : OPPONENT + 1].float()[:, :, None]
        along = (ratings * RATING_UNIT - self.LOW) / (self.HIGH - self.LOW)
        vectors = torch.where(ratings > 0, self.low + along * (self.high - self.low), self.unknown)
        kinds = [self.speed(state[:, SPEED].long()), self.scale(state[:, SCALE].long())]
        return F.relu(self.mix(torch.cat([vectors.flatten(1), *kinds], 1)))


class ConditionedBlock(nn.Module):
    """A residual block whose channels are scaled and shifted depending on the players: `relu(x + (1 + scale) · h +
    bias)` with `h = conv(relu(norm(conv(x))))`. Input x and output are [n, filters, 8, 8].

    Each channel has one scale and one bias. They are computed from the mean of h over the board and from the features
    of the side inputs (squeeze and excitation). If the block has a normalization layer, the hidden units of this
    computation have leaky ReLUs, because most plain ReLUs there became inactive (always 0).

    filters: the number of channels. norm: whether the block has a normalization layer.
    """

    SQUEEZED, LEAK = 32, 0.1

    def __init__(self, filters: int, norm: bool = False):
        super().__init__()
        self.first = nn.Conv2d(filters, filters, 3, padding=1, bias=not norm)
        self.norm = BatchNorm(filters) if norm else nn.Identity()
        self.leak = self.LEAK if norm else 0.0
        self.second = nn.Conv2d(filters, filters, 3, padding=1)
        self.squeeze = nn.Linear(filters + Conditions.WIDTH, self.SQUEEZED)
        self.excite = nn.Linear(self.SQUEEZED, 2 * filters)

    def forward(self, x: Tensor, conditions: Tensor) -> Tensor:
        """Return the output of the block for the input x, both [n, filters, 8, 8]. conditions: the features of the side
        inputs (ratings, speed and other facts besides the board), from `Conditions`.
        """
        h = self.second(F.relu(self.norm(self.first(x))))
        summary = torch.cat([h.mean((2, 3)), conditions.to(h.dtype)], 1)
        scale, bias = self.excite(F.leaky_relu(self.squeeze(summary), self.leak))[:, :, None, None].chunk(2, 1)
        return F.relu(x + h * (1 + scale) + bias)


class Material(nn.Module):
    """Computes the material of each side. Input: `codes`, the pieces on the squares in the mover's view, uint8 [n, 64].
    Output: float32 [n, 10].

    The ten numbers are the total values of the mover's pawns, knights, bishops, rooks and queens, and then of the
    opponent's. A piece's value is a third of its usual value in pawns: 1/3 for a pawn, 1 for a knight or bishop, 5/3
    for a rook and 3 for a queen.
    """

    channels = 10

    def __init__(self) -> None:
        super().__init__()
        worth = torch.zeros(13, self.channels)
        for side in range(2):
            for piece, pawns in enumerate((1, 3, 3, 5, 9)):
                worth[1 + 6 * side + piece, 5 * side + piece] = pawns / 3
        self.register_buffer("worth", worth, persistent=False)

    def forward(self, view: Tensor) -> Tensor:
        return F.embedding(view.long(), self.get_buffer("worth")).sum(1)


class Human(nn.Module):
    """Predicts the move that a person plays, and the result of the game.

    Inputs: `codes`, uint8 [n, 64]; `state`, uint8 [n, 12]; see `kibitz.PositionArrays`. Outputs, all float32:

    origin: [n, 64], the probability of each from-square.
    target: [n, 64, 64], the probability of each to-square, given the from-square. The last axis is the to-square.
    promotion: [n, 8, 4], the probability of each new piece, given the file of the to-square. The pieces are in the
        order N, B, R, Q.
    outcome: [n, 3], the probabilities that the side to move wins, draws and loses.
    value: [n], the probability of a win minus the probability of a loss, for the side to move.

    The probability of a move is the product of `origin`, `target` and, for a promotion, `promotion`. Squares are those
    of the real board. Inside the network, the board is in the mover's view.
    """

    KEY_DIM = 32
    VALUE_CHANNELS, VALUE_UNITS = 8, 64
    PIECES_PROMOTED = 4
    outputs: tuple[str, ...] = ("origin", "target", "promotion", "outcome", "value")
    side_inputs: ClassVar[dict[str, int]] = BEYOND

    def __init__(self, settings: Settings):
        super().__init__()
        filters = settings.filters
        self.view = MoverView()
        self.seen = Stack(PiecePlanes(), AttackPlanes("pieces"))
        self.rights = RightsPlanes()
        self.conditions = Conditions()
        self.stem = nn.Conv2d(self.seen.channels + RightsPlanes.channels + 5, filters, 3, padding=1)
        self.blocks = nn.ModuleList(ConditionedBlock(filters, settings.norm) for _ in range(settings.blocks))
        self.before = nn.Conv2d(filters, filters, 1)
        self.origin = nn.Conv2d(filters, 1, 1)
        self.query = nn.Conv2d(filters, self.KEY_DIM, 1)
        self.key = nn.Conv2d(filters, self.KEY_DIM, 1)
        self.pairs = nn.Parameter(torch.zeros(64, 64))  # a constant for each pair of squares
        self.promotion = nn.Conv2d(filters, self.PIECES_PROMOTED, 1)
        self.narrow = nn.Conv2d(filters, self.VALUE_CHANNELS, 1)
        self.material = Material()
        inputs = filters + Conditions.WIDTH + Material.channels
        self.weigh = nn.Linear(64 * self.VALUE_CHANNELS + inputs, self.VALUE_UNITS)
        self.outcome = nn.Linear(self.VALUE_UNITS, 3)
        flipped = torch.cat([torch.zeros(1), torch.arange(64).view(8, 8).flip(0).flatten() + 1]).long()
        self.register_buffer("flipped", flipped, persistent=False)  # index: a square + 1
        self.register_buffer("square", torch.eye(65)[:, 1:], persistent=False)  # index: a square + 1; 0 for no square

    def consumed_units(self) -> Iterator[ConsumedUnits]:
        """Yield a `ConsumedUnits` for each layer that has hidden units and is not inside a residual block. The
        `ConsumedUnits` contains this layer, and the layers that use its units as input. The module nets.dead_units
        needs them to replace dead units (units that are always 0).
        """
        filters = self.before.in_channels
        squeezes = [(cast(ConditionedBlock, block).squeeze, [filters]) for block in self.blocks]
        yield ConsumedUnits(self.conditions.mix, [*squeezes, (self.weigh, [64 * self.VALUE_CHANNELS + filters])])
        yield ConsumedUnits(self.before, [(part, [0]) for part in (self.origin, self.query, self.key, self.promotion)])

    def planes(self, codes: Tensor, state: Tensor) -> Tensor:
        """Return the input planes, float32 [n, 34, 8, 8]. codes, state: the positions, uint8 [n, 64] and uint8 [n, 12],
        see `kibitz.PositionArrays`.

        The first are 12 planes for pieces, 12 for attacks, and 5 for castling rights and en passant. The next plane is
        for the number of plies since the last capture or pawn move. The last 4 planes are for the squares of the last
        two moves.
        """
        view = self.view(codes, state)
        moved = state[:, LAST : LAST + 4].long()
        black = state[:, SIDE : SIDE + 1] == 1
        moved = torch.where(black, self.get_buffer("flipped")[moved], moved)
        last = F.embedding(moved, self.get_buffer("square")).view(-1, 4, 8, 8)
        quiet = (state[:, CLOCK].float() / 100)[:, None, None, None].expand(-1, 1, 8, 8)
        planes = torch.cat([self.seen(view, state), self.rights(codes, state), quiet, last], 1)
        return planes.to(memory_format=torch.channels_last)

    def trunk(self, codes: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Return the features of the last residual block, [n, filters, 8, 8], and the features of the side inputs (see
        `Conditions`), [n, 64].

        codes, state: the positions, uint8 [n, 64] and uint8 [n, 12], see `kibitz.PositionArrays`.
        """
        conditions = self.conditions(state)
        grid = F.relu(self.stem(self.planes(codes, state)))
        for block in self.blocks:
            grid = block(grid, conditions)
        return grid, conditions

    def features(self, codes: Tensor, state: Tensor) -> Tensor:
        """Return the features of the last residual block, averaged over the squares, [n, filters]. codes, state: the
        positions, uint8 [n, 64] and uint8 [n, 12], see `kibitz.PositionArrays`.
        """
        return self.trunk(codes, state)[0].mean((2, 3))

    def outcome_logits(self, grid: Tensor, conditions: Tensor, codes: Tensor, state: Tensor) -> Tensor:
        """Return the logits of win, draw and loss for the side to move, float32 [n, 3]. grid, conditions: the result of
        `trunk`.

        The material of both sides is an explicit input. Players seldom lose a piece early in a game, so the network
        would not learn the values of the pieces from the planes alone.
        """
        # Leaky, because plain ReLUs became inactive (always 0) in this layer at the beginning of training.
        narrow = F.leaky_relu(self.narrow(grid), 0.1).flatten(1)
        material = self.material(self.view(codes, state))
        inputs = [part.to(narrow.dtype) for part in (grid.mean((2, 3)), conditions, material)]
        return cast(Tensor, self.outcome(F.leaky_relu(self.weigh(torch.cat([narrow, *inputs], 1)), 0.1))).float()

    def forward(self, codes: Tensor, state: Tensor) -> tuple[Tensor, ...]:
        """Return the tensors `origin`, `target`, `promotion`, `outcome` and `value`, which the class `Human` describes.
        codes, state: the positions, uint8 [n, 64] and uint8 [n, 12], see `kibitz.PositionArrays`.
        """
        grid, conditions = self.trunk(codes, state)
        moves = F.relu(self.before(grid))
        query, key = self.query(moves).flatten(2), self.key(moves).flatten(2)
        target = (query.transpose(1, 2) @ key).float() * self.KEY_DIM**-0.5 + self.pairs
        promotion = self.promotion(moves)[:, :, 7].float().transpose(1, 2)
        outcome = self.outcome_logits(grid, conditions, codes, state).softmax(1)
        black = state[:, SIDE] == 1
        return (
            real(self.origin(moves).flatten(1).float().softmax(1), black),
            real_pairs(target.softmax(2), black),
            promotion.softmax(2),
            outcome,
            outcome[:, 0] - outcome[:, 2],
        )


# Losses


def loss(network: Human, batch: Tensors, outcome_weight: float, only: str = "all") -> tuple[Tensor, dict[str, Tensor]]:
    """Return the mean loss of a batch, `−log P(move) − outcome_weight · log P(outcome)`, and the metrics, a dict from
    names to float32 [n].

    batch: a batch of PlayedMoves. only: the setting `only`, "all" or "outcome". If it is "outcome", only the output for
    the result is trained. The metrics are "loss", "move_loss", "outcome_loss", "origin_accuracy" and "target_accuracy".
    """
    with torch.set_grad_enabled(torch.is_grad_enabled() and only == "all"):
        grid, conditions = network.trunk(batch["codes"], batch["state"])
    move, measures = move_loss(network, grid, batch)
    outcome_logits = network.outcome_logits(grid, conditions, batch["codes"], batch["state"])
    outcome = F.cross_entropy(outcome_logits, batch["outcome"], reduction="none")
    each = move + outcome_weight * outcome
    return each.mean(), {
        "loss": each.detach(),
        "move_loss": move.detach(),
        "outcome_loss": outcome.detach(),
        **measures,
    }


def move_loss(network: Human, grid: Tensor, batch: Tensors) -> tuple[Tensor, dict[str, Tensor]]:
    """Return −log P(move) of each position, float32 [n], and a dict with "origin_accuracy" and "target_accuracy", each
    float32 [n]. These are the top-1 accuracies of the from-square and the to-square. grid: the features from `trunk`.
    batch: a batch of PlayedMoves.
    """
    moves = F.relu(network.before(grid))
    rows = torch.arange(len(moves), device=moves.device)
    origin_logits = network.origin(moves).flatten(1).float()
    query = network.query(moves).flatten(2)[rows, :, batch["origin"]]
    key = network.key(moves).flatten(2)
    target_logits = (query[:, None] @ key)[:, 0].float() * network.KEY_DIM**-0.5 + network.pairs[batch["origin"]]
    promotion_logits = network.promotion(moves)[rows, :, 7, batch["target"] & 7].float()
    promotes = batch["promotion"] > 0
    piece = F.cross_entropy(promotion_logits, (batch["promotion"] - 2).clamp(min=0), reduction="none")
    move = (
        F.cross_entropy(origin_logits, batch["origin"], reduction="none")
        + F.cross_entropy(target_logits, batch["target"], reduction="none")
        + torch.where(promotes, piece, torch.zeros_like(piece))
    )
    right = origin_logits.argmax(1) == batch["origin"]
    return move, {
        "origin_accuracy": right.float(),
        "target_accuracy": (target_logits.argmax(1) == batch["target"]).float(),
    }


def constant_loss(batch: Tensors, outcome_weight: float) -> float:
    """Return the loss of the best constant prediction on a batch: the frequency of each from-square, to-square and
    result. A network whose loss isn't smaller has learned nothing. outcome_weight: the weight of the result in the
    loss.
    """
    squares = of_labels(batch["origin"]) + of_labels(batch["target"])
    return float(squares + outcome_weight * of_labels(batch["outcome"]))


# Games and examples

BAND = 200
"""The width of the rating bands from which training samples games, in rating points."""


class PlayedMoves:
    """Training examples: every position in which a move was played, with this move and the result, both from the
    mover's point of view.

    Games are grouped into rating bands by the mean of both ratings. Games without ratings form a separate band. Games
    of bands with few positions are used repeatedly, up to 16 times, and some games of the largest bands may be omitted.
    The number of repetitions is rounded up or down depending on the hash of the game, so it is always the same.

    A batch has the positions as `codes` and `state` with the side inputs (see `kibitz.PositionArrays`), and these int64
    arrays, each [n]:

    origin, target: the from-square and the to-square.
    promotion: 0 for none, or from 2 for a knight to 5 for a queen.
    outcome: 0 for a win, 1 for a draw, 2 for a loss.
    """

    MAX_REPEATS = 16

    def __init__(self, store: Store, games: NDArray[np.int64], settings: Settings):
        self.store, self.settings = store, settings
        self.ratings = np.stack([store.column("white_rating"), store.column("black_rating")]).astype(np.int64)
        self.results = store.column("result").astype(np.int64)
        self.speeds, self.scales = speed_codes(store), scale_codes(store)
        self.positions = Positions(store, np.repeat(games, self._times(games)), last=-2)

    def _times(self, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often each game is sampled, int64 [games], from 0 to MAX_REPEATS."""
        parts = parse_mix(self.settings.mix)
        if not (self.settings.balance or parts) or not len(games):
            return np.ones(len(games), np.int64)
        ratings, plies = self.ratings[:, games], self.store.plies[games]
        band = np.where((ratings > 0).all(0), ratings.sum(0) // (2 * BAND), -1) + 1
        held = np.bincount(band, plies)
        weight = (held.sum() / np.maximum(held, 1)) ** self.settings.balance
        weight *= held.sum() / (weight * held).sum()  # the total number of positions stays the same
        weights = weight[band]
        if parts:
            weights = mixed_weights(parts, weights, plies, ratings, self.speeds[games], self.scales[games])
        times = np.minimum(weights, self.MAX_REPEATS)
        return whole_times(times, self.store.column("hash")[games])

    def __len__(self) -> int:
        return len(self.positions)

    def batch(self, ids: NDArray[np.int64], epoch: int) -> Arrays:
        """Return the examples with these ids, int64 [n], as the dict of arrays that `PlayedMoves` describes.

        For some examples, some side inputs are hidden (set to unknown). epoch: the number of the pass over the
        examples. In each pass, different inputs are hidden.
        """
        batch = self.positions.batch(ids)
        games, plies, side = batch.games, batch.plies, batch.state[:, SIDE].astype(np.int64)
        index = self.store.offsets[games] + plies
        move = self.store.moves[index].astype(np.int64)
        more = side_inputs(
            self.ratings[side, games], self.ratings[1 - side, games], self.speeds[games], self.scales[games],
            self.store.moves, index, plies,
        )  # fmt: skip
        self._withhold(more, ids, epoch)
        return {
            "codes": batch.codes,
            "state": np.concatenate([batch.state, more], 1),
            "origin": to_mover_view(move & 63, side),
            "target": to_mover_view(move >> 6 & 63, side),
            "promotion": move >> 12,
            "outcome": 1 - self.results[games] * (1 - 2 * side),
        }

    def _withhold(self, more: NDArray[np.uint8], ids: NDArray[np.int64], epoch: int) -> None:
        """Set some side inputs to unknown; which ones depends only on the id and the epoch.

        The inputs that may be hidden are both ratings, the opponent's rating, speed and rating scale, the last moves,
        or the move before the last. more: uint8 [n, 8], changed in place.
        """
        bits = splitmix64(ids.astype(np.uint64) + (np.uint64(epoch) << np.uint64(40)))
        limit = round(self.settings.withhold * 4096)

        def drawn(part: int, share: float = 1.0) -> NDArray[np.bool_]:
            return (bits >> np.uint64(12 * part) & np.uint64(4095)) < limit * share

        more[drawn(0), 0:2] = 0
        more[drawn(1, 0.3), 1] = 0
        more[drawn(2), 2:4] = 0
        more[drawn(3), 4:8] = 0
        more[drawn(4, 0.5), 6:8] = 0


# Training


def learning_rate(settings: Settings, iteration: int, iterations: int) -> float:
    """Return the learning rate at an iteration: it rises, stays at its maximum, and falls at the end (see
    `nets.optim.plateau`). iterations: the total number of iterations.
    """
    return plateau(settings.learning_rate, iteration, iterations, warmup=settings.warmup, cooldown=settings.cooldown)


def optimiser(network: Human, weight_decay: float, only: str = "all") -> torch.optim.Optimizer:
    """Return a new optimizer for the network: Muon, with AdamW for some of the weights (see `nets.muon`). If `only` is
    "outcome", the optimizer is AdamW, and only the layers for win, draw and loss are trained.
    """
    if only == "outcome":
        head = [p for name, p in network.named_parameters() if name.startswith(HEAD)]
        return torch.optim.AdamW(head, betas=(0.9, 0.99), weight_decay=weight_decay)
    return muon(network, weight_decay)


def draw_weights(network: Human, generator: torch.Generator) -> None:
    """Set random initial weights with the variance 2 / fan-in. The last layer of each residual block gets small
    weights, so that blocks begin almost as identities. At first, the network predicts a queen for nearly every
    promotion.
    """
    for name, p in network.named_parameters():
        with torch.no_grad():
            if name.endswith("norm.weight"):
                p.fill_(1)
            elif p.dim() < 2 or name == "pairs" or name.endswith("excite.weight"):
                p.zero_()
            elif name.startswith("conditions.") and not name.endswith("mix.weight"):
                p.normal_(0, 1, generator=generator)
            else:
                p.normal_(0, (2 / p[0].numel()) ** 0.5, generator=generator)
                if name.endswith("second.weight") or name == "outcome.weight":
                    p.mul_(0.1)
    with torch.no_grad():
        cast(Tensor, network.promotion.bias)[-1] = 4


CHESSNET_PLANES = 29
"""The input planes that a `chessnet` network must have so that training can start from it: pieces 12, attacks 12,
castling rights and en passant 5. `human` has them in the same order.
"""
HEAD = ("narrow.", "weigh.", "outcome.")
"""Prefixes of the names of the weights that only the prediction of win, draw and loss uses."""
_FROM_CHESSNET = {"origin": "origin", "before": "before", "asks": "query", "answers": "key"}
"""Stored names of layers of `chessnet`'s shared trunk, and their names here."""


class HumanSystem(System):
    """The system (kind of network) `human`: a network that predicts the move of a chess player with a given rating, and
    the result. The base class describes the methods.
    """

    name = "human"
    settings_type = Settings
    begins_from = ("chessnet",)
    recipes = RECIPES

    def check(self, settings: Settings) -> None:
        super().check(settings)
        parse_mix(settings.mix)

    def games(self, store: Store, settings: Settings) -> NDArray[np.int64]:
        return np.flatnonzero(store.plies > 0)

    def network(self, settings: Settings) -> Human:
        return Human(settings)

    def prepare(
        self, network: nn.Module, store: Store, games: NDArray[np.int64], settings: Settings, seed: int
    ) -> None:
        assert isinstance(network, Human)
        draw_weights(network, torch.Generator().manual_seed(seed))

    def adopt(self, network: nn.Module, system: str, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return initial weights for `network`: the weights of another trained network, extended where `network` is
        larger.

        weights: the weights of a `human` network with at most as many residual blocks, or of a `chessnet` network with
        a shared trunk. Blocks and planes that only `network` has do not change its outputs at first. So `network`
        predicts the same move probabilities as the trained network. If the layers for win, draw and loss have other
        shapes in the trained network, `network` keeps its own initial weights for them.

        Raises UsageError if the trained network has more blocks, a different width, or layers or planes that don't fit.
        """
        begun = dict(network.state_dict())
        if system == "chessnet":
            weights = _from_chessnet(weights)
        head = weights.get("weigh.weight")
        # the other network is from an earlier version
        if head is not None and head.shape[1] != cast(Tensor, begun["weigh.weight"]).shape[1]:
            weights = {name: value for name, value in weights.items() if not name.startswith(HEAD)}
        stem = weights.get("stem.weight")
        if stem is not None and (more := begun["stem.weight"].shape[1] - stem.shape[1]) > 0:
            weights = {**weights, "stem.weight": torch.cat([stem, stem.new_zeros(stem.shape[0], more, 3, 3)], 1)}
        return grown(begun, weights)

    def stages(self, network: nn.Module, settings: Settings) -> Sequence[Stage]:
        assert isinstance(network, Human)
        return [
            Stage(
                name="moves",
                module=network,
                examples=lambda store, games: PlayedMoves(store, games, settings),
                loss=lambda batch: loss(network, batch, settings.outcome_weight, settings.only),
                optimiser=lambda: optimiser(network, settings.weight_decay, settings.only),
                learning_rate=lambda iteration, iterations: learning_rate(settings, iteration, iterations),
                batch=settings.batch,
                iterations=settings.iterations,
                most_epochs=settings.most_epochs,
                constant_loss=lambda batch: constant_loss(batch, settings.outcome_weight),
            )
        ]


def _from_chessnet(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename the weights of a chessnet's shared trunk to this network's names. Raises UsageError for separate
    networks.
    """
    if "shared.pairs" not in weights:
        raise UsageError(
            "this run of the system 'chessnet' has separate networks, or predicts the target square separately for each"
            " type of piece. Choose a run with --share body and --targets square."
        )
    layers = {int(name.split(".")[2]) for name in weights if name.startswith("shared.body.")}
    residual = {int(name.split(".")[2]) for name in weights if re.fullmatch(r"shared\.body\.\d+\.second\.weight", name)}
    stem = weights.get("shared.body.0.weight")
    projected = any(name.startswith("shared.body.") and ".short." in name for name in weights)
    if stem is None or stem.shape[1:] != (CHESSNET_PLANES, 3, 3) or layers - residual != {0} or projected:
        raise UsageError(
            "this run of the system 'chessnet' has planes or layers that differ from those of the recipe 'default'."
            " Choose a run of that recipe."
        )
    taken = {"pairs": weights["shared.pairs"]}
    for kind in ("weight", "bias"):
        taken[f"stem.{kind}"] = weights[f"shared.body.0.{kind}"]
        for there, here in _FROM_CHESSNET.items():
            taken[f"{here}.{kind}"] = weights[f"shared.{there}.{kind}"]
    for name, value in weights.items():
        parts = name.split(".")
        if parts[:2] == ["shared", "body"] and parts[3] in ("first", "norm", "second"):
            taken[f"blocks.{int(parts[2]) - 2}.{parts[3]}.{parts[4]}"] = value
    return taken


SYSTEM = HumanSystem()
