"""Correct the outputs of a Go network with a person's opening book.

The book recognizes a position in every rotation and reflection of the board. It stores only one of the eight symmetric
positions, the position with the lowest hash. The moves are transformed in the same way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import GRID, PASS, POINTS, SIZES, symmetries
from kibitz.games.go.replay import SIDE, SIZE, colours_of
from kibitz.kernels import kernel
from kibitz.personal.book import Book, blend, book_of
from kibitz.play.session import Answers
from kibitz.runs import Run

_random = np.random.default_rng(0x6060)
_STONES = _random.integers(1, 2**63, (POINTS, 4), np.int64).astype(np.uint64)
_STONES[:, 0] = 0
_WHITE = np.uint64(_random.integers(1, 2**63))


def _symmetries() -> NDArray[np.int64]:
    """Return the point to which each symmetry moves each point (and a pass), int64 [20, 8, 362], by board size."""
    symmetries_of_points = np.zeros((GRID + 1, 8, POINTS + 1), np.int64)
    for size in SIZES:
        symmetries_of_points[size, :, :POINTS] = np.argsort(symmetries(size), 1)
    symmetries_of_points[:, :, PASS] = PASS
    return symmetries_of_points


SYMMETRIES = _symmetries()


@kernel
def _positions(colours, state, symmetries_of_points, keys, turned):  # type: ignore[no-untyped-def]
    """Write the hashes and symmetries of `position_keys` to keys, uint64 [n], and turned, int64 [n].

    colours: uint8 [n, 361]. state: uint8 [n, 4 or more]. symmetries_of_points: int64 [20, 8, 362].
    """
    for i in range(colours.shape[0]):
        for symmetry in range(8):
            to = symmetries_of_points[state[i, SIDE + 1], symmetry]
            key = np.uint64(0)
            for point in range(POINTS):
                if colours[i, point]:
                    key ^= _STONES[to[point], colours[i, point]]
            if state[i, SIDE]:
                key ^= _WHITE
            if symmetry == 0 or key < keys[i]:
                keys[i], turned[i] = key, symmetry


def position_keys(codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return two arrays for n positions: the hash of each position, uint64 [n], and a symmetry of each position, int64
    [n].

    The hash depends on the stones, the board size and the side to move. It is the lowest hash of the eight symmetric
    positions, so all of them have the same hash. The symmetry, an index from 0 to 7 into SYMMETRIES, transforms the
    position to the symmetric position with this hash.

    codes, state: the positions, uint8 [n, 361] and uint8 [n, 4 or more], see `kibitz.PositionArrays`.
    """
    keys, turned = np.empty(len(codes), np.uint64), np.empty(len(codes), np.int64)
    _positions(colours_of(codes), np.ascontiguousarray(state[:, : SIZE + 1]), SYMMETRIES, keys, turned)
    return keys, turned


def turned_moves(
    moves: NDArray[np.integer], rows: NDArray[np.int64], state: NDArray[np.uint8], turned: NDArray[np.int64]
) -> NDArray[np.uint16]:
    """Return moves in the orientation in which the opening book stores them, uint16 [total]. Each move is transformed
    by the symmetry of its position.

    moves: [total], points (row · 19 + column), or 361 for a pass.
    rows: int64 [total], the index of each move's position.
    state: uint8 [n, 4 or more], the state of each position, see `kibitz.PositionArrays`.
    turned: int64 [n], the symmetry of each position, see `position_keys`.
    """
    found = SYMMETRIES[state[rows, SIZE].astype(np.int64), turned[rows], moves.astype(np.int64)]
    return np.asarray(found, np.uint16)


def candidates(codes: NDArray[np.uint8]) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.int64]]:
    """Return all empty points and a pass in each of n positions as moves, in three arrays.

    The first array has the moves of all positions, uint16 [total]. The second has the index of each move's position,
    int64 [total]. The third has the index of each position's first move, int64 [n + 1]; its last number is `total`.
    codes: the positions, uint8 [n, 361], see `kibitz.PositionArrays`.
    """
    open_points = np.ones((len(codes), POINTS + 1), np.bool_)
    open_points[:, :POINTS] = colours_of(codes) == 0
    rows, moves = np.nonzero(open_points)
    return moves.astype(np.uint16), rows, np.concatenate(([0], np.cumsum(open_points.sum(1))))


def blended_answers(
    book: Book, k: float, codes: NDArray[np.uint8], state: NDArray[np.uint8], answers: Answers
) -> Answers:
    """Return the outputs of a network for n positions, corrected by a person's opening book. The correction changes the
    output `policy`, the move probabilities, in the positions that the book contains.

    book: the person's opening book.
    k: the weight of the network's prediction. It counts as much as k games of the person in the book, see
        `kibitz.personal.book.blend`.
    codes, state: the positions, uint8 [n, 361] and uint8 [n, 4 or more], see `kibitz.PositionArrays`.
    answers: the network's outputs for these positions, a dict from an output's name to its array.
    """
    keys, turned = position_keys(codes, state)
    stored = book.rows["position"]
    at = np.minimum(np.searchsorted(stored, keys), len(stored) - 1)
    known = np.flatnonzero(stored[at] == keys) if len(stored) else np.zeros(0, np.int64)
    if not len(known):
        return answers
    moves, rows, offsets = candidates(codes[known])
    shares = answers["policy"][known][rows, moves].astype(np.float64)
    shares /= np.maximum(np.add.reduceat(shares, offsets[:-1]), 1e-30)[rows]
    counts = book.counts(keys[known], turned_moves(moves, rows, state[known], turned[known]), offsets)
    policy = answers["policy"].copy()
    policy[known[rows], moves] = blend(shares, counts, offsets, k)
    return {**answers, "policy": policy}


def open_correction(run: Run) -> Callable[[NDArray[np.uint8], NDArray[np.uint8], Answers], Answers] | None:
    """Return a function that corrects the outputs of a person's network with the person's opening book. Return None if
    there is no book. run: the folder with the network.

    The function takes codes, uint8 [n, 361], state, uint8 [n, 4 or more], and the network's outputs (see
    `kibitz.PositionArrays` for codes and state). It returns the corrected outputs. Outputs are a dict from an output's
    name to its array.
    """
    found = book_of(run)
    if found is None:
        return None
    book, k = found
    return lambda codes, state, answers: blended_answers(book, k, codes, state, answers)
