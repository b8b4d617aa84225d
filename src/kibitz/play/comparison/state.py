"""What a comparison search works with, and how it puts a position beside a bound."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.legal import MOST
from kibitz.games.chess.replay import CASTLING, SIDE, START_WIDTH
from kibitz.play.comparison.board import DRAW, PLIES, STACK
from kibitz.play.comparison.embedding import RIGHTS, WHITE_TO_MOVE, Weights, add_row, fill, halve, logit, total

# Of NumPy's type, since numba compiles a function anew for every Python integer that it is given; and a recursive one
# that was compiled for several types cannot be loaded from its cache.
LOW, EXACT, HIGH = np.int64(-1), np.int64(0), np.int64(1)
OPEN, ABOVE, FROM = np.int64(0), np.int64(1), np.int64(2)
"""Windows: between two records; better than the one record; as good or better."""
MATED = 1000
"""Mates are ±(MATED - ply), > 0 where White mates."""
WON, LOST, DRAWN = np.int64(PLIES), np.int64(PLIES + 1), np.int64(PLIES + 2)
RECORDS = PLIES + 3
"""Records after those of each ply: better and worse for White than anything, and a draw."""
NODES, COMPARED, MADE, MOST_NODES, STOP, AGE = range(6)
"""Of `counts`: positions entered, comparisons, halves made; most positions; whether to stop; the search's number."""
ENTRY = np.dtype(
    [("key", "i8"), ("record", "i8"), ("mate", "i2"), ("move", "u2"), ("depth", "i1"), ("kind", "u1"), ("age", "u1")],
    align=True,
)

inner = numba.njit(nogil=True, cache=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)  # type: ignore[call-overload]
"""For what only kernels call: Python's way in would take as long to compile as the rest."""


class ComparisonTuning(NamedTuple):
    """What the search may leave out, and how it is made; `plain()` leaves out nothing.

    null: a side that may pass and still stands at beta needs no search, from this depth on (0: never). reduce: later
    quiet moves are first searched less deep. extend: a side in check is searched a ply deeper. table: what was
    proven is remembered; deeper: and used for less deep searches, too. order: best moves first. incremental: first
    layers go on from move to move rather than being summed anew. naive: both positions of each comparison go through
    the whole network, to measure what that costs.
    """

    null: int = 3
    reduce: bool = True
    extend: bool = True
    table: bool = True
    deeper: bool = True
    order: bool = True
    incremental: bool = True
    naive: bool = False


def plain() -> ComparisonTuning:
    return ComparisonTuning(null=0, reduce=False, extend=False, deeper=False)


STATE = np.dtype(
    [
        *STACK,
        ("summed", "i8", (PLIES,)),  # whether `sums` has the row
        ("record_key", "i8", (RECORDS,)),
        ("record_mate", "i8", (RECORDS,)),
        ("record_row", "u1", (RECORDS, START_WIDTH)),
        ("scores", "i8", (PLIES, MOST)),  # of moves, for their order
        ("killers", "u2", (PLIES, 2)),
        ("history", "i8", (2, 4096)),
        ("pv", "u2", (PLIES, PLIES)),
        ("pv_length", "i8", (PLIES,)),
        ("reach", "i8", (PLIES,)),  # the earliest row that the answer at a ply depends on
        ("counts", "i8", (6,)),
        *(("tuning_" + name, "f8") for name in ComparisonTuning._fields),
    ]
)


class SearchState(NamedTuple):
    """All that a search works with. at: a record of STATE. sums [PLIES, n]: first layers of the line's positions;
    records [RECORDS, 2 · half]: halves of the records; kept [k, 2 · half] by kept_keys: halves of any positions."""

    at: Any
    weights: Weights
    sums: NDArray[np.float32]
    records: NDArray[np.float32]
    kept: NDArray[np.float32]
    kept_keys: NDArray[np.int64]
    table: NDArray[np.void]


@inner
def _sum_up(s, ply):  # type: ignore[no-untyped-def]
    """The first layer of a row: from that of an earlier row, by what the moves since then changed."""
    weights, stack = s.weights, s.at
    at = ply
    while at > 0 and not s.at.summed[at]:
        at -= 1
    if not s.at.summed[at]:
        total(weights, stack.rows[at], s.sums[at])
        s.at.summed[at] = True
    for now in range(at + 1, ply + 1):
        before, row, sums = stack.rows[now - 1], stack.rows[now], s.sums[now]
        fill(sums, s.sums[now - 1])
        for i in range(stack.changes[now]):
            square = stack.changed[now, i]
            if before[square]:
                add_row(sums, weights.first, (np.int64(before[square]) - 1) * 64 + square, np.float32(-1))
            if row[square]:
                add_row(sums, weights.first, (np.int64(row[square]) - 1) * 64 + square, np.float32(1))
        if before[64 + SIDE] != row[64 + SIDE]:
            add_row(sums, weights.first, WHITE_TO_MOVE, np.float32(-1) if row[64 + SIDE] else np.float32(1))
        gone = before[64 + CASTLING] & ~row[64 + CASTLING]
        for right in range(4):
            if gone >> right & 1:
                add_row(sums, weights.first, RIGHTS + right, np.float32(-1))
        s.at.summed[now] = True


