"""Alpha-beta search whose bounds are positions (David, Netanyahu and Wolf 2016), as compiled functions.

No position has a numeric value. A node is searched between two bounds, alpha and beta. The bounds are positions. Each
new position is compared with the bounds. If the new position is better than alpha, it becomes alpha. If it is as good
as beta or better, it ends the search of the node. The search is fail-hard: a node's result is HIGH for beta or better,
LOW for alpha or worse, or EXACT. EXACT means that the node's value is a position between the bounds. This position then
becomes the bound of the node's ply. "Better" means better for the mover. The network always compares for White, and the
new position is the first of the pair.

A bound is a position's key and embedding, or a mate. Mates are ordered by their numbers, outside of all positions,
without the network. A draw is the most balanced of the reference positions, which are fixed positions of the network.

After a move has raised alpha, each other move first gets a scout search, as in principal variation search. A scout
search only tests whether the move is better than alpha. It has alpha as both bounds, so it needs only one comparison
per position. A node of a scout search has one of two modes. In the mode ABOVE, the position must be better than the
bound for the mover. In the mode FROM, a position that is as good as the bound is enough. The two modes alternate from
ply to ply, because the opponent of a mover with ABOVE has FROM.

The transposition table can't store values, because a result has no meaning without its bounds. An entry stores a
comparison of a position with a bound, and the depth of the search that has proven the comparison. The comparison is one
of five: the position is better than the bound, as good or better, the same, as good or worse, or worse. An entry is
used in a search of the same or a smaller depth against the same bound. The entry then replaces the search. An entry
implies nothing for another bound, because the network need not be transitive. Alpha seldom changes, so most of a tree
uses the same bound. Results that depend on a repetition or on the fifty-move rule are valid only for the present line
of moves, and are not stored.

The top of `state.py` describes the results and the arguments state, ply, alpha, beta and mode. `depth` is the remaining
number of plies.
"""

from __future__ import annotations

import numpy as np

from kibitz.games.chess.position_stack import (
    MAX_PLIES,
    ONGOING,
    enter,
    has_non_pawn_material,
    make_move,
    make_null_move,
    static_exchange,
)
from kibitz.games.chess.replay import CLOCK, FIFTY_MOVES, SIDE
from kibitz.kernels import inner, kernel
from kibitz.play.comparison.state import (
    ABOVE,
    AGE,
    EXACT,
    FROM,
    HIGH,
    LOST,
    LOW,
    MAX_NODES,
    NODES,
    OPEN,
    STOP,
    WON,
    cached_embedding,
    compare_position,
    compare_terminal,
    compare_to_bound,
    update_pv,
)

ROOT, NO_MOVE = np.int64(0), np.uint16(0)
MOVED, PASSED = np.int64(0), np.int64(1)
"""How a node was reached: MOVED by a move, or PASSED by a null move."""
BETTER, AS_GOOD, SAME, NO_BETTER, WORSE = 1, 2, 3, 4, 5
"""Kinds of entries in the transposition table: how the position compares with the bound, for the side to move. 0 means
unknown.
"""
MAX_DEPTH = 60
"""The largest depth of a search, in plies. Captures and checks are searched further."""
_TABLE_MOVE, _GOOD_CAPTURE, _KILLER, _BAD_CAPTURE = 1 << 30, 1 << 28, 1 << 26, -(1 << 28)
"""Scores that order moves. A quiet move's score is its history, which is between the last two."""


