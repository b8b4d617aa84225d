"""PyTorch modules that convert chess positions to planes, the inputs of a network. They run inside the network.

A plane is an 8×8 array with one number for each square. All modules take codes, uint8 [n, 64], and state, uint8 [n, 4]
(see `replay.py`), and return planes [n, channels, 8, 8]. Row 0 of a plane is the first rank, and column 0 is the
a-file. The memory layout is channels-last, which makes convolutions on a CPU faster. `planes.py` has the tables of the
planes. It also computes the same planes in NumPy, with a name for each plane.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.games.chess.planes import ATTACKS, KING, KNIGHT, PASSED, PAWN, PIECES, RIGHTS, SIGNED, UPSIDE_DOWN
from kibitz.games.chess.replay import CASTLING, EN_PASSANT, OTHER_COLOUR, SIDE


class Encoding(nn.Module):
    """The base class of modules that convert chess positions to planes.

    Inputs: `codes`, uint8 [n, 64], and `state`, uint8 [n, 4]. Output: float32 [n, channels, 8, 8], the first rank
    first.
    """

    channels: int


def swap_colours_tables() -> tuple[Tensor, Tensor]:
    """Return two int64 tables for swapping the colors of a position inside a network.

    The first table, [13], gives for each code the code of the same piece in the other color. The second table, [64],
    gives for each square the square on the same file and the mirrored rank (a8 for a1).
    """
    codes = torch.from_numpy(OTHER_COLOUR.astype(np.int64))
    return codes, torch.tensor(UPSIDE_DOWN)


class MoverView(nn.Module):
    """Converts positions to the view of the side to move: if Black is to move, colors are swapped and ranks are
    flipped.

    Inputs: `codes`, uint8 [n, 64], and `state`, uint8 [n, 4]. Output: the converted codes, int64 [n, 64].
    """

    def __init__(self) -> None:
        super().__init__()
        codes, squares = swap_colours_tables()
        self.register_buffer("other_colour", codes, persistent=False)
        self.register_buffer("flip_ranks", squares, persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        flipped = self.get_buffer("other_colour")[codes.long()][:, self.get_buffer("flip_ranks")]
        return torch.where(state[:, SIDE : SIDE + 1] == 1, flipped, codes.long())


class SignedPlanes(Encoding):
    """Encodes the pieces as one plane for each piece type, in the order P N B R Q K: +1 for a white piece of this type,
    −1 for a black piece, 0 elsewhere.

    side: whether to add a seventh plane, which is +1 everywhere if White is to move and −1 if Black is. The network
    `winner` uses this encoding.
    """

    def __init__(self, side: bool = True) -> None:
        super().__init__()
        self.channels = 7 if side else 6
        self.side = side
        self.register_buffer("table", torch.tensor(SIGNED), persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        planes = F.embedding(codes.long(), self.get_buffer("table"))  # [n, 64, 6]
        if self.side:
            side = 1 - 2 * state[:, SIDE].to(planes.dtype)
            planes = torch.cat([planes, side[:, None, None].expand(-1, 64, 1)], 2)
        return planes.view(-1, 8, 8, self.channels).permute(0, 3, 1, 2)


class PiecePlanes(Encoding):
    """Encodes the pieces as twelve planes of 0 and 1, one for each piece type and color, White's P N B R Q K first."""

    channels = 12

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.tensor(PIECES), persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        planes = F.embedding(codes.long(), self.get_buffer("table"))
        return planes.view(-1, 8, 8, 12).permute(0, 3, 1, 2)


@dataclass(frozen=True)
class BoardEncoding:
    """One of the values that the network setting `planes` can have: an encoding of the pieces on the board.

    values: a description of the values in the planes, for the help text. make: a function that builds the encoding.
    """

    values: str
    make: Callable[[], Encoding]


