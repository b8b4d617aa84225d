"""Evaluate the last move of a chess line (a start position and moves): how much win probability it lost, and the
opponent's best reply.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.glyphs import CHESS_SWING, mark
from kibitz.web.answers import rounded
from kibitz.web.chess.judging import judged
from kibitz.web.chess.line import NULL, ChessLine
from kibitz.web.networks import NetworkInfo, NetworkRegistry
from kibitz.web.params import BadRequest
from kibitz.web.positions import Line

if TYPE_CHECKING:
    from kibitz.analysis.chess.judging import Judge

REPLY_DEPTH = 6
"""The depth, in plies (moves of one side), of the search for a reply that wins material or mates."""
VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}


def check(networks: NetworkRegistry, network: NetworkInfo, line: Line, stop: threading.Event) -> dict[str, Any]:
    """Return the evaluation of the last move of a line (a start position and moves) by the network's search, with the
    keys of `check_with`. Raises BadRequest if there is no move or the network does not evaluate positions, and Stopped
    when `stop` is set.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import Judge

    session = networks.session(network.name)
    return check_with(Judge(session, load(network.system), stop=stop), judged(network, line))


def check_with(judge: Judge, line: ChessLine) -> dict[str, Any]:
    """Return the evaluation of the last move of a line (a start position and moves). judge: an object that evaluates
    moves, with a network or an engine.

    The result has these keys, among others:

    before, after: the win probability of the player who made the move, 0 to 1, before and after the move.
    loss: the win probability that the move lost, 0 to 1.
    reply: the moves, in SAN, with which the opponent then wins material or mates; [] if none are found.

    Raises BadRequest if there is no move, and Stopped if the search of `judge` was stopped.
    """
    if not line.moves or line.moves[-1] == NULL:
        raise BadRequest("there is no move to check")
    last = len(line.moves)
    board = replace(line, moves=line.moves[:-1]).since_null()
    move = chess.Move.from_uci(line.moves[-1])
    rows = np.concatenate(line.rows(last - 1, last), 1)
    _, (found,) = judge.judge(board, [move], rows)
    before, after = (found.before, found.after) if board.turn else (1 - found.before, 1 - found.after)
    board.push(move)
    sign = mark(-found.loss, CHESS_SWING)
    return {
        "loss": rounded(found.loss), "mark": sign, "before": rounded(before), "after": rounded(after), "points": None,
        "reply": winning_line(board, rows[1:]) if sign else [],
    }  # fmt: skip


def winning_line(board: chess.Board, row: NDArray[np.uint8]) -> list[str]:
    """Return the moves, in SAN, with which the side to move wins material or mates; [] if none are found. They end with
    the mate or the last capture.

    row: uint8 [1, 68], the same position as an array: the 64 numbers `codes` and the 4 numbers `state` of
        `kibitz.PositionArrays`.
    """
    from kibitz.games.chess.moves import to_move
    from kibitz.play.chess.quiescence import quiescence_search

    found = quiescence_search(row, REPLY_DEPTH)
    depth = max(0, int(found.reached[0]))
    after, sans, shown = board.copy(stack=False), [], 0
    own, balance = board.turn, _balance(board)
    for packed in found.lines[0, depth]:
        move = to_move(int(packed))
        if not packed or not after.is_legal(move):
            break
        loud = after.is_capture(move) or move.promotion is not None
        sans.append(after.san_and_push(move))
        if after.is_checkmate():
            return sans
        shown = len(sans) if loud else shown
    gained = (_balance(after) - balance) * (1 if own else -1)
    return sans[:shown] if gained > 0 else []


def _balance(board: chess.Board) -> int:
    """Return White's material minus Black's material, in pawns."""
    return sum(
        value * (len(board.pieces(piece, chess.WHITE)) - len(board.pieces(piece, chess.BLACK)))
        for piece, value in VALUES.items()
    )
