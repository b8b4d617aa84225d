"""The planes of a chess position with their names, in NumPy: the inputs of a network, for display.

The tables here are those of the encodings (`encodings.py`), which make the same planes of many positions inside a
network. Functions take one position, codes, uint8 [64], and state, uint8 [4 or more] (see replay.py). They return each
plane, float32 [64], by its name. Their argument `sides` has the names of the two sides.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.replay import CASTLING, EN_PASSANT, OTHER_COLOUR, SIDE

NamedPlanes = dict[str, NDArray[np.float32]]
Codes = NDArray[np.uint8]
State = NDArray[np.uint8]
Sides = tuple[str, str]

WHITE_AND_BLACK = ("White's", "Black's")
OWN_AND_OTHERS = ("own", "the other side's")
"""Names of the two sides in encodings that have the mover's view."""
ATTACKS = ("none", "squares", "counts", "pieces")
_PLURALS = ("pawns", "knights", "bishops", "rooks", "queens", "kings")
_CASTLINGS = ("to the king's side", "to the queen's side")

# Steps as (ranks, files). The pawn's steps are the captures of a white pawn, which moves up
PAWN = ((1, 1), (1, -1))
KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
KING = ((1, 1), (1, 0), (1, -1), (0, 1), (0, -1), (-1, 1), (-1, 0), (-1, -1))
_BISHOP = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_ROOK = ((1, 0), (0, 1), (0, -1), (-1, 0))


# Tables


def _signed_table() -> NDArray[np.float32]:
    table = np.zeros((13, 6), np.float32)
    table[1:7] += np.eye(6, dtype=np.float32)
    table[7:] -= np.eye(6, dtype=np.float32)
    return table


def _rights_table() -> NDArray[np.float32]:
    rights = np.arange(16)[:, None] >> np.arange(4) & 1  # columns: White's K and Q, Black's k and q
    # first for White to move, then for Black
    return np.concatenate([rights, rights[:, [2, 3, 0, 1]]]).astype(np.float32)


def _passed_table() -> NDArray[np.float32]:
    table = np.zeros((9, 64), np.float32)
    table[np.arange(1, 9), np.arange(40, 48)] = 1
    return table


SIGNED = _signed_table()
"""float32 [13, 6]: the six planes of each code, +1 White, −1 Black, in the order P N B R Q K."""
PIECES = np.concatenate([np.zeros((1, 12), np.float32), np.eye(12, dtype=np.float32)])
"""float32 [13, 12]: the twelve planes of each code, White's P N B R Q K first."""
RIGHTS = _rights_table()
"""float32 [32, 4]: castling rights, the mover's first, by 16 · side to move + castling bits of the state."""
PASSED = _passed_table()
"""float32 [9, 64]: by file + 1 (0 for none), a plane with the square that a pawn has passed with a double step, in the
mover's view.
"""
UPSIDE_DOWN = np.arange(64).reshape(8, 8)[::-1].ravel()
"""int64 [64]: the square from which each square's content comes when the ranks are flipped."""


# Views


def mover_view(codes: Codes, state: State) -> Codes:
    """Return the board from the point of view of the side to move: if Black is to move, colors are swapped and ranks
    are flipped.
    """
    return OTHER_COLOUR[codes][UPSIDE_DOWN] if state[SIDE] else codes


def on_squares(planes: NamedPlanes, flip_ranks: bool) -> NamedPlanes:
    """Return the planes in the orientation of the real board, with White's first rank first.

    flip_ranks: whether the ranks of the given planes are flipped, because Black is to move.
    """
    return {name: plane[UPSIDE_DOWN] for name, plane in planes.items()} if flip_ranks else planes


# Planes


def constant(value: float) -> NDArray[np.float32]:
    """Return a plane with the same value on all squares, float32 [64]."""
    return np.full(64, value, np.float32)


def one_square(number: int) -> NDArray[np.float32]:
    """Return a plane that is 1 on one square and 0 elsewhere, float32 [64]. number: the square's index + 1; 0 for no
    square.
    """
    plane = constant(0)
    plane[number - 1] = number > 0
    return plane


