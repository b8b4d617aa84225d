"""Finished positions are counted: dead stones, seki, neutral points, by area and by territory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kibitz.games.go.endings.counting import TERRITORY, compensation
from kibitz.games.go.endings.final import FinalCount, count_board, count_position, nothing_to_gain
from kibitz.games.go.io.sgf import Record, read_records
from kibitz.games.go.points import BLACK, GRID, OUTSIDE, POINTS, WHITE, from_gtp

CASES = Path(__file__).parents[5] / "shared" / "cases" / "go"
WALL = """
. . . X O . . . .
. . . X O . . . .
. O . X O . . . .
. . . X O . . . .
. . . X . O . . .
. . . X O O . X .
. . . X O . . . .
. . . X O . . . .
. . . X O . . . .
"""
"""Two walls with a neutral point between them, and a dead stone behind each."""


def board(text: str, size: int = 9) -> np.ndarray:
    colours = np.full(POINTS, OUTSIDE, np.uint8)
    for row, line in enumerate(text.split("\n")[1:-1]):
        for column, sign in enumerate(line.split()):
            colours[row * GRID + column] = ".XO".index(sign)
    return colours


def owner(final: FinalCount, vertex: str, size: int = 9) -> int:
    return int(final.owner[from_gtp(vertex, size)])


def test_dead_stones_go_and_a_point_between_both_is_neutral() -> None:
    for by_territory, lead in ((False, -8.0), (True, -7.0)):
        final = count_position(board(WALL), (0, 0), 0.0, by_territory)
        assert np.flatnonzero(final.dead).tolist() == sorted(from_gtp(point, 9) for point in ("B7", "H4"))
        assert owner(final, "E5") == 0
        assert (owner(final, "B7"), owner(final, "H4")) == (BLACK, WHITE)
        assert not final.seki.any()
        assert final.lead == lead


def test_komi_and_prisoners_are_counted() -> None:
    without, with_ = (count_position(board(WALL), lost, komi, True) for lost, komi in (((0, 0), 0.0), ((3, 1), 6.5)))
    assert with_.lead == without.lead - 6.5 - 2
    assert with_.black_wins == 0
    assert count_position(board(WALL), (0, 0), -20, True).black_wins == 1


def test_one_eye_each_and_a_shared_liberty_is_seki() -> None:
    """By hand: neither side can play the shared liberty, so all stones live, and their eyes count by area alone."""
    record = _shared("r07_seki_japanese.sgf")
    final = count_board(record.board(), record.komi, True)
    assert final.lead == -25.5
    assert not final.dead.any()
    assert final.seki.sum() == 10
    by_area = count_board(record.board(), record.komi, False)
    assert by_area.lead != final.lead
    assert not by_area.dead.any()


SEKI = """
. X X . O . X X .
X X X X O X X X X
O O O O X X O O O
. . . O O O O . .
. . . . . . . . .
O O O O O O O O O
X X X X X X X X X
. . . . . . . . .
. . . . . . . . .
"""
"""Two black chains with an eye each, and two white stones between them."""


def test_eyes_make_a_seki_of_three_chains() -> None:
    """By hand: a black stone on either shared liberty leaves a large chain in atari, so nobody can capture."""
    final = count_position(board(SEKI), (0, 0), 0.0, True)
    assert not final.dead.any()
    assert final.seki.sum() == 6 + 8 + 2
    assert final.lead == 18 - 14
    outside = count_position(board(SEKI.replace(". X X . O", "X . X . O")), (0, 0), 0.0, True)
    assert outside.lead == final.lead  # the eye is elsewhere
    freer = board(SEKI.replace("X X X X O X", "X . X X O X"))  # Black has a further liberty
    assert count_position(freer, (0, 0), 0.0, True).dead.sum() == 2


def test_an_eye_that_holds_dead_stones_is_no_territory_in_seki() -> None:
    """The eye has room for one white stone that is dead. It does not make the chain's shared liberty playable."""
    text = SEKI.replace(". X X . O . X X .", "O . X . O . X X .")
    final = count_position(board(text), (0, 0), 0.0, True)
    assert final.dead.sum() == 1
    assert final.seki.sum() == 5 + 8 + 2
    assert final.lead == 18 - 14


@pytest.mark.parametrize(("name", "lead"), [("r32_dame_19.sgf", 1.5), ("r26_h6_finished.sgf", 76.5)])
def test_recorded_scores(name: str, lead: float) -> None:
    record = _shared(name)
    komi = record.komi + compensation(record.rules, record.handicap)
    assert count_board(record.board(), komi, record.rules in TERRITORY).lead == lead


def _shared(name: str) -> Record:
    if not (CASES / name).exists():
        pytest.skip("needs the shared cases")
    record = next(iter(read_records([str(CASES / name)])))
    assert isinstance(record, Record)
    return record


def test_nothing_is_left_to_gain_behind_closed_walls() -> None:
    closed = board(WALL)
    for row in "123456789":  # so that both sides surely live, whatever is played at random
        closed[[from_gtp(column + row, 9) for column in "BC"]] = BLACK
        closed[[from_gtp(column + row, 9) for column in "GH"]] = WHITE
    assert nothing_to_gain(closed, BLACK, True)
    assert nothing_to_gain(closed, WHITE, True)
    assert not nothing_to_gain(closed, BLACK, False)  # by area the neutral point is worth a move
    filled = closed.copy()
    filled[from_gtp("E5", 9)] = BLACK
    assert nothing_to_gain(filled, WHITE, False)
    opened = closed.copy()
    for vertex in ("D1", "D2", "D3", "E1", "E2", "E3"):
        opened[from_gtp(vertex, 9)] = 0
    assert not nothing_to_gain(opened, BLACK, True)
    empty = np.where(closed == OUTSIDE, OUTSIDE, 0).astype(np.uint8)
    assert not nothing_to_gain(empty, BLACK, True)
