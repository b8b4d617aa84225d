"""The networks of `convchess` and `chessnet`. They predict a move's from-square and to-square, and the value of the
position for the side to move.

Inside the networks, boards are in the mover's view: if Black is to move, colors are swapped and ranks flipped. Outputs
are on the board's real squares, a1 = 0 … h8 = 63. In names, `origin` is the from-square and `target` the to-square.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.games import STATE_WIDTH
from kibitz.games.chess.encodings import (
    BOARD_ENCODINGS,
    AttackPlanes,
    Encoding,
    MoverView,
    RightsPlanes,
    Stack,
)
from kibitz.games.chess.replay import SIDE
from kibitz.games.chess.sides import RATING_UNIT
from kibitz.nets.build import build
from kibitz.nets.layers import read_layers, shapes
from kibitz.systems.base import Tensors
from kibitz.systems.planes import STRONGEST, WEAKEST

if TYPE_CHECKING:
    from kibitz.systems.movers.system import Settings

PIECES = ("pawn", "knight", "bishop", "rook", "queen", "king")
VALUE = "value"
ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "leaky": nn.LeakyReLU, "sigmoid": nn.Sigmoid}
"""The activation modules that the setting `activation` selects by name, for the networks that predict squares."""
VALUE_ACTIVATIONS: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, **ACTIVATIONS}
"""The activation modules that the setting `value_activation` selects by name, for the hidden layers of the network that
predicts the value. The output of this network always uses tanh.

