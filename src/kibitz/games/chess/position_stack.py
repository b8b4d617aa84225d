"""The stack of positions of a compiled search: the positions of the current line, with their moves, keys (64-bit
hashes) and results.

The functions take `stack`, a record with at least the fields of STACK, and change it in place. Each search adds further
fields. `ply` is the index of a row of the stack; row 0 is the root of the search. A position is uint8 [68], codes and
state, and moves are packed, as in games/chess.
"""

from __future__ import annotations

import numpy as np

from kibitz.games.chess.attacks import attacked, can_pass
from kibitz.games.chess.board_kernels import next_state, other_squares, squares_of
from kibitz.games.chess.legal import MAX_MOVES, generate
from kibitz.games.chess.material import MAX_PIECES_INSUFFICIENT, PIECE_VALUES, insufficient_material
from kibitz.games.chess.replay import CASTLING, CLOCK, EN_PASSANT, FIFTY_MOVES, SIDE, START_WIDTH
from kibitz.kernels import fill, inner, kernel

MAX_PLIES = 128
"""The number of rows of the stack, which limits the length of a line of play. Searches use fewer rows."""
NO_ROW = 1 << 20
"""A number that is larger than the index of every row. It means that a result depends on no earlier position of the
stack.
"""
ONGOING, MATE, DRAW = 0, 1, 2
"""The possible results of a position by the rules of chess."""

_RANDOM = np.random.default_rng(773).integers(-(1 << 63), 1 << 63, (13, 64), np.int64)
_ZOBRIST_PIECES = np.concatenate([np.zeros((1, 64), np.int64), _RANDOM[1:]])  # by code and square
_ZOBRIST_BLACK, _ZOBRIST_RIGHTS = _RANDOM[0, 0], _RANDOM[0, 8:24].copy()
_ZOBRIST_EP = np.concatenate([[0], _RANDOM[0, 24:32]])  # by en-passant file + 1


STACK = [
    ("rows", "u1", (MAX_PLIES, START_WIDTH)),  # the positions: codes, then state
    ("keys", "i8", (MAX_PLIES,)),  # Zobrist keys, equal for positions that are the same by the rules
    ("piece_count", "i8", (MAX_PLIES,)),  # number of pieces on the board, including kings
    ("changed", "i8", (MAX_PLIES, 4)),  # squares that the move to a row has changed
    ("changes", "i8", (MAX_PLIES,)),  # number of these squares
    ("checks", "i8", (MAX_PLIES,)),  # number of pieces that give check
    ("move_count", "i8", (MAX_PLIES,)),  # legal moves
    ("moves", "u2", (MAX_PLIES, MAX_MOVES)),  # the legal moves, packed; the search sorts them
    ("repeated_keys", "i8", (FIFTY_MOVES,)),  # keys that occurred twice in the game before the root
    ("repeated_count", "i8"),  # number of these keys
    ("board", "i1", (64,)),  # the board of the row that was entered last, in its mover's view (attacks.py)
    ("pinned", "i8", (64,)),  # working memory of `generate`
]
"""The fields of the stack as a NumPy record dtype: name, type and shape. They are in one record, because separate
arrays as arguments are slow and take minutes to compile.
"""


@kernel
def set_root(stack):  # type: ignore[no-untyped-def]
    """Compute the key (a 64-bit hash) and the number of pieces of the root position, and write them to the stack.
    Before the call, the caller writes the root position to row 0.

    stack: the positions of the current line, one row per ply, as a record with the fields of STACK.
    """
    row = stack.rows[0]
    key = np.int64(0)
    count = 0
    for square in range(64):
        if row[square]:
            key ^= _ZOBRIST_PIECES[row[square], square]
            count += 1
    if row[64 + SIDE]:
        key ^= _ZOBRIST_BLACK
    key ^= _ZOBRIST_RIGHTS[row[64 + CASTLING]]
    stack.keys[0] = key ^ _ZOBRIST_EP[row[64 + EN_PASSANT]]
    stack.piece_count[0] = count


@inner
def _set_square(stack, ply, square, code):  # type: ignore[no-untyped-def]
    """Put a code on a square of row `ply`, and update the key and the list of changes."""
    row = stack.rows[ply]
    stack.keys[ply] ^= _ZOBRIST_PIECES[row[square], square] ^ _ZOBRIST_PIECES[code, square]
    row[square] = code
    stack.changed[ply, stack.changes[ply]] = square
    stack.changes[ply] += 1


