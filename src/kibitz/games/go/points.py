"""Points (intersections) of the Go board and their names.

A point's number is row · 19 + column. Rows and columns are counted from 0, beginning in the upper left corner. The
formula is the same for every board size: a smaller board is the upper left corner of a grid of 19 × 19 points.

In SGF, the name of a point is two letters: the column, and the row counted from above. In GTP, the name is a letter for
the column, A to T without I, and the number of the row, counted from 1 at the bottom. For example, SGF's "pd" is GTP's
"Q16" on a board of 19 × 19.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZES = (9, 13, 19)
"""Board sizes that kibitz supports."""
GRID = 19
POINTS = GRID * GRID
PASS = POINTS
"""The number that represents a pass as a move."""

NONE, BLACK, WHITE, OUTSIDE = 0, 1, 2, 3
"""The colors of points. 3 - color is the other player's color."""

COLUMNS = "ABCDEFGHJKLMNOPQRST"


def on_board(point: int, size: int) -> bool:
    """Return whether a number is that of a point on a board of this size."""
    return 0 <= point < POINTS and point // GRID < size and point % GRID < size


def symmetries(size: int) -> NDArray[np.int64]:
    """Return the eight symmetries of the board as permutations of points, int64 [8, 361]. In symmetry s, the content of
    point `result[s, p]` moves to point p.

    The first symmetry leaves the board unchanged. Points outside the board are not moved.
    """
    import numpy as np  # not imported at the top, so that a command's help appears quickly

    symmetries = np.tile(np.arange(POINTS), (8, 1))
    board = np.arange(POINTS).reshape(GRID, GRID)[:size, :size]
    for symmetry in range(8):
        turned = np.rot90(board.T if symmetry & 4 else board, symmetry & 3)
        symmetries[symmetry].reshape(GRID, GRID)[:size, :size] = turned
    return symmetries


def to_sgf(point: int) -> str:
    """Return the name of a point in SGF, for example "dd"; "" for a pass."""
    return "" if point == PASS else chr(97 + point % GRID) + chr(97 + point // GRID)


def to_gtp(point: int, size: int) -> str:
    """Return the name of a point in GTP, for example "D16"; "pass" for a pass."""
    return "pass" if point == PASS else f"{COLUMNS[point % GRID]}{size - point // GRID}"


def from_gtp(text: str, size: int) -> int:
    """Return the number of the point with the GTP name `text`, such as "D16"; PASS for "pass". Upper and lower case
    have the same meaning. Raises ValueError for any other text, and for a point outside a board of this size.
    """
    word = text.strip().upper()
    if word == "PASS":
        return PASS
    column = COLUMNS.find(word[:1]) if word[:1] else -1
    if column < 0 or not word[1:].isascii() or not word[1:].isdigit() or len(word) > 3:
        skipped = ". The columns of a Go board skip the letter I" if word[:1] == "I" else ""
        raise ValueError(f"{text} is not a point of the board{skipped}")
    row = size - int(word[1:])
    if not (0 <= row < size and column < size):
        raise ValueError(f"{text} is not on a board of {size}×{size}")
    return row * GRID + column
