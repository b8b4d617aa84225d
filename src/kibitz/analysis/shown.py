"""Describe an analyzed game for the page that shows it move by move, for chess and Go.

`kibitz.report.game` writes this page. The description of a game is a dict for JSON with these fields:

game: "chess" or "go". size: the number of squares or intersections on one side of the board.
start: the start position, one character for each cell of the board: a letter, or "." for an empty cell.
players, result, facts: the players' names, the result, and further texts such as the event and the date.
checked_by: the engine that evaluated the moves, with its limits; "" if the network evaluated them.
value: the name of the value; it belongs to White in chess and to Black in Go.
values: the value of each position, [moves + 1], 0 to 1, or None; [] if no position has a value.
leads: only in Go: Black's lead in points in each position, [moves + 1], or None.
moves: the moves. Each move is a step, see below, with these further fields. "number" is its number as text, and "side"
    is the player's color. "mark" is the annotation, and "change" is the change of the value, or None. "notes" is a list
    of texts about the move. "line" is a list of the better moves, as steps.
owners: only in Go: the owner of each intersection in the last position, "X", "O", or "." for neutral. It is "" if two
    passes did not end the game.
summary: the summary of the game, see `kibitz.analysis.summary.GameSummary.as_json`; None if it is unknown.

A step is a move on the board. Its text is in "text". The list "cells" has the cells that the move changed, each as
[cell, letter after the move]. The list "at" has the cells to highlight.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kibitz.analysis.printing import clean

MOST_TEXT = 200
"""The largest number of characters of a name or another text from the game record."""


def changed_cells(before: str, after: str) -> list[list[int | str]]:
    """Return the cells that differ between two positions, each as [cell, letter after the move].

    before, after: the positions, with one character for each cell.
    """
    return [[cell, new] for cell, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]


def record_texts(headers: Any, names: Iterable[str]) -> list[str]:
    """Return the known texts of a game record, without control characters. headers: the PGN tags or SGF properties.
    names: the names of the wanted headers.
    """
    found = (clean(str(headers.get(name) or ""), MOST_TEXT) for name in names)
    return [text for text in found if text.strip("?.- ")]


def player_name(headers: Any, name: str, level: str) -> str:
    """Return a player's name with the rating or rank, such as "Ann (1840)"; "?" if the name is unknown.

    headers: the PGN tags or SGF properties. name, level: the names of the headers.
    """
    player, rank = (clean(str(headers.get(key) or ""), MOST_TEXT) for key in (name, level))
    return f"{player or '?'} ({rank})" if rank.strip("?-0") else player or "?"


def incomplete(problem: str | None) -> list[str]:
    """Return a fact for the page if the analysis ends before the last move of the record; [] if it covers all moves.

    problem: why the analysis ends; None if it covers all moves.
    """
    return [f"Incomplete: {clean(problem, MOST_TEXT)}"] if problem else []


def rounded(values: Sequence[float | None], digits: int = 3) -> list[float | None]:
    """Return values rounded to a number of digits; [] if all are None."""
    found = [None if value is None else round(float(value), digits) + 0.0 for value in values]
    return found if any(value is not None for value in found) else []
