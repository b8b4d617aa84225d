"""Write the moves of analyzed games into tables: one row for each move, as CSV or Parquet. The rows of a game are
written when the game is analyzed.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kibitz.analysis.files import never, whole_file

Row = Mapping[str, Any]
AddRows = Callable[[Iterable[Row]], None]
ROW_GROUP = 10_000
"""The number of rows that are written together into a Parquet file, as one row group."""
TYPES = {str: "string", int: "int64", float: "float64", bool: "bool_"}
"""The possible types of a column, each with the name of the type in pyarrow."""


@contextlib.contextmanager
def csv_table(path: str, columns: Mapping[str, type], keep: Callable[[], bool] = never) -> Iterator[AddRows]:
    """A context manager that opens a CSV file, and yields a function that adds rows to the file.

    The function takes an iterable of rows. Each row is a dict from column names to values. If a value is None or
    missing, its cell is empty. Keys that are not in `columns` are ignored.

    path: the path of the file; "-" is standard output. The file gets this path only when it is complete.
    columns: the name and the type of each column. The type is str, int, float or bool.
    keep: a function without arguments. After Ctrl-C, its result decides whether the incomplete file is kept, see
        `files.whole_file`.
    """
    with whole_file(path, keep) as file:
        writer = csv.DictWriter(file, list(columns), extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        yield writer.writerows


@contextlib.contextmanager
def parquet_table(path: str, columns: Mapping[str, type], keep: Callable[[], bool] = never) -> Iterator[AddRows]:
    """A context manager that opens a Parquet file, and yields a function that adds rows to the file. Missing values are
    null. The arguments are those of `csv_table`.
    """
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(name, getattr(pa, TYPES[kind])()) for name, kind in columns.items()])
    waiting: list[Row] = []
    with whole_file(path, keep) as file, parquet.ParquetWriter(file.buffer, schema) as writer:  # type: ignore[attr-defined]

        def flush() -> None:
            writer.write_table(
                pa.Table.from_pylist([{name: row.get(name) for name in columns} for row in waiting], schema)
            )
            waiting.clear()

        def add(rows: Iterable[Row]) -> None:
            waiting.extend(rows)
            if len(waiting) >= ROW_GROUP:
                flush()

        try:
            yield add
        finally:
            flush()


@contextlib.contextmanager
def move_tables(
    csv_path: str | None, parquet_path: str | None, columns: Mapping[str, type], keep: Callable[[], bool] = never
) -> Iterator[AddRows]:
    """A context manager that opens a CSV file, a Parquet file or both, and yields a function that adds rows to them.

    csv_path, parquet_path: the paths of the files; None for a file that is not wanted. columns, keep: see `csv_table`.
    """
    with contextlib.ExitStack() as stack:
        tables = [stack.enter_context(csv_table(csv_path, columns, keep))] if csv_path else []
        if parquet_path:
            tables.append(stack.enter_context(parquet_table(parquet_path, columns, keep)))

        def add(rows: Iterable[Row]) -> None:
            every = list(rows) if tables else []
            for table in tables:
                table(every)

        yield add
