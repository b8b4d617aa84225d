"""Final positions drawn by hand on 9 × 9 (X Black, O White), and batches of games that end in them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.go.io.ingest import COLUMNS
from kibitz.games.go.points import GRID, OUTSIDE, PASS, POINTS
from kibitz.games.go.replay import start_row

PLAIN = "...XO....\n" * 9
"""Black has 27 points and 9 stones, White 36 and 9."""
DEAD = PLAIN.replace("...XO", ".O.XO", 5).replace(".O.XO", "...XO", 4)
"""The same, with a dead white stone among Black's points."""
DAME = "..X.O....\n" * 9
"""Nine points between the walls are nobody's."""
SEKI = """\
..OX.OX..
..OX.OX..
..OXXOX..
..OOOXX..
....OX...
....OX...
....OX...
....OX...
....OX...
"""
"""Four black stones and three white ones at the top share two liberties; the side that plays there is captured."""


def colours(drawn: str) -> NDArray[np.uint8]:
    """uint8 [361], 3 outside the board that is drawn."""
    grid = np.full((GRID, GRID), OUTSIDE, np.uint8)
    for row, line in enumerate(drawn.split()):
        grid[row, : len(line)] = [".XO".index(mark) for mark in line]
    return grid.reshape(POINTS)


def points(*places: tuple[int, int]) -> NDArray[np.bool_]:
    """bool [361], true at these (row, column)."""
    found = np.zeros(POINTS, np.bool_)
    for row, column in places:
        found[row * GRID + column] = True
    return found


def row_of(drawn: str) -> NDArray[np.uint8]:
    """The start position that is drawn."""
    found = colours(drawn)
    black, white = (tuple(np.flatnonzero(found == colour).tolist()) for colour in (1, 2))
    return start_row(9, black, white)


def batch(*games: tuple[str, dict[str, Any]]) -> GameBatch:
    """Games that begin at a drawn position and end there by two passes: (drawing, what its row says)."""
    rows = []
    for number, (_, said) in enumerate(games, 1):
        row: dict[str, Any] = dict.fromkeys(COLUMNS.names)
        row.update(black="Dosaku", white="Shuwa", ending="counted", komi=0.0, handicap=0, size=9, rules="japanese")
        row.update(date=datetime.date(1846, 9, 11), source="games.sgf", number=number)
        rows.append(row | said)
    return GameBatch(
        np.full(2 * len(games), PASS, np.uint16),
        np.full(len(games), 2, np.int32),
        np.array([row_of(drawn) for drawn, _ in games], np.uint8),
        pa.Table.from_pylist(rows, COLUMNS),
        Rejections(),
        len(games),
    )
