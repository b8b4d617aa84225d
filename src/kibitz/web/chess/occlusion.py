"""Measure how much each piece affects a network's output: remove the piece, and evaluate the position again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.replay import CASTLING, keep_legal_passing
from kibitz.web.answers import rounded_list
from kibitz.web.chess.answers import first_choice
from kibitz.web.chess.line import ChessLine

if TYPE_CHECKING:
    from kibitz.play.session import Session
    from kibitz.web.networks import NetworkInfo

_KINGS = (6, 12)
_ROOKS = {7: 1, 0: 2, 63: 4, 56: 8}
"""The bit of the castling right that belongs to a rook's home square."""


def occlusion(session: Session, network: NetworkInfo, line: ChessLine) -> dict[str, Any]:
    """Return for each piece except kings how much an output of the network changes if this piece is removed. The pieces
    are those of the last position of a line (a start position and moves); see `kibitz.web.positions.Line.occlusion`.

    The output is White's win probability or, if the network does not predict it, the probability of the most likely
    move.
    """
    from kibitz.analysis import load

    codes, state = line.conditioned(session.side_inputs)
    squares = np.flatnonzero((codes[0] > 0) & ~np.isin(codes[0], _KINGS))
    codes, state = without_pieces(codes[0], state[0], squares)
    answers = session.evaluate(codes, state)
    white = load(network.system).white_wins(answers, state)
    if white is not None:
        probabilities, what = white, network.claim_name
    else:
        whole = {name: values[:1] for name, values in answers.items()}
        san, move = first_choice(network, line, whole, codes[:1], state[:1])
        start, end = move & 63, move >> 6 & 63
        target = answers["target"]
        row = start if target.shape[1] == 64 else (int(codes[0, start]) - 1) % 6
        probabilities = np.zeros(len(codes))
        if san:
            probabilities = (answers["origin"][:, start] * target[:, row, end]).astype(np.float64)
        probabilities[1:][squares == start] = 0  # a piece that is removed cannot move
        what = f"the probability of {san}" if san else "nothing: there is no legal move"
    values = np.zeros(64)
    values[squares] = probabilities[1:] - probabilities[0]
    return {"values": rounded_list(values), "what": what}


def without_pieces(
    codes: NDArray[np.uint8], state: NDArray[np.uint8], squares: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return 1 + n positions: first the position itself, then for each square in `squares` the position without the
    piece on this square. The result is `codes`, uint8 [1 + n, 64], and `state`, uint8 [1 + n, k].

    codes, state: the position, uint8 [64] and uint8 [k], see `kibitz.PositionArrays`. squares: int64 [n]. If the
    removed piece is a rook, its castling right is removed too. An en-passant right stays if the capture is still legal.
    """
    many, states = np.tile(codes, (len(squares) + 1, 1)), np.tile(state, (len(squares) + 1, 1))
    for row, square in enumerate(squares.tolist(), 1):
        many[row, square] = 0
        states[row, CASTLING] &= 15 ^ _ROOKS.get(square, 0)
    keep_legal_passing(many, states)
    return many, states
