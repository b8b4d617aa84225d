"""Find and read files of game records (PGN, SGF, GIB) as bytes: in folders and archives, compressed, from standard
input, or remote.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import errno
import functools
import gzip
import io
import itertools
import os
import re
import select
import sys
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Protocol, cast

import zstandard

from kibitz import remote
from kibitz.errors import KibitzError, UsageError, one_line
from kibitz.links import what_to_do
from kibitz.remote import is_remote

ENDINGS = {".pgn": "chess", ".sgf": "go", ".sgfl": "go", ".gib": "go"}
"""The game of each file extension of game records: ".pgn" -> "chess"."""
PACKED = (".zst", ".gz", ".bz2")
ARCHIVE = ".zip"
STDIN = "-"
FOREIGN = {
    ".ngf": ("a game in the NGF format", "SGF"), ".ugf": ("a game in the UGF format", "SGF"),
    ".ugi": ("a game in the UGF format", "SGF"), ".cbh": ("a ChessBase database", "PGN"),
    ".cbv": ("a ChessBase database", "PGN"), ".cbf": ("a ChessBase database", "PGN"),
    ".si4": ("a SCID database", "PGN"), ".si5": ("a SCID database", "PGN"),
}  # fmt: skip
"""The extensions of formats that kibitz cannot read. Each value is a description of the file, and the format that the
user can export.
"""
_METADATA = "._"
"""The beginning of the names of metadata files that macOS adds to disks and archives of other systems."""

_FAULTS = (
    EOFError, ValueError, zlib.error, zstandard.ZstdError,
    zipfile.BadZipFile, NotImplementedError, RuntimeError, KeyError,
)  # fmt: skip
"""Exceptions of decompression other than OSError; for archives: damage, unknown compression, a password, or a missing
member.
"""


def find(paths: Iterable[str], endings: tuple[str, ...]) -> list[str]:
    """Return the paths of all record files at the given paths, without duplicates.

    paths: files, folders, zip archives, "archive.zip:member" for one file in an archive, "-" for standard input, or
        remote addresses such as s3://…, which fsspec reads.
    endings: the extensions to search for in folders and archives, such as ".pgn". The extension of a compression format
        may follow, as in ".pgn.zst". The path of a file is returned whatever its extension.

    Raises KibitzError if a path does not exist, or if a folder or an archive has no record file. Raises UsageError for
    an empty path, and for the address of a web page.
    """
    ends = tuple(ending + packed for ending in endings for packed in ("", *PACKED))
    records: list[str] = []
    for path in paths:
        if not path:
            raise UsageError("a file name is empty (got nothing). Give a file or a folder.")
        if (advice := what_to_do(path)) and not Path(path).exists():
            raise UsageError(advice)
        if is_remote(path):
            records += remote.find(path, ends)
        elif Path(path).is_dir():
            unreadable: list[OSError] = []
            inside_it = os.walk(path, onerror=unreadable.append)
            files = sorted(
                str(p)
                for folder, _, names in inside_it
                for p in map(Path(folder).joinpath, names)
                if p.is_file() and not p.name.startswith(_METADATA)
            )
            inside = [file for file in files if file.lower().endswith(ends)]
            inside += [member for file in files if file.lower().endswith(ARCHIVE) for member in _members(file, ends)]
            # Added to the list, so that the error is reported when the file is read.
            inside += [str(error.filename) for error in unreadable]
            if not inside:
                raise KibitzError(f"{path} has no {' or '.join(endings)} file. Give the names of the files.")
            records += inside
        elif path.lower().endswith(ARCHIVE) and Path(path).is_file():
            members = _members(path, ends)
            if not members:
                raise KibitzError(f"{path} has no {' or '.join(endings)} file. Choose another archive.")
            records += members
        elif path == STDIN or Path(path).exists():
            records.append(path)  # a pipe or a device is read like a file
        elif archive := _in_archive(path):
            if not {path, archive[0]} & set(_members(archive[0], ("",))):
                raise KibitzError(f"{path}: no such file in the archive. Check the path.")
            records.append(path)
        else:
            raise KibitzError(f"{path}: no such file. Check the path.")
    return list(dict.fromkeys(records))


def game_by_ending(path: str) -> str:
    """Return the game of a record file, "chess" or "go", according to its extension. The extension of a compression
    format at the end is ignored, as in "games.sgf.gz". For another extension, the beginning of the file decides; the
    result is "chess" if the file does not begin with a Go game, or cannot be read.
    """
    plain = Path(path.lower())
    ending = Path(plain.stem).suffix if plain.suffix in PACKED else plain.suffix
    return ENDINGS.get(ending) or ("go" if _begins_with_go(path) else "chess")


_GO = re.compile(rb"\s*\\HS|[^[]*\(\s*;\s*[A-Z]{1,2}\s*\[")
"""Matches the beginning of a GIB or an SGF file."""


def _begins_with_go(path: str) -> bool:
    if path == STDIN or is_remote(path) or not Path(on_disk(path)).is_file():
        return False
    try:
        with contextlib.closing(Stream(path)) as stream:
            return bool(_GO.match(next(stream.texts(_BEGIN, ""), b"")))
    except KibitzError:
        return False


def games_by_ending(paths: Sequence[str]) -> dict[str, str]:
    """Return the games of some record files, according to the files' extensions. The result is a dict such as {"chess":
    path, "go": path}, with the path of one file of each game. A game without files is missing in the result.

    paths: record files, and also folders and archives that couldn't be searched. If there is at least one record file,
    the folders and archives are ignored. Otherwise their names are treated like file names (see `game_by_ending`).
    """
    telling = [path for path in paths if not path.lower().endswith(ARCHIVE) and not Path(path).is_dir()]
    return {game_by_ending(path): path for path in telling or paths}


def _members(archive: str, ends: tuple[str, ...]) -> list[str]:
    """Return the paths of the records in a zip archive. If the archive is damaged, return the path of the archive, so
    that the damage is reported when this path is opened. For the same reason, an archive in the archive is included.
    """
    try:
        names = _open_archive(archive).namelist()
    except (OSError, *_FAULTS):
        return [archive]
    return [
        f"{archive}:{name}"
        for name in sorted(names)
        if name.lower().endswith((*ends, ARCHIVE)) and not Path(name).name.startswith(_METADATA)
    ]


def _in_archive(path: str) -> tuple[str, str] | None:
    """Split "archive.zip:member" into archive and member; None for other paths."""
    at = path.lower().find(ARCHIVE + ":")
    while at >= 0:
        archive, member = path[: at + len(ARCHIVE)], path[at + len(ARCHIVE) + 1 :]
        if Path(archive).is_file():
            return archive, member
        at = path.lower().find(ARCHIVE + ":", at + 1)
    return None


def on_disk(path: str) -> str:
    """Return the path of the file on disk that contains a record file: the archive for "archive.zip:member", otherwise
    the path itself.
    """
    inside = None if Path(path).exists() else _in_archive(path)
    return inside[0] if inside else path


def _open_archive(path: str) -> zipfile.ZipFile:
    """Return an open archive. The last archive stays open, because its members are read one after the other."""
    return _opened(path, os.stat(path).st_mtime_ns)


@functools.lru_cache(maxsize=1)
def _opened(path: str, _modified: int) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def _why_not_opened(path: str) -> str:
    """Return why a zip archive can't be read as a file of records, and what the user can do."""
    if path == STDIN:
        return "a zip archive, which cannot be read from a pipe. Unpack it first."
    if not Path(path).exists() and _in_archive(path):
        return "a zip archive inside another. Unpack the outer one first."
    if not path.lower().endswith(ARCHIVE):
        return f"a zip archive. Give it a name that ends in {ARCHIVE}."
    try:
        _open_archive(path)
    except (OSError, *_FAULTS):
        return "a damaged zip archive. Download or copy it again."
    return f"a zip archive. Name the file in it: {path}:FILE"