@inner
def score_moves(state, ply, table_move):  # type: ignore[no-untyped-def]
    """Compute the numbers by which the moves of the position at ply `ply` are sorted, and write them to `scores` in
    `state.data`. state: the state of the search, a SearchState.

    The order is: first the move from the transposition table; then captures and promotions to a queen that lose no
    material; then killer moves; then quiet moves by their history; last, captures that lose material, and other
    promotions. table_move: the packed move (see `kibitz.games.chess.moves.from_move`) from the table, or NO_MOVE.
    """
    stack = state.data
    side = np.int64(stack.rows[ply, 64 + SIDE])
    moves, scores = stack.moves[ply], state.data.scores[ply]
    for i in range(stack.move_count[ply]):
        move = moves[i]
        won, loses = static_exchange(stack.board[:], side, move)
        promotion = move >> 12
        if won > 0 and (promotion == 0 or promotion == 5):
            score = (_BAD_CAPTURE if loses else _GOOD_CAPTURE) + 16 * won - abs(np.int64(stack.board[move & 63]))
        elif promotion:
            score = _BAD_CAPTURE
        elif move == state.data.killers[ply, 0] or move == state.data.killers[ply, 1]:
            score = _KILLER
        else:
            score = state.data.history[side, np.int64(move) & 4095]
        if not state.data.tuning_order:
            score = (_GOOD_CAPTURE if score > _GOOD_CAPTURE >> 1 else _BAD_CAPTURE if score < 0 else 0) - i
        elif move == table_move:
            score = _TABLE_MOVE
        scores[i] = score


@inner
def pick_move(state, ply, i):  # type: ignore[no-untyped-def]
    """Return the move with the largest score (see `score_moves`) in the list of moves of ply `ply`, from index `i` on.
    In the list, this move is exchanged with the move at index `i`. state: the state of the search, a SearchState.
    """
    moves, scores = state.data.moves[ply], state.data.scores[ply]
    best = i
    for k in range(i + 1, state.data.move_count[ply]):
        if scores[k] > scores[best]:
            best = k
    move, score = moves[best], scores[best]
    moves[best], scores[best] = moves[i], scores[i]
    moves[i], scores[i] = move, score
    return move


@inner
def make_and_enter(state, ply, move):  # type: ignore[no-untyped-def]
    """Play a legal move in the position at ply `ply`, and set up the new position at the next ply. Returns ONGOING, or
    how the rules have ended the game: MATE or DRAW. state: the state of the search, a SearchState. move: packed (see
    `kibitz.games.chess.moves.from_move`).
    """
    make_move(state.data, ply, move)
    return _enter(state, ply + 1)


@inner
def _enter(state, ply):  # type: ignore[no-untyped-def]
    """Enter a row that has just been written, and count it as a node. At the last allowed node, STOP is set."""
    state.data.accumulated[ply] = False
    state.data.pv_length[ply] = 0
    state.data.counts[NODES] += 1
    if state.data.counts[NODES] >= state.data.counts[MAX_NODES]:
        state.data.counts[STOP] = 1
    end, state.data.reach[ply] = enter(state.data, ply)
    return end


@inner
def quiescence(state, ply, alpha, beta, mode):  # type: ignore[no-untyped-def]
    """Search captures and promotions to a queen from the position at ply `ply`, until the positions are quiet. Returns
    HIGH for beta or better, LOW for alpha or worse, or EXACT between them.

    The position must have been set up with `position_stack.enter`. state: the state of the search, a SearchState.
    alpha, beta: the indices of the bounds; a bound is a position, not a number. mode: OPEN, ABOVE or FROM (see
    `state.OPEN`). If the mover is in check, all moves are searched. If not, the position itself is also compared with
    the bounds, because the mover need not capture.
    """
    result = LOW
    in_check = state.data.checks[ply] > 0
    if not in_check or ply >= MAX_PLIES - 2:
        result = compare_position(state, ply, alpha, beta, mode)
        if result == HIGH or ply >= MAX_PLIES - 2:
            return result
        if result == EXACT:
            alpha = ply
    score_moves(state, ply, NO_MOVE)
    for i in range(state.data.move_count[ply]):
        move = pick_move(state, ply, i)
        if not in_check and state.data.scores[ply, i] < _GOOD_CAPTURE >> 1:
            break
        end = make_and_enter(state, ply, move)
        if state.data.counts[STOP]:
            return LOW
        child_mode = OPEN if mode == OPEN else 3 - mode
        if end != ONGOING:
            child_result = -compare_terminal(state, ply + 1, end, beta, alpha, child_mode)
        else:
            child_result = -quiescence(state, ply + 1, beta, alpha, child_mode)
        if state.data.counts[STOP]:
            return LOW
        state.data.reach[ply] = min(state.data.reach[ply], state.data.reach[ply + 1])
        if child_result == HIGH:
            return HIGH
        if child_result == EXACT:
            update_pv(state, ply, move)
            result, alpha = EXACT, ply
    return result


