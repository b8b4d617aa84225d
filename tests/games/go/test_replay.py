"""Positions replayed from packed moves, against sgfmill's board."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sgfmill import boards

from kibitz.games.go.points import BLACK, GRID, PASS, SIZES, WHITE
from kibitz.games.go.replay import (
    KO,
    OFF,
    PASSES,
    PLIES,
    SIDE,
    SIZE,
    STANDARD_START,
    ages,
    children,
    colours_of,
    encode_board,
    replay,
    start_row,
)
from kibitz.games.go.rules import Board
from support import go_oracle as oracle
from support.examples import share

Games = list[tuple[int, list[int]]]


def pack(games: Games) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]:
    """Sizes and moves of some games as a store has them."""
    starts = np.stack([start_row(size) for size in SIZES])
    lengths = [len(moves) for _, moves in games]
    return (
        np.concatenate([np.array(moves, np.uint16) for _, moves in games]),
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        starts,
        np.array([SIZES.index(size) for size, _ in games], np.int32),
    )


def slow_codes(size: int, moves: list[int], ply: int) -> NDArray[np.uint8]:
    """The codes of one position, stone by stone."""
    board, ko, played = boards.Board(size), PASS, {}
    for i, point in enumerate(moves[:ply]):
        ko = oracle.play(board, WHITE if i % 2 else BLACK, point)
        played[point] = i + 1
    bounds = [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128]
    codes = np.full(361, OFF, np.uint8)
    for row in range(size):
        for column in range(size):
            point = oracle.point_of(row, column, size)
            colour = board.get(row, column)
            codes[point] = KO if point == ko else 0
            if colour:
                free = min(len(oracle.chain(board, row, column)[1]), 6)
                age = sum(ply - played[point] + 1 > bound for bound in bounds) + 1
                codes[point] = free + (6 if colour == "w" else 0) + 16 * age
    return codes


@settings(max_examples=share(0.5))
@given(st.lists(st.tuples(st.sampled_from(SIZES), st.integers(0, 2**32)), min_size=1, max_size=3), st.data())
def test_any_position_in_any_order(seeds: list[tuple[int, int]], data: st.DataObject) -> None:
    games = [(size, oracle.random_game(size, 150, seed)) for size, seed in seeds]
    place = st.tuples(st.integers(0, len(games) - 1), st.integers(0, 150))
    wanted = data.draw(st.lists(place, min_size=1, max_size=12))
    codes, state = replay(*pack(games), *(np.array(column, np.int64) for column in zip(*wanted, strict=True)))
    for (game, ply), found, numbers in zip(wanted, codes, state, strict=True):
        size, moves = games[game]
        assert np.array_equal(found, slow_codes(size, moves, ply))
        assert numbers[SIDE] == ply % 2
        assert numbers[SIZE] == size
        assert numbers[PLIES] == ply
        passed = [move == PASS for move in moves[:ply]]
        assert numbers[PASSES] == (2 if passed[-2:] == [True, True] else int(passed[-1:] == [True]))


def test_ages() -> None:
    assert [int(ages()[age]) for age in (1, 2, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129)] == [
        1, 2, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13,
    ]  # fmt: skip


def test_a_start_with_stones_and_white_to_move() -> None:
    start = start_row(19, black=(60, 288), side=1)
    codes, state = replay(
        np.array([72], np.uint16), np.array([0, 1]), start[None], np.zeros(1, np.int32),
        np.zeros(2, np.int64), np.array([0, 1]),
    )  # fmt: skip
    assert state[:, SIDE].tolist() == [1, 0]
    assert colours_of(codes)[:, [60, 288, 72]].tolist() == [[1, 1, 0], [1, 1, 2]]
    assert codes[0, 60] == 4  # set up: four liberties, no age
    assert codes[1, 72] == 6 + 4 + 16


@settings(max_examples=share(0.5))
@given(st.sampled_from(SIZES), st.integers(0, 2**32))
def test_a_live_board_has_the_same_codes(size: int, seed: int) -> None:
    moves = oracle.random_game(size, 120, seed)
    board = Board(size)
    for point in moves:
        board.play(board.to_move, point)
    codes, state = replay(*pack([(size, moves)]), np.zeros(1, np.int64), np.array([120]))
    live = encode_board(board)
    assert np.array_equal(live[0], codes[0])
    assert np.array_equal(live[1], state[0])
    points = np.fromiter(board.legal(board.to_move), np.int64)
    after, numbers, captured = children(board, board.to_move, points)
    for i in range(0, len(points), 17):
        child = board.copy()
        assert child.play(board.to_move, int(points[i])) == captured[i]
        assert np.array_equal(encode_board(child)[0], after[i])
        assert np.array_equal(encode_board(child)[1], numbers[i])


def test_suicide_in_a_record_is_replayed() -> None:
    corner = [1, 40, GRID, 0]  # Black B1-like corner: White's stone at the corner dies by itself
    codes, _ = replay(*pack([(19, corner)]), np.zeros(1, np.int64), np.array([4]))
    assert colours_of(codes[0])[0] == 0


@pytest.mark.parametrize(("game", "ply"), [(1, 0), (-1, 0), (0, 3), (0, -1)])
def test_what_is_not_there(game: int, ply: int) -> None:
    with pytest.raises(IndexError):
        replay(*pack([(19, [0, 1])]), np.array([game]), np.array([ply]))


def test_the_standard_start() -> None:
    assert STANDARD_START.tolist() == [0] * 361 + [0, 19]
