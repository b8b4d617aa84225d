"""Ladders: known ones, and a comparison with a slow reading of every move on small boards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import boards

from kibitz.games.go.ladders import chain as cells_of_chain
from kibitz.games.go.ladders import ladder
from kibitz.games.go.points import BLACK, GRID, NONE, OUTSIDE, WHITE, from_gtp, to_gtp
from kibitz.games.go.rules import CELL, Board, empty_board, set_up
from support.go_oracle import LETTER, at, chain

CAUGHT = {"W": "D4", "B": "C4 D3 E3"}


def board(stones: dict[str, str], size: int = 19) -> Board:
    made = Board(size)
    for colour, name in ((BLACK, "B"), (WHITE, "W")):
        for vertex in stones.get(name, "").split():
            made.put(colour, from_gtp(vertex, size))
    return made


def read(stones: dict[str, str], point: str, first: int = BLACK) -> list[str] | None:
    line = ladder(board(stones), from_gtp(point, 19), first)
    return None if line is None else [to_gtp(move, 19) for move in line]


def test_a_ladder_to_the_edge_captures() -> None:
    line = read(CAUGHT, "D4")
    assert line is not None
    assert line[:4] == ["D5", "E4", "F4", "E5"]
    assert len(line) == 59


@pytest.mark.parametrize("breaker", ["Q16", "R17", "P16"])
def test_a_stone_in_its_way_breaks_it(breaker: str) -> None:
    assert read({**CAUGHT, "W": f"D4 {breaker}"}, "D4") is None
    assert read({**CAUGHT, "W": f"D4 {breaker[0]}3"}, "D4") is not None, "a stone elsewhere does not"


def test_the_side_of_the_chain_gets_out_by_moving_first() -> None:
    atari = {"W": "D4", "B": "C4 D3 E3 D5"}
    assert read(atari, "D4", WHITE) is not None, "in atari it is caught even with the first move"
    assert read({**atari, "W": "D4 Q16"}, "D4", WHITE) is None
    assert read(CAUGHT, "D4", WHITE) is None


def test_capturing_a_stone_next_to_it_is_an_escape() -> None:
    stones = {"W": "D4", "B": "C4 D3 E3"}
    assert read(stones, "D4") is not None
    assert read({"W": "D4 C3 C5", "B": "C4 D3 E3"}, "D4") is None


@pytest.mark.parametrize("first", [BLACK, WHITE])
def test_a_point_without_a_stone_is_in_no_ladder(first: int) -> None:
    two = board({"B": "A9", "W": "A8 B8 C9"}, 9)
    two.suicide = True
    assert two.play(BLACK, from_gtp("B9", 9)) == -2
    for vertex in ("A9", "B9", "E5"):
        point = from_gtp(vertex, 9)
        assert cells_of_chain(two.board, int(CELL[point])) == []
        assert ladder(two, point, first) is None


def test_a_ko_may_not_be_taken_back_at_once() -> None:
    ko = board({"W": "D5 C4 D3", "B": "E5 F4 E3 D4"})
    assert ko.play(WHITE, from_gtp("E4", 19)) == 1
    taken = from_gtp("E4", 19)
    assert ladder(ko, taken, BLACK) is None
    ko.play(BLACK, from_gtp("Q16", 19))
    ko.play(WHITE, from_gtp("Q4", 19))
    assert ladder(ko, taken, BLACK) == (from_gtp("D4", 19),)


def slow(position: boards.Board, row: int, column: int, attacks: bool, ko: tuple[int, int] | None, depth: int) -> bool:
    """Whether the chain is captured, by trying every legal move of its side."""
    colour = position.get(row, column)
    _, free = chain(position, row, column)
    other = "w" if colour == "b" else "b"
    if attacks:
        if len(free) > 2:
            return False
        if len(free) == 1:
            return next(iter(free)) != ko
        return any(
            slow(after, row, column, False, banned, depth - 1)
            for after, banned in moves(position, other, ko, free)
            if after.get(row, column) == colour
        )
    if len(free) > 1:
        return False
    assert depth > 0
    everywhere = {(r, c) for r in range(position.side) for c in range(position.side)}
    options = [*moves(position, colour, ko, everywhere), (position, None)]
    return all(
        slow(after, row, column, True, banned, depth - 1)
        for after, banned in options
        if after.get(row, column) == colour
    )


def moves(position, colour, ko, places):  # type: ignore[no-untyped-def]
    """The positions after legal moves at these places, each with its ko."""
    for row, column in places:
        if position.get(row, column) is None and (row, column) != ko:
            after = position.copy()
            banned = after.play(row, column, colour)
            if after.get(row, column) == colour:  # else it was suicide
                yield after, banned


@settings(max_examples=150)
@given(st.integers(3, 5), st.data())
def test_the_reading_agrees_with_a_slow_one(size: int, data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.sampled_from([NONE, NONE, BLACK, WHITE, WHITE]), min_size=25, max_size=25))
    position = boards.Board(size)
    for i in range(size * size):
        if cells[i]:
            position.play(i // size, i % size, LETTER[cells[i]])
    stones = position.list_occupied_points()
    colours = np.full(GRID * GRID, OUTSIDE, np.uint8)
    for row in range(size):
        for column in range(size):
            colours[(size - 1 - row) * GRID + column] = {None: NONE, "b": BLACK, "w": WHITE}[position.get(row, column)]
    made = Board(9)
    made.board = empty_board(size)
    set_up(made.board, colours)
    for colour, (row, column) in stones:
        point = (size - 1 - row) * GRID + column
        assert at(point, size) == (row, column)
        for first in (BLACK, WHITE):
            attacks = LETTER[first] != colour
            expected = slow(position, row, column, attacks, None, 200)
            assert (ladder(made, point, first) is not None) == expected
