"""Networks that predict moves: where a move starts, where it goes, and what the position is worth to its mover.

Inside, everything is seen by the mover: colours and ranks are exchanged where Black is to move. What comes out is on
the board's real squares, a1 = 0 … h8 = 63.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.games.chess.encodings import (
    OWN_AND_OTHERS,
    AttackPlanes,
    MoverView,
    PiecePlanes,
    RightsPlanes,
    Sides,
    SignedPlanes,
    Stack,
    on_squares,
)
from kibitz.games.chess.replay import SIDE
from kibitz.nets.build import build
from kibitz.nets.layers import read_layers, shapes
from kibitz.systems.base import Tensors

if TYPE_CHECKING:
    from kibitz.systems.movers.system import Settings

PIECES = ("pawn", "knight", "bishop", "rook", "queen", "king")
VALUE = "value"
OUTCOMES = ("", "loss", "draw", "win")
"""The result for the mover as a state column tells it; 0 is unknown."""
RATING_UNIT = 16
STRONGEST, WEAKEST = 3000, 600
"""Ratings that the rating plane shows as 1 and 0."""
POSITION = 4
"""Columns of the state that are the position's own."""


class ConstantPlanes(nn.Module):
    """Planes of what a network is told beside the position, each all of one number: the mover's rating, 0 at 600 to 1
    at 3000, and the result for the mover, lost 0, drawn 0.5, won 1."""

    def __init__(self, rating: bool, outcome: bool):
        super().__init__()
        self.rating, self.outcome = rating, outcome
        self.channels = int(rating) + int(outcome)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        planes = []
        if self.rating:
            rating = state[:, POSITION].float() * RATING_UNIT
            planes.append(((rating - WEAKEST) / (STRONGEST - WEAKEST)).clamp(0, 1))
        if self.outcome:
            planes.append((state[:, POSITION + int(self.rating)].float() - 1) / 2)
        return torch.stack(planes, 1)[:, :, None, None].expand(-1, -1, 8, 8)

    def names(self, sides: Sides) -> list[str]:
        rating = ["rating of the mover (600: 0, 3000: 1)"] if self.rating else []
        return rating + (["result that it plays for (won 1, drawn 0.5, lost 0)"] if self.outcome else [])


class SquareSelector(nn.Module):
    """Planes [n, channels, 8, 8] to logits of the 64 squares [n, 64], or of one value [n, 1]."""

    def __init__(self, layers: str, channels: int, outputs: int, dropout: float, activation: type[nn.Module]):
        super().__init__()
        steps, width = build(read_layers(layers), channels, activation, activation)
        self.steps = nn.Sequential(*steps, nn.Dropout(dropout))
        self.last = nn.Linear(width, outputs)

    def features(self, planes: Tensor) -> Tensor:
        return cast(Tensor, self.steps(planes))

    def forward(self, planes: Tensor) -> Tensor:
        return cast(Tensor, self.last(self.steps(planes)))


