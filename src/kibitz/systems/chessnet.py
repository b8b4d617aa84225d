"""`chessnet`: networks that choose moves, evaluate positions, and search with both, after a thesis.

After Ashudeep Singh's thesis on chess with convolutional networks (2015). ChessNet-1 is seven networks, P(move | board)
= P(from | board) · P(to | from, board). ChessNet-2 evaluates a position by the discounted result of its game.
kibitz.play has the methods to choose a move: Top-move, Top-prob, TopProb-Negamax, negamax with ChessNet-2.
"""

from __future__ import annotations

from dataclasses import dataclass

from kibitz.nets.optim import OPTIMISERS
from kibitz.systems.base import Recipe, document, ours, reading, setting
from kibitz.systems.movers import system
from kibitz.systems.movers.nets import VALUE
from kibitz.text import either


@dataclass(frozen=True)
class Settings(system.Settings):
    """The thesis' settings.

    It used both planes of ±1 (6) and of 0 and 1 (12). It also tried more planes: the mover's rating, the moving piece
    (for the move selectors), and the result. The board is in the mover's view.
    """

    # ChessNet-1: convolutions 3×3 padded, 64, 96 and 256 filters, dense 1024, ReLU each; 64 outputs, softmax.
    layers: str = setting("64conv3x3p1.96conv3x3p1.256conv3x3p1.ip1024", "Layers of each network before its output.")
    min_rating: int = setting(
        2000, "Minimum rating of the players whose moves are used; the value network uses all players."
    )
    # AdaGrad 0.1, and 0.01 after 50,000 iterations.
    optimiser: str = setting(
        "adagrad", "Optimizer: " + either(OPTIMISERS, {"adagrad": "as in the thesis"}, "adagrad") + "."
    )
    learning_rate: float = setting(0.1, "Learning rate at the first iteration.")
    schedule: str = setting(
        "step",
        "Learning rate schedule: "
        + either(system.OWN_SCHEDULES, {"step": "as in the thesis, times --decay after --step iterations"}, "step")
        + ".",
    )
    decay: float = setting(0.1, "Factor for the learning rate in the schedules epoch and step.")
    step: int = setting(50_000, "Number of iterations before the learning rate decays in the schedule step.")
    batch: int = setting(1000, "Number of moves per batch.")
    iterations: int = setting(300_000, "Number of batches per network; 0 uses --epochs.")
    # ChessNet-2: the same body with tanh, one output; ½(f(x) − y)², y = ±γ^i, γ from 0.7 to 0.99, with one network for
    # each γ. RMSprop 0.001 (smoothing 0.9), batches of 1024. The thesis gives no number of iterations: as many as
    # ChessNet-1's.


_MODERN = {
    "share": "body", "layers": "64conv3x3p1.4*64res3x3", "targets": "square", "planes": 12, "attacks": "pieces",
    "rights_planes": True, "optimiser": "muon", "momentum": 0.95, "learning_rate": 0.006, "schedule": "cosine",
    "weight_decay": 0.01, "gamma": 0.99, "value_weight": 3.0, "batch": 512, "most_epochs": 5.0,
    "min_rating": 0,
}  # fmt: skip
"""One body with residual blocks, shared by all seven networks and the value; P(to | from) by square.

It learns moves of players of any rating. The import decides which games are used.
"""

RECIPES = {
    "default": Recipe(
        "one residual body for all the thesis' networks, with attack planes, Muon and a cosine; 2.3 million moves",
        {**_MODERN, "iterations": 4500},
        reaches=(
            "first choice 38.7% (38.5 to 38.8) of masters' moves of unseen years, n = 400,000; 28 minutes on two"
            " free cores",
            "on the bundled games alone 25.0% (24.1 to 26.0) first choices, n = 10,000 of 146 unseen games; 11 minutes"
            " on two free cores",
        ),
    ),
    "long": Recipe("the default with four times the moves", {**_MODERN, "iterations": 18_000}),
    "paper": Recipe(
        "the thesis' numbers: ChessNet-1's seven networks and ChessNet-2, 300,000 batches each, AdaGrad 0.1",
        {"accumulator": 0.1},
        departures=(
            "AdaGrad's sums of squared gradients begin at 0.1 instead of 0, where those of Caffe begin, the thesis'"
            " library: from 0 the first step moves every weight by 0.1, and nine tenths of the dense layer's units are"
            " dead from then on. The document does not say what kept its networks from this",
            "a learning rate decay of 0.9 with RMSprop is read as the smoothing of the squared gradients, and the rate"
            " stays at 0.001",
            "the weights of the best validation are kept",
            "moves are chosen among the legal ones; the thesis' Top-move and Top-prob take the largest probability of"
            " all squares",
        ),
        sources={
            **system.SHARED_SOURCES,
            "networks": document("seven of ChessNet-1, and ChessNet-2"),
            "layers": reading(
                "convolutions of 64, 96 and 256, dense 1024, and 64 outputs; that the outputs are a dense"
                " layer after the 1024 is our reading"
            ),
            "activation": document("ReLU"),
            "planes": document("6 or 12, both tried"),
            "min_rating": document("in another chapter than that of the networks"),
            "games": ours("all"),
            "moves": ours("all"),
            "optimiser": document(),
            "learning_rate": document(),
            "schedule": document("0.1, then 0.01"),
            "decay": document(),
            "step": document(),
            "smoothing": ours("not used by this optimizer"),
            "accumulator": ours("0.1, where Caffe's sums begin at 0; see the departures"),
            "weight_decay": ours("none named"),
            "dropout": ours("none named"),
            "batch": document(),
            "iterations": document(),
            "epochs": ours("not used: iterations count"),
            "gamma": document("0.7 to 0.99, a network each; the recipe trains that of 0.7"),
            "value_layers": document("the same as ChessNet-1's"),
            "value_activation": reading(
                "tanh in place of ReLU: we read in every layer, and at the output; leaky ReLU and sigmoid made no"
                " significant difference"
            ),
            "value_optimiser": document(),
            "value_learning_rate": document(),
            "value_schedule": reading("see value_smoothing"),
            "value_smoothing": reading("RMSprop with a learning rate decay of 0.9"),
            "value_batch": document(),
            "value_iterations": ours("as many as the others"),
            "value_weight": ours("not used: the value has a network of its own"),
        },
    ),
}

SYSTEM = system.MoverSystem("chessnet", Settings, (*system.SELECTORS, VALUE), RECIPES)
