"""Alpha-beta whose bounds are positions (David, Netanyahu and Wolf 2016), as compiled functions.

No position has a number. A node is searched between two records, alpha and beta, that are positions themselves; each
new position is put beside them. One that is better than alpha becomes alpha, one that is better than beta ends the
node. It is fail-hard: a node's answer is HIGH (beta or better), LOW (alpha or worse), or EXACT: the position between
them, in the node's own record. "Better" is the mover's: the network is always asked about White, in the order (new
position, bound).

A record is a position's key and halves, or a mate: its number outranks every position, and the network is not asked. A
draw is the reference position that is most balanced.

Once a move has given alpha, the others are first asked one question only, as in principal variation search: better than
alpha? Then both bounds are the same record: ABOVE (strictly better) is asked of the mover, which is FROM (as good or
better) for the other side. A comparison with one position is enough there.

The table of positions can hold no value: there is none without its bounds. It holds what was proven of a position, at
which depth and against which record: better, as good or better, as good or worse, worse, or that very record. That is
used for a search of the same depth (or less) against the same record, where it is the answer that the search itself
would give; against any other record it says nothing, since from "better than A" nothing follows for B without asking,
and the network need not be transitive. Alpha changes seldom, so most of a tree asks about the same record. What a
repetition of an earlier position or the count to fifty had a part in holds on its own way only and is not kept.
"""

from __future__ import annotations

import numba
import numpy as np

from kibitz.games.chess.replay import CLOCK, SIDE
from kibitz.play.comparison.board import FIFTY, GOES_ON, PLIES, enter, make, make_null_move, static_exchange
from kibitz.play.comparison.state import (
    ABOVE,
    AGE,
    EXACT,
    FROM,
    HIGH,
    LOST,
    LOW,
    MOST_NODES,
    NODES,
    OPEN,
    STOP,
    WON,
    beside,
    evaluated,
    inner,
    judge_end,
    judge_position,
    pass_on,
)

ROOT, NO_MOVE = np.int64(0), np.uint16(0)
MOVED, PASSED = np.int64(0), np.int64(1)
BETTER, AS_GOOD, SAME, NO_BETTER, WORSE = 1, 2, 3, 4, 5
"""What the table knows of a position beside a record, in its mover's view."""
DEEPEST = 60
"""Plies; captures and checks go further."""
_TABLE_MOVE, _LOUD, _KILLER, _WORSE = 1 << 30, 1 << 28, 1 << 26, -(1 << 28)


@inner
def _score(s, ply, table_move):  # type: ignore[no-untyped-def]
    """Which moves first: the table's, what wins something, killers, quiet ones by history, what loses something."""
    stack = s.at
    side = np.int64(stack.rows[ply, 64 + SIDE])
    moves, scores = stack.moves[ply], s.at.scores[ply]
    for i in range(stack.count[ply]):
        move = moves[i]
        won, loses = static_exchange(stack.board, side, move)
        promotion = move >> 12
        if won > 0 and (promotion == 0 or promotion == 5):
            score = (_WORSE if loses else _LOUD) + 16 * won - abs(np.int64(stack.board[move & 63]))
        elif promotion:
            score = _WORSE
        elif move == s.at.killers[ply, 0] or move == s.at.killers[ply, 1]:
            score = _KILLER
        else:
            score = s.at.history[side, np.int64(move) & 4095]
        if not s.at.tuning_order:
            score = (_LOUD if score > _LOUD >> 1 else _WORSE if score < 0 else 0) - i
        elif move == table_move:
            score = _TABLE_MOVE
        scores[i] = score


@inner
def _next(s, ply, i):  # type: ignore[no-untyped-def]
    """The best of the moves from the i-th on, brought to the i-th place."""
    moves, scores = s.at.moves[ply], s.at.scores[ply]
    best = i
    for k in range(i + 1, s.at.count[ply]):
        if scores[k] > scores[best]:
            best = k
    move, score = moves[best], scores[best]
    moves[best], scores[best] = moves[i], scores[i]
    moves[i], scores[i] = move, score
    return move


@inner
def go(s, ply, move):  # type: ignore[no-untyped-def]
    """Make a move of row `ply` and enter the next: what the rules decide there."""
    make(s.at, ply, move)
    return _enter(s, ply + 1)


@inner
def _enter(s, ply):  # type: ignore[no-untyped-def]
    s.at.summed[ply] = False
    s.at.pv_length[ply] = 0
    s.at.counts[NODES] += 1
    if s.at.counts[NODES] >= s.at.counts[MOST_NODES]:
        s.at.counts[STOP] = 1
    end, s.at.reach[ply] = enter(s.at, ply)
    return end


