"""The system (kind of network) `gocnn`: a convolutional network that predicts the final owner of each point of a Go
board from a single position.

The network follows a public repository of 2016 about board evaluation in Go. This file follows the repository's text
from top to bottom: games, network, target and loss, and then the stages (parts) of the training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from kibitz.errors import KibitzError, UsageError
from kibitz.games.go.encodings import (
    LIBERTIES,
    BoardPlanes,
    corner,
    mean_over_chains,
    on_board,
    pool_chains,
    roots,
    stones,
)
from kibitz.games.go.planes import RECENT
from kibitz.games.go.points import BLACK, GRID, NONE, SIZES, symmetries
from kibitz.games.go.replay import SIDE, SIZE
from kibitz.nets import constant
from kibitz.nets.build import ResidualBlock
from kibitz.nets.layers import Chain, Conv, Layer, Residual, read_layers, shapes
from kibitz.nets.optim import OPTIMISERS, WEIGHT_DECAY, draw_weights, learning_rate_at, make_optimiser
from kibitz.store.positions import Positions
from kibitz.store.sampling import splitmix64
from kibitz.store.store import Store
from kibitz.systems.base import (
    BF16_IF_FAST,
    OPTION_OFF,
    Arrays,
    Recipe,
    Stage,
    System,
    Tensors,
    document,
    fraction,
    ours,
    reading,
    setting,
)
from kibitz.text import either

PAPER_LAYERS = "64conv5x5p2.64conv5x5p2.64conv5x5p2.48conv5x5p2.48conv5x5p2"
_SCHEDULES = ("constant", "cosine")
"""The schedules of `nets.optim` that the settings offer. The settings offer all optimizers of `nets.optim`."""


@dataclass(frozen=True)
class Settings:
    """The settings of `gocnn`. The defaults are the values in the description of the original repository. If the
    description has no value for a setting, kibitz chooses the default. Options that the description only proposes are
    off, and so are additions of kibitz. `kibitz systems gocnn` prints the source of each value.
    """

    # games
    sizes: str = setting("19", "Board sizes of the training games: 19, or several, such as 9,13,19.")
    min_moves: int = setting(
        150,
        "Minimum length of training games, in moves on 19×19; smaller boards need fewer, in proportion to their area.",
        at_least=0,
    )
    handicap: int = setting(0, "Maximum number of handicap stones in training games.", at_least=0)
    # planes
    liberties: int = setting(
        3,
        "Number of input planes for liberties; 3: for 1, 2, and 3 or more liberties; 6: for 1 to 5, and 6 or more.",
        choices=LIBERTIES,
    )
    recent: int = setting(0, "Number of recent moves that get an input plane each.", at_least=0, at_most=RECENT)
    ages: bool = setting(
        False,
        "Add five input planes for the age of stones, in moves: 9–16, 17–32, 33–64, 65–128 and more; for ages 1–8,"
        " add --recent 8.",
    )
    # network
    layers: str = setting(PAPER_LAYERS, "Layers before the output; the layer chain pools over chains of stones.")
    last: int = setting(5, "Kernel size of the output convolution, in intersections.", at_least=1)
    together: bool = setting(False, "Average the outputs over the stones of each chain.")
    # target and loss
    loss: str = setting(
        "squares",
        "Loss; squares: squared error; entropy: cross-entropy.",
        choices=("squares", "entropy"),
    )
    symmetry: bool = setting(False, "Rotate and mirror each sample at random.")
    # optimiser
    optimiser: str = setting("adamw", "Optimizer: " + either(OPTIMISERS) + ".", choices=OPTIMISERS)
    learning_rate: float = setting(0.0001, "Learning rate at the first iteration.", at_least=0)
    schedule: str = setting(
        "constant", "Learning rate schedule: " + either(_SCHEDULES, {"cosine": "falls to 0"}) + ".", choices=_SCHEDULES
    )
    smoothing: float = fraction(0.99, "Smoothing of the squared gradients in the optimizer rmsprop.")
    momentum: float = fraction(0.9, "Momentum of the optimizers sgd and muon.")
    accumulator: float = setting(
        0.0,
        "Initial sums of squared gradients in the optimizer adagrad; 0 makes its first step very large.",
        at_least=0,
    )
    weight_decay: float = setting(0.0, WEIGHT_DECAY, at_least=0)
    batch: int = setting(128, "Number of positions per batch.", at_least=1)
    iterations: int = setting(100_000, "Number of batches.", at_least=1)
    most_epochs: float = setting(
        0.0, "Maximum number of epochs, even if --iterations allows more; 0 means no limit.", at_least=0
    )

    @property
    def boards(self) -> tuple[int, ...]:
        """The board sizes in the setting `sizes` as integers, such as (9, 13, 19). Raises UsageError if the setting
        isn't valid.
        """
        try:
            sizes = tuple(sorted({int(size) for size in self.sizes.split(",")}))
        except ValueError:
            sizes = ()
        if not sizes or not set(sizes) <= set(SIZES):
            raise UsageError(f"--sizes must be {either(map(str, SIZES))}, separated by commas (got {self.sizes})")
        return sizes

    @property
    def board(self) -> int:
        """The size of the largest board that the network supports."""
        return self.boards[-1]


_MODERN = {
    "optimiser": "muon", "momentum": 0.95, "learning_rate": 0.008, "schedule": "cosine", "symmetry": True,
    "weight_decay": 0.01,
}  # fmt: skip
"""The text's network and planes, with another optimizer, so that training takes an hour instead of half a day."""

