"""The shared parts of the systems (kinds of networks) `convchess` and `chessnet`, which predict moves: settings,
examples and training stages (parts of the training).

Both systems predict the from-square and the to-square of a move, with networks of the same kinds (nets.py). The values
of each paper are in the file of its system.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.encodings import BOARD_ENCODINGS
from kibitz.games.chess.legal import moved_pieces
from kibitz.games.chess.planes import ATTACKS
from kibitz.games.chess.replay import SIDE, to_mover_view
from kibitz.games.chess.sides import RATING_UNIT
from kibitz.nets import constant
from kibitz.nets.layers import Dense, read_layers, shapes
from kibitz.nets.optim import (
    OPTIMISERS,
    SCHEDULES,
    WEIGHT_DECAY,
    draw_weights,
    learning_rate_at,
    make_optimiser,
)
from kibitz.store.positions import Positions, permutation
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
    setting,
)
from kibitz.systems.movers.nets import (
    ACTIVATIONS,
    OUTCOMES,
    PIECES,
    VALUE,
    VALUE_ACTIVATIONS,
    MoveNets,
    move_loss,
    shared_loss,
    value_loss,
)
from kibitz.systems.spelling import option_of
from kibitz.text import either, number_of

OWN_SCHEDULES = tuple(name for name in SCHEDULES if name != "inv")
"""Names of the learning rate schedules that these systems offer: all except "inv", which only `winner` uses."""
EPOCH = "epoch"
"""The name of the schedule that lowers the learning rate after each pass over the examples."""
SELECTORS = ("piece", *PIECES)
"""Names of the seven networks that predict moves: "piece" predicts the from-square, and a network for each type of
piece predicts the to-square.
"""

ONE_BODY_LACKS = (
    "dropout", "value_layers", "value_activation", "value_optimiser", "value_learning_rate", "value_schedule",
    "value_smoothing", "value_batch", "value_iterations",
)  # fmt: skip
"""Settings that have no effect if the networks share a trunk (--share body)."""


@dataclass(frozen=True)
class Settings:
    """The settings of `convchess` and `chessnet`, the systems (kinds of networks) that predict moves with several
    networks. Each system changes some defaults to the values of its paper.
    """

    # the networks and their architecture
    networks: str = setting(
        "all", "Networks to train, separated by commas: all, or some of piece,pawn,knight,bishop,rook,queen,king,value."
    )
    layers: str = setting("32conv3x3p1.ip128", "Layers of each network before its output.")
    activation: str = setting(
        "relu",
        "Activation function: relu, leaky (leaky ReLU) or sigmoid; the papers use relu after convolutions.",
        choices=tuple(ACTIVATIONS),
    )
    share: str = setting(
        "none",
        "Part that the networks share; none: nothing, as in the original papers; body: all layers, with a"
        " separate output for each network.",
        choices=("none", "body"),
    )
    targets: str = setting(
        "piece",
        "How the target square is predicted; piece: separately for each piece type, as in the original papers;"
        " square: for each origin square.",
        choices=("piece", "square"),
    )
    # planes
    planes: str = setting(
        "6",
        "Number of input planes for the pieces: "
        + either(BOARD_ENCODINGS, {name: of.values for name, of in BOARD_ENCODINGS.items()})
        + ".",
        choices=tuple(BOARD_ENCODINGS),
    )
    rating_plane: bool = setting(False, "Add an input plane with the rating of the player to move.")
    piece_plane: bool = setting(
        False, "Add an input plane with the moving piece, for the six networks that choose its target square."
    )
    outcome_plane: bool = setting(
        False, "Add an input plane with the result for the player to move: 1 for a win, 0.5 for a draw, 0 for a loss."
    )
    rights_planes: bool = setting(False, "Add input planes for castling rights and en passant.")
    attacks: str = setting(
        "none",
        "Input planes for attacked squares; none: no planes; squares: 0 or 1; counts: number of attackers;"
        " pieces: attackers by piece type.",
        choices=ATTACKS,
    )
    # games
    min_rating: int = setting(
        0,
        "Minimum rating of the players whose moves are used; moves of unrated players are used, too, and"
        " the value network ignores this limit.",
        at_least=0,
    )
    games: int = setting(0, "Maximum number of training games, sampled at random; 0 uses all.", at_least=0)
    moves: int = setting(
        0, "Maximum number of training moves, sampled at random from the training games; 0 uses all.", at_least=0
    )
    # optimiser
    optimiser: str = setting("rmsprop", "Optimizer: " + either(OPTIMISERS) + ".", choices=OPTIMISERS)
    learning_rate: float = setting(0.001, "Learning rate at the first iteration.", at_least=0)
    schedule: str = setting(
        "constant",
        "Learning rate schedule: " + either(OWN_SCHEDULES, {EPOCH: "multiplied by --decay after each epoch"}) + ".",
        choices=OWN_SCHEDULES,
    )
    decay: float = setting(
        0.1, "Number by which the schedules epoch and step multiply the learning rate.", over=0, at_most=1
    )
    step: int = setting(
        50_000, "Number of iterations before the schedule step multiplies the learning rate by --decay.", at_least=0
    )
    smoothing: float = fraction(0.99, "Smoothing of the squared gradients in the optimizer rmsprop.")
    momentum: float = fraction(0.9, "Momentum of the optimizers sgd and muon.")
    accumulator: float = setting(
        0.0,
        "Initial sums of squared gradients in the optimizer adagrad; 0 makes its first step very large.",
        at_least=0,
    )
    weight_decay: float = setting(0.0, WEIGHT_DECAY, at_least=0)
    dropout: float = fraction(
        0.0, "Share of the units of the last hidden layer that are switched off at random in training (dropout)."
    )
    initial: str = setting(
        "he", "Initial weights: he, xavier, or a number, such as 0.01, for their standard deviation."
    )
    batch: int = setting(250, "Number of moves per batch.", at_least=1)
    epochs: float = setting(15.0, "Number of epochs if --iterations is 0.", at_least=0, at_most=1e6)
    iterations: int = setting(0, "Number of batches per network; with 0, --epochs sets the length.", at_least=0)
    keep: str = setting(
        "accuracy",
        "Weights of a move network to keep; accuracy: those with the highest validation accuracy (top-1); loss:"
        " those with the lowest validation loss.",
        choices=("accuracy", "loss"),
    )
    most_epochs: float = setting(
        0.0, "Maximum number of epochs, even if --iterations allows more; 0 means no limit.", at_least=0
    )
    # value network
    gamma: float = setting(
        0.7, "Discount γ of the value: a position i plies before the end has the target ±γ^i.", over=0, at_most=1
    )
    value_layers: str = setting("", "Layers of the value network; if empty, the same as --layers.")
    value_activation: str = setting(
        "tanh",
        "Activation function of the value network's hidden layers: "
        + either(VALUE_ACTIVATIONS, {"tanh": "as in the original thesis"})
        + "; the output always uses tanh.",
        choices=tuple(VALUE_ACTIVATIONS),
    )
    value_optimiser: str = setting(
        "rmsprop", "Optimizer of the value network: " + either(OPTIMISERS) + ".", choices=OPTIMISERS
    )
    value_learning_rate: float = setting(
        0.001, "Learning rate of the value network at the first iteration.", at_least=0
    )
    value_schedule: str = setting(
        "constant", "Learning rate schedule of the value network: " + either(OWN_SCHEDULES) + ".", choices=OWN_SCHEDULES
    )
    value_smoothing: float = fraction(0.9, "Smoothing of the squared gradients in rmsprop, for the value network.")
    value_batch: int = setting(1024, "Number of positions per batch of the value network.", at_least=1)
    value_iterations: int = setting(
        0, "Number of batches of the value network; 0 means as many as for the other networks.", at_least=0
    )
    value_weight: float = setting(
        1.0, "Weight of the loss for the value, if the value shares the body of the networks.", at_least=0
    )

    def __post_init__(self) -> None:
        # this setting was a number in earlier versions and their runs
        object.__setattr__(self, "planes", str(self.planes))


SHARED_SOURCES = {
    **dict.fromkeys(
        ("rating_plane", "piece_plane", "outcome_plane", "rights_planes", "attacks", "most_epochs", "momentum"),
        OPTION_OFF,
    ),
    "share": document("a separate network for the origin and for each type of piece"),
    "targets": document("one target network for each type of piece"),
    "keep": ours("the weights with the highest validation accuracy; not stated in the document"),
    "initial": ours("He initialization, because the document does not state its initial weights"),
}
"""Where the values in the recipe `paper` come from, for values that both papers have in common: setting -> source."""
QUEENS = (
    "a predicted pair of squares does not name the piece of a promotion, and the document does not mention promotions."
    " kibitz gives the whole probability to the queen"
)
"""A difference between kibitz and both papers, for the list in their recipes."""
VALUE_OFF = dict.fromkeys(
    (
        "gamma", "value_layers", "value_activation", "value_optimiser", "value_learning_rate", "value_schedule",
        "value_smoothing", "value_batch", "value_iterations", "value_weight",
    ),
    OPTION_OFF,
)  # fmt: skip
"""The sources of the settings of the value network, for recipes that have no value network: setting -> source."""
EARLIER_DEFAULTS = {"value_iterations": 100_000}
"""Defaults of settings in earlier versions of kibitz. They apply to networks of these versions, such as the bundled
convchess.
"""


def selected_networks(settings: Settings, every: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the networks that the setting `networks` selects, in the order of `every`. every: the names
    of all networks of the system (kind of network). Raises UsageError for an unknown name.
    """
    if settings.networks == "all":
        return tuple(every)
    names = [name.strip() for name in settings.networks.split(",")]
    for name in names:
        if name not in every:
            raise UsageError(f"--networks must be all, or names from {', '.join(every)} (got {name or 'nothing'})")
    return tuple(name for name in every if name in names)


