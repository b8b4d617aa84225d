"""Estimate how risky a position is for a player of a rating. The risk is the probability of a move that loses at least
0.1 of win probability.

A network with rating inputs predicts which moves players choose. One of two functions gives the probability that such a
move is a mistake. The first function takes the loss of the move in the tree of the main search (judging.Judge) as
input. It is used if this search has visited the move at least 8 times, or if the result of the move is proven. The
second function takes a first estimate of the loss (judging.FirstLook) as input. It is used for all other moves. A move
that the main search has hardly visited is a mistake more often than its first estimate predicts. `bench/bench_risk.py`
fits both functions to analyzed games.

The browser page of `kibitz board`, `kibitz analyze` and the Python interface use the same tree and the same functions,
so they show the same risk.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kibitz.analysis.chess.judging import FirstLook
    from kibitz.play.puct.player import RootMoves

LOSS = 0.1
"""The smallest loss of win probability, 0 to 1, that counts as a mistake."""
NOTHING_SEARCHED: Mapping[int, float] = MappingProxyType({})
VISITS = 8
"""The smallest number of visits with which the loss of a move in the search tree is used. A move with fewer visits gets
the first estimate of its loss.
"""
RISK_RATINGS = (1000, 1400, 1800, 2200)
"""The ratings, in points, for which the risk of a position is shown."""
_LEAST, _MOST, _CENTER, _WIDTH = 0.0061, 0.385, 0.0649, 0.0082
"""Parameters of the function that converts the first estimate of a move's loss to the probability of a mistake. The
probability rises from _LEAST to _MOST. At the estimate _CENTER, it is halfway between them.
"""
_BY_RATING, MIDDLE = 0.86, 1600
"""The logit of a mistake falls by _BY_RATING for each 1000 rating points above MIDDLE, because stronger players choose
better among moves with the same estimate.
"""
_SEARCHED = (0.0045, 0.88, 0.093, 0.019)
"""The same limits, center and width as a function of a move's loss in the tree of a search."""
_UNVISITED = 0.8
"""The logit of a mistake rises by this amount if a search has hardly visited the move."""


def mistake_probability(losses: NDArray[np.float64], rating: float) -> NDArray[np.float64]:
    """Return the probability that each move is a mistake, float64 [n], 0 to 1. A move is a mistake if a search with
    `judging.Judge` finds a loss of win probability of at least 0.1.

    losses: float64 [n], the first estimate of each move's loss (see `judging.FirstLook`), 0 to 1. rating: the player's
    rating.
    """
    return _probability(losses, (_LEAST, _MOST, _CENTER, _WIDTH), rating, 0.0)


def _probability(
    losses: NDArray[np.float64], parameters: tuple[float, float, float, float], rating: float, more: float
) -> NDArray[np.float64]:
    """Return the probability of a mistake, float64 [n]. more: the amount that is added to the logits."""
    least, most, center, width = parameters
    raw = least + (most - least) / (1 + np.exp(-((losses - center) / width).clip(-30, 30)))
    logit = np.log(raw / (1 - raw)) - _BY_RATING * (rating - MIDDLE) / 1000 + more
    return np.asarray(1 / (1 + np.exp(-logit)))


def searched_losses(root: RootMoves) -> dict[int, float]:
    """Return a dict from moves to their losses of win probability, 0 to 1, in a PUCT search (a Monte Carlo tree
    search). The moves are packed, see `kibitz.games.chess.moves.from_move`. The dict contains the moves with at least 8
    visits, and the moves with a proven (certain) result.

    root: the moves of the searched position with their visits and values. The loss of a move is the difference from the
    best of the returned moves.
    """
    known = np.flatnonzero((root.visits >= VISITS) | root.proven)
    if not len(known):
        return {}
    values = root.values[known]
    return dict(zip(root.moves[known].tolist(), ((values.max() - values) / 2).tolist(), strict=True))


def risk(
    look: FirstLook, moves: NDArray[np.uint16], shares: NDArray[np.float32], rating: float,
    searched: Mapping[int, float] = NOTHING_SEARCHED,
) -> float | None:  # fmt: skip
    """Return the probability, 0 to 1, that a player makes a mistake in a position. The result is 0 if there is only one
    legal move. It is None if no given move is legal, or if all legal moves have the probability 0.

    look: the first estimate of the loss of each legal move.
    moves: uint16 [k], packed (see `kibitz.games.chess.moves.from_move`).
    shares: float32 [k], the probability that this player chooses each move; they need not sum to 1.
    rating: the player's rating.
    searched: the losses of moves that a search of the position has evaluated, see `searched_losses`; empty without a
        search.
    """
    if len(look.moves) == 1:
        return 0.0
    losses = look.losses_of(moves)
    known = np.isfinite(losses)
    total = float(shares[known].sum())
    if total <= 0:
        return None
    mistakes = _probability(losses, (_LEAST, _MOST, _CENTER, _WIDTH), rating, _UNVISITED if searched else 0.0)
    found = _probability(np.array(list(searched.values()), np.float64), _SEARCHED, rating, 0.0)
    for move, probability in zip(searched, found, strict=True):
        mistakes[moves == move] = probability
    return float(shares[known] @ mistakes[known]) / total
