"""Planes of a chess position, made inside the network from codes and state.

All modules here take codes uint8 [n, 64] and state uint8 [n, 4] (see replay.py) and give planes [n, channels, 8, 8],
the row of the first rank first, laid out channels-last (as convolutions on a CPU like them).
"""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.chess.replay import SIDE

PIECES = "PNBRQK"
ATTACKS = ("none", "squares", "counts")

_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_DIAGONAL = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_STRAIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1))


def signed_table() -> Tensor:
    """float32 [13, 6]: the six piece planes of each code, +1 White, −1 Black."""
    table = torch.zeros(13, 6)
    for piece in range(6):
        table[piece + 1, piece] = 1
        table[piece + 7, piece] = -1
    return table


def flip_table() -> tuple[Tensor, Tensor]:
    """Colours exchanged, ranks mirrored: the new code of each code [13], and the square each square comes from [64]."""
    codes = torch.tensor([0, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6])
    squares = torch.arange(64).view(8, 8).flip(0).flatten()
    return codes, squares


class MoverView(nn.Module):
    """The board as the side to move sees it: where Black moves, colours exchanged, ranks mirrored. Codes to codes."""

    def __init__(self) -> None:
        super().__init__()
        codes, squares = flip_table()
        self.register_buffer("other_colour", codes, persistent=False)
        self.register_buffer("mirrored", squares, persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        flipped = self.get_buffer("other_colour")[codes.long()][:, self.get_buffer("mirrored")]
        return torch.where(state[:, SIDE : SIDE + 1] == 1, flipped, codes.long())


class SignedPlanes(nn.Module):
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


def _shift(board: Tensor, ranks: int, files: int) -> Tensor:
    """The board [..., 8, 8] moved up by `ranks` and right by `files`; what leaves it is gone, what enters is 0."""
    padded = F.pad(board, (max(files, 0), max(-files, 0), max(ranks, 0), max(-ranks, 0)))
    return padded[..., max(-ranks, 0) : max(-ranks, 0) + 8, max(-files, 0) : max(-files, 0) + 8]


class AttackPlanes(nn.Module):
    """Squares attacked by White and by Black: the post's own proposal. Channels: 2.

    `squares`: 1 where at least one piece attacks, else 0. `counts`: how many do, divided by 4. A slider attacks up to
    and with the first piece in its way, own or not; a pawn attacks its two forward diagonals; pins do not matter.
    """

    def __init__(self, kind: str = "squares") -> None:
        super().__init__()
        if kind not in ATTACKS[1:]:
            raise ValueError(f"attack planes of kind {kind}")
        self.channels = 2
        self.counts = kind == "counts"

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        board = codes.view(-1, 8, 8).long()
        colours = []
        empty = (board == 0).float()[:, None]
        for first, forward in ((1, 1), (7, -1)):
            pawn, knight, bishop, rook, queen, king = ((board == first + piece).float() for piece in range(6))
            total = _shift(pawn, forward, 1) + _shift(pawn, forward, -1)
            for step in _KNIGHT:
                total = total + _shift(knight, *step)
            for step in _DIAGONAL + _STRAIGHT:
                total = total + _shift(king, *step)
            colours.append((total, torch.stack([bishop + queen, rook + queen], 1)))
        # Both colours' sliders together, one direction of both kinds at once, filling over empty squares in three
        # doublings.
        sliders = torch.stack([colours[0][1], colours[1][1]], 1)  # [n, colour, kind, 8, 8]
        totals = torch.stack([colours[0][0], colours[1][0]], 1)
        for kind, steps in ((0, _DIAGONAL), (1, _STRAIGHT)):
            for ranks, files in steps:
                reach, free = sliders[:, :, kind], empty
                for distance in (1, 2, 4):
                    reach = torch.maximum(reach, free * _shift(reach, ranks * distance, files * distance))
                    free = free * _shift(free, ranks * distance, files * distance)
                totals = totals + _shift(reach, ranks, files)
        planes = totals / 4 if self.counts else totals.clamp(max=1)
        return planes.to(memory_format=torch.channels_last)


class Stack(nn.Module):
    """Several encodings, one after the other along the channels."""

    def __init__(self, *parts: nn.Module) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.channels: int = sum(cast(int, part.channels) for part in parts)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        planes = [part(codes, state) for part in self.parts]
        return planes[0] if len(planes) == 1 else torch.cat(planes, 1)
