"""The line of positions that a comparison search stands on, a row each: moves made, keys, what the rules decide."""

from __future__ import annotations

import numba
import numpy as np

from kibitz.games.chess.attacks import attacked, can_pass
from kibitz.games.chess.legal import MOST, generate
from kibitz.games.chess.replay import CASTLING, CLOCK, EN_PASSANT, SIDE, START_WIDTH, rights_kept
from kibitz.play.comparison.embedding import fill

PLIES = 128
"""Rows of a line; the search stays below."""
FIFTY = 100
FAR = 1 << 20
"""A ply that no line reaches."""
GOES_ON, MATE, DRAW = 0, 1, 2

_RANDOM = np.random.default_rng(773).integers(-(1 << 63), 1 << 63, (13, 64), np.int64)
_PIECES = np.concatenate([np.zeros((1, 64), np.int64), _RANDOM[1:]])  # by code and square
_SIDE, _RIGHTS = _RANDOM[0, 0], _RANDOM[0, 8:24].copy()
_PASSING = np.concatenate([[0], _RANDOM[0, 24:32]])
_KEPT = rights_kept()
# Pawns' worth of P N B R Q K; a king is never lost, so that what defends by king alone is not counted as lost either.
_WORTH = np.array([0, 1, 3, 3, 5, 9, 0], np.int64)


STACK = [
    ("rows", "u1", (PLIES, START_WIDTH)),
    ("keys", "i8", (PLIES,)),  # of what the rules call the same position
    ("men", "i8", (PLIES,)),  # pieces on the board
    ("changed", "i8", (PLIES, 4)),  # squares that the move to a row has changed
    ("changes", "i8", (PLIES,)),  # and how many
    ("checks", "i8", (PLIES,)),  # pieces that give check
    ("count", "i8", (PLIES,)),  # legal moves
    ("moves", "u2", (PLIES, MOST)),
    ("before", "i8", (FIFTY,)),  # keys that occurred twice in the game
    ("before_count", "i8"),
    ("board", "i1", (64,)),  # the row entered last in its mover's view
    ("pinned", "i8", (64,)),
]
"""Fields of a line, all in one record: as so many arrays they would take long to pass, and minutes to compile."""


@numba.njit(nogil=True, cache=True)
def begin(stack):  # type: ignore[no-untyped-def]
    """Key and men of the first row."""
    row = stack.rows[0]
    key = np.int64(0)
    men = 0
    for square in range(64):
        if row[square]:
            key ^= _PIECES[row[square], square]
            men += 1
    if row[64 + SIDE]:
        key ^= _SIDE
    key ^= _RIGHTS[row[64 + CASTLING]]
    stack.keys[0] = key ^ _PASSING[row[64 + EN_PASSANT]]
    stack.men[0] = men


@numba.njit(nogil=True, cache=True)
def _put(stack, ply, square, code):  # type: ignore[no-untyped-def]
    row = stack.rows[ply]
    stack.keys[ply] ^= _PIECES[row[square], square] ^ _PIECES[code, square]
    row[square] = code
    stack.changed[ply, stack.changes[ply]] = square
    stack.changes[ply] += 1


@numba.njit(nogil=True, cache=True)
def make(stack, ply, move):  # type: ignore[no-untyped-def]
    """Make a legal move in row `ply`: writes the row after it. The rules are those of games/chess/replay.py."""
    below, row = stack.rows[ply], stack.rows[ply + 1]
    fill(row, below)
    after = ply + 1
    stack.changes[after] = 0
    stack.keys[after] = stack.keys[ply] ^ _PASSING[stack.rows[ply, 64 + EN_PASSANT]] ^ _SIDE
    origin, target, promotion = np.int64(move) & 63, np.int64(move) >> 6 & 63, np.int64(move) >> 12
    piece, captured = np.int64(below[origin]), np.int64(below[target])
    _put(stack, after, origin, 0)
    _put(stack, after, target, piece + promotion - 1 if promotion else piece)
    stack.men[after] = stack.men[ply] - (captured != 0)
    quiet = min(np.int64(below[64 + CLOCK]) + 1, 255)
    passed = np.int64(0)
    if piece == 1 or piece == 7:
        quiet = 0
        if target - origin == 16 or origin - target == 16:
            passed = (origin & 7) + 1
        elif captured == 0 and (target - origin) & 7 != 0:  # en passant
            _put(stack, after, (origin & 56) | (target & 7), 0)
            stack.men[after] -= 1
    elif captured:
        quiet = 0
    elif (piece == 6 or piece == 12) and origin & 7 == 4:
        if target == origin + 2:
            _put(stack, after, origin + 1, below[origin + 3])
            _put(stack, after, origin + 3, 0)
        elif origin == target + 2:
            _put(stack, after, origin - 1, below[origin - 4])
            _put(stack, after, origin - 4, 0)
    rights = below[64 + CASTLING] & _KEPT[origin] & _KEPT[target]
    stack.keys[after] ^= _RIGHTS[below[64 + CASTLING]] ^ _RIGHTS[rights]
    row[64 + CASTLING] = rights
    row[64 + SIDE] = 1 - below[64 + SIDE]
    row[64 + CLOCK] = quiet
    row[64 + EN_PASSANT] = passed if can_pass(row[:64], row[64 + SIDE], passed, stack.board) else 0
    stack.keys[after] ^= _PASSING[row[64 + EN_PASSANT]]