@inner
def quiet(s, ply, alpha, beta, mode):  # type: ignore[no-untyped-def]
    """Captures and promotions to a queen until the position is quiet; in check all moves. The row is entered."""
    answer = LOW
    checked = s.at.checks[ply] > 0
    if not checked or ply >= PLIES - 2:
        answer = judge_position(s, ply, alpha, beta, mode)
        if answer == HIGH or ply >= PLIES - 2:
            return answer
        if answer == EXACT:
            alpha = ply
    _score(s, ply, NO_MOVE)
    for i in range(s.at.count[ply]):
        move = _next(s, ply, i)
        if not checked and s.at.scores[ply, i] < _LOUD >> 1:
            break
        end = go(s, ply, move)
        if s.at.counts[STOP]:
            return LOW
        other = OPEN if mode == OPEN else 3 - mode
        if end != GOES_ON:
            found = -judge_end(s, ply + 1, end, beta, alpha, other)
        else:
            found = -quiet(s, ply + 1, beta, alpha, other)
        if s.at.counts[STOP]:
            return LOW
        s.at.reach[ply] = min(s.at.reach[ply], s.at.reach[ply + 1])
        if found == HIGH:
            return HIGH
        if found == EXACT:
            pass_on(s, ply, move)
            answer, alpha = EXACT, ply
    return answer


@inner
def _known(entry, ply, s, alpha, beta, mode):  # type: ignore[no-untyped-def]
    """What an entry of the very position and depth says of this window: HIGH, LOW, or EXACT for nothing."""
    kind = entry.kind
    if mode == OPEN:
        if BETTER <= kind <= SAME and _is(entry, ply, s, beta):
            return HIGH
        return LOW if kind >= SAME and _is(entry, ply, s, alpha) else EXACT
    if not _is(entry, ply, s, beta):
        return EXACT
    if mode == ABOVE:
        return HIGH if kind == BETTER else LOW if kind >= SAME else EXACT
    return LOW if kind == WORSE else HIGH if kind <= SAME else EXACT


@inner
def _is(entry, ply, s, record):  # type: ignore[no-untyped-def]
    """Whether the entry was proven against this record; mates are counted from the entry's position."""
    return entry.record == s.at.record_key[record] and entry.mate == _from_here(s, record, ply)


@inner
def _from_here(s, record, ply):  # type: ignore[no-untyped-def]
    mate = s.at.record_mate[record]
    return mate + ply if mate > 0 else mate - ply if mate < 0 else mate


@inner
def _keep(s, ply, depth, move, answer, alpha, beta, mode):  # type: ignore[no-untyped-def]
    """Write what was proven. An entry of this search that is deeper, and of another position, stays."""
    key = s.at.keys[ply]
    entry = s.table[key & (s.table.shape[0] - 1)]
    if entry.key != key and entry.age == s.at.counts[AGE] and entry.depth > depth:
        return
    if answer == HIGH:
        kind, record = BETTER if mode == ABOVE else AS_GOOD, beta
    elif answer == EXACT:
        kind, record = SAME, ply
    else:
        kind, record = WORSE if mode == FROM else NO_BETTER, alpha
    if s.at.reach[ply] < ply or s.at.rows[ply, 64 + CLOCK] + depth >= FIFTY:
        kind = 0  # a move to begin with, and nothing more
    if move == 0 and entry.key == key:
        move = entry.move
    entry.key, entry.record, entry.mate = key, s.at.record_key[record], _from_here(s, record, ply)
    entry.move, entry.depth, entry.kind, entry.age = move, depth, kind, s.at.counts[AGE]


@inner
def _refuted(s, ply, depth, move, tried):  # type: ignore[no-untyped-def]
    """Remember a quiet move that ended a node, and that those before it did not."""
    side = np.int64(s.at.rows[ply, 64 + SIDE])
    if s.at.killers[ply, 0] != move:
        s.at.killers[ply, 1], s.at.killers[ply, 0] = s.at.killers[ply, 0], move
    for i in range(tried + 1):
        other = s.at.moves[ply, i]
        if -(_LOUD >> 1) < s.at.scores[ply, i] < _LOUD >> 1:
            place = np.int64(other) & 4095
            change = min(depth * depth, 400) if i == tried else -min(depth * depth, 400)
            s.at.history[side, place] += change - ((s.at.history[side, place] * abs(change)) >> 14)


@inner
def _has_pieces(s):  # type: ignore[no-untyped-def]
    """Whether the mover of the row entered last has more than king and pawns."""
    count = 0
    for square in range(64):
        count += 1 < s.at.board[square] < 6
    return count > 0


