"""The moves that a network expected in a position, and the rank of the played move among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.moves import from_move, to_move
from kibitz.play.chess.policy import QUEEN, normalised

SHOWN = 3
"""Number of choices that are kept for each position."""
UNLIKELY, FAR_DOWN = 0.01, 10
"""A move is surprising if it had less than this probability, or ranked lower than this."""


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
    """The moves that a network expected in a position, and the rank of the played move.

    choices: the most likely legal moves, best first, at most SHOWN.
    rank: of the played move among all legal moves, from 1.
    probability: of the played move.
    legal: number of legal moves.
    underpromotion: the network can't predict the played promotion. Most networks only predict squares: a queen is
        implied, and any other piece has probability 0 and ranks last.
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
    """Build it from a position's legal moves, packed, uint16 [k], and their probabilities, [k], which need not sum to
    1."""
    promotion = moves >> 12
    under = (promotion > 0) & (promotion < QUEEN) & (probabilities == 0)  # not predicted at all
    if not len(moves):  # a null move without any legal move
        return Expected((), 0, 0.0, 0)
    shares = normalised(probabilities, np.array([0, len(moves)]))
    order = np.lexsort((under, -shares))  # by probability; ties keep their order, underpromotions last
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
    """Return a probability in a few characters: 31%, <1%, 0%."""
    return "<1%" if 0 < probability < UNLIKELY else f"{probability:.0%}"


def ordinal(rank: int) -> str:
    """1st, 2nd, 3rd, 11th."""
    ending = "th" if rank // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"