def printable(path: str) -> str:
    """Return a path as text that can be saved and printed. Bytes that can't be decoded become question marks."""
    return path.encode(errors="replace").decode()


def decode(text: bytes) -> str:
    """Convert bytes to text: from UTF-16 if there is a byte order mark, else from UTF-8, or from Latin-1 if the bytes
    aren't valid UTF-8.
    """
    if (wide := wide_charset(text)) is not None:
        return text.decode(wide, "replace").removeprefix("\ufeff")
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def size(paths: Iterable[str]) -> int | None:
    """Return the total size of the files on disk, in bytes. The size of a compressed file is its compressed size.
    Return None if standard input, a pipe or a remote file is among the paths.
    """
    total = 0
    for path in paths:
        if path != STDIN and Path(path).is_file():
            total += os.path.getsize(path)
        elif inside := _in_archive(path):
            try:
                total += _open_archive(inside[0]).getinfo(inside[1]).compress_size
            except (OSError, *_FAULTS):
                return None
        else:
            return None
    return total


_QUOTED_GAME = re.compile(rb"^[ \t]*>[> \t]*(?:\[[ \t]*[A-Za-z]|\([ \t]*;)", re.MULTILINE)
_QUOTE = re.compile(rb"^(?:[ \t]*>)+[ \t]?", re.MULTILINE)


