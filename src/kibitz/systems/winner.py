"""The system (kind of network) `winner`: a convolutional network that predicts who wins from a single chess position.

The method is from "Chess position evaluation with convolutional neural network in Julia", a blog post of 2016 that uses
the library Mocha.jl. This file follows the post from top to bottom: games, network, target and loss, optimizer, and
then the stages (parts) of the training.
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

from kibitz.games.chess.encodings import (
    AttackPlanes,
    Encoding,
    MoverView,
    SignedPlanes,
    Stack,
)
from kibitz.games.chess.material import ENDGAME_UP_TO, OPENING_OVER
from kibitz.games.chess.planes import ATTACKS
from kibitz.games.chess.replay import SIDE, flip_files
from kibitz.nets import constant
from kibitz.nets.build import build
from kibitz.nets.layers import read_layers, shapes
from kibitz.nets.optim import learning_rate_at, make_optimiser
from kibitz.store.positions import Positions
from kibitz.store.sampling import sample_positions
from kibitz.store.store import Store
from kibitz.systems.base import (
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

PAPER_LAYERS = "400conv4x4.pool2x2.200conv2x2.ip70"
_OPTIMISERS, _SCHEDULES = ("sgd", "adamw"), ("inv", "cosine")
"""The optimizers and schedules of `nets.optim` that the settings offer."""


@dataclass(frozen=True)
class Settings:
    """The settings of `winner`. The defaults are the values of the blog post. If the post has no value for a setting,
    kibitz chooses the default. Options that the post only proposes are off, and so are additions of kibitz. `kibitz
    systems winner` prints the source of each value.
    """

    # network
    layers: str = setting(PAPER_LAYERS, "Layers before the output, in a notation like that of the original blog post.")
    activation: str = setting(
        "identity",
        "Activation function after each convolution: identity (none, as in the original blog post) or relu.",
        choices=("identity", "relu"),
    )
    dropout: float = fraction(
        0.2, "Share of the units of the last hidden layer that are switched off at random in training (dropout)."
    )
    # the post's proposals
    attacks: str = setting(
        "none",
        "Input planes for attacked squares; none: no planes; squares: 0 or 1; counts: number of attackers;"
        " pieces: attackers by piece type.",
        choices=ATTACKS,
    )
    separate: str = setting(
        "none",
        "Which positions get a separate network; none: one network for all; side: by side to move; phase: by game"
        " phase; side+phase: by both.",
        choices=("none", "side", "phase", "side+phase"),
    )
    view: str = setting(
        "white",
        "View of the board; white: White's view, as in the original blog post; mover: the colors are swapped if"
        " Black is to move.",
        choices=("white", "mover"),
    )
    mirror: str = setting(
        "none",
        "Mirror half of the samples that have no castling rights; none: no mirroring, as in the original blog"
        " post; files: left and right exchanged.",
        choices=("none", "files"),
    )
    # the post's validation
    held_out: float = setting(
        0.0,
        "Percent of each game's positions that are kept out of training, for a split by position, probably as in"
        " the original blog post.",
        at_least=0,
        below=100,
    )
    # optimiser
    optimiser: str = setting(
        "sgd", "Optimizer: " + either(_OPTIMISERS, {"sgd": "as in the original blog post"}) + ".", choices=_OPTIMISERS
    )
    learning_rate: float = setting(0.01, "Learning rate at the first iteration.", at_least=0)
    schedule: str = setting(
        "inv",
        "Learning rate schedule: " + either(_SCHEDULES, {"inv": "a slow decay, as in the original blog post"}) + ".",
        choices=_SCHEDULES,
    )
    momentum: float = fraction(0.9, "Momentum of the optimizer sgd.")
    weight_decay: float = setting(
        0.0005,
        "Weight decay: with sgd, a penalty on the squared weights in the loss; with adamw, the weights shrink"
        " directly at each step.",
        at_least=0,
    )
    initial: str = setting(
        "unit",
        "Initial weights; mocha: Xavier over the fan-in; unit: scaled to unit variance on real positions.",
        choices=("mocha", "unit"),
    )
    batch: int = setting(1024, "Number of positions per batch.", at_least=1)
    iterations: int = setting(150_000, "Maximum number of batches.", at_least=1)
    most_epochs: float = setting(
        0.0, "Maximum number of epochs, even if --iterations allows more; 0 means no limit.", at_least=0
    )


_MODERN = {
    "activation": "relu", "view": "mover", "attacks": "pieces", "optimiser": "adamw", "learning_rate": 0.0015,
    "schedule": "cosine",
}  # fmt: skip
"""Changes from the post that let the layers learn faster (docs/results/winner.md)."""

RECIPES = {
    "default": Recipe(
        "the post's layers with ReLU and AdamW, the mover's view and attack planes, 7.7 million positions",
        {**_MODERN, "iterations": 7500, "most_epochs": 2.0},
        reaches=(
            "winner accuracy 66.4% (66.0 to 66.7), n = 400,000 positions of 21,119 decisive games of masters, from"
            " later years than the training games. 150,112 training games; 40 minutes on one core",
            "bundled games (Stockfish at limited strength): winner accuracy 77.6% (75.0 to 80.1), n = 13,203"
            " positions of 138 test games. 2 minutes",
        ),
    ),
    "quick": Recipe(
        "a short training run of about two minutes, to try kibitz",
        {**_MODERN, "attacks": "counts", "learning_rate": 0.001, "iterations": 900, "most_epochs": 5.0},
        reaches=(
            "winner accuracy 67.2% (66.0 to 68.4), n = 112,196 positions of 1,321 test games that end in mate."
            " Trained without 8% of the positions (--held-out 8); 4 minutes on one core",
        ),
    ),
    "long": Recipe("the default with four times the positions", {**_MODERN, "iterations": 30_000, "most_epochs": 4.0}),
    "paper": Recipe(
        "the post's settings: convolutions without activation, SGD with momentum, learning rate 0.01·(1 +"
        " 0.0001·i)^−0.75, 150,000 iterations. The initial weights are our choice",
        training={"summary_every": 300, "validate_every": 1000, "checkpoint_every": 2000, "precision": "auto"},
        reaches=(
            "winner accuracy 60.6% (60.1 to 61.1) on the test games of the default. We stopped this training run after"
            " 2,552 iterations (9 minutes on one core)",
            "winner accuracy 64.4% (63.0 to 65.8), n = 111,114 positions of 1,294 test games that end in mate, after"
            " six epochs. 5,350 iterations, 17 minutes on one core",
        ),
        departures=(
            "kibitz scales the initial weights and shifts the biases of all layers before the output: on real"
            " positions, the outputs of these layers have mean 0 and variance of about 1. The post's code sets no"
            " initial weights, so its library Mocha chooses them, with biases of 0 (--initial mocha). We trained with"
            " such weights for 1,000 iterations. The network then still predicted the same value for every position",
            "kibitz keeps the weights with the lowest validation loss, and stops after 20 validations without"
            " improvement. The author stopped by hand after five epochs. According to its text, the post tests the last"
            " snapshot, but its code loads the snapshot of iteration 64,000",
            "validation uses different games from training. The author of the post suspects that it validates on other"
            " positions of its training games. With --held-out 8, kibitz excludes as many positions, and the test shows"
            " both accuracies",
            "a validation of kibitz uses at most 51,200 positions (--validate-positions). The post has 1.5 million"
            " positions for validation, and its library uses all of them each time",
            "kibitz shuffles all positions before each epoch. The post stores its data in files with 500,000 positions"
            " each. Its library shuffles the files, and then the positions of each file",
            "kibitz trains in bf16 if the processor computes in bf16. The post's code uses Float32 for its test data"
            " and predictions, and names no other number format",
            "kibitz samples the test games at random. The post trains on games of 2014 and 2015, and tests on games of"
            " January and February 2016. To do the same, train with --test-from 2016-01-01",
            'kibitz uses all decisive games of the store. The post uses games that end in mate, by "players with rank'
            ' higher than 2000". We read this as a rating over 2000 for both players. To get such games, import with'
            " --ending checkmate --min-rating 2001",
        ),
        sources={
            "layers": document(
                "400 filters of 4×4, pooling 2×2, 200 filters of 2×2, dense 70 with a sigmoid. The post's code"
                " does not name the kind of pooling, and its library then takes the maximum. The pooling from 5×5 to"
                " 3×3 needs a smaller window at the edge, which the post's rule for shapes excludes. The post lists"
                " the output layer, but its code does not add it. The post calls the stride of convolutions zero, but"
                " the stride is 1"
            ),
            "activation": document(
                "the post's code names no activation function here. According to the post, this means the identity"
            ),
            "dropout": document(
                "0.2 after the dense layer. By the post's text, dropout excludes connections. The layer of its library"
                " switches off units, and kibitz does the same"
            ),
            "attacks": document("the post proposes a channel for attacked squares. Its network does not have it"),
            "separate": document(
                "the post proposes separate networks for White and Black, or for the phases of the game. It has one"
            ),
            "mirror": OPTION_OFF,
            "held_out": ours("no positions of training games are held out, see the differences"),
            "view": reading(
                "six planes of 8×8, one for each type of piece, with +1 and −1. A sign shows the color, which we read"
                " as +1 for White and −1 for Black. A seventh plane is +1 if White is to move and −1 if Black is, as in"
                " the post. No plane shows castling rights or en passant squares"
            ),
            "optimiser": document(),
            "learning_rate": document(),
            "momentum": document(),
            "schedule": document("Inv(0.01, 0.0001, 0.75)"),
            "weight_decay": reading(
                "the post gives 0.0005. By the rules of its library, weights decay by twice as much, and biases"
                " don't decay but learn at twice the rate"
            ),
            "initial": ours("a network with the library's initial weights did not learn here, see the differences"),
            "batch": document(),
            "iterations": document("a maximum; the post stopped after five epochs"),
            "most_epochs": ours(
                "no limit. The post stopped after five epochs. To do the same, train with --most-epochs 5 --patience 0"
            ),
            "summary_every": document(),
            "validate_every": document(),
            "checkpoint_every": document("a snapshot"),
            "precision": ours(
                "bf16 if the processor computes in bf16, else float32. The post's code uses Float32 in its test, and"
                " does not name the number format of the training. --precision float32 turns bf16 off"
            ),
        },
    ),
}


# All decisive games of the store. With some options, the import selects games with ratings over 2000 that end in mate:
# see the departures.


class OutcomeExamples(Positions):
    """Training examples: every position of the games, from the start position to the one after the last move. The
    target is White's result: 1 for a win and 0 for a loss.

    mirror: whether to exchange left and right in a random half of the positions. Only positions without castling rights
    are mirrored, because mirroring does not change their value. held_out: how many percent of the positions are
    omitted. These positions are the same in every call (see `store.sampling`).
    """

    def __init__(self, store: Store, games: NDArray[np.int64], mirror: bool = False, held_out: float = 0.0):
        self._held_out = sample_positions(store, games, 0, share=held_out) if held_out else None
        super().__init__(store, games)
        self.mirror = mirror
        self._white_won = store.column("result") > 0

    def __len__(self) -> int:
        return super().__len__() if self._held_out is None else len(self._held_out)

    def locate(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the game and the ply (number of moves so far) of each example, both int64 [n]. ids: int64 [n]."""
        return super().locate(ids) if self._held_out is None else (self._held_out.games[ids], self._held_out.plies[ids])

    def batch(self, ids: NDArray[np.int64], epoch: int = 0) -> Arrays:  # type: ignore[override]
        """Return the positions as "codes", uint8 [n, 64], and "state", uint8 [n, 4], and White's results as "target",
        float32 [n]. See `kibitz.PositionArrays`. ids: the indices of the examples, int64 [n]. epoch: the number of the
        pass over the examples, which changes which positions are mirrored.
        """
        games, plies = self.locate(ids)
        codes, state = self.store.replay(games, plies)
        if self.mirror:
            coin = (ids * 0x9E3779B1 + epoch * 0x85EBCA77) >> 16 & 1  # depends only on the position and the epoch
            codes, state = flip_files(codes, state, coin == 1)
        return {"codes": codes, "state": state, "target": self._white_won[games].astype(np.float32)}


