"""Find the names of chess openings. A name belongs to a position, so the order of the moves does not matter.

The table next to this module has a line for each opening: the code in the Encyclopaedia of Chess Openings (ECO), a
name, and the moves.
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
"""The number of plies of the longest opening in the table."""


@dataclass(frozen=True)
class Opening:
    """A named chess opening. eco: the code in the Encyclopaedia of Chess Openings, such as "B90". name: the name."""

    eco: str
    name: str

    def __str__(self) -> str:
        return f"{self.eco} {self.name}"

    @property
    def family(self) -> str:
        """The name without the variation, such as "Sicilian Defense"."""
        return self.name.split(",")[0]


def rows() -> list[tuple[str, str, str]]:
    """Return the table of openings: for each opening its code, its name, and its moves in SAN, separated by spaces."""
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


def load() -> None:
    """Read the table of openings now, which takes about 0.03 s. Without this call, the first search for an opening
    reads the table.
    """
    _by_position()


def opening_at(board: chess.Board) -> Opening | None:
    """Return the opening to which a position belongs; None if the table of openings does not contain the position."""
    return _by_position().get(board.epd()) if board.fullmove_number <= LONGEST // 2 + 1 else None


def opening_of(boards: Iterable[chess.Board]) -> Opening | None:
    """Return the last named opening among the positions of a game; None if no position has a name. boards: the
    positions of the game, from the start position on.
    """
    found = None
    for board in islice(boards, LONGEST + 1):
        found = opening_at(board) or found
    return found
