"""A small copy of a store for a machine to which little can be carried: some games, without names, clocks and links.

    python tools/thin_store.py chess.store --into small.store --positions 25000000

The games are sampled evenly by their hash. Ratings, results, speeds, dates and rating scales stay, so a network learns
as from the whole store. Players' names do not stay.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kibitz.games import game_of
from kibitz.games.batch import GameBatch
from kibitz.games.chess.sides import scale_of
from kibitz.store.merge import blocks
from kibitz.store.sampling import splitmix64
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter

SITES = {"lichess": "https://lichess.org", "chess.com": "chess.com", "fics": "freechess.org", "fide": "over the board"}
"""A site for each rating scale."""
DROPPED = ("white", "black", "event", "eco", "time_control", "source")
"""Columns of texts that no training reads."""


def without_names(table: pa.Table) -> pa.Table:
    """The table with no names, and with a short site that gives the same rating scale."""
    for name in table.column_names:
        at = table.column_names.index(name)
        kind = table.schema.field(name).type
        if name in DROPPED:
            table = table.set_column(at, name, pa.array([None] * len(table), kind))
        elif name == "site":
            sites = [SITES.get(scale_of(site or "")) for site in table[name].to_pylist()]
            table = table.set_column(at, name, pa.array(sites, kind))
    return table


def thin(store: Store, into: Path, positions: int) -> Store:
    """Write the copy; positions: about how many it has, if the store has as many."""
    game: Any = game_of(store.game)
    share = min(1.0, positions / max(1, len(store.moves)))
    with StoreWriter(
        into, store.game, game.COLUMNS, game.STANDARD_START, {}, store.split, per_game=game.PER_GAME
    ) as writer:
        first = 0
        hashes = store.column("hash")
        for batch in blocks(store, game.COLUMNS):
            part = hashes[first : first + len(batch)]
            first += len(batch)
            chosen = (splitmix64(part) >> np.uint64(11)) / 2.0**53 < share
            small: GameBatch = batch.take(chosen)
            small.per_move.clear()
            writer.add_nameless(GameBatch(**{**vars(small), "table": without_names(small.table)}), part[chosen])
        return writer.commit({"files": [store.path.name]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--into", type=Path, required=True, help="the new store")
    parser.add_argument("--positions", type=int, default=25_000_000, help="about how many (default: 25 million)")
    options = parser.parse_args()
    made = thin(Store(options.store), options.into, options.positions)
    size = sum(path.stat().st_size for path in options.into.rglob("*") if path.is_file())
    print(f"{options.into}: {len(made):,} games, {len(made.moves):,} moves, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
