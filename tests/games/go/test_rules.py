"""The rules against sgfmill's board: captures, ko, suicide; and what sgfmill has not, superko and liberties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import boards

from kibitz.games.go.points import BLACK, GRID, PASS, SIZES, WHITE, from_gtp
from kibitz.games.go.rules import CELL, MAX_LIBERTIES, ROOT, Board, Illegal, liberties
from support import go_oracle as oracle
from support.causes import mentions
from support.examples import share


def board(size: int, black: str = "", white: str = "", **rules: bool) -> Board:
    """A board with stones set up, by GTP's names."""
    found = Board(size, **rules)
    for colour, names in ((BLACK, black), (WHITE, white)):
        for name in names.split():
            found.put(colour, from_gtp(name, size))
    return found


def play(found: Board, *moves: str) -> None:
    """Play moves in turn from the board's side to move."""
    for move in moves:
        found.play(found.to_move, from_gtp(move, found.size))


@settings(max_examples=share(0.5))
@given(st.sampled_from(SIZES), st.integers(0, 2**32))
def test_random_games_as_on_sgfmills_board(size: int, seed: int) -> None:
    mine, slow, ko = Board(size), boards.Board(size), PASS
    for ply, point in enumerate(oracle.random_game(size, 2 * size * size, seed)):
        colour = WHITE if ply % 2 else BLACK
        if ply % 31 == 0:
            for tried in range(0, 361, 7):
                if tried // GRID < size and tried % GRID < size:
                    assert mine.why_not(colour, tried) == oracle.why_not(slow, ko, colour, tried)
        mine.play(colour, point)
        ko = oracle.play(slow, colour, point)
        assert mine.ko == ko
        if ply % 9 == 0:
            assert np.array_equal(mine.colours(), oracle.colours(slow))
    for row in range(size):
        for column in range(size):
            if slow.get(row, column):
                root = mine.board[ROOT, CELL[oracle.point_of(row, column, size)]]
                assert liberties(mine.board, root) == min(len(oracle.chain(slow, row, column)[1]), MAX_LIBERTIES)


def test_a_capture_is_counted() -> None:
    found = board(9, "A2 B2 C1", "A1")
    play(found, "B1")
    assert found[from_gtp("A1", 9)] == 0
    assert found.captured[WHITE] == 1


def test_ko() -> None:
    found = board(9, "C5 D4 D6", "E4 E6 F5 D5")
    play(found, "E5")  # takes D5
    assert found.ko == from_gtp("D5", 9)
    assert mentions(found.why_not(WHITE, from_gtp("D5", 9)), "ko")
    play(found, "A1", "B1")
    assert found.why_not(WHITE, from_gtp("D5", 9)) is None


def test_two_stones_are_no_ko() -> None:
    found = board(9, "A3 B3 C2 C1", "A2 B2 A1")
    play(found, "B1")  # takes three
    assert found.captured[WHITE] == 3
    assert found.ko == PASS


def test_suicide_as_the_rules_say() -> None:
    corner = ("A2 B1", "")
    assert board(9, *corner).why_not(WHITE, from_gtp("A1", 9)) == "suicide"
    free = board(9, *corner, suicide=True)
    assert free.play(WHITE, from_gtp("A1", 9)) == -1
    assert free[from_gtp("A1", 9)] == 0
    assert free.captured == [0, 0, 1]
    group = board(9, "A3 B2 C1", "A2", suicide=True)
    group.play(WHITE, from_gtp("B1", 9))
    assert group.play(WHITE, from_gtp("A1", 9)) == -3


def test_a_move_that_captures_is_no_suicide() -> None:
    found = board(9, "B1 A2", "C1 B2 A3")
    assert found.why_not(WHITE, from_gtp("A1", 9)) is None


@pytest.mark.parametrize("superko", [False, True])
def test_superko_forbids_what_the_ko_rule_allows(superko: bool) -> None:
    found = board(9, "C5 D4 D6", "E4 E6 F5 D5", superko=superko)
    play(found, "E5", "pass", "pass")  # Black takes; then White may take back, but for the position of the beginning
    assert found.why_not(WHITE, from_gtp("D5", 9)) == ("repeats a position" if superko else None)
    play(found, "A1", "A9")
    assert found.why_not(WHITE, from_gtp("D5", 9)) is None  # another position


@pytest.mark.parametrize(
    ("point", "why"), [(361 + 5, "not on the board"), (18, "not on the board"), (-1, "not on the board")]
)
def test_outside(point: int, why: str) -> None:
    found = Board(9)
    assert found.why_not(BLACK, point) == why
    with pytest.raises(Illegal, match=why):
        found.play(BLACK, point)


def test_a_copy_is_apart() -> None:
    one = Board(9)
    two = one.copy()
    two.play(BLACK, 0)
    assert one[0] == 0
    assert one.ply == 0
    assert list(one.legal(BLACK)) != list(two.legal(WHITE))


def test_no_such_size() -> None:
    with pytest.raises(ValueError, match="9, 13 or 19"):
        Board(20)
