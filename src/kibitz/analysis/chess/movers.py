"""What the systems that predict moves say of a position: which move, and who wins where a run has a value network."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis import Claim
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.replay import SIDE
from kibitz.play.chess.policy import move_probabilities
from kibitz.play.session import Answers

claim = Claim()


def white_wins(answers: Answers, state: NDArray[np.uint8]) -> NDArray[np.float64] | None:
    """White's probability of winning, 0..1 [n]: the value of −1..1 is the mover's, and a draw is half a win."""
    if "value" not in answers:
        return None
    value = answers["value"].astype(np.float64)
    return (1 + np.where(state[:, SIDE] == 0, value, -value)) / 2


def expected_moves(
    answers: Answers, codes: NDArray[np.uint8], state: NDArray[np.uint8]
) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.float32]] | None:
    """P(origin) · P(target | origin) of every legal move; None of a run that has learned values alone."""
    if "origin" not in answers:
        return None
    moves, offsets = legal_moves(codes, state)
    return moves, offsets, move_probabilities(answers, codes, moves, offsets)
