"""Quiet positions: where the captures, promotions, checks and mates of the next moves lead, counted in material.

A network that values positions is best asked where nothing hangs. Here alpha-beta counts material alone: all moves to
a given depth, then captures and promotions to a queen until nobody wants another one; in check every move. The
position at the end of the best line is the quiet one. Quiet moves at the end of a line are arbitrary, material says
nothing of them, so the quiet position is the one behind the last capture or promotion.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from kibitz.cores import cores
from kibitz.games.chess.attacks import attacked, look
from kibitz.games.chess.material import CODE_VALUES
from kibitz.games.chess.replay import SIDE, START_WIDTH
from kibitz.play.comparison.board import (
    MATE,
    MAX_PLIES,
    ONGOING,
    STACK,
    enter,
    make_move,
    make_null_move,
    set_root,
    static_exchange,
)

MATED = 30_000
"""The score of a mate on the board; one in n plies counts n less."""
SURE = MATED - MAX_PLIES
"""Scores from here on are mates."""
MAX_NODES = 300_000
"""Positions that the search of one may visit; the depth that is not finished then does not count."""
_DEEPEST = 48
"""Plies after which captures are no longer followed."""
_LINE = 16
"""Moves that are kept of a line."""
_KILLER, _LOSING, _FIRST = 50, -100_000, 100_000
"""Scores of moves: quiet ones that refuted something; captures that lose at first sight; the table's. What a capture
gains counts a hundred a pawn; a quiet move's history stays below _KILLER."""
_CAPTURE = 90
"""From here on a move captures or promotes and does not lose at first sight."""
_EVASIONS = np.int64(3)
"""Checks that are answered by all moves while captures alone are followed."""
NO_MOVE = np.uint16(0)
MOVED, PASSED = np.int64(0), np.int64(1)
"""How a position was reached. Integers of one type, like NO_MOVE: a recursive function that is compiled for two
kinds of arguments crashes when it comes from numba's cache."""
_LOW, _EXACT, _HIGH = 1, 2, 3
_MEMORY = np.dtype(
    [
        *STACK,
        ("scores", "i4", (MAX_PLIES, 218)),
        ("leaf", "u1", (MAX_PLIES, START_WIDTH)),  # the quiet position that each row's best line ends in
        ("calm", "u1", (MAX_PLIES,)),  # nothing was captured on that line
        ("line", "u2", (MAX_PLIES, _LINE)),
        ("length", "i8", (MAX_PLIES,)),
        ("killers", "u2", (MAX_PLIES, 2)),
        ("nodes", "i8"),
        ("most", "i8"),
    ],
    align=True,
)
_ENTRY = np.dtype(
    [("key", "i8"), ("score", "i4"), ("move", "u2"), ("depth", "i1"), ("kind", "i1")], align=True
)  # of the table: what was found of a position
_ENTRIES = 1 << 17
_CHUNK = 32
"""Positions that one thread searches at once, one after the other, with the same table."""

inner = numba.njit(nogil=True, cache=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)  # type: ignore[call-overload]


class Quiet(NamedTuple):
    """What comes of positions, in the view of the side to move, for each depth 0..D.

    reached int64 [n]: the largest depth that was finished; the others below hold nothing beyond it. scores int32
    [n, D + 1]: the material balance in hundredths of a pawn, or more than SURE either way for a mate; rows uint8
    [n, D + 1, 68]: the quiet positions (codes, state); lines uint16 [n, D + 1, 16]: packed moves of the best line, 0
    behind its end.
    """

    reached: NDArray[np.int64]
    scores: NDArray[np.int32]
    rows: NDArray[np.uint8]
    lines: NDArray[np.uint16]


@inner
def _material(row):  # type: ignore[no-untyped-def]
    """The mover's material less the other side's, in hundredths of a pawn."""
    total = 0
    for square in range(64):
        total += int(CODE_VALUES[row[square]])
    return -100 * total if row[64 + SIDE] else 100 * total


@inner
def _order(memory, ply, first):  # type: ignore[no-untyped-def]
    """Score the moves of a row: the table's, captures by what they win, killers, quiet ones, losing captures."""
    side = np.int64(memory.rows[ply, 64 + SIDE])
    for i in range(memory.move_count[ply]):
        move = memory.moves[ply, i]
        won, loses = static_exchange(memory.board, side, move)
        promotion = move >> 12
        if promotion and promotion != 5:
            score = _LOSING
        elif won > 0:
            score = 100 * won - abs(np.int64(memory.board[move & 63])) + (_LOSING if loses else 0)
        elif move == memory.killers[ply, 0] or move == memory.killers[ply, 1]:
            score = _KILLER
        else:
            score = 0
        memory.scores[ply, i] = score + (_FIRST if move == first else 0)


