"""How risky a position is for a player of a rating: the probability of a move that loses much.

A network with rating inputs predicts which moves players choose. A first estimate of each legal move
(judging.FirstLook) gives an approximate loss. The main search is more exact, but it evaluates only the played move. So
the probability that the main search finds a loss of LOSS or more is a function of the first estimate.
`bench/bench_risk.py` fits this function to analyzed games.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kibitz.analysis.chess.judging import FirstLook

LOSS = 0.1
"""A move is a mistake if it loses at least this much win probability, 0 to 1."""
RISK_RATINGS = (1000, 1400, 1800, 2200)
"""The ratings, in points, for which the risk of a position is shown."""
_LEAST, _MOST, _CENTER, _WIDTH = 0.0061, 0.385, 0.0649, 0.0082
"""The probability of a mistake is between _LEAST and _MOST. It rises with the first estimate of the loss, and is
halfway between both limits for the estimate _CENTER.
"""
_BY_RATING, MIDDLE = 0.86, 1600
"""Stronger players choose better among moves with the same estimate. The logit of a mistake falls by _BY_RATING for
each 1000 points above MIDDLE.
"""


def mistake_probability(losses: NDArray[np.float64], rating: float) -> NDArray[np.float64]:
    """Return the probability that the main search finds a loss of at least LOSS for each move, float64 [n], 0 to 1.

    losses: float64 [n], the loss of each move as `FirstLook` estimates it, 0 to 1. rating: the player's rating.
    """
    odds = (losses - _CENTER) / _WIDTH
    raw = _LEAST + (_MOST - _LEAST) / (1 + np.exp(-odds.clip(-30, 30)))
    logit = np.log(raw / (1 - raw)) - _BY_RATING * (rating - MIDDLE) / 1000
    return np.asarray(1 / (1 + np.exp(-logit)))


def risk(look: FirstLook, moves: NDArray[np.uint16], shares: NDArray[np.float32], rating: float) -> float | None:
    """Return the probability, 0 to 1, that a player makes a mistake in a position; 0 if there is only one legal move,
    and None if no given move is legal.

    look: the first estimate of the legal moves. moves: uint16 [k], packed (see `from_move`). shares: the probability
    that this player chooses each move, float32 [k]; they need not sum to 1. rating: the player's rating.
    """
    if len(look.moves) == 1:
        return 0.0
    losses = look.losses_of(moves)
    known = np.isfinite(losses)
    total = float(shares[known].sum())
    if total <= 0:
        return None
    return float(shares[known] @ mistake_probability(losses[known], rating)) / total
