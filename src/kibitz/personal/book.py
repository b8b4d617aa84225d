"""The opening book of a person: how often the person played which move in which position, blended with a network.

The blended probability of a move in a position where the person has moved n times is (count + k · network) / (n + k):
the network counts as much as k games. A book is one array, a row for each position and move, sorted by position, so
that it can be mapped from disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from kibitz.durable import write_array
from kibitz.errors import KibitzError
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.replay import EN_PASSANT
from kibitz.play.session import Answers
from kibitz.received import read_array
from kibitz.runs import Run

BOOK = "book.npy"
ROW = np.dtype([("position", "<u8"), ("move", "<u2"), ("count", "<u4")])
PAIR = 0xFFF
"""The squares of a packed move: what a piece becomes is left to the network."""


@numba.njit(nogil=True, cache=True)
def _positions(codes, state, keys):  # type: ignore[no-untyped-def]
    for i in range(codes.shape[0]):
        value = np.uint64(0x9E3779B97F4A7C15)
        for square in range(64 + EN_PASSANT + 1):
            byte = codes[i, square] if square < 64 else state[i, square - 64]
            value = (value ^ np.uint64(byte)) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(29)
        keys[i] = value


def position_keys(codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """uint64 [n]: a hash of pieces, side to move, castling and en passant; not of counters, nor of the moves before."""
    keys = np.empty(len(codes), np.uint64)
    _positions(codes, state, keys)
    return keys


@dataclass(frozen=True)
class Book:
    """rows [m] of dtype ROW, sorted by position and move: how often each move was played."""

    rows: NDArray[Any]

    @classmethod
    def count(cls, keys: NDArray[np.uint64], moves: NDArray[np.uint16]) -> Book:
        """The book of the positions (by `position_keys`) in which somebody moved, and the packed moves."""
        played = np.zeros(len(keys), ROW)
        played["position"], played["move"], played["count"] = keys, moves & PAIR, 1
        order = np.lexsort((played["move"], played["position"]))
        played = played[order]
        new = np.ones(len(played), np.bool_)
        new[1:] = (played["position"][1:] != played["position"][:-1]) | (played["move"][1:] != played["move"][:-1])
        rows = played[new].copy()
        rows["count"] = np.diff(np.append(np.flatnonzero(new), len(played)))
        return cls(rows)

    @classmethod
    def open(cls, path: Path) -> Book:
        """A book that `save` wrote, mapped from disk. Raises KibitzError where it is damaged."""
        try:
            rows = read_array(path, ROW)
        except (OSError, ValueError):
            raise KibitzError(f"{path}: the opening book is missing or damaged; run kibitz personal again") from None
        return cls(rows)

    def save(self, path: Path) -> None:
        """Write it whole or not at all."""
        write_array(path, self.rows)

    @property
    def positions(self) -> int:
        """Different positions."""
        return len(np.unique(self.rows["position"]))

    def counts(
        self, keys: NDArray[np.uint64], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """How often each of the moves [total] was played in its position; moves and offsets as `legal_moves` gives
        them, keys [n] of the positions. Of several promotions of a pawn all have the count of the pair of squares."""
        stored = self.rows["position"]
        first, last = np.searchsorted(stored, keys, "left"), np.searchsorted(stored, keys, "right")
        found = np.zeros(len(moves))
        for i in np.flatnonzero(last > first):
            part = slice(offsets[i], offsets[i + 1])
            rows = self.rows[first[i] : last[i]]
            at = np.minimum(np.searchsorted(rows["move"], moves[part] & PAIR), len(rows) - 1)
            found[part] = np.where(rows["move"][at] == moves[part] & PAIR, rows["count"][at], 0)
        return found


def blend(
    shares: NDArray[np.float64], counts: NDArray[np.float64], offsets: NDArray[np.int64], k: float
) -> NDArray[np.float64]:
    """(count + k · share) / (n + k) for all moves [total]; n: the counts of a position together. shares sum to 1 in
    each position, none of which is without moves."""
    if not len(shares):
        return shares
    n = np.add.reduceat(counts, offsets[:-1])
    return (counts + k * shares) / np.repeat(n + k, np.diff(offsets))


def blended_answers(
    book: Book, k: float, codes: NDArray[np.uint8], state: NDArray[np.uint8], answers: Answers
) -> Answers:
    """Answers of a network whose `origin` and `target` [n, 64, 64] hold the book too; in positions that it does not
    know they are as they were."""
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
    once = _first_of_pairs(moves, rows)  # a promotion is one pair of squares, though four moves
    pairs = np.where(once, pair_products(some, moves, rows), 0)
    sums = np.maximum(np.add.reduceat(pairs, offsets[:-1]), 1e-30)
    counts = np.where(once, book.counts(keys[known], moves, offsets), 0)
    joint = np.zeros((len(known), 64, 64))
    joint[rows[once], moves[once] & 63, moves[once] >> 6 & 63] = blend(pairs / sums[rows], counts, offsets, k)[once]
    origin, target = answers["origin"].copy(), answers["target"].copy()
    origin[known] = of_origin = joint.sum(2)
    told = of_origin[:, :, None] > 0
    target[known] = np.where(told, joint / np.where(told, of_origin[:, :, None], 1), target[known])
    return {**answers, "origin": origin, "target": target}


def pair_products(
    answers: Mapping[str, NDArray[np.float32]], moves: NDArray[np.uint16], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """P(origin) · P(target | origin) of moves [total]; rows: the position of each."""
    start, end = (moves & 63).astype(np.intp), (moves >> 6 & 63).astype(np.intp)
    product = answers["origin"][rows, start].astype(np.float64) * answers["target"][rows, start, end]
    return np.asarray(np.nan_to_num(product), np.float64)


def _first_of_pairs(moves: NDArray[np.uint16], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each move [total] is the first of its pair of squares in its position."""
    _, first = np.unique(rows << 12 | (moves & PAIR), return_index=True)
    once = np.zeros(len(moves), np.bool_)
    once[first] = True
    return once


def open_correction(run: Run) -> Callable[[NDArray[np.uint8], NDArray[np.uint8], Answers], Answers] | None:
    """What corrects the answers of a run's network (see kibitz.play.session): its book. None where it has none."""
    k = run.info.get("book", {}).get("k")
    if k is None:
        return None
    book = Book.open(run.path / BOOK)
    return lambda codes, state, answers: blended_answers(book, k, codes, state, answers)