@inner
def _next(memory, ply, i):  # type: ignore[no-untyped-def]
    """The move with the largest score of those from index i on, which is swapped to i."""
    moves, scores = memory.moves[ply], memory.scores[ply]
    best = i
    for k in range(i + 1, memory.move_count[ply]):
        if scores[k] > scores[best]:
            best = k
    move, score = moves[best], scores[best]
    moves[best], scores[best] = moves[i], scores[i]
    moves[i], scores[i] = move, score
    return move


@inner
def _stand(memory, ply):  # type: ignore[no-untyped-def]
    """A row's line ends where it stands."""
    for i in range(START_WIDTH):
        memory.leaf[ply, i] = memory.rows[ply, i]
    memory.calm[ply] = 1
    memory.length[ply] = 0


@inner
def _take_over(memory, ply, move, captures):  # type: ignore[no-untyped-def]
    """A row's best line goes on with this move, and as the row after it."""
    if memory.calm[ply + 1] and not captures:
        _stand(memory, ply)
    else:
        for i in range(START_WIDTH):
            memory.leaf[ply, i] = memory.leaf[ply + 1, i]
        memory.calm[ply] = 0
    memory.line[ply, 0] = move
    kept = min(memory.length[ply + 1], _LINE - 1)
    for i in range(kept):
        memory.line[ply, i + 1] = memory.line[ply + 1, i]
    memory.length[ply] = kept + 1


@inner
def _captures(memory, ply, move):  # type: ignore[no-untyped-def]
    """Whether a legal move of the row captures or promotes; `make_move` has been called for it."""
    return memory.piece_count[ply + 1] != memory.piece_count[ply] or move >> 12 != 0


@inner
def _gives_check(memory, ply):  # type: ignore[no-untyped-def]
    """Whether the mover of a row that is written and not entered is in check."""
    row = memory.rows[ply]
    king = look(row[:64], row[64 + SIDE], memory.board)
    return king >= 0 and attacked(memory.board, king, -8 if row[64 + SIDE] else 8)


@inner
def _officers(memory):  # type: ignore[no-untyped-def]
    """How many knights, bishops, rooks and queens the mover of the row entered last has."""
    count = 0
    for square in range(64):
        count += 1 < memory.board[square] < 6
    return count


@inner
def _exchange(memory, ply, alpha, beta, evasions):  # type: ignore[no-untyped-def]
    """The score of row `ply`, which is written and not entered, after captures and promotions to a queen; in check
    all moves count, `evasions` times on a line."""
    memory.nodes += 1
    _stand(memory, ply)
    if memory.nodes >= memory.most:
        return np.int64(0)
    end, _ = enter(memory, ply)
    if end != ONGOING:
        memory.calm[ply] = end != MATE
        return ply - MATED if end == MATE else np.int64(0)
    in_check = memory.checks[ply] > 0 and evasions > 0
    standing = _material(memory.rows[ply])
    if ply >= _DEEPEST:
        return standing
    best = np.int64(-MATED) if in_check else standing
    if best >= beta:
        return best
    alpha = max(alpha, best)
    _order(memory, ply, NO_MOVE)
    for i in range(memory.move_count[ply]):
        move = _next(memory, ply, i)
        score = memory.scores[ply, i]
        if not in_check and (score < _CAPTURE or standing + score + 100 <= alpha):
            break
        make_move(memory, ply, move)
        captures = _captures(memory, ply, move)
        value = -_exchange(memory, ply + 1, -beta, -alpha, evasions - np.int64(in_check))
        if value > best:
            best = value
            _take_over(memory, ply, move, captures)
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return best


