"""Opening books in Polyglot's format: files with good opening moves and their weights."""

from __future__ import annotations

import random
from pathlib import Path

import chess
import chess.polyglot
import numpy as np

from kibitz.errors import UsageError, one_line
from kibitz.text import shown

_ENTRY = np.dtype([("key", ">u8"), ("move", ">u2"), ("weight", ">u2"), ("learned", ">u4")])


class OpeningBook:
    """An opening book, from which moves are sampled with probabilities in proportion to their weights.

    path: the file of the book, in Polyglot format. seed: the random seed; None for an unpredictable one. Raises
    UsageError if the file is missing or isn't a book.
    """

    def __init__(self, path: str, seed: int | None = None):
        self._random = random.Random(seed)
        try:
            size = Path(path).stat().st_size
            if size == 0 or size % _ENTRY.itemsize:
                raise UsageError(
                    f"{shown(path)} is not a Polyglot opening book, or is damaged ({size} bytes). Choose another file."
                )
            keys = np.memmap(path, _ENTRY, "r")["key"].astype(np.uint64)
            self._reader = chess.polyglot.MemoryMappedReader(path)
        except OSError as error:
            raise UsageError(f"{shown(path)}: {one_line(error)}. Check the path.") from None
        if (keys[1:] < keys[:-1]).any():
            raise UsageError(
                f"{shown(path)} is not a Polyglot opening book, or is damaged: its positions are not in order. Choose"
                " another file."
            )

    def close(self) -> None:
        """Close the file of the opening book."""
        self._reader.close()

    def draw(self, board: chess.Board, allowed: tuple[chess.Move, ...] = ()) -> tuple[chess.Move, int, int] | None:
        """Sample a move for a position from the opening book. Returns the move, its weight, and the sum of the weights
        of all moves that could be sampled; None if the book has no allowed move for the position.

        allowed: the moves that may be sampled; () for all.
        """
        entries = [entry for entry in self._reader.find_all(board) if not allowed or entry.move in allowed]
        if not entries:
            return None
        weights = [entry.weight for entry in entries]
        entry = self._random.choices(entries, weights)[0]
        return entry.move, entry.weight, sum(weights)
