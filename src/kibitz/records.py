"""Files of game records as streams of bytes: folders, compression, standard input, and how far a reader has come."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, cast

import zstandard

from kibitz.errors import KibitzError

PACKED = (".zst", ".gz", ".bz2")
STDIN = "-"


def find(paths: Iterable[str], endings: tuple[str, ...]) -> list[str]:
    """The record files that the paths name: files as they are, folders searched for the given endings (packed ones too).

    "-" is standard input. Raises KibitzError for a path that is missing or a folder without records.
    """
    wanted = tuple(ending + packed for ending in endings for packed in ("", *PACKED))
    found: list[str] = []
    for path in paths:
        if path == STDIN or Path(path).is_file():
            found.append(path)
        elif Path(path).is_dir():
            inside = sorted(str(p) for p in Path(path).rglob("*") if p.is_file() and p.name.lower().endswith(wanted))
            if not inside:
                raise KibitzError(f"{path}: no {' or '.join(endings)} file in this folder; name the files themselves")
            found += inside
        elif Path(path).exists():
            found.append(path)  # a pipe or a device reads like a file
        else:
            raise KibitzError(f"{path}: no such file; check the path")
    return list(dict.fromkeys(found))


def size(paths: Iterable[str]) -> int | None:
    """Bytes in all files together, as they lie on disk; None when standard input or a pipe is among them."""
    total = 0
    for path in paths:
        if path == STDIN or not Path(path).is_file():
            return None
        total += os.path.getsize(path)
    return total


class Stream:
    """One file of records, unpacked as it is read.

    What it is packed with is told by its first bytes, not by its name. `consumed` counts bytes read from disk.
    """

    def __init__(self, path: str):
        self.name = "standard input" if path == STDIN else path
        try:
            raw: IO[bytes] = sys.stdin.buffer if path == STDIN else open(path, "rb")  # noqa: SIM115
        except OSError as error:
            raise KibitzError(f"{path}: {(error.strerror or str(error)).lower()}; check that it can be read") from None
        self._raw = _Counting(raw)
        buffered = io.BufferedReader(self._raw, 1 << 20)
        magic = buffered.peek(4)[:4]
        self._file: IO[bytes]
        if magic.startswith(b"\x28\xb5\x2f\xfd"):
            decompressor = zstandard.ZstdDecompressor(max_window_size=2**31)
            self._file = cast(IO[bytes], decompressor.stream_reader(buffered, read_across_frames=True))
        elif magic.startswith(b"\x1f\x8b"):
            self._file = cast(IO[bytes], gzip.GzipFile(fileobj=buffered))
        elif magic.startswith(b"BZh"):
            self._file = bz2.BZ2File(buffered)
        else:
            self._file = buffered

    @property
    def consumed(self) -> int:
        return self._raw.count

    def blocks(self, size: int) -> Iterator[bytes]:
        """The unpacked bytes, `size` at a time. Raises KibitzError where the packing is damaged."""
        try:
            while block := self._file.read(size):
                yield block
        except (OSError, EOFError, zstandard.ZstdError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise KibitzError(f"{self.name}: cannot be unpacked further ({reason}); fetch the file again") from None

    def close(self) -> None:
        self._file.close()
        self._raw.close()


class _Counting(io.RawIOBase):
    """A raw stream that counts what is read through it."""

    def __init__(self, file: IO[bytes]):
        self._file, self.count = file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed and self._file is not sys.stdin.buffer:
            self._file.close()
        super().close()
