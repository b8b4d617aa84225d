"""Compiled tests whether a square is attacked and whether an en-passant capture is legal.

A board here is int8 [64] in the mover's view: 1 to 6 are the mover's pieces P N B R Q K, and -1 to -6 are the
opponent's. The squares keep their numbers (a1 is 0). `forward` is the step of the mover's pawns, 8 for White or -8 for
Black.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import inner

# Directions in which pieces slide: the four straight directions, then the diagonals. REACH has the number of squares in
# each direction.
STEPS = np.array([8, 1, -8, -1, 9, -7, -9, 7], np.int64)


def _reach() -> NDArray[np.int64]:
    """Return the number of squares between each square and the border in each direction, int64 [64, 8]."""
    square = np.arange(64)
    up, right = 7 - square // 8, 7 - square % 8
    down, left = square // 8, square % 8
    directions = [(up,), (right,), (down,), (left,), (up, right), (down, right), (down, left), (up, left)]
    return np.stack([np.minimum.reduce(borders) for borders in directions], axis=1)


def _knight() -> NDArray[np.int64]:
    """Return the squares that a knight reaches from each square, int64 [64, 8], padded with -1."""
    reached = np.full((64, 8), -1, np.int64)
    for square in range(64):
        rank, file = divmod(square, 8)
        jumps = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
        near = [(rank + r) * 8 + file + f for r, f in jumps if 0 <= rank + r < 8 and 0 <= file + f < 8]
        reached[square, : len(near)] = near
    return reached


REACH = _reach()
KNIGHT = _knight()


@inner
def look(codes, side, board):  # type: ignore[no-untyped-def]
    """Convert a position to a board from the mover's view, and return the square of the mover's king, or -1 if there is
    none.

    The function writes the type of the piece on each square to `board`, int8 [64]: 1 to 6 (P N B R Q K) for the mover's
    pieces, -1 to -6 for the opponent's pieces, and 0 for an empty square. The squares are not flipped.

    codes: uint8 [64], the position (see `games.chess`). side: the side to move, 0 White or 1 Black.
    """
    king = np.int64(-1)
    for square in range(64):
        code = np.int64(codes[square])
        if code == 0:
            board[square] = 0
            continue
        piece = code - 6 if code > 6 else code
        mine = (code > 6) == (side != 0)
        board[square] = piece if mine else -piece
        if mine and piece == 6:
            king = np.int64(square)
    return king


@inner
def strikes(piece, direction, distance, forward):  # type: ignore[no-untyped-def]
    """Return whether an opponent's piece attacks a square along a line, if all squares between the piece and the square
    are empty. The result is false for a knight.

    piece: the type of the piece, 1 to 6 (P N B R Q K). direction: the direction from the square to the piece, as an
    index into STEPS. distance: the number of steps from the square to the piece; 1 if they are neighbors. forward: the
    step of the mover's pawns, +8 or -8.
    """
    if piece == 5 or piece == (4 if direction < 4 else 3):
        return True
    if distance != 1:
        return False
    return piece == 6 or (piece == 1 and direction >= 4 and STEPS[direction] * forward > 0)


@inner
def attacked(board, square, forward):  # type: ignore[no-untyped-def]
    """Return whether the opponent of the side to move attacks a square.

    board: int8 [64], the mover's pieces as 1 to 6, the opponent's as -1 to -6 (see `look`). square: 0 to 63. forward:
    the step of the mover's pawns, +8 or -8.
    """
    for direction in range(8):
        step = STEPS[direction]
        for distance in range(1, REACH[square, direction] + 1):
            piece = board[square + step * distance]
            if piece != 0:
                if piece < 0 and strikes(-piece, direction, distance, forward):
                    return True
                break
    for i in range(8):
        origin = KNIGHT[square, i]
        if origin < 0:
            break
        if board[origin] == -2:
            return True
    return False


@inner
def takes_in_passing(board, king, origin, forward, file):  # type: ignore[no-untyped-def]
    """Return whether the pawn on `origin` may legally capture the pawn on `file` en passant.

    The function makes the capture on the board and tests whether the king is then in check. A test for pinned pieces is
    not enough, because both pawns leave the same rank in one move.

    board: int8 [64], as `look` fills it; the function restores it. king: the square of the mover's king, or -1. origin:
    the square of the capturing pawn. forward: the step of the mover's pawns, +8 or -8. file: the file, 0 to 7, of the
    captured pawn.
    """
    aside = origin & 7
    if origin >> 3 != (4 if forward > 0 else 3) or (aside != file - 1 and aside != file + 1):
        return False
    captured = (origin & 56) | file
    target = captured + forward
    if board[captured] != -1 or board[target] != 0:
        return False
    board[origin], board[captured], board[target] = 0, 0, 1
    legal = king < 0 or not attacked(board, king, forward)
    board[origin], board[captured], board[target] = 1, -1, 0
    return legal


@inner
def can_pass(codes, side, passed, board):  # type: ignore[no-untyped-def]
    """Return whether the side to move has a legal en-passant capture.

    codes: uint8 [64], the position (see `games.chess`). side: the side to move, 0 White or 1 Black. passed: the file +
    1 of the pawn that has just made a double step; 0 if there is none. board: int8 [64], working memory.
    """
    if passed == 0:
        return False
    file = np.int64(passed) - 1
    rank = 24 if side else 32
    taker = 7 if side else 1
    ready = (file > 0 and codes[rank + file - 1] == taker) or (file < 7 and codes[rank + file + 1] == taker)
    if not ready:  # usually no pawn can capture, which this test detects quickly
        return False
    forward = -8 if side else 8
    king = look(codes, side, board)
    for aside in (file - 1, file + 1):
        own_pawn = 0 <= aside <= 7 and board[rank + aside] == 1
        if own_pawn and takes_in_passing(board, king, rank + aside, forward, file):
            return True
    return False
