"""Find human traps: bad moves that weaker players choose much more often than strong players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LOSS, SHARE = 0.2, 0.1
"""Conditions for a trap. It loses at least LOSS of win probability, 0 to 1. At one of the ratings up to WEAK, at least
the share SHARE of the players, 0 to 1, choose it.
"""
WEAK, STRONG = 1400, 2200
"""Ratings in points. At the rating STRONG, at most half as many players choose a trap as at the rating, up to WEAK, at
which the largest share of players choose it.
"""


@dataclass(frozen=True)
class Trap:
    """A bad move that weaker players choose much more often than strong players.

    move: the move in UCI notation.
    loss: the mover's loss of win probability, which a search found, 0 to 1.
    weak_rating: the rating, at most 1400, at which the largest share of players choose the move.
    weak: the share of the players rated `weak_rating` who choose the move, 0 to 1.
    strong: the share of the players rated 2200 who choose the move, 0 to 1.
    """

    move: str
    loss: float
    weak_rating: int
    weak: float
    strong: float

    def as_json(self) -> dict[str, Any]:
        return {
            "move": self.move, "loss": round(self.loss, 4), "weak_rating": self.weak_rating,
            "weak": round(self.weak, 4), "strong_rating": STRONG, "strong": round(self.strong, 4),
        }  # fmt: skip


def find_traps(
    ratings: Sequence[int], shares: Mapping[str, Sequence[float]], losses: Mapping[str, float]
) -> list[Trap]:
    """Return the traps among the moves of a position. The trap that the largest share of weak players choose is first.

    ratings: k ratings in ascending order, which include 2200.
    shares: for each move in UCI notation, the share of the players of each rating who choose it, 0 to 1, [k].
    losses: for each move in UCI notation, the loss of win probability that a search found, 0 to 1. A move that is not
        in `losses` is not a trap.
    """
    strong, found = list(ratings).index(STRONG), []
    for move, its in shares.items():
        weak, rating = max((share, -rating) for share, rating in zip(its, ratings, strict=True) if rating <= WEAK)
        loss = losses.get(move, 0.0)
        if loss >= LOSS and weak >= SHARE and its[strong] <= weak / 2:
            found.append(Trap(move, loss, -rating, weak, its[strong]))
    return sorted(found, key=lambda trap: -trap.weak)
