"""Tables of moves as CSV and Parquet: whole files with the same content."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import parquet

from kibitz.analysis import move_tables
from kibitz.analysis.move_tables import move_tables as tables

COLUMNS = {"game": int, "san": str, "loss": float, "only_move": bool}
ROWS = [
    {"game": 1, "san": "e4", "loss": 0.25, "only_move": False, "more": 7},
    {"game": 1, "san": 'a "quoted", move', "loss": None, "only_move": None},
    {"game": 2, "san": "Übung"},
]


def test_both_files_hold_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_tables, "ROW_GROUP", 2)
    as_csv, as_parquet = tmp_path / "moves.csv", tmp_path / "moves.parquet"
    with tables(str(as_csv), str(as_parquet), COLUMNS) as add:
        add(iter(ROWS[:2]))
        add(ROWS[2:])
        assert not as_csv.exists()
        assert not as_parquet.exists()
    with as_csv.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert list(found[0]) == list(COLUMNS)
    assert [row["san"] for row in found] == [row["san"] for row in ROWS]
    assert [row["loss"] for row in found] == ["0.25", "", ""]
    table = parquet.read_table(as_parquet)
    assert table.schema.names == list(COLUMNS)
    assert [str(kind) for kind in table.schema.types] == ["int64", "string", "double", "bool"]
    assert table.to_pylist() == [{name: row.get(name) for name in COLUMNS} for row in ROWS]


def test_no_path_writes_nothing_and_reads_no_row(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, object]]:
        raise AssertionError("nobody needs the rows")
        yield {}

    with tables(None, None, COLUMNS) as add:
        add(rows())
    assert list(tmp_path.iterdir()) == []


def test_an_error_leaves_the_old_files(tmp_path: Path) -> None:
    target = tmp_path / "moves.parquet"
    with tables(None, str(target), COLUMNS) as add:
        add(ROWS)
    before = target.read_bytes()

    def broken_off() -> None:
        with tables(None, str(target), COLUMNS) as add:
            add(ROWS[:1])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken_off()
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]