class SharedTrunk(nn.Module):
    """One body on the 8×8 grid and an output for each question.

    Origin: a number a square. Target by piece: six numbers a square. Target by origin square: each square asks as an
    origin and answers as a target; the logit of a pair is the product of the two, plus what the pair of squares is
    worth on any board. Value: a small dense layer over a few channels.
    """

    ASKED = 32  # numbers in which origins ask and targets answer
    VALUE_CHANNELS, VALUE_UNITS = 8, 64

    def __init__(self, settings: Settings, channels: int, value: bool):
        super().__init__()
        layers = read_layers(settings.layers)
        steps, _ = build(layers, channels, nn.ReLU, nn.ReLU)
        self.body = nn.Sequential(*steps[:-1])  # the last one flattens
        width = shapes(layers, channels)[-1][0]
        self.by_square = settings.targets == "square"
        self.before = nn.Conv2d(width, width, 1)
        self.origin = nn.Conv2d(width, 1, 1)
        if self.by_square:
            self.asks = nn.Conv2d(width, self.ASKED, 1)
            self.answers = nn.Conv2d(width, self.ASKED, 1)
            self.pairs = nn.Parameter(torch.zeros(64, 64))
        else:
            self.target = nn.Conv2d(width, len(PIECES), 1)
        self.value: nn.Module | None = None
        if value:
            self.value = nn.Sequential(
                nn.Conv2d(width, self.VALUE_CHANNELS, 1),
                nn.ReLU(),
                nn.Flatten(),
                nn.Linear(64 * self.VALUE_CHANNELS, self.VALUE_UNITS),
                nn.ReLU(),
                nn.Linear(self.VALUE_UNITS, 1),
            )

    def features(self, planes: Tensor) -> Tensor:
        return cast(Tensor, self.body(planes)).mean((2, 3))

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Logits of origins [n, 64] and of targets [n, 6 or 64, 64], and the value before tanh [n]."""
        grid = self.body(planes)
        moves = F.relu(self.before(grid))
        origin = self.origin(moves).flatten(1)
        if self.by_square:
            asks, answers = self.asks(moves).flatten(2), self.answers(moves).flatten(2)
            target = asks.transpose(1, 2) @ answers * self.ASKED**-0.5 + self.pairs
        else:
            target = self.target(moves).flatten(2)
        return origin, target, None if self.value is None else self.value(grid)[:, 0]


class MoveNets(nn.Module):
    """The networks of a system, or one body for all, behind one set of answers.

    codes uint8 [n, 64], state uint8 [n, 4 + len(beyond)] -> origin [n, 64], target [n, 6 or 64, 64] probabilities, and
    value [n] in [−1, 1] for the mover where there is a value network. Targets are by type of piece, or by origin
    square where the moving piece is known; a selector that was not wanted answers evenly, or 0 by origin square.
    """

    RATING: ClassVar[int] = 2400 // RATING_UNIT

    def __init__(self, settings: Settings, names: Sequence[str]):
        super().__init__()
        self.names = tuple(names)
        self.piece_plane = settings.piece_plane
        self.outputs: tuple[str, ...] = ("origin", "target") if set(names) - {VALUE} else ()
        if VALUE in names:
            self.outputs += (VALUE,)
        self.beyond: dict[str, int] = {}
        if settings.rating_plane:
            self.beyond["rating"] = self.RATING
        if settings.outcome_plane:
            self.beyond["outcome"] = OUTCOMES.index("win")
        self.view = MoverView()
        parts: list[nn.Module] = [SignedPlanes(side=False) if settings.planes == 6 else PiecePlanes()]
        if settings.attacks != "none":
            parts.append(AttackPlanes(settings.attacks))
        if self.beyond:
            parts.append(ConstantPlanes(settings.rating_plane, settings.outcome_plane))
        self.seen = Stack(*parts)
        self.rights = RightsPlanes() if settings.rights_planes else None
        channels = self.seen.channels + (RightsPlanes.channels if settings.rights_planes else 0)
        self.shared: SharedTrunk | None = None
        self.nets = nn.ModuleDict()
        if settings.share == "body" and set(names) - {VALUE}:
            self.shared = SharedTrunk(settings, channels, VALUE in names)
            return
        for name in names:
            more = 1 if settings.piece_plane and name in PIECES else 0
            layers, activation = settings.layers, cast(type[nn.Module], nn.ReLU)
            if name == VALUE:
                layers = settings.value_layers or settings.layers
                activation = nn.Tanh if settings.value_activation == "tanh" else nn.ReLU
            outputs = 1 if name == VALUE else 64
            self.nets[name] = SquareSelector(layers, channels + more, outputs, settings.dropout, activation)

    def planes(self, codes: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The board as the mover sees it: codes int64 [n, 64] and planes."""
        view = self.view(codes, state)
        planes = self.seen(view, state)
        if self.rights is not None:
            planes = torch.cat([planes, self.rights(codes, state)], 1)
        return view, planes.to(memory_format=torch.channels_last)

    def named_planes(self, codes: Tensor, state: Tensor) -> tuple[list[str], Tensor]:
        """Of one position: see `System`."""
        names = self.seen.names(OWN_AND_OTHERS)
        if self.rights is not None:
            names += self.rights.names(OWN_AND_OTHERS)
        return names, on_squares(self.planes(codes, state)[1], bool(state[0, SIDE]))

    def features(self, codes: Tensor, state: Tensor) -> Tensor:
        """What the origin's answer is made of: the last hidden layer [n, k]; a shared body's averaged over squares."""
        _, planes = self.planes(codes, state)
        if self.shared is not None:
            return self.shared.features(planes)
        first = self.names[0]
        if self.piece_plane and first in PIECES:  # told of no piece
            planes = torch.cat([planes, torch.zeros_like(planes[:, :1])], 1)
        return cast(SquareSelector, self.nets[first]).features(planes)

    def forward(self, codes: Tensor, state: Tensor) -> tuple[Tensor, ...]:
        view, planes = self.planes(codes, state)
        black = state[:, SIDE] == 1
        worth: Tensor | None
        if self.shared is not None:
            origin, target, worth = self.shared(planes)
            target = target.float().softmax(2)
            origin = origin.float().softmax(1)
        else:
            worth = self.nets[VALUE](planes)[:, 0] if VALUE in self.nets else None
            origin = self._alone("piece", planes)
            if self.piece_plane:
                target = self._by_square(view, planes)
            else:
                target = torch.stack([self._alone(name, planes) for name in PIECES], 1)
        answers: tuple[Tensor, ...] = ()
        if "origin" in self.outputs:
            answers = (real(origin, black), real_pairs(target, black))
        if worth is not None:
            answers += (torch.tanh(worth.float()),)
        return answers

    def _alone(self, name: str, planes: Tensor) -> Tensor:
        if name in self.nets:
            return cast(Tensor, self.nets[name](planes)).float().softmax(1)
        return torch.full_like(planes[:, 0], 1 / 64).flatten(1).float()

    def _by_square(self, view: Tensor, planes: Tensor) -> Tensor:
        """Targets of every own piece, each told which piece it is that moves."""
        target = torch.zeros_like(view, dtype=torch.float32)[:, :, None] * planes.new_zeros(64).float()
        for kind, name in enumerate(PIECES):
            if name not in self.nets:
                continue
            where = (view == kind + 1).nonzero()
            one = F.one_hot(where[:, 1], 64).to(planes.dtype).view(-1, 1, 8, 8)
            logits = self.nets[name](torch.cat([planes[where[:, 0]], one], 1))
            target = target.index_put((where[:, 0], where[:, 1]), logits.float().softmax(1))
        return target


