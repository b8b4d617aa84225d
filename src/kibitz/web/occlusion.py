"""What matters in a position: how an answer changes when one piece after the other is taken away, all in one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.replay import CASTLING, keep_legal_passing
from kibitz.games.go.points import BLACK, NONE, PASS, WHITE
from kibitz.games.go.replay import AGE, encode_board
from kibitz.games.go.rules import Board, set_up
from kibitz.play.go.ownership import points_of
from kibitz.web.answers import first_choice, owners_of, worth
from kibitz.web.networks import NetworkInfo, NetworkRegistry

if TYPE_CHECKING:
    from kibitz.web.chess.line import ChessLine
    from kibitz.web.go.line import GoLine
    from kibitz.web.positions import Line

_KINGS = (6, 12)
_ROOKS = {7: 1, 0: 2, 63: 4, 56: 8}
"""The bit of the right to castle that goes with a rook's square."""


def occlusion(networks: NetworkRegistry, known: NetworkInfo, line: Line) -> dict[str, Any]:
    """The change of the answer at each square or point of the last position: the answer without its piece less the
    answer with it; 0 where there is none, and at kings, which no position lacks."""
    return _go(networks, known, line) if line.game == "go" else _chess(networks, known, line)


def _chess(networks: NetworkRegistry, known: NetworkInfo, line: ChessLine) -> dict[str, Any]:
    from kibitz.analysis import load

    last = len(line.moves)
    codes, state = line.rows(last, last)
    squares = np.flatnonzero((codes[0] > 0) & ~np.isin(codes[0], _KINGS))
    codes, state = without_pieces(codes[0], state[0], squares)
    answers = networks.session(known.name).evaluate(codes, state)
    white = load(known.system).white_wins(answers, state)
    if white is not None:
        found, what = white, "White's chance"
    else:
        here = {name: values[:1] for name, values in answers.items()}
        san, move = first_choice(known, line, here, codes[:1], state[:1])
        start, end = move & 63, move >> 6 & 63
        target = answers["target"]
        row = start if target.shape[1] == 64 else (int(codes[0, start]) - 1) % 6
        found = (answers["origin"][:, start] * target[:, row, end]).astype(np.float64) if san else np.zeros(len(codes))
        found[1:][squares == start] = 0  # what is gone cannot move
        what = f"the probability of {san}" if san else "nothing: there is no legal move"
    values = np.zeros(64)
    values[squares] = found[1:] - found[0]
    return {"values": values.round(4).tolist(), "what": what}


def without_pieces(
    codes: NDArray[np.uint8], state: NDArray[np.uint8], squares: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The position, and then the position without the piece of each of the squares: codes [1 + n, 64], state
    [1 + n, 4]. A right to castle goes with its rook; en passant stays where it is still legal."""
    many, states = np.tile(codes, (len(squares) + 1, 1)), np.tile(state, (len(squares) + 1, 1))
    for row, square in enumerate(squares.tolist(), 1):
        many[row, square] = 0
        states[row, CASTLING] &= 15 ^ _ROOKS.get(square, 0)
    keep_legal_passing(many, states)
    return many, states


def _go(networks: NetworkRegistry, known: NetworkInfo, line: GoLine) -> dict[str, Any]:
    last = len(line.moves)
    codes, state = line.rows(last, last)
    board = line.board()
    stones = np.flatnonzero(np.isin(board.colours(), (BLACK, WHITE)))
    many = np.concatenate([codes, without_stones(board, codes[0], stones)])
    owners = owners_of(networks.session(known.name), known, many, np.tile(state, (len(many), 1)))
    chances = np.array([worth(owner, line)[1] for owner in owners])
    values = np.zeros(codes.shape[1])
    values[stones] = chances[1:] - chances[0]
    return {"values": values[points_of(line.size)].round(4).tolist(), "what": "Black's chance"}


def without_stones(board: Board, codes: NDArray[np.uint8], points: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The codes [n, 361] of the position without the stone of each of the points: liberties are counted anew, ages
    stay, and nothing is a ko any more."""
    colours = board.colours()
    found = np.empty((len(points), len(codes)), np.uint8)
    left = board.copy()
    left.ko = PASS
    for row, point in enumerate(points.tolist()):
        remaining = colours.copy()
        remaining[point] = NONE
        set_up(left.board, remaining)  # a part of a legal position is one, so that nothing is captured
        kinds, _ = encode_board(left)
        stone = (remaining == BLACK) | (remaining == WHITE)
        found[row] = np.where(stone, kinds % AGE + codes // AGE * AGE, kinds)
    return found
