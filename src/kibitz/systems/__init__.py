"""The systems, by name. The table is all that a face needs to know of one that is not to be trained.

It can be read without torch; a system's own module cannot.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kibitz.errors import UsageError, need_training

if TYPE_CHECKING:
    from kibitz.systems.base import Recipe, System


VALUE, MOVES, COMPARISON, OWNERS = "value", "moves", "comparison", "owners"
"""What a network may answer: who wins, which move, which of two positions is better, who will own each point."""


@dataclass(frozen=True)
class Entry:
    """A system in one line: its game, what it does, the paper, the paper's figure, and what its networks answer.

    paper: "" for a system of our own; the figure is then what others reach at the same question.
    answers: some of VALUE, MOVES, COMPARISON and OWNERS. A run may have trained a part of them only.
    """

    game: str
    title: str
    paper: str
    anchor: str
    answers: tuple[str, ...]


SYSTEMS = {
    "winner": Entry(
        "chess",
        "who wins from here?",
        "Chess position evaluation with convolutional neural network in Julia (blog post, 2016)",
        "73.5% validation, 71.8% test accuracy on games that end in mate",
        (VALUE,),
    ),
    "convchess": Entry(
        "chess",
        "which piece, and where to?",
        "Predicting Moves in Chess using Convolutional Neural Networks (Oshri, Khandwala 2015)",
        "origin 38.3%; target of P 52.2, R 29.3, N 56.2, B 40.5, Q 26.5, K 47.3%",
        (MOVES,),
    ),
    "chessnet": Entry(
        "chess",
        "which move, and what is the position worth?",
        "a thesis on learning chess with convolutional networks (Ashudeep Singh 2015)",
        "origin 56.1%; target of P 53.6, R 51.0, N 72.8, B 59.9, Q 48.0, K 64.5%; value and material 0.82",
        (MOVES, VALUE),
    ),
    "human": Entry(
        "chess",
        "what would a player of this rating play, and how will it end?",
        "",
        "others: Maia-1 51.6%, Maia-2 52.0% of the moves of Lichess blitz, after hundreds of millions of positions",
        (MOVES, VALUE),
    ),
    "gocnn": Entry(
        "go",
        "who will own each point?",
        "Convolutional neural network for board evaluation in Go (a repository, 2016)",
        "80.5% of the points right over all positions, over 96% at the end of most games",
        (OWNERS,),
    ),
    "deepchess": Entry(
        "chess",
        "which of two positions is better?",
        "DeepChess: End-to-End Deep Neural Network for Automatic Learning in Chess (David, Netanyahu, Wolf 2016)",
        "98.2% of training pairs, 98.0% of validation pairs; positions of one game may stand on both sides",
        (COMPARISON,),
    ),
}


def load(name: str) -> System:
    """The system of that name, with its network and how it is trained.

    Raises UsageError where there is none, KibitzError where what it needs is not installed.
    """
    if name not in SYSTEMS:
        raise UsageError(f"{name}: no such system; choose from {', '.join(SYSTEMS)}")
    need_training(f"the system {name}")
    system: System = importlib.import_module(f"kibitz.systems.{name}").SYSTEM
    return system


DEFAULT = "default"
"""The recipe of a training for which nothing is said."""


def find_recipe(system: str, name: str) -> Recipe:
    """A system's recipe. Raises UsageError, with those there are, for another name."""
    recipes = load(system).recipes
    if name not in recipes:
        raise UsageError(f"--recipe {name}: {system} has {', '.join(recipes)}")
    return recipes[name]
