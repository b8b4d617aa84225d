"""Properties of a position that depend only on its pieces: values, phase of the game, insufficient material."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import kernel

PIECE_VALUES = np.array([0, 1, 3, 3, 5, 9, 0], np.int64)
"""Values in pawns, by piece type (0 nothing, 1 to 6 P N B R Q K), int64 [7]. The king's value is 0: it is never
captured, and if only the king can recapture, this must not count as a loss of the king.
"""
CODE_VALUES = np.concatenate([PIECE_VALUES, -PIECE_VALUES[1:]]).astype(np.int8)
"""Values in pawns, by the code of a square, int8 [13]: positive for White's pieces, negative for Black's."""

PHASES = ("opening", "middlegame", "endgame")
OPENING_OVER, ENDGAME_UP_TO = 10, 6
"""The opening ends when both sides together have at most OPENING_OVER knights, bishops, rooks and queens. The endgame
begins with at most ENDGAME_UP_TO.
"""
MAX_PIECES_INSUFFICIENT = 12
"""No position with more pieces has insufficient material: two kings, and ten bishops of which eight are promoted pawns.
"""


def phase(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the phase of positions, int64 [n]: 0 opening, 1 middlegame, 2 endgame (indices into PHASES).

    codes: uint8 [n, 64].
    """
    piece = (codes.astype(np.int64) + 5) % 6  # 0 pawn .. 5 king; an empty square also gives 5
    officers = ((piece > 0) & (piece < 5)).sum(1)
    return np.asarray((officers <= OPENING_OVER).astype(np.int64) + (officers <= ENDGAME_UP_TO))


@kernel
def insufficient_material(codes):  # type: ignore[no-untyped-def]
    """Return whether the pieces alone exclude a mate by any sequence of legal moves. codes: uint8 [64].

    The result is true for two kings with at most one knight, or with any number of bishops on squares of one color. The
    result is never true with more than MAX_PIECES_INSUFFICIENT pieces, so callers that know the number of pieces can
    test this number first.
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
