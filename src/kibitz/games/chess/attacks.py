"""Attacks of pieces, and the legality of captures en passant, for the replay and for legal moves.

A board in here is int8 [64] in the mover's view: 1..6 the mover's pieces P N B R Q K, below 0 the other side's.
The squares stay where they are; `forward` is the mover's pawn step, 8 or -8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import inner, kernel

# Directions a piece slides in: the four straight ones, then the diagonals. REACH: how many squares lie that way.
STEPS = np.array([8, 1, -8, -1, 9, -7, -9, 7], np.int64)


def _reach() -> NDArray[np.int64]:
    """How many squares lie between each square and the border, in each direction [64, 8]."""
    square = np.arange(64)
    up, right = 7 - square // 8, 7 - square % 8
    down, left = square // 8, square % 8
    ways = [(up,), (right,), (down,), (left,), (up, right), (down, right), (down, left), (up, left)]
    return np.stack([np.minimum.reduce(borders) for borders in ways], axis=1)


def _knight() -> NDArray[np.int64]:
    """The squares a knight reaches from each square [64, 8], filled up with -1."""
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
    """Fill the board; the square of the mover's king, or -1."""
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
def strikes(piece, way, distance, forward):  # type: ignore[no-untyped-def]
    """Whether another side's piece (1..6) strikes the square that it sees `distance` steps off, against the way."""
    if piece == 5 or piece == (4 if way < 4 else 3):
        return True
    if distance != 1:
        return False
    return piece == 6 or (piece == 1 and way >= 4 and STEPS[way] * forward > 0)


@inner
def attacked(board, square, forward):  # type: ignore[no-untyped-def]
    """Whether the other side attacks the square."""
    for way in range(8):
        step = STEPS[way]
        for distance in range(1, REACH[square, way] + 1):
            piece = board[square + step * distance]
            if piece != 0:
                if piece < 0 and strikes(-piece, way, distance, forward):
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
    """Whether a pawn may capture en passant: made and tested, for two pawns leave a rank at once, which no pin tells
    of. king: the square of the mover's, or -1; file: where the pawn passed, 0..7."""
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


@kernel
def can_pass(codes, side, passed, board):  # type: ignore[no-untyped-def]
    """Whether a capture en passant of the pawn on file `passed` - 1 is legal; 0: no pawn has passed.

    codes [64]; side: who is to move, 0 or 1; board int8 [64] is room to work in.
    """
    if passed == 0:
        return False
    file = np.int64(passed) - 1
    rank = 24 if side else 32
    taker = 7 if side else 1
    ready = (file > 0 and codes[rank + file - 1] == taker) or (file < 7 and codes[rank + file + 1] == taker)
    if not ready:  # nearly always, and soon seen
        return False
    forward = -8 if side else 8
    king = look(codes, side, board)
    for aside in (file - 1, file + 1):
        own_pawn = 0 <= aside <= 7 and board[rank + aside] == 1
        if own_pawn and takes_in_passing(board, king, rank + aside, forward, file):
            return True
    return False
