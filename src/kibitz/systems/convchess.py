"""The system (kind of network) `convchess`: seven small convolutional networks that predict a strong player's move.

The method is from Barak Oshri and Nishith Khandwala, "Predicting Moves in Chess using Convolutional Neural Networks"
(Stanford, 2015). The piece selector predicts the from-square of the move. A move selector for each type of piece
predicts the to-square. A move's probability is the product of both probabilities. The package kibitz.play sets the
probabilities of illegal moves to 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from kibitz.nets.optim import OPTIMISERS, WEIGHT_DECAY
from kibitz.systems.base import Recipe, document, ours, reading, setting
from kibitz.systems.movers import system
from kibitz.text import either


@dataclass(frozen=True)
class Settings(system.Settings):
    """The settings of `convchess`. The defaults are the values in the Chessprogramming wiki's page about the paper, or
    kibitz's choice if the page states none. `kibitz systems convchess` prints the source of each value.

    The board has six planes, one per piece type: 1 for the mover's pieces and −1 for the opponent's. If Black is to
    move, the board is flipped, so the mover's pawns always move up the board. Castling rights and en passant are not
    inputs.
    """

    # Three convolutions of 32 filters 3×3, stride 1, ReLU; a pool 2×2; dense 128, ReLU; dense 64, softmax.
    layers: str = setting(
        "32conv3x3p1.32conv3x3p1.32conv3x3p1.pool2x2.ip128", "Layers of each network before its output."
    )
    # 245,000 moves of 20,000 games from the file FICS_2000.pgn. We read the minimum rating from the file's name.
    min_rating: int = setting(
        2000, "Minimum rating of the players whose moves are used; moves of unrated players are used, too."
    )
    games: int = setting(20_000, "Maximum number of training games, sampled at random; 0 uses all.")
    moves: int = setting(
        245_000, "Maximum number of training moves, sampled at random from the training games; 0 uses all."
    )
    # RMSprop. The paper's authors found learning rate, regularization and initial weights with a grid search, as in
    # `kibitz tune`, and with fine tuning. The document does not state the initial weights.
    optimiser: str = setting(
        "rmsprop", "Optimizer: " + either(OPTIMISERS, {"rmsprop": "as in the original paper"}) + "."
    )
    learning_rate: float = setting(0.0015, "Learning rate at the first iteration.")
    schedule: str = setting(
        "epoch",
        "Learning rate schedule: "
        + either(
            system.OWN_SCHEDULES,
            {"epoch": "multiplied by --decay after each epoch, as we read the original paper"},
            "epoch",
        )
        + ".",
    )
    decay: float = setting(0.999, "Number by which the schedules epoch and step multiply the learning rate.")
    weight_decay: float = setting(0.0001, WEIGHT_DECAY)
    batch: int = setting(250, "Number of moves per batch.")
    epochs: float = setting(15.0, "Number of epochs if --iterations is 0.")


_WHICH_EPOCH = (
    "kibitz keeps the epoch with the highest validation accuracy, out of fifteen. The document does not state"
    " which epoch was kept"
)

RECIPES = {
    "default": Recipe(
        "the paper's networks and optimizer on 245,000 moves of players of any rating, the best of fifteen epochs",
        {"min_rating": 0},
        training={"validations": 15},
        reaches=(
            "games of masters from years after the training games, n = 100,000 moves, weights with the lowest "
            "validation loss: origin"
            " accuracy 42.5%. Target accuracy by piece: pawn 55.6%, rook 33.6%, knight 54.9%, bishop 44.3%, queen"
            " 25.6%, king 55.6%. 31 minutes on one core, in bf16",
            "the same games, weights with the highest validation accuracy, as in this recipe: target accuracy of"
            " knights 57.2% (n = 77,089), of queens 28.2% (n = 51,130)",
            "bundled games, n = 10,000 moves of 146 test games: top-1 accuracy 17.7% (16.9 to 18.6), origin accuracy"
            " 38.1%. 27 minutes on one core",
        ),
    ),
    "long": Recipe(
        "four times the moves and the games",
        {"min_rating": 0, "games": 80_000, "moves": 980_000},
        training={"validations": 15},
    ),
    "paper": Recipe(
        "the document's settings: 245,000 moves of 20,000 games, RMSprop 0.0015, 15 epochs. float32 is our choice",
        training={"validations": 15, "precision": "32-true", "patience": 0},
        departures=(
            _WHICH_EPOCH,
            "the initial weights use He initialization. The document names a grid search over initial weights, but not"
            " its result",
            "the loss is the cross-entropy of the softmax. The document names no loss",
            "the games come from the store. The document names the file FICS_2000.pgn. By its name, we read it as games"
            " of the server FICS",
            system.QUEENS,
        ),
        sources={
            **system.SHARED_SOURCES,
            **system.VALUE_OFF,
            "networks": document("seven"),
            "layers": reading(
                "three convolutions with 32 filters of 3×3, ReLU and 2×2 pooling, then two dense layers. The document"
                " names 128 features for both. We use 128 units, and then the 64 outputs. We use one pooling, after"
                " the third convolution, and padded convolutions that keep the board's size. The document does not"
                " state the kind of pooling. We use the maximum"
            ),
            "activation": document("after each convolution and after the first dense layer"),
            "planes": reading(
                "the document has six planes with +1 and −1, without castling rights and en passant squares. If Black"
                " is to move, the document flips the colors. We read this as the mover's view, so we flip the ranks,"
                " too"
            ),
            "min_rating": reading(
                "from the name of the file of games, FICS_2000. We use the moves of players rated 2000 or more, and of"
                " unrated players. The games are sampled among those with such a player"
            ),
            "games": document(),
            "moves": reading(
                "245,000 moves of 20,000 games are 12 moves a game, but the document does not state which. We sample"
                " evenly from all moves of these games"
            ),
            "optimiser": document(),
            "learning_rate": document(),
            "schedule": reading(
                "a learning rate decay of 0.999 on RMSprop, which we apply to the rate once per epoch. It can also mean"
                " the smoothing of the squared gradients"
            ),
            "decay": document(),
            "step": ours("not used by this schedule"),
            "smoothing": ours(
                "not stated in the document, unless the decay of 0.999 means the smoothing. The document names NumPy,"
                " but no library for neural networks, so no defaults of a library help here"
            ),
            "accumulator": ours("not used by this optimizer"),
            "weight_decay": reading(
                "a regularization of 0.0001. We add the penalty to the gradient of the weights, but not of the biases"
            ),
            "dropout": document(
                "the document's networks have dropout after the dense layer of 128. Its best model uses none"
            ),
            "batch": document(),
            "epochs": document(),
            "iterations": ours("0, because the number of epochs sets the length"),
            "validations": ours("one after each epoch"),
            "precision": ours("no mixed precision with bf16"),
            "patience": ours("0, which trains all epochs"),
        },
    ),
}

SYSTEM = system.MoverSystem("convchess", Settings, system.SELECTORS, RECIPES)
