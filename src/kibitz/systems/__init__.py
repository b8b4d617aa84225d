"""The systems, by name. The table is all that the command line needs to know before it loads one."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kibitz.errors import UsageError

if TYPE_CHECKING:
    from kibitz.systems.base import System


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
}


def load(name: str) -> System:
    """The system of that name. Raises UsageError where there is none."""
    if name not in SYSTEMS:
        raise UsageError(f"{name}: no such system; choose from {', '.join(SYSTEMS)}")
    system: System = importlib.import_module(f"kibitz.systems.{name}").SYSTEM
    return system
