"""A thin store of chess in half the space, and the store again: a move becomes its number among the legal moves.

    python tools/pack_store.py small.store --into packed      after tools/thin_store.py
    python tools/pack_store.py packed --into small.store      on the other machine

One byte per move, which xz halves again: 55 million moves take 33 MB. Both directions use all cores.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kibitz.games import game_of
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.chess.attacks import can_pass
from kibitz.games.chess.board_kernels import play_moves
from kibitz.games.chess.legal import MAX_MOVES, generate
from kibitz.store.split import Split
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter

NUMBERS, GAMES, STARTS, SPLIT = "moves.u8", "games.parquet", "starts.u8", "split.json"
LEFT_OUT = ("opening", "number")
"""Columns that the moves give again, or that no training reads."""
BLOCK = 100_000
"""Games that are written together."""


@numba.njit(nogil=True)  # not in the cache of kibitz' kernels, which belongs to modules
def _walk(moves, numbers, offsets, starts, start_of, first, last, decode):  # type: ignore[no-untyped-def]
    """Fill `numbers`, uint8, from `moves`, uint16, of games first to last - 1, or with `decode` the other way round.

    Returns the first game with an illegal move or number, or -1.
    """
    board = np.empty(64, np.uint8)
    view = np.empty(64, np.int8)
    pinned = np.empty(64, np.int64)
    state = np.zeros(4, np.uint8)
    legal = np.empty(MAX_MOVES, np.uint16)
    for game in range(first, last):
        row = starts[start_of[game]]
        for square in range(64):
            board[square] = row[square]
        side, rights, passed, clock = np.int64(row[64]), np.int64(row[65]), np.int64(row[66]), np.int64(row[67])
        for at in range(offsets[game], offsets[game + 1]):
            state[0] = side
            state[1] = rights
            state[2] = passed if can_pass(board, side, passed, view) else 0
            count, _ = generate(board, state, view, pinned, legal, 0)
            if decode:
                if numbers[at] >= count:
                    return game
                moves[at] = legal[numbers[at]]
            else:
                found = 0
                while found < count and legal[found] != moves[at]:
                    found += 1
                if found == count:
                    return game
                numbers[at] = found
            rights, clock, passed = play_moves(board, moves, at, at + 1, rights, clock, None)
            side = 1 - side
    return -1


def walk(arrays: tuple[NDArray[Any], ...], decode: bool) -> None:
    """Call `_walk` for all games on all cores. arrays: moves, numbers, offsets, starts, start_of."""
    cores = os.cpu_count() or 1
    ends = np.linspace(0, len(arrays[2]) - 1, 8 * cores + 1).astype(np.int64)
    with ThreadPoolExecutor(cores) as threads:
        bad = list(threads.map(lambda i: _walk(*arrays, ends[i], ends[i + 1], decode), range(len(ends) - 1)))
    if max(bad) >= 0:
        raise SystemExit(f"error: a move of game {max(bad):,} is not legal. Make the file again.")


def pack(path: Path, into: Path) -> None:
    store = Store(path)
    if store.game != "chess":
        raise SystemExit(f"error: only a store of chess can be packed (got {store.game}).")
    into.mkdir(parents=True)
    numbers = np.zeros(len(store.moves), np.uint8)
    walk((np.array(store.moves), numbers, store.offsets, store.starts, store.start_of), False)
    numbers.tofile(into / NUMBERS)
    store.starts.tofile(into / STARTS)
    (into / SPLIT).write_text(json.dumps(store.info["split"]))
    rows = pa.concat_tables([rows for _, rows in store.batches(BLOCK)])
    pq.write_table(rows.drop_columns(list(LEFT_OUT)), into / GAMES, compression="zstd")


def unpack(folder: Path, into: Path) -> None:
    rows = pq.read_table(folder / GAMES)
    plies = rows["plies"].to_numpy().astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(plies, dtype=np.int64)])
    starts = np.fromfile(folder / STARTS, np.uint8).reshape(-1, 68)
    start_of = rows["start"].to_numpy().astype(np.int32)
    numbers = np.fromfile(folder / NUMBERS, np.uint8)
    moves = np.empty(len(numbers), np.uint16)
    walk((moves, numbers, offsets, starts, start_of), True)
    hashes = rows["hash"].to_numpy()
    chess: Any = game_of("chess")
    split = Split.from_json(json.loads((folder / SPLIT).read_text()))
    with StoreWriter(into, "chess", chess.COLUMNS, chess.STANDARD_START, {}, split) as writer:
        for first in range(0, len(rows), BLOCK):
            games = slice(first, min(first + BLOCK, len(rows)))
            part = rows.slice(first, BLOCK)
            columns = [
                part[column.name] if column.name in part.column_names else pa.nulls(len(part), column.type)
                for column in chess.COLUMNS
            ]
            table = pa.table(columns, names=chess.COLUMNS.names).cast(chess.COLUMNS)
            batch = GameBatch(
                moves=moves[offsets[games.start] : offsets[games.stop]], plies=plies[games],
                starts=starts[start_of[games]] if start_of[games].any() else None, table=table,
                rejections=Rejections(), read=len(table),
            )  # fmt: skip
            writer.add_nameless(batch, hashes[games])
        writer.commit({"files": [folder.name]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="a thin store, or a packed folder")
    parser.add_argument("--into", type=Path, required=True, help="the packed folder, or the new store")
    options = parser.parse_args()
    shutil.rmtree(options.into, ignore_errors=True)
    (unpack if (options.source / NUMBERS).exists() else pack)(options.source, options.into)
    print(f"{options.into}: {sum(path.stat().st_size for path in options.into.rglob('*')) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
