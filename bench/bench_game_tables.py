"""The table of a store's games in three forms: Parquet, as it is; SQLite with indexes; and raw arrays for the numbers.

Prints the bytes of each form and the processor seconds of what kibitz does with the table: write it, read all numbers
(training and tests do), find the games of a player, and count the games of a year with a result (the explorer does).

python bench/bench_game_tables.py STORE
"""

from __future__ import annotations

import argparse
import datetime
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kibitz.store.store import Store

TIMES = 3
INDEXES = ("white", "black", "date, result")


def seconds(work: Callable[[], Any], times: int = TIMES) -> float:
    """The fewest processor seconds of some calls."""
    found = []
    for _ in range(times):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    store = Store(parser.parse_args().store)
    table = store.table().combine_chunks()
    numbers = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    middle = table["white"][len(table) // 2].as_py()  # a player, whose name is not printed
    year = table["date"].drop_null()[0].as_py().year
    first, last = datetime.date(year, 1, 1), datetime.date(year, 12, 31)
    print(f"{len(table):,} games, {len(table.schema)} columns, {len(numbers)} of them integers")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = folder / "games.parquet"
        wrote = seconds(lambda: pq.write_table(table, file, compression="zstd"), 1)

        def player() -> int:
            some = pq.read_table(file, columns=["white", "black"])
            return pc.sum(pc.or_(pc.equal(some["white"], middle), pc.equal(some["black"], middle))).as_py() or 0

        def of_year() -> int:
            some = pq.read_table(file, columns=["date", "result"])
            inside = pc.and_(pc.greater_equal(some["date"], first), pc.less_equal(some["date"], last))
            return pc.sum(pc.and_(inside, pc.equal(some["result"], 1))).as_py() or 0

        show("Parquet", file.stat().st_size, wrote, seconds(lambda: pq.read_table(file, columns=numbers)),
             seconds(player), seconds(of_year))  # fmt: skip

        base = folder / "games.sqlite"
        wrote = seconds(lambda: write_sqlite(table, base), 1)
        open_ = sqlite3.connect(base)

        def all_numbers() -> Any:
            some = open_.execute(f"SELECT {', '.join(numbers)} FROM games").fetchall()
            return [np.array([0 if value is None else value for value in column]) for column in zip(*some, strict=True)]

        def player_in_sqlite() -> int:
            asked = "SELECT count(*) FROM games WHERE white = ? OR black = ?"
            return int(open_.execute(asked, (middle, middle)).fetchone()[0])

        def of_year_in_sqlite() -> int:
            asked = "SELECT count(*) FROM games WHERE date BETWEEN ? AND ? AND result = 1"
            return int(open_.execute(asked, (first.isoformat(), last.isoformat())).fetchone()[0])

        assert (player(), of_year()) == (player_in_sqlite(), of_year_in_sqlite())
        show("SQLite", base.stat().st_size, wrote, seconds(all_numbers, 1), seconds(player_in_sqlite),
             seconds(of_year_in_sqlite))  # fmt: skip
        open_.close()

        arrays = {name: table[name].fill_null(0).to_numpy() for name in numbers}
        wrote = seconds(lambda: [np.save(folder / name, values) for name, values in arrays.items()], 1)
        size = sum((folder / f"{name}.npy").stat().st_size for name in numbers)
        show("raw arrays", size, wrote, seconds(lambda: [np.load(folder / f"{name}.npy") for name in numbers]))


def write_sqlite(table: pa.Table, path: Path) -> None:
    """Write the table and its indexes."""
    signed = table
    for i, field in enumerate(table.schema):
        if field.type == pa.uint64():  # SQLite's integers are signed
            values = table[field.name].combine_chunks()
            signed = signed.set_column(i, field.name, pa.array(values.fill_null(0).to_numpy().view(np.int64)))
        elif pa.types.is_date(field.type):
            signed = signed.set_column(i, field.name, table[field.name].cast(pa.string()))
    with sqlite3.connect(path) as base:
        base.execute(f"CREATE TABLE games ({', '.join(table.column_names)})")
        marks = ", ".join("?" * len(table.column_names))
        rows = zip(*(column.to_pylist() for column in signed.columns), strict=True)
        base.executemany(f"INSERT INTO games VALUES ({marks})", rows)
        for columns in INDEXES:
            base.execute(f"CREATE INDEX by_{columns.partition(',')[0]} ON games ({columns})")
    base.close()


def show(form: str, size: int, *times: float) -> None:
    names = ("write", "read numbers", "find a player", "year and result")
    said = ", ".join(f"{name} {took:.3f}" for name, took in zip(names, times, strict=False))
    print(f"{form:<10} {size:>13,} bytes; processor seconds: {said}", flush=True)


if __name__ == "__main__":
    main()
