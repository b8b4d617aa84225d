"""Quiescence search: follow captures, promotions, checks and mates to a quiet position, and count the material.

In a quiet position, no piece can be captured for free. Networks evaluate quiet positions best. This alpha-beta search
counts only material. It searches all moves to a given depth. Beyond this depth, it searches captures and promotions to
a queen until neither side gains by capturing. If a side is in check, all its moves are searched.

The search returns a quiet position for each depth: the position after the last capture or promotion of the best line.
If the line has none, the result is the position from which the line begins. Quiet moves at the end of the line are
excluded, because they don't change the material, and the search chooses among them arbitrarily.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.cores import cores
from kibitz.games.chess.attacks import attacked, look
from kibitz.games.chess.legal import MAX_MOVES
from kibitz.games.chess.material import CODE_VALUES
from kibitz.games.chess.position_stack import (
    MATE,
    MAX_PLIES,
    ONGOING,
    STACK,
    enter,
    has_non_pawn_material,
    make_move,
    make_null_move,
    set_root,
    static_exchange,
)
from kibitz.games.chess.replay import SIDE, START_WIDTH
from kibitz.kernels import inner, kernel

MATE_SCORE = 30_000
"""The score of a mate on the board. The score of a mate in n plies is lower by n."""
SURE = MATE_SCORE - MAX_PLIES
"""If the absolute value of a score is at least this number, the score means a mate."""
MAX_NODES = 300_000
"""The largest number of positions in one search. If a depth is not finished within this number, its results are not
used.
"""
_DEEPEST = 48
"""Number of plies after which captures are no longer searched."""
_LINE = 16
"""The largest number of moves of a line."""
_KILLER, _LOSING, _FIRST = 50, -100_000, 100_000
"""Scores that order moves: quiet moves that caused a cutoff; captures that obviously lose material; the table's move. A
capture has a score of 100 per pawn that it gains. The history of a quiet move stays below _KILLER.
"""
_CAPTURE = 90
"""Moves with at least this score capture or promote and don't obviously lose material."""
_CHECKS = np.int64(3)
"""In the first checks of a line, up to this number, all moves are searched; later only captures."""
NO_MOVE = np.uint16(0)
NO_ROWS = np.zeros((0, START_WIDTH), np.uint8)
MOVED, PASSED = np.int64(0), np.int64(1)
"""How a position was reached: MOVED by a move, or PASSED by a null move. Both have the type int64, because a recursive
function that is compiled for two argument types crashes when it comes from numba's cache.
"""
_UPPER_BOUND, _EXACT, _LOWER_BOUND = 1, 2, 3
"""Kinds of scores in the table."""
_MEMORY = np.dtype(
    [
        *STACK,
        ("scores", "i4", (MAX_PLIES, MAX_MOVES)),
        ("leaf", "u1", (MAX_PLIES, START_WIDTH)),  # the quiet position at the end of each row's best line
        ("no_capture", "u1", (MAX_PLIES,)),  # whether no move of this line is a capture
        ("line", "u2", (MAX_PLIES, _LINE)),
        ("length", "i8", (MAX_PLIES,)),
        ("killers", "u2", (MAX_PLIES, 2)),
        ("nodes", "i8"),
        ("max_nodes", "i8"),
    ],
    align=True,
)
_ENTRY = np.dtype(
    [("key", "i8"), ("score", "i4"), ("move", "u2"), ("depth", "i1"), ("kind", "i1")], align=True
)  # entries of the table
_ENTRIES = 1 << 17
_CHUNK = 32
"""Number of positions that one thread searches in order, with the same table."""


_MOVE_NODES = 2_000
"""The largest number of positions visited after one move of `quiesce_moves`."""
_MARGIN = 500
"""If a move is worse than the best move by more than this number of hundredths of a pawn, it isn't searched exactly."""


class QuiescenceResult(NamedTuple):
    """The results of quiescence searches of n positions, for depths 0 to D, from the point of view of the side to move.

    reached: int64 [n], the largest completed depth; −1 if no depth was completed. In the arrays below, the entries for
        larger depths are 0.
    scores: int32 [n, D + 1], the material balance in hundredths of a pawn; scores beyond ±SURE (almost 30,000) are
        mates.
    rows: uint8 [n, D + 1, 68], the quiet positions at the end of the best lines of moves (codes and state, see
        `kibitz.PositionArrays`).
    lines: uint16 [n, D + 1, 16], the packed moves (see `kibitz.games.chess.moves.from_move`) of the best lines, 0 after
        the end of a line.
    nodes: int64 [n], the number of positions that each search visited.
    """

    reached: NDArray[np.int64]
    scores: NDArray[np.int32]
    rows: NDArray[np.uint8]
    lines: NDArray[np.uint16]
    nodes: NDArray[np.int64]


