"""Side inputs of a network: inputs in addition to the position, such as ratings. They are columns of the state after
those of the position.
"""

from __future__ import annotations

from collections.abc import Mapping

import chess
import numpy as np
from numpy.typing import NDArray

LAST_MOVES = (("last_from", "last_to"), ("before_from", "before_to"))
"""The names of the columns with the from-square and the to-square of the last move, and of the move before it. A value
is the square (0 to 63) + 1; 0 if there is no such move.
"""


def last_moves(board: chess.Board) -> dict[str, int]:
    """Return the side inputs for the last two moves on a board's move stack: a dict from the names in LAST_MOVES to
    numbers. A number is a square + 1, or 0 for a missing or null move.
    """
    columns: dict[str, int] = {}
    for back, (start, end) in enumerate(LAST_MOVES, 1):
        move = board.move_stack[-back] if len(board.move_stack) >= back else None
        columns[start], columns[end] = (move.from_square + 1, move.to_square + 1) if move else (0, 0)
    return columns


def with_side_inputs(
    state: NDArray[np.uint8], side_inputs: Mapping[str, int], board: chess.Board, known: Mapping[str, int]
) -> NDArray[np.uint8]:
    """Return a state row with one more column per side input, uint8 [1, 4 + len(side_inputs)].

    state: uint8 [1, 4], see `kibitz.PositionArrays`. side_inputs: a dict from each side input (a network input besides
    the board, such as a rating) to its default value. known: a dict from side inputs to values, 0 to 255, which replace
    the defaults. The columns of LAST_MOVES are always computed from the board.
    """
    if not side_inputs:
        return state
    values = {**known, **last_moves(board)}
    row = [values.get(name, default) for name, default in side_inputs.items()]
    return np.concatenate([state, np.array([row], np.uint8)], 1)
