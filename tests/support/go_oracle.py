"""The slow, obviously right twin of the fast loops: sgfmill's board, and random legal games on it."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray
from sgfmill import boards

from kibitz.games.go.points import BLACK, GRID, PASS, WHITE

LETTER = {BLACK: "b", WHITE: "w"}


def at(point: int, size: int) -> tuple[int, int]:
    """sgfmill's row (from below) and column."""
    return size - 1 - point // GRID, point % GRID


def point_of(row: int, column: int, size: int) -> int:
    return (size - 1 - row) * GRID + column


def colours(board: boards.Board) -> NDArray[np.uint8]:
    """uint8 [361], 3 outside."""
    found = np.full((GRID, GRID), 3, np.uint8)
    for row in range(board.side):
        for column in range(board.side):
            found[board.side - 1 - row, column] = {None: 0, "b": 1, "w": 2}[board.get(row, column)]
    return found.ravel()


def chain(board: boards.Board, row: int, column: int) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The stones of a chain and its liberties."""
    colour, stones, liberties, waiting = board.get(row, column), set(), set(), [(row, column)]
    while waiting:
        here = waiting.pop()
        if here in stones:
            continue
        stones.add(here)
        for there in ((here[0] + 1, here[1]), (here[0] - 1, here[1]), (here[0], here[1] + 1), (here[0], here[1] - 1)):
            if 0 <= there[0] < board.side and 0 <= there[1] < board.side:
                if board.get(*there) == colour:
                    waiting.append(there)
                elif board.get(*there) is None:
                    liberties.add(there)
    return stones, liberties


def why_not(board: boards.Board, ko: int, colour: int, point: int) -> str | None:
    """Why a move is illegal where suicide and taking back a ko are."""
    row, column = at(point, board.side)
    if board.get(row, column) is not None:
        return "on a stone"
    if point == ko:
        return "takes back a ko at once"
    after = board.copy()
    after.play(row, column, LETTER[colour])
    return "suicide" if after.get(row, column) is None else None


def play(board: boards.Board, colour: int, point: int) -> int:
    """Play on sgfmill's board; the point of the ko, or PASS."""
    if point == PASS:
        return PASS
    ko = board.play(*at(point, board.side), LETTER[colour])
    return PASS if ko is None else point_of(*ko, board.side)


def random_game(size: int, moves: int, seed: int, passes: float = 0.03) -> list[int]:
    """A legal game of random moves on sgfmill's board; dense, so that there is much to capture."""
    chance, board, ko, played = random.Random(seed), boards.Board(size), PASS, []
    for ply in range(moves):
        colour = WHITE if ply % 2 else BLACK
        point = PASS
        if chance.random() >= passes:
            for _ in range(20):
                tried = point_of(chance.randrange(size), chance.randrange(size), size)
                if why_not(board, ko, colour, tried) is None:
                    point = tried
                    break
        ko = play(board, colour, point)
        played.append(point)
    return played
