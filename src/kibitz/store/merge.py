"""Read the games of several stores in blocks, so that they can be written to one store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kibitz.games.batch import GameBatch, Rejections
from kibitz.store.store import Store

BLOCK = 20_000
"""The number of games in a block; a block of games between masters has 3 MB of moves."""


def blocks(store: Store, columns: pa.Schema, size: int = BLOCK) -> Iterator[GameBatch]:
    """Yield the games of a store, in the store's order, as batches of at most `size` games.

    columns: the schema of the table in each batch. A column that the store does not have is null for all games.
    """
    per_move = {name: store.per_move(name) for name in store.info["beside"]}
    per_game = {name: store.per_game(name) for name in store.info.get("carried", {})}
    for first, rows in store.batches(size):
        games = slice(first, first + len(rows))
        moves = slice(int(store.offsets[games.start]), int(store.offsets[games.stop]))
        start_of = store.start_of[games]
        yield GameBatch(
            moves=np.asarray(store.moves[moves]),
            plies=store.plies[games].astype(np.int32),
            starts=store.starts[start_of] if start_of.any() else None,
            table=_with_columns(rows, columns),
            rejections=Rejections(),
            read=len(rows),
            per_move=_parts(per_move, moves),
            per_game=_parts(per_game, games),
        )


def _parts(arrays: dict[str, Any], rows: slice) -> dict[str, NDArray[Any]]:
    """Return the same slice of each array that has a value for each move or each game."""
    return {name: np.asarray(values[rows]) for name, values in arrays.items()}


def _with_columns(rows: pa.Table, columns: pa.Schema) -> pa.Table:
    """Return the table with exactly these columns."""
    known = {field.name: rows[field.name] for field in columns if field.name in rows.column_names}
    values = [known[field.name] if field.name in known else pa.nulls(len(rows), field.type) for field in columns]
    return pa.table(values, names=columns.names).cast(columns)
