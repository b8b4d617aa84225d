"""The moves that a network considers likely in a position, and the rank of the played move among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.moves import from_move, to_move
from kibitz.play.chess.policy import QUEEN, normalised

SHOWN = 3
"""The number of most likely moves that are stored for each position."""
UNLIKELY, FAR_DOWN = 0.01, 10
"""A played move is surprising if its probability is below UNLIKELY, or if its rank is worse than FAR_DOWN. Rank 1 is
the most likely move.
"""


@dataclass(frozen=True)
class Choice:
    """A legal move and its predicted probability, 0 to 1. The probabilities of all legal moves of a position sum to 1.

    san, uci: the move in SAN, such as "Nf3", and in UCI notation, such as "g1f3".
    """

    san: str
    uci: str
    probability: float

    def as_json(self) -> dict[str, Any]:
        """Return the move and its probability as a dict for JSON."""
        return {**vars(self), "probability": round(self.probability, 4)}


@dataclass(frozen=True)
class Expected:
    """The moves that a network considers likely in a position, and the rank of the played move.

    choices: the most likely legal moves, at most three, the most likely first.
    rank: the rank of the played move by probability among all legal moves; 1 is the most likely move. The rank is 0 if
        the position has no legal move. The played move is then a null move, which passes the turn.
    probability: the probability of the played move, 0 to 1.
    legal: the number of legal moves.
    underpromotion: whether the played move is a promotion that the network can't predict. Most networks predict only
        the squares of a move, so a promotion counts as a promotion to a queen. A promotion to another piece then has
        probability 0 and the last rank.
    """

    choices: tuple[Choice, ...]
    rank: int
    probability: float
    legal: int
    underpromotion: bool = False

    @property
    def surprising(self) -> bool:
        """Whether the played move is surprising: its probability is below 0.01, or its rank number is above 10."""
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
    """Return the most likely moves of a position, and the rank of the played move, as an `Expected`.

    board: the position.
    moves: the legal moves, uint16 [k], packed (see `kibitz.games.chess.moves.from_move`).
    probabilities: the predicted weight of each move, float32 [k]. The function divides the weights by their sum.
    played: the move that was played.
    """
    promotion = moves >> 12
    # underpromotions that the network can't predict
    under = (promotion > 0) & (promotion < QUEEN) & (probabilities == 0)
    if not len(moves):  # there is no legal move, and the played move is a null move
        return Expected((), 0, 0.0, 0)
    shares = normalised(probabilities, np.array([0, len(moves)]))
    order = np.lexsort((under, -shares))  # by probability; equal ones keep their order, with underpromotions last
    choices = []
    for i in order[~under[order]][:SHOWN]:
        move = to_move(int(moves[i]))
        choices.append(Choice(board.san(move), move.uci(), float(shares[i])))
    rank_index = np.flatnonzero(moves[order] == from_move(played))
    underpromotion = bool(len(rank_index)) and bool(under[order[rank_index[0]]])
    if underpromotion or not len(rank_index):
        return Expected(tuple(choices), len(moves), 0.0, len(moves), underpromotion)
    rank = int(rank_index[0])
    return Expected(tuple(choices), rank + 1, float(shares[order[rank]]), len(moves))


def percent(probability: float) -> str:
    """Return a probability, 0 to 1, as a short text, such as "31%", "<1%" or "0%"."""
    return "<1%" if 0 < probability < UNLIKELY else f"{probability:.0%}"


def ordinal(rank: int) -> str:
    """Return a rank as text, such as "1st", "2nd", "3rd" or "11th"."""
    ending = "th" if rank // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"
