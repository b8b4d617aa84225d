"""One PGN of 10 GB: peak memory and rate of its import, against the first 250 MB of it.

    python bench/bench_large.py masters.pgn.zst --gigabytes 10 --folder /somewhere/with/20/GB

The large file is made of a smaller one, again and again. In each copy every game begins with two other excursions of
knights, after which the board is as before, and has other players' names; so no game is a duplicate and each is legal.
Games that begin from another position, or with a comment, stay as they are. Each import is a command in a process of
its own, with its start in its time; processor seconds are those of all its threads, and depend less on other work on
the machine. The small file is imported before and after the large one, and its median counts. Everything that was
written is removed at the end, but for the two files with --keep, which the next call with --keep takes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_import import run_import
from kibitz.records import Stream

BLOCK = 1 << 22
OUT = [(b"Na3", b"Nb1"), (b"Nc3", b"Nb1"), (b"Nf3", b"Ng1"), (b"Nh3", b"Ng1")]
"""White's excursions; Black's are the same on the other side."""
COPIES = len(OUT) ** 4


def excursions(copy: int) -> bytes:
    """Eight plies from the standard start position back to it, others for each of COPIES copies."""
    text = b""
    for number in (1, 3):
        copy, white = divmod(copy, len(OUT))
        copy, black = divmod(copy, len(OUT))
        there = [move[:2] + {b"1": b"8", b"3": b"6"}[move[2:]] for move in OUT[black]]
        for i in range(2):
            text += b"%d. %s %s " % (number + i, OUT[white][i], there[i])
    return text


def changed(text: bytes, copy: int) -> bytes:
    """Whole games of a copy: longer at the beginning, and of other players."""
    text = text.replace(b'[White "', b'[White "%d ' % copy).replace(b'[Black "', b'[Black "%d ' % copy)
    return text.replace(b"\n\n1. ", b"\n\n" + excursions(copy) + b"5. ")


def blocks(path: str) -> Iterator[bytes]:
    """The text of a PGN file, cut at the beginnings of games."""
    rest = b""
    with contextlib.closing(Stream(path)) as stream:
        for block in stream.blocks(BLOCK):
            text = rest + block.replace(b"\r", b"")
            end = text.rfind(b"\n[Event ") + 1
            rest = text[end:]
            yield text[:end]
    yield rest


def write(source: str, into: Path, size: int) -> None:
    """Write so many bytes of copies, up to the end of a block."""
    written = 0
    with into.open("wb") as file:
        for copy in range(COPIES):
            for text in blocks(source):
                written += file.write(changed(text, copy))
                if written >= size:
                    return
    raise SystemExit(f"{source}: too small for {size / 1e9:g} GB")


def measured(file: Path, folder: Path, filters: list[str]) -> dict[str, Any]:
    """The import of a file, and its rate by bytes."""
    found = run_import(file, folder / "a.store", filters)
    store = sum(each.stat().st_size for each in (folder / "a.store").rglob("*"))
    shutil.rmtree(folder / "a.store")
    size = file.stat().st_size / 1e6
    rates = {
        "megabytes_per_second": size / found["seconds"],
        "megabytes_per_processor_second": size / found["processor_seconds"],
    }
    return {**found, **rates, "store_gigabytes": store / 1e9, "load": round(os.getloadavg()[0], 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="a PGN file, packed or not")
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--small", type=float, default=0.25, help="gigabytes of the smaller file (default 0.25)")
    parser.add_argument("--folder", help="where to write (default: the system's folder for temporary files)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the two files are, or will be")
    parser.add_argument("--filter", nargs=argparse.REMAINDER, default=[], help="options of kibitz import; comes last")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        files = [(options.keep or folder) / name for name in ("small.pgn", "large.pgn")]
        for file, size in zip(files, (options.small, options.gigabytes), strict=True):
            if not file.exists():
                write(options.source, file, int(size * 1e9))
        small, large = files
        size_of_large = large.stat().st_size
        smalls = [measured(small, folder, options.filter)]
        big = measured(large, folder, options.filter)
        smalls += [measured(small, folder, options.filter) for _ in range(2)]
    ratios = {
        kind: round(big[kind] / statistics.median(each[kind] for each in smalls), 3)
        for kind in ("megabytes_per_second", "megabytes_per_processor_second")
    }
    print(json.dumps({"bytes": size_of_large, "small": smalls, "large": big, "ratios": ratios}, indent=1))


if __name__ == "__main__":
    main()
