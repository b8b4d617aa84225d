"""Compiled functions that make a chess move on a board. Other compiled functions call them.

A board is `codes`, uint8 [64]: 0 empty, 1 to 6 White's P N B R Q K, 7 to 12 Black's. A move is packed into 16 bits
(`moves.py`) and must be legal: the functions don't check it. `other_squares` also works for a board in the mover's view
(`attacks.py`), because its squares have the same indices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import inner


def _rights_after() -> NDArray[np.uint8]:
    """Return the castling rights that remain after a move from or to each square, uint8 [64]."""
    masks = np.full(64, 15, np.uint8)
    for square, lost in ((4, 3), (7, 1), (0, 2), (60, 12), (63, 4), (56, 8)):  # the kings' squares, then the rooks'
        masks[square] = 15 - lost
    return masks


RIGHTS_AFTER = _rights_after()
"""The castling rights that remain after a move from or to each square, uint8 [64], as bits: 1 K, 2 Q, 4 k, 8 q."""


@inner
def squares_of(move):  # type: ignore[no-untyped-def]
    """Return three parts of a packed move (see `kibitz.games.chess.moves.from_move`): the from-square and the
    to-square, 0 to 63, and the promotion piece. All are int64.

    The promotion piece is 0 if there is none, or 2 knight, 3 bishop, 4 rook, 5 queen.
    """
    return np.int64(move) & 63, np.int64(move) >> 6 & 63, np.int64(move) >> 12


@inner
def other_squares(piece, captured, origin, target):  # type: ignore[no-untyped-def]
    """Return two squares that castling or en passant changes in addition to the move's from-square and to-square: the
    square that is emptied, and the square that is filled. Each is -1 if there is none.

    En passant empties the square of the captured pawn and fills no other square. Castling empties the rook's corner and
    fills the square that the king passed over.

    piece: the type of the moving piece, 1 to 6. captured: the piece on the to-square before the move; 0 if there is
    none. origin, target: the from-square and the to-square.
    """
    if piece == 1:
        if captured == 0 and (target - origin) & 7 != 0:  # a diagonal step onto an empty square
            return (origin & 56) | (target & 7), -1
    elif piece == 6 and origin & 7 == 4:  # only castling moves a king by two files, and only from its home file
        if target == origin + 2:
            return origin + 3, origin + 1
        if target == origin - 2:
            return origin - 4, origin - 1
    return -1, -1


@inner
def next_state(piece, captured, origin, target, rights, clock):  # type: ignore[no-untyped-def]
    """Return three state values of the position after a move: castling rights, the fifty-move clock, and the en-passant
    file.

    The castling rights are bits (1 K, 2 Q, 4 k, 8 q). The clock is the number of plies since the last capture or pawn
    move, not limited to 255. The last value is 1 + the file (0 to 7) of a pawn that made a double step, or 0 after any
    other move.

    piece: the type of the moving piece, 1 to 6. captured: the captured piece; 0 if there is none. origin, target: the
    from-square and the to-square. rights, clock: the castling rights and the clock before the move.
    """
    rights &= RIGHTS_AFTER[origin] & RIGHTS_AFTER[target]
    if piece == 1:
        double_step = target - origin == 16 or origin - target == 16
        return rights, 0, (origin & 7) + 1 if double_step else 0
    return rights, 0 if captured else clock + 1, 0


@inner
def play_moves(board, moves, first, end, rights, clock, taken):  # type: ignore[no-untyped-def]
    """Play `moves[first:end]`, packed moves (see `kibitz.games.chess.moves.from_move`), on `board`, which is changed in
    place. board: uint8 [64], the position's codes.

    rights, clock: the castling rights, and the plies since the last capture or pawn move, before the first move. taken:
    an output, bool [moves]: whether each move is a capture; None for no output. `first` must be less than `end`.

    Returns three numbers of the state after the last move. The first number is the castling rights. The second is the
    number of plies since the last capture or pawn move, not limited to 255. The third is 1 + the file (0 to 7) of the
    moved pawn if the last move is a double step; otherwise 0. `attacks.can_pass` tests whether this pawn can be
    captured en passant.

    This function duplicates the code of `other_squares` and `next_state` inside its loop: with one call per move,
    replaying a store took a quarter longer. tests/games/chess/test_board_kernels.py compares the two versions.
    """
    double_step = 0
    for at in range(first, end):
        move = moves[at]
        origin = move & 63
        target = move >> 6 & 63
        promotion = move >> 12
        piece = board[origin]
        captured = board[target]
        if taken is not None:
            taken[at] = captured != 0
        board[origin] = 0
        board[target] = piece
        rights &= RIGHTS_AFTER[origin] & RIGHTS_AFTER[target]
        clock += 1
        double_step = 0
        if piece == 1 or piece == 7:
            clock = 0
            step = np.int64(target) - np.int64(origin)
            if step == 16 or step == -16:
                double_step = (origin & 7) + 1
            elif captured == 0 and step & 7 != 0:  # en passant
                board[(origin & 56) | (target & 7)] = 0
                if taken is not None:
                    taken[at] = True
            if 1 < promotion < 6:  # other values occur only in damaged stores, and would make invalid codes
                board[target] = piece + promotion - 1
        elif captured:
            clock = 0
        elif (piece == 6 or piece == 12) and origin & 7 == 4:
            if target == origin + 2:
                board[origin + 1] = board[origin + 3]
                board[origin + 3] = 0
            elif origin == target + 2:
                board[origin - 1] = board[origin - 4]
                board[origin - 4] = 0
    return rights, clock, double_step