ChessNet-2 uses tanh. The thesis also tried leaky ReLU and sigmoid.
"""
OUTCOMES = ("", "loss", "draw", "win")
"""Names of the mover's result. The index of a name is its code in a column of `state`, where 0 means an unknown result.
"""


class ConstantPlanes(Encoding):
    """Converts side inputs (the mover's rating, the result) to planes that have the same value on all squares, [n,
    planes, 8, 8].

    The value for the mover's rating rises from 0 for 600 to 1 for 3000. Lower and higher ratings have the values 0 and
    1. The value for the result is 0 if the mover lost, 0.5 for a draw and 1 if the mover won.
    """

    def __init__(self, rating: bool, outcome: bool):
        super().__init__()
        self.rating, self.outcome = rating, outcome
        self.channels = int(rating) + int(outcome)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        planes = []
        if self.rating:
            rating = state[:, STATE_WIDTH].float() * RATING_UNIT
            planes.append(((rating - WEAKEST) / (STRONGEST - WEAKEST)).clamp(0, 1))
        if self.outcome:
            planes.append((state[:, STATE_WIDTH + int(self.rating)].float() - 1) / 2)
        return torch.stack(planes, 1)[:, :, None, None].expand(-1, -1, 8, 8)


class SquareSelector(nn.Module):
    """A convolutional network that predicts either a square of the move or the value of the position. Input: planes,
    float32 [n, channels, 8, 8]. Output: the logits of the 64 squares, [n, 64], or the value before tanh, [n, 1].

    layers: the layers in the notation of `nets.layers`. outputs: 64 or 1. dropout: the share of units that are switched
        off at random in training.
    """

    def __init__(self, layers: str, channels: int, outputs: int, dropout: float, activation: type[nn.Module]):
        super().__init__()
        steps, width = build(read_layers(layers), channels, activation, activation)
        self.steps = nn.Sequential(*steps, nn.Dropout(dropout))
        self.last = nn.Linear(width, outputs)

    def features(self, planes: Tensor) -> Tensor:
        """Return the outputs of the last hidden layer, [n, k]. planes: [n, channels, 8, 8]."""
        return cast(Tensor, self.steps(planes))

    def forward(self, planes: Tensor) -> Tensor:
        return cast(Tensor, self.last(self.steps(planes)))


_STORED_NAMES = {"query.": "asks.", "key.": "answers."}


def _to_stored_names(module: nn.Module, state: dict[str, Any], prefix: str, metadata: Any) -> None:
    for name, stored in _STORED_NAMES.items():
        _rename(state, prefix + name, prefix + stored)


def _from_stored_names(module: nn.Module, state: dict[str, Any], prefix: str, *others: Any) -> None:
    for name, stored in _STORED_NAMES.items():
        _rename(state, prefix + stored, prefix + name)


def _rename(state: dict[str, Any], old: str, new: str) -> None:
    for key in [key for key in state if key.startswith(old)]:
        state[new + key.removeprefix(old)] = state.pop(key)


class SharedTrunk(nn.Module):
    """One convolutional trunk for all outputs, with a small head for each output.

    The head for the from-square has one logit per square. The head for the to-square has 6 or 64 logits per square: one
    for each type of moving piece, or one for each from-square. The 64 logits are the products of the from-square's
    query vector and the to-square's key vector, plus a learned constant for each pair of squares. The head for the
    value is a small dense layer over a few channels.

    In weight files, the layers `query` and `key` have the names "asks" and "answers" of the first versions.
    """

    KEY_DIM = 32
    VALUE_CHANNELS, VALUE_UNITS = 8, 64

    def __init__(self, settings: Settings, channels: int, value: bool):
        super().__init__()
        layers = read_layers(settings.layers)
        steps, _ = build(layers, channels, nn.ReLU, nn.ReLU)
        self.body = nn.Sequential(*steps[:-1])  # without the last layer, which flattens
        width = shapes(layers, channels)[-1][0]
        self.by_square = settings.targets == "square"
        self.before = nn.Conv2d(width, width, 1)
        self.origin = nn.Conv2d(width, 1, 1)
        if self.by_square:
            self.query = nn.Conv2d(width, self.KEY_DIM, 1)
            self.key = nn.Conv2d(width, self.KEY_DIM, 1)
            self.pairs = nn.Parameter(torch.zeros(64, 64))
        else:
            self.target = nn.Conv2d(width, len(PIECES), 1)
        self.register_state_dict_post_hook(_to_stored_names)  # type: ignore[no-untyped-call]
        self.register_load_state_dict_pre_hook(_from_stored_names)  # type: ignore[no-untyped-call]
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
        """Return the outputs of the trunk, averaged over the squares, [n, filters]. planes: [n, channels, 8, 8]."""
        return cast(Tensor, self.body(planes)).mean((2, 3))

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return the logits of the from-squares, [n, 64]; the logits of the to-squares, [n, 6 or 64, 64]; and the value
        before tanh, [n], or None without a head for the value. planes: the input, [n, channels, 8, 8].
        """
        grid = self.body(planes)
        moves = F.relu(self.before(grid))
        origin = self.origin(moves).flatten(1)
        if self.by_square:
            query, key = self.query(moves).flatten(2), self.key(moves).flatten(2)
            target = query.transpose(1, 2) @ key * self.KEY_DIM**-0.5 + self.pairs
        else:
            target = self.target(moves).flatten(2)
        return origin, target, None if self.value is None else self.value(grid)[:, 0]


