"""The input planes of chess networks, by name and in NumPy, to show them to people.

A plane is float32 [64], one number for each square. `encodings.py` computes the same planes of many positions inside a
network, with the tables of this module. Functions take one position, codes, uint8 [64], and state, uint8 [4 or more]
(see `replay.py`), and return a dict from names to planes. The argument `sides` has the words for the two sides in the
planes' names.
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
"""Words for the two sides in the names of planes, if the planes show the board from the view of the side to move."""
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
"""A table, float32 [13, 6]: for each code of a square, its values in the six planes P N B R Q K. The value is +1 for a
white piece of this type, and −1 for a black piece.
"""
PIECES = np.concatenate([np.zeros((1, 12), np.float32), np.eye(12, dtype=np.float32)])
"""A table, float32 [13, 12]: for each code of a square, its values, 0 or 1, in the twelve planes of white and black
pieces.
"""
RIGHTS = _rights_table()
"""A table, float32 [32, 4]: the castling rights as 0 or 1, the mover's first, kingside before queenside. The row is 16
· side to move + the castling bits of the state.
"""
PASSED = _passed_table()
"""A table of en-passant planes in the mover's view, float32 [9, 64]. Row 0 is empty. Row f + 1 has a 1 on the square
that a pawn on file f has just passed over with a double step.
"""
UPSIDE_DOWN = np.arange(64).reshape(8, 8)[::-1].ravel()
"""A permutation that flips the ranks of a board, int64 [64]: the square on the same file and the mirrored rank."""


# Views


def mover_view(codes: Codes, state: State) -> Codes:
    """Return the board from the view of the side to move, uint8 [64]: if Black is to move, colors are swapped and ranks
    are flipped. codes, state: the position, see `kibitz.PositionArrays`.
    """
    return OTHER_COLOUR[codes][UPSIDE_DOWN] if state[SIDE] else codes


def on_squares(planes: NamedPlanes, flip_ranks: bool) -> NamedPlanes:
    """Return the planes with White's first rank first, as a dict from names to planes, float32 [64].

    flip_ranks: whether the given planes must be flipped, because they show the board from Black's view.
    """
    return {name: plane[UPSIDE_DOWN] for name, plane in planes.items()} if flip_ranks else planes


# Planes


def constant(value: float) -> NDArray[np.float32]:
    """Return a plane with the same value on all squares, float32 [64]."""
    return np.full(64, value, np.float32)


def one_square(number: int) -> NDArray[np.float32]:
    """Return a plane that is 1 on one square and 0 elsewhere, float32 [64]. number: the square's index + 1; 0 for a
    plane of zeros.
    """
    plane = constant(0)
    plane[number - 1] = number > 0
    return plane


def signed(codes: Codes, sides: Sides) -> NamedPlanes:
    """Return six planes, one for each piece type P N B R Q K: +1 for a white piece, −1 for a black piece, 0 elsewhere.
    The result is a dict from names to planes, float32 [64].

    codes: uint8 [64], the pieces, see `kibitz.PositionArrays`. sides: the words for the two sides in the names of the
    planes, such as WHITE_AND_BLACK.
    """
    return dict(zip((f"{piece} ({sides[0]} +1, {sides[1]} −1)" for piece in _PLURALS), SIGNED[codes].T, strict=True))


def pieces(codes: Codes, sides: Sides) -> NamedPlanes:
    """Return twelve planes of 0 and 1, one for each color and piece type, White's P N B R Q K first. The result is a
    dict from names to planes, float32 [64].

    codes: uint8 [64], the pieces, see `kibitz.PositionArrays`. sides: the words for the two sides in the names of the
    planes, such as WHITE_AND_BLACK.
    """
    return dict(zip((f"{side} {piece}" for side in sides for piece in _PLURALS), PIECES[codes].T, strict=True))


BOARDS: dict[str, Callable[[Codes, Sides], NamedPlanes]] = {"6": signed, "12": pieces}
"""The function that computes the planes of the pieces, for each name in `encodings.BOARD_ENCODINGS`."""


def rights(state: State, sides: Sides) -> NamedPlanes:
    """Return five planes of castling rights and en passant from the view of the side to move, as
    `encodings.RightsPlanes` does. The result is a dict from names to planes, float32 [64].

    state: uint8 [4 or more], see `kibitz.PositionArrays`. sides: the words for the side to move and the other side in
    the names of the planes.
    """
    names = [f"{side} right to castle {corner}" for side in sides for corner in _CASTLINGS]
    values = RIGHTS[int(state[SIDE]) * 16 + int(state[CASTLING])]
    planes = {name: constant(value) for name, value in zip(names, values, strict=True)}
    return {**planes, "square that a pawn has just passed (en passant)": PASSED[state[EN_PASSANT]]}


def attacks(codes: Codes, kind: str, sides: Sides) -> NamedPlanes:
    """Return planes of the squares that White and Black attack, as `encodings.AttackPlanes` does. The result is a dict
    from names to planes, float32 [64].

    codes: uint8 [64], the pieces, see `kibitz.PositionArrays`. kind: "squares", "counts", "pieces" or "none" (no
    planes). sides: the words for the two sides in the names of the planes.
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
    """Return the inputs of the network `deepchess` as 17 planes (see `encodings.PieceBits`): twelve planes of pieces,
    then five planes with one value each for the side to move and the castling rights. The result is a dict from names
    to planes, float32 [64]. codes, state: the position, see `kibitz.PositionArrays`.
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
