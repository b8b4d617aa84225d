"""The state of a comparison search, and compiled functions that compare a position with the bounds of a node.

A bound of this search is a position or a mate, not a number; see `alphabeta.py`. Bounds have indices from 0 to BOUNDS -
1. Each ply has a bound with the same index: the position that the search of a node at this ply has returned as EXACT.
Three further bounds are fixed:

    WON         better for White than any position; with LOST, the bounds at the root
    LOST        worse for White than any position
    DRAWN       a draw: the most balanced of the network's reference positions

The functions of state.py and alphabeta.py take `state`, a SearchState, and change it in place:

    state.data               one record of dtype STATE, below
    state.weights            the network, see embedding.Weights
    state.accumulators       float32 [MAX_PLIES, n]: the accumulator (sums of the first layer) of each row, if the field
                             `accumulated` of state.data is 1
    state.bound_embeddings   float32 [BOUNDS, 2 * d]: embeddings of the bounds; d is weights.embedding_dim
    state.embeddings         float32 [slots, 2 * d]: a cache of embeddings; its size is a power of two
    state.embedding_keys     int64 [slots]: the key (a 64-bit hash) of the position in each slot, 0 for none
    state.table              TABLE_ENTRY [entries]: the transposition table; its size is a power of two

Fields of state.data in addition to those of the stack (games.chess.position_stack.STACK):

    accumulated   int64 [MAX_PLIES]             1 if `state.accumulators` has the row's accumulator, else 0
    bound_key     int64 [BOUNDS]                key of the bound's position; 0 for mates, WON and LOST, 1 for DRAWN
    bound_mate    int64 [BOUNDS]                0, or a mate: MATE_BASE - ply if White mates at that ply,
                                                ply - MATE_BASE if Black mates, ±2 * MATE_BASE for WON and LOST
    bound_row     uint8 [BOUNDS, 68]            the bound's position
    scores        int64 [MAX_PLIES, MAX_MOVES]  the numbers by which the moves are sorted
    killers       uint16 [MAX_PLIES, 2]         the latest two quiet moves that caused a cutoff at each ply
    history       int64 [2, 4096]               scores of quiet moves, high after many cutoffs, by side and
                                                origin + 64 * target
    pv            uint16 [MAX_PLIES, MAX_PLIES] the principal variation from each ply on
    pv_length     int64 [MAX_PLIES]             the number of moves of each principal variation
    reach         int64 [MAX_PLIES]             the earliest row that a ply's result depends on (position_stack.enter)
    counts        int64 [6]                     counters and limits of the search, with the indices NODES to AGE
    tuning_NAME   float64                       the fields of ComparisonTuning

Many functions have the same arguments. ply: the index of a row of the stack, which is a position of the current line.
alpha, beta: the indices of the bounds, for the side to move. mode: OPEN, ABOVE or FROM.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.legal import MAX_MOVES
from kibitz.games.chess.position_stack import DRAW, MAX_PLIES, STACK
from kibitz.games.chess.replay import CASTLING, SIDE, START_WIDTH
from kibitz.kernels import fill, inner
from kibitz.play.comparison.embedding import (
    RIGHTS,
    WHITE_TO_MOVE,
    Weights,
    add_feature,
    embed,
    logit,
    refresh_accumulator,
)

# NumPy's type, because numba compiles a function again for every type of integer that it gets. A recursive function
# that was compiled for several types can't be loaded from numba's cache.
LOW, EXACT, HIGH = np.int64(-1), np.int64(0), np.int64(1)
"""The possible results of a node, for the side to move: LOW for alpha or worse, EXACT between the bounds, HIGH for beta
or better. The search is fail-hard, so a result is never outside of the bounds.
"""
OPEN, ABOVE, FROM = np.int64(0), np.int64(1), np.int64(2)
"""The possible modes of a node. They determine which question the search of the node decides:

    OPEN    alpha and beta are different bounds: which position between them is the node's value?
    ABOVE   alpha and beta are one bound: is the node's position better than this bound?
    FROM    alpha and beta are one bound: is the node's position as good as this bound, or better?
