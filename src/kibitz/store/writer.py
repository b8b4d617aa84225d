"""Write a new game store from batches of games, or add games to a store. All games of an import become visible at once,
when it is complete.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kibitz import durable
from kibitz.durable import sync, sync_folder
from kibitz.errors import KibitzError, UsageError, one_line
from kibitz.games import GAME_NAMES
from kibitz.games.batch import EXAMPLES, GameBatch, Rejections
from kibitz.games.hashing import HashSet, hash_games, hash_names, hash_openings
from kibitz.lock import exclusive_lock
from kibitz.store.split import Split
from kibitz.store.store import FORMATS, INFO, TABLE, Store, for_pyarrow

_OWN_COLUMNS = [("plies", pa.int32()), ("start", pa.int32()), ("hash", pa.uint64()), ("opening", pa.uint64())]
_COPY = 1 << 20  # number of values of an old store that are copied in one step
_ROWS = 100_000  # number of games in a row group of the table


def refuse_existing(path: Path, remedy: str) -> None:
    """Raise UsageError if something exists at this path. remedy: the advice to the user in the message."""
    if path.exists():
        kind = "a store" if (path / INFO).exists() else "a file or folder"
        raise UsageError(f"{path} already exists and is {kind}. {remedy}")


class StoreWriter:
    """Writes batches of games to a store. Other programs see these games in the store only after `commit`.

    The writer is a context manager. If the context ends without a commit, everything that was written is removed. The
    writer locks the store's path, so a second writer for this path raises KibitzError.

    Duplicates of games in the batches or in the store are rejected. Two games are duplicates if they have the same
    start position, moves and result. Short games must also have the same players and date.

    game: "chess" or "go".
    columns: the schema of the table with one row per game.
    standard_start: the game's standard start position, uint8 [width].
    per_move: the arrays with one value for each move: a dict from names to (dtype, value that means "missing").
    split: how the store divides its games into training, validation and test games; None for the split of the existing
        store, or the default.
    append: whether to add the games to an existing store. If it is False and the path exists, the writer raises
        UsageError.
    per_game: the arrays with one row for each game: a dict from names to (dtype, value that means "missing", width).
    keep_duplicates: whether to accept duplicates.
    """

    def __init__(
        self,
        path: str | Path,
        game: str,
        columns: pa.Schema,
        standard_start: NDArray[np.uint8],
        per_move: Mapping[str, tuple[str, int]],
        split: Split | None = None,
        append: bool = False,
        per_game: Mapping[str, tuple[str, int, int]] | None = None,
        keep_duplicates: bool = False,
    ):
        self.path, self.keep_duplicates = Path(path), keep_duplicates
        self.game, self.kinds = game, {name: (*kind, 0) for name, kind in per_move.items()} | dict(per_game or {})
        self.old = self._old_store(append)
        while True:
            is_new = self.old is None
            with self._os_errors_in_words():
                self._lock = self._lock_path()
            try:
                # The store is read only after it is locked, because another import may have changed it before that.
                self.old = self._old_store(append)
            except BaseException:
                self._lock.close()
                raise
            if (self.old is None) == is_new:
                break
            self._lock.close()  # another import has just made the store, which has a separate lock
        self.split = split or (self.old.split if self.old is not None else Split())
        self.schema = pa.schema([*columns, *_OWN_COLUMNS])
        self.read = self.games = self.moves = 0
        self.rejections = Rejections()
        self._known = HashSet()
        self._digest = hashlib.sha256()
        self._standard = standard_start
        self._starts = {standard_start.tobytes(): 0}
        self._start_width = len(standard_start)
        self._arrays: dict[str, IO[bytes]] = {}
        self._rows: list[pa.Table] = []
        self._committed = False
        self._files: list[IO[bytes]] = []
        self._tables = [TABLE]
        # the new folder of a table, or the new store; it belongs to the store only after the commit
        self._fresh: Path | None = None
        self._ends: dict[Path, int] = {}  # files of the old store that grow, with their original sizes
        self._new_files: list[Path] = []  # files that did not exist in the old store
        self._table: pq.ParquetWriter | None = None
        try:
            with self._os_errors_in_words():
                self._open()
        except BaseException:
            self._remove()
            self._lock.close()
            raise

    def _old_store(self, append: bool) -> Store | None:
        if not self.path.exists():
            return None
        if not append:
            refuse_existing(self.path, "Add games to a store with --append, or choose another name.")
        old = Store(self.path)
        if old.game != self.game:
            raise UsageError(
                f"{self.path} is a store of {GAME_NAMES[old.game]} games (got {GAME_NAMES[self.game]} games). Choose"
                " another store."
            )
        return old

    def _lock_path(self) -> contextlib.ExitStack:
        """Lock the store's path. The lock ends when the returned object is closed."""
        if self.old is not None:
            file = self.path / ".lock"
        else:
            file = self.path.with_name(f".{self.path.name}.lock")
            file.parent.mkdir(parents=True, exist_ok=True)
        lock = contextlib.ExitStack()
        lock.enter_context(exclusive_lock(file, self.path))
        return lock

    def _open(self) -> None:
        self._root = self.path
        if self.old is None:  # a new store is written under another name, and renamed at the end
            self._root = self.path.with_name(f".{self.path.name}.unfinished")
            if self._root.exists():  # the rest of an import that was killed
                shutil.rmtree(self._root)
            self._open_folder("0001")
        elif set(self.old.schema) == set(self.schema):
            self._grow(self.old)
        else:  # the old store is of an earlier version and its table has other columns, so all of it is written again
            self._open_folder(f"{int(self.old.info['folder']) + 1:04d}")
            self._copy_old(self.old)

    def _open_folder(self, name: str) -> None:
        """Create an empty folder with new files for a new store or table."""
        self._folder = self._root / name
        self._fresh = self._root if self.old is None else self._folder
        if self._folder.exists():
            shutil.rmtree(self._folder)
        self._folder.mkdir(parents=True)
        self._moves = self._new("moves.u16")
        self._offsets = self._new("offsets.i64")
        self._offsets.write(np.zeros(1, "<i8").tobytes())
        self._table = pq.ParquetWriter(for_pyarrow(self._folder / TABLE, "wb"), self.schema, compression="zstd")

    def _grow(self, old: Store) -> None:
        """Prepare to write beyond the ends of the old store's files, and open another table file."""
        self._folder = self.path / old.info["folder"]
        self._tables = [*old.tables, f"games-{len(old.tables) + 1:04d}.parquet"]
        self.schema = old.schema.remove_metadata()
        self._moves = self._new("moves.u16", len(old.moves) * 2)
        self._offsets = self._new("offsets.i64", len(old.offsets) * 8)
        for name, values in _arrays(old):
            self._arrays[name] = self._new(f"{name}.bin", values.nbytes)
        path = self._folder / self._tables[-1]
        self._new_files.append(path)
        self._table = pq.ParquetWriter(for_pyarrow(path, "wb"), self.schema, compression="zstd")
        self._take_over(old)

    def _new(self, name: str, end: int | None = None) -> IO[bytes]:
        """Open a new file, or an old file in which writing continues at byte `end`."""
        path = self._folder / name
        if end is None:
            self._new_files.append(path)
        else:
            self._ends[path] = end
        file = open(path, "wb" if end is None else "r+b")  # noqa: SIM115
        self._files.append(file)
        file.seek(end or 0)
        return file

    @contextlib.contextmanager
    def _os_errors_in_words(self) -> Iterator[None]:
        """Turn errors of the operating system into a KibitzError that names the store."""
        try:
            yield
        except OSError as error:
            left = "the store is unchanged" if self.old is not None else "no store was made"
            full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
            reason = "the disk is full" if full else one_line(error)
            remedy = "Free some space or choose another path." if full else "Choose another path."
            raise KibitzError(f"{self.path}: {reason}; {left}. {remedy}") from None

    def _take_over(self, old: Store) -> None:
        """Copy the old store's records about its games: duplicates, start positions, fingerprint, counts."""
        hashes = old.column("hash")
        self._known.add(hashes)
        self._digest.update(hashes.tobytes())
        self._starts = {row.tobytes(): i for i, row in enumerate(old.starts)}
        self.games, self.moves = len(old), len(old.moves)

    def _copy_old(self, old: Store) -> None:
        assert self._table is not None
        self._take_over(old)
        for name, values in _arrays(old):
            self._arrays[name] = self._new(f"{name}.bin")
            _copy(values, self._arrays[name])
        _copy(old.moves, self._moves)
        _copy(old.offsets[1:], self._offsets)
        table = old.table()
        # Stores of earlier versions lack the column by which games with the same opening stay in one split.
        if old.openings() is None:
            table = table.append_column("opening", pa.array(_openings(old, self._standard), pa.uint64()))
        for rows in table.cast(self.schema).to_batches():
            self._table.write_batch(rows)

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._committed:
            self._remove()
        self._lock.close()

    def _remove(self) -> None:
        """Remove everything that was written so far."""
        for file in (*self._files, *([self._table] if self._table else [])):
            with contextlib.suppress(OSError):  # the full disk has already been reported
                file.close()
        if self._fresh is not None:
            shutil.rmtree(self._fresh, ignore_errors=True)
            return
        for path, end in self._ends.items():
            # A failure is harmless, because bytes beyond the recorded end don't belong to the store.
            with contextlib.suppress(OSError):
                os.truncate(path, end)
        for path in self._new_files:
            path.unlink(missing_ok=True)

    def add(
        self,
        batch: GameBatch,
        limit: int | None = None,
        finish: Callable[[GameBatch], GameBatch] | None = None,
    ) -> int:
        """Write a batch of games, except duplicates. Returns the number of games that were added.

        limit: the largest number of games to add; None for no limit. finish: a function that gets the new games as a
        batch and returns the batch to write. It does costly work, such as labeling, and may reject games. Raises
        KibitzError if the disk is full or the path has disappeared.
        """
        with self._os_errors_in_words():
            return self._add(batch, limit, finish)

    def add_nameless(self, batch: GameBatch, hashes: NDArray[np.uint64]) -> int:
        """Write games from which the players' names were removed. Returns the number of games that were added.

        hashes: uint64 [games], the hashes that these games had with names. They decide which games are duplicates, and
        to which part of the split a game belongs. Hashes without names would be equal for different short games.
        """
        with self._os_errors_in_words():
            new = self._known.add(hashes)
            return self._write(batch.take(new), hashes[new], None)

    def _hashes(self, batch: GameBatch) -> NDArray[np.uint64]:
        results = batch.table["result"].to_numpy()
        hashes = hash_games(batch.moves, batch.plies, batch.starts, results, self._standard)
        return hash_names(hashes, batch.plies, _name_hashes(batch.table))

    def _add(self, batch: GameBatch, limit: int | None, finish: Callable[[GameBatch], GameBatch] | None) -> int:
        self.read += batch.read
        self.rejections.merge(batch.rejections)
        hashes = self._hashes(batch)
        new = self._known.add(hashes)
        if self.keep_duplicates:
            new[:] = True
        self._reject("duplicate", batch.table, ~new)
        if limit is not None and finish and new.sum() > limit:
            return self._add_up_to(batch.take(new), limit, finish)
        if limit is not None:
            over = new & (np.cumsum(new) > limit)
            self._reject("over the limit", batch.table, over)
            new &= ~over
        return self._write(batch.take(new), hashes[new], finish)

    def _add_up_to(self, batch: GameBatch, limit: int, finish: Callable[[GameBatch], GameBatch]) -> int:
        """Write new games until `limit` games are added. `finish` may reject games, so this may need several passes."""
        added, at = 0, 0
        while added < limit and at < len(batch):
            some = np.zeros(len(batch), np.bool_)
            some[at : at + limit - added] = True
            at += limit - added
            part = batch.take(some)
            added += self._write(part, self._hashes(part), finish)
        over = np.arange(len(batch)) >= at
        self._reject("over the limit", batch.table, over)
        return added

    def _write(
        self, batch: GameBatch, hashes: NDArray[np.uint64], finish: Callable[[GameBatch], GameBatch] | None
    ) -> int:
        """Write the new games of a batch. Returns how many games remain after `finish`."""
        if len(batch) and finish:
            batch = finish(replace(batch, rejections=Rejections()))
            self.rejections.merge(batch.rejections)
            hashes = self._hashes(batch)
        if len(batch) == 0:
            return 0
        self._write_arrays(batch)
        self._moves.write(batch.moves.astype("<u2", copy=False).tobytes())
        ends = np.cumsum(batch.plies, dtype="<i8") + self.moves
        self._offsets.write(ends.tobytes())
        self._digest.update(hashes.tobytes())
        openings = hash_openings(batch.moves, batch.plies, batch.starts, self._standard)
        own = (batch.plies, self._start_indices(batch), hashes, openings)
        table = batch.table
        for (name, kind), values in zip(_OWN_COLUMNS, own, strict=True):
            table = table.append_column(name, pa.array(values, kind))
        self._rows.append(table.select(self.schema.names).cast(self.schema))
        if sum(map(len, self._rows)) >= _ROWS:
            self._flush_rows()
        self.games += len(batch)
        self.moves += len(batch.moves)
        return len(batch)

    def _write_starts(self) -> None:
        """Write the start positions. Those of an old store keep their row numbers."""
        known = len(self.old.starts) if self.old is not None and self._fresh is None else 0
        file = self._new("starts.u8", known * self._start_width if known else None)
        file.write(b"".join(list(self._starts)[known:]))

    def _reject(self, reason: str, table: pa.Table, games: NDArray[np.bool_]) -> None:
        """Count these games of a batch (bool [games]) as rejected for a reason, and record the names of the first
        few.
        """
        which = np.flatnonzero(games)
        for row in table.take(pa.array(which[:EXAMPLES])).to_pylist():
            self.rejections.add_row(reason, row)
        if len(which) > EXAMPLES:
            self.rejections.counts[reason] += len(which) - EXAMPLES

    def _flush_rows(self) -> None:
        if self._rows and self._table:
            self._table.write_table(pa.concat_tables(self._rows).combine_chunks())
            self._rows.clear()

    def _start_indices(self, batch: GameBatch) -> NDArray[np.int32]:
        if batch.starts is None:
            return np.zeros(len(batch), np.int32)
        indices = [self._starts.setdefault(row.tobytes(), len(self._starts)) for row in batch.starts]
        return np.array(indices, np.int32)

    def _write_arrays(self, batch: GameBatch) -> None:
        """Write the arrays per move and per game. If an array is new, all earlier games get its missing value."""
        arrays = batch.per_move | batch.per_game
        for name in sorted(arrays.keys() - self._arrays.keys()):
            self._arrays[name] = self._new(f"{name}.bin")
            self._write_missing(name, self.games, self.moves)
        for name, file in self._arrays.items():
            if name in arrays:
                file.write(np.ascontiguousarray(arrays[name], self.kinds[name][0]).tobytes())
            else:
                self._write_missing(name, len(batch), len(batch.moves))

    def _write_missing(self, name: str, games: int, moves: int) -> None:
        dtype, missing, width = self.kinds[name]
        _copy(np.broadcast_to(np.array(missing, dtype), games * width if width else moves), self._arrays[name])

    def commit(self, how: Mapping[str, Any]) -> Store:
        """Close the files, make the new games visible, and return the store. how: the options of the import, which the
        store records.

        Raises KibitzError if the disk is full or the path has disappeared. An existing store is then unchanged.
        """
        with self._os_errors_in_words():
            self._commit(how)
        return Store(self.path)

    def _commit(self, how: Mapping[str, Any]) -> None:
        self._flush_rows()
        assert self._table is not None
        self._table.close()
        self._write_starts()
        for file in self._files:
            sync(file)
            file.close()
        with open(self._folder / self._tables[-1], "rb") as table:
            os.fsync(table.fileno())
        sync_folder(self._folder)
        rejections = self.rejections
        if self.old is not None:
            earlier = Rejections.from_json(self.old.info["left_out"])
            earlier.merge(rejections)
            rejections = earlier
        written = [(name, self.kinds[name]) for name in self._arrays]
        info = {
            "kibitz_store": FORMATS[len(self._tables) > 1],
            "game": self.game,
            "folder": self._folder.name,
            "tables": self._tables,
            "games": self.games,
            "moves": self.moves,
            "positions": self.games + self.moves,
            "read": self.read + (self.old.info["read"] if self.old is not None else 0),
            "fingerprint": self._digest.hexdigest()[:16],
            "starts": len(self._starts),
            "start_width": self._start_width,
            "beside": {name: {"dtype": dtype, "none": none} for name, (dtype, none, width) in written if not width},
            "carried": {
                name: {"dtype": dtype, "none": none, "width": width} for name, (dtype, none, width) in written if width
            },
            "split": self.split.as_json(),
            "left_out": rejections.as_json(),
            "history": [*(self.old.info["history"] if self.old is not None else []), dict(how)],
        }
        temporary = self._root / (INFO + ".new")
        with open(temporary, "w", encoding="utf-8") as account:
            json.dump(info, account, indent=1, ensure_ascii=False)
            sync(account)
        # From here on, an interrupt must not remove the new folder, because store.json may already refer to it.
        self._committed = True
        try:
            durable.replace(temporary, self._root / INFO)
            if self.old is None:
                os.rename(self._root, self.path)
                sync_folder(self.path.parent)
        except OSError:
            self._committed = False
            raise
        if self.old is not None:
            self.old = None  # Windows can't remove a file that is mapped
            for folder in self.path.iterdir():  # an old folder, and folders of killed imports
                if folder.name.isdigit() and folder != self._folder:
                    shutil.rmtree(folder, ignore_errors=True)


