"""Find out whether a chain can be captured in a ladder, by searching the ladder to its end.

In a ladder, every move of the attacker puts the chain in atari or captures the chain. The chain's side plays on the
chain's last liberty, or captures stones next to the chain. The search tries all such moves under the simple ko rule, so
its result is exact. The module finds no capture in which a move of the attacker leaves the chain two or more liberties,
such as a net (geta).

A cell is a column of a board array, see `rules.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import BLACK, NONE, PASS, WHITE
from kibitz.games.go.rules import CELL, COLOUR, NEXT, POINT, ROOT, WIDE, Board, is_suicide, place

MOST = 20_000
"""The largest number of positions that the search of a ladder visits. A ladder on an empty board needs fewer
than 200.
"""
_STEPS = (1, -1, WIDE, -WIDE)
_NO_MOVE = 0
"""A cell whose point is PASS. It means that the chain's side has no legal move that helps."""

Cells = NDArray[np.int16]
"""The array of a board, int16 [7, 441], see `rules.py`."""


class Unread(Exception):
    """Raised if the search of a ladder visits more than 20,000 positions (MOST)."""


def chain(board: Cells, cell: int) -> list[int]:
    """Return the cells of the chain that includes the stone on a cell; [] if the cell has no stone. A cell is a column
    of the array `board`, see `rules.py`.
    """
    if board[COLOUR, cell] not in (BLACK, WHITE):
        return []  # `NEXT` leads from such a cell into a loop without an end
    stones, stone = [cell], int(board[NEXT, cell])
    while stone != cell:
        stones.append(stone)
        stone = int(board[NEXT, stone])
    return stones


def open_cells(board: Cells, stones: list[int]) -> list[int]:
    """Return the liberties of a chain as cells (columns of the array `board`, see `rules.py`), in ascending order.
    stones: the cells of the chain.
    """
    return sorted({stone + step for stone in stones for step in _STEPS if board[COLOUR, stone + step] == NONE})


def chains_beside(board: Cells, stones: list[int]) -> list[list[int]]:
    """Return the opponent's chains that touch a chain, each as a list of cells (columns of the array `board`, see
    `rules.py`). stones: the cells of the chain.
    """
    found: dict[int, list[int]] = {}
    colour = int(board[COLOUR, stones[0]])
    for stone in stones:
        for step in _STEPS:
            beside = stone + step
            if board[COLOUR, beside] == 3 - colour and int(board[ROOT, beside]) not in found:
                found[int(board[ROOT, beside])] = chain(board, beside)
    return list(found.values())


def ladder(board: Board, point: int, first: int) -> tuple[int, ...] | None:
    """Return the moves of a ladder that captures the chain on a point. Return None if the chain escapes, if the point
    has no stone, or if the search visits more than 20,000 positions (MOST).

    first: the color that moves first, 1 Black or 2 White. The moves are points or PASS, and the two colors move in
    turn. The last move captures the chain.
    """
    if board[point] not in (BLACK, WHITE):
        return None
    cell, ko = int(CELL[point]), 0
    if board.ko != PASS and board.to_move == first:
        ko = int(CELL[board.ko])
    reader = _Reader()
    try:
        line = (reader.escape if first == board[point] else reader.attack)(board.board, cell, ko)
    except (Unread, RecursionError):
        return None
    return None if line is None else tuple(int(POINT[move]) for move in line)


class _Reader:
    """The search of one ladder. Its methods return the line that captures the chain at a cell, or None."""

    def __init__(self) -> None:
        self.left = MOST

    def attack(self, board: Cells, cell: int, ko: int) -> tuple[int, ...] | None:
        """Find a line of moves that captures a chain, with the attacker to move. cell: the cell of one of the chain's
        stones. Returns None if there is no such line. ko: the cell where the attacker may not recapture, or 0.
        """
        free = open_cells(board, chain(board, cell))
        if len(free) == 1:
            return None if free[0] == ko else (free[0],)
        if len(free) > 2:
            return None
        attacker = 3 - int(board[COLOUR, cell])
        for move in free:
            after = self._after(board, move, attacker, ko)
            if after is not None:
                line = self.escape(after[0], cell, after[1])
                if line is not None:
                    return (move, *line)
        return None

    def escape(self, board: Cells, cell: int, ko: int) -> tuple[int, ...] | None:
        """Find a line of moves that captures a chain, with the chain's side to move. cell: the cell of one of the
        chain's stones. Returns None if the chain escapes. ko: the cell where this side may not recapture, or 0.
        """
        stones = chain(board, cell)
        free = open_cells(board, stones)
        if len(free) > 1:
            return None
        colour = int(board[COLOUR, cell])
        takes = [open_cells(board, beside) for beside in chains_beside(board, stones)]
        longest: tuple[int, ...] = ()
        for move in dict.fromkeys([*free, *(cells[0] for cells in takes if len(cells) == 1)]):
            after = self._after(board, move, colour, ko)
            if after is None:
                continue
            line = self.attack(after[0], cell, after[1])
            if line is None:
                return None
            longest = max(longest, (move, *line), key=len)
        return longest or (_NO_MOVE, free[0])

    def _after(self, board: Cells, move: int, colour: int, ko: int) -> tuple[Cells, int] | None:
        """Return the board after a move, and its ko cell; None if the move is illegal."""
        if move == ko or is_suicide(board, move, colour):
            return None
        self.left -= 1
        if self.left < 0:
            raise Unread
        after = board.copy()
        _, banned = place(after, move, colour, 0)
        return after, int(banned)
