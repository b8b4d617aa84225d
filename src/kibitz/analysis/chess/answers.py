"""Interpret the outputs of a chess network: winning probabilities and moves (see systems.declaration.OUTPUTS).

codes uint8 [n, 64], state uint8 [n, 4 or more]: the positions, as games/chess/replay.py makes them. Each function
returns None where the outputs say nothing of the kind, which is the same for all positions of a run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.replay import SIDE
from kibitz.play.chess.policy import move_probabilities
from kibitz.play.session import Answers


def white_wins(answers: Answers, state: NDArray[np.uint8]) -> NDArray[np.float64] | None:
    """White's probability of winning, 0..1 [n], or of what the system's declaration says instead. A value of −1..1 is
    the mover's, where a draw is half a win."""
    for name in ("white_wins", "white_better"):
        if name in answers:
            return answers[name].astype(np.float64)
    if "value" not in answers:
        return None
    value = answers["value"].astype(np.float64)
    return (1 + np.where(state[:, SIDE] == 0, value, -value)) / 2


def expected_moves(
    answers: Answers, codes: NDArray[np.uint8], state: NDArray[np.uint8]
) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.float32]] | None:
    """All legal moves, where each position's begin (see legal_moves), and P(origin) · P(target | origin) of each, which
    need not sum to 1."""
    if "origin" not in answers:
        return None
    moves, offsets = legal_moves(codes, state)
    return moves, offsets, move_probabilities(answers, codes, moves, offsets)