@inner
def tt_probe(entry, ply, state, alpha, beta, mode):  # type: ignore[no-untyped-def]
    """Return what an entry of the transposition table proves about the position at ply `ply`: HIGH for beta or better,
    LOW for alpha or worse, or EXACT if it proves neither.

    The entry must be of this position, and its depth must be sufficient. state: the state of the search, a SearchState.
    alpha, beta: the indices of the bounds; a bound is a position, not a number. mode: OPEN, ABOVE or FROM (see
    `state.OPEN`).
    """
    kind = entry.kind
    if mode == OPEN:
        if BETTER <= kind <= SAME and _same_bound(entry, ply, state, beta):
            return HIGH
        return LOW if kind >= SAME and _same_bound(entry, ply, state, alpha) else EXACT
    if not _same_bound(entry, ply, state, beta):
        return EXACT
    if mode == ABOVE:
        return HIGH if kind == BETTER else LOW if kind >= SAME else EXACT
    return LOW if kind == WORSE else HIGH if kind <= SAME else EXACT


@inner
def _same_bound(entry, ply, state, bound):  # type: ignore[no-untyped-def]
    """Return whether a table entry was proven against the bound with this index."""
    return entry.bound == state.data.bound_key[bound] and entry.mate == _mate_distance(state, bound, ply)


@inner
def _mate_distance(state, bound, ply):  # type: ignore[no-untyped-def]
    """Return the distance of a bound's mate from the position at ply `ply` instead of the root, as table entries have
    it; 0 if the bound is not a mate.
    """
    mate = state.data.bound_mate[bound]
    return mate + ply if mate > 0 else mate - ply if mate < 0 else mate


@inner
def tt_store(state, ply, depth, move, result, alpha, beta, mode):  # type: ignore[no-untyped-def]
    """Store the result of the position at ply `ply` in the transposition table. If the current search has stored a
    deeper entry for another position in the same place, that entry remains.

    state: the state of the search, a SearchState. depth: the depth of the search in plies. move: the best move
    (packed), NO_MOVE for none. result: the result of the node, HIGH, EXACT or LOW. alpha, beta: the indices of the
    bounds; a bound is a position, not a number. mode: OPEN, ABOVE or FROM (see `state.OPEN`).
    """
    key = state.data.keys[ply]
    entry = state.table[key & (state.table.shape[0] - 1)]
    if entry.key != key and entry.age == state.data.counts[AGE] and entry.depth > depth:
        return
    if result == HIGH:
        kind, bound = BETTER if mode == ABOVE else AS_GOOD, beta
    elif result == EXACT:
        kind, bound = SAME, ply
    else:
        kind, bound = WORSE if mode == FROM else NO_BETTER, alpha
    if state.data.reach[ply] < ply or state.data.rows[ply, 64 + CLOCK] + depth >= FIFTY_MOVES:
        kind = 0  # the result depends on the path, so elsewhere only the move can be used
    if move == 0 and entry.key == key:
        move = entry.move
    entry.key, entry.bound, entry.mate = key, state.data.bound_key[bound], _mate_distance(state, bound, ply)
    entry.move, entry.depth, entry.kind, entry.age = move, depth, kind, state.data.counts[AGE]


