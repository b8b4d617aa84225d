"""Interpret the outputs of a Go network: the expected owner of each point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.play.session import Answers


def black_owns(answers: Answers) -> NDArray[np.float64]:
    """The probability that Black owns each point at the end, 0..1 [n, 361]; outside the board it means nothing."""
    return answers["black_owns"].astype(np.float64)
