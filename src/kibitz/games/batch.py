"""The result of reading game records: batches of games that can be written to a game store, and the rejected games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

EXAMPLES = 5
"""For each reason, at most this number of rejected games is recorded as examples."""


@dataclass
class Rejections:
    """The games that were not imported: for each reason, their number and a few examples.

    A reason is a short phrase, such as "illegal move" or "rating under 2000". An example is a dict with the file, the
    game's number in the file (from 1), four of its headers, and a detail of the reason.
    """

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, reason: str, file: str, number: int, headers: Mapping[str, str], detail: str = "") -> None:
        """Count a rejected game. number: the game's number in its file, from 1. headers: a dict from the names of its
        headers to their values. detail: further text about the reason.
        """
        self.counts[reason] += 1
        known = self.examples.setdefault(reason, [])
        if len(known) < EXAMPLES:
            short = {key: headers[key][:80] for key in ("White", "Black", "Date", "Event") if key in headers}
            known.append({"file": file, "game": number, "headers": short, "detail": detail[:200]})

    def add_row(self, reason: str, row: Mapping[str, Any], detail: str = "") -> None:
        """Count a rejected game that is given as a row of the table of a game store. row: a dict from column names to
        values. reason, detail: as in `Rejections.add`.
        """
        headers = {"White": row.get("white") or "?", "Black": row.get("black") or "?"}
        if row.get("date"):
            headers["Date"] = str(row["date"])
        self.add(reason, row["source"], row["number"], headers, detail)

    def add_many(
        self, reasons: Sequence[str], file: str, about: Callable[[int], tuple[int, Mapping[str, str], str]]
    ) -> None:
        """Count rejected games of one file. reasons: the reason for each game.

        file: the name of the file. about: a function that gets an index into `reasons`, and returns the number of the
        game, its headers and a detail of the reason. It is called only for the first few games with each reason.
        """
        counts = Counter(reasons)
        for reason, count in counts.items():
            at = -1
            for _ in range(min(count, EXAMPLES - len(self.examples.get(reason, [])))):
                at = reasons.index(reason, at + 1)
                number, headers, detail = about(at)
                self.add(reason, file, number, headers, detail)
                count -= 1
            self.counts[reason] += count

    def merge(self, other: Rejections) -> None:
        """Add the numbers and examples of other rejections to this object."""
        self.counts.update(other.counts)
        for reason, examples in other.examples.items():
            known = self.examples.setdefault(reason, [])
            known.extend(examples[: EXAMPLES - len(known)])

    def as_json(self) -> dict[str, Any]:
        """Return the rejections for JSON: a dict from each reason to its number of games and its examples."""
        return {
            reason: {"games": count, "first": self.examples.get(reason, [])}
            for reason, count in self.counts.most_common()
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rejections:
        """Build rejections from a result of `as_json`."""
        return cls(
            Counter({reason: entry["games"] for reason, entry in data.items()}),
            {reason: list(entry["first"]) for reason, entry in data.items()},
        )


@dataclass
class GameBatch:
    """Some games as arrays. They come from one block of text, such as a part of a PGN file, or from a store.

    moves: uint16 [sum of plies], the packed moves of all games, one game after the other.
    plies: int32 [games], the number of moves of each game.
    starts: uint8 [games, width], the start positions; None if all games begin from the standard start position.
    table: one row per game, with the headers as columns. The columns that only a store adds, such as the hash, are
        missing.
    rejections: the games of the same block that were not accepted, with the reasons.
    read: the number of games in the block, including rejected games.
    per_move: a dict from names to arrays with one value for each move, such as clocks or evaluations.
    per_game: a dict from names to arrays with one row for each game, such as the final owner of each point in Go.
    """

    moves: NDArray[np.uint16]
    plies: NDArray[np.int32]
    starts: NDArray[np.uint8] | None
    table: pa.Table
    rejections: Rejections
    read: int
    per_move: dict[str, NDArray[Any]] = field(default_factory=dict)
    per_game: dict[str, NDArray[Any]] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)
    """Text of the file that belongs to no game: for each such part, a line with the file, the line number and the first
    words.
    """
    more_strays: int = 0
    """The number of parts of the text that belong to no game and are not in `strays`."""

    def __len__(self) -> int:
        return len(self.plies)

    def take(self, keep: NDArray[np.bool_]) -> GameBatch:
        """Return a batch with the games for which `keep`, bool [games], is true."""
        if keep.all():
            return self
        each_move = np.repeat(keep, self.plies)
        return GameBatch(
            self.moves[each_move],
            self.plies[keep],
            None if self.starts is None else self.starts[keep],
            self.table.filter(pa.array(keep)),
            self.rejections,
            self.read,
            {name: values[each_move] for name, values in self.per_move.items()},
            {name: values[keep] for name, values in self.per_game.items()},
            self.strays,
            self.more_strays,
        )
