"""Convert a network's outputs to the probability of each legal move."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

KNIGHT = 2
"""The first of the promotion pieces in a packed move."""
QUEEN = 5
"""The promotion piece that a predicted pair of squares means."""


def pair_probabilities(
    answers: Mapping[str, NDArray[np.float32]],
    codes: NDArray[np.uint8],
    moves: NDArray[np.uint16],
    offsets: NDArray[np.int64],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return two probabilities for every move, both float32 [total]. The origin is the from-square, and the target is
    the to-square.

    The first is `P(origin)`. The second is `P(target | origin)` if the output `target` is [n, 64, 64], and `P(target |
    type of the piece)` if it is [n, 6, 64].

    answers: the network outputs `origin`, [n, 64], and `target`, by from-square or by type of piece. codes: uint8 [n,
    64]. moves, offsets: packed moves, position after position, as games.chess.legal.legal_moves returns them. NaN
    counts as 0.
    """
    origin, target = answers["origin"], answers["target"]
    rows = np.repeat(np.arange(len(codes)), np.diff(offsets))
    start, end = (moves & 63).astype(np.intp), (moves >> 6 & 63).astype(np.intp)
    row_of_target = start if target.shape[1] == 64 else (codes[rows, start].astype(np.intp) - 1) % 6
    return np.nan_to_num(origin[rows, start]), np.nan_to_num(target[rows, row_of_target, end])


def move_probabilities(
    answers: Mapping[str, NDArray[np.float32]],
    codes: NDArray[np.uint8],
    moves: NDArray[np.uint16],
    offsets: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Return the probability of every move, float32 [total]: the product of the two probabilities from
    `pair_probabilities`, which has the same arguments.

    In a position, the results sum to less than 1, because illegal moves get part of the probability. `answers` may also
    contain `promotion`, [n, 8, 4], the probabilities of knight, bishop, rook and queen on each file. If so, the
    probability of the two squares is divided among the four promotions; if not, the promotion to a queen gets all of
    it.
    """
    origin, target = pair_probabilities(answers, codes, moves, offsets)
    promotion = moves >> 12
    if "promotion" in answers:
        rows = np.repeat(np.arange(len(codes)), np.diff(offsets))
        piece = np.maximum(promotion.astype(np.intp) - KNIGHT, 0)
        share = np.nan_to_num(answers["promotion"][rows, (moves >> 6 & 7).astype(np.intp), piece])
        return np.where(promotion == 0, origin * target, origin * target * share).astype(np.float32)
    return np.where((promotion == 0) | (promotion == QUEEN), origin * target, np.float32(0))


def normalised(probabilities: NDArray[np.float32], offsets: NDArray[np.int64]) -> NDArray[np.float32]:
    """Normalize probabilities, so that they sum to 1 in each position. If all are 0 in a position, they become equal.

    Every position must have moves. offsets: int64 [n + 1], the index at which each position's moves begin.
    """
    sizes = np.diff(offsets)
    if len(sizes) == 0:
        return probabilities
    sums = np.add.reduceat(probabilities.astype(np.float64), offsets[:-1])
    empty = sums < 1e-30  # dividing by smaller sums would lose precision
    shares = probabilities / np.repeat(np.where(empty, 1.0, sums), sizes)
    return np.where(np.repeat(empty, sizes), np.repeat(1 / sizes, sizes), shares).astype(np.float32)