# Network


class Net(nn.Module):
    """A convolutional network with the layers of the blog post. Input: planes, [n, channels, 8, 8]. Output: the logit
    of White's win probability, [n].

    By default, the layers are: convolution of 4×4 to 400 channels; max-pooling of 2×2, rounded up to 3×3; convolution
    of 2×2 to 200 channels; dense with 70 units and sigmoid; dropout; dense with one unit. The post's convolutions have
    no activation.
    """

    def __init__(self, settings: Settings, channels: int):
        super().__init__()
        layers = read_layers(settings.layers)
        steps, width = build(layers, channels, nn.ReLU if settings.activation == "relu" else None, nn.Sigmoid)
        steps += [nn.Dropout(settings.dropout), nn.Linear(width, 1)]
        self.steps = nn.Sequential(*steps)

    def forward(self, planes: Tensor) -> Tensor:
        logit: Tensor = self.steps(planes)
        return logit[:, 0]


def phase(codes: Tensor) -> Tensor:
    """Return the phase of the game for each position, int64 [n]: 0 opening, 1 middlegame, 2 endgame. The phase follows
    from the material, as in games.chess.material.

    codes: uint8 [n, 64], the positions, see `kibitz.PositionArrays`.
    """
    kind = (codes.long() + 5) % 6  # 0 pawn … 5 king; an empty square also gives 5
    officers = ((kind > 0) & (kind < 5)).sum(1)
    return (officers <= OPENING_OVER).long() + (officers <= ENDGAME_UP_TO).long()


