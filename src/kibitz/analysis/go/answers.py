"""Interpret the outputs of a Go network: the probability that each point belongs to Black at the end of the game."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.play.session import Answers


def black_owns(answers: Answers) -> NDArray[np.float64]:
    """Return the probability that each point belongs to Black at the end of the game, float64 [n, 361], 0 to 1, for n
    positions. The index of a point is row · 19 + column for all board sizes. Values outside a smaller board have no
    meaning.
    """
    return answers["black_owns"].astype(np.float64)
