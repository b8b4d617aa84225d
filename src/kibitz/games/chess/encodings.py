"""Planes of a chess position, made inside the network from codes and state.

All modules here take codes uint8 [n, 64] and state uint8 [n, 4] (see replay.py) and give planes [n, channels, 8, 8],
the row of the first rank first, laid out channels-last (as convolutions on a CPU like them). Each names its planes for
people: `names(sides)`, one a channel, where `sides` are the names of the two sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.games.chess.replay import CASTLING, EN_PASSANT, OTHER_COLOUR, SIDE

PIECES = "PNBRQK"
WHITE_AND_BLACK = ("White's", "Black's")
OWN_AND_OTHERS = ("own", "the other side's")
"""Names of the two sides, for `names`: of encodings that see the real board, and of those that see it as the mover."""
_PLURALS = ("pawns", "knights", "bishops", "rooks", "queens", "kings")
_CASTLINGS = ("to the king's side", "to the queen's side")
ATTACKS = ("none", "squares", "counts", "pieces")

# Leaps as (ranks, files); White's pawn goes up.
_PAWN = ((1, 1), (1, -1))
_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_KING = ((1, 1), (1, 0), (1, -1), (0, 1), (0, -1), (-1, 1), (-1, 0), (-1, -1))


Sides = tuple[str, str]


class NamedPlanes(nn.Module):
    """An encoding as this module's head describes it."""

    channels: int

    def names(self, sides: Sides) -> list[str]:
        """The name of each plane; sides: the names of the two sides."""
        raise NotImplementedError


def on_squares(planes: Tensor, flip_ranks: bool) -> Tensor:
    """Planes [1, channels, 8, 8] of one position as [channels, 64] on the squares of the board; flip_ranks: the planes
    are those of a mover's view in which the ranks are flipped."""
    grid = planes[0].float()
    return (grid.flip(1) if flip_ranks else grid).flatten(1)


def signed_table() -> Tensor:
    """float32 [13, 6]: the six piece planes of each code, +1 White, −1 Black."""
    table = torch.zeros(13, 6)
    for piece in range(6):
        table[piece + 1, piece] = 1
        table[piece + 7, piece] = -1
    return table


def swap_colours_tables() -> tuple[Tensor, Tensor]:
    """What replay.swap_colours does to codes, as tables, int64: the other colour's code of each code [13], and, ranks
    flipped, the square that each square's content comes from [64]."""
    codes = torch.from_numpy(OTHER_COLOUR.astype(np.int64))
    squares = torch.arange(64).view(8, 8).flip(0).flatten()
    return codes, squares