@inner
def update_history_killers(state, ply, depth, move, tried):  # type: ignore[no-untyped-def]
    """Record that a quiet move has ended the search of a node (caused a cutoff). state: the state of the search, a
    SearchState. ply, depth: the node's ply and remaining depth. move: the packed move (see
    `kibitz.games.chess.moves.from_move`). tried: the index of this move in its node.

    The move becomes a killer, and its history score increases. The history scores decrease for the quiet moves that
    were searched before this move.
    """
    side = np.int64(state.data.rows[ply, 64 + SIDE])
    if state.data.killers[ply, 0] != move:
        state.data.killers[ply, 1], state.data.killers[ply, 0] = state.data.killers[ply, 0], move
    for i in range(tried + 1):
        other = state.data.moves[ply, i]
        if -(_GOOD_CAPTURE >> 1) < state.data.scores[ply, i] < _GOOD_CAPTURE >> 1:
            slot = np.int64(other) & 4095
            change = min(depth * depth, 400) if i == tried else -min(depth * depth, 400)
            state.data.history[side, slot] += change - ((state.data.history[side, slot] * abs(change)) >> 14)


@inner
def search(state, ply, depth, alpha, beta, mode, passed):  # type: ignore[no-untyped-def]
    """Search the position at ply `ply`, `depth` plies deep. Returns HIGH for beta or better, LOW for alpha or worse, or
    EXACT between them. If the search was stopped, the result is meaningless.

    The position must have been set up with `position_stack.enter`. state: the state of the search, a SearchState.
    alpha, beta: the indices of the bounds; a bound is a position, not a number. mode: OPEN, ABOVE or FROM (see
    `state.OPEN`). passed: PASSED if the opponent has just made a null move, else MOVED.
    """
    stack = state.data
    in_check = stack.checks[ply] > 0
    if in_check and state.data.tuning_extend and ply < MAX_DEPTH:
        depth += 1
    if depth <= 0 or ply >= MAX_DEPTH + 8:
        return quiescence(state, ply, alpha, beta, mode)
    table_move = NO_MOVE
    if state.data.tuning_table:
        entry = state.table[stack.keys[ply] & (state.table.shape[0] - 1)]
        if entry.key == stack.keys[ply]:
            table_move = entry.move
            fits = entry.depth == depth or (state.data.tuning_deeper and entry.depth > depth)
            if fits and entry.kind and stack.rows[ply, 64 + CLOCK] + depth < FIFTY_MOVES:
                known = tt_probe(entry, ply, state, alpha, beta, mode)
                if known != EXACT:
                    return known
    score_moves(state, ply, table_move)
    child_mode = OPEN if mode == OPEN else 3 - mode
    may_pass = mode != OPEN and passed == MOVED and not in_check and state.data.bound_mate[beta] == 0
    if may_pass and 0 < state.data.tuning_null <= depth and has_non_pawn_material(stack.board[:]):
        side = np.float32(-1) if stack.rows[ply, 64 + SIDE] else np.float32(1)
        slot = cached_embedding(state, ply)
        if side * compare_to_bound(state, stack.rows[ply], stack.keys[ply], state.embeddings[slot], beta) >= 0:
            make_null_move(stack, ply)
            end = _enter(state, ply + 1)
            if state.data.counts[STOP]:
                return LOW
            if end == ONGOING:
                child_result = -search(state, ply + 1, depth - 3 - (depth >> 2), alpha, beta, child_mode, PASSED)
                if state.data.counts[STOP]:
                    return LOW
                if child_result == HIGH:
                    state.data.reach[ply] = min(state.data.reach[ply], state.data.reach[ply + 1])
                    return HIGH
    result, best = LOW, NO_MOVE
    for i in range(stack.move_count[ply]):
        move = pick_move(state, ply, i)
        is_quiet = -(_GOOD_CAPTURE >> 1) < state.data.scores[ply, i] < _KILLER
        end = make_and_enter(state, ply, move)
        if state.data.counts[STOP]:
            return LOW
        if end != ONGOING:
            child_result = -compare_terminal(state, ply + 1, end, beta, alpha, child_mode)
        else:
            is_quiet = is_quiet and not in_check and stack.checks[ply + 1] == 0
            reduction = lmr_reduction(state, depth, i) if is_quiet else 0
            # The first search tests only whether the move is better than alpha. If it is, a second search finds its
            # exact value.
            scout = mode == OPEN and i > 0 and state.data.tuning_order > 0
            scout_beta = alpha if scout else beta
            child_result = -search(
                state, ply + 1, depth - 1 - reduction, scout_beta, alpha, FROM if scout else child_mode, MOVED
            )
            if child_result == HIGH and (reduction > 0 or scout) and not state.data.counts[STOP]:
                reenter(state, ply + 1)
                child_result = -search(state, ply + 1, depth - 1, beta, alpha, child_mode, MOVED)
        if state.data.counts[STOP]:
            return LOW
        if child_result == HIGH:
            state.data.reach[ply] = state.data.reach[ply + 1]
            if state.data.scores[ply, i] < _GOOD_CAPTURE >> 1:
                update_history_killers(state, ply, depth, move, i)
            result, best = HIGH, move
            break
        state.data.reach[ply] = min(state.data.reach[ply], state.data.reach[ply + 1])
        if child_result == EXACT:
            update_pv(state, ply, move)
            result, best, alpha = EXACT, move, ply
    if state.data.tuning_table:
        tt_store(state, ply, depth, best, result, alpha, beta, mode)
    return result