def check(settings: Settings, every: Sequence[str]) -> None:
    """Check the settings. every: the names of all networks of the system (kind of network). Raises UsageError if no
    network can be built from the settings, or if a setting would have no effect.
    """
    names = selected_networks(settings, every)
    usual = {each.name: each.default for each in fields(settings)}
    if VALUE not in every:
        for name in VALUE_OFF:
            if getattr(settings, name) not in (usual[name], EARLIER_DEFAULTS.get(name)):
                raise UsageError(
                    f"{option_of(name)} has no effect here, because this system has no value network (got"
                    f" {getattr(settings, name)}). Leave the option out, or use the system chessnet."
                )
    if settings.outcome_plane and VALUE in names:
        raise UsageError("--outcome-plane would show the result to the value network. Leave value out of --networks.")
    if settings.iterations == 0 and not 0 < settings.epochs < math.inf:
        raise UsageError("--epochs must be greater than 0 if --iterations is 0")
    if settings.initial not in ("he", "xavier"):
        try:
            positive = 0 < float(settings.initial) < math.inf
        except ValueError:
            positive = False
        if not positive:
            raise UsageError(
                f"--initial must be he, xavier or a standard deviation greater than 0 (got {settings.initial})"
            )
    layers = read_layers(settings.layers)
    shapes(layers, channels=6)
    if settings.value_layers:
        shapes(read_layers(settings.value_layers), channels=6)
    if settings.share == "body":
        if settings.networks != "all" and set(names) - {VALUE} != set(SELECTORS):
            raise UsageError(
                "--share body trains the seven networks as one, so --networks must be all, or all names except value."
            )
        if settings.piece_plane:
            raise UsageError("--share body cannot be combined with --piece-plane. Use --targets square instead.")
        if settings.activation != "relu":
            raise UsageError(f"--activation must be relu with --share body (got {settings.activation})")
        for name in ONE_BODY_LACKS:
            if getattr(settings, name) != usual[name]:
                raise UsageError(f"--share body cannot be combined with {option_of(name)}. Leave one out.")
        if any(isinstance(layer, Dense) for layer in layers) or shapes(layers, 6)[-1][1:] != (8, 8):
            raise UsageError(
                "--layers must end on the 8×8 grid with --share body. Example: --layers 64conv3x3p1.5*64res3x3"
            )
    elif settings.targets == "square":
        raise UsageError("--targets square needs --share body. For separate networks use --piece-plane.")


