"""Properties of a chess position that depend only on its pieces: piece values, phase of the game, insufficient
material.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import kernel

PIECE_VALUES = np.array([0, 1, 3, 3, 5, 9, 0], np.int64)
"""The value of each piece type in pawns, int64 [7]. The index is 0 for no piece, or 1 to 6 for P N B R Q K.

The king's value is 0, because it is never captured. If only the king can recapture, this must not count as a loss of
the king.
"""
CODE_VALUES = np.concatenate([PIECE_VALUES, -PIECE_VALUES[1:]]).astype(np.int8)
"""The value in pawns of the piece on a square, by the square's code, int8 [13]: positive for White's pieces, negative
for Black's.
"""

PHASES = ("opening", "middlegame", "endgame")
OPENING_OVER, ENDGAME_UP_TO = 10, 6
"""Limits of the game's phases, as numbers of knights, bishops, rooks and queens of both sides together. A position with
more than 10 of these pieces is an opening, and one with at most 6 is an endgame.
"""
MAX_PIECES_INSUFFICIENT = 12
"""The largest number of pieces, kings included, that can be insufficient material: two kings, and ten bishops of which
eight are promoted pawns.
"""


def phase(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the phase of each position, int64 [n]: 0 opening, 1 middlegame, 2 endgame (indices into PHASES).

    codes: uint8 [n, 64], the pieces on the squares (see `games.chess`).
    """
    piece = (codes.astype(np.int64) + 5) % 6  # 0 pawn .. 5 king; an empty square also gives 5
    officers = ((piece > 0) & (piece < 5)).sum(1)
    return np.asarray((officers <= OPENING_OVER).astype(np.int64) + (officers <= ENDGAME_UP_TO))


@kernel
def insufficient_material(codes):  # type: ignore[no-untyped-def]
    """Return whether neither side can ever mate with the pieces on the board. codes: uint8 [64], the pieces (see
    `games.chess`).

    The result is true for two kings with at most one knight, or with any number of bishops on squares of one color. It
    is never true with more than 12 pieces (MAX_PIECES_INSUFFICIENT). So callers that know the number of pieces can test
    this number first.
    """
    knights, light, dark = 0, 0, 0
    for square in range(64):
        code = np.int64(codes[square])
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
