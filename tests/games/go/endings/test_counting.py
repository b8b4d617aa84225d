"""Scores of positions drawn by hand, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz.games.go.endings.counting import area, compensation, lead, settle, territory
from kibitz.games.go.points import GRID, POINTS
from support import go_diagrams as diagrams
from support.go_diagrams import DAME, DEAD, PLAIN, SEKI, points

NONE = points()


def test_plain_walls() -> None:
    board = diagrams.colours(PLAIN)
    owner = settle(board, NONE)
    assert area(owner) == 36 - 45
    assert territory(owner, board, (0, 0)) == 27 - 36
    assert (owner.reshape(GRID, GRID)[9:] == 0).all()


def test_a_dead_stone_is_a_point_and_a_prisoner() -> None:
    board = diagrams.colours(DEAD)
    owner = settle(board, points((4, 1)))
    assert owner[4 * GRID + 1] == 1
    assert area(owner) == 36 - 45
    assert territory(owner, board, (0, 0)) == 28 - 36
    assert territory(owner, board, (3, 5)) == 28 - 36 + 5 - 3


def test_a_stone_that_lives_in_there_leaves_it_to_nobody() -> None:
    board = diagrams.colours(DEAD)
    owner = settle(board, NONE).reshape(GRID, GRID)
    assert owner[4, 1] == 2
    assert (owner[:9, 0] == 0).all()


def test_neutral_points_are_nobodys() -> None:
    board = diagrams.colours(DAME)
    owner = settle(board, NONE)
    assert (owner.reshape(GRID, GRID)[:9, 3] == 0).all()
    assert area(owner) == 27 - 45
    assert territory(owner, board, (0, 0)) == 18 - 36


def test_seki() -> None:
    board = diagrams.colours(SEKI)
    owner = settle(board, NONE)
    assert np.flatnonzero((owner == 0) & (board != 3)).tolist() == [4, GRID + 4]
    assert area(owner) == 37 - 42
    assert territory(owner, board, (0, 0)) == 23 - 28


def test_an_eye_in_seki_is_no_territory() -> None:
    board = diagrams.colours(".XO......\nXXO......\nOOO......\n" + ".........\n" * 6)
    seki = points((0, 1), (1, 0), (1, 1))
    assert settle(board, NONE)[0] == 1
    assert settle(board, NONE, seki)[0] == 0
    assert settle(board, NONE, points((0, 1)))[0] == 1  # not all that surround it


def test_an_empty_board_is_nobodys() -> None:
    assert not settle(np.zeros(POINTS, np.uint8), NONE).any()


@pytest.mark.parametrize(
    ("rules", "handicap", "points_"),
    [
        ("chinese", 4, 4), ("ing", 2, 2), ("aga", 4, 3), ("japanese", 4, 0), ("korean", 9, 0), ("new zealand", 3, 0),
        ("tromp-taylor", 3, 0), ("chinese", 1, 0), ("aga", 0, 0), (None, 4, 0),
    ],
)  # fmt: skip
def test_what_white_gets_for_handicap(rules: str | None, handicap: int, points_: int) -> None:
    assert compensation(rules, handicap) == points_


def test_the_lead_under_each_rule() -> None:
    board = diagrams.colours(DEAD)
    owner = settle(board, points((4, 1)))
    assert lead(owner, board, (0, 2), 6.5, "japanese") == 28 - 36 + 2 - 6.5
    assert lead(owner, board, (0, 2), 6.5, "korean") == 28 - 36 + 2 - 6.5
    assert lead(owner, board, (0, 2), 7.5, "chinese") == -9 - 7.5
    assert lead(owner, board, (0, 2), 0.5, "chinese", 3) == -9 - 3.5
    assert lead(owner, board, (0, 2), 0.5, "aga", 3) == -9 - 2.5
    assert lead(owner, board, (0, 2), 0.5, None) == -9.5
