"""The system (kind of network) `chessnet`: networks that predict moves and evaluate positions, from a thesis.

The thesis is Ashudeep Singh's, on chess with convolutional networks (2015). ChessNet-1 consists of seven networks. A
move's probability is the probability of its from-square, times the probability of its to-square for this type of piece.
ChessNet-2 evaluates a position by the discounted result of its game. The package kibitz.play implements the thesis'
methods to choose a move: Top-move, Top-prob, TopProb-Negamax, and negamax with ChessNet-2.
"""

from __future__ import annotations

from dataclasses import dataclass

from kibitz.nets.optim import OPTIMISERS
from kibitz.systems.base import BF16_IF_FAST, Recipe, document, ours, reading, setting
from kibitz.systems.movers import system
from kibitz.systems.movers.nets import VALUE
from kibitz.text import either


@dataclass(frozen=True)
class Settings(system.Settings):
    """The settings of `chessnet`. Each default is the value in the thesis' chapter on the networks. If the chapter
    states no value, kibitz chose the default. `kibitz systems chessnet` prints the source of each value.

    The chapter allows two encodings of the pieces, with 6 or 12 planes. It does not state which numbers the planes
    have. The setting `planes` selects the encoding. As kibitz reads the chapter, 6 planes have +1 for the mover's
    pieces and −1 for the opponent's, and 12 planes have 1 for pieces of one kind and side. The board is in the view of
    the side to move.

    The chapter also mentions "augmented channels". According to notes on the thesis, they show the mover's rating, the
    result, and (in the networks that choose the to-square) the moving piece.
    """

    # ChessNet-1: convolutions 3×3 padded, 64, 96 and 256 filters, dense 1024, ReLU each; 64 outputs, softmax.
    layers: str = setting("64conv3x3p1.96conv3x3p1.256conv3x3p1.ip1024", "Layers of each network before its output.")
    min_rating: int = setting(
        2000,
        "Minimum rating of the players whose moves are used; moves of unrated players are used, too, and"
        " the value network ignores this limit.",
    )
    # AdaGrad with learning rate 0.1, and 0.01 after 50,000 iterations.
    optimiser: str = setting(
        "adagrad", "Optimizer: " + either(OPTIMISERS, {"adagrad": "as in the original thesis"}, "adagrad") + "."
    )
    learning_rate: float = setting(0.1, "Learning rate at the first iteration.")
    schedule: str = setting(
        "step",
        "Learning rate schedule: "
        + either(
            system.OWN_SCHEDULES,
            {"step": "multiplied by --decay after --step iterations, as in the original thesis"},
            "step",
        )
        + ".",
    )
    decay: float = setting(0.1, "Number by which the schedules epoch and step multiply the learning rate.")
    step: int = setting(
        50_000, "Number of iterations before the schedule step multiplies the learning rate by --decay."
    )
    batch: int = setting(1000, "Number of moves per batch.")
    iterations: int = setting(300_000, "Number of batches per network; with 0, --epochs sets the length.")
    # ChessNet-2: the same layers with tanh, and one output. Loss: ½(f(x) − y)², y = ±γ^i, with one network for each γ
    # from 0.7 to 0.99. RMSprop with learning rate 0.001 (smoothing 0.9), batches of 1024. The chapter gives no
    # number of iterations, so this number is ChessNet-1's.


_MODERN = {
    "share": "body", "layers": "64conv3x3p1.4*64res3x3", "targets": "square", "planes": 12, "attacks": "pieces",
    "rights_planes": True, "optimiser": "muon", "momentum": 0.95, "learning_rate": 0.006, "schedule": "cosine",
    "weight_decay": 0.01, "gamma": 0.99, "value_weight": 3.0, "batch": 512, "most_epochs": 5.0,
    "min_rating": 0,
}  # fmt: skip
"""One trunk of residual blocks, shared by all seven networks and the value network. Targets are predicted for each
origin square. The network learns moves of players of any rating: the import decides which games are used.
"""

