"""Analyses: what a trained network thinks of a game, move by move.

What every system of a game shares is here (reading, judging, printing); what a system's outputs say is in the module of
the system's own name. A system may say who wins, which moves it expects, or both.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from kibitz.errors import UsageError
from kibitz.systems import SYSTEMS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kibitz.play.session import Answers


@dataclass(frozen=True)
class Claim:
    """What White's probability is the probability of.

    name: of the probability; short: a heading of up to 12 characters; note: a sentence without which the figures would
    be taken for something else, or nothing.
    """

    name: str = "White's winning probability"
    short: str = "White wins"
    note: str = ""


class Analysis(Protocol):
    """A module of this package, of a system's name: what the outputs of its networks say of positions.

    codes uint8 [n, 64], state uint8 [n, 4 or more]: the positions, as the game's room makes them. Each function returns
    None where the outputs say nothing of the kind, which is the same for all positions of a run.
    claim: what `white_wins` is the probability of.
    """

    claim: Claim

    def white_wins(self, answers: Answers, state: NDArray[np.uint8]) -> NDArray[np.float64] | None:
        """White's probability of winning, or of what the claim says instead, 0..1 [n]."""

    def expected_moves(
        self, answers: Answers, codes: NDArray[np.uint8], state: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.float32]] | None:
        """All legal moves and where each position's begin (chess.legal.legal_moves), and the probability of each, which
        need not sum to 1."""


class OwnerAnalysis(Protocol):
    """The same of a system of Go, whose networks say who will own each point."""

    def black_owns(self, answers: Answers) -> NDArray[np.float64]:
        """The probability that Black owns each point at the end, 0..1 [n, 361]; outside the board it means nothing."""


def load(name: str) -> Analysis:
    """The analysis of the chess system of that name. Raises UsageError where there is none."""
    return cast(Analysis, _module(name))


def load_owners(name: str) -> OwnerAnalysis:
    """The analysis of the Go system of that name. Raises UsageError where there is none."""
    return cast(OwnerAnalysis, _module(name))


def _module(name: str) -> ModuleType:
    if name not in SYSTEMS:
        raise UsageError(f"analyze: does not know the system {name}; take a run of another")
    return importlib.import_module(f"kibitz.analysis.{SYSTEMS[name].game}.{name}")
