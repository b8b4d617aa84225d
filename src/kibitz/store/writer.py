"""Writing a store: batches of games in, a whole store out, or none."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kibitz.errors import KibitzError, UsageError
from kibitz.store.batch import GameBatch, LeftOut
from kibitz.store.hashing import HashSet, hash_games
from kibitz.store.split import Split
from kibitz.store.store import FORMAT, INFO, Store

_OWN_COLUMNS = [("plies", pa.int32()), ("start", pa.int32()), ("hash", pa.uint64())]
_COPY = 1 << 20  # values copied at once from an old store
_ROWS = 100_000  # games in a row group of the table


class StoreWriter:
    """Collects batches; `commit` makes the store. Used as a context: left without commit, nothing remains.

    game: its room's name; standard_start: uint8 row of the start position; columns: the table's schema; beside: type and
    value for none of each array that may go with the moves. With `append`, an existing store is added to.
    Exact duplicates (same start, moves, result) are left out, also against what the store held before.
    """

    def __init__(
        self,
        path: str | Path,
        game: str,
        columns: pa.Schema,
        standard_start: NDArray[np.uint8],
        beside: Mapping[str, tuple[str, int]],
        split: Split | None = None,
        append: bool = False,
    ):
        self.path = Path(path)
        self.game, self.kinds = game, dict(beside)
        self.old = self._old_store(append)
        self.split = split or (self.old.split if self.old else Split())
        self.schema = pa.schema([*columns, *_OWN_COLUMNS])
        self.read = self.games = self.moves = 0
        self.left_out = LeftOut()
        self._known = HashSet()
        self._digest = hashlib.sha256()
        self._starts = {standard_start.tobytes(): 0}
        self._start_width = len(standard_start)
        self._beside: dict[str, IO[bytes]] = {}
        self._rows: list[pa.Table] = []
        self._committed = False
        try:
            self._open()
        except OSError as error:
            raise KibitzError(f"{self.path}: {(error.strerror or str(error)).lower()}; choose another place") from None

    def _old_store(self, append: bool) -> Store | None:
        if not self.path.exists():
            return None
        if not append:
            kind = "a store" if (self.path / INFO).exists() else "a file or folder"
            raise UsageError(f"{self.path}: there is {kind} already; add to a store with --append, or choose another name")
        old = Store(self.path)
        if old.game != self.game:
            raise UsageError(f"{self.path}: a store of {old.game} games; {self.game} games need a store of their own")
        return old

    def _open(self) -> None:
        if self.old:
            self._root = self.path
            self._folder = self.path / f"{int(self.old.info['folder']) + 1:04d}"
        else:  # built under another name, renamed when whole
            self._root = self.path.with_name(f".{self.path.name}.unfinished")
            self._folder = self._root / "0001"
            if self._root.exists():  # of an import that was killed
                shutil.rmtree(self._root)
        if self._folder.exists():
            shutil.rmtree(self._folder)
        self._folder.mkdir(parents=True)
        self._moves = open(self._folder / "moves.u16", "wb")  # noqa: SIM115
        self._offsets = open(self._folder / "offsets.i64", "wb")  # noqa: SIM115
        self._offsets.write(np.zeros(1, "<i8").tobytes())
        self._table = pq.ParquetWriter(self._folder / "games.parquet", self.schema, compression="zstd")
        if self.old:
            self._copy_old(self.old)

    def _copy_old(self, old: Store) -> None:
        self._known.add(old.column("hash"))
        self._starts = {row.tobytes(): i for i, row in enumerate(old.starts)}
        for name in old.info["beside"]:
            self._beside[name] = open(self._folder / f"{name}.bin", "wb")  # noqa: SIM115
            values = old.beside(name)
            assert values is not None
            _copy(values, self._beside[name])
        _copy(old.moves, self._moves)
        _copy(old.offsets[1:], self._offsets)
        self._digest.update(old.column("hash").tobytes())
        for rows in old.table().cast(self.schema).to_batches():
            self._table.write_batch(rows)
        self.games, self.moves = len(old), len(old.moves)

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._committed:
            return
        for file in (self._moves, self._offsets, *self._beside.values()):
            with contextlib.suppress(OSError):  # a full disk is told already
                file.close()
        shutil.rmtree(self._folder if self.old else self._root, ignore_errors=True)

    def add(self, batch: GameBatch, limit: int | None = None) -> int:
        """Write a batch; how many of its games were new. With `limit`, at most that many are taken."""
        self.read += batch.read
        self.left_out.merge(batch.left_out)
        results = batch.table["result"].to_numpy()
        hashes = hash_games(batch.moves, batch.plies, batch.starts, results)
        new = self._known.add(hashes)
        for i in np.flatnonzero(~new):
            row = batch.table.slice(int(i), 1).to_pylist()[0]
            headers = {"White": row.get("white") or "?", "Black": row.get("black") or "?", "Date": str(row.get("date"))}
            self.left_out.add("duplicate", row["source"], row["number"], headers)
        if limit is not None:
            new &= np.cumsum(new) <= limit
        batch, hashes = batch.take(new), hashes[new]
        if len(batch) == 0:
            return 0
        self._write_beside(batch)
        self._moves.write(batch.moves.astype("<u2", copy=False).tobytes())
        ends = np.cumsum(batch.plies, dtype="<i8") + self.moves
        self._offsets.write(ends.tobytes())
        self._digest.update(hashes.tobytes())
        own = (batch.plies, self._start_numbers(batch), hashes)
        table = batch.table
        for (name, kind), values in zip(_OWN_COLUMNS, own, strict=True):
            table = table.append_column(name, pa.array(values, kind))
        self._rows.append(table.cast(self.schema))
        if sum(map(len, self._rows)) >= _ROWS:
            self._flush_rows()
        self.games += len(batch)
        self.moves += len(batch.moves)
        return len(batch)

    def _flush_rows(self) -> None:
        if self._rows:
            self._table.write_table(pa.concat_tables(self._rows).combine_chunks())
            self._rows.clear()

    def _start_numbers(self, batch: GameBatch) -> NDArray[np.int32]:
        if batch.starts is None:
            return np.zeros(len(batch), np.int32)
        numbers = [self._starts.setdefault(row.tobytes(), len(self._starts)) for row in batch.starts]
        return np.array(numbers, np.int32)

    def _write_beside(self, batch: GameBatch) -> None:
        for name in batch.beside.keys() - self._beside.keys():  # the first games that carry it: none for all before
            self._beside[name] = open(self._folder / f"{name}.bin", "wb")  # noqa: SIM115
            dtype, missing = self.kinds[name]
            _copy(np.broadcast_to(np.array(missing, dtype), self.moves), self._beside[name])
        for name, file in self._beside.items():
            dtype, missing = self.kinds[name]
            values = batch.beside.get(name)
            file.write((np.full(len(batch.moves), missing, dtype) if values is None else values).tobytes())

    def commit(self, how: Mapping[str, Any]) -> Store:
        """Close the files and make the store visible. `how`: what this import was asked to do, kept in its history."""
        self._flush_rows()
        self._table.close()
        (self._folder / "starts.u8").write_bytes(b"".join(self._starts))
        for file in (self._moves, self._offsets, *self._beside.values()):
            file.flush()
            os.fsync(file.fileno())
            file.close()
        left_out = self.left_out
        if self.old:
            earlier = LeftOut.from_json(self.old.info["left_out"])
            earlier.merge(left_out)
            left_out = earlier
        info = {
            "kibitz_store": FORMAT,
            "game": self.game,
            "folder": self._folder.name,
            "games": self.games,
            "moves": self.moves,
            "positions": self.games + self.moves,
            "read": self.read + (self.old.info["read"] if self.old else 0),
            "fingerprint": self._digest.hexdigest()[:16],
            "start_width": self._start_width,
            "beside": {name: {"dtype": self.kinds[name][0], "none": self.kinds[name][1]} for name in self._beside},
            "split": self.split.as_json(),
            "left_out": left_out.as_json(),
            "history": [*(self.old.info["history"] if self.old else []), dict(how)],
        }
        temporary = self._root / (INFO + ".new")
        temporary.write_text(json.dumps(info, indent=1, ensure_ascii=False), encoding="utf-8")
        os.replace(temporary, self._root / INFO)
        if self.old:
            shutil.rmtree(self.path / self.old.info["folder"], ignore_errors=True)
        else:
            os.rename(self._root, self.path)
        self._committed = True
        return Store(self.path)


def _copy(values: NDArray[Any], file: IO[bytes]) -> None:
    """Write an array in pieces, so that a mapped one never lies in memory whole."""
    for at in range(0, len(values), _COPY):
        file.write(values[at : at + _COPY].tobytes())