@inner
def _material(row):  # type: ignore[no-untyped-def]
    """Return the mover's material minus the opponent's, in hundredths of a pawn. row: uint8 [68]."""
    total = 0
    for square in range(64):
        total += int(CODE_VALUES[row[square]])
    return -100 * total if row[64 + SIDE] else 100 * total


@inner
def _score_moves(memory, ply, first):  # type: ignore[no-untyped-def]
    """Score the moves of a row, in this order: the table's move, captures by gain, killers, quiet moves, losing
    captures.
    """
    side = np.int64(memory.rows[ply, 64 + SIDE])
    for i in range(memory.move_count[ply]):
        move = memory.moves[ply, i]
        won, loses = static_exchange(memory.board[:], side, move)
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
def _pick_move(memory, ply, i):  # type: ignore[no-untyped-def]
    """Swap the move with the largest score, from index i on, to index i, and return it."""
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
def _set_leaf(memory, ply):  # type: ignore[no-untyped-def]
    """Set the leaf to the position itself, and clear the principal variation."""
    for i in range(START_WIDTH):
        memory.leaf[ply, i] = memory.rows[ply, i]
    memory.no_capture[ply] = 1
    memory.length[ply] = 0


@inner
def _update_pv(memory, ply, move, captures):  # type: ignore[no-untyped-def]
    """Set the principal variation to this move plus the principal variation of the next row."""
    if memory.no_capture[ply + 1] and not captures:
        _set_leaf(memory, ply)
    else:
        for i in range(START_WIDTH):
            memory.leaf[ply, i] = memory.leaf[ply + 1, i]
        memory.no_capture[ply] = 0
    memory.line[ply, 0] = move
    copied = min(memory.length[ply + 1], _LINE - 1)
    for i in range(copied):
        memory.line[ply, i + 1] = memory.line[ply + 1, i]
    memory.length[ply] = copied + 1


@inner
def _captures(memory, ply, move):  # type: ignore[no-untyped-def]
    """Return whether a legal move of the row captures or promotes; `make_move` has been called for it."""
    return memory.piece_count[ply + 1] != memory.piece_count[ply] or move >> 12 != 0


@inner
def _gives_check(memory, ply):  # type: ignore[no-untyped-def]
    """Return whether the mover of a row is in check. The row is written, but not entered."""
    row = memory.rows[ply]
    side, board = np.int64(row[64 + SIDE]), memory.board[:]
    king = look(row[:64], side, board)
    return king >= 0 and attacked(board, king, -8 if side else 8)


@inner
def _qsearch(memory, ply, alpha, beta, checks_left):  # type: ignore[no-untyped-def]
    """Return the score of row `ply`, which is written but not entered, after captures and promotions to a queen.

    If the mover is in check, all moves are searched, but only in the next `checks_left` checks of the line.
    """
    memory.nodes += 1
    _set_leaf(memory, ply)
    if memory.nodes >= memory.max_nodes:
        return np.int64(0)
    end, _ = enter(memory, ply)
    if end != ONGOING:
        memory.no_capture[ply] = end != MATE
        return ply - MATE_SCORE if end == MATE else np.int64(0)
    in_check = memory.checks[ply] > 0 and checks_left > 0
    standing = _material(memory.rows[ply])
    if ply >= _DEEPEST:
        return standing
    best = np.int64(-MATE_SCORE) if in_check else standing
    if best >= beta:
        return best
    alpha = max(alpha, best)
    _score_moves(memory, ply, NO_MOVE)
    for i in range(memory.move_count[ply]):
        move = _pick_move(memory, ply, i)
        score = memory.scores[ply, i]
        if not in_check and (score < _CAPTURE or standing + score + 100 <= alpha):
            break
        make_move(memory, ply, move)
        captures = _captures(memory, ply, move)
        value = -_qsearch(memory, ply + 1, -beta, -alpha, checks_left - np.int64(in_check))
        if value > best:
            best = value
            _update_pv(memory, ply, move, captures)
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return best


