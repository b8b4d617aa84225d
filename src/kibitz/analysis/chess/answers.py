"""Interpret the outputs of a chess network: win probabilities and moves (see systems.declaration.OUTPUTS).

The positions are codes, uint8 [n, 64], and state, uint8 [n, 4 or more], as games/chess/replay.py makes them. A function
returns None if the network does not have the output that this function reads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.replay import SIDE
from kibitz.play.chess.policy import move_probabilities
from kibitz.play.session import Answers


def white_wins(answers: Answers, state: NDArray[np.uint8]) -> NDArray[np.float64] | None:
    """Return White's win probability, or the probability of another event that the system declares, float64 [n], 0 to
    1; None if the network predicts neither.

    If the network has the output `value` (−1 to 1, from the mover's point of view), the function converts it to White's
    expected score: 0, a certain draw, becomes 0.5. state: the positions' state, see `PositionArrays`.
    """
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
    """Return all legal moves of the positions, with the probability `P(origin) · P(target | origin)` of each move,
    where the origin is the from-square and the target is the to-square. None if the network doesn't predict moves.

    The result is three arrays: the moves of all positions, uint16 [total], packed (see `from_move`); the index at which
    the moves of each position begin, int64 [n + 1], with the total at the end; and the probabilities, float32 [total].
    The probabilities of a position need not sum to 1. codes, state: the positions, see `PositionArrays`.
    """
    if "origin" not in answers:
        return None
    moves, offsets = legal_moves(codes, state)
    return moves, offsets, move_probabilities(answers, codes, moves, offsets)