RECIPES = {
    "default": Recipe(
        "the document's network with Muon and a cosine schedule, each position rotated at random; 900,000 positions",
        {**_MODERN, "sizes": "9,13,19", "iterations": 7000, "most_epochs": 12.0},
        reaches=(
            "ownership accuracy 82.2% (82.0 to 82.4) without neutral intersections, n = 40,000 positions of 1,225"
            " test games of 9-dan players. 21,624 training games; 78 minutes on one core",
            "bundled games: ownership accuracy 85.0% (81.4 to 87.5), n = 581 positions of 9 test games. Baseline,"
            " the color of the nearest stone: 83.0%. 20 minutes on one core",
        ),
    ),
    "quick": Recipe(
        "a smaller network for all board sizes, trained for about two minutes, to try kibitz",
        {
            **_MODERN, "sizes": "9,13,19", "layers": "32conv5x5p2.32conv3x3p1.32conv3x3p1", "last": 3,
            "weight_decay": 0.0, "batch": 64, "iterations": 2400,
        },
        {"validations": 8},
    ),
    "long": Recipe(
        "the default with four times the positions",
        {**_MODERN, "sizes": "9,13,19", "iterations": 28_000, "most_epochs": 60.0},
    ),
    "paper": Recipe(
        "the document's network and optimizer: Adam 0.0001, squared error. The 100,000 batches of 128 positions are"
        " our choice",
        training={"precision": "auto"},
        departures=(
            "the loss excludes neutral intersections, including those between the groups of a seki. The document gives"
            " them random owners. The groups themselves are alive in both. If GNU Go is the referee and the rules are"
            " Japanese or Korean, the loss also excludes the eyes of these groups. The document does not mention such"
            " eyes",
            "the loss is the mean of the squared errors over the intersections that are not neutral. The document uses"
            " the sum over all intersections. With Adam, both give nearly the same steps",
            "the games come from the store. The document uses about 15,000 professional games of the collection Go4Go",
            "the initial weights use He initialization. The document does not state its initial weights",
            "kibitz keeps the weights with the lowest validation loss. The document does not state which weights it"
            " tested",
            "owners come from random playouts, or from GNU Go if the playouts don't fit the recorded score. The"
            " document uses GNU Go only. To use GNU Go only, import with --referee gnugo. kibitz runs it at level 0,"
            " but the document states no level. GNU Go only finds the dead stones in the last recorded position. The"
            " document can also mean that GNU Go finishes the games",
            "kibitz skips games whose owners don't add up to the recorded score. The document does not mention such a"
            " check. So games in which the owners are clear are more frequent in training and test. If random playouts"
            " leave most of the last position open, kibitz skips the game without GNU Go",
            "the document gives the training times (4 and 12 hours), but neither the number nor the size of the"
            " batches. Games of at least 150 moves and without handicap are our choice",
        ),
        sources={
            "sizes": document(),
            "min_moves": ours(), "handicap": ours(),
            "liberties": document(
                "1, 2, or at least 3, for the stones of the side to move and of the other side. With a plane for ko and"
                " one of ones there are eight planes"),
            "recent": document("the document proposes recent moves as inputs. Its network does not have them"),
            "ages": document("the document proposes the ages of stones as inputs. Its network does not have them"),
            "together": document(
                "the document proposes equal predictions for connected stones. Its network does not have them"),
            "symmetry": OPTION_OFF,
            "layers": reading(
                "five convolutions of 5×5 with 64, 64, 64, 48 and 48 filters, with ReLU. We pad them with zeros, so"
                " that the output has the board's size. In the document, the plane of ones shows the edge, which"
                " needs such padding. The document calls the network a 5 layer CNN. We count its output convolution"
                " as a sixth layer. Our network has 353,489 weights, and the document states roughly 350,000. A"
                " network with only four layers before the output would have about 296,000"),
            "last": document(
                "one convolution of 5×5 with a sigmoid: the probability that the side to move owns the intersection"),
            "loss": document("the squared error, see the differences"),
            "optimiser": document("Adam, which is adamw without weight decay"),
            "learning_rate": document(), "schedule": ours("the document does not mention a schedule"),
            "smoothing": ours("not used by this optimizer"), "momentum": ours("not used by this optimizer"),
            "accumulator": ours("not used by this optimizer"), "weight_decay": ours("not stated in the document"),
            "batch": ours(), "iterations": ours("the document gives hours only"), "most_epochs": ours("no limit"),
            "precision": BF16_IF_FAST,
        },
    ),
}  # fmt: skip