@numba.njit(nogil=True, cache=True)
def make_null_move(stack, ply):  # type: ignore[no-untyped-def]
    """The other side to move, nothing else changed; no repetition reaches over it."""
    row = stack.rows[ply + 1]
    fill(row, stack.rows[ply])
    stack.changes[ply + 1] = 0
    stack.keys[ply + 1] = stack.keys[ply] ^ _PASSING[row[64 + EN_PASSANT]] ^ _SIDE
    stack.men[ply + 1] = stack.men[ply]
    row[64 + SIDE] = 1 - row[64 + SIDE]
    row[64 + EN_PASSANT] = 0
    row[64 + CLOCK] = 0


@numba.njit(nogil=True, cache=True)
def enter(stack, ply):  # type: ignore[no-untyped-def]
    """Write a row's legal moves, and say what the rules decide: GOES_ON, MATE, DRAW; and from which row of the line
    that follows: FAR where from the position alone, -1 where from the game before or from the count to fifty."""
    row = stack.rows[ply]
    count, checks = generate(row[:64], row[64:], stack.board, stack.pinned, stack.moves[ply], 0)
    stack.count[ply], stack.checks[ply] = count, checks
    if count == 0:
        return (MATE if checks else DRAW), FAR
    if _dead(row, stack.men[ply]):
        return DRAW, FAR
    clock = np.int64(row[64 + CLOCK])
    if clock >= FIFTY:
        return DRAW, -1
    if clock >= 4:
        for back in range(ply - 4, max(-1, ply - clock - 1), -2):
            if stack.keys[back] == stack.keys[ply]:
                return DRAW, back
        for i in range(stack.before_count):
            if stack.before[i] == stack.keys[ply]:
                return DRAW, -1
    return GOES_ON, FAR


@numba.njit(nogil=True, cache=True)
def _dead(row, men):  # type: ignore[no-untyped-def]
    """Whether no series of moves can mate: king against king and at most a knight, or bishops of one colour."""
    if men > 12:
        return False
    knights, light, dark = 0, 0, 0
    for square in range(64):
        code = np.int64(row[square])
        piece = code - 6 if code > 6 else code
        if piece == 1 or piece == 4 or piece == 5:
            return False
        if piece == 2:
            knights += 1
        elif piece == 3:
            if (square >> 3) + square & 1:
                light += 1
            else:
                dark += 1
    if knights:
        return knights + light + dark == 1
    return light == 0 or dark == 0


@numba.njit(nogil=True, cache=True)
def static_exchange(board, side, move):  # type: ignore[no-untyped-def]
    """What a move takes, in pawns, and whether it loses at first sight: a dearer piece for a guarded one.

    board: as `generate` leaves it.
    """
    origin, target, promotion = np.int64(move) & 63, np.int64(move) >> 6 & 63, np.int64(move) >> 12
    piece = np.int64(board[origin])
    victim = -np.int64(board[target])
    if piece == 1 and victim == 0 and (origin ^ target) & 7:
        return 1, False
    won = _WORTH[victim] + (_WORTH[promotion] - 1 if promotion else 0)
    if promotion or piece == 6 or victim == 0 or _WORTH[piece] <= _WORTH[victim]:
        return won, False
    board[origin] = 0
    guarded = attacked(board, target, -8 if side else 8)
    board[origin] = piece
    return won, guarded