@inner
def search(s, ply, depth, alpha, beta, mode, passed):  # type: ignore[no-untyped-def]
    """A node that is entered, so many plies deep. passed: the other side has just made no move."""
    stack = s.at
    checked = stack.checks[ply] > 0
    if checked and s.at.tuning_extend and ply < DEEPEST:
        depth += 1
    if depth <= 0 or ply >= DEEPEST + 8:
        return quiet(s, ply, alpha, beta, mode)
    table_move = NO_MOVE
    if s.at.tuning_table:
        entry = s.table[stack.keys[ply] & (s.table.shape[0] - 1)]
        if entry.key == stack.keys[ply]:
            table_move = entry.move
            fits = entry.depth == depth or (s.at.tuning_deeper and entry.depth > depth)
            if fits and entry.kind and stack.rows[ply, 64 + CLOCK] + depth < FIFTY:
                known = _known(entry, ply, s, alpha, beta, mode)
                if known != EXACT:
                    return known
    _score(s, ply, table_move)
    other = OPEN if mode == OPEN else 3 - mode
    may_pass = mode != OPEN and passed == MOVED and not checked and s.at.record_mate[beta] == 0
    if may_pass and 0 < s.at.tuning_null <= depth and _has_pieces(s):
        side = np.float32(-1) if stack.rows[ply, 64 + SIDE] else np.float32(1)
        place = evaluated(s, ply)
        if side * beside(s, stack.rows[ply], stack.keys[ply], s.kept[place], beta) >= 0:
            make_null_move(stack, ply)
            end = _enter(s, ply + 1)
            if s.at.counts[STOP]:
                return LOW
            if end == GOES_ON:
                found = -search(s, ply + 1, depth - 3 - (depth >> 2), alpha, beta, other, PASSED)
                if s.at.counts[STOP]:
                    return LOW
                if found == HIGH:
                    s.at.reach[ply] = min(s.at.reach[ply], s.at.reach[ply + 1])
                    return HIGH
    answer, best = LOW, NO_MOVE
    for i in range(stack.count[ply]):
        move = _next(s, ply, i)
        silent = -(_LOUD >> 1) < s.at.scores[ply, i] < _KILLER
        end = go(s, ply, move)
        if s.at.counts[STOP]:
            return LOW
        if end != GOES_ON:
            found = -judge_end(s, ply + 1, end, beta, alpha, other)
        else:
            silent = silent and not checked and stack.checks[ply + 1] == 0
            less = _less(s, depth, i) if silent else 0
            # Better than alpha at all? Then how good?
            scout = mode == OPEN and i > 0 and s.at.tuning_order > 0
            first = alpha if scout else beta
            found = -search(s, ply + 1, depth - 1 - less, first, alpha, FROM if scout else other, MOVED)
            if found == HIGH and (less > 0 or scout) and not s.at.counts[STOP]:
                _again(s, ply + 1)
                found = -search(s, ply + 1, depth - 1, beta, alpha, other, MOVED)
        if s.at.counts[STOP]:
            return LOW
        if found == HIGH:
            s.at.reach[ply] = s.at.reach[ply + 1]
            if s.at.scores[ply, i] < _LOUD >> 1:
                _refuted(s, ply, depth, move, i)
            answer, best = HIGH, move
            break
        s.at.reach[ply] = min(s.at.reach[ply], s.at.reach[ply + 1])
        if found == EXACT:
            pass_on(s, ply, move)
            answer, best, alpha = EXACT, move, ply
    if s.at.tuning_table:
        _keep(s, ply, depth, best, answer, alpha, beta, mode)
    return answer


@inner
def _less(s, depth, i):  # type: ignore[no-untyped-def]
    """Plies by which a late quiet move is first searched less deep."""
    if s.at.tuning_reduce == 0 or depth < 3 or i < 3:
        return 0
    return min(depth - 2, 1 + (i >= 8) + (depth >= 6 and i >= 16))


@inner
def _again(s, ply):  # type: ignore[no-untyped-def]
    """Enter a row once more: the search below has written over what belongs to it."""
    _, s.at.reach[ply] = enter(s.at, ply)
    s.at.pv_length[ply] = 0


@numba.njit(nogil=True, cache=True)
def search_root(s, moves, depth):  # type: ignore[no-untyped-def]
    """The best of the moves, in this order, so many plies deep: its number, -1 where it was stopped before the first
    was done; its answer is record 0, its line pv[0]. And how many moves are done."""
    black = s.at.rows[0, 64 + SIDE] != 0
    alpha, beta = (WON, LOST) if black else (LOST, WON)
    best = -1
    s.at.pv_length[0] = 0
    for i in range(moves.shape[0]):
        end = go(s, ROOT, moves[i])
        if s.at.counts[STOP]:
            return best, i
        if end != GOES_ON:
            found = -judge_end(s, ROOT + 1, end, beta, alpha, OPEN)
        else:
            scout = i > 0 and s.at.tuning_order > 0
            found = -search(s, ROOT + 1, depth - 1, alpha if scout else beta, alpha, FROM if scout else OPEN, MOVED)
            if found == HIGH and scout and not s.at.counts[STOP]:
                _again(s, ROOT + 1)
                found = -search(s, ROOT + 1, depth - 1, beta, alpha, OPEN, MOVED)
            if s.at.counts[STOP]:
                return best, i
        if found == EXACT:
            pass_on(s, ROOT, moves[i])
            best, alpha = i, ROOT
    return best, moves.shape[0]