RECIPES = {
    "default": Recipe(
        "one residual network with all outputs of the networks in the thesis, attack planes, Muon and a cosine"
        " schedule; 2.3 million moves",
        {**_MODERN, "iterations": 4500},
        reaches=(
            "games of masters from years after the training games: top-1 accuracy 38.7% (38.5 to 38.8), n = 400,000 "
            "moves. 28 minutes"
            " on two cores",
            "bundled games: top-1 accuracy 25.0% (24.1 to 26.0), n = 10,000 moves of 146 test games. 11 minutes on"
            " two cores",
        ),
    ),
    "long": Recipe("the default with four times the moves", {**_MODERN, "iterations": 18_000}),
    "paper": Recipe(
        "the thesis' settings: the seven networks of ChessNet-1, with AdaGrad 0.1 and 300,000 batches each, and"
        " ChessNet-2, with RMSprop 0.001. The 300,000 batches of ChessNet-2, and the start of AdaGrad's sums at 0.1,"
        " are our choices",
        {"accumulator": 0.1},
        training={"precision": "auto"},
        departures=(
            "AdaGrad's sums of squared gradients start at 0.1. In Caffe, the library of the thesis, they start at 0."
            " With 0, the first step moves every weight by 0.1, and 90% of the dense layer's units are dead from then"
            " on. The document does not explain how it avoided this problem",
            "we use the thesis' learning rate decay of 0.9 with RMSprop as the smoothing of the squared gradients,"
            " and keep the learning rate at 0.001",
            "in RMSprop, kibitz adds 1e-8 to the root of the smoothed squared gradients. Early versions of Keras add"
            " 1e-6 under the root. So very small gradients make larger steps in kibitz. The document names no version"
            " of Keras",
            "kibitz keeps the move networks with the highest validation accuracy, and the value network with the lowest"
            " validation loss. The document does not state which weights it kept",
            "the initial weights use He initialization. The document does not state its initial weights",
            "the games come from the store. The document names neither its games nor the players' ratings",
            "kibitz chooses among the legal moves. In the document, Top-move takes the largest probability over all"
            " squares. Top-prob takes it over all pairs of an occupied square and a target. Neither tests whether the"
            " move is legal",
            "the value network learns each position once, from the point of view of the side to move. The document"
            " evaluates each position twice, once from the point of view of each side. So its input does not show the"
            " side to move",
            system.QUEENS,
        ),
        sources={
            **system.SHARED_SOURCES,
            "keep": ours(
                "the highest validation accuracy for the move networks, and the lowest validation loss for the value"
                " network; not stated in the document"
            ),
            "targets": document(
                "one target network for each type of piece. The document writes P(to|from, board), but these networks"
                " get only the board. So two rooks have the same probabilities of targets"
            ),
            **dict.fromkeys(
                ("rating_plane", "piece_plane", "outcome_plane"),
                reading(
                    'the document allows networks "with or without the augmented channels", and we train without them.'
                    " It does not describe them. By our notes on the thesis, this plane is one of them"
                ),
            ),
            "networks": document("the seven networks of ChessNet-1, and ChessNet-2"),
            "layers": reading(
                "convolutions with 64, 96 and 256 filters, dense 1024, and 64 outputs. We read the outputs as a"
                " dense layer after the 1024 units. The loss is the cross-entropy of the softmax, as in the document"
            ),
            "activation": reading(
                "ReLU after each convolution, as in the document. The document names no activation function after the"
                " dense layer. We use ReLU there, too"
            ),
            "planes": reading(
                "6; for the move networks, the document also allows 12. It describes the planes in a section that we"
                " have not read. We use +1 for own pieces and −1 for the others. We flip the ranks and colors if Black"
                " is to move, as in its footnote. In another place, the document calls this board rotated"
            ),
            "min_rating": ours(
                "not stated in the document. By our notes on the thesis, it excludes moves of players under 2000."
                " The limit applies to the moves, not to the value network. Moves of unrated players are used, too"
            ),
            "games": ours("all"),
            "moves": ours("all"),
            "optimiser": document(),
            "learning_rate": document(),
            "schedule": document("0.1, then 0.01"),
            "decay": document(),
            "step": document(),
            "smoothing": ours("not used by this optimizer"),
            "accumulator": ours("0.1, while Caffe's sums start at 0, see the differences"),
            "weight_decay": ours("0; the document does not mention weight decay"),
            "dropout": ours("0; the document does not mention dropout"),
            "batch": document(),
            "iterations": document(),
            "epochs": ours("not used, because the number of iterations sets the length"),
            "gamma": reading(
                "the document trains one network for each of several values from 0.7 to 0.99; the recipe trains the"
                " network for 0.7. Draws have the value 0. We read a step of the document as one ply"
            ),
            "value_layers": document("the layers of ChessNet-1, with one output. The loss is half the squared error"),
            "value_activation": reading(
                "tanh in place of ReLU, which we use in every layer and at the output. In the thesis, leaky ReLU and"
                " sigmoid made no significant difference. In kibitz, the output uses tanh with each of them"
            ),
            "value_optimiser": document(),
            "value_learning_rate": document(),
            "value_schedule": reading("see value-smoothing"),
            "value_smoothing": reading(
                "RMSprop with a learning rate decay of 0.9. In Keras, the library of the thesis for this network, 0.001"
                " and 0.9 are the defaults of RMSprop for the learning rate and the smoothing"
            ),
            "value_batch": document(),
            "value_iterations": ours("as many as for the other networks"),
            "value_weight": ours("not used, because the value has a separate network"),
            "precision": BF16_IF_FAST,
        },
    ),
}

SYSTEM = system.MoverSystem("chessnet", Settings, (*system.SELECTORS, VALUE), RECIPES)