BOARD_ENCODINGS = {
    "6": BoardEncoding("own pieces +1, others −1", lambda: SignedPlanes(side=False)),
    "12": BoardEncoding("0 or 1", PiecePlanes),
}
"""Encodings of the pieces on the board, by their name in the setting `planes`.

The names of the two encodings are the numbers of their planes. Another encoding may have any name.
"""


class RightsPlanes(Encoding):
    """Encodes castling rights and the en-passant square as five planes, from the view of the side to move.

    The first plane is 1 everywhere if the mover may castle kingside, the second if the mover may castle queenside. The
    next two planes are the castling rights of the opponent. The fifth plane is 1 on the square that a pawn has just
    passed over with a double step, if an en-passant capture is legal.
    """

    channels = 5

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rights", torch.tensor(RIGHTS), persistent=False)
        self.register_buffer("passed", torch.tensor(PASSED), persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        rights = F.embedding(state[:, SIDE].long() * 16 + state[:, CASTLING].long(), self.get_buffer("rights"))
        passed = F.embedding(state[:, EN_PASSANT].long(), self.get_buffer("passed"))
        planes = torch.cat([rights[:, None, :].expand(-1, 64, 4), passed[:, :, None]], 2)
        return planes.view(-1, 8, 8, 5).permute(0, 3, 1, 2)


class AttackPlanes(Encoding):
    """Encodes the squares that White and Black attack. The argument `kind` selects one of three forms.

    `squares`: 2 planes, 1 where at least one piece of the color attacks. `counts`: 2 planes, the number of attackers
    divided by 4. `pieces`: 12 planes, the number of attackers of each type, White's P N B R Q K first. A queen, rook or
    bishop attacks every square up to the first piece in its way, and the square of this piece, whatever the piece's
    color. A pawn attacks its two forward diagonals. Pins are ignored.
    """

    def __init__(self, kind: str = "squares") -> None:
        super().__init__()
        if kind not in ATTACKS[1:]:
            raise ValueError(f"unknown kind of attack planes (got {kind})")
        self.kind = kind
        self.channels = 12 if kind == "pieces" else 2
        down = tuple((-ranks, files) for ranks, files in PAWN)
        leaps = torch.stack([_leap_matrix(steps) for steps in (PAWN, down, KNIGHT, KNIGHT, KING, KING)])
        self.register_buffer("leaps", leaps, persistent=False)  # [pawn, knight and king of each colour, from, to]
        self.register_buffer("codes", torch.arange(1, 13, dtype=torch.uint8).view(1, 12, 1, 1), persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        board = codes.view(-1, 1, 8, 8)
        pieces = (board == self.get_buffer("codes")).float()
        empty = (board == 0).float()
        pawn, knight, bishop, rook, queen, king = (pieces[:, kind::6] for kind in range(6))  # [n, colour, 8, 8] each
        leaping = torch.cat([pawn, knight, king], 1).flatten(2).transpose(0, 1)
        reached = torch.bmm(leaping, self.get_buffer("leaps")).transpose(0, 1).reshape(-1, 6, 8, 8)
        by_pawns, by_knights, by_kings = reached[:, 0:2], reached[:, 2:4], reached[:, 4:6]
        if self.kind == "pieces":
            diagonal = _diagonals(torch.cat([bishop, queen], 1), empty)
            straight = _straights(torch.cat([rook, queen], 1), empty)
            by_queens = diagonal[:, 2:] + straight[:, 2:]
            planes = torch.stack([by_pawns, by_knights, diagonal[:, :2], straight[:, :2], by_queens, by_kings], 2)
            planes = planes.flatten(1, 2)
        else:
            sliding = _diagonals(bishop + queen, empty) + _straights(rook + queen, empty)
            planes = by_pawns + by_knights + by_kings + sliding
            planes = planes / 4 if self.kind == "counts" else planes.clamp(max=1)
        return planes.to(memory_format=torch.channels_last)


def _leap_matrix(steps: tuple[tuple[int, int], ...]) -> Tensor:
    """Return a matrix, float32 [64, 64]: 1 where one of the steps leads from the first square to the second."""
    matrix = torch.zeros(64, 64)
    for square in range(64):
        for ranks, files in steps:
            rank, file = square // 8 + ranks, square % 8 + files
            if 0 <= rank < 8 and 0 <= file < 8:
                matrix[square, rank * 8 + file] = 1
    return matrix


def _up(pieces: Tensor, empty: Tensor, files: int) -> Tensor:
    """Return what sliders attack in the upward direction, moving by `files` (−1, 0, 1) at each rank.

    pieces and empty have the rank as their first dimension, [8, …, 8], and so has the result.
    """
    ray = torch.zeros_like(pieces[0])
    reached = [ray]
    for rank in range(7):
        ray = pieces[rank] + ray * empty[rank]  # a ray begins next to a slider and continues over empty squares
        if files:
            ray = F.pad(ray[..., :-1], (1, 0)) if files > 0 else F.pad(ray[..., 1:], (0, 1))
        reached.append(ray)
    return torch.stack(reached)


def _diagonals(pieces: Tensor, empty: Tensor) -> Tensor:
    """Return the number of attacks of sliders [n, channels, 8, 8] on each square along diagonals. empty: [n, 1, 8,
    8]."""
    up, free = pieces.permute(2, 0, 1, 3), empty.permute(2, 0, 1, 3)
    up, free = torch.stack([up, up.flip(0)], 1), torch.stack([free, free.flip(0)], 1)
    reached = _up(up, free, 1) + _up(up, free, -1)
    return (reached[:, 0] + reached[:, 1].flip(0)).permute(1, 2, 0, 3)


def _straights(pieces: Tensor, empty: Tensor) -> Tensor:
    """Return the number of attacks of sliders on each square along ranks and files. The shapes are those of
    `_diagonals`.
    """
    up, free = pieces.permute(2, 0, 1, 3), empty.permute(2, 0, 1, 3)
    side, free_side = pieces.permute(3, 0, 1, 2), empty.permute(3, 0, 1, 2)
    reached = _up(
        torch.stack([up, up.flip(0), side, side.flip(0)], 1),
        torch.stack([free, free.flip(0), free_side, free_side.flip(0)], 1),
        0,
    )
    ranks, files = reached[:, 0] + reached[:, 1].flip(0), reached[:, 2] + reached[:, 3].flip(0)
    return ranks.permute(1, 2, 0, 3) + files.permute(1, 2, 3, 0)


class Stack(Encoding):
    """Applies several encodings to the same position, and concatenates their planes along the channels."""

    def __init__(self, *parts: Encoding) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.channels = sum(part.channels for part in parts)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        planes = [part(codes, state) for part in self.parts]
        return planes[0] if len(planes) == 1 else torch.cat(planes, 1)


BITS = 12 * 64 + 5
"""The number of inputs of the network `deepchess`: 773, see `PieceBits`."""


class PieceBits(nn.Module):
    """Converts positions to 773 inputs of 0 or 1, float32 [n, 773], as in DeepChess (David, Netanyahu and Wolf 2016).

    The first 768 inputs are 12 blocks of 64. Each block belongs to one color and piece type: White's P N B R Q K, then
    Black's. A block has one input per square: 1 if a piece of this color and type is on the square, otherwise 0. The
    next input is 1 if White is to move. The last four inputs are the castling rights: White's on the kingside and the
    queenside, then Black's.
    """

    channels = BITS

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("pieces", torch.arange(1, 13, dtype=torch.uint8).view(1, 12, 1), persistent=False)
        self.register_buffer("rights", torch.tensor([1, 2, 4, 8], dtype=torch.uint8), persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        pieces = (codes[:, None, :] == self.get_buffer("pieces")).flatten(1)
        white = state[:, SIDE : SIDE + 1] == 0
        rights = state[:, CASTLING : CASTLING + 1].int() & self.get_buffer("rights").int()
        return torch.cat([pieces.float(), white.float(), (rights > 0).float()], 1)
