"""The rules of Go: stones, chains, liberties, captures, ko. Compiled functions change a board array, and the class
`Board` uses them.

The board array is int16 [7, 441]. Its rows are COLOUR … PLAYED below. Its columns are the cells of a 21 × 21 grid whose
border is OUTSIDE, so a cell's neighbors are always at ±1 and ±21. The stones of a chain are a circular list. One of
them is the root, and its cell has the values of the chain. A liberty is counted once for every stone that touches it
("pseudo-liberties"). This number suffices to detect a capture, and is cheap to update. The number of different
liberties is counted only if it is needed (`liberties`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import BLACK, GRID, NONE, OUTSIDE, PASS, POINTS, SIZES, on_board
from kibitz.kernels import inner, kernel
from kibitz.text import either

COLOUR, ROOT, NEXT, TOUCHED, STONES, LIBERTIES, PLAYED = range(7)
"""The rows of a board array.

COLOUR: the color of the cell. ROOT: the cell of the chain's root. NEXT: the next stone of the chain. PLAYED: the ply in
which the stone was played, 0 for setup. Three rows have values only at the root: TOUCHED, the pseudo-liberties; STONES,
the number of stones; LIBERTIES, the number of liberties, 0 if not counted.
"""
ROWS = 7
WIDE = GRID + 2
CELLS = WIDE * WIDE
MAX_LIBERTIES = 6
"""The largest number of liberties that is counted for a chain. Chains with more liberties also get this number."""


def cells() -> NDArray[np.int16]:
    """Return the cell (the column of a board array) of each point, int16 [361]."""
    point = np.arange(POINTS)
    return ((point // GRID + 1) * WIDE + point % GRID + 1).astype(np.int16)


CELL = cells()
POINT = np.full(CELLS, PASS, np.int16)
"""The point of each cell (column of a board array), int16 [441]; PASS for cells of the border."""
POINT[CELL] = np.arange(POINTS)


def empty_board(size: int = GRID) -> NDArray[np.int16]:
    """Return the board array of an empty board of this size, int16 [7, 441]."""
    board = np.zeros((ROWS, CELLS), np.int16)
    board[COLOUR] = OUTSIDE
    board[COLOUR].reshape(WIDE, WIDE)[1 : size + 1, 1 : size + 1] = NONE
    return board


@inner
def _remove(board, cell):  # type: ignore[no-untyped-def]
    """Remove a chain from the board, and return its number of stones. board: int16 [7, 441]."""
    removed = 0
    stone = np.int64(cell)
    while True:
        board[COLOUR, stone] = NONE
        for step in (1, -1, WIDE, -WIDE):
            if board[COLOUR, stone + step] in (1, 2):
                root = board[ROOT, stone + step]
                board[TOUCHED, root] += 1
                board[LIBERTIES, root] = 0
        removed += 1
        stone = board[NEXT, stone]
        if stone == cell:
            return removed


@kernel
def place(board, cell, colour, ply):  # type: ignore[no-untyped-def]
    """Put a stone on an empty cell, and remove captured stones. Returns the number of captured stones and the ko cell.

    If the move is suicide, the returned number is negative: minus the number of stones in the removed chain. The ko
    cell is the cell where the opponent may not recapture with the next move (0: none).

    board: int16 [7, 441], changed in place.
    cell: the cell, a column of the board array.
    colour: 1 Black, 2 White.
    ply: the ply of the move, from 1; 0 for a setup stone.
    """
    touched = 0
    board[COLOUR, cell] = colour
    board[ROOT, cell] = cell
    board[NEXT, cell] = cell
    board[STONES, cell] = 1
    board[LIBERTIES, cell] = 0
    board[PLAYED, cell] = ply
    for step in (1, -1, WIDE, -WIDE):
        there = board[COLOUR, cell + step]
        if there == NONE:
            touched += 1
        elif there != OUTSIDE:
            root = board[ROOT, cell + step]
            board[TOUCHED, root] -= 1
            board[LIBERTIES, root] = 0
    board[TOUCHED, cell] = touched
    root = cell
    # Joins the neighboring chains of this color; a smaller chain is added to a larger one.
    for step in (1, -1, WIDE, -WIDE):
        if board[COLOUR, cell + step] == colour:
            larger, smaller = board[ROOT, cell + step], root
            if larger == smaller:
                continue
            if board[STONES, larger] < board[STONES, smaller]:
                larger, smaller = smaller, larger
            board[TOUCHED, larger] += board[TOUCHED, smaller]
            board[STONES, larger] += board[STONES, smaller]
            board[LIBERTIES, larger] = 0
            stone = smaller
            while True:
                board[ROOT, stone] = larger
                stone = board[NEXT, stone]
                if stone == smaller:
                    break
            after = board[NEXT, larger]
            board[NEXT, larger] = board[NEXT, smaller]
            board[NEXT, smaller] = after
            root = larger
    captured, last = 0, np.int64(0)
    for step in (1, -1, WIDE, -WIDE):
        if board[COLOUR, cell + step] == 3 - colour and board[TOUCHED, board[ROOT, cell + step]] == 0:
            last = cell + step
            captured += _remove(board, last)
    if board[TOUCHED, root] == 0:
        return -_remove(board, cell), 0
    if captured == 1 and board[STONES, root] == 1 and board[TOUCHED, root] == 1:
        return captured, last
    return captured, 0


@kernel
def is_suicide(board, cell, colour):  # type: ignore[no-untyped-def]
    """Return whether a stone on this empty cell would be suicide: it captures nothing, and its chain has no liberties.

    board: int16 [7, 441]. cell: a column of the board. colour: 1 Black, 2 White.
    """
    alive = False
    # The stone's cell temporarily stops counting as a liberty of its neighbors, once for each neighboring stone.
    for step in (1, -1, WIDE, -WIDE):
        there = board[COLOUR, cell + step]
        if there == NONE:
            alive = True
        elif there != OUTSIDE:
            board[TOUCHED, board[ROOT, cell + step]] -= 1
    for step in (1, -1, WIDE, -WIDE):
        there = board[COLOUR, cell + step]
        if there == 1 or there == 2:
            free = board[TOUCHED, board[ROOT, cell + step]] > 0
            alive = alive or free == (there == colour)
    for step in (1, -1, WIDE, -WIDE):
        there = board[COLOUR, cell + step]
        if there == 1 or there == 2:
            board[TOUCHED, board[ROOT, cell + step]] += 1
    return not alive


@kernel
def liberties(board, root):  # type: ignore[no-untyped-def]
    """Return the number of different liberties of a chain, at most 6 (MAX_LIBERTIES).

    board: int16 [7, 441]. root: the cell of the chain's root, which is the stone whose cell has the values of the
    chain. The number is saved in that cell until a point next to the chain changes.
    """
    if board[LIBERTIES, root]:
        return board[LIBERTIES, root]
    cells = np.empty(MAX_LIBERTIES, np.int16)
    count = 0
    stone = root
    while count < MAX_LIBERTIES:
        for step in (1, -1, WIDE, -WIDE):
            if board[COLOUR, stone + step] == NONE:
                new = True
                for i in range(count):
                    if cells[i] == stone + step:
                        new = False
                if new and count < MAX_LIBERTIES:
                    cells[count] = stone + step
                    count += 1
        stone = board[NEXT, stone]
        if stone == root:
            break
    board[LIBERTIES, root] = count
    return count


@kernel
def set_up(board, colours):  # type: ignore[no-untyped-def]
    """Write the position with the given stones to a board array.

    board: int16 [7, 441], the array to which the function writes. colours: [361], the color of each point: 0 none, 1
    Black, 2 White, 3 outside the board.
    """
    board[:] = 0
    board[COLOUR, :] = OUTSIDE
    for point in range(POINTS):
        if colours[point] != OUTSIDE:
            board[COLOUR, CELL[point]] = NONE
    for point in range(POINTS):
        if colours[point] == 1 or colours[point] == 2:
            place(board, np.int64(CELL[point]), np.int64(colours[point]), np.int64(0))


def _random_bits() -> NDArray[np.uint64]:
    return np.random.default_rng(361).integers(1, 2**63, (4, CELLS)).astype(np.uint64)


_BITS = _random_bits()


@kernel
def position_hash(board):  # type: ignore[no-untyped-def]
    """Return a 64-bit hash of the stones on a board. board: int16 [7, 441]."""
    value = np.uint64(0)
    for cell in range(WIDE, CELLS - WIDE):
        colour = board[COLOUR, cell]
        if colour == 1 or colour == 2:
            value ^= _BITS[colour, cell]
    return value


class Illegal(ValueError):
    """Raised for a move that the rules forbid. The message is the reason in a few words."""


class Board:
    """A Go position on which moves can be played one at a time, for the user interfaces.

    size: 9, 13 or 19.
    suicide: whether a move may remove the player's own chain.
    superko: whether moves that repeat an earlier position are forbidden ("positional superko"). An immediate recapture
        of a ko is always forbidden.

    Moves are points, or PASS. Colors are 1 for Black and 2 for White. `board` is the array for the compiled functions.
    `to_move` is the color that moves next. `ko` is the point where this color may not recapture, or PASS. `ply` is the
    number of moves so far. `passes` is the number of passes since the last stone. `captured[colour]` is the number of
    stones that this color has lost.
    """

    def __init__(self, size: int = GRID, suicide: bool = False, superko: bool = False):
        if size not in SIZES:
            raise ValueError(f"size must be {either(map(str, SIZES))} (got {size})")
        self.size, self.suicide, self.superko = size, suicide, superko
        self.board = empty_board(size)
        self.ko = PASS
        self.ply = self.passes = 0
        self.to_move = BLACK
        self.captured = [0, 0, 0]
        self._before = {int(position_hash(self.board))}

    @property
    def positions(self) -> frozenset[int]:
        """The hashes (see `position_hash`) of the current position and of all earlier positions of the game."""
        return frozenset(self._before)

    def copy(self) -> Board:
        """Return an independent copy of the board."""
        other = Board.__new__(Board)
        other.__dict__.update(self.__dict__)
        other.board, other.captured, other._before = self.board.copy(), self.captured.copy(), self._before.copy()
        return other

    def put(self, colour: int, point: int) -> None:
        """Place a setup stone before the first move. Raises Illegal if the point is occupied or not on the board, or if
        a chain would have no liberty.
        """
        if not on_board(point, self.size) or self[point] != NONE:
            raise Illegal("a point has two stones" if on_board(point, self.size) else "not on the board")
        if place(self.board, int(CELL[point]), colour, 0)[0]:
            raise Illegal("a chain has no liberty")
        self._before = {int(position_hash(self.board))}

    def __getitem__(self, point: int) -> int:
        """Return the color of a point."""
        return int(self.board[COLOUR, CELL[point]])

    def colours(self) -> NDArray[np.uint8]:
        """Return the color of every point, uint8 [361]: 0 none, 1 Black, 2 White, 3 outside the board."""
        colours: NDArray[np.uint8] = self.board[COLOUR, CELL].astype(np.uint8)
        return colours

    def why_not(self, colour: int, point: int) -> str | None:
        """Return the reason why a move is illegal, in a few words such as "on a stone"; None if it is legal. point: a
        point or PASS.
        """
        if point == PASS:
            return None
        if not on_board(point, self.size):
            return "not on the board"
        cell = int(CELL[point])
        if self.board[COLOUR, cell] != NONE:
            return "on a stone"
        if point == self.ko and colour == self.to_move:
            return "takes back a ko at once"
        if not self.suicide and is_suicide(self.board, cell, colour):
            return "suicide"
        if self.superko:
            after = self.board.copy()
            place(after, cell, colour, 0)
            if int(position_hash(after)) in self._before:
                return "repeats a position"
        return None

    def legal(self, colour: int) -> Iterator[int]:
        """Yield every point where this color may play. A pass, which is always legal, isn't included."""
        for row in range(self.size):
            for point in range(row * GRID, row * GRID + self.size):
                if self.why_not(colour, point) is None:
                    yield point

    def play(self, colour: int, point: int) -> int:
        """Play a move of either color. Returns the number of captured stones, which is negative for suicide. Raises
        Illegal if the rules forbid the move.
        """
        if why := self.why_not(colour, point):
            raise Illegal(why)
        self.ply += 1
        self.to_move = 3 - colour
        self.ko = PASS
        if point == PASS:
            self.passes += 1
            return 0
        self.passes = 0
        captured, ko = place(self.board, int(CELL[point]), colour, self.ply)
        if ko:
            self.ko = int(POINT[ko])
        self.captured[3 - colour if captured > 0 else colour] += abs(captured)
        self._before.add(int(position_hash(self.board)))
        return int(captured)
