"""Bytes a position: a store, the PGN text that it was made from, and the float planes that others write to disk.

python bench/bench_store.py games.store --file games.pgn.zst
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kibitz.records import Stream
from kibitz.store.store import Store

PLANES = 8 * 8 * 7 * 4
"""Seven float32 planes, the input of `winner`; larger encodings take three times as much and more."""


def text_size(file: Path) -> tuple[int, int]:
    """Bytes of a PGN file, as it lies on disk and unpacked."""
    stream = Stream(str(file))
    unpacked = sum(len(block) for block in stream.blocks(1 << 22))
    stream.close()
    return file.stat().st_size, unpacked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", help="a store of chess games")
    parser.add_argument("--file", type=Path, help="a PGN file to set beside it, by game (default: none)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    store = Store(options.store)
    positions = store.info["positions"]
    rows = {"store": store.bytes_on_disk() / positions}
    folder = store.path / store.info["folder"]
    parts = {file.name: file.stat().st_size / positions for file in sorted(folder.iterdir())}
    if options.file:
        # The file may hold games that the import rejected: bytes a game of the file, positions a game of the store.
        packed, unpacked = (size / store.info["read"] for size in text_size(options.file))
        each = positions / len(store)
        rows |= {"PGN text": unpacked / each, f"PGN packed ({options.file.suffix})": packed / each}
    rows["float32 planes, 7 of 8×8"] = PLANES
    if options.json:
        print(json.dumps({"positions": positions, "bytes_per_position": rows, "parts": parts}))
        return
    print(f"{options.store}: {len(store):,} games, {positions:,} positions")
    for name, size in rows.items():
        print(f"{name:28} {size:10,.2f} bytes a position   {size * positions / 1e6:12,.1f} MB")
    print("the store's parts: " + ", ".join(f"{name} {size:.2f}" for name, size in parts.items()))


if __name__ == "__main__":
    main()