# Games that were played to the end and scored, so that the owner of each point is known. Our recipe also excludes short
# games and games with a handicap.


class OwnerExamples(Positions):
    """Training examples: every position of the games, with `owner`, the final owner of each point, uint8 [n, 361]. The
    values are 1 for Black, 2 for White, and 0 for unknown or neutral.

    symmetry: whether to rotate or mirror each position at random.
    """

    def __init__(self, store: Store, games: NDArray[np.int64], symmetry: bool = False):
        super().__init__(store, games)
        owners = store.per_game("owner")
        assert owners is not None or not len(games)
        self._owners = owners
        self._sources = (
            np.stack([symmetries(size) for size in range(GRID + 1)]) if symmetry else None
        )  # [size, way, 361]

    def batch(self, ids: NDArray[np.int64], epoch: int = 0) -> Arrays:  # type: ignore[override]
        """Return the positions as "codes", uint8 [n, 361], and "state", uint8 [n, 4], with the final owners as "owner",
        uint8 [n, 361]. See `kibitz.PositionArrays`. ids: the indices of the positions, int64 [n]. epoch: the number of
        the pass over the examples, which changes the random rotations.
        """
        games, plies = self.locate(ids)
        codes, state = self.store.replay(games, plies)
        assert self._owners is not None
        owner = self._owners[games]
        if self._sources is not None:  # a random number that depends only on the position and the epoch
            symmetry = (splitmix64(ids.astype(np.uint64) + np.uint64(epoch << 40)) & np.uint64(7)).astype(np.int64)
            source = self._sources[state[:, SIZE], symmetry]
            codes, owner = np.take_along_axis(codes, source, 1), np.take_along_axis(owner, source, 1)
        return {"codes": codes, "state": state, "owner": owner}


# Network