def unquoted(text: bytes) -> bytes:
    """Return a text without the signs > before lines that an e-mail quotes. The signs are removed if a PGN header or an
    SGF game begins on such a line.
    """
    return _QUOTE.sub(b"", text) if b">" in text and _QUOTED_GAME.search(text) else text


FREELY_UNPACKED = 1 << 30
MOST_UNPACKED = 250
"""The largest ratio of decompressed to compressed size. Games shrink to between a fifth and a thirtieth of their size.
A file that was made to fill a disk or memory shrinks to a thousandth or less.
"""


_MARK = b"\xef\xbb\xbf"


def wide_charset(text: bytes) -> str | None:
    """Return the encoding of a text in UTF-16, "utf-16-le" or "utf-16-be"; None for other texts. Editors on Windows
    call these encodings "Unicode".

    The text begins with a byte order mark for UTF-16, or one byte of most of its first characters is zero. That byte is
    the zero of Latin letters.
    """
    if text.startswith(b"\xff\xfe\0\0"):  # UTF-32
        return None
    if named := {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(text[:2]):
        return named
    begin = text[:_BEGIN]
    for charset, high, low in (("utf-16-le", begin[1::2], begin[::2]), ("utf-16-be", begin[::2], begin[1::2])):
        if len(low) > 1 and 10 * high.count(0) > 6 * len(high) and 10 * low.count(0) <= len(low):
            return charset
    return None


def _in_utf8(blocks: Iterator[bytes], charset: str) -> Iterator[bytes]:
    """Convert the blocks of a text to UTF-8. charset: the encoding, see `wide_charset`."""
    decoder = codecs.getincrementaldecoder(charset)("replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()


_BEGIN = 1 << 10
"""The number of bytes at the beginning of a file in which control characters show that it is binary."""


_CONTROLS = bytes({*range(32), 127} - {*b"\t\n\f\r\x1a\x1b"})
"""Control characters that no text contains."""


_PADDING = re.compile(rb"\0+")


def _is_binary(block: bytes) -> bool:
    """Return whether the first block of a file is binary. A text may have a few zero bytes, and any number of them
    in a row, if a write was interrupted.
    """
    if b"\0" not in block:
        return False
    written = _PADDING.sub(b"\0", block.rstrip(b"\0\r\n\x1a"))
    begin = written[:_BEGIN]
    return begin != begin.translate(None, _CONTROLS) or 10 * written.count(b"\0") > len(written) or not written


def _ends_in_mark(text: bytes, count: int, begins_line: bool) -> bool:
    """Return whether a text ends with the first `count` bytes of a byte order mark, at the beginning of a line."""
    return text.endswith(b"\n" + _MARK[:count]) or (begins_line and text == _MARK[:count])


class Stream:
    """One file of records, which is decompressed while it is read.

    path: a file; "archive.zip:member" for a file in an archive; "-" for standard input. The compression format is
        detected from the first bytes of the file, not from its name.
    most: the largest allowed number of decompressed bytes; None for no such limit.

    A second limit is a protection against decompression bombs. Beyond 1 GiB, the decompressed size may be at most 250
    times the number of bytes read from disk.

    `consumed` is the number of bytes read from disk so far. `converted` becomes True if `texts` converts the file from
    UTF-16. Raises KibitzError if the file can't be opened.
    """

    def __init__(self, path: str, most: int | None = None):
        self.unpacked, self._most, self.converted = 0, most, False
        self.name = "standard input" if path == STDIN else printable(path)
        if (advice := what_to_do(path)) and not Path(path).exists():
            raise UsageError(advice)
        if (foreign := FOREIGN.get(Path(path.lower()).suffix)) is not None:
            raise KibitzError(f"{self.name}: {foreign[0]}, which kibitz cannot read. Export it as {foreign[1]}.")
        try:
            self._raw = _open(path)
            buffered = io.BufferedReader(self._raw, 1 << 20)
            magic = buffered.peek(4)[:4]
        except OSError as error:
            raise KibitzError(f"{path}: {one_line(error)}. Check the path and the permissions.") from None
        except _FAULTS as error:
            raise self._damaged(error) from None
        if magic == b"PK\x03\x04" or path.lower().endswith(ARCHIVE):
            self._raw.close()
            raise KibitzError(f"{self.name}: {_why_not_opened(path)}")
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
        """The number of bytes read from disk so far, before decompression."""
        return self._raw.count

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield the decompressed bytes in blocks of `size` bytes.

        Raises KibitzError if the compressed data are damaged, if the file can't be read, or if the decompressed bytes
        exceed a limit (see `Stream`). The bytes before the damage are yielded first.
        """
        fault = None
        while fault is None:
            block, fault = self._block(size)
            self.unpacked += len(block)
            if self._most is not None and self.unpacked > self._most:
                raise KibitzError(
                    f"{self.name} unpacks to more than {self._most >> 20} MB. Split it into smaller files."
                )
            if self.unpacked > max(FREELY_UNPACKED, MOST_UNPACKED * self.consumed):
                raise KibitzError(
                    f"{self.name} unpacks to more than {MOST_UNPACKED} times its size, which no file of games does."
                    " kibitz does not read the rest."
                )
            if block:
                yield block
            elif fault is None:
                return
        raise self._damaged(fault) from None

    def _block(self, size: int) -> tuple[bytes, Exception | None]:
        """Return the next `size` bytes, fewer at the end and before damage, and the damage or None."""
        # Read1, because read() would lose the bytes before a damaged part.
        read = getattr(self._file, "read1", self._file.read)
        pieces: list[bytes] = []
        left, fault = size, None
        try:
            while left and (piece := read(left)):
                pieces.append(piece)
                left -= len(piece)
        except (OSError, *_FAULTS) as error:
            fault = error
        return pieces[0] if len(pieces) == 1 else b"".join(pieces), fault

    def texts(self, size: int, what: str) -> Iterator[bytes]:
        """Yield the contents of a text file as blocks of UTF-8 or another 8-bit encoding, without byte order marks.
        Files in UTF-16 are converted to UTF-8.

        size: the number of bytes in a block before these changes.
        what: a description of the expected contents and encoding, for the error message.

        Byte order marks are also removed inside the text, at the beginning of lines, because concatenated files have
        them there. Raises KibitzError at the first block of a binary file.
        """
        blocks = self.blocks(size)
        first = next(blocks, b"")
        if (wide := wide_charset(first)) is not None:
            self.converted = True
            blocks = _in_utf8(itertools.chain([first], blocks), wide)
            first = next(blocks, b"")
        if _is_binary(first):
            raise KibitzError(f"{self.name}: a binary file, not text. {what}.")
        begins_line, cut = True, b""
        for block in itertools.chain([first], blocks):
            text = cut + block if cut else block
            if begins_line:
                text = text.removeprefix(_MARK)
            if _MARK in text:
                text = text.replace(b"\n" + _MARK, b"\n")
            # A byte order mark may be split between this block and the next block.
            begun = next((n for n in (2, 1) if _ends_in_mark(text, n, begins_line)), 0)
            end = len(text) - begun
            begins_line = text.endswith(b"\n", 0, end) if end else begins_line
            cut = text[end:]
            yield text[:end] if cut else text
        if cut:
            yield cut

    def _damaged(self, error: Exception) -> KibitzError:
        return KibitzError(f"{self.name}: damaged, so the rest cannot be unpacked. Download or copy the file again.")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._raw.close()


class Files:
    """Several record files, which are read one after another. This is the base class of the readers of PGN and SGF.

    paths: the files, as `find` returns them.
    consumed: the number of bytes read from disk so far.
    broken: a message of one line for each file that couldn't be opened.
    most: the largest allowed number of decompressed bytes per file; None for no such limit (see `Stream`).
    """

    def __init__(self, paths: list[str]):
        self.paths = paths
        self.most: int | None = None
        self.broken: list[str] = []
        self._done = 0
        self._stream: Stream | None = None

    @property
    def consumed(self) -> int:
        """The number of bytes read from disk so far, over all files, before decompression."""
        stream = self._stream
        return self._done + (stream.consumed if stream else 0)

    def streams(self) -> Generator[Stream]:
        """Yield each file as an open `Stream`. A file is closed when the next one is requested. A file that can't be
        opened is skipped, and `broken` gets a message.
        """
        for path in self.paths:
            try:
                stream = self._stream = Stream(path, self.most)
            except KibitzError as error:
                self.broken.append(str(error))
                continue
            try:
                yield stream
            finally:
                self._done += stream.consumed
                self._stream = None
                stream.close()


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


class _Zst:
    """Decompresses zstd frames, one after the other, with windows up to 2^31 bytes. If the data end inside a frame, an
    error is raised.
    """

    _PIECE = 1 << 11  # a small number, because this many bytes can decompress to thirty thousand times their size

    def __init__(self, file: io.BufferedReader[Any]):
        self._file = file
        self._unpacker = zstandard.ZstdDecompressor(max_window_size=2**31)
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._ready = bytearray()
        self._fault: Exception | None = None

    def read(self, size: int, /) -> bytes:
        while len(self._ready) < size and self._fault is None:
            piece = self._file.read(self._PIECE)
            if not piece:
                if self._frame:
                    self._fault = EOFError("it ends in the middle")
                break
            try:
                self._unpack(piece)
            except zstandard.ZstdError as error:
                self._fault = error
        if self._fault is not None and not self._ready:
            raise self._fault
        block = bytes(self._ready[:size])
        del self._ready[:size]
        return block

    def _unpack(self, piece: bytes) -> None:
        while piece:
            self._frame = self._frame or self._unpacker.decompressobj()
            self._ready += self._frame.decompress(piece)
            piece = b""
            if self._frame.eof:
                piece, self._frame = self._frame.unused_data, None

    def close(self) -> None:
        self._file.close()


def _open(path: str) -> _Counting | _Member:
    """Open the file on disk or in its archive."""
    if path == STDIN:
        return _Counting(_standard_input())
    if is_remote(path):
        return _Counting(remote.open_remote(path))
    if not Path(path).exists() and (inside := _in_archive(path)):
        archive = _open_archive(inside[0])
        return _Member(archive, archive.getinfo(inside[1]))
    return _Counting(open(path, "rb", buffering=0))


class _Member(io.RawIOBase):
    """A file in a zip archive, still compressed. count: the approximate number of bytes that were read for it from
    disk.
    """

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo):
        self._info = info
        self._file = cast(zipfile.ZipExtFile, archive.open(info))

    @property
    def count(self) -> int:
        done = self._file.tell() if not self._file.closed else self._info.file_size
        return done * self._info.compress_size // max(self._info.file_size, 1)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._file.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def _standard_input() -> IO[bytes]:
    """Return standard input without Python's buffer: a waiting thread would hold the buffer's lock when the program
    ends.
    """
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    try:
        return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    except (OSError, AttributeError):  # standard input was replaced by a Python object
        return sys.stdin.buffer


class _Counting(io.RawIOBase):
    """A raw stream that counts the bytes read from it."""

    def __init__(self, file: IO[bytes]):
        self._file, self.count = file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._read(len(buffer))
        # At first, a slow pipe may give fewer than the four bytes that determine the compression.
        while 0 < len(data) < 4 and self.count == 0:
            more = self._read(len(buffer) - len(data))
            if not more:
                break
            data += more
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)

    def _read(self, size: int) -> bytes:
        """Return up to `size` bytes, none at the end. If another program has set its pipe to non-blocking, this method
        waits for data.
        """
        while (data := cast("bytes | None", self._file.read(size))) is None:
            select.select([self._file], [], [])
        return data

    def close(self) -> None:
        if not self.closed and self._file is not getattr(sys.stdin, "buffer", None):
            self._file.close()
        super().close()
