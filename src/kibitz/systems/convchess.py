"""`convchess`: seven small convolutional networks that predict a strong player's move.

After Barak Oshri and Nishith Khandwala, "Predicting Moves in Chess using Convolutional Neural Networks" (Stanford,
2015). The piece selector predicts the square that the move starts from. A move selector for each type of piece predicts
its target square. Each move's probability is the product of the two, with illegal moves clipped to 0 (kibitz.play).
"""

from __future__ import annotations

from dataclasses import dataclass

from kibitz.nets.optim import OPTIMISERS, WEIGHT_DECAY
from kibitz.systems.base import Recipe, document, ours, reading, setting
from kibitz.systems.movers import system
from kibitz.text import either


@dataclass(frozen=True)
class Settings(system.Settings):
    """The paper's settings.

    The board has six planes, +1 for the mover and −1 for the opponent. Black's positions are turned round, so the mover
    always plays up the board. There is no input for castling rights and en passant.
    """

    # Three convolutions of 32 filters 3×3, stride 1, ReLU; a pool 2×2; dense 128, ReLU; dense 64, softmax.
    layers: str = setting(
        "32conv3x3p1.32conv3x3p1.32conv3x3p1.pool2x2.ip128", "Layers of each network before its output."
    )
    # 245,000 moves of 20,000 FICS games, both players over 2000.
    min_rating: int = setting(2000, "Minimum rating of the players whose moves are used; unrated players stay in.")
    games: int = setting(20_000, "Maximum number of training games, sampled evenly; 0 uses all.")
    moves: int = setting(245_000, "Maximum number of training moves, sampled evenly from these games; 0 uses all.")
    # RMSprop, found by grid search over learning rate, regularisation and initial weights (`kibitz tune`).
    optimiser: str = setting("rmsprop", "Optimizer: " + either(OPTIMISERS, {"rmsprop": "as in the paper"}) + ".")
    learning_rate: float = setting(0.0015, "Learning rate at the first iteration.")
    schedule: str = setting(
        "epoch",
        "Learning rate schedule: "
        + either(system.OWN_SCHEDULES, {"epoch": "as in the paper, times --decay after each epoch"}, "epoch")
        + ".",
    )
    decay: float = setting(0.999, "Factor for the learning rate in the schedules epoch and step.")
    weight_decay: float = setting(0.0001, WEIGHT_DECAY)
    batch: int = setting(250, "Number of moves per batch.")
    epochs: float = setting(15.0, "Number of epochs if --iterations is 0.")


_WHICH_EPOCH = (
    "of the fifteen epochs the one with the most first choices right in validation is kept; the paper does not say"
    " which it kept"
)

RECIPES = {
    "default": Recipe(
        "the paper's networks and solver on 245,000 moves of players of any rating, the best of fifteen epochs",
        {"min_rating": 0},
        training={"validations": 15},
        reaches=(
            "origin 42.5%, targets of P 55.6, R 33.6, N 54.9, B 44.3, Q 25.6, K 55.6% on masters of unseen years, n ="
            " 100,000, with the weights of the smallest loss; 31 minutes on one busy core",
            "N 57.2% (n = 77,089) and Q 28.2% (n = 51,130) with the weights of the most first choices, as here",
            "on the bundled games alone first choice 17.7% (16.9 to 18.6), origin 38.1%, n = 10,000 of 146 unseen"
            " games; 27 minutes of one core",
        ),
    ),
    "long": Recipe(
        "four times the moves and the games",
        {"min_rating": 0, "games": 80_000, "moves": 980_000},
        training={"validations": 15},
    ),
    "paper": Recipe(
        "the paper's numbers: 245,000 moves of 20,000 games, RMSprop 0.0015, 15 epochs, in float32",
        training={"validations": 15, "precision": "32-true", "patience": 0},
        departures=(
            _WHICH_EPOCH,
            "initial weights are He's; the paper searched for theirs without telling which it found",
            "the games are those of the store; the paper's are of one internet server",
        ),
        sources={
            **system.SHARED_SOURCES,
            **system.VALUE_OFF,
            "networks": document("seven"),
            "layers": reading(
                "three convolutions of 32 of 3×3 with ReLU and 2×2 pooling, then dense 128 and 64; we"
                " read"
                " one pool, after the third convolution, and convolutions padded to keep the grid"
            ),
            "activation": document(),
            "planes": document("six, +1 and −1, of the mover's view"),
            "min_rating": reading("the name of the file of games, FICS_2000"),
            "games": document(),
            "moves": reading(
                "245,000 moves of 20,000 games are 12 of each game; the document does not say which. We draw them"
                " evenly from all moves of these games"
            ),
            "optimiser": document(),
            "learning_rate": document(),
            "schedule": reading("a learning rate decay of 0.999, which we read as a factor an epoch"),
            "decay": document(),
            "step": ours("not used by this schedule"),
            "smoothing": ours(),
            "accumulator": ours("not used by this optimizer"),
            "weight_decay": reading("a regularization of 0.0001, which we add to the gradient"),
            "dropout": document("no dropout in the best model"),
            "batch": document(),
            "epochs": document(),
            "iterations": ours("0: epochs count"),
        },
    ),
}

SYSTEM = system.MoverSystem("convchess", Settings, system.SELECTORS, RECIPES)
