"""Measure how much each stone affects a network's output: remove the stone, and evaluate the position again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import BLACK, NONE, PASS, WHITE
from kibitz.games.go.replay import AGE, encode_board
from kibitz.games.go.rules import Board, set_up
from kibitz.play.go.ownership import points_of
from kibitz.web.answers import rounded_list
from kibitz.web.go.answers import results_of
from kibitz.web.go.line import GoLine

if TYPE_CHECKING:
    from kibitz.play.session import Session
    from kibitz.web.networks import NetworkInfo


def occlusion(session: Session, network: NetworkInfo, line: GoLine) -> dict[str, Any]:
    """Return for each stone how much Black's win probability changes if this stone is removed. The stones are those of
    the last position of a line (a start position and moves); see `kibitz.web.positions.Line.occlusion`.
    """
    last = len(line.moves)
    codes, state = line.rows(last, last)
    board = line.board()
    stones = np.flatnonzero(np.isin(board.colours(), (BLACK, WHITE)))
    many = np.concatenate([codes, without_stones(board, codes[0], stones)])
    states = np.tile(state, (len(many), 1))
    batches = results_of(session, network, line, many, states, first=None)
    batch_results = [each for batch in batches for each in batch]
    chances = np.array([each["black"] for each in batch_results])
    values = np.zeros(codes.shape[1])
    values[stones] = chances[1:] - chances[0]
    return {"values": rounded_list(values[points_of(line.size)]), "what": network.claim_name}


def without_stones(board: Board, codes: NDArray[np.uint8], points: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return copies of a position, each without one of its stones, as codes, uint8 [n, 361]. board, codes: the
    position, as a board and as codes, uint8 [361], see `kibitz.PositionArrays`. points: the stone to remove in each
    copy, int64 [n].

    In each copy, the liberties of the remaining stones are counted again, and no move is forbidden by ko. The codes
    still say how long ago each stone was played.
    """
    colours = board.colours()
    result = np.empty((len(points), len(codes)), np.uint8)
    left = board.copy()
    left.ko = PASS
    for row, point in enumerate(points.tolist()):
        remaining = colours.copy()
        remaining[point] = NONE
        set_up(left.board, remaining)  # a part of a legal position is legal, so nothing is captured
        kinds, _ = encode_board(left)
        stone = (remaining == BLACK) | (remaining == WHITE)
        result[row] = np.where(stone, kinds % AGE + codes // AGE * AGE, kinds)
    return result