class MoveNets(nn.Module):
    """The networks of a system (kind of network) that predicts moves. They are separate networks, or one network with a
    shared trunk.

    Inputs: `codes`, uint8 [n, 64]; `state`, uint8 [n, 4 + len(side_inputs)]; see `kibitz.PositionArrays`. Outputs: the
    probabilities `origin` of from-squares, [n, 64], and `target` of to-squares, [n, 6 or 64, 64]. If there is a value
    network, there is also `value`, [n], from −1 to 1, for the side to move.

    names: the networks to create. "piece" is the network for the from-square. The piece types in PIECES are the
    networks for the to-square. VALUE is the value network.

    The rows of `target` are the six types of moving piece or the 64 from-squares, depending on the settings. If one of
    the separate networks is not in `names`, its output is a uniform distribution over the squares. There is one
    exception: if the rows of `target` are from-squares, the rows of a missing network are 0.
    """

    RATING: ClassVar[int] = 2400 // RATING_UNIT

    def __init__(self, settings: Settings, names: Sequence[str]):
        super().__init__()
        self.names = tuple(names)
        self.piece_plane = settings.piece_plane
        self.outputs: tuple[str, ...] = ("origin", "target") if set(names) - {VALUE} else ()
        if VALUE in names:
            self.outputs += (VALUE,)
        self.side_inputs: dict[str, int] = {}
        if settings.rating_plane:
            self.side_inputs["rating"] = self.RATING
        if settings.outcome_plane:
            self.side_inputs["outcome"] = OUTCOMES.index("win")
        self.view = MoverView()
        parts: list[Encoding] = [BOARD_ENCODINGS[settings.planes].make()]
        if settings.attacks != "none":
            parts.append(AttackPlanes(settings.attacks))
        if self.side_inputs:
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
            layers, activation = settings.layers, ACTIVATIONS[settings.activation]
            if name == VALUE:
                layers = settings.value_layers or settings.layers
                activation = VALUE_ACTIVATIONS[settings.value_activation]
            outputs = 1 if name == VALUE else 64
            self.nets[name] = SquareSelector(layers, channels + more, outputs, settings.dropout, activation)

    def planes(self, codes: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Return the board in the mover's view, as `codes`, int64 [n, 64], and as input planes, float32 [n, channels,
        8, 8]. codes, state: the positions, uint8 [n, 64] and uint8 [n, 4 + len(side_inputs)], see
        `kibitz.PositionArrays`.
        """
        view = self.view(codes, state)
        planes = self.seen(view, state)
        if self.rights is not None:
            planes = torch.cat([planes, self.rights(codes, state)], 1)
        return view, planes.to(memory_format=torch.channels_last)

    def features(self, codes: Tensor, state: Tensor) -> Tensor:
        """Return features of each position, [n, k]. They are the outputs of the last hidden layer of the first of the
        separate networks. If the networks share a trunk, they are the outputs of the trunk, averaged over the squares.

        codes, state: the positions, uint8 [n, 64] and uint8 [n, 4 + len(side_inputs)], see `kibitz.PositionArrays`.
        """
        _, planes = self.planes(codes, state)
        if self.shared is not None:
            return self.shared.features(planes)
        first = self.names[0]
        if self.piece_plane and first in PIECES:  # this network has no plane for the moving piece
            planes = torch.cat([planes, torch.zeros_like(planes[:, :1])], 1)
        return cast(SquareSelector, self.nets[first]).features(planes)

    def forward(self, codes: Tensor, state: Tensor) -> tuple[Tensor, ...]:
        """Return the tensors that the class `MoveNets` describes, in the order of the attribute `outputs`: `origin`,
        [n, 64], `target`, [n, 6 or 64, 64], and `value`, [n]. Without a network for moves, there is only `value`.
        Without a value network, there is no `value`.

        codes, state: the positions, uint8 [n, 64] and uint8 [n, 4 + len(side_inputs)], see `kibitz.PositionArrays`.
        """
        view, planes = self.planes(codes, state)
        black = state[:, SIDE] == 1
        value: Tensor | None
        if self.shared is not None:
            origin, target, value = self.shared(planes)
            target = target.float().softmax(2)
            origin = origin.float().softmax(1)
        else:
            value = self.nets[VALUE](planes)[:, 0] if VALUE in self.nets else None
            origin = self._alone("piece", planes)
            if self.piece_plane:
                target = self._by_square(view, planes)
            else:
                target = torch.stack([self._alone(name, planes) for name in PIECES], 1)
        answers: tuple[Tensor, ...] = ()
        if "origin" in self.outputs:
            answers = (real(origin, black), real_pairs(target, black))
        if value is not None:
            answers += (torch.tanh(value.float()),)
        return answers

    def _alone(self, name: str, planes: Tensor) -> Tensor:
        if name in self.nets:
            return cast(Tensor, self.nets[name](planes)).float().softmax(1)
        return torch.full_like(planes[:, 0], 1 / 64).flatten(1).float()

    def _by_square(self, view: Tensor, planes: Tensor) -> Tensor:
        """Return probabilities of targets, [n, 64, 64], by origin square; a plane marks the piece that moves."""
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
    """Convert values per square from the mover's view to the real board: if Black is to move, the ranks are flipped.
    The result has the shape of `squares`. squares: [n, 64]. black: bool [n], whether Black is to move.
    """
    flipped = squares.view(-1, 8, 8).flip(1).flatten(1)
    return torch.where(black[:, None], flipped, squares)


def real_pairs(target: Tensor, black: Tensor) -> Tensor:
    """Convert the output `target`, the probabilities of to-squares, from the mover's view to the real board: if Black
    is to move, the ranks are flipped. target: [n, 6 or 64, 64]. black: bool [n], whether Black is to move.

    The last axis is the to-square. If the second axis has 64 elements, they are from-squares, which are converted too.
    Otherwise they are the types of the moving piece.
    """
    flipped = target.view(-1, target.shape[1], 8, 8).flip(2).flatten(2)
    if target.shape[1] == 64:
        flipped = flipped.view(-1, 8, 8, 64).flip(1).flatten(1, 2)
    return torch.where(black[:, None, None], flipped, target)


# The loss of a move network is the cross entropy of a softmax over squares. The loss of the value network is half the
# squared error.

Result = tuple[Tensor, dict[str, Tensor]]


def move_loss(network: MoveNets, name: str, batch: Tensors) -> Result:
    """Return the mean loss of one network, and the metrics "loss" and "accuracy", each float32 [n].

    name: "piece" for the piece selector, which predicts the from-square, or the piece type of a move selector, which
    predicts the to-square. The loss is the cross entropy. batch: a batch of movers.system.MoveExamples.
    """
    _, planes = network.planes(batch["codes"], batch["state"])
    if network.piece_plane and name in PIECES:
        one = F.one_hot(batch["origin"], 64).to(planes.dtype).view(-1, 1, 8, 8)
        planes = torch.cat([planes, one], 1)
    logits = network.nets[name](planes).float()
    played = batch["origin" if name == "piece" else "target"]
    each = F.cross_entropy(logits, played, reduction="none")
    return each.mean(), {"loss": each.detach(), "accuracy": (logits.argmax(1) == played).float()}


def value_loss(network: MoveNets, batch: Tensors) -> Result:
    """Return the mean loss of the value network, and the metric "loss", float32 [n]. The loss is ½(tanh x − y)² for the
    output x and the target y. batch: a batch of movers.system.ValueExamples.
    """
    _, planes = network.planes(batch["codes"], batch["state"])
    error = torch.tanh(network.nets[VALUE](planes)[:, 0].float()) - batch["value"]
    each = 0.5 * error**2
    return each.mean(), {"loss": each.detach()}


def shared_loss(network: MoveNets, batch: Tensors, value_weight: float) -> Result:
    """Return the mean loss of a batch for networks with a shared trunk, and the metrics, each float32 [n]: "loss",
    "moves_loss", "value_loss", "origin_accuracy" and "target_accuracy".

    The loss is `−log P(from-square) − log P(to-square | from-square)`, plus `value_weight` times the loss of the value.
    batch: a batch of movers.system.MoveExamples.
    """
    assert network.shared is not None
    _, planes = network.planes(batch["codes"], batch["state"])
    origin_logits, target_logits, value_logit = network.shared(planes)
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
    if value_logit is not None:
        value = 0.5 * (torch.tanh(value_logit.float()) - batch["value"]) ** 2
        measures["value_loss"] = value.detach()
        each = each + value_weight * value
    return each.mean(), {"loss": each.detach(), **measures}
