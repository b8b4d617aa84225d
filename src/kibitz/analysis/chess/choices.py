"""Which moves a network expected in a position, and how the move that was played ranks among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.moves import from_move, to_move
from kibitz.play.chess.policy import QUEEN, normalised

SHOWN = 3
"""Choices that are kept of each position."""
UNLIKELY, FAR_DOWN = 0.01, 10
"""A move surprises that had less than this probability, or ranked below this."""


@dataclass(frozen=True)
class Choice:
    """A legal move and its probability among all legal ones, 0..1."""

    san: str
    uci: str
    probability: float

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "probability": round(self.probability, 4)}


@dataclass(frozen=True)
class Expected:
    """The moves that a network expected in a position, and the rank of the one that was played.

    choices: the likeliest legal moves, best first, at most SHOWN. rank: place of the played move among all, from 1;
    probability: its own; legal: how many moves were legal. underpromotion: the played move was one that the network
    does not know of. Most networks predict where a pawn goes and not what it becomes: that is a queen, and any other
    piece has probability 0 and ranks last.
    """

    choices: tuple[Choice, ...]
    rank: int
    probability: float
    legal: int
    underpromotion: bool = False

    @property
    def surprising(self) -> bool:
        return self.rank > FAR_DOWN or self.probability < UNLIKELY

    def as_json(self) -> dict[str, Any]:
        return {
            "choices": [choice.as_json() for choice in self.choices],
            "rank": self.rank,
            "probability": round(self.probability, 4),
            "legal_moves": self.legal,
            "surprising": self.surprising,
        }


def expected(
    board: chess.Board, moves: NDArray[np.uint16], probabilities: NDArray[np.float32], played: chess.Move
) -> Expected:
    """From a position's legal moves, packed [k], and their probabilities [k], which need not sum to 1."""
    promotion = moves >> 12
    under = (promotion > 0) & (promotion < QUEEN) & (probabilities == 0)  # not predicted at all
    if not len(moves):  # a null move where there is no other
        return Expected((), 0, 0.0, 0)
    shares = normalised(probabilities, np.array([0, len(moves)]))
    order = np.lexsort((under, -shares))  # by probability; where it is equal, as the moves came, underpromotions last
    choices = []
    for i in order[~under[order]][:SHOWN]:
        move = to_move(int(moves[i]))
        choices.append(Choice(board.san(move), move.uci(), float(shares[i])))
    place = np.flatnonzero(moves[order] == from_move(played))
    underpromotion = bool(len(place)) and bool(under[order[place[0]]])
    if underpromotion or not len(place):
        return Expected(tuple(choices), len(moves), 0.0, len(moves), underpromotion)
    rank = int(place[0])
    return Expected(tuple(choices), rank + 1, float(shares[order[rank]]), len(moves))


def percent(probability: float) -> str:
    """A probability in words of a few characters: 31%, <1%, 0%."""
    return "<1%" if 0 < probability < UNLIKELY else f"{probability:.0%}"


def ordinal(rank: int) -> str:
    """1st, 2nd, 3rd, 11th."""
    ending = "th" if rank // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"
