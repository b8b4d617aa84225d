"""What `winner` says of a position: who wins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis import Claim
from kibitz.play.session import Answers

claim = Claim()


def white_wins(answers: Answers, state: NDArray[np.uint8]) -> NDArray[np.float64]:
    """White's probability of winning, 0..1 [n]: the network's only output, learned from decisive games."""
    return answers["white_wins"].astype(np.float64)


def expected_moves(answers: Answers, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> None:
    """Nothing: it was never asked for a move."""