@inner
def _search(memory, table, ply, depth, alpha, beta, passed):  # type: ignore[no-untyped-def]
    """Return the score of row `ply`, which is written but not entered, `depth` plies deep (fail-soft).

    The score is meaningless once `nodes` has reached `max_nodes`. passed: MOVED, or PASSED after a null move.
    """
    if depth <= 0:
        return _qsearch(memory, ply, alpha, beta, _CHECKS)
    memory.nodes += 1
    _set_leaf(memory, ply)
    if memory.nodes >= memory.max_nodes:
        return np.int64(0)
    end, _ = enter(memory, ply)
    if end != ONGOING:
        memory.no_capture[ply] = end != MATE
        return ply - MATE_SCORE if end == MATE else np.int64(0)
    in_check = memory.checks[ply] > 0
    standing = _material(memory.rows[ply])
    if ply >= _DEEPEST:
        return standing
    narrow = beta - alpha == 1  # in a null window, only the comparison with beta matters, so no line is needed
    key = memory.keys[ply]
    entry = table[key & (table.shape[0] - 1)]
    first = NO_MOVE
    if entry.key == key:
        first = entry.move
        sure = entry.score >= SURE or entry.score <= -SURE  # mate scores in the table count plies from another root
        if narrow and entry.depth >= depth and not sure:
            if entry.kind != _UPPER_BOUND and entry.score >= beta:
                return np.int64(entry.score)
            if entry.kind != _LOWER_BOUND and entry.score <= alpha:
                return np.int64(entry.score)
    may_pass = narrow and not in_check and passed == MOVED and depth >= 3 and standing >= beta
    if may_pass and has_non_pawn_material(memory.board[:]):
        make_null_move(memory, ply)
        value = -_search(memory, table, ply + 1, depth - 3, -beta, 1 - beta, PASSED)
        if value >= beta and value < SURE:
            return value
        enter(memory, ply)  # the null move has changed the board
        _set_leaf(memory, ply)
    _score_moves(memory, ply, first)
    best, chosen, lowest = np.int64(-MATE_SCORE), NO_MOVE, alpha
    for i in range(memory.move_count[ply]):
        move = _pick_move(memory, ply, i)
        make_move(memory, ply, move)
        captures = _captures(memory, ply, move)
        futile = depth == 1 and not captures and not in_check and standing <= alpha
        # Futility pruning: the opponent can stand pat, so this move cannot raise the score above alpha.
        if futile and not _gives_check(memory, ply + 1):
            best = max(best, standing)
            continue
        if i == 0 or narrow:
            value = -_search(memory, table, ply + 1, depth - 1, -beta, -alpha, MOVED)
        else:
            value = -_search(memory, table, ply + 1, depth - 1, -alpha - 1, -alpha, MOVED)
            if alpha < value < beta:
                value = -_search(memory, table, ply + 1, depth - 1, -beta, -alpha, MOVED)
        if memory.nodes >= memory.max_nodes:
            return np.int64(0)
        if value > best:
            best, chosen = value, move
            if value > alpha:
                _update_pv(memory, ply, move, captures)
        alpha = max(alpha, best)
        if alpha >= beta:
            if not captures and memory.killers[ply, 0] != move:
                memory.killers[ply, 1], memory.killers[ply, 0] = memory.killers[ply, 0], move
            break
    entry.key, entry.score, entry.move, entry.depth = key, best, chosen, depth
    entry.kind = _LOWER_BOUND if best >= beta else _EXACT if best > lowest else _UPPER_BOUND
    return best


@kernel
def _search_all(memory, table, rows, drawn, max_nodes, reached, scores, quiet, lines, nodes):  # type: ignore[no-untyped-def]
    """Run `quiescence_search` on rows, uint8 [n, 68]. Writes the fields of a QuiescenceResult."""
    memory.repeated_count = min(drawn.shape[0], memory.repeated_keys.shape[0])
    for n in range(memory.repeated_count):
        for i in range(START_WIDTH):
            memory.rows[0, i] = drawn[n, i]
        set_root(memory)
        memory.repeated_keys[n] = memory.keys[0]
    for n in range(rows.shape[0]):
        for i in range(START_WIDTH):
            memory.rows[0, i] = rows[n, i]
        set_root(memory)
        memory.nodes, memory.max_nodes = 0, max_nodes
        reached[n] = -1
        for depth in range(scores.shape[1]):
            score = _search(
                memory, table, np.int64(0), np.int64(depth), np.int64(-MATE_SCORE), np.int64(MATE_SCORE), MOVED
            )
            if memory.nodes >= max_nodes:
                break
            reached[n], scores[n, depth] = depth, score
            for i in range(START_WIDTH):
                quiet[n, depth, i] = memory.leaf[0, i]
            for i in range(_LINE):
                lines[n, depth, i] = memory.line[0, i] if i < memory.length[0] else 0
        nodes[n] = memory.nodes