class Winner(nn.Module):
    """The network of the system (kind of network) `winner`. If the setting `separate` is not "none", it consists of
    several networks: one for each side to move, one for each phase of the game, or one for each pair of side and phase.

    Inputs: `codes`, uint8 [n, 64]; `state`, uint8 [n, 4]; see `kibitz.PositionArrays`. Output: `white_wins`, White's
    win probability, float32 [n]. The method `logit` returns the logit of this probability, from which the loss is
    computed.
    """

    outputs = ("white_wins",)
    side_inputs: ClassVar[dict[str, int]] = {}

    def __init__(self, settings: Settings):
        super().__init__()
        self.mover = settings.view == "mover"
        self.view = MoverView() if self.mover else None
        self.by_side = settings.separate in ("side", "side+phase")
        # If White and Black to move have separate networks, the post proposes no plane for the side to move.
        parts: list[Encoding] = [SignedPlanes(side=not self.by_side)]
        if settings.attacks != "none":
            parts.append(AttackPlanes(settings.attacks))
        self.planes = Stack(*parts)
        self.by_phase = settings.separate in ("phase", "side+phase")
        count = (2 if self.by_side else 1) * (3 if self.by_phase else 1)
        self.nets = nn.ModuleList(Net(settings, self.planes.channels) for _ in range(count))

    def which(self, codes: Tensor, state: Tensor) -> Tensor:
        """Return which of the separate networks evaluates each position, as an index into the list `nets` of these
        networks, int64 [n]. codes, state: the positions, uint8 [n, 64] and uint8 [n, 4], see `kibitz.PositionArrays`.
        """
        # The tensor is made from the state, so that the exported network works for any number of positions.
        index = torch.zeros_like(state[:, SIDE], dtype=torch.long)
        if self.by_phase:
            index = phase(codes)
        if self.by_side:
            index = index * 2 + state[:, SIDE].long()
        return index

    def logit(self, codes: Tensor, state: Tensor) -> Tensor:
        """Return the logit of White's win probability, float32 [n]. codes, state: the positions, uint8 [n, 64] and
        uint8 [n, 4], see `kibitz.PositionArrays`.
        """
        seen, side = codes, state
        if self.view is not None:
            seen, side = self.view(codes, state), torch.zeros_like(state)
        planes = self.planes(seen, side)
        if len(self.nets) == 1:
            answer: Tensor = self.nets[0](planes)
        elif torch.onnx.is_in_onnx_export():  # the exported network evaluates all networks and selects one
            every = torch.stack([net(planes) for net in self.nets], 1)
            answer = every.gather(1, self.which(codes, state)[:, None])[:, 0]
        else:
            index = self.which(codes, state)
            order = torch.argsort(index, stable=True)
            groups = torch.bincount(index, minlength=len(self.nets)).tolist()
            parts = planes[order].split(groups)
            every = torch.cat([net(part) for net, part in zip(self.nets, parts, strict=True) if len(part)])
            answer = torch.empty_like(every).index_copy(0, order, every)
        if self.mover:
            answer = answer * (1 - 2 * state[:, SIDE].to(answer.dtype))
        return answer

    def forward(self, codes: Tensor, state: Tensor) -> tuple[Tensor]:
        """Return White's win probability, float32 [n], as the only element of a tuple. codes, state: the positions,
        uint8 [n, 64] and uint8 [n, 4], see `kibitz.PositionArrays`.
        """
        return (torch.sigmoid(self.logit(codes, state).float()),)