class MoverView(nn.Module):
    """The board as the side to move sees it: with Black to move, colours are swapped and ranks flipped.

    codes uint8 [n, 64], state uint8 [n, 4] to codes int64 [n, 64].
    """

    def __init__(self) -> None:
        super().__init__()
        codes, squares = swap_colours_tables()
        self.register_buffer("other_colour", codes, persistent=False)
        self.register_buffer("flip_ranks", squares, persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        flipped = self.get_buffer("other_colour")[codes.long()][:, self.get_buffer("flip_ranks")]
        return torch.where(state[:, SIDE : SIDE + 1] == 1, flipped, codes.long())


class SignedPlanes(NamedPlanes):
    """One plane a piece type, +1 White, −1 Black, 0 empty, in the order P N B R Q K; with `side`, a seventh that is
    all +1 when White is to move and −1 when Black is (the encoding of `winner`). Channels: 6 or 7."""

    def __init__(self, side: bool = True) -> None:
        super().__init__()
        self.channels = 7 if side else 6
        self.side = side
        self.register_buffer("table", signed_table(), persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        planes = F.embedding(codes.long(), self.get_buffer("table"))  # [n, 64, 6]
        if self.side:
            side = 1 - 2 * state[:, SIDE].to(planes.dtype)
            planes = torch.cat([planes, side[:, None, None].expand(-1, 64, 1)], 2)
        return planes.view(-1, 8, 8, self.channels).permute(0, 3, 1, 2)

    def names(self, sides: Sides) -> list[str]:
        names = [f"{piece} ({sides[0]} +1, {sides[1]} −1)" for piece in _PLURALS]
        mover = "White +1, Black −1" if sides == WHITE_AND_BLACK else "always +1"
        return [*names, f"who moves ({mover})"] if self.side else names


class PiecePlanes(NamedPlanes):
    """One plane of 0 and 1 a piece type and colour, White's P N B R Q K first. Channels: 12."""

    channels = 12

    def __init__(self) -> None:
        super().__init__()
        table = torch.cat([torch.zeros(1, 12), torch.eye(12)])
        self.register_buffer("table", table, persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        planes = F.embedding(codes.long(), self.get_buffer("table"))
        return planes.view(-1, 8, 8, 12).permute(0, 3, 1, 2)

    def names(self, sides: Sides) -> list[str]:
        return [f"{side} {piece}" for side in sides for piece in _PLURALS]


@dataclass(frozen=True)
class BoardEncoding:
    """A choice of the setting `planes`. values: what its planes hold, for the help; make: the encoding."""

    values: str
    make: Callable[[], NamedPlanes]


BOARD_ENCODINGS = {
    "6": BoardEncoding("own +1, other −1", lambda: SignedPlanes(side=False)),
    "12": BoardEncoding("0 or 1", PiecePlanes),
}
"""Encodings of the pieces on the board, by the name that the setting `planes` has for each. The first two are named by
the number of their planes; another may have any name."""


class RightsPlanes(NamedPlanes):
    """Castling rights and en passant in the mover's view: four planes, all 1 where the mover may castle to the
    king's or the queen's side, and where the opponent may; a fifth with 1 on the square that a
    pawn has just passed over."""

    channels = 5

    def __init__(self) -> None:
        super().__init__()
        rights = torch.arange(16)[:, None] >> torch.arange(4) & 1  # [rights, White's K, Q, Black's k, q]
        own_first = torch.cat([rights, rights[:, [2, 3, 0, 1]]]).float()  # White to move, then Black
        self.register_buffer("rights", own_first, persistent=False)
        passed = torch.zeros(9, 64)  # by file + 1; 0 is none
        passed[torch.arange(1, 9), torch.arange(40, 48)] = 1
        self.register_buffer("passed", passed, persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        rights = F.embedding(state[:, SIDE].long() * 16 + state[:, CASTLING].long(), self.get_buffer("rights"))
        passed = F.embedding(state[:, EN_PASSANT].long(), self.get_buffer("passed"))
        planes = torch.cat([rights[:, None, :].expand(-1, 64, 4), passed[:, :, None]], 2)
        return planes.view(-1, 8, 8, 5).permute(0, 3, 1, 2)

    def names(self, sides: Sides) -> list[str]:
        rights = [f"{side} right to castle {corner}" for side in sides for corner in _CASTLINGS]
        return [*rights, "passed over by a pawn just now (en passant)"]


class AttackPlanes(NamedPlanes):
    """Squares attacked by White and by Black: the post's own proposal, in three grains.

    `squares`: 2 planes, 1 where at least one piece of the colour attacks. `counts`: 2 planes, how many do, over 4.
    `pieces`: 12 planes, how many attackers of each type, White's P N B R Q K first. A slider attacks up to and with the
    first piece in its way, own or not; a pawn attacks its two forward diagonals; pins do not matter.
    """

    def __init__(self, kind: str = "squares") -> None:
        super().__init__()
        if kind not in ATTACKS[1:]:
            raise ValueError(f"attack planes of kind {kind}")
        self.kind = kind
        self.channels = 12 if kind == "pieces" else 2
        down = tuple((-ranks, files) for ranks, files in _PAWN)
        leaps = torch.stack([_leap_matrix(steps) for steps in (_PAWN, down, _KNIGHT, _KNIGHT, _KING, _KING)])
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

    def names(self, sides: Sides) -> list[str]:
        if self.kind == "pieces":
            return [f"squares attacked by {side} {piece} (count)" for side in sides for piece in _PLURALS]
        unit = " (count / 4)" if self.kind == "counts" else ""
        return [f"squares attacked by {side} pieces{unit}" for side in sides]


def _leap_matrix(steps: tuple[tuple[int, int], ...]) -> Tensor:
    """float32 [64, 64]: 1 where one of the steps leads from the first square to the second."""
    matrix = torch.zeros(64, 64)
    for square in range(64):
        for ranks, files in steps:
            rank, file = square // 8 + ranks, square % 8 + files
            if 0 <= rank < 8 and 0 <= file < 8:
                matrix[square, rank * 8 + file] = 1
    return matrix


def _up(pieces: Tensor, empty: Tensor, files: int) -> Tensor:
    """What sliders reach going up, moving by `files` (−1, 0, 1) at each rank. Rank first: [8, …, 8] all three."""
    ray = torch.zeros_like(pieces[0])
    reached = [ray]
    for rank in range(7):
        ray = pieces[rank] + ray * empty[rank]  # a ray begins beside a slider and goes on over empty squares
        if files:
            ray = F.pad(ray[..., :-1], (1, 0)) if files > 0 else F.pad(ray[..., 1:], (0, 1))
        reached.append(ray)
    return torch.stack(reached)


def _diagonals(pieces: Tensor, empty: Tensor) -> Tensor:
    """How often sliders [n, channels, 8, 8] reach each square diagonally; `empty` is [n, 1, 8, 8]."""
    up, free = pieces.permute(2, 0, 1, 3), empty.permute(2, 0, 1, 3)
    up, free = torch.stack([up, up.flip(0)], 1), torch.stack([free, free.flip(0)], 1)
    reached = _up(up, free, 1) + _up(up, free, -1)
    return (reached[:, 0] + reached[:, 1].flip(0)).permute(1, 2, 0, 3)


def _straights(pieces: Tensor, empty: Tensor) -> Tensor:
    """How often sliders reach each square along ranks and files. Shapes as in `_diagonals`."""
    up, free = pieces.permute(2, 0, 1, 3), empty.permute(2, 0, 1, 3)
    side, free_side = pieces.permute(3, 0, 1, 2), empty.permute(3, 0, 1, 2)
    reached = _up(
        torch.stack([up, up.flip(0), side, side.flip(0)], 1),
        torch.stack([free, free.flip(0), free_side, free_side.flip(0)], 1),
        0,
    )
    ranks, files = reached[:, 0] + reached[:, 1].flip(0), reached[:, 2] + reached[:, 3].flip(0)
    return ranks.permute(1, 2, 0, 3) + files.permute(1, 2, 3, 0)


class Stack(NamedPlanes):
    """Several encodings, one after the other along the channels."""

    def __init__(self, *parts: NamedPlanes) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.channels = sum(part.channels for part in parts)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        planes = [part(codes, state) for part in self.parts]
        return planes[0] if len(planes) == 1 else torch.cat(planes, 1)

    def names(self, sides: Sides) -> list[str]:
        return [name for part in self.parts for name in cast(NamedPlanes, part).names(sides)]


BITS = 12 * 64 + 5
"""Numbers of the encoding of `deepchess`."""


class PieceBits(nn.Module):
    """A position as 773 bits [n, 773]: 64 squares for each of White's P N B R Q K, then Black's; 1 where White is to
    move; the rights to castle, White's to the king's and the queen's side first (David, Netanyahu and Wolf 2016)."""

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

    def names(self, sides: Sides = WHITE_AND_BLACK) -> list[str]:
        """Twelve boards of pieces, then the five bits that follow: 17 names."""
        rights = [f"{side} right to castle {corner}" for side in sides for corner in _CASTLINGS]
        return [*(f"{side} {piece}" for side in sides for piece in _PLURALS), "White is to move", *rights]