class GoNet(nn.Module):
    """A convolutional network that predicts territory.

    Inputs: `codes`, uint8 [n, 361]; `state`, uint8 [n, 4]; see `kibitz.PositionArrays`. Output: `black_owns`, the
    probability that each point will be Black's at the end, float32 [n, 361].

    By default, the layers are five convolutions of 5×5 with ReLU (64, 64, 64, 48 and 48 filters), a convolution of 5×5
    to one channel, and a sigmoid. Inside the network, the board and the logits are in the view of the side to move. If
    a board is smaller than the network's grid, the points outside the board are masked to 0 after every layer. Their
    output is 0.5.
    """

    outputs = ("black_owns",)
    side_inputs: ClassVar[dict[str, int]] = {}

    def __init__(self, settings: Settings):
        super().__init__()
        self.grid, self.together = settings.board, settings.together
        self.planes = BoardPlanes(self.grid, settings.liberties, settings.recent, settings.ages)
        self.layers = read_layers(settings.layers)
        self.pools = settings.together or any(isinstance(layer, Chain) for layer in self.layers)
        self.steps = nn.ModuleList()
        before = self.planes.channels
        for layer, (after, _, _) in zip(self.layers, shapes(self.layers, before, self.grid), strict=True):
            self.steps.append(_module(layer, before))
            before = after
        self.last = nn.Conv2d(before, 1, settings.last, padding=settings.last // 2)

    def logits(self, codes: Tensor, state: Tensor) -> Tensor:
        """Return one logit for each point of the network's grid, float32 [n, grid²]. The sigmoid of the logit is the
        probability that the side to move owns the point at the end of the game. grid: the size of the largest board
        that the network supports.

        codes, state: the positions, uint8 [n, 361] and uint8 [n, 4], see `kibitz.PositionArrays`.
        """
        values = self.planes(codes, state)
        board = corner(codes, self.grid)
        mask = on_board(board)[:, None].to(values.dtype)
        chains = roots(stones(board)) if self.pools else torch.empty(0)
        for layer, step in zip(self.layers, self.steps, strict=True):
            if isinstance(layer, Chain):
                values = _pool_chains(values, chains, layer.channels)
            elif isinstance(layer, Residual):
                values = step(values, mask) * mask
            else:
                values = F.relu(step(values)) * mask
        answer = self.last(values).flatten(1).float()
        return mean_over_chains(answer, chains) if self.together else answer

    def forward(self, codes: Tensor, state: Tensor) -> tuple[Tensor]:
        """Return the probability that each point will be Black's at the end, float32 [n, 361], as the only element of a
        tuple. codes, state: the positions, uint8 [n, 361] and uint8 [n, 4], see `kibitz.PositionArrays`.
        """
        mine = self.logits(codes, state)
        black = torch.sigmoid(mine * (1 - 2 * state[:, SIDE, None].float())).view(-1, self.grid, self.grid)
        black = torch.where(on_board(corner(codes, self.grid)), black, torch.full_like(black, 0.5))
        margin = GRID - self.grid
        return (F.pad(black, (0, margin, 0, margin), value=0.5).flatten(1),)


def _module(layer: Layer, channels: int) -> nn.Module:
    """Return the torch module of a layer; chain pooling has no weights and needs no module."""
    if isinstance(layer, Conv):
        return nn.Conv2d(channels, layer.filters, (layer.height, layer.width), layer.stride, layer.padding)
    return ResidualBlock(channels, layer) if isinstance(layer, Residual) else nn.Identity()


def _pool_chains(values: Tensor, chains: Tensor, channels: int) -> Tensor:
    """Max-pool the first `channels` channels, or all channels if `channels` is 0, over each chain of stones.

    The repository proposes such pooling.
    """
    if not channels:
        return pool_chains(values, chains)
    return torch.cat([pool_chains(values[:, :channels], chains), values[:, channels:]], 1)


# Target: 1 if the point belongs to the side to move at the end, else 0. Loss: squared error, averaged over the points
# with a known owner. The original document sums the errors instead of averaging them; Adam's steps are nearly the same.
# The document chooses random owners for neutral points; here these points are masked.


def loss(network: GoNet, batch: Tensors, kind: str) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the mean loss of a batch, and the metrics "loss" and "accuracy", each float32 [n]. The accuracy is the
    share of correctly predicted points among the points with a known owner. Both metrics are 0 if no owner is known.

    batch: a batch of OwnerExamples, with the positions as `codes` and `state`, and the final owners as `owner`. kind:
    "squares" for the squared error, "entropy" for the cross entropy.
    """
    logits = network.logits(batch["codes"], batch["state"])
    owner = corner(batch["owner"], network.grid).flatten(1)
    mine = (owner == batch["state"][:, SIDE, None] + BLACK).float()
    known = (owner != NONE).float()
    if kind == "squares":
        each = (torch.sigmoid(logits) - mine).square()
    else:
        each = F.binary_cross_entropy_with_logits(logits, mine, reduction="none")
    points = known.sum(1).clamp(min=1)
    error = (each * known).sum(1) / points
    right = (((logits > 0) == (mine > 0.5)) * known).sum(1) / points
    return error.mean(), {"loss": error.detach(), "accuracy": right}


def _constant_loss(batch: Tensors, grid: int, kind: str) -> float:
    """Return the loss of the best constant prediction: the same probability for every point."""
    owner = corner(batch["owner"], grid).flatten(1)
    mine = (owner == batch["state"][:, SIDE, None] + BLACK)[owner != NONE].float()
    return float(constant.of_values(mine) if kind == "squares" else constant.of_shares(mine))


# The system


class GoCnnSystem(System):
    """The system (kind of network) `gocnn`: a network that predicts the final owner of each point of a Go board. The
    base class describes the methods.
    """

    name = "gocnn"
    settings_type = Settings
    recipes = RECIPES

    def check(self, settings: Settings) -> None:
        super().check(settings)
        if settings.last % 2 == 0:
            raise UsageError(
                f"--last must be odd (got {settings.last}). Use {settings.last - 1} or {settings.last + 1}."
            )
        layers = read_layers(settings.layers)
        planes = BoardPlanes(settings.board, settings.liberties, settings.recent, settings.ages).channels
        for number, (layer, shape) in enumerate(zip(layers, shapes(layers, planes, settings.board), strict=True), 1):
            if not isinstance(layer, Conv | Residual | Chain) or shape[1:] != (settings.board, settings.board):
                raise UsageError(
                    f"--layers must keep the board's grid in layer {number}. Use a convolution with padding."
                )

    def games(self, store: Store, settings: Settings) -> NDArray[np.int64]:
        """Return the indices of the games that training can use, int64 [n]. The final territory of these games is
        known, and the settings allow the board size, the handicap and the length. Raises KibitzError if the store has
        no territory labels.
        """
        labelled = np.array([label is not None for label in store.column("labels")], np.bool_)
        if store.per_game("owner") is None or not labelled.any():
            raise KibitzError(f"{store.path} has no territory labels. Import its games again without --referee none.")
        size = store.column("size").astype(np.int64)
        taken = np.isin(size, settings.boards) & (store.column("handicap") <= settings.handicap)
        taken &= store.plies * GRID**2 >= settings.min_moves * size**2
        return np.flatnonzero(taken & labelled)

    def network(self, settings: Settings) -> GoNet:
        return GoNet(settings)

    def prepare(
        self, network: nn.Module, store: Store, games: NDArray[np.int64], settings: Settings, seed: int
    ) -> None:
        draw_weights(network, "he", torch.Generator().manual_seed(seed))

    def stages(self, network: nn.Module, settings: Settings) -> Sequence[Stage]:
        assert isinstance(network, GoNet)
        return [
            Stage(
                name="owners",
                module=network,
                examples=lambda store, games: OwnerExamples(store, games, settings.symmetry),
                loss=lambda batch: loss(network, batch, settings.loss),
                constant_loss=lambda batch: _constant_loss(batch, network.grid, settings.loss),
                optimiser=lambda: make_optimiser(
                    settings.optimiser,
                    network,
                    weight_decay=settings.weight_decay,
                    momentum=settings.momentum,
                    smoothing=settings.smoothing,
                    accumulator=settings.accumulator,
                ),
                learning_rate=lambda iteration, iterations: learning_rate_at(
                    settings.schedule, settings.learning_rate, iteration, iterations
                ),
                batch=settings.batch,
                iterations=settings.iterations,
                most_epochs=settings.most_epochs,
            )
        ]


SYSTEM = GoCnnSystem()