@inner
def lmr_reduction(state, depth, i):  # type: ignore[no-untyped-def]
    """Return the number of plies by which the first search of a quiet move is shallower (late-move reduction). state:
    the state of the search, a SearchState. depth: the remaining plies. i: the index of the move in its node.
    """
    if state.data.tuning_reduce == 0 or depth < 3 or i < 3:
        return 0
    return min(depth - 2, 1 + (i >= 8) + (depth >= 6 and i >= 16))


@inner
def reenter(state, ply):  # type: ignore[no-untyped-def]
    """Set up the position at ply `ply` again, before it is searched a second time. The first search has sorted the
    moves of this position, and has overwritten the board and the field `reach` of `state`, a SearchState.
    """
    _, state.data.reach[ply] = enter(state.data, ply)
    state.data.pv_length[ply] = 0


@kernel
def search_root(state, moves, depth):  # type: ignore[no-untyped-def]
    """Search the given moves of the root, in this order, `depth` plies deep. state: the state of the search, a
    SearchState. moves: uint16 [n], packed (see `kibitz.games.chess.moves.from_move`).

    Returns the index of the best move, and the number of completed moves. The index is -1 if the search was stopped
    before the first move was completed. If there is a best move, the function writes its line to `pv[0]` in
    `state.data`. The position at the end of this line is then the bound with index 0.
    """
    black = state.data.rows[0, 64 + SIDE] != 0
    alpha, beta = (WON, LOST) if black else (LOST, WON)
    best = -1
    state.data.pv_length[0] = 0
    for i in range(moves.shape[0]):
        end = make_and_enter(state, ROOT, moves[i])
        if state.data.counts[STOP]:
            return best, i
        if end != ONGOING:
            result = -compare_terminal(state, ROOT + 1, end, beta, alpha, OPEN)
        else:
            scout = i > 0 and state.data.tuning_order > 0
            result = -search(
                state, ROOT + 1, depth - 1, alpha if scout else beta, alpha, FROM if scout else OPEN, MOVED
            )
            if result == HIGH and scout and not state.data.counts[STOP]:
                reenter(state, ROOT + 1)
                result = -search(state, ROOT + 1, depth - 1, beta, alpha, OPEN, MOVED)
            if state.data.counts[STOP]:
                return best, i
        if result == EXACT:
            update_pv(state, ROOT, moves[i])
            best, alpha = i, ROOT
    return best, moves.shape[0]
