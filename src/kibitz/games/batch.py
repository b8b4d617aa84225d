"""The result of reading game records: batches of games for the store, and the rejected games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

EXAMPLES = 5
"""The largest number of games per reason that are recorded as examples."""


@dataclass
class Rejections:
    """The games that were not imported: for each reason, their number and a few examples.

    A reason is one short phrase ("illegal move", "rating under 2000"). An example has the file, the game's number (from
    1), its headers and perhaps a detail of the reason.
    """

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, reason: str, file: str, number: int, headers: Mapping[str, str], detail: str = "") -> None:
        self.counts[reason] += 1
        known = self.examples.setdefault(reason, [])
        if len(known) < EXAMPLES:
            short = {key: headers[key][:80] for key in ("White", "Black", "Date", "Event") if key in headers}
            known.append({"file": file, "game": number, "headers": short, "detail": detail[:200]})

    def add_row(self, reason: str, row: Mapping[str, Any], detail: str = "") -> None:
        """Count a rejected game. row: the game's row of a table of games, as a dict. The other arguments are those of
        `add`.
        """
        headers = {"White": row.get("white") or "?", "Black": row.get("black") or "?"}
        if row.get("date"):
            headers["Date"] = str(row["date"])
        self.add(reason, row["source"], row["number"], headers, detail)

    def add_many(
        self, reasons: Sequence[str], file: str, about: Callable[[int], tuple[int, Mapping[str, str], str]]
    ) -> None:
        """Count rejected games. reasons: the reason for each game.

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
        self.counts.update(other.counts)
        for reason, examples in other.examples.items():
            known = self.examples.setdefault(reason, [])
            known.extend(examples[: EXAMPLES - len(known)])

    def as_json(self) -> dict[str, Any]:
        return {
            reason: {"games": count, "first": self.examples.get(reason, [])}
            for reason, count in self.counts.most_common()
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rejections:
        return cls(
            Counter({reason: entry["games"] for reason, entry in data.items()}),
            {reason: list(entry["first"]) for reason, entry in data.items()},
        )


@dataclass
class GameBatch:
    """Some games as arrays.

    moves: uint16 [sum of plies], game after game.
    plies: int32 [games], the number of moves of each game.
    starts: uint8 [games, width], the start positions; None if all games begin from the standard start position.
    table: one row per game, without the columns that the store adds.
    rejections: games that are not in the batch.
    read: the number of games in the records, including rejected games.
    per_move: arrays with a value for each move (clocks, evaluations), by name.
    per_game: arrays with a row for each game (the final owner of each point), by name.
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
    """Text in the records that belongs to no game: file, line and first words of each piece of text."""
    more_strays: int = 0
    """The number of further pieces of text that belong to no game."""

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