def real(squares: Tensor, black: Tensor) -> Tensor:
    """The mover's squares [n, 64] back on the board: ranks mirrored where Black is to move."""
    mirrored = squares.view(-1, 8, 8).flip(1).flatten(1)
    return torch.where(black[:, None], mirrored, squares)


def real_pairs(target: Tensor, black: Tensor) -> Tensor:
    """The same for targets [n, 6 or 64, 64]; with 64 rows the rows are squares too."""
    mirrored = target.view(-1, target.shape[1], 8, 8).flip(2).flatten(2)
    if target.shape[1] == 64:
        mirrored = mirrored.view(-1, 8, 8, 64).flip(1).flatten(1, 2)
    return torch.where(black[:, None, None], mirrored, target)


# Losses: a softmax over squares for moves, half the squared error for values.

Result = tuple[Tensor, dict[str, Tensor]]


def move_loss(network: MoveNets, name: str, batch: Tensors) -> Result:
    """Of the piece selector, which asks for the origin, or of one move selector, which asks for the target."""
    _, planes = network.planes(batch["codes"], batch["state"])
    if network.piece_plane and name in PIECES:
        one = F.one_hot(batch["origin"], 64).to(planes.dtype).view(-1, 1, 8, 8)
        planes = torch.cat([planes, one], 1)
    logits = network.nets[name](planes).float()
    played = batch["origin" if name == "piece" else "target"]
    each = F.cross_entropy(logits, played, reduction="none")
    return each.mean(), {"loss": each.detach(), "accuracy": (logits.argmax(1) == played).float()}


def value_loss(network: MoveNets, batch: Tensors) -> Result:
    """½(tanh x − y)²."""
    _, planes = network.planes(batch["codes"], batch["state"])
    error = torch.tanh(network.nets[VALUE](planes)[:, 0].float()) - batch["value"]
    each = 0.5 * error**2
    return each.mean(), {"loss": each.detach()}


def shared_loss(network: MoveNets, batch: Tensors, value_weight: float) -> Result:
    """−log P(origin) − log P(target | origin), and the value's loss with its weight."""
    assert network.shared is not None
    _, planes = network.planes(batch["codes"], batch["state"])
    origin_logits, target_logits, worth = network.shared(planes)
    rows = batch["origin"] if network.shared.by_square else batch["piece"]
    target_logits = target_logits[torch.arange(len(rows), device=rows.device), rows].float()
    origin = F.cross_entropy(origin_logits.float(), batch["origin"], reduction="none")
    target = F.cross_entropy(target_logits, batch["target"], reduction="none")
    right = origin_logits.argmax(1) == batch["origin"]
    measures = {
        "origin_accuracy": right.float(),
        "target_accuracy": (target_logits.argmax(1) == batch["target"]).float(),
        "moves_loss": (origin + target).detach(),
    }
    each = origin + target
    if worth is not None:
        value = 0.5 * (torch.tanh(worth.float()) - batch["value"]) ** 2
        measures["value_loss"] = value.detach()
        each = each + value_weight * value
    return each.mean(), {"loss": each.detach(), **measures}
