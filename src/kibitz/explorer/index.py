"""An index of the positions of a store: the games in which each position occurs, and the moves that were played in it.

The index is a folder of arrays. An entry is one of the first 40 positions of a game. Entries are sorted into buckets by
the first bits of the position's key (a 64-bit hash). The 32 bits after them identify the position in its bucket. The
arrays are:

    prints   uint32  The 32 bits of each entry, bucket after bucket, in ascending order in each bucket.
    games    uint32  The number of each entry's game.
    moves    uint16  The move that was played, packed as in the store (in Go: transformed like the key).
    buckets  int64   The index of each bucket's first entry, and the number of entries at the end.
    results  int8    The result of each game: 1, 0, -1 as in the store.
    ratings  int16   White's and Black's rating in each game (in Go: rank, as `ranks.rank_value`);
                     UNRATED (-32768) if unknown.

The probability that a query confuses two different positions is about the number of entries divided by 2^52.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.environment import user_cache
from kibitz.explorer import chess, go
from kibitz.kernels import kernel
from kibitz.store.store import Store

DEPTH = 40
"""The number of indexed positions of each game: the positions before the first 40 moves."""
UNRATED = -32768
FOLDER = "explorer"
_VERSION = 1
_INFO = "index.json"
_CHUNK = 8192
"""Number of games that are replayed at a time."""
_PER_BUCKET = 16
_NOT_HERE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOENT, errno.ENOTDIR}
"""Errors after which the index may still be created in another folder. A full disk isn't one of them."""
_FILES = {"prints": "<u4", "games": "<u4", "moves": "<u2", "buckets": "<i8", "results": "<i1", "ratings": "<i2"}

Report = Callable[[float], object]
"""A function that is called with the completed share of the work, 0 to 1. If the function raises an exception, the work
ends.
"""


class PositionIndex:
    """The arrays of a position index, memory-mapped from the files in a folder. The docstring of the module
    `kibitz.explorer.index` describes the arrays.
    """

    prints: NDArray[np.uint32]
    games: NDArray[np.uint32]
    moves: NDArray[np.uint16]
    buckets: NDArray[np.int64]
    results: NDArray[np.int8]
    ratings: NDArray[np.int16]

    def __init__(self, folder: Path):
        """Open the arrays. Raises ValueError if the files don't fit each other, for example if a copy is incomplete."""
        self.folder = folder
        for name, dtype in _FILES.items():
            path = folder / f"{name}{dtype[1:]}"
            there = path.stat().st_size > 0
            setattr(self, name, np.asarray(np.memmap(path, dtype, mode="r")) if there else np.empty(0, dtype))
        self.ratings = self.ratings.reshape(-1, 2)
        self._bits = round(math.log2(len(self.buckets) - 1))
        sizes = len(self.prints), len(self.games), len(self.moves), int(self.buckets[-1])
        if len(set(sizes)) > 1 or len(self.results) != len(self.ratings) or len(self.buckets) != (1 << self._bits) + 1:
            raise ValueError("the index is incomplete")

    @property
    def bytes_on_disk(self) -> int:
        """The size of the index's files in bytes."""
        return sum(file.stat().st_size for file in self.folder.iterdir())

    def entries(self, key: int) -> slice:
        """Return the entries of a position, as a range of indices into the arrays `prints`, `games` and `moves`. The
        range is empty if the position is not in the index. key: the 64-bit hash of the position.
        """
        bucket, wanted = _bucket(np.uint64(key), self._bits)
        begin, end = self.buckets[bucket], self.buckets[bucket + 1]
        prints = self.prints[begin:end]
        return slice(
            int(begin + np.searchsorted(prints, wanted, "left")), int(begin + np.searchsorted(prints, wanted, "right"))
        )


def open_index(store: Store, report: Report = lambda share: None) -> PositionIndex:
    """Return the position index of a store. If the store has no index, or if the store has changed, the function builds
    the index.

    The index is in the store's folder. If that folder can't be written, the index is in the user's cache folder, or
    else in a temporary folder. report: a function that is called with the completed share of the work, 0 to 1.
    """
    for folder in _folders(store):
        if (found := _existing(folder, store)) is not None:
            return found
    for folder in _folders(store):
        try:
            return _make(store, folder, report)
        except OSError as error:
            if error.errno not in _NOT_HERE:
                raise
    return _make(store, Path(tempfile.mkdtemp(prefix="kibitz-")) / FOLDER, report)


