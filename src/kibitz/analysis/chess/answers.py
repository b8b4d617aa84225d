"""Interpret the outputs of a chess network: win probabilities and moves. `kibitz.systems.declaration.OUTPUTS` describes
the outputs.

The positions are the arrays codes, uint8 [n, 64], and state, uint8 [n, 4 or more] (see `kibitz.PositionArrays`). Each
function returns None if the network does not have the output that the function needs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.replay import SIDE
from kibitz.play.chess.policy import move_probabilities
from kibitz.play.session import Answers


def white_wins(answers: Answers, state: NDArray[np.uint8]) -> NDArray[np.float64] | None:
    """Return White's win probability in n positions, float64 [n], 0 to 1. Return None if the network does not predict
    it.

    The network's system (kind of network) may declare another value as its `meaning`, such as White's expected score.
    The result is then this value, 0 to 1.

    If the network has the output `value`, the function converts it to White's expected score. This output is the
    expected result for the side to move: −1 is a loss, 0 is a draw, and 1 is a win. A draw becomes 0.5.

    answers: the network's outputs for the positions, as a dict from names to arrays.
    state: uint8 [n, 4 or more], see `kibitz.PositionArrays`.
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
    """Return all legal moves of n positions, with the probability of each move. Return None if the network doesn't
    predict moves.

    The probability of a move is `P(origin) · P(target | origin)`. The origin is the square that the piece leaves, and
    the target is the square that it goes to. Illegal moves also get a part of the probability. So the probabilities of
    the legal moves of a position sum to 1 or less.

    The result is three arrays (moves, offsets, probabilities). `moves`, uint16 [m], has the legal moves of all
    positions, packed (see `kibitz.games.chess.moves.from_move`). `offsets` is int64 [n + 1]. The moves of position i
    are `moves[offsets[i] : offsets[i + 1]]`. `probabilities`, float32 [m], has the probability of each move, 0 to 1.

    answers: the network's outputs for the positions, as a dict from names to arrays.
    codes, state: the positions, uint8 [n, 64] and uint8 [n, 4 or more], see `kibitz.PositionArrays`.
    """
    if "origin" not in answers:
        return None
    moves, offsets = legal_moves(codes, state)
    return moves, offsets, move_probabilities(answers, codes, moves, offsets)
