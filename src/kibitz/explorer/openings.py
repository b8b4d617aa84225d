"""Names of chess openings, by position: other orders of moves to it have its name too.

The table beside this module has a line for each: the code of the Encyclopaedia of Chess Openings, a name, the moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

import chess

TABLE = "openings.tsv"
LONGEST = 24
"""Plies after which no opening of the table is looked for."""


@dataclass(frozen=True)
class Opening:
    """eco: "B90" and so on."""

    eco: str
    name: str


def rows() -> list[tuple[str, str, str]]:
    """The table: code, name, and moves in SAN with spaces between them."""
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


def opening_of(boards: Iterable[chess.Board]) -> Opening | None:
    """The last opening that a game's positions belong to, from its start on; None where none does."""
    known, found = _by_position(), None
    for ply, board in enumerate(boards):
        if ply > LONGEST:
            break
        found = known.get(board.epd(), found)
    return found
