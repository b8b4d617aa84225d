"""The rules of Go: stones, chains, liberties, captures, ko.

The board that the fast loops use is one int16 array [7, 441]: rows COLOUR … PLAYED below, columns the cells of a
21 × 21 grid whose border is OUTSIDE, so that a cell's neighbours are always at ±1 and ±21. A chain is a circular list
of its stones; its root's cell carries what belongs to the chain. Liberties are counted once for every stone that
touches them ("pseudo-liberties"): enough to see a capture, and cheap to keep; how many different ones there are is
counted only where a position is looked at (`liberties`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import BLACK, GRID, NONE, OUTSIDE, PASS, POINTS, SIZES, on_board
from kibitz.kernels import inner, kernel

COLOUR, ROOT, NEXT, TOUCHED, STONES, LIBERTIES, PLAYED = range(7)
"""Rows: colour; the chain's root; the next stone of the chain; at the root: pseudo-liberties, stones, and liberties as
far as they are known (0: not counted); the ply in which the stone was played (0: set up)."""
ROWS = 7
WIDE = GRID + 2
CELLS = WIDE * WIDE
MAX_LIBERTIES = 6
"""Liberties are counted up to this many."""


def cells() -> NDArray[np.int16]:
    """int16 [361]: the cell of each point."""
    point = np.arange(POINTS)
    return ((point // GRID + 1) * WIDE + point % GRID + 1).astype(np.int16)


CELL = cells()
POINT = np.full(CELLS, PASS, np.int16)
"""The point of each cell."""
POINT[CELL] = np.arange(POINTS)


def empty_board(size: int = GRID) -> NDArray[np.int16]:
    """An empty board of that size, int16 [7, 441]."""
    board = np.zeros((ROWS, CELLS), np.int16)
    board[COLOUR] = OUTSIDE
    board[COLOUR].reshape(WIDE, WIDE)[1 : size + 1, 1 : size + 1] = NONE
    return board


@inner
def _remove(board, cell):  # type: ignore[no-untyped-def]
    """Take a chain off the board; how many stones it had."""
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
    """Put a stone on an empty cell, with what follows: how many stones it captures (negative: it was suicide, of so
    many stones), and the cell where its opponent may not take back at once (0: nowhere)."""
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
    for step in (1, -1, WIDE, -WIDE):  # join chains of its colour, the smaller to the larger
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
    """Whether a stone on this empty cell would leave its own chain without liberties, capturing nothing."""
    alive = False
    for step in (1, -1, WIDE, -WIDE):  # try: a chain may touch the cell several times
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
    """Different liberties of a chain, up to MAX_LIBERTIES; remembered until something beside it changes."""
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
    """Fill a board from colours [361], as a start position has them."""
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
    """64 bits that stand for the stones on a board."""
    value = np.uint64(0)
    for cell in range(WIDE, CELLS - WIDE):
        colour = board[COLOUR, cell]
        if colour == 1 or colour == 2:
            value ^= _BITS[colour, cell]
    return value


class Illegal(ValueError):
    """A move that the rules do not allow; the message is the reason, in a few words."""


class Board:
    """A game's position that can be played on: for faces, one move at a time.

    size: 9, 13 or 19. suicide: whether a stone may take its own chain off the board. superko: whether no earlier
    position may come again ("positional"); the simple ko is always forbidden. Moves are points, PASS for a pass.

    `board` is the fast loops' array; `ko` the point where the player to move may not take back, PASS where there is
    none; `ply` counts moves; `passes` those passes that came last; `captured[colour]` the stones that colour lost.
    """

    def __init__(self, size: int = GRID, suicide: bool = False, superko: bool = False):
        if size not in SIZES:
            raise ValueError(f"a board of {size}: choose from {', '.join(map(str, SIZES))}")
        self.size, self.suicide, self.superko = size, suicide, superko
        self.board = empty_board(size)
        self.ko = PASS
        self.ply = self.passes = 0
        self.to_move = BLACK
        self.captured = [0, 0, 0]
        self._before = {int(position_hash(self.board))}

    @property
    def positions(self) -> frozenset[int]:
        """`position_hash` of the stones as they lie and as they lay at any time of the game."""
        return frozenset(self._before)

    def copy(self) -> Board:
        """The same position, to be played on apart."""
        other = Board.__new__(Board)
        other.__dict__.update(self.__dict__)
        other.board, other.captured, other._before = self.board.copy(), self.captured.copy(), self._before.copy()
        return other

    def put(self, colour: int, point: int) -> None:
        """Set up a stone before the first move. Raises Illegal on an occupied point, and where a chain would have no
        liberty."""
        if not on_board(point, self.size) or self[point] != NONE:
            raise Illegal("occupied" if on_board(point, self.size) else "not on the board")
        if place(self.board, int(CELL[point]), colour, 0)[0]:
            raise Illegal("a chain has no liberty")
        self._before = {int(position_hash(self.board))}

    def __getitem__(self, point: int) -> int:
        """The colour of a point."""
        return int(self.board[COLOUR, CELL[point]])

    def colours(self) -> NDArray[np.uint8]:
        """uint8 [361]: the colour of every point of the grid."""
        colours: NDArray[np.uint8] = self.board[COLOUR, CELL].astype(np.uint8)
        return colours

    def why_not(self, colour: int, point: int) -> str | None:
        """Why a move is illegal, in a few words; None where it is legal."""
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
        """Every point where that colour may play; a pass, which is always legal, is not among them."""
        for row in range(self.size):
            for point in range(row * GRID, row * GRID + self.size):
                if self.why_not(colour, point) is None:
                    yield point

    def play(self, colour: int, point: int) -> int:
        """Play a move, of either colour; how many stones it captured (negative: suicide). Raises Illegal."""
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
