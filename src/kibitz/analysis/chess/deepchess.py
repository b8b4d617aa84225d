"""What `deepchess` says of a position: whether it is better for White than balanced ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis import Claim
from kibitz.play.session import Answers

claim = Claim(
    "White's probability of standing better",
    "White better",
    "The probability that a position is better for White than a balanced one: the mean over 64 of the training games, "
    "of equal material, half of them from games that White won, half with White to move.",
)
"""The reference positions are chosen in systems/deepchess.py and are part of the network."""


def white_wins(answers: Answers, state: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The mean probability, 0..1 [n], that the position is better for White than each of the reference positions."""
    return answers["white_better"].astype(np.float64)


def expected_moves(answers: Answers, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> None:
    """Nothing: it compares positions, and was never asked for a move."""
