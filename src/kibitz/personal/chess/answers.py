"""Correct the outputs of a chess network with a person's opening book."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.replay import EN_PASSANT
from kibitz.kernels import kernel
from kibitz.personal.book import PAIR, Book, blend, book_of
from kibitz.play.session import Answers
from kibitz.runs import Run


@kernel
def _positions(codes, state, keys):  # type: ignore[no-untyped-def]
    """Write the hashes of `position_keys` to keys, uint64 [n]. codes, state: the positions, uint8 [n, 64] and uint8 [n,
    4 or more], see `kibitz.PositionArrays`.
    """
    for i in range(codes.shape[0]):
        value = np.uint64(0x9E3779B97F4A7C15)
        for square in range(64 + EN_PASSANT + 1):
            byte = codes[i, square] if square < 64 else state[i, square - 64]
            value = (value ^ np.uint64(byte)) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(29)
        keys[i] = value


def position_keys(codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return a hash of each of n positions, uint64 [n]. The hash depends on the pieces, the side to move, the castling
    rights and en passant. It does not depend on move counters or earlier moves.

    codes, state: the positions, uint8 [n, 64] and uint8 [n, 4 or more], see `kibitz.PositionArrays`.
    """
    keys = np.empty(len(codes), np.uint64)
    _positions(codes, state, keys)
    return keys


def blended_answers(
    book: Book, k: float, codes: NDArray[np.uint8], state: NDArray[np.uint8], answers: Answers
) -> Answers:
    """Return the outputs of a network for n positions, corrected by a person's opening book. The correction changes the
    probabilities of from-squares, `origin` [n, 64], and of to-squares, `target` [n, 64, 64], in the positions that the
    book contains.

    book: the person's opening book.
    k: the weight of the network in games, see `kibitz.personal.book.blend`.
    codes, state: the positions, uint8 [n, 64] and uint8 [n, 4 or more], see `kibitz.PositionArrays`.
    answers: the network's outputs for these positions, a dict from an output's name to its array.
    """
    keys = position_keys(codes, state)
    stored = book.rows["position"]
    at = np.minimum(np.searchsorted(stored, keys), len(stored) - 1)
    known = np.flatnonzero(stored[at] == keys) if len(stored) else np.zeros(0, np.int64)
    if not len(known):
        return answers
    moves, offsets = legal_moves(codes[known], state[known])
    sizes = np.diff(offsets)
    rows = np.repeat(np.arange(len(known)), sizes)
    some = {name: answers[name][known] for name in ("origin", "target")}
    # The four promotions of a pawn to the same square share one pair of squares, which counts once.
    once = _first_of_pairs(moves, rows)
    pairs = np.where(once, pair_products(some, moves, rows), 0)
    sums = np.maximum(np.add.reduceat(pairs, offsets[:-1]), 1e-30)
    counts = np.where(once, book.counts(keys[known], moves, offsets), 0)
    joint = np.zeros((len(known), 64, 64))
    joint[rows[once], moves[once] & 63, moves[once] >> 6 & 63] = blend(pairs / sums[rows], counts, offsets, k)[once]
    origin, target = answers["origin"].copy(), answers["target"].copy()
    origin[known] = of_origin = joint.sum(2)
    known_origins = of_origin[:, :, None] > 0
    target[known] = np.where(known_origins, joint / np.where(known_origins, of_origin[:, :, None], 1), target[known])
    return {**answers, "origin": origin, "target": target}


def pair_products(
    answers: Mapping[str, NDArray[np.float32]], moves: NDArray[np.uint16], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the probability of each move, `P(origin) · P(target | origin)`, float64 [total]. The origin is the square
    that the piece leaves, and the target is the square that it goes to.

    answers: the network's outputs for n positions, a dict from an output's name to its array. It contains "origin",
        float32 [n, 64], and "target", float32 [n, 64, 64].
    moves: uint16 [total], packed moves (see `kibitz.games.chess.moves.from_move`).
    rows: int64 [total], the index of each move's position, 0 to n - 1.
    """
    start, end = (moves & 63).astype(np.intp), (moves >> 6 & 63).astype(np.intp)
    product = answers["origin"][rows, start].astype(np.float64) * answers["target"][rows, start, end]
    return np.asarray(np.nan_to_num(product), np.float64)


def _first_of_pairs(moves: NDArray[np.uint16], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each move is the first one with its pair of squares in its position, bool [total]."""
    _, first = np.unique(rows << 12 | (moves & PAIR), return_index=True)
    once = np.zeros(len(moves), np.bool_)
    once[first] = True
    return once


def open_correction(run: Run) -> Callable[[NDArray[np.uint8], NDArray[np.uint8], Answers], Answers] | None:
    """Return a function that corrects the outputs of a person's network with the person's opening book. Return None if
    there is no book. run: the folder with the network.

    The returned function has three parameters: `codes`, uint8 [n, 64], `state`, uint8 [n, 4 or more], and the outputs
    of the network for these n positions. `kibitz.PositionArrays` describes the two arrays. The function returns the
    corrected outputs. Outputs are a dict from an output's name to its array.
    """
    found = book_of(run)
    if found is None:
        return None
    book, k = found
    return lambda codes, state, answers: blended_answers(book, k, codes, state, answers)