_NAME_COLUMNS = ("white", "black", "date")


def _name_hashes(table: pa.Table) -> NDArray[np.uint64]:
    """Return a hash of each game's players and date, uint64 [n]. The hash ignores case and spaces in names."""
    found = np.zeros(len(table), np.uint64)
    for name in _NAME_COLUMNS:
        if name not in table.column_names:
            continue
        column = table[name].combine_chunks().cast(pa.string()).dictionary_encode()
        codes = column.indices.fill_null(len(column.dictionary)).to_numpy()
        words = [" ".join((word or "").lower().replace("?", "").split()) for word in column.dictionary.to_pylist()]
        digests = [hashlib.blake2b(word.encode(errors="replace"), digest_size=8).digest() for word in [*words, ""]]
        values = np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)
        found = (found * np.uint64(0x9E3779B97F4A7C15) + values[codes]) ^ (found >> np.uint64(29))
    return found


def _arrays(store: Store) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the store's arrays with values for each move or a row for each game, by name."""
    for name in (*store.info["beside"], *store.info.get("carried", ())):
        values = store.per_move(name)
        if values is None:
            values = store.per_game(name)
        assert values is not None
        yield name, values


def _openings(store: Store, standard: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return a hash of each game's opening, uint64 [games], for a store without this column."""
    parts = []
    for at in range(0, len(store), _ROWS):
        rows = slice(at, min(at + _ROWS, len(store)))
        moves = store.moves[store.offsets[rows.start] : store.offsets[rows.stop]]
        starts = store.starts[store.start_of[rows]] if len(store.starts) > 1 else None
        parts.append(hash_openings(moves, store.plies[rows].astype(np.int32), starts, standard))
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def _copy(values: NDArray[Any], file: IO[bytes]) -> None:
    """Write an array in pieces, because a memory-mapped array can be larger than the memory."""
    for at in range(0, len(values), _COPY):
        file.write(values[at : at + _COPY].tobytes())
