"""Find the move that mates a king without other pieces (a bare king), or drives it to a square on which it can be
mated.

The endings are king and rook, two bishops, bishop and knight, or more, against a king alone. Games in training data
hardly ever contain them, and the mate is often deeper than a search. So chess programs use known signs of progress: the
bare king is at the edge (against bishop and knight, in a corner of the bishop's color), and the other king is near it.
A separate alpha-beta search here looks for this progress and for the mate, about ten plies deep.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.material import PIECE_VALUES
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.position_stack import MATE, ONGOING, STACK, enter, make_move, set_root
from kibitz.games.chess.replay import SIDE, SQUARES, START_WIDTH, encode_board, encode_history
from kibitz.kernels import inner, kernel
from kibitz.play.result import SearchLimits

MAX_NODES = 30_000
"""The largest number of positions that a search visits, which takes about 0.03 s."""
_RATE = 100_000
"""Number of positions per second of thinking time, which takes a small share of the time."""
_DEEPEST = 24
"""The largest depth in plies. It must be even, so that leaves have the same side to move as the root."""
_MATE_SCORE, _SURE, _INFINITE = 30_000, 29_000, 32_000
_PIECE, _CORNER, _NEARNESS = 20, 60, 35
"""Weights: _PIECE for a pawn of material, _CORNER for a step of the bare king towards its edge or corner, _NEARNESS for
a step of the kings towards each other.
"""
_ENTRIES = 1 << 14
_UPPER_BOUND, _EXACT, _LOWER_BOUND = 1, 2, 3
_NO_MOVE = np.uint16(0)
_ENTRY = np.dtype([("key", "i8"), ("score", "i4"), ("move", "u2"), ("depth", "i1"), ("kind", "i1")], align=True)
_MEMORY = np.dtype([*STACK, ("nodes", "i8"), ("max_nodes", "i8")], align=True)


def narrowed(board: chess.Board, limits: SearchLimits) -> SearchLimits:
    """Return the limits of a search, restricted to one move that makes progress towards mate. If the opponent has other
    pieces than a king, or the mover can't force mate, the limits are returned unchanged.

    The move never repeats a position of the game since the last capture or pawn move. If `limits.moves` is not empty,
    the limits are also returned unchanged.
    """
    if limits.moves or not can_mate(board):
        return limits
    rows = np.concatenate([encode_board(board)[None], encode_history(board)[::-1]])
    nodes = MAX_NODES if limits.seconds is None else min(MAX_NODES, int(limits.seconds * _RATE))
    move = best_move(rows, max(1, nodes))
    return limits if move is None else replace(limits, moves=(to_move(move),))


def best_move(rows: NDArray[np.uint8], max_nodes: int = MAX_NODES) -> int | None:
    """Return the best packed move against a king without other pieces (a bare king); None if no move is found within
    `max_nodes` positions.

    rows: uint8 [n, 68], codes and state. Row 0 is the position. The other rows are earlier positions of its game, whose
    repetition counts as a draw.
    """
    memory: Any = np.zeros(1, _MEMORY).view(np.recarray)[0]
    table = np.zeros(_ENTRIES, _ENTRY).view(np.recarray)
    found = int(_deepen(memory, table, rows, np.int64(max_nodes)))
    return found or None


def can_mate(board: chess.Board) -> bool:
    """Return whether the opponent has only a king, and the side to move has enough material to force mate."""
    if chess.popcount(board.occupied_co[not board.turn]) != 1 or not board.is_valid():
        return False
    return has_mating_material(board, board.turn)


def has_mating_material(board: chess.Board, side: chess.Color) -> bool:
    """Return whether a side has a queen, a rook, two bishops on squares of different colors, or a bishop and a knight.
    side: chess.WHITE or chess.BLACK.
    """
    own = board.occupied_co[side]
    bishops, knights = board.bishops & own, board.knights & own
    pair = bool(bishops & chess.BB_LIGHT_SQUARES) and bool(bishops & chess.BB_DARK_SQUARES)
    return bool((board.queens | board.rooks) & own) or pair or bool(bishops and knights)


@inner
def _measure(row):  # type: ignore[no-untyped-def]
    """Return how far the bare king has been driven. The side to move has the pieces. row: uint8 [68]."""
    side = np.int64(row[SQUARES + SIDE])
    worth, king, other = 0, 0, 0
    light, dark, major = 0, 0, 0
    for square in range(SQUARES):
        code = np.int64(row[square])
        if code == 0:
            continue
        piece = (code - 1) % 6 + 1
        worth += PIECE_VALUES[piece]
        if piece == 3 and (square >> 3) + square & 1:
            light += 1
        elif piece == 3:
            dark += 1
        elif piece == 4 or piece == 5:
            major += 1
        elif piece == 6 and (code > 6) == (side == 1):
            other = square
        elif piece == 6:
            king = square
    file, rank = king & 7, king >> 3
    near = 7 - max(abs(file - (other & 7)), abs(rank - (other >> 3)))
    if major == 0 and (light == 0 or dark == 0):
        distance = abs(7 - rank - (7 - file if light else file))  # 7 in the two corners of the bishop's color
    else:
        distance = max(3 - file, file - 4) + max(3 - rank, rank - 4)
    return np.int64(_PIECE * worth + _CORNER * distance + _NEARNESS * near)


@inner
def _search(memory, table, ply, depth, alpha, beta):  # type: ignore[no-untyped-def]
    """Return the score of row `ply`, which is already written, for its mover (fail-soft).

    The score is meaningless once `nodes` has reached `max_nodes`. depth: remaining plies, even if the side with the
    pieces is to move.
    """
    memory.nodes += 1
    if memory.nodes >= memory.max_nodes:
        return np.int64(0)
    end, _ = enter(memory, ply)
    if end != ONGOING and (ply > 0 or memory.move_count[ply] == 0):  # at the root, a repetition does not end the search
        return ply - _MATE_SCORE if end == MATE else np.int64(0)
    if depth <= 0:
        return _measure(memory.rows[ply])
    key = memory.keys[ply]
    entry = table[key & (table.shape[0] - 1)]
    first = _NO_MOVE
    if entry.key == key:
        first = entry.move
        if ply > 0 and entry.depth == depth and -_SURE < entry.score < _SURE:
            if entry.kind != _UPPER_BOUND and entry.score >= beta:
                return np.int64(entry.score)
            if entry.kind != _LOWER_BOUND and entry.score <= alpha:
                return np.int64(entry.score)
    best, chosen, lowest = np.int64(-_INFINITE), _NO_MOVE, alpha
    moves = memory.moves[ply]
    for i in range(memory.move_count[ply]):
        if moves[i] == first:
            moves[i], moves[0] = moves[0], first
    for i in range(memory.move_count[ply]):
        move = moves[i]
        make_move(memory, ply, move)
        score = -_search(memory, table, ply + 1, depth - 1, -beta, -alpha)
        if memory.nodes >= memory.max_nodes:
            return np.int64(0)
        if score > best:
            best, chosen = score, move
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    entry.key, entry.score, entry.move, entry.depth = key, best, chosen, depth
    entry.kind = _LOWER_BOUND if best >= beta else _EXACT if best > lowest else _UPPER_BOUND
    return best


@kernel
def _deepen(memory, table, rows, max_nodes):  # type: ignore[no-untyped-def]
    """Return the best move of the deepest completed search, 0 for none; see `best_move`. rows: uint8 [n, 68], the
    positions as rows of 64 codes and 4 numbers of the state.
    """
    for n in range(rows.shape[0] - 1, -1, -1):
        for i in range(START_WIDTH):
            memory.rows[0, i] = rows[n, i]
        set_root(memory)
        if 0 < n <= memory.repeated_keys.shape[0]:
            memory.repeated_keys[n - 1] = memory.keys[0]
    memory.repeated_count = min(rows.shape[0] - 1, memory.repeated_keys.shape[0])
    memory.nodes, memory.max_nodes = 0, max_nodes
    found = _NO_MOVE
    for depth in range(2, _DEEPEST + 1, 2):
        infinite = np.int64(_INFINITE)
        score = _search(memory, table, np.int64(0), np.int64(depth), -infinite, infinite)
        if memory.nodes >= max_nodes:
            break
        found = table[memory.keys[0] & (table.shape[0] - 1)].move
        if score >= _SURE:
            break
    return found
