"""Seconds that `kibitz import --append` of a thousand games takes, by the size of the store that they are added to.

python bench/bench_append.py games.pgn --games 3000000

The store is filled with the games of the file again and again, each copy made different by its first moves' order in
memory only: what counts is how much lies there. Beside it: how long copying that store takes, which is what adding
cost before it wrote at the end of the files.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from kibitz import cli
from kibitz.games import game_of
from kibitz.store.merge import blocks
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter


def fill(source: Store, path: Path, games: int) -> Store:
    """A store of that many games: those of the source again and again, in each round with another start position's
    half-move clock, so that none is a duplicate."""
    rules = game_of(source.game)
    with StoreWriter(path, source.game, rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE) as writer:
        turn = 0
        while writer.games < games:
            turn += 1
            for block in blocks(source, rules.COLUMNS):
                starts = np.tile(rules.STANDARD_START, (len(block), 1))
                starts[:, -1] = turn % 100
                starts[:, -2] = turn // 100
                writer.add(replace(block, starts=starts), games - writer.games)
        return writer.commit({})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records")
    parser.add_argument("--games", type=int, default=3_000_000)
    parser.add_argument("--added", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source, large, more = Path(scratch) / "a.store", Path(scratch) / "b.store", Path(scratch) / "more.store"
        limit = ["--limit", str(min(options.games, 100_000))]
        assert cli.run(["import", options.records, "--into", str(source), *limit]) == 0
        store = fill(Store(source), large, options.games)
        print(f"{len(store):,} games, {store.bytes_on_disk() / 1e6:.0f} MB")
        begun = time.perf_counter()
        shutil.copytree(large, more)
        copied = time.perf_counter() - begun
        begun = time.perf_counter()
        assert (
            cli.run(["import", options.records, "--into", str(large), "--append", "--limit", str(options.added)]) == 0
        )
        added = time.perf_counter() - begun
        print(f"adding {len(Store(large)) - len(store):,} games: {added:.2f} s; a copy of the store: {copied:.2f} s")


if __name__ == "__main__":
    main()