@inner
def make_move(stack, ply, move):  # type: ignore[no-untyped-def]
    """Play a legal packed move (see `kibitz.games.chess.moves.from_move`) in the position of row `ply` of the stack,
    and write the new position to row `ply` + 1. The function also writes three properties of the new position: the key
    (a 64-bit hash), the number of pieces, and the squares that the move has changed.

    stack: the positions of the current line of a search, one row per ply, with the fields of STACK.
    """
    below, row = stack.rows[ply], stack.rows[ply + 1]
    fill(row, below)
    after = ply + 1
    stack.changes[after] = 0
    stack.keys[after] = stack.keys[ply] ^ _ZOBRIST_EP[stack.rows[ply, 64 + EN_PASSANT]] ^ _ZOBRIST_BLACK
    origin, target, promotion = squares_of(move)
    code, captured = np.int64(below[origin]), np.int64(below[target])
    piece = code - 6 if code > 6 else code
    _set_square(stack, after, origin, np.int64(0))
    _set_square(stack, after, target, code + promotion - 1 if promotion else code)
    emptied, filled = other_squares(piece, captured, origin, target)
    if emptied >= 0:
        if filled >= 0:
            _set_square(stack, after, filled, np.int64(below[emptied]))
        else:
            captured = np.int64(below[emptied])
        _set_square(stack, after, emptied, np.int64(0))
    stack.piece_count[after] = stack.piece_count[ply] - (captured != 0)
    before = np.int64(below[64 + CASTLING])
    rights, clock, double_step = next_state(piece, captured, origin, target, before, np.int64(below[64 + CLOCK]))
    stack.keys[after] ^= _ZOBRIST_RIGHTS[before] ^ _ZOBRIST_RIGHTS[rights]
    row[64 + CASTLING] = rights
    row[64 + SIDE] = 1 - below[64 + SIDE]
    row[64 + CLOCK] = min(clock, 255)
    passes = can_pass(row[:64], np.int64(row[64 + SIDE]), double_step, stack.board[:])
    row[64 + EN_PASSANT] = double_step if passes else 0
    stack.keys[after] ^= _ZOBRIST_EP[row[64 + EN_PASSANT]]


@inner
def make_null_move(stack, ply):  # type: ignore[no-untyped-def]
    """Play a null move: write the position of row `ply` of the stack to row `ply` + 1, but with the other side to move
    and without an en-passant right. stack: the positions of the current line of a search, one row per ply.

    In the new row, the number of plies since a capture or pawn move is 0, so that no repetition extends across the null
    move.
    """
    row = stack.rows[ply + 1]
    fill(row, stack.rows[ply])
    stack.changes[ply + 1] = 0
    stack.keys[ply + 1] = stack.keys[ply] ^ _ZOBRIST_EP[row[64 + EN_PASSANT]] ^ _ZOBRIST_BLACK
    stack.piece_count[ply + 1] = stack.piece_count[ply]
    row[64 + SIDE] = 1 - row[64 + SIDE]
    row[64 + EN_PASSANT] = 0
    row[64 + CLOCK] = 0


@kernel
def enter(stack, ply):  # type: ignore[no-untyped-def]
    """Generate the legal moves of the position in row `ply` of the stack, and determine whether the rules end the game
    in this position. stack: the positions of the current line of a search, one row per ply.

    Returns two integers. The first integer is the verdict: ONGOING, MATE (the mover is mated) or DRAW. The second
    integer shows on what the verdict depends:

    NO_ROW: the verdict depends only on the position.
    A row of the stack: the position is drawn because it repeats the position in this row.
    -1: the verdict depends on the game before the root, or on the fifty-move rule.
    """
    row = stack.rows[ply]
    # Slices, because in numba a field of a record has a different type from an array, and `generate` is compiled for
    # arrays.
    board, pinned = stack.board[:], stack.pinned[:]
    count, checks = generate(row[:64], row[64:], board, pinned, stack.moves[ply], np.int64(0))
    stack.move_count[ply], stack.checks[ply] = count, checks
    if count == 0:
        return (MATE if checks else DRAW), NO_ROW
    if stack.piece_count[ply] <= MAX_PIECES_INSUFFICIENT and insufficient_material(row):
        return DRAW, NO_ROW
    clock = np.int64(row[64 + CLOCK])
    if clock >= FIFTY_MOVES:
        return DRAW, -1
    if clock >= 4:
        for back in range(ply - 4, max(-1, ply - clock - 1), -2):
            if stack.keys[back] == stack.keys[ply]:
                return DRAW, back
        for i in range(stack.repeated_count):
            if stack.repeated_keys[i] == stack.keys[ply]:
                return DRAW, -1
    return ONGOING, NO_ROW


@inner
def static_exchange(board, side, move):  # type: ignore[no-untyped-def]
    """Return two values about a capture or promotion. The first value is the material that the move gains, in pawns.
    The second value is true if the moving piece is more valuable than the captured piece, and the captured piece is
    defended. The second value is always false for a promotion and for a king's move.

    The function ignores later captures, so it is not a full static exchange evaluation.

    board: int8 [64], the types of pieces, 1 to 6 for the mover's and negative for the opponent's. side: the side to
    move, 0 White or 1 Black. move: a legal packed move (see `kibitz.games.chess.moves.from_move`).
    """
    origin, target, promotion = squares_of(move)
    piece = np.int64(board[origin])
    victim = -np.int64(board[target])
    if piece == 1 and victim == 0 and (origin ^ target) & 7:  # en passant: pawn for pawn
        return 1, False
    won = PIECE_VALUES[victim] + (PIECE_VALUES[promotion] - 1 if promotion else 0)
    if promotion or piece == 6 or victim == 0 or PIECE_VALUES[piece] <= PIECE_VALUES[victim]:
        return won, False
    board[origin] = 0
    guarded = attacked(board, target, -8 if side else 8)
    board[origin] = piece
    return won, guarded


@inner
def has_non_pawn_material(board):  # type: ignore[no-untyped-def]
    """Return whether the side to move has a piece other than king and pawns. board: int8 [64], the types of pieces, 1
    to 6 for the mover's and negative for the opponent's.

    Without such a piece, null moves are unsafe in a search, because zugzwang is likely.
    """
    count = 0
    for square in range(64):
        count += 1 < board[square] < 6
    return count > 0
