"""Names of chess openings, by position, so that other orders of moves have the same name.

The table next to this module has a line for each: the code of the Encyclopaedia of Chess Openings, a name, the moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import islice

import chess

TABLE = "openings.tsv"
LONGEST = 24
"""No opening of the table is longer, in plies."""


@dataclass(frozen=True)
class Opening:
    """A named opening. eco: "B90" and so on."""

    eco: str
    name: str

    def __str__(self) -> str:
        return f"{self.eco} {self.name}"


def rows() -> list[tuple[str, str, str]]:
    """Return the table: code, name, and moves in SAN with spaces between them."""
    text = resources.files(__package__).joinpath(TABLE).read_text(encoding="utf-8")
    return [(eco, name, moves) for eco, name, moves in (line.split("\t") for line in text.splitlines())]


@cache
def _by_position() -> dict[str, Opening]:
    found = {}
    for eco, name, moves in rows():
        board = chess.Board()
        for san in moves.split():
            board.push_san(san)
        found[board.epd()] = Opening(eco, name)
    return found


def opening_at(board: chess.Board) -> Opening | None:
    """Return the opening that the table names for this position; None if there is none."""
    return _by_position().get(board.epd()) if board.fullmove_number <= LONGEST // 2 + 1 else None


def opening_of(boards: Iterable[chess.Board]) -> Opening | None:
    """Return the last opening of a game's positions, from its start on; None if there is none."""
    found = None
    for board in islice(boards, LONGEST + 1):
        found = opening_at(board) or found
    return found
