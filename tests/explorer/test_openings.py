"""The table of openings: legal, told apart, and found by whatever order of moves."""

from __future__ import annotations

import re

import chess

from kibitz.explorer.openings import LONGEST, Opening, opening_of, rows


def boards(moves: str) -> list[chess.Board]:
    found = [chess.Board()]
    for san in moves.split():
        found.append(found[-1].copy())
        found[-1].push_san(san)
    return found


def test_every_line_of_the_table_is_legal_and_names_its_own_position() -> None:
    table = rows()
    assert len(table) >= 200
    ends = {}
    for eco, name, moves in table:
        assert re.fullmatch(r"[A-E]\d\d", eco)
        assert name == name.strip()
        found = boards(moves)
        assert len(found) - 1 <= LONGEST
        assert ends.setdefault(found[-1].epd(), name) == name
        assert opening_of(found) == Opening(eco, name)
    assert len(ends) == len(table)
    assert [eco for eco, _, _ in table] == sorted(eco for eco, _, _ in table)


def test_the_last_name_stays_and_other_orders_count() -> None:
    assert opening_of(boards("")) is None
    assert opening_of(boards("h4")) is None
    spanish = opening_of(boards("e4 e5 Nf3 Nc6 Bb5 h5"))
    assert spanish == Opening("C60", "Ruy Lopez")
    usual, other = boards("d4 Nf6 c4 e6 Nc3 Bb4"), boards("c4 e6 Nc3 Bb4 d4 Nf6")
    assert opening_of(usual) == opening_of(other) == Opening("E20", "Nimzo-Indian Defense")
