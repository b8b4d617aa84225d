"""Analysis of games with a trained network, move by move.

`chess/` and `go/` have the same plan: `games.py` reads games, `moves.py` evaluates them, `answers.py` reads a network's
outputs. A system whose outputs mean something else declares a module of its own with the functions of `Analysis`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol, cast

from kibitz.systems import find

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kibitz.play.session import Answers


class Analysis(Protocol):
    """Reads the outputs of a chess network: the module kibitz.analysis.chess.answers, or one that a system declares."""

    def white_wins(self, answers: Answers, state: NDArray[np.uint8]) -> NDArray[np.float64] | None: ...

    def expected_moves(
        self, answers: Answers, codes: NDArray[np.uint8], state: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.float32]] | None: ...


class OwnerAnalysis(Protocol):
    """Reads the outputs of a Go network: the module kibitz.analysis.go.answers, or one that a system declares."""

    def black_owns(self, answers: Answers) -> NDArray[np.float64]: ...


def load(name: str) -> Analysis:
    """How the outputs of the chess system of that name are read. Raises UsageError where there is no such system."""
    declaration = find(name)
    return cast(Analysis, importlib.import_module(declaration.analysis or "kibitz.analysis.chess.answers"))


def load_owners(name: str) -> OwnerAnalysis:
    """The same of a system of Go."""
    declaration = find(name)
    return cast(OwnerAnalysis, importlib.import_module(declaration.analysis or "kibitz.analysis.go.answers"))
