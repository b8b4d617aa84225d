"""Analyses: what a trained network thinks of a game, move by move.

What every system of a game shares is here (reading, judging, printing); what a system's outputs say is in the module of
the system's own name.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Protocol, cast

from kibitz.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kibitz.play.session import Answers


class Analysis(Protocol):
    """A module of this package, of a system's name."""

    def white_wins(self, answers: Answers) -> NDArray[np.float64]:
        """White's probability of winning, 0..1, from the outputs of the system's network, one a position [n]."""


def load(name: str) -> Analysis:
    """The analysis of the system of that name. Raises UsageError where there is none."""
    if not name.isidentifier() or importlib.util.find_spec(f"kibitz.analysis.{name}") is None:
        raise UsageError(f"analyze: does not know the system {name}; take a run of another")
    return cast(Analysis, importlib.import_module(f"kibitz.analysis.{name}"))