@kernel
def _quiesce_moves(memory, rows, moves, offsets, material, scores, checks):  # type: ignore[no-untyped-def]
    """Run `MoveQuiescence.scores`. Writes the fields of a MoveScores."""
    memory.repeated_count, memory.max_nodes = 0, _MOVE_NODES
    root, after, checks_left = np.int64(0), np.int64(1), _CHECKS
    for n in range(rows.shape[0]):
        for i in range(START_WIDTH):
            memory.rows[0, i] = rows[n, i]
        set_root(memory)
        material[n] = _material(memory.rows[0])
        best = np.int64(-MATE_SCORE)
        for at in range(offsets[n], offsets[n + 1]):
            memory.nodes = 0
            make_move(memory, root, moves[at])
            least = max(best - _MARGIN, np.int64(-MATE_SCORE))
            score = max(-_qsearch(memory, after, np.int64(-MATE_SCORE), -least, checks_left), least)
            scores[at] = score if memory.nodes < _MOVE_NODES else material[n]
            checks[at] = memory.checks[1] > 0
            best = max(best, np.int64(scores[at]))


class MoveScores(NamedTuple):
    """The results of a capture search after every move of n positions, in hundredths of a pawn, from the point of view
    of the side that moves.

    material: int32 [n], the material balance before the moves.
    scores: int32 [total], the balance after each move and the captures, promotions and replies to checks that follow.
        The score of a move that is far worse than an earlier move is only an upper bound. Scores beyond ±SURE (almost
        30,000) are mates.
    checks: bool [total], whether the move gives check.
    """

    material: NDArray[np.int32]
    scores: NDArray[np.int32]
    checks: NDArray[np.bool_]


class MoveQuiescence:
    """Searches captures after every move of positions, until no capture gains anything. Only one thread at a time may
    use an instance.
    """

    def __init__(self) -> None:
        self._memory: Any = np.zeros(1, _MEMORY).view(np.recarray)[0]

    def scores(self, rows: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]) -> MoveScores:
        """Return the material balance after each legal move and the captures that follow (see `MoveScores`).

        rows: uint8 [n, 68 or more], the positions (codes and state, see `kibitz.PositionArrays`). moves: uint16
        [total], the packed legal moves (see `kibitz.games.chess.moves.from_move`) of all positions. offsets: int64 [n +
        1], the index at which each position's moves begin.
        """
        n, total = len(rows), len(moves)
        found = MoveScores(np.empty(n, np.int32), np.empty(total, np.int32), np.empty(total, np.bool_))
        _quiesce_moves(self._memory, rows, moves, offsets, *found)
        return found


def quiescence_search(
    rows: NDArray[np.uint8],
    depth: int = 0,
    max_nodes: int = MAX_NODES,
    threads: int | None = None,
    drawn: NDArray[np.uint8] = NO_ROWS,
) -> QuiescenceResult:
    """Run a quiescence search of each position. Returns the score, the best line, and the quiet position at its end,
    for each depth from 0 to `depth`.

    rows: uint8 [n, 68], codes and state; n may be 0.
    depth: the number of plies in which all moves are searched. After them, the search follows only captures and
        promotions to a queen or, if the mover is in check, all moves.
    max_nodes: the largest number of positions in each search.
    threads: the number of threads; None for one per core that this process may use.
    drawn: uint8 [k, 68], positions that count as draws if they occur in the search.
    """
    n, d = len(rows), depth + 1
    rows = np.ascontiguousarray(rows[:, :START_WIDTH])
    result = QuiescenceResult(
        np.empty(n, np.int64),
        np.zeros((n, d), np.int32),
        np.zeros((n, d, START_WIDTH), np.uint8),
        np.zeros((n, d, _LINE), np.uint16),
        np.empty(n, np.int64),
    )

    def search_chunk(start: int) -> None:
        memory: Any = np.zeros(1, _MEMORY).view(np.recarray)[0]
        table = np.zeros(_ENTRIES, _ENTRY).view(np.recarray)
        chunk = slice(start, start + _CHUNK)
        _search_all(memory, table, rows[chunk], drawn, np.int64(max_nodes), *(array[chunk] for array in result))

    starts = range(0, n, _CHUNK)
    if len(starts) < 2 or (threads or cores()) < 2:
        for start in starts:
            search_chunk(start)
    else:
        with ThreadPoolExecutor(threads or cores()) as pool:
            list(pool.map(search_chunk, starts))
    return result
