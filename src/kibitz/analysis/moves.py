"""A chess game judged by a network, move by move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import chess
import chess.pgn
import numpy as np
from numpy.typing import NDArray

from kibitz.analysis import Analysis
from kibitz.analysis.games import Record
from kibitz.chess.replay import SQUARES, encode_board
from kibitz.play.session import Session

GAINED, MATE, STALEMATE = "↑", "#", "½"
"""Marks beside ?!, ? and ??: the mover gained as much as would be a swing; the move ended the game."""


@dataclass(frozen=True)
class Move:
    """One move and what was thought of it.

    before, after: White's probability of winning, 0..1, in the positions before and after it. change: how much the
    mover's own probability rose (negative: fell); None for a move that ended the game, where the rules have the word
    and not the network.
    """

    ply: int  # from 1, in this game
    move_number: int
    side: str  # white or black
    san: str
    uci: str
    before: float
    after: float
    change: float | None
    mark: str  # see `mark`, or #, ½, or nothing

    def as_json(self) -> dict[str, Any]:
        rounded = {"before": round(self.before, 4), "after": round(self.after, 4)}
        return {**vars(self), **rounded, "change": None if self.change is None else round(self.change, 4)}


@dataclass(frozen=True)
class Judged:
    """A game and its moves. white: White's probability of winning, one a position [moves + 1]."""

    record: Record
    moves: list[Move]
    white: NDArray[np.float64]

    @property
    def swings(self) -> list[Move]:
        """The moves with a mark, those that changed the mover's chances most first."""
        marked = [move for move in self.moves if move.mark and move.change is not None]
        return sorted(marked, key=lambda move: -abs(move.change or 0))

    def average_loss(self, side: str) -> tuple[float | None, int]:
        """What a move of that side cost it on average, 0..1 (a gain costs nothing), and over how many moves."""
        losses = [max(0.0, -move.change) for move in self.moves if move.side == side and move.change is not None]
        return (sum(losses) / len(losses) if losses else None), len(losses)

    def as_json(self) -> dict[str, Any]:
        losses = {side: self.average_loss(side) for side in ("white", "black")}
        headers = dict(self.record.game.headers)
        return {
            "number": self.record.number,
            "headers": headers,
            "result": headers.get("Result", "*"),
            "problem": self.record.problem,
            "moves": [move.as_json() for move in self.moves],
            "swings": [move.as_json() for move in self.swings],
            "average_loss": {
                side: {"value": None if loss is None else round(loss, 4), "low": None, "high": None, "n": n}
                for side, (loss, n) in losses.items()
            },
        }


def mark(change: float, swing: float) -> str:
    """The mark of a move by what it changed for its mover, both 0..1.

    ?! from one swing lost, ? from two, ?? from three; ↑ from one swing gained. With the usual swing of 0.1 these are
    10, 20 and 30 points of winning probability.
    """
    steps = int(-change / swing + 1e-6)  # a loss of exactly 0.1 counts
    if steps >= 1:
        return ("?!", "?", "??")[min(steps, 3) - 1]
    return GAINED if change / swing + 1e-6 >= 1 else ""


def judge(record: Record, session: Session, analysis: Analysis, swing: float) -> Judged:
    """Ask the network about every position of the main line. swing: the least change that is marked, over 0 to 1."""
    board = record.game.board()
    played: list[tuple[int, chess.Color, str, chess.Move]] = []
    rows = [encode_board(board)]
    for node in record.game.mainline():
        played.append((board.fullmove_number, board.turn, board.san(node.move), node.move))
        board.push(node.move)
        rows.append(encode_board(board))
    positions = np.stack(rows)
    white = analysis.white_wins(session.evaluate(positions[:, :SQUARES], positions[:, SQUARES:]))
    end = MATE if board.is_checkmate() else STALEMATE if board.is_stalemate() else ""
    moves = []
    for i, (number, side, san, move) in enumerate(played):
        before, after = float(white[i]), float(white[i + 1])
        change: float | None = after - before if side == chess.WHITE else before - after
        sign = mark(change, swing) if change is not None else ""
        if end and i == len(played) - 1:
            change, sign = None, end
        colour = "white" if side == chess.WHITE else "black"
        moves.append(Move(i + 1, number, colour, san, move.uci(), before, after, change, sign))
    return Judged(record, moves, white)