# Games


def drawn_games(games: NDArray[np.int64], settings: Settings) -> NDArray[np.int64]:
    """Return a random sample of the games for training, int64 [n], in ascending order. The setting `games` is the size
    of the sample; 0 selects all games. The sample is the same in every call.

    games: the indices of the games to sample from, int64.
    """
    if not settings.games or settings.games >= len(games):
        return games
    return np.sort(games[permutation(len(games), 0, 0, 0, settings.games)])


class MoveExamples:
    """Training examples: positions with the move that was played in them, in the mover's view.

    piece: the type of the moving piece in these positions (0 pawn … 5 king); None for all positions. A batch has the
    positions as `codes` and `state` with the side inputs, such as ratings (see `kibitz.PositionArrays`), and these
    arrays, each [n]:

    origin, target: int64, the from-square and the to-square.
    piece: int64, the type of the moving piece.
    value: float32, the discounted result (see `values`).
    """

    def __init__(self, store: Store, games: NDArray[np.int64], settings: Settings, piece: int | None = None):
        self.store, self.settings = store, settings
        self.results = store.column("result")
        self.ratings = np.stack([store.column("white_rating"), store.column("black_rating")])
        low = (self.ratings > 0) & (self.ratings < settings.min_rating)
        if settings.games:  # games of which no move is used must not take the place of others
            games = drawn_games(games[~low[:, games].all(0)], settings)
        self.positions = Positions(store, games, last=-2)
        self.chosen: NDArray[np.int64] | None = None  # ids of selected positions; None for all
        if low[:, games].any():
            self._keep(lambda games, plies: ~low[self._side(games, plies), games])
        if settings.moves and settings.moves < len(self):
            drawn = np.sort(permutation(len(self), 0, 0, 0, settings.moves))
            self.chosen = drawn if self.chosen is None else self.chosen[drawn]
        if piece is not None:
            of_move = pieces_of(store)
            self._keep(lambda games, plies: of_move[store.offsets[games] + plies] == piece)

    def _side(self, games: NDArray[np.int64], plies: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return 0 if White is to move and 1 if Black is, int64 [n]."""
        first: NDArray[np.int64] = self.store.starts[self.store.start_of[games], 64 + SIDE].astype(np.int64)
        return first ^ (plies & 1)

    def _keep(self, which: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]) -> None:
        """Select positions: `which` maps games and plies, int64 [n], to bool [n]."""
        ids = np.arange(len(self.positions)) if self.chosen is None else self.chosen
        parts = np.array_split(ids, max(1, len(ids) >> 20))  # a million positions at a time
        self.chosen = np.concatenate([part[which(*self.positions.locate(part))] for part in parts])

    def __len__(self) -> int:
        return len(self.positions) if self.chosen is None else len(self.chosen)

    def batch(self, ids: NDArray[np.int64], epoch: int) -> Arrays:
        """Return the examples with these ids, int64 [n], as the dict of arrays that `MoveExamples` describes. epoch:
        ignored, because the examples are the same in every pass.
        """
        batch = self.positions.batch(ids if self.chosen is None else self.chosen[ids])
        games, plies, side = batch.games, batch.plies, batch.state[:, SIDE].astype(np.int64)
        moves = self.store.moves[self.store.offsets[games] + plies].astype(np.int64)
        piece = (batch.codes[np.arange(len(moves)), moves & 63].astype(np.int64) - 1) % 6
        more = side_input_columns(self.settings, self.ratings, self.results, games, side)
        return {
            "codes": batch.codes,
            "state": np.concatenate([batch.state, more], 1),
            "origin": to_mover_view(moves & 63, side),
            "target": to_mover_view(moves >> 6 & 63, side),
            "piece": piece,
            "value": values(self.results[games], side, self.store.plies[games] - plies, self.settings.gamma),
        }  # fmt: skip


class ValueExamples:
    """Training examples: every position of the games, including the last position. A batch has the positions as `codes`
    and `state` with the side inputs, such as ratings (see `kibitz.PositionArrays`). It also has the array `value`,
    float32 [n]: the discounted result for the side to move (see `values`).
    """

    def __init__(self, store: Store, games: NDArray[np.int64], settings: Settings):
        self.store, self.settings = store, settings
        self.positions = Positions(store, drawn_games(games, settings))
        self.results = store.column("result")
        self.ratings = np.stack([store.column("white_rating"), store.column("black_rating")])

    def __len__(self) -> int:
        return len(self.positions)

    def batch(self, ids: NDArray[np.int64], epoch: int) -> Arrays:
        """Return the examples with these ids, int64 [n], as the dict of arrays that `ValueExamples` describes. epoch:
        ignored, because the examples are the same in every pass.
        """
        batch = self.positions.batch(ids)
        side = batch.state[:, SIDE].astype(np.int64)
        more = side_input_columns(self.settings, self.ratings, self.results, batch.games, side)
        left = self.store.plies[batch.games] - batch.plies
        return {
            "codes": batch.codes,
            "state": np.concatenate([batch.state, more], 1),
            "value": values(self.results[batch.games], side, left, self.settings.gamma),
        }


def values(
    results: NDArray[Any], side: NDArray[np.int64], left: NDArray[np.int64], gamma: float
) -> NDArray[np.float32]:
    """Return the discounted result for the side to move, float32 [n]: γ^left for a win, −γ^left for a loss, 0 for a
    draw.

    results: White's results, 1, 0 or −1. side: the side to move, 0 for White and 1 for Black. left: the number of plies
    to the end of the game. gamma: the discount γ, over 0 and at most 1.
    """
    return (results * (1 - 2 * side) * gamma**left).astype(np.float32)


def side_input_columns(
    settings: Settings,
    ratings: NDArray[Any],
    results: NDArray[Any],
    games: NDArray[np.int64],
    side: NDArray[np.int64],
) -> NDArray[np.uint8]:
    """Return the side inputs of n positions, uint8 [n, k]. Side inputs are inputs in addition to the position, which
    become columns of `state`. The settings determine whether there are columns for the mover's rating and for the
    mover's result. The rating is divided by 16; the default rating replaces an unknown rating. The result is 1 for a
    loss, 2 for a draw and 3 for a win.

    ratings: [2, all games], the ratings of White and Black, 0 if unknown. results: [all games], White's results: 1, 0
    or −1. games, side: int64 [n], each position's game and side to move.
    """
    columns = []
    if settings.rating_plane:
        rating = np.minimum(ratings[side, games] // RATING_UNIT, 255)
        columns.append(np.where(rating > 0, rating, MoveNets.RATING))
    if settings.outcome_plane:
        columns.append(results[games] * (1 - 2 * side) + OUTCOMES.index("draw"))
    if not columns:
        return np.empty((len(games), 0), np.uint8)
    return np.stack(columns, 1).astype(np.uint8)


@functools.lru_cache(maxsize=1)
def pieces_of(store: Store) -> NDArray[np.uint8]:
    """Return the type of the moving piece for every move of a store, uint8 [moves], 0 for a pawn to 5 for a king."""
    return moved_pieces(store.moves, store.offsets, store.starts, store.start_of)


def playable(store: Store, settings: Settings) -> NDArray[np.int64]:
    """Return the games that training can use, those with at least one move: their indices in the store, int64 [n].
    Raises KibitzError if the rating plane is on and most games lack a rating.
    """
    games = np.flatnonzero(store.plies > 0)
    if settings.rating_plane:
        unrated = (store.column("white_rating")[games] == 0) | (store.column("black_rating")[games] == 0)
        if unrated.mean() > 0.5:
            raise KibitzError(
                f"{store.path}: {unrated.sum():,} of {number_of(len(games), 'game')} lack a rating, which"
                " the rating plane needs. Import with --min-rating 1, or leave out --rating-plane."
            )
    return games


# Stages


def stages(network: MoveNets, settings: Settings, every: Sequence[str]) -> list[Stage]:
    """Return the training stages (parts of the training): one for each network that the setting `networks` selects, or
    a single stage if the networks share a trunk. every: the names of all networks of the system (kind of network).
    """
    names = selected_networks(settings, every)
    if settings.share == "body":
        return [_shared_stage(network, settings, VALUE in names)]
    return [
        _value_stage(network, settings) if name == VALUE else _move_stage(network, settings, name) for name in names
    ]


def _shared_stage(network: MoveNets, settings: Settings, with_value: bool) -> Stage:
    """Return the stage (a part of the training) of networks that share their trunk. with_value: whether the value is
    one of its outputs.
    """
    return Stage(
        name="moves",
        module=network,
        examples=lambda store, games: MoveExamples(store, games, settings),
        loss=lambda batch: shared_loss(network, batch, settings.value_weight),
        constant_loss=lambda batch: _constant_loss(
            batch, ("origin", "target"), settings.value_weight if with_value else 0
        ),
        optimiser=lambda: _optimiser(network, settings),
        learning_rate=_learning_rate(settings, settings.learning_rate, settings.schedule),
        decay=_decay(settings, settings.schedule),
        batch=settings.batch,
        iterations=settings.iterations or None,
        epochs=settings.epochs,
        most_epochs=settings.most_epochs,
    )


def _move_stage(network: MoveNets, settings: Settings, name: str) -> Stage:
    """Return the stage (a part of the training) of the piece selector, or of the move selector of a type of piece."""
    piece = None if name == "piece" else PIECES.index(name)
    output = "origin" if name == "piece" else "target"
    module = network.nets[name]
    return Stage(
        name=name,
        module=module,
        examples=lambda store, games: MoveExamples(store, games, settings, piece),
        loss=lambda batch: move_loss(network, name, batch),
        constant_loss=lambda batch: _constant_loss(batch, (output,), 0),
        monitor=settings.keep,
        optimiser=lambda: _optimiser(module, settings),
        learning_rate=_learning_rate(settings, settings.learning_rate, settings.schedule),
        decay=_decay(settings, settings.schedule),
        batch=settings.batch,
        iterations=settings.iterations or None,
        epochs=settings.epochs,
        most_epochs=settings.most_epochs,
        independent=True,
        # The piece selector learns from all moves, but a move selector only from the moves of one piece. So the
        # piece selector gets three times as much time as a move selector.
        time_share=3.0 if name == "piece" else 1.0,
    )


def _value_stage(network: MoveNets, settings: Settings) -> Stage:
    """Return the stage (a part of the training) of the value network, whose optimizer has separate settings."""
    module = network.nets[VALUE]
    return Stage(
        name=VALUE,
        module=module,
        examples=lambda store, games: ValueExamples(store, games, settings),
        loss=lambda batch: value_loss(network, batch),
        constant_loss=lambda batch: _constant_loss(batch, (), 1.0),
        optimiser=lambda: _optimiser(module, settings, settings.value_optimiser, settings.value_smoothing),
        learning_rate=_learning_rate(settings, settings.value_learning_rate, settings.value_schedule),
        decay=_decay(settings, settings.value_schedule),
        batch=settings.value_batch,
        iterations=settings.value_iterations or settings.iterations or None,
        epochs=settings.epochs,
        most_epochs=settings.most_epochs,
        independent=True,
    )


def _optimiser(
    module: nn.Module, settings: Settings, name: str | None = None, smoothing: float | None = None
) -> torch.optim.Optimizer:
    """Return the optimizer of a module. name: the optimizer's name. smoothing: the smoothing factor of RMSprop. If one
    of them is None, the value of the settings is used.
    """
    return make_optimiser(
        name or settings.optimiser, module, weight_decay=settings.weight_decay, momentum=settings.momentum,
        smoothing=settings.smoothing if smoothing is None else smoothing, accumulator=settings.accumulator,
    )  # fmt: skip


def _learning_rate(settings: Settings, base: float, schedule: str) -> Callable[[int, int], float]:
    """Return the learning rate as a function of the iteration and the number of iterations. base: the first rate."""
    if schedule == EPOCH:  # the stage lowers the rate after each pass, see `_decay`
        schedule = "constant"
    return lambda iteration, iterations: learning_rate_at(
        schedule, base, iteration, iterations, decay=settings.decay, step=settings.step
    )


def _decay(settings: Settings, schedule: str) -> float:
    """Return the factor by which a stage (a part of the training) multiplies the learning rate after each pass over its
    examples.
    """
    return settings.decay if schedule == EPOCH else 1.0


def _constant_loss(batch: Tensors, squares: Sequence[str], value_weight: float) -> float:
    """Return the loss of the best constant prediction of these squares, plus the weighted loss of the best constant
    value.
    """
    moves = sum(float(constant.of_labels(batch[name])) for name in squares)
    return moves + value_weight * 0.5 * float(constant.of_values(batch["value"]))


class MoverSystem(System):
    """The base class of the systems (kinds of networks) that predict moves with several networks. There is one subclass
    for each paper, with the paper's settings and recipes. A system may also have a value network. The class System
    describes the methods.
    """

    def __init__(
        self, name: str, settings_type: type[Settings], networks: Sequence[str], recipes: Mapping[str, Recipe]
    ):
        self.name, self.settings_type, self.networks = name, settings_type, tuple(networks)  # type: ignore[misc]
        self.recipes = recipes

    def check(self, settings: Settings) -> None:
        super().check(settings)
        check(settings, self.networks)

    def games(self, store: Store, settings: Settings) -> NDArray[np.int64]:
        return playable(store, settings)

    def network(self, settings: Settings) -> MoveNets:
        return MoveNets(settings, selected_networks(settings, self.networks))

    def prepare(
        self, network: nn.Module, store: Store, games: NDArray[np.int64], settings: Settings, seed: int
    ) -> None:
        draw_weights(network, settings.initial, torch.Generator().manual_seed(seed))

    def stages(self, network: nn.Module, settings: Settings) -> Sequence[Stage]:
        assert isinstance(network, MoveNets)
        return stages(network, settings, self.networks)
