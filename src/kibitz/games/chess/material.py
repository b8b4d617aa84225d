"""Properties of a position that follow from its pieces alone: values, phase of the game, insufficient material."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import kernel

PIECE_VALUES = np.array([0, 1, 3, 3, 5, 9, 0], np.int64)
"""In pawns, by piece type (0 nothing, 1..6 P N B R Q K). The king is 0: it is never captured, and a capture that only
it guards against must not count as a loss of the king."""
CODE_VALUES = np.concatenate([PIECE_VALUES, -PIECE_VALUES[1:]]).astype(np.int8)
"""In pawns, by the code of a square, int8 [13]: > 0 White's pieces, < 0 Black's."""

PHASES = ("opening", "middlegame", "endgame")
OPENING_OVER, ENDGAME_UP_TO = 10, 6
"""The opening is over, and the endgame reached, with at most this many knights, bishops, rooks and queens of both
sides."""
MAX_PIECES_INSUFFICIENT = 12
"""No position with more pieces has insufficient material: two kings, and ten bishops of which eight were pawns."""


def phase(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The phase of positions codes [n, 64], int64 [n]: 0 opening, 1 middlegame, 2 endgame (indices into PHASES)."""
    piece = (codes.astype(np.int64) + 5) % 6  # 0 pawn .. 5 king; 5 for an empty square, too
    officers = ((piece > 0) & (piece < 5)).sum(1)
    return np.asarray((officers <= OPENING_OVER).astype(np.int64) + (officers <= ENDGAME_UP_TO))


@kernel
def insufficient_material(codes):  # type: ignore[no-untyped-def]
    """Whether no series of legal moves can mate, by the pieces in codes uint8 [64]: king against king and at most one
    knight, or any number of bishops that all stand on squares of one colour.

    A position with more than MAX_PIECES_INSUFFICIENT pieces never is: who knows the count may ask that first.
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
