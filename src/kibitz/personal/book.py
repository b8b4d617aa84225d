"""A person's opening book: how often the person played each move in each position. The book corrects the predictions of
a network.

In a position where the person has moved n times, the corrected probability of a move is `(count + k · network) / (n +
k)`. Here, `count` is how often the person played the move, and `network` is the network's probability. So the network
has the same weight as k games. A book is one array with a row for each position and move, sorted by position. Its file
can be memory-mapped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.durable import write_array
from kibitz.errors import KibitzError
from kibitz.received import read_array
from kibitz.runs import Run

BOOK = "book.npy"
ROW = np.dtype([("position", "<u8"), ("move", "<u2"), ("count", "<u4")])
PAIR = 0xFFF
"""The mask that selects the from-square and the to-square of a packed chess move (see
`kibitz.games.chess.moves.from_move`). The book ignores the promotion piece, which the network decides. The mask does
not change Go moves, because they are smaller numbers.
"""


@dataclass(frozen=True)
class Book:
    """A person's opening book: how often the person played each move in each position.

    rows: a structured array [m] with the fields "position" (hash), "move" and "count". It has a row for each position
    and move, sorted by position and move.
    """

    rows: NDArray[Any]

    @classmethod
    def count(cls, keys: NDArray[np.uint64], moves: NDArray[np.uint16]) -> Book:
        """Return a book that is made from a person's n moves.

        keys: uint64 [n], the hash of the position before each move. moves: uint16 [n], the moves. Chess moves are
        packed (see `kibitz.games.chess.moves.from_move`). Go moves are points, row · 19 + column, or 361 for a pass.
        """
        played = np.zeros(len(keys), ROW)
        played["position"], played["move"], played["count"] = keys, moves & PAIR, 1
        order = np.lexsort((played["move"], played["position"]))
        played = played[order]
        new = np.ones(len(played), np.bool_)
        new[1:] = (played["position"][1:] != played["position"][:-1]) | (played["move"][1:] != played["move"][:-1])
        rows = played[new].copy()
        rows["count"] = np.diff(np.append(np.flatnonzero(new), len(played)))
        return cls(rows)

    @classmethod
    def open(cls, path: Path) -> Book:
        """Return the book in a file, memory-mapped. Raises KibitzError if the file is damaged."""
        try:
            rows = read_array(path, ROW)
        except (OSError, ValueError):
            raise KibitzError(f"{path}: the opening book is missing or damaged. Run kibitz personal again.") from None
        return cls(rows)

    def save(self, path: Path) -> None:
        """Write the book to a file. If the program is interrupted, the old file stays complete."""
        write_array(path, self.rows)

    @property
    def positions(self) -> int:
        """The number of different positions in the book."""
        return len(np.unique(self.rows["position"]))

    def counts(
        self, keys: NDArray[np.uint64], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return how often the person played each of the given moves in its position, float64 [total].

        keys: uint64 [n], the hashes of the positions.
        moves: uint16 [total], the moves of all positions, position after position, in the form that `count` takes.
        offsets: int64 [n + 1], the index in `moves` of each position's first move. The last number is `total`.

        The book does not distinguish promotions. All promotions with the same from-square and to-square get the same
        count, the sum over them.
        """
        stored = self.rows["position"]
        first, last = np.searchsorted(stored, keys, "left"), np.searchsorted(stored, keys, "right")
        found = np.zeros(len(moves))
        for i in np.flatnonzero(last > first):
            part = slice(offsets[i], offsets[i + 1])
            rows = self.rows[first[i] : last[i]]
            at = np.minimum(np.searchsorted(rows["move"], moves[part] & PAIR), len(rows) - 1)
            found[part] = np.where(rows["move"][at] == moves[part] & PAIR, rows["count"][at], 0)
        return found


def blend(
    shares: NDArray[np.float64], counts: NDArray[np.float64], offsets: NDArray[np.int64], k: float
) -> NDArray[np.float64]:
    """Return a network's move probabilities, corrected by an opening book, float64 [total]. The result for a move is
    `(count + k · share) / (n + k)`, where n is the sum of the counts in the move's position.

    shares: float64 [total], the network's probabilities; they sum to 1 in each position.
    counts: float64 [total], how often the person played each move.
    offsets: int64 [positions + 1], the index of each position's first move. The last number is `total`. Every position
        must have moves.
    k: the weight of the network, in games. The network counts as much as k games in the book.
    """
    if not len(shares):
        return shares
    n = np.add.reduceat(counts, offsets[:-1])
    return (counts + k * shares) / np.repeat(n + k, np.diff(offsets))


def book_of(run: Run) -> tuple[Book, float] | None:
    """Return the opening book of a person's network, and the number k with which the book corrects the network (see
    `blend`). Return None if there is no book. run: the folder with the network.
    """
    k = run.info.get("book", {}).get("k")
    return None if k is None else (Book.open(run.path / BOOK), k)
