"""Read a game store, kibitz's database of games: the moves, a table of the headers, and any position of any game.

A store is a folder:

store.json          the contents of the store, the rejected games with reasons, and how the store was made
0001/moves.u16      all moves, game after game (little-endian)
0001/offsets.i64    where each game's moves begin, and the end
0001/starts.u8      start positions, one row each; row 0 is the standard one
0001/games.parquet  one row a game; games added later are in games-0002.parquet and so on
0001/NAME.bin       optional arrays: one value per move, such as clock, or one row per game, such as owner

An import that adds games writes beyond the ends of these files and then replaces store.json, which records how much of
each file belongs to the store. So a reader never sees half of an import, and the time to add games depends only on the
number of added games. Bytes beyond the recorded ends come from an import that was killed. The next import overwrites
them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.games import GAMES, game_of
from kibitz.games.batch import Rejections
from kibitz.received import read_json
from kibitz.store.split import Split
from kibitz.text import number_of

FORMATS = (1, 2)
"""The versions of the store format that can be read. Version 1 has one table file, and version 2 has several."""
_UNREADABLE = (OSError, pa.ArrowException, ValueError, KeyError, OverflowError)
"""The exceptions that reading a damaged table may raise."""
INFO = "store.json"
TABLE = "games.parquet"


def for_pyarrow(path: Path, mode: str = "rb") -> Path | pa.NativeFile:
    """Return a file in a form that pyarrow can open: the path, or the open file if the path is not valid Unicode.

    mode: "rb" to read, "wb" to write.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return pa.OSFile(os.fsencode(path), mode)
    return path


