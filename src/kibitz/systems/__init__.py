"""The systems, by name. The table is all that the command line needs to know before it loads one."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kibitz.errors import UsageError

if TYPE_CHECKING:
    from kibitz.systems.base import Recipe, System


@dataclass(frozen=True)
class Entry:
    """A system in one line: its game, what it does, the paper, and the paper's figure."""

    game: str
    title: str
    paper: str
    anchor: str


SYSTEMS = {
    "winner": Entry(
        "chess",
        "who wins from here?",
        "Chess position evaluation with convolutional neural network in Julia (blog post, 2016)",
        "73.5% validation, 71.8% test accuracy on games that end in mate",
    ),
    "convchess": Entry(
        "chess",
        "which piece, and where to?",
        "Predicting Moves in Chess using Convolutional Neural Networks (Oshri, Khandwala 2015)",
        "origin 38.3%; target of P 52.2, R 29.3, N 56.2, B 40.5, Q 26.5, K 47.3%",
    ),
    "chessnet": Entry(
        "chess",
        "which move, and what is the position worth?",
        "a thesis on learning chess with convolutional networks (Ashudeep Singh 2015)",
        "origin 56.1%; target of P 53.6, R 51.0, N 72.8, B 59.9, Q 48.0, K 64.5%; value and material 0.82",
    ),
    "gocnn": Entry(
        "go",
        "who will own each point?",
        "Convolutional neural network for board evaluation in Go (a repository, 2016)",
        "80.5% of the points right over all positions, over 96% at the end of most games",
    ),
    "deepchess": Entry(
        "chess",
        "which of two positions is better?",
        "DeepChess: End-to-End Deep Neural Network for Automatic Learning in Chess (David, Netanyahu, Wolf 2016)",
        "98.2% of training pairs, 98.0% of validation pairs; positions of one game may stand on both sides",
    ),
}


def load(name: str) -> System:
    """The system of that name. Raises UsageError where there is none."""
    if name not in SYSTEMS:
        raise UsageError(f"{name}: no such system; choose from {', '.join(SYSTEMS)}")
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