def _folders(store: Store) -> Iterator[Path]:
    yield store.path / FOLDER
    named = hashlib.sha256(os.fsencode(store.path.resolve())).hexdigest()[:16]
    yield user_cache() / FOLDER / named


def _existing(folder: Path, store: Store) -> PositionIndex | None:
    """Return the index in a folder; None if there is none for this store."""
    try:
        info = json.loads((folder / _INFO).read_text(encoding="utf-8"))
        found = PositionIndex(folder / info["folder"]) if info["of"] == _identity(store) else None
        return found if found is not None and len(found.results) == len(store) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _identity(store: Store) -> list[Any]:
    return [_VERSION, DEPTH, store.fingerprint, len(store), int(store.info["moves"])]


def _make(store: Store, folder: Path, report: Report) -> PositionIndex:
    """Build the index in a new folder inside `folder`, and then make it the current one. Two processes may do this at
    the same time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new_folder = Path(tempfile.mkdtemp(prefix="", dir=folder))
    try:
        _build(store, new_folder, report)
        # Write the data to the disk before the folder is renamed. Otherwise the folder could be empty after a power
        # cut.
        for file in new_folder.iterdir():
            with open(file, "rb+") as written:
                os.fsync(written.fileno())
        named = folder / f"{new_folder.name}.json"
        named.write_text(json.dumps({"of": _identity(store), "folder": new_folder.name}), encoding="utf-8")
        os.replace(named, folder / _INFO)
    except BaseException:
        shutil.rmtree(new_folder, ignore_errors=True)
        raise
    for other in folder.iterdir():
        if other.is_dir() and other != new_folder and not _building(other):
            shutil.rmtree(other, ignore_errors=True)
    return PositionIndex(new_folder)


def _building(folder: Path) -> bool:
    """Return whether another process may be building an index in the folder."""
    with contextlib.suppress(OSError):
        return not (folder / "ratingsi2").exists() and time.time() - folder.stat().st_mtime < 3600
    return False


def _array(folder: Path, name: str, length: int) -> NDArray[Any]:
    """Create an array on disk. Its space is allocated at once, so that a full disk raises an error here and doesn't
    crash the process later.
    """
    dtype = np.dtype(_FILES[name])
    path = folder / f"{name}{_FILES[name][1:]}"
    with open(path, "wb") as file:
        size = length * dtype.itemsize
        if size and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    return np.memmap(path, dtype, mode="r+", shape=(length,)) if length else np.empty(0, dtype)


def _build(store: Store, folder: Path, report: Report) -> None:
    kernels = {"chess": chess, "go": go}[store.game]
    arguments = (store.moves, store.offsets, store.starts, store.start_of)
    most = int(np.minimum(store.plies + 1, DEPTH).sum())
    bits = min(24, max(4, round(math.log2(max(1, most) / _PER_BUCKET)) if most > _PER_BUCKET else 4))
    sizes = np.zeros((1 << bits) + 1, np.int64)
    chunks = -(-len(store) // _CHUNK)
    for at, (_, keys, _, counts) in enumerate(_chunks(kernels, arguments, len(store))):
        _count(keys, counts, bits, sizes)
        report(0.4 * at / chunks)
    buckets = _array(folder, "buckets", len(sizes))
    np.cumsum(sizes, out=buckets)
    total = int(buckets[-1])
    prints, games, moves = (_array(folder, name, total) for name in ("prints", "games", "moves"))
    nexts = np.array(buckets[:-1])
    for at, (first, keys, played, counts) in enumerate(_chunks(kernels, arguments, len(store))):
        _put(keys, played, counts, bits, first, nexts, prints, games, moves)
        report(0.4 + 0.4 * at / chunks)
    steps = np.linspace(0, len(sizes) - 1, 33).astype(np.int64)
    for at in range(32):
        _sort(buckets[steps[at] : steps[at + 1] + 1], prints, games, moves)
        report(0.8 + 0.2 * at / 32)
    results, ratings = _array(folder, "results", len(store)), _array(folder, "ratings", 2 * len(store))
    results[:] = store.column("result")
    ratings[:] = _ratings(store).ravel()
    report(1.0)


def _ratings(store: Store) -> NDArray[np.int16]:
    """Return White's and Black's ratings, int16 [games, 2]."""
    found = np.full((len(store), 2), UNRATED, np.int16)
    for at, colour in enumerate(("white", "black")):
        if store.game == "chess":
            values = store.column(f"{colour}_rating")
            found[:, at] = np.where(values > 0, values, UNRATED)
        else:
            from kibitz.games.go.ranks import rank_value, read_rank

            names, where = np.unique(store.column(f"{colour}_rank").astype("U8"), return_inverse=True)
            found[:, at] = np.array([rank_value(name) if read_rank(name) else UNRATED for name in names], np.int16)[
                where
            ]
    return found


Chunk = tuple[int, NDArray[np.uint64], NDArray[np.uint16], NDArray[np.int64]]


def _chunks(kernels: ModuleType, arguments: tuple[NDArray[Any], ...], games: int) -> Iterator[Chunk]:
    """Yield the positions of all games, some games at a time: the first game, keys, moves, and numbers of positions."""
    keys, played = np.zeros((_CHUNK, DEPTH), np.uint64), np.zeros((_CHUNK, DEPTH), np.uint16)
    counts = np.zeros(_CHUNK, np.int64)
    for first in range(0, games, _CHUNK):
        n = min(_CHUNK, games - first)
        kernels.fill_keys(*arguments, first, keys[:n], played[:n], counts[:n])
        yield first, keys[:n], played[:n], counts[:n]


@kernel
def _bucket(key, bits):  # type: ignore[no-untyped-def]
    """Return the bucket of a key, and the 32 bits (the print) that identify it in the bucket."""
    return np.int64(key >> np.uint64(64 - bits)), np.uint32((key << np.uint64(bits)) >> np.uint64(32))


@kernel
def _count(keys, counts, bits, sizes):  # type: ignore[no-untyped-def]
    """Count the entries of each bucket in sizes[bucket + 1]. keys: uint64 [n, depth]. counts: int64 [n]."""
    for i in range(keys.shape[0]):
        for ply in range(counts[i]):
            sizes[_bucket(keys[i, ply], bits)[0] + 1] += 1


@kernel
def _put(keys, played, counts, bits, first, nexts, prints, games, moves):  # type: ignore[no-untyped-def]
    """Write the entries of some games to prints, games and moves, at the next indices of their buckets.

    keys: uint64 [n, depth]. played: uint16 [n, depth]. counts: int64 [n]. nexts: int64 [buckets + 1], advanced.
    """
    for i in range(keys.shape[0]):
        for ply in range(counts[i]):
            bucket, mark = _bucket(keys[i, ply], bits)
            at = nexts[bucket]
            nexts[bucket] += 1
            prints[at] = mark
            games[at] = first + i
            moves[at] = played[i, ply]


@kernel
def _sort(buckets, prints, games, moves):  # type: ignore[no-untyped-def]
    """Sort the entries of each bucket by their prints. The entries of one position stay in the order of their games."""
    for bucket in range(buckets.shape[0] - 1):
        begin, end = buckets[bucket], buckets[bucket + 1]
        if end - begin > 64:
            order = np.argsort(prints[begin:end], kind="mergesort")
            prints[begin:end] = prints[begin:end][order]
            games[begin:end] = games[begin:end][order]
            moves[begin:end] = moves[begin:end][order]
            continue
        for i in range(begin + 1, end):
            mark, game, move = prints[i], games[i], moves[i]
            at = i
            while at > begin and prints[at - 1] > mark:
                prints[at], games[at], moves[at] = prints[at - 1], games[at - 1], moves[at - 1]
                at -= 1
            prints[at], games[at], moves[at] = mark, game, move