"""
MATE_BASE = 1000
"""The number from which mates are counted. A mate at a ply is ±(MATE_BASE - ply), above 0 if White mates. An earlier
mate has a larger absolute value.
"""
WON, LOST, DRAWN = np.int64(MAX_PLIES), np.int64(MAX_PLIES + 1), np.int64(MAX_PLIES + 2)
BOUNDS = MAX_PLIES + 3
NODES, COMPARED, EMBEDDED, MAX_NODES, STOP, AGE = range(6)
"""Indices into `counts`, the numbers of a search.

NODES: the positions visited so far. COMPARED: the comparisons made. EMBEDDED: the embeddings computed. MAX_NODES: the
largest number of positions to visit. STOP: 1 if the search must stop. AGE: the number of the search, 1 to 255, which is
the age of table entries.
"""
TABLE_ENTRY = np.dtype(
    [
        ("key", "i8"),  # key of the position
        ("bound", "i8"),  # key of the bound that it was searched against
        ("mate", "i2"),  # the mate of the bound, counted from the position; 0 for none
        ("move", "u2"),  # the best move, 0 for none
        ("depth", "i1"),
        # how the position compares with the bound, see alphabeta.BETTER; 0: unknown, and only the move is used
        ("kind", "u1"),
        ("age", "u1"),  # number of the search that wrote the entry
    ],
    align=True,
)


class ComparisonTuning(NamedTuple):
    """The techniques that the comparison search uses. `plain_tuning()` returns the values for plain alpha-beta.

    null: the smallest depth at which null-move pruning is used; 0 for never.
    reduce: whether to use late-move reductions.
    extend: whether to search positions in check one ply deeper.
    table: whether to use the transposition table.
    deeper: whether to use table entries of deeper searches, too.
    order: whether to sort the moves.
    incremental: whether to update the accumulator (the sums of the first layer) from move to move. If not, it is
        computed from all pieces.
    naive: whether to compute the whole network for both positions of each comparison, to measure the cost.
    """

    null: int = 3
    reduce: bool = True
    extend: bool = True
    table: bool = True
    deeper: bool = True
    order: bool = True
    incremental: bool = True
    naive: bool = False


def plain_tuning() -> ComparisonTuning:
    """Return the settings of a search without the techniques that could change a result: pruning, reductions,
    extensions, and table entries of deeper searches.
    """
    return ComparisonTuning(null=0, reduce=False, extend=False, deeper=False)


STATE = np.dtype(
    [
        *STACK,
        ("accumulated", "i8", (MAX_PLIES,)),  # see the top of this module
        ("bound_key", "i8", (BOUNDS,)),
        ("bound_mate", "i8", (BOUNDS,)),
        ("bound_row", "u1", (BOUNDS, START_WIDTH)),
        ("scores", "i8", (MAX_PLIES, MAX_MOVES)),
        ("killers", "u2", (MAX_PLIES, 2)),
        ("history", "i8", (2, 4096)),
        ("pv", "u2", (MAX_PLIES, MAX_PLIES)),
        ("pv_length", "i8", (MAX_PLIES,)),
        ("reach", "i8", (MAX_PLIES,)),
        ("counts", "i8", (6,)),
        *(("tuning_" + name, "f8") for name in ComparisonTuning._fields),
    ]
)


class SearchState(NamedTuple):
    """The arrays of a comparison search. The docstring of this module describes the fields."""

    data: Any
    weights: Weights
    accumulators: NDArray[np.float32]
    bound_embeddings: NDArray[np.float32]
    embeddings: NDArray[np.float32]
    embedding_keys: NDArray[np.int64]
    table: NDArray[np.void]


@inner
def update_accumulator(state, ply):  # type: ignore[no-untyped-def]
    """Compute the accumulator (the sums of the network's first layer) of the position at ply `ply`, from the last
    position before it whose accumulator is known.

    If no accumulator is known, the root's accumulator is computed from all pieces. state: the state of the search, a
    SearchState.
    """
    weights, stack = state.weights, state.data
    start = ply
    while start > 0 and not stack.accumulated[start]:
        start -= 1
    if not stack.accumulated[start]:
        refresh_accumulator(weights, stack.rows[start], state.accumulators[start])
        stack.accumulated[start] = True
    for now in range(start + 1, ply + 1):
        before, row, accumulator = stack.rows[now - 1], stack.rows[now], state.accumulators[now]
        fill(accumulator, state.accumulators[now - 1])
        for i in range(stack.changes[now]):
            square = stack.changed[now, i]
            if before[square]:
                feature = (np.int64(before[square]) - 1) * 64 + square
                add_feature(accumulator, weights.feature_weights, feature, np.float32(-1))
            if row[square]:
                feature = (np.int64(row[square]) - 1) * 64 + square
                add_feature(accumulator, weights.feature_weights, feature, np.float32(1))
        if before[64 + SIDE] != row[64 + SIDE]:
            sign = np.float32(-1) if row[64 + SIDE] else np.float32(1)
            add_feature(accumulator, weights.feature_weights, WHITE_TO_MOVE, sign)
        lost = before[64 + CASTLING] & ~row[64 + CASTLING]
        for right in range(4):
            if lost >> right & 1:
                add_feature(accumulator, weights.feature_weights, RIGHTS + right, np.float32(-1))
        stack.accumulated[now] = True


@inner
def cached_embedding(state, ply):  # type: ignore[no-untyped-def]
    """Find or compute the embedding of the position at ply `ply`. Returns the index of the embedding in
    `state.embeddings`, the cache of embeddings. state: the state of the search, a SearchState.
    """
    key = state.data.keys[ply]
    slot = key & (state.embedding_keys.shape[0] - 1)
    if state.embedding_keys[slot] != key or state.data.tuning_naive:
        state.embedding_keys[slot] = key
        state.data.counts[EMBEDDED] += 1
        if state.data.tuning_naive:
            return slot
        if state.data.tuning_incremental:
            update_accumulator(state, ply)
            embed(state.weights, state.accumulators[ply], state.embeddings[slot])
        else:
            refresh_accumulator(state.weights, state.data.rows[ply], state.accumulators[ply])
            embed(state.weights, state.accumulators[ply], state.embeddings[slot])
    return slot


@inner
def compare_to_bound(state, row, key, embedding, bound):  # type: ignore[no-untyped-def]
    """Compare a position with a bound that is a position. Returns a float32 above 0 if the position is better for White
    than the bound, below 0 if it is worse, and 0 if both are the same position. Only the sign of the result is
    meaningful. state: the state of the search, a SearchState.

    row: uint8 [68], the position as 64 codes and 4 numbers of the state, see `kibitz.PositionArrays`. key, embedding:
    the position's key (a 64-bit hash), and its embedding, float32 [2 * d]. bound: the index of the bound.
    """
    if state.data.bound_mate[bound]:
        return -np.float32(state.data.bound_mate[bound])
    if state.data.bound_key[bound] == key:
        return np.float32(0)
    state.data.counts[COMPARED] += 1
    if state.data.tuning_naive:
        refresh_accumulator(state.weights, row, state.accumulators[0])
        embed(state.weights, state.accumulators[0], embedding)
        refresh_accumulator(state.weights, state.data.bound_row[bound], state.accumulators[0])
        embed(state.weights, state.accumulators[0], state.bound_embeddings[bound])
    return logit(state.weights, embedding, state.bound_embeddings[bound])


@inner
def fail_high_low(above_beta, above_alpha, mode):  # type: ignore[no-untyped-def]
    """Return the result of a node from two comparisons with its bounds: HIGH for beta or better, LOW for alpha or
    worse, or EXACT between them.

    above_beta, above_alpha: how the node's position compares with the bounds beta and alpha, for the mover: above 0 if
    it is better, 0 if it is equally good, below 0 if it is worse. mode: OPEN, ABOVE or FROM, see `OPEN`.
    """
    if above_beta > 0 or (above_beta == 0 and mode != ABOVE):
        return HIGH
    return EXACT if mode == OPEN and above_alpha > 0 else LOW


@inner
def compare_position(state, ply, alpha, beta, mode):  # type: ignore[no-untyped-def]
    """Compare the position at ply `ply`, as a leaf of the search, with the bounds of its node. Returns HIGH for beta or
    better, LOW for alpha or worse, or EXACT between them. If the result is EXACT, the position becomes the bound of
    this ply.

    state: the state of the search, a SearchState. alpha, beta: the indices of the bounds; a bound is a position, not a
    number. mode: OPEN, ABOVE or FROM, see `OPEN`.
    """
    side = np.float32(-1) if state.data.rows[ply, 64 + SIDE] else np.float32(1)
    slot = cached_embedding(state, ply)
    key, row, embedding = state.data.keys[ply], state.data.rows[ply], state.embeddings[slot]
    above_beta = side * compare_to_bound(state, row, key, embedding, beta)
    above_alpha = np.float32(0)
    if mode == OPEN and above_beta < 0:
        above_alpha = side * compare_to_bound(state, row, key, embedding, alpha)
    result = fail_high_low(above_beta, above_alpha, mode)
    if result == EXACT:
        state.data.bound_key[ply], state.data.bound_mate[ply] = key, 0
        fill(state.bound_embeddings[ply], embedding)
        fill(state.data.bound_row[ply], row)
    return result


@inner
def compare_terminal(state, ply, end, alpha, beta, mode):  # type: ignore[no-untyped-def]
    """Compare the position at ply `ply`, in which the rules have ended the game, with the bounds of its node. Returns
    HIGH for beta or better, LOW for alpha or worse, or EXACT between them.

    end: MATE or DRAW. state: the state of the search, a SearchState. alpha, beta: the indices of the bounds; a bound is
    a position, not a number. mode: OPEN, ABOVE or FROM, see `OPEN`.
    """
    black = state.data.rows[ply, 64 + SIDE] != 0
    side = np.float32(-1) if black else np.float32(1)
    if end == DRAW:
        key, row = state.data.bound_key[DRAWN], state.data.bound_row[DRAWN]
        embedding = state.bound_embeddings[DRAWN]
        above_beta = side * compare_to_bound(state, row, key, embedding, beta)
        above_alpha = np.float32(0)
        if mode == OPEN and above_beta < 0:
            above_alpha = side * compare_to_bound(state, row, key, embedding, alpha)
        result = fail_high_low(above_beta, above_alpha, mode)
        if result == EXACT:
            _copy_bound(state, DRAWN, ply)
        return result
    mate = np.int64(MATE_BASE - ply if black else ply - MATE_BASE)
    above_beta = side * np.float32(mate - state.data.bound_mate[beta])
    above_alpha = side * np.float32(mate - state.data.bound_mate[alpha])
    result = fail_high_low(above_beta, above_alpha, mode)
    if result == EXACT:
        state.data.bound_key[ply], state.data.bound_mate[ply] = 0, mate
    return result


@inner
def _copy_bound(state, source, target):  # type: ignore[no-untyped-def]
    """Copy a bound to another index."""
    data = state.data
    data.bound_key[target], data.bound_mate[target] = data.bound_key[source], data.bound_mate[source]
    fill(state.bound_embeddings[target], state.bound_embeddings[source])
    fill(data.bound_row[target], data.bound_row[source])


@inner
def update_pv(state, ply, move):  # type: ignore[no-untyped-def]
    """Copy the best line of the next ply, and the position at its end, to ply `ply`, with `move` as the first move.
    state: the state of the search, a SearchState. move: the packed move (see `kibitz.games.chess.moves.from_move`) that
    leads from the position at ply `ply` to the next position.
    """
    _copy_bound(state, ply + 1, ply)
    length = state.data.pv_length[ply + 1]
    state.data.pv[ply, 0] = move
    for i in range(length):
        state.data.pv[ply, i + 1] = state.data.pv[ply + 1, i]
    state.data.pv_length[ply] = length + 1