# Target and loss: White won = 1, Black won = 0; binary cross entropy.


def loss(network: Winner, batch: Tensors) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the mean loss of a batch, the cross entropy, and the metrics "loss" and "accuracy", float32 [n]. The
    accuracy is 1 if the winner is predicted correctly.

    batch: the positions as `codes`, uint8 [n, 64], and `state`, uint8 [n, 4]; and `target`, float32 [n], 1 if White won
    and 0 if Black won.
    """
    logit = network.logit(batch["codes"], batch["state"]).float()
    each = F.binary_cross_entropy_with_logits(logit, batch["target"], reduction="none")
    return each.mean(), {"loss": each.detach(), "accuracy": ((logit > 0) == (batch["target"] > 0.5)).float()}


# Optimiser


def optimiser(network: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """Return a new optimizer of the kind that the setting `optimiser` selects.

    "sgd" works as in the library Mocha.jl. The library adds the penalty weight_decay·‖w‖² to the loss, so weights decay
    with twice the setting `weight_decay`. Biases don't decay, and their learning rate is doubled.
    """
    if settings.optimiser != "sgd":
        return make_optimiser(settings.optimiser, network, weight_decay=settings.weight_decay)
    weights = [p for name, p in network.named_parameters() if name.endswith("weight")]
    biases = [p for name, p in network.named_parameters() if name.endswith("bias")]
    return torch.optim.SGD(
        [
            {"params": weights, "weight_decay": 2 * settings.weight_decay, "rate": 1.0},
            {"params": biases, "weight_decay": 0.0, "rate": 2.0},
        ],
        lr=settings.learning_rate,
        momentum=settings.momentum,
    )


def mocha_weights(network: nn.Module, generator: torch.Generator) -> None:
    """Set random initial weights as the library Mocha.jl does: uniform in ±√(3 / fan-in). Biases become 0."""
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            bound = (3 / layer.weight[0].numel()) ** 0.5
            with torch.no_grad():
                layer.weight.uniform_(-bound, bound, generator=generator)
                if layer.bias is not None:  # a layer before a normalization layer has no bias
                    layer.bias.zero_()


@torch.no_grad()
def unit_variance(net: Net, planes: Tensor) -> None:
    """Scale the weights and set the biases of each layer except the last. For these planes, the outputs of each changed
    layer then have a variance of about 1, and a mean of 0 in each channel. planes: [n, channels, 8, 8].

    Boards are nearly empty. With Mocha's weights, the sigmoids therefore have almost the same output for all positions.
    docs/results/winner.md has the measured effect.
    """
    net.eval()
    values = planes
    for step in net.steps:
        if isinstance(step, nn.Conv2d | nn.Linear) and step is not net.steps[-1]:
            out = step(values)
            channel = [i for i in range(out.dim()) if i != 1]
            scale = out.std().clamp(min=1e-6)
            assert step.bias is not None
            step.weight.div_(scale)
            step.bias.copy_(-out.mean(channel) / scale)
        values = step(values)
    net.train()


# The system


class WinnerSystem(System):
    """The system (kind of network) `winner`: a network that predicts who wins from a chess position. The base class
    describes the methods.
    """

    name = "winner"
    settings_type = Settings
    recipes = RECIPES

    def check(self, settings: Settings) -> None:
        super().check(settings)
        # the number of channels has no effect on the shapes of the layers' outputs
        shapes(read_layers(settings.layers), channels=7)

    def games(self, store: Store, settings: Settings) -> NDArray[np.int64]:
        return np.flatnonzero(store.column("result") != 0)

    def network(self, settings: Settings) -> Winner:
        return Winner(settings)

    def prepare(
        self, network: nn.Module, store: Store, games: NDArray[np.int64], settings: Settings, seed: int
    ) -> None:
        assert isinstance(network, Winner)
        mocha_weights(network, torch.Generator().manual_seed(seed))
        if settings.initial == "unit":
            examples = OutcomeExamples(store, games, held_out=settings.held_out)
            drawn = np.random.default_rng(seed).integers(len(examples), size=min(2048, len(examples)))
            batch = examples.batch(np.sort(drawn))
            codes, state = torch.from_numpy(batch["codes"]), torch.from_numpy(batch["state"])
            if network.view is not None:
                codes, state = network.view(codes, state), torch.zeros_like(state)
            with torch.no_grad():
                planes = network.planes(codes, state)
            for net in network.nets:
                assert isinstance(net, Net)
                unit_variance(net, planes)

    def stages(self, network: nn.Module, settings: Settings) -> Sequence[Stage]:
        assert isinstance(network, Winner)

        return [
            Stage(
                name="winner",
                module=network,
                examples=lambda store, games: OutcomeExamples(
                    store, games, settings.mirror == "files", settings.held_out
                ),
                loss=lambda batch: loss(network, batch),
                optimiser=lambda: optimiser(network, settings),
                learning_rate=lambda iteration, iterations: learning_rate_at(
                    settings.schedule, settings.learning_rate, iteration, iterations
                ),
                batch=settings.batch,
                constant_loss=lambda batch: float(constant.of_shares(batch["target"])),
                iterations=settings.iterations,
                most_epochs=settings.most_epochs,
            )
        ]


SYSTEM = WinnerSystem()
