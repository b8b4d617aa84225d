"""Compute the probability of each legal chess move from a network's outputs for from-squares and to-squares."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

KNIGHT = 2
"""The number of the knight as a promotion piece in a packed move. It is the smallest such number."""
QUEEN = 5
"""The number of the queen as a promotion piece in a packed move. A network without promotion outputs always predicts
this piece.
"""


def pair_probabilities(
    answers: Mapping[str, NDArray[np.float32]],
    codes: NDArray[np.uint8],
    moves: NDArray[np.uint16],
    offsets: NDArray[np.int64],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return two arrays with probabilities for every move, both float32 [total]. The first array, the origins, has the
    probability of each move's from-square. The second array, the targets, has the probability of each move's to-square.

    The probability of the from-square is `P(origin)`. The probability of the to-square depends on the shape of the
    output `target`: for [n, 64, 64] it is `P(target | origin)`, and for [n, 6, 64] it is `P(target | type of the
    piece)`.

    answers: the network outputs `origin`, [n, 64], and `target`; NaN counts as 0.
    codes: uint8 [n, 64], the positions.
    moves, offsets: the packed moves (see `kibitz.games.chess.moves.from_move`) of all positions. The moves of position
        i are `moves[offsets[i]:offsets[i + 1]]`.
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
    """Return the probability of every move, float32 [total]: the product of the probabilities of its from-square and
    its to-square. The arguments are those of `pair_probabilities`.

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
    """Return probabilities that sum to 1 in each position, in proportion to the given ones. If all are 0 in a position,
    they become equal.

    probabilities: float32 [total], those of all moves, position after position. offsets: int64 [n + 1], the index at
    which each position's moves begin. Every position must have moves.
    """
    sizes = np.diff(offsets)
    if len(sizes) == 0:
        return probabilities
    sums = np.add.reduceat(probabilities.astype(np.float64), offsets[:-1])
    empty = sums < 1e-30  # dividing by smaller sums would lose precision
    shares = probabilities / np.repeat(np.where(empty, 1.0, sums), sizes)
    return np.where(np.repeat(empty, sizes), np.repeat(1 / sizes, sizes), shares).astype(np.float32)
