"""The system (kind of network) `gohuman`: predicts a Go player's move, the final territory, the winner and the score.

The system was designed for kibitz, and does not follow a single paper. It is one network for boards of 9, 13 and 19
lines: residual blocks with global pooling, and one output each for the move, the winner, the territory and the score.
It uses published ideas (KataGo's heads and losses, GoNN's experiments with inputs), but none of their code or weights.
The parts of this file are, from top to bottom: settings, network, losses, games and examples, training.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from kibitz.games.go import KOMI
from kibitz.games.go.encodings import BoardPlanes, corner, on_board
from kibitz.games.go.points import BLACK, GRID, NONE, PASS, POINTS, SIZES, symmetries
from kibitz.games.go.replay import AGE, EMPTY, PASSES, SIDE, SIZE
from kibitz.games.go.sides import (
    BEYOND,
    GAME_RULES,
    HANDICAP,
    KOMI_BYTE,
    LOWEST_RANK,
    NO_KOMI,
    OPPONENT,
    RANK,
    RULES,
    SERVER,
    SERVERS,
    GameSides,
)
from kibitz.nets.batch_norm import BatchNorm
from kibitz.nets.constant import of_labels, of_shares
from kibitz.nets.dead_units import ConsumedUnits
from kibitz.nets.muon import muon
from kibitz.nets.optim import plateau
from kibitz.store.positions import Positions
from kibitz.store.sampling import splitmix64, whole_times
from kibitz.store.store import Store
from kibitz.systems.base import Arrays, Recipe, Stage, System, Tensors, grown, setting
from kibitz.systems.planes import RECENT


@dataclass(frozen=True)
class Settings:
    """The settings of `gohuman`. The defaults are those of the bundled network."""

    # network
    blocks: int = setting(6, "Number of residual blocks.", at_least=1)
    filters: int = setting(64, "Number of filters per convolution.", at_least=16)
    norm: bool = setting(True, "Use batch normalization in each block.")
    # games
    min_moves: int = setting(20, "Minimum length of training games, in moves.", at_least=1)
    known: float = setting(
        0.4, "Minimum share of the samples from games with a known territory at the end.", at_least=0, at_most=1
    )
    small: float = setting(0.05, "Minimum share of the samples on 9×9 and 13×13 boards.", at_least=0, at_most=1)
    withhold: float = setting(
        0.1,
        "Share of the samples that hide the last moves from the network; the same holds for the ranks, the server"
        " and the rules.",
        at_least=0,
        at_most=1,
    )
    withhold_players: float = setting(
        0.25,
        "Share of the samples that hide ranks, server and handicap together, as in the analysis of a board; half of"
        " these samples also hide the rules.",
        at_least=0,
        at_most=1,
    )
    # losses
    win_weight: float = setting(
        0.72, "Weight of the loss for the winner, relative to the loss for the move.", at_least=0
    )
    owners_weight: float = setting(
        1.5, "Weight of the loss for the territory, which is averaged over the intersections.", at_least=0
    )
    score_weight: float = setting(
        0.05, "Weight of the loss for the score, relative to the loss for the move.", at_least=0
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
    batch: int = setting(256, "Number of positions per batch.", at_least=1)
    iterations: int = setting(6_000, "Number of batches.", at_least=1)
    most_epochs: float = setting(
        12.0, "Maximum number of epochs, even if --iterations allows more; 0 means no limit.", at_least=0
    )

    unnamed: ClassVar[Mapping[str, Any]] = {"norm": False, "withhold_players": 0.0}


RECIPES = {
    "default": Recipe(
        "4 blocks of 48 filters, a first network", {"blocks": 4, "filters": 48, "batch": 128, "iterations": 3_500}
    ),
    "long": Recipe("6 blocks of 64 filters, the size of the bundled network", {"iterations": 20_000}),
    "gpu": Recipe(
        "10 blocks of 128 filters, for a GPU",
        {"blocks": 10, "filters": 128, "batch": 1024, "learning_rate": 0.006, "iterations": 30_000},
        {"compile": "auto"},
    ),
    "plateau": Recipe(
        "fine-tunes at a constant learning rate until you stop it: kibitz train gohuman STORE --recipe plateau"
        " --start-from gohuman. Then use cool",
        {"batch": 128, "learning_rate": 0.002, "warmup": 100, "cooldown": 0.0, "known": 0.5, "owners_weight": 2.0,
         "iterations": 3_000_000, "most_epochs": 0.0},
        {"patience": 0, "average": 1_000, "validate_every": 500, "validate_positions": 8_192, "checkpoint_every": 100,
         "summary_every": 100, "checkpoint_megabytes": 60.0},
    ),
    "cool": Recipe(
        "ends the training of a run with plateau: --start-from PLATEAU. The learning rate decays to a thousandth over"
        " all"
        " iterations",
        {"batch": 128, "learning_rate": 0.002, "warmup": 0, "cooldown": 1.0, "known": 0.5, "owners_weight": 2.0,
         "iterations": 3_000, "most_epochs": 0.0},
        {"patience": 0},
    ),
}  # fmt: skip


# Network


class GameConditions(nn.Module):
    """Converts the side inputs (komi, handicap, ranks, rules, server and board size) to features. Input: `state`, uint8
    [n, 10]. Output: float [n, 64].

    Each player's rank becomes a vector. The vector is interpolated linearly between a learned vector for 30k and a
    learned vector for 9p. An unknown rank has a separate learned vector. Komi and handicap become numbers from the
    point of view of the side to move.
    """

    WIDTH, RANK_WIDTH, KIND_WIDTH = 64, 8, 8
    LOW, HIGH = LOWEST_RANK - 29, LOWEST_RANK + 19
    NUMBERS = 7

    def __init__(self) -> None:
        super().__init__()
        self.low = nn.Parameter(torch.zeros(2, self.RANK_WIDTH))  # mover, opponent
        self.high = nn.Parameter(torch.zeros(2, self.RANK_WIDTH))
        self.unknown = nn.Parameter(torch.zeros(2, self.RANK_WIDTH))
        self.rules = nn.Embedding(len(RULES), self.KIND_WIDTH)
        self.server = nn.Embedding(len(SERVERS), self.KIND_WIDTH)
        self.size = nn.Embedding(len(SIZES), self.KIND_WIDTH)
        self.mix = nn.Linear(2 * self.RANK_WIDTH + 3 * self.KIND_WIDTH + self.NUMBERS, self.WIDTH)

    def forward(self, state: Tensor) -> Tensor:
        """Return the features, float [n, 64]. state: uint8 [n, 10], see `kibitz.PositionArrays`. The first four columns
        describe the position, such as the side to move. The other columns are the side inputs, such as komi and ranks.
        """
        ranks = state[:, RANK : OPPONENT + 1].float()[:, :, None]
        along = (ranks - self.LOW) / (self.HIGH - self.LOW)
        vectors = torch.where(ranks > 0, self.low + along * (self.high - self.low), self.unknown)
        kinds = [
            self.rules(state[:, GAME_RULES].long()),
            self.server(state[:, SERVER].long()),
            self.size((state[:, SIZE].long() > 9).long() + (state[:, SIZE].long() > 13).long()),
        ]
        return F.relu(self.mix(torch.cat([vectors.flatten(1), *kinds, self.numbers(state)], 1)))

    def numbers(self, state: Tensor) -> Tensor:
        """Return the numeric features, float32 [n, 7], from the point of view of the side to move.

        The numbers are: the mover's komi / 10; 1 if the komi is known; 1 if the komi is a whole number; the mover's
        handicap stones / 5; the opponent's handicap stones / 5; 1 if the handicap is known; and the number of passes
        just before this position.
        """
        sign = mover_sign(state)
        komi, stones = state[:, KOMI_BYTE].float(), state[:, HANDICAP].float()
        given = (stones - 1).clamp(min=0) / 5
        numbers = [
            -sign * white_komi(state) / 10,
            (komi > 0).float(),
            ((komi > 0) & (komi % 2 == 0)).float(),
            given * (sign > 0),
            given * (sign < 0),
            (stones > 0).float(),
            state[:, PASSES].float(),
        ]
        return torch.stack(numbers, 1)


def mover_sign(state: Tensor) -> Tensor:
    """Return 1 if Black is to move and −1 if White is to move, float32 [n]. state: uint8 [n, columns], see
    `kibitz.PositionArrays`.
    """
    return 1 - 2 * state[:, SIDE].float()


def white_komi(state: Tensor) -> Tensor:
    """Return White's komi in points, float32 [n]; the default KOMI if it is unknown. state: uint8 [n, 10], see
    `kibitz.PositionArrays`.
    """
    byte = state[:, KOMI_BYTE].float()
    return torch.where(byte > 0, (byte - NO_KOMI) / 2, torch.full_like(byte, KOMI))


@dataclass(frozen=True)
class BoardMask:
    """Which points of the 19×19 grid belong to the Go board, because smaller boards use a part of the grid.

    mask: [n, 1, 19, 19], 1 on the board and 0 outside it. area: [n, 1], the number of points of the board. width: [n,
    1], the scaled board size, (size - 14) / 10.
    """

    mask: Tensor
    area: Tensor
    width: Tensor

    @classmethod
    def of(cls, codes: Tensor, state: Tensor) -> BoardMask:
        """Return the mask for a batch of positions. codes, state: the positions, uint8 [n, 361] and uint8 [n, columns],
        see `kibitz.PositionArrays`.
        """
        size = state[:, SIZE, None].float()
        return cls(on_board(corner(codes, GRID))[:, None].float(), size * size, (size - 14) / 10)

    POOLED: ClassVar[int] = 3

    def pool(self, values: Tensor) -> Tensor:
        """Pool values over the board, from [n, channels, 19, 19] to [n, 3 · channels]: the mean of each channel, the
        mean times the scaled board size, and the maximum.

        values: at least 0, and 0 outside the board.
        """
        mean = values.sum((2, 3)) / self.area.to(values.dtype)
        return torch.cat([mean, mean * self.width.to(values.dtype), values.amax((2, 3))], 1)


class Block(nn.Module):
    """A residual block with global pooling: `relu(x + conv(relu(norm(conv(x)))))`, from [n, filters, 19, 19] to the
    same shape.

    If `pooled` is greater than 0, the block also uses information from the whole board. It pools the first `pooled`
    channels of the first convolution over the board. A linear layer computes one number per channel from the pooled
    values and from the features of the side inputs (see `GameConditions`). The block adds this number to all points of
    the channel, before the second convolution.
    """

    def __init__(self, filters: int, pooled: int, norm: bool = False):
        super().__init__()
        self.first = nn.Conv2d(filters, filters, 3, padding=1, bias=not norm)
        self.norm = BatchNorm(filters) if norm else nn.Identity()
        self.second = nn.Conv2d(filters, filters, 3, padding=1)
        self.pooled = pooled
        self.spread = nn.Linear(BoardMask.POOLED * pooled + GameConditions.WIDTH, filters) if pooled else None

    def forward(self, x: Tensor, board: BoardMask, conditions: Tensor) -> Tensor:
        mask = board.mask.to(x.dtype)
        h = F.relu(self.norm(self.first(x))) * mask
        if self.spread is not None:
            seen = board.pool(h[:, : self.pooled])
            h = F.relu(h + self.spread(torch.cat([seen, conditions.to(h.dtype)], 1))[:, :, None, None]) * mask
        return F.relu(x + self.second(h)) * mask


class GoHuman(nn.Module):
    """Predicts the move that a person plays, the winner, the territory and the score.

    Inputs: `codes`, uint8 [n, 361]; `state`, uint8 [n, 10]; see `kibitz.PositionArrays`. The outputs are float32:

    policy: [n, 362], the probability of a move at each point and, as the last value, of a pass; 0 on stones and outside
        the board.
    value: [n], the probability of a win minus the probability of a loss, for the side to move.
    black_owns: [n, 361], the probability that each point will be Black's at the end; 0.5 outside the board.
    lead: [n], the expected final lead of the side to move, in points, komi included.
    spread: [n], the standard deviation of this lead, in points.

    Inside the network, boards and values are from the point of view of the side to move.
    """

    POOLING = (2, 4)
    """The indices of the residual blocks, from 0, that pool over the whole board."""
    MOVE_CHANNELS, SEEN_CHANNELS, OWNER_CHANNELS, VALUE_CHANNELS, UNITS = 48, 32, 16, 32, 64
    POINTS_A_UNIT = 10.0
    """The number of points of the lead (score difference) that correspond to 1 in the network's raw output."""
    CALM = 0.1
    """The raw outputs for winner and score are multiplied by this factor. They depend on many units, so they would
    change abruptly at high learning rates.
    """
    CALM_OWNERS = 0.25
    """The raw outputs for the territory are multiplied by this factor. The predicted lead follows from their sum: if
    all change by 0.1, the lead changes by ten points or more.
    """
    outputs: tuple[str, ...] = ("policy", "value", "black_owns", "lead", "spread")
    side_inputs: ClassVar[dict[str, int]] = BEYOND

    def __init__(self, settings: Settings):
        super().__init__()
        filters, pooled = settings.filters, settings.filters // 4
        self.pooled = pooled
        self.planes = BoardPlanes(GRID, 3, RECENT)
        self.conditions = GameConditions()
        self.stem = nn.Conv2d(self.planes.channels, filters, 5, padding=2)
        self.told = nn.Linear(GameConditions.WIDTH, filters)
        self.blocks = nn.ModuleList(
            Block(filters, pooled if i in self.POOLING else 0, settings.norm) for i in range(settings.blocks)
        )
        summary = BoardMask.POOLED * self.SEEN_CHANNELS + GameConditions.WIDTH
        self.before = nn.Conv2d(filters, self.MOVE_CHANNELS, 1)
        self.seen = nn.Conv2d(filters, self.SEEN_CHANNELS, 1)
        self.everywhere = nn.Linear(summary, self.MOVE_CHANNELS)
        self.point = nn.Conv2d(self.MOVE_CHANNELS, 1, 1)
        self.pause = nn.Linear(summary, self.UNITS)
        self.passing = nn.Linear(self.UNITS, 1)
        self.around = nn.Conv2d(filters, self.OWNER_CHANNELS, 3, padding=1)
        self.owner = nn.Conv2d(self.OWNER_CHANNELS, 1, 1)
        self.narrow = nn.Conv2d(filters, self.VALUE_CHANNELS, 1)
        self.weigh = nn.Linear(BoardMask.POOLED * self.VALUE_CHANNELS + GameConditions.WIDTH, self.UNITS)
        # three outputs: the logit of a win, the part of the lead that is not territory, the spread of the lead
        self.result = nn.Linear(self.UNITS, 3)
        self.trust = nn.Parameter(torch.zeros(1))  # how strongly the winner's logit depends on the lead

    def consumed_units(self) -> Iterator[ConsumedUnits]:
        """Yield a `ConsumedUnits` for each layer that has hidden units and is not inside a residual block. The
        `ConsumedUnits` contains this layer, and the layers that use its units as input. The module nets.dead_units
        needs them to replace dead units (units that are always 0).
        """
        pooled, pooled_values = BoardMask.POOLED * self.SEEN_CHANNELS, BoardMask.POOLED * self.VALUE_CHANNELS
        spreads = [cast(Block, block).spread for block in self.blocks]
        by_blocks = [(spread, [BoardMask.POOLED * self.pooled]) for spread in spreads if spread is not None]
        after = [(self.told, [0]), (self.everywhere, [pooled]), (self.pause, [pooled]), (self.weigh, [pooled_values])]
        yield ConsumedUnits(self.conditions.mix, [*after, *by_blocks])
        seen = range(0, pooled, self.SEEN_CHANNELS)
        yield ConsumedUnits(self.seen, [(self.everywhere, seen), (self.pause, seen)])
        yield ConsumedUnits(self.narrow, [(self.weigh, range(0, pooled_values, self.VALUE_CHANNELS))])
        yield ConsumedUnits(self.pause, [(self.passing, [0])])
        yield ConsumedUnits(self.before, [(self.point, [0])], added=[self.everywhere])

    def trunk(self, codes: Tensor, state: Tensor) -> tuple[Tensor, BoardMask, Tensor]:
        """Return the features of the last residual block, [n, filters, 19, 19], the board's mask, and the features of
        the side inputs (see `GameConditions`), [n, 64].

        codes, state: the positions, uint8 [n, 361] and uint8 [n, 10], see `kibitz.PositionArrays`.
        """
        board, conditions = BoardMask.of(codes, state), self.conditions(state)
        grid = self.stem(self.planes(codes, state))
        condition_bias = self.told(conditions).to(grid.dtype)[:, :, None, None]
        grid = F.relu(grid + condition_bias) * board.mask.to(grid.dtype)
        for block in self.blocks:
            grid = block(grid, board, conditions)
        return grid, board, conditions

    def features(self, codes: Tensor, state: Tensor) -> Tensor:
        """Return the features of the last residual block, averaged over the board, [n, filters]. codes, state: the
        positions, uint8 [n, 361] and uint8 [n, 10], see `kibitz.PositionArrays`.
        """
        grid, board, _ = self.trunk(codes, state)
        return grid.sum((2, 3)) / board.area.to(grid.dtype)

    def move_logits(self, grid: Tensor, board: BoardMask, conditions: Tensor, codes: Tensor) -> Tensor:
        """Return the logits of a move at each point and of a pass, float32 [n, 362]. Points that aren't empty get a
        very low logit. grid, board, conditions: the result of `trunk`. codes: uint8 [n, 361], the positions, see
        `kibitz.PositionArrays`.
        """
        seen = board.pool(F.relu(self.seen(grid)) * board.mask.to(grid.dtype))
        summary = torch.cat([seen, conditions.to(grid.dtype)], 1)
        moves = F.relu(self.before(grid) + self.everywhere(summary)[:, :, None, None]) * board.mask.to(grid.dtype)
        points = self.point(moves).flatten(1).float()
        points = torch.where(codes.long() % AGE == EMPTY, points, torch.full_like(points, -1e4))
        return torch.cat([points, self.passing(F.relu(self.pause(summary))).float()], 1)

    def owner_logits(self, grid: Tensor) -> Tensor:
        """Return the logit of the probability that each point will belong to the side to move at the end, float32 [n,
        361]. grid: the features from `trunk`.
        """
        logits: Tensor = self.owner(F.leaky_relu(self.around(grid), 0.1))
        return self.CALM_OWNERS * logits.flatten(1).float()

    def results(
        self, grid: Tensor, board: BoardMask, conditions: Tensor, state: Tensor, owners: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return three predictions for the side to move, each float32 [n]: the logit of a win, the expected lead in
        points, and the standard deviation of the lead (spread) in points.

        grid, board, conditions: the result of `trunk`. state: uint8 [n, 10], see `kibitz.PositionArrays`. owners: the
        territory logits, from `owner_logits`.

        The lead is the predicted territory with komi, plus a learned correction. The loss of the score does not train
        the territory logits: no gradient flows from the lead to them. Such a gradient would shift the logits of all
        points together, because the score is only one number per game. It would be nine times as strong as the gradient
        of the territory loss.

        The logit of a win is a learned factor times the logit that follows from lead and spread, plus a learned
        correction.
        """
        seen = board.pool(F.relu(self.narrow(grid)) * board.mask.to(grid.dtype))
        units = F.leaky_relu(self.weigh(torch.cat([seen, conditions.to(grid.dtype)], 1)), 0.1)
        win, more, spread = (self.CALM * self.result(units).float()).unbind(1)
        owned = (torch.tanh(owners.detach() / 2) * board.mask.flatten(1)).sum(1)
        lead = owned + self.POINTS_A_UNIT * more - mover_sign(state) * white_komi(state)
        spread = 1 + 2 * self.POINTS_A_UNIT * F.softplus(spread)
        return win + self.trust * math.pi / math.sqrt(3) * (lead / spread).detach(), lead, spread

    def forward(self, codes: Tensor, state: Tensor) -> tuple[Tensor, ...]:
        """Return the tensors `policy`, `value`, `black_owns`, `lead` and `spread`, which the class `GoHuman` describes.
        codes, state: the positions, uint8 [n, 361] and uint8 [n, 10], see `kibitz.PositionArrays`.
        """
        grid, board, conditions = self.trunk(codes, state)
        owners = self.owner_logits(grid)
        win, lead, spread = self.results(grid, board, conditions, state, owners)
        black = torch.sigmoid(owners * mover_sign(state)[:, None])
        return (
            self.move_logits(grid, board, conditions, codes).softmax(1),
            torch.tanh(win / 2),
            torch.where(board.mask.flatten(1) > 0, black, torch.full_like(black, 0.5)),
            lead,
            spread,
        )


# Losses


def loss(network: GoHuman, batch: Tensors, settings: Settings) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the mean loss of a batch, and the metrics as a dict from names to tensors, each float32 [n].

    The loss is a weighted sum of the losses for move, winner, territory and score. Games with an unknown final
    territory contribute nothing to the losses for territory and score. batch: a batch of GoMoves. settings: contains
    the weights of the sum.

    The metrics are "loss", "move_loss", "win_loss" and "owner_loss", and the accuracies "accuracy" (of the move, top-1)
    and "owner_accuracy". The metrics of the territory are scaled: their means over the batch are means over the games
    with a known territory.
    """
    grid, board, conditions = network.trunk(batch["codes"], batch["state"])
    moves = network.move_logits(grid, board, conditions, batch["codes"])
    owners = network.owner_logits(grid)
    win, lead, spread = network.results(grid, board, conditions, batch["state"], owners)
    move = F.cross_entropy(moves, batch["move"], reduction="none")
    winner = F.binary_cross_entropy_with_logits(win, batch["won"].abs(), reduction="none") * (batch["won"] >= 0)
    owned, right = owners_loss(owners, batch)
    score = score_loss(lead, spread, batch["lead"])
    each = move + settings.win_weight * winner + settings.owners_weight * owned + settings.score_weight * score
    known = batch["known"].float()
    share = known / known.mean().clamp(min=1e-6)  # so that a mean over the batch is a mean over the known owners
    return each.mean(), {
        "loss": each.detach(),
        "move_loss": move.detach(),
        "accuracy": (moves.argmax(1) == batch["move"]).float(),
        "win_loss": winner.detach(),
        "owner_loss": owned.detach() * share,
        "owner_accuracy": right * share,
    }


def owners_loss(owners: Tensor, batch: Tensors) -> tuple[Tensor, Tensor]:
    """Return the loss and the accuracy of the territory, each float32 [n]. The loss is the cross entropy, averaged over
    the points with a known owner. Both are 0 if no owner is known.

    owners: [n, 361], the territory logits for the side to move. batch: a batch of GoMoves.
    """
    mine = (batch["owner"] == batch["state"][:, SIDE, None] + BLACK).float()
    known = (batch["owner"] != NONE).float()
    points = known.sum(1).clamp(min=1)
    each = F.binary_cross_entropy_with_logits(owners, mine, reduction="none")
    right = ((owners > 0) == (mine > 0.5)).float()
    return (each * known).sum(1) / points, (right.detach() * known).sum(1) / points


def score_loss(lead: Tensor, spread: Tensor, target: Tensor) -> Tensor:
    """Return the loss of the predicted score, float32 [n]: the negative log density of the final lead under a logistic
    distribution. The loss is 0 if the final lead is unknown.

    lead, spread: the mean and the standard deviation of the distribution, in points. target: the final lead in points,
    NaN if unknown.
    """
    known = ~target.isnan()
    scale = spread * (math.sqrt(3) / math.pi)
    off = (torch.where(known, target, lead) - lead) / scale
    return torch.where(known, off + 2 * F.softplus(-off) + scale.log(), torch.zeros_like(off))


def constant_loss(batch: Tensors, settings: Settings) -> float:
    """Return the loss of the best constant prediction on a batch: the frequencies of winners and moves, and 50% for
    each owner. A network whose loss isn't smaller has learned nothing.
    """
    winners = of_shares(batch["won"][batch["won"] >= 0])
    known = (batch["owner"] != NONE).any(1).float().mean()
    return float(
        of_labels(batch["move"]) + settings.win_weight * winners + settings.owners_weight * math.log(2) * known
    )


# Games and examples


class GoMoves:
    """Training examples: every position in which a move was played, randomly rotated or mirrored, with the move and the
    result of the game.

    The settings `known` and `small` are minimum shares of the samples. `known` is for games with known final owners of
    the points, and `small` for games on small boards. Games of these kinds are repeated, up to MAX_REPEATS times, to
    get the shares. The remaining games are sampled less often.

    A batch has the positions as `codes` and `state`, see `kibitz.PositionArrays`. More columns of `state` have the side
    inputs (komi, ranks and other facts besides the board). A batch also has these arrays:

    move: int64 [n], the point from 0 to 360, or PASS (361).
    won: float32 [n], the mover's result: 1 for a win, 0.5 for a draw, 0 for a loss, −1 if unknown.
    owner: uint8 [n, 361], the final owners: 1 for Black, 2 for White, 0 for unknown or neutral.
    lead: float32 [n], the mover's final lead in points; NaN if it is unknown.
    known: bool [n], whether the final owners are known.
    """

    MAX_REPEATS = 128
    FORFEITS = ("forfeit", "void")
    """Endings of games, such as "forfeit", that don't show which player was better."""

    def __init__(self, store: Store, games: NDArray[np.int64], settings: Settings):
        self.store, self.settings = store, settings
        self.sides = GameSides(store)
        self.owners = store.per_game("owner")
        self.known = known_ends(store)
        self.size = store.column("size").astype(np.int64)
        result = store.column("result").astype(np.float32)
        self.black_won = np.where(np.isin(store.column("ending"), self.FORFEITS), np.nan, (1 + result) / 2)
        margin = store.column("margin").astype(np.float32)
        self.black_lead = np.where(self.known, np.sign(result) * margin, np.nan).astype(np.float32)
        # [size, symmetry, 361]: for each point of the transformed board, the original point
        sources = np.stack([symmetries(size) for size in range(GRID + 1)])
        self.sources = sources
        # [size, symmetry, 362]: for each original point, its place on the transformed board; a pass stays a pass
        self.back = np.concatenate([np.argsort(sources, 2), np.full((*sources.shape[:2], 1), PASS)], 2)
        self.positions = Positions(store, np.repeat(games, self._times(games)), last=-2)

    def _times(self, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often each game is sampled, int64 [games], from 0 to MAX_REPEATS."""
        if not len(games):
            return np.zeros(0, np.int64)
        # The groups: 0 for 19×19 boards with an unknown end, 1 for 19×19 boards with a known end, 2 for smaller boards.
        group = np.where(self.size[games] < GRID, 2, self.known[games].astype(np.int64))
        held = np.bincount(group, self.store.plies[games], minlength=3) / max(1, self.store.plies[games].sum())
        wanted = np.maximum(held, (0, self.settings.known, self.settings.small)) * (held > 0)
        wanted[0] = max(0.0, 1 - wanted[1:].sum()) if held[0] else 0.0
        times = np.minimum((wanted / wanted.sum() / np.maximum(held, 1e-9))[group], self.MAX_REPEATS)
        return whole_times(times, self.store.column("hash")[games])

    def __len__(self) -> int:
        return len(self.positions)

    def batch(self, ids: NDArray[np.int64], epoch: int) -> Arrays:
        """Return the examples with these ids, int64 [n], as the dict of arrays that `GoMoves` describes.

        For some examples, the last moves or some side inputs are hidden (set to unknown). epoch: the number of the pass
        over the examples. In each pass, the positions are rotated differently, and different inputs are hidden.
        """
        batch = self.positions.batch(ids)
        games, side = batch.games, batch.state[:, SIDE].astype(np.int64)
        bits = splitmix64(ids.astype(np.uint64) + (np.uint64(epoch) << np.uint64(40)))
        size, symmetry = self.size[games], (bits & np.uint64(7)).astype(np.int64)
        state = np.concatenate([batch.state, self.sides.of(games, side)], 1)
        codes = np.take_along_axis(batch.codes, self.sources[size, symmetry], 1)
        self._withhold(codes, state, bits)
        move = self.store.moves[self.store.offsets[games] + batch.plies].astype(np.int64)
        won = np.where(side == 0, self.black_won[games], 1 - self.black_won[games])
        return {
            "codes": codes,
            "state": state,
            "move": self.back[size, symmetry, move],
            "won": np.nan_to_num(won, nan=-1.0).astype(np.float32),
            "owner": self._owner(games, size, symmetry),
            "lead": np.where(state[:, KOMI_BYTE] > 0, (1 - 2 * side) * self.black_lead[games], np.nan).astype(
                np.float32
            ),
            "known": self.known[games],
        }

    def _owner(
        self, games: NDArray[np.int64], size: NDArray[np.int64], symmetry: NDArray[np.int64]
    ) -> NDArray[np.uint8]:
        if self.owners is None:
            return np.zeros((len(games), POINTS), np.uint8)
        return np.take_along_axis(self.owners[games], self.sources[size, symmetry], 1)

    def _withhold(self, codes: NDArray[np.uint8], state: NDArray[np.uint8], bits: NDArray[np.uint64]) -> None:
        """Hide information at random: remove the last moves, or set side inputs (komi, ranks and other facts besides
        the board) to unknown.

        Independent draws hide the following side inputs: both ranks together, the opponent's rank, server, rules,
        handicap and komi. In the share `withhold_players` of the rows, all inputs that describe the players are hidden
        together. bits: random bits that decide what is hidden in each row. `codes` and `state` are changed in place.
        """
        limit = round(self.settings.withhold * 256)

        def drawn(part: int, share: float = 1.0) -> NDArray[np.bool_]:
            return (bits >> np.uint64(3 + 8 * part) & np.uint64(255)) < limit * share

        blind = drawn(0)
        codes[blind] %= AGE
        state[blind, PASSES] = 0
        state[drawn(1), RANK : OPPONENT + 1] = 0
        for part, column, share in ((2, OPPONENT, 0.5), (3, SERVER, 1), (4, GAME_RULES, 1), (5, HANDICAP, 0.5)):
            state[drawn(part, share), column] = 0
        state[drawn(6, 0.3), KOMI_BYTE] = 0
        more = splitmix64(bits)
        together = (more >> np.uint64(32)) / 2.0**32 < self.settings.withhold_players
        for column in (HANDICAP, RANK, OPPONENT, SERVER):
            state[together, column] = 0
        state[together & (more & np.uint64(1) > 0), GAME_RULES] = 0


def known_ends(store: Store) -> NDArray[np.bool_]:
    """Return for each game of a store whether the final owners of the points are known, bool [games]."""
    if store.per_game("owner") is None:
        return np.zeros(len(store), np.bool_)
    return np.array([label is not None for label in store.column("labels")], np.bool_)


# Training


def draw_weights(network: GoHuman, generator: torch.Generator) -> None:
    """Set random initial weights with the variance 2 / fan-in. The last layer of each residual block gets small
    weights, so that blocks begin almost as identities. At first, the network predicts even results and nearly even
    territory.
    """
    for name, p in network.named_parameters():
        with torch.no_grad():
            if name.endswith("norm.weight"):
                p.fill_(1)
            elif p.dim() < 2 or name == "result.weight":
                p.zero_()
            elif name.startswith("conditions.") and not name.endswith("mix.weight"):
                p.normal_(0, 1, generator=generator)
            else:
                p.normal_(0, (2 / p[0].numel()) ** 0.5, generator=generator)
                if name.endswith(("second.weight", "spread.weight", "everywhere.weight", "owner.weight")):
                    p.mul_(0.1)


class GoHumanSystem(System):
    """The system (kind of network) `gohuman`: a network that predicts a Go player's move, the territory, the winner and
    the score. The base class describes the methods.
    """

    name = "gohuman"
    settings_type = Settings
    recipes = RECIPES

    def games(self, store: Store, settings: Settings) -> NDArray[np.int64]:
        fits = np.isin(store.column("size"), SIZES) & (store.plies >= settings.min_moves)
        return np.flatnonzero(fits)

    def network(self, settings: Settings) -> GoHuman:
        return GoHuman(settings)

    def prepare(
        self, network: nn.Module, store: Store, games: NDArray[np.int64], settings: Settings, seed: int
    ) -> None:
        assert isinstance(network, GoHuman)
        draw_weights(network, torch.Generator().manual_seed(seed))

    def adopt(self, network: nn.Module, system: str, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return initial weights for `network`, from the weights of another trained `gohuman` network.

        Residual blocks that only `network` has begin as identities, so they change nothing at first. Raises UsageError
        if the other network has more blocks or a different width.
        """
        return grown(network.state_dict(), weights)

    def stages(self, network: nn.Module, settings: Settings) -> Sequence[Stage]:
        assert isinstance(network, GoHuman)
        return [
            Stage(
                name="moves",
                module=network,
                examples=lambda store, games: GoMoves(store, games, settings),
                loss=lambda batch: loss(network, batch, settings),
                optimiser=lambda: muon(network, settings.weight_decay),
                learning_rate=lambda iteration, iterations: plateau(
                    settings.learning_rate,
                    iteration,
                    iterations,
                    warmup=settings.warmup,
                    cooldown=settings.cooldown,
                ),
                batch=settings.batch,
                iterations=settings.iterations,
                most_epochs=settings.most_epochs,
                constant_loss=lambda batch: constant_loss(batch, settings),
            )
        ]


SYSTEM = GoHumanSystem()
