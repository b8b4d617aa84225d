"""A chess game judged by a network, move by move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import chess
import chess.pgn
import numpy as np
from numpy.typing import NDArray

from kibitz.analysis import Analysis, Claim
from kibitz.analysis.choices import SHOWN, Expected, expected
from kibitz.analysis.games import Record
from kibitz.analysis.marks import figure, mark
from kibitz.analysis.ratings import told
from kibitz.chess.replay import SQUARES, encode_board
from kibitz.play.session import Session

MATE, STALEMATE = "#", "½"
"""Marks of a move that ended the game, beside those of marks.py."""
SIDES = ("white", "black")
TOGETHER = 512
"""Positions asked about at once: their answers are large, and a game may have any number of moves."""


@dataclass(frozen=True)
class Worth:
    """What a move changed, in the opinion of a network that says who wins.

    before, after: White's probability of winning, 0..1, in the positions before and after it. change: how much the
    mover's own probability rose (negative: fell); None for a move that ended the game, where the rules have the word
    and not the network.
    """

    before: float
    after: float
    change: float | None

    def as_json(self) -> dict[str, Any]:
        return {name: None if value is None else round(value, 4) for name, value in vars(self).items()}


@dataclass(frozen=True)
class Move:
    """One move and what was thought of it; `worth` and `expected` are None where the network says nothing of it."""

    ply: int  # from 1, in this game
    move_number: int
    side: str  # white or black
    san: str
    uci: str
    mark: str  # see `mark`, or #, ½, or nothing
    worth: Worth | None = None
    expected: Expected | None = None

    @property
    def change(self) -> float | None:
        return self.worth.change if self.worth else None

    def as_json(self) -> dict[str, Any]:
        """One flat object; what the network says nothing of is not in it."""
        return {
            **{name: getattr(self, name) for name in ("ply", "move_number", "side", "san", "uci")},
            **(self.worth.as_json() if self.worth else {}),
            "mark": self.mark,
            **(self.expected.as_json() if self.expected else {}),
        }


@dataclass(frozen=True)
class Predictable:
    """How well the moves of one side were predicted: the shares of its `moves` that were the first choice and among the
    first three, and the mean probability of the played move, each 0..1. There is at least one move."""

    first_choice: float
    first_three: float
    probability: float
    moves: int

    def as_json(self) -> dict[str, Any]:
        shares = {name: value for name, value in vars(self).items() if name != "moves"}
        return {name: figure(value, self.moves) for name, value in shares.items()}


@dataclass(frozen=True)
class Judged:
    """A game and its moves.

    white: White's probability of winning, one a position [moves + 1]; None where the network does not say who wins.
    predicts: whether it says which moves it expects. claim: what White's probability is the probability of.
    """

    record: Record
    moves: list[Move]
    white: NDArray[np.float64] | None
    predicts: bool = False
    claim: Claim = field(default_factory=Claim)

    @property
    def swings(self) -> list[Move]:
        """The moves with a mark, those that changed the mover's chances most first."""
        marked = [move for move in self.moves if move.mark and move.change is not None]
        return sorted(marked, key=lambda move: -abs(move.change or 0))

    @property
    def surprises(self) -> list[Move]:
        """The moves that the network did not expect, the least likely first."""
        found = [(move.expected.probability, move) for move in self.moves if move.expected and move.expected.surprising]
        return [move for _, move in sorted(found, key=lambda pair: pair[0])]

    def average_loss(self, side: str) -> tuple[float | None, int]:
        """What a move of that side cost it on average, 0..1 (a gain costs nothing), and over how many moves."""
        losses = [max(0.0, -move.change) for move in self.moves if move.side == side and move.change is not None]
        return (sum(losses) / len(losses) if losses else None), len(losses)

    def predictable(self, side: str) -> Predictable | None:
        """How predictable that side was; None where it made no move, or none were predicted."""
        found = [move.expected for move in self.moves if move.side == side and move.expected]
        if not found:
            return None
        ranks = np.array([one.rank for one in found])
        mean = float(np.mean([one.probability for one in found]))
        return Predictable(float((ranks == 1).mean()), float((ranks <= SHOWN).mean()), mean, len(found))

    def as_json(self) -> dict[str, Any]:
        headers = dict(self.record.game.headers)
        found = {
            "number": self.record.number,
            "headers": headers,
            "result": headers.get("Result", "*"),
            "problem": self.record.problem,
            "moves": [move.as_json() for move in self.moves],
        }
        if self.white is not None:
            found["swings"] = [move.as_json() for move in self.swings]
            found["average_loss"] = {side: figure(*self.average_loss(side)) for side in SIDES}
        if self.predicts:
            sides = {side: self.predictable(side) for side in SIDES}
            found["predictable"] = {side: one.as_json() if one else None for side, one in sides.items()}
        return found


def judge(record: Record, session: Session, analysis: Analysis, swing: float) -> Judged:
    """Ask the network about every position of the main line. swing: the least change that is marked, over 0 to 1."""
    rows = [encode_board(record.game.board())]
    board = record.game.board()
    for node in record.game.mainline():
        board.push(node.move)
        rows.append(encode_board(board))
    positions = np.stack(rows)
    codes, state = positions[:, :SQUARES], positions[:, SQUARES:]
    white, expecting = _ask(session, analysis, codes, told(state, record.game.headers, session.beyond))
    end = MATE if board.is_checkmate() else STALEMATE if board.is_stalemate() else ""
    moves = []
    board = record.game.board()
    for i, node in enumerate(record.game.mainline()):
        closing = end if i == len(rows) - 2 else ""
        sign, worth = closing, None
        if white is not None:
            before, after = float(white[i]), float(white[i + 1])
            change = after - before if board.turn == chess.WHITE else before - after
            sign = closing or mark(change, swing)
            worth = Worth(before, after, None if closing else change)
        wanted = expected(board, *expecting[i], node.move) if expecting else None
        colour = SIDES[0] if board.turn == chess.WHITE else SIDES[1]
        san, uci = board.san(node.move), node.move.uci()
        moves.append(Move(i + 1, board.fullmove_number, colour, san, uci, sign, worth, wanted))
        board.push(node.move)
    return Judged(record, moves, white, expecting is not None, analysis.claim)


Legal = tuple[NDArray[np.uint16], NDArray[np.float32]]
"""The legal moves of a position, packed, and their probabilities."""


def _ask(
    session: Session, analysis: Analysis, codes: NDArray[np.uint8], state: NDArray[np.uint8]
) -> tuple[NDArray[np.float64] | None, Sequence[Legal] | None]:
    """White's probability of winning [n], and the legal moves of each position; None for what the network lacks."""
    white: list[NDArray[np.float64]] = []
    expecting: list[Legal] = []
    for at in range(0, len(codes), TOGETHER):
        some, its_state = codes[at : at + TOGETHER], state[at : at + TOGETHER]
        answers = session.evaluate(some, its_state)
        wins = analysis.white_wins(answers, its_state)
        if wins is not None:
            white.append(wins)
        if found := analysis.expected_moves(answers, some, its_state):
            moves, offsets, probabilities = found
            inner = offsets[1:-1]
            expecting += zip(np.split(moves, inner), np.split(probabilities, inner), strict=True)
    return np.concatenate(white) if white else None, expecting or None
