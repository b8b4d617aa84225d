"""Files of game records as streams of bytes: folders, compression, standard input, and how far a reader has come."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol

import zstandard

from kibitz.errors import KibitzError

PACKED = (".zst", ".gz", ".bz2")
STDIN = "-"


def find(paths: Iterable[str], endings: tuple[str, ...]) -> list[str]:
    """The record files that the paths name: files as they are, folders searched for the given endings (packed ones
    too).

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


def printable(path: str) -> str:
    """A path as text that can be stored and shown: bytes of a name that are no text become question marks."""
    return path.encode(errors="replace").decode()


def decode(text: bytes) -> str:
    """UTF-8, or Latin-1 where it is not."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


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
        self.name = "standard input" if path == STDIN else printable(path)
        try:
            self._raw = _Counting(_standard_input() if path == STDIN else open(path, "rb", buffering=0))  # noqa: SIM115
            buffered = io.BufferedReader(self._raw, 1 << 20)
            magic = buffered.peek(4)[:4]
        except OSError as error:
            raise KibitzError(f"{path}: {(error.strerror or str(error)).lower()}; check that it can be read") from None
        self._file: _Readable
        if magic == b"\x28\xb5\x2f\xfd" or (magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5):
            self._file = _Zst(buffered)
        elif magic.startswith(b"\x1f\x8b"):
            self._file = gzip.GzipFile(fileobj=buffered)
        elif magic.startswith(b"BZh"):
            self._file = bz2.BZ2File(buffered)
        else:
            self._file = buffered

    @property
    def consumed(self) -> int:
        return self._raw.count

    def blocks(self, size: int) -> Iterator[bytes]:
        """The unpacked bytes, `size` at a time. Raises KibitzError where the packing is damaged or the file unreadable.

        What was unpacked before the damage is given first.
        """
        try:
            while block := self._file.read(size):
                yield block
        except (OSError, EOFError, zstandard.ZstdError, zlib.error, ValueError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
            raise KibitzError(f"{self.name}: cannot be unpacked further ({reason}); fetch the file again") from None

    def close(self) -> None:
        self._file.close()
        self._raw.close()


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


class _Zst:
    """Unpacks zstd frames, one after the other, with windows up to 2^31 bytes; an end inside a frame is an error."""

    _PIECE = 1 << 14  # small, since a piece can unpack to ten thousand times its size

    def __init__(self, file: io.BufferedReader[Any]):
        self._file = file
        self._unpacker = zstandard.ZstdDecompressor(max_window_size=2**31)
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._ready = bytearray()

    def read(self, size: int, /) -> bytes:
        while len(self._ready) < size:
            piece = self._file.read(self._PIECE)
            if not piece:
                if self._frame and not self._ready:
                    raise EOFError("it ends in the middle")
                break
            while piece:
                self._frame = self._frame or self._unpacker.decompressobj()
                self._ready += self._frame.decompress(piece)
                piece = b""
                if self._frame.eof:
                    piece, self._frame = self._frame.unused_data, None
        block = bytes(self._ready[:size])
        del self._ready[:size]
        return block

    def close(self) -> None:
        self._file.close()


def _standard_input() -> IO[bytes]:
    """Standard input without Python's buffer, whose lock a thread that waits for input would hold at the exit."""
    try:
        return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    except (OSError, AttributeError):  # replaced by an object of Python's
        return sys.stdin.buffer


class _Counting(io.RawIOBase):
    """A raw stream that counts what is read through it."""

    def __init__(self, file: IO[bytes]):
        self._file, self.count = file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        while 0 < len(data) < 4 and self.count == 0:  # a slow pipe; the first four bytes tell the packing
            more = self._file.read(len(buffer) - len(data))
            if not more:
                break
            data += more
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed and self._file is not getattr(sys.stdin, "buffer", None):
            self._file.close()
        super().close()