class Store:
    """Reads a game store, kibitz's database of games. Arrays are memory-mapped.

    Raises KibitzError if there is no store at this path, if it is damaged, or if its format is of an unknown version.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        file = self.path / INFO
        if not self.path.exists():
            raise KibitzError(f"{path}: no such store. To make one: kibitz import games.pgn --into {path}")
        if not file.is_file():
            raise KibitzError(
                f"{path} is not a game store: it has no {INFO}. To make one: kibitz import games.pgn --into my.store"
            )
        try:
            self.info: dict[str, Any] = read_json(file)
            version = self.info["kibitz_store"]
        except (ValueError, KeyError, TypeError):
            raise KibitzError(f"{file} is damaged. Import the games again.") from None
        if version not in FORMATS:
            raise KibitzError(
                f"{path} is a store of version {version}, and this kibitz reads versions up to {FORMATS[-1]}. Import"
                " the games again."
            )
        try:
            self.game: str = self.info["game"]
            self.split = Split.from_json(self.info["split"])
            self._folder = self.path / self.info["folder"]
            self.tables: list[str] = list(self.info.get("tables", [TABLE]))
            self._sizes = self._known_sizes()
            self._check_names()
            self._check_account()
        except (ValueError, KeyError, TypeError, AttributeError):
            raise KibitzError(f"{file} is damaged. Import the games again.") from None
        for name, size in self._sizes.items():
            if not (self._folder / name).is_file() or (self._folder / name).stat().st_size < size:
                raise self._broken(name, "the file is missing or of the wrong size")

    def _known_sizes(self) -> dict[str, int]:
        """Return the number of bytes of each array that belong to the store. Older stores don't record this number for
        start positions.
        """
        expected = {"moves.u16": self.info["moves"] * 2, "offsets.i64": (self.info["games"] + 1) * 8}
        for name, kind in self.info["beside"].items():
            expected[f"{name}.bin"] = self.info["moves"] * np.dtype(kind["dtype"]).itemsize
        for name, kind in self._carried().items():
            expected[f"{name}.bin"] = self.info["games"] * kind["width"] * np.dtype(kind["dtype"]).itemsize
        if "starts" in self.info:
            expected["starts.u8"] = self.info["starts"] * self.info["start_width"]
        if any(
            not isinstance(size, int) or size < 0
            for size in (self.info["games"], self.info["moves"], *expected.values())
        ):
            raise ValueError("a size in store.json is not a number")
        return expected

    def _check_names(self) -> None:
        """Check the names in store.json. Raises ValueError for an unknown game, an unknown dtype, or a file outside the
        store.
        """
        kinds = [np.dtype(kind["dtype"]) for kind in (*self.info["beside"].values(), *self._carried().values())]
        if self.game not in GAMES or any(kind.kind not in "biuf" for kind in kinds):
            raise ValueError("store.json names an unknown game or an array without numbers")
        if self.info["start_width"] != len(game_of(self.game).STANDARD_START):
            raise ValueError("the start positions belong to another game")
        for name in (self.info["folder"], *self.tables, *self._sizes):
            if Path(name).name != name or not name.strip("."):
                raise ValueError(f"store.json names the file {name}, which is outside of the store")

    def _check_account(self) -> None:
        """Check the records of the imports in store.json. Raises ValueError or another error if they are incomplete."""
        Rejections.from_json(self.info["left_out"])
        kinds = {"read": int, "fingerprint": str, "history": list}
        if not self.tables or not all(isinstance(self.info[name], kind) for name, kind in kinds.items()):
            raise ValueError("store.json has no table, or its record of the imports is invalid")

    def __len__(self) -> int:
        """Return the number of games."""
        return int(self.info["games"])

    @property
    def fingerprint(self) -> str:
        """A hash of all games, as text. Two stores with the same fingerprint contain the same games."""
        return str(self.info["fingerprint"])

    def _broken(self, name: str, what: str) -> KibitzError:
        """Return the error for an unreadable file. If another process has added games since the store was opened, the
        file is missing on purpose. The error then asks the user to run the command again.
        """
        try:
            folder = read_json(self.path / INFO)["folder"]
        except (OSError, ValueError, KeyError, TypeError):
            folder = self._folder.name
        if folder != self._folder.name:
            return KibitzError(f"{self.path} has new games since the command started. Run the same command again.")
        return KibitzError(f"{self._folder / name}: {what}. Import the games again.")

    def _map(self, name: str, dtype: str) -> NDArray[Any]:
        path = self._folder / name
        try:
            count = self._sizes.get(name, path.stat().st_size) // np.dtype(dtype).itemsize
            if count == 0:
                return np.empty(0, dtype)
            return np.asarray(np.memmap(path, dtype, mode="r", shape=(count,)))
        except FileNotFoundError:
            raise self._broken(name, "the file is missing") from None

    @cached_property
    def moves(self) -> NDArray[np.uint16]:
        """The moves of all games, one game after another, uint16 [moves]. The encoding is that of `games.chess.moves`
        in chess, and that of `games.go.points` in Go.
        """
        return self._map("moves.u16", "<u2")

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """The index in `moves` of each game's first move, int64 [games + 1]. The last entry is the total number of
        moves.
        """
        offsets = self._map("offsets.i64", "<i8")
        if offsets[0] != 0 or offsets[-1] != self.info["moves"] or (np.diff(offsets) < 0).any():
            raise KibitzError(f"{self._folder / 'offsets.i64'} is damaged. Import the games again.")
        return offsets

    def move_hashes(self, games: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return for each game a hash that depends only on its start position, moves and result, uint64 [n] (see
        `games.hashing.hash_games`).

        games: int64 [n], indices in the store. For short games, the column "hash" of the table has other values, which
        also depend on the players and the date. Runs (trained models) of earlier versions of kibitz contain the hashes
        that this method returns.
        """
        from kibitz.games.hashing import hash_games

        plies = self.plies[games]
        ends = np.cumsum(plies)
        indices = np.repeat(self.offsets[games] - (ends - plies), plies) + np.arange(int(plies.sum()))
        return hash_games(
            self.moves[indices], plies.astype(np.int32), self.starts[self.start_of[games]],
            self.column("result")[games].astype(np.int8), np.asarray(game_of(self.game).STANDARD_START, np.uint8),
        )  # fmt: skip

    @cached_property
    def plies(self) -> NDArray[np.int64]:
        """The number of moves of each game, int64 [games]."""
        return np.diff(self.offsets)

    @cached_property
    def starts(self) -> NDArray[np.uint8]:
        """The different start positions of the games, uint8 [starts, width]. Row 0 is the standard start position of
        chess or Go. A row has the `codes` and `state` of a chess position, or the Go position that
        `games.go.replay.start_row` encodes.
        """
        starts, width = self._map("starts.u8", "u1"), self.info["start_width"]
        rows = starts.reshape(-1, width) if len(starts) % width == 0 else starts[:0]
        if not len(rows) or not game_of(self.game).are_starts(rows):
            raise KibitzError(f"{self._folder / 'starts.u8'} is damaged. Import the games again.")
        return rows

    @cached_property
    def start_of(self) -> NDArray[np.int32]:
        """The row in `starts` of each game's start position, int32 [games]."""
        starts = self.column("start")
        if len(starts) and not 0 <= starts.min() <= starts.max() < len(self.starts):
            raise KibitzError(f"{self._folder / TABLE} is damaged. Import the games again.")
        return cast("NDArray[np.int32]", starts)

    def per_move(self, name: str) -> NDArray[Any] | None:
        """Return an array with one value for each move of the store, [moves]; None if the store does not have this
        array. name: the name of the array, such as "clock".
        """
        kind = self.info["beside"].get(name)
        return self._map(f"{name}.bin", kind["dtype"]) if kind else None

    def _carried(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self.info.get("carried", {}))

    def per_game(self, name: str) -> NDArray[Any] | None:
        """Return an array with one row for each game of the store, [games, width]; None if the store does not have this
        array. name: the name of the array, such as "owner".
        """
        kind = self._carried().get(name)
        return self._map(f"{name}.bin", kind["dtype"]).reshape(-1, kind["width"]) if kind else None

    def table(self, columns: list[str] | None = None) -> pa.Table:
        """Return the table of the games, one row per game, in the order of the store. columns: the names of the columns
        to read; None for all columns.
        """
        table = pa.concat_tables([self._table(name, columns) for name in self.tables])
        if len(table) != len(self):
            file = self._folder / self.tables[-1]
            raise KibitzError(
                f"{file} has {number_of(len(table), 'game')} instead of {len(self)}. Import the games again."
            )
        return table

    def _table(self, name: str, columns: list[str] | None) -> pa.Table:
        try:
            # pq.read_table would load pyarrow.dataset. Its code, a copy of the file and the threads' own memory
            # would need 35 MB more.
            with pq.ParquetFile(for_pyarrow(self._folder / name), memory_map=True) as file:
                return file.read(columns, use_threads=columns is None or len(columns) > 1)
        except _UNREADABLE:
            raise self._broken(name, "the file is missing or damaged") from None

    def batches(self, size: int) -> Iterator[tuple[int, pa.Table]]:
        """Yield the table of the games in parts of at most `size` rows. Each part is a pair: the index of its first
        game, and its rows.
        """
        first = 0
        for name in self.tables:
            try:
                with pq.ParquetFile(for_pyarrow(self._folder / name)) as file:
                    for rows in file.iter_batches(size):
                        yield first, pa.Table.from_batches([rows])
                        first += len(rows)
            except _UNREADABLE:
                raise self._broken(name, "the file is missing or damaged") from None

    @property
    def columns(self) -> list[str]:
        """The names of the table's columns."""
        return list(self.schema.names)

    @property
    def schema(self) -> pa.Schema:
        """The table's columns with their types."""
        try:
            return pq.read_schema(for_pyarrow(self._folder / TABLE))
        except _UNREADABLE:
            raise self._broken(TABLE, "the file is missing or damaged") from None

    def column(self, name: str) -> NDArray[Any]:
        """Return one column of the table as an array [games].

        Unknown values are 0 for integers, NaN for floats, NaT for dates, and None for texts.
        """
        try:
            values = self.table([name])[name].combine_chunks()
        except KeyError:
            raise self._broken(self.tables[0], f"the table has no column {name}") from None
        if pa.types.is_integer(values.type):
            values = values.fill_null(0)
        return cast("NDArray[Any]", values.to_numpy(zero_copy_only=False))

    def row(self, game: int) -> dict[str, Any]:
        """Return one game's row of the table, as a dict from column names to values. game: the index of the game in the
        store, from 0. Raises IndexError if there is no such game.
        """
        if not 0 <= game < len(self):
            raise IndexError(f"game must be from 0 to {len(self) - 1} (got {game})")
        for name in self.tables:
            try:
                with pq.ParquetFile(for_pyarrow(self._folder / name)) as file:
                    for group in range(file.metadata.num_row_groups):
                        rows = file.metadata.row_group(group).num_rows
                        if game < rows:
                            return cast("dict[str, Any]", file.read_row_group(group).slice(game, 1).to_pylist()[0])
                        game -= rows
            except (*_UNREADABLE, IndexError):
                raise self._broken(name, "the file is missing or damaged") from None
        raise self._broken(self.tables[-1], "the tables have fewer games than the store")

    def sides(self, split: Split | None = None) -> NDArray[np.uint8]:
        """Return the part of the split to which each game belongs, uint8 [games]: 0 training, 1 validation, 2 test.

        split: the rule that divides the games; None for the rule that is saved in the store.
        """
        dates = self.column("date").astype("datetime64[D]")
        return (split or self.split).assign(self.column("hash"), dates, self.openings())

    def openings(self) -> NDArray[np.uint64] | None:
        """Return a hash of each game's start position and first 40 moves, uint64 [games]. Games with equal hashes are
        near-duplicates (see `games.hashing.hash_openings`).

        Returns None for stores of earlier versions, which lack these hashes.
        """
        if "opening" not in self.columns:
            return None
        return self.column("opening")

    def near_duplicates(self) -> int | None:
        """Return the number of games with the same start position and first 40 moves as an earlier game of the store;
        None if the store does not have the hashes that `openings` returns.
        """
        openings = self.openings()
        return None if openings is None else len(openings) - len(np.unique(openings))

    def replay(self, games: NDArray[np.int64], plies: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return positions as the arrays `codes`, uint8 [n, squares], and `state`, uint8 [n, 4] (see
        `kibitz.PositionArrays`).

        games, plies: int64 [n]. Position i is the position after `plies[i]` moves of the game with index `games[i]`.
        Raises IndexError for a game or ply that does not exist.
        """
        return game_of(self.game).replay(self.moves, self.offsets, self.starts, self.start_of, games, plies)

    def captures(self) -> NDArray[np.bool_]:
        """Return whether each move of the store is a capture, bool [moves]. Raises NotImplementedError for a store of
        Go games.
        """
        return game_of(self.game).captures(self.moves, self.offsets, self.starts, self.start_of)

    def bytes_on_disk(self) -> int:
        """Return the total size of the store's files in bytes."""
        files = [*self._folder.iterdir(), self.path / INFO]
        return sum(file.stat().st_size for file in files)