@inner
def evaluated(s, ply):  # type: ignore[no-untyped-def]
    """Where in `kept` the halves of a row's position are; made where they are not there."""
    key = s.at.keys[ply]
    place = key & (s.kept_keys.shape[0] - 1)
    if s.kept_keys[place] != key or s.at.tuning_naive:
        s.kept_keys[place] = key
        s.at.counts[MADE] += 1
        if s.at.tuning_naive:
            return place
        if s.at.tuning_incremental:
            _sum_up(s, ply)
            halve(s.weights, s.sums[ply], s.kept[place])
        else:
            total(s.weights, s.at.rows[ply], s.sums[ply])
            halve(s.weights, s.sums[ply], s.kept[place])
    return place


@inner
def beside(s, row, key, halves, bound):  # type: ignore[no-untyped-def]
    """How much better a position is for White than a record; 0 where it is that very one."""
    if s.at.record_mate[bound]:
        return -np.float32(s.at.record_mate[bound])
    if s.at.record_key[bound] == key:
        return np.float32(0)
    s.at.counts[COMPARED] += 1
    if s.at.tuning_naive:
        total(s.weights, row, s.sums[0])
        halve(s.weights, s.sums[0], halves)
        total(s.weights, s.at.record_row[bound], s.sums[0])
        halve(s.weights, s.sums[0], s.records[bound])
    return logit(s.weights, halves, s.records[bound])


@inner
def _window(better_than_beta, better_than_alpha, mode):  # type: ignore[no-untyped-def]
    """A node's answer for one position; numbers > 0 where it is better for the mover, 0 where it is as good."""
    if better_than_beta > 0 or (better_than_beta == 0 and mode != ABOVE):
        return HIGH
    return EXACT if mode == OPEN and better_than_alpha > 0 else LOW


@inner
def judge_position(s, ply, alpha, beta, mode):  # type: ignore[no-untyped-def]
    """The row's position beside its bounds; becomes the ply's record where it lies between them."""
    side = np.float32(-1) if s.at.rows[ply, 64 + SIDE] else np.float32(1)
    place = evaluated(s, ply)
    key, row, halves = s.at.keys[ply], s.at.rows[ply], s.kept[place]
    above = side * beside(s, row, key, halves, beta)
    below = np.float32(0)
    if mode == OPEN and above < 0:
        below = side * beside(s, row, key, halves, alpha)
    answer = _window(above, below, mode)
    if answer == EXACT:
        s.at.record_key[ply], s.at.record_mate[ply] = key, 0
        fill(s.records[ply], halves)
        fill(s.at.record_row[ply], row)
    return answer


@inner
def judge_end(s, ply, end, alpha, beta, mode):  # type: ignore[no-untyped-def]
    """The same of a row that the rules have ended."""
    black = s.at.rows[ply, 64 + SIDE] != 0
    side = np.float32(-1) if black else np.float32(1)
    if end == DRAW:
        key, row, halves = s.at.record_key[DRAWN], s.at.record_row[DRAWN], s.records[DRAWN]
        above = side * beside(s, row, key, halves, beta)
        below = np.float32(0)
        if mode == OPEN and above < 0:
            below = side * beside(s, row, key, halves, alpha)
        answer = _window(above, below, mode)
        if answer == EXACT:
            _copy(s, DRAWN, ply)
        return answer
    mate = np.int64(MATED - ply if black else ply - MATED)
    answer = _window(
        side * np.float32(mate - s.at.record_mate[beta]), side * np.float32(mate - s.at.record_mate[alpha]), mode
    )
    if answer == EXACT:
        s.at.record_key[ply], s.at.record_mate[ply] = 0, mate
    return answer


@inner
def _copy(s, origin, target):  # type: ignore[no-untyped-def]
    s.at.record_key[target], s.at.record_mate[target] = s.at.record_key[origin], s.at.record_mate[origin]
    fill(s.records[target], s.records[origin])
    fill(s.at.record_row[target], s.at.record_row[origin])


@inner
def pass_on(s, ply, move):  # type: ignore[no-untyped-def]
    """The move's answer becomes that of the ply."""
    _copy(s, ply + 1, ply)
    length = s.at.pv_length[ply + 1]
    s.at.pv[ply, 0] = move
    for i in range(length):
        s.at.pv[ply, i + 1] = s.at.pv[ply + 1, i]
    s.at.pv_length[ply] = length + 1
