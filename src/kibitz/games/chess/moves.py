"""A packed chess move: from-square, to-square and promotion piece in 16 bits.

Bits 0-5 are the from-square, and bits 6-11 are the to-square. Bits 12-14 are the promotion piece: 0 none, 2 N, 3 B, 4
R, 5 Q, as in python-chess. Castling is the king's move of two files, as in UCI. En passant is the capturing pawn's
move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import chess


def pack(origin: NDArray[np.uint8], target: NDArray[np.uint8], promotion: NDArray[np.int8]) -> NDArray[np.uint16]:
    """Return moves as packed moves (see `kibitz.games.chess.moves.from_move`), uint16 [n].

    origin, target: the from-squares and to-squares, 0 to 63. promotion: promotion pieces, 2 to 5 (N B R Q); a smaller
    number means no promotion.
    """
    moves = origin.astype(np.uint16)
    moves |= target.astype(np.uint16) << np.uint16(6)
    moves |= np.maximum(promotion, 0).astype(np.uint16) << np.uint16(12)
    return moves


def to_move(code: int) -> chess.Move:
    """Convert a packed move (a 16-bit integer) to a python-chess move."""
    import chess

    return chess.Move(code & 63, code >> 6 & 63, (code >> 12) or None)


def from_move(move: chess.Move) -> int:
    """Convert a python-chess move to a packed move (a 16-bit integer). Castling becomes a king's move of two files."""
    return move.from_square | move.to_square << 6 | (move.promotion or 0) << 12