@inner
def _search(memory, table, ply, depth, alpha, beta, passed):  # type: ignore[no-untyped-def]
    """The score of row `ply`, which is written and not entered, `depth` plies deep; fail-soft. Without meaning once
    `nodes` has reached `most`. passed: the other side has just passed."""
    if depth <= 0:
        return _exchange(memory, ply, alpha, beta, _EVASIONS)
    memory.nodes += 1
    _stand(memory, ply)
    if memory.nodes >= memory.most:
        return np.int64(0)
    end, _ = enter(memory, ply)
    if end != ONGOING:
        memory.calm[ply] = end != MATE
        return ply - MATED if end == MATE else np.int64(0)
    in_check = memory.checks[ply] > 0
    standing = _material(memory.rows[ply])
    if ply >= _DEEPEST:
        return standing
    narrow = beta - alpha == 1  # only which side of it the score is on matters, and not the line
    key = memory.keys[ply]
    entry = table[key & (table.shape[0] - 1)]
    first = NO_MOVE
    if entry.key == key:
        first = entry.move
        sure = entry.score >= SURE or entry.score <= -SURE  # counted from another root
        if narrow and entry.depth >= depth and not sure:
            if entry.kind != _LOW and entry.score >= beta:
                return np.int64(entry.score)
            if entry.kind != _HIGH and entry.score <= alpha:
                return np.int64(entry.score)
    if narrow and not in_check and passed == MOVED and depth >= 3 and standing >= beta and _officers(memory) > 0:
        make_null_move(memory, ply)
        value = -_search(memory, table, ply + 1, depth - 3, -beta, 1 - beta, PASSED)
        if value >= beta and value < SURE:
            return value
        enter(memory, ply)  # the board is that of the row entered last
        _stand(memory, ply)
    _order(memory, ply, first)
    best, chosen, lowest = np.int64(-MATED), NO_MOVE, alpha
    for i in range(memory.move_count[ply]):
        move = _next(memory, ply, i)
        make_move(memory, ply, move)
        captures = _captures(memory, ply, move)
        hopeless = depth == 1 and not captures and not in_check and standing <= alpha
        if hopeless and not _gives_check(memory, ply + 1):  # the other side can stand pat
            best = max(best, standing)
            continue
        if i == 0 or narrow:
            value = -_search(memory, table, ply + 1, depth - 1, -beta, -alpha, MOVED)
        else:
            value = -_search(memory, table, ply + 1, depth - 1, -alpha - 1, -alpha, MOVED)
            if alpha < value < beta:
                value = -_search(memory, table, ply + 1, depth - 1, -beta, -alpha, MOVED)
        if memory.nodes >= memory.most:
            return np.int64(0)
        if value > best:
            best, chosen = value, move
            if value > alpha:
                _take_over(memory, ply, move, captures)
        alpha = max(alpha, best)
        if alpha >= beta:
            if not captures and memory.killers[ply, 0] != move:
                memory.killers[ply, 1], memory.killers[ply, 0] = memory.killers[ply, 0], move
            break
    entry.key, entry.score, entry.move, entry.depth = key, best, chosen, depth
    entry.kind = _HIGH if best >= beta else _EXACT if best > lowest else _LOW
    return best


@numba.njit(nogil=True, cache=True)
def _quieten(memory, table, rows, most, reached, scores, quiet, lines):  # type: ignore[no-untyped-def]
    """Arguments and results as those of `quieten`, which gives the room for them."""
    memory.repeated_count = 0
    for at in range(rows.shape[0]):
        for i in range(START_WIDTH):
            memory.rows[0, i] = rows[at, i]
        set_root(memory)
        memory.nodes, memory.most = 0, most
        reached[at] = -1
        for depth in range(scores.shape[1]):
            score = _search(memory, table, np.int64(0), np.int64(depth), np.int64(-MATED), np.int64(MATED), MOVED)
            if memory.nodes >= most:
                break
            reached[at], scores[at, depth] = depth, score
            for i in range(START_WIDTH):
                quiet[at, depth, i] = memory.leaf[0, i]
            for i in range(_LINE):
                lines[at, depth, i] = memory.line[0, i] if i < memory.length[0] else 0


def quieten(rows: NDArray[np.uint8], depth: int = 0, most: int = MAX_NODES, threads: int | None = None) -> Quiet:
    """The quiet positions behind positions, rows uint8 [n, 68] (codes, state), any n.

    depth: plies of all moves before captures alone count; 0: captures, promotions to a queen, and all moves of a
    side in check. most: positions that each search may visit. threads: default, all that this process may use.
    """
    n, d = len(rows), depth + 1
    rows = np.ascontiguousarray(rows[:, :START_WIDTH])
    found = Quiet(
        np.empty(n, np.int64),
        np.zeros((n, d), np.int32),
        np.zeros((n, d, START_WIDTH), np.uint8),
        np.zeros((n, d, _LINE), np.uint16),
    )

    def some(at: int) -> None:
        memory: Any = np.zeros(1, _MEMORY).view(np.recarray)[0]
        table = np.zeros(_ENTRIES, _ENTRY).view(np.recarray)
        part = slice(at, at + _CHUNK)
        _quieten(memory, table, rows[part], np.int64(most), *(each[part] for each in found))

    starts = range(0, n, _CHUNK)
    if len(starts) < 2 or (threads or cores()) < 2:
        for at in starts:
            some(at)
    else:
        with ThreadPoolExecutor(threads or cores()) as pool:
            list(pool.map(some, starts))
    return found