def signed(codes: Codes, sides: Sides) -> NamedPlanes:
    """Return six planes, one for each piece type: +1 for a white piece, −1 for a black piece (see
    `encodings.SignedPlanes`). sides: the words for the two sides in the names of the planes, such as WHITE_AND_BLACK.
    """
    return dict(zip((f"{piece} ({sides[0]} +1, {sides[1]} −1)" for piece in _PLURALS), SIGNED[codes].T, strict=True))


def pieces(codes: Codes, sides: Sides) -> NamedPlanes:
    """Return twelve planes of 0 and 1, one for each piece type of each side (see encodings.PiecePlanes). codes: uint8
    [64]. sides: as in `signed`.
    """
    return dict(zip((f"{side} {piece}" for side in sides for piece in _PLURALS), PIECES[codes].T, strict=True))


BOARDS: dict[str, Callable[[Codes, Sides], NamedPlanes]] = {"6": signed, "12": pieces}
"""Planes of the pieces on the board, by their name in encodings.BOARD_ENCODINGS."""


def rights(state: State, sides: Sides) -> NamedPlanes:
    """Return the five planes of `encodings.RightsPlanes`, from the point of view of the side to move. sides: as in
    `signed`.
    """
    names = [f"{side} right to castle {corner}" for side in sides for corner in _CASTLINGS]
    values = RIGHTS[int(state[SIDE]) * 16 + int(state[CASTLING])]
    planes = {name: constant(value) for name, value in zip(names, values, strict=True)}
    return {**planes, "square that a pawn has just passed (en passant)": PASSED[state[EN_PASSANT]]}


def attacks(codes: Codes, kind: str, sides: Sides) -> NamedPlanes:
    """Return planes of the squares that each side attacks (see encodings.AttackPlanes).

    codes: uint8 [64]. kind: one of ATTACKS; "none" returns no planes. sides: as in `signed`.
    """
    if kind == "none":
        return {}
    by_piece = _attackers(codes)
    if kind == "pieces":
        names = [f"squares attacked by {side} {piece} (count)" for side in sides for piece in _PLURALS]
        return dict(zip(names, by_piece, strict=True))
    counts = by_piece.reshape(2, 6, 64).sum(1)
    values = counts / np.float32(4) if kind == "counts" else counts.clip(max=1)
    unit = " (count / 4)" if kind == "counts" else ""
    return dict(zip((f"squares attacked by {side} pieces{unit}" for side in sides), values, strict=True))


def bits(codes: Codes, state: State) -> NamedPlanes:
    """Return the planes of PieceBits: twelve planes of pieces, then the five other bits, each as a plane with one
    value.
    """
    to_move = {"White is to move": constant(state[SIDE] == 0)}
    names = [f"{side} right to castle {corner}" for side in WHITE_AND_BLACK for corner in _CASTLINGS]
    castling = {name: constant(value) for name, value in zip(names, RIGHTS[int(state[CASTLING])], strict=True)}
    return {**pieces(codes, WHITE_AND_BLACK), **to_move, **castling}


def _attackers(codes: Codes) -> NDArray[np.float32]:
    """Return the number of attackers of each type on each square, float32 [12, 64]: White's P N B R Q K first."""
    count = np.zeros((12, 8, 8), np.float32)
    for square in np.flatnonzero(codes):
        code = int(codes[square]) - 1
        piece, up = code % 6, 1 if code < 6 else -1
        for ranks, files in (PAWN, KNIGHT, _BISHOP, _ROOK, KING, KING)[piece]:
            rank, file = divmod(int(square), 8)
            for _ in range(7 if piece in (2, 3, 4) else 1):
                rank, file = rank + up * ranks, file + files
                if not (0 <= rank < 8 and 0 <= file < 8):
                    break
                count[code, rank, file] += 1
                # a slider attacks the squares up to the first piece in its way, including the square of this piece
                if codes[8 * rank + file]:
                    break
    return count.reshape(12, 64)
