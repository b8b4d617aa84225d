"""Streams of records: packings, damage, standard input, and which files a path means."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from kibitz import records
from kibitz.errors import KibitzError, UsageError
from kibitz.records import Stream, decode
from support.causes import naming
from support.patience import PATIENCE

TEXT = b"".join(b"line %d of some text\n" % number for number in range(20_000))
PACK: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


def read(path: Path, size: int = 7777) -> bytes:
    stream = Stream(str(path))
    try:
        return b"".join(stream.blocks(size))
    finally:
        stream.close()


def pack_long(data: bytes) -> bytes:
    """A zstd frame with a window of 2^31 bytes, the largest there is, and raw blocks (RFC 8878, by hand)."""
    frame = b"\x28\xb5\x2f\xfd" + bytes([0, (31 - 10) << 3])
    pieces = [data[at : at + 100_000] for at in range(0, len(data), 100_000)]
    for piece in pieces:
        frame += (len(piece) << 3 | (piece is pieces[-1])).to_bytes(3, "little") + piece
    return frame


@pytest.mark.parametrize("kind", PACK)
def test_packings_are_known_by_their_first_bytes(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(PACK[kind](TEXT))
    for size in (1, 7777, 1 << 22):
        assert read(path, size) == TEXT if size > 1 else read(path, 100_000) == TEXT


@pytest.mark.parametrize("kind", PACK)
def test_consumed_is_counted_in_bytes_of_the_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(PACK[kind](TEXT))
    stream = Stream(str(path))
    for _ in stream.blocks(1 << 16):
        pass
    assert stream.consumed == path.stat().st_size == records.size([str(path)])
    stream.close()


def test_the_largest_window_of_zstd(tmp_path: Path) -> None:
    (tmp_path / "long.zst").write_bytes(pack_long(TEXT))
    assert read(tmp_path / "long.zst") == TEXT


def test_several_frames_and_skipped_ones(tmp_path: Path) -> None:
    skipped = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    (tmp_path / "many.zst").write_bytes(skipped + PACK["zst"](TEXT) + PACK["zst"](b"") + skipped + PACK["zst"](TEXT))
    assert read(tmp_path / "many.zst") == TEXT * 2
    (tmp_path / "many.gz").write_bytes(gzip.compress(TEXT) * 2)
    assert read(tmp_path / "many.gz") == TEXT * 2
    (tmp_path / "many.bz2").write_bytes(bz2.compress(TEXT) * 2)
    assert read(tmp_path / "many.bz2") == TEXT * 2


@pytest.mark.parametrize("kind", ["gz", "bz2", "zst"])
@pytest.mark.parametrize("damage", ["cut", "cut early", "overwritten"])
def test_damaged_archives(tmp_path: Path, kind: str, damage: str) -> None:
    """What comes before the damage is given, then it is told, with the file's name."""
    pack = zstandard.ZstdCompressor(write_checksum=True).compress if kind == "zst" else PACK[kind]
    data = bytearray(pack(TEXT))
    if damage == "overwritten":
        data[len(data) // 2 : len(data) // 2 + 40] = bytes(40)
    else:
        del data[-3 if damage == "cut" else 30 :]
    path = tmp_path / f"damaged.{kind}"
    path.write_bytes(data)
    stream, blocks = Stream(str(path)), []
    with pytest.raises(KibitzError, match=naming("unpacked")):
        blocks.extend(stream.blocks(1000))
    stream.close()
    got = b"".join(blocks)
    if damage == "cut" and kind != "bz2":  # bz2 unpacks in blocks of 900 kB
        assert len(got) > len(TEXT) // 2
    if damage != "overwritten":
        assert TEXT.startswith(got)


@pytest.mark.parametrize("kind", ["gz", "zst", "trailing"])
def test_all_that_comes_before_the_damage_is_read_by_large_blocks_too(tmp_path: Path, kind: str) -> None:
    pack = PACK["gz" if kind == "trailing" else kind]
    path = tmp_path / f"damaged.{kind}"
    path.write_bytes(pack(TEXT) + b"garbage" if kind == "trailing" else pack(TEXT)[:-3])
    stream, blocks = Stream(str(path)), []
    with pytest.raises(KibitzError, match="cannot be unpacked"):
        blocks.extend(stream.blocks(1 << 22))
    stream.close()
    got = b"".join(blocks)
    assert TEXT.startswith(got)
    assert len(got) > 0.8 * len(TEXT)


def test_empty_files(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert read(tmp_path / "empty") == b""


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(KibitzError, match=naming("nothing & file")):
        Stream(str(tmp_path / "nothing"))
    with pytest.raises(KibitzError, match="is a directory"):
        Stream(str(tmp_path))


def test_standard_input(tmp_path: Path) -> None:
    """Also from a pipe that gives its first bytes one by one, and packed."""
    script = (
        "import sys; from kibitz.records import Stream; s = Stream('-');"
        "sys.stdout.buffer.write(b''.join(s.blocks(1000))); s.close(); assert s.name == 'standard input'"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        data = gzip.compress(b"hello there")
        for at in range(6):
            process.stdin.write(data[at : at + 1])
            process.stdin.flush()
        out, _ = process.communicate(data[6:], timeout=PATIENCE)
    assert out == b"hello there"
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pipes always wait")
def test_a_standard_input_that_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """As some programs leave it to those that they start."""
    out, into = os.pipe()
    os.set_blocking(out, False)
    with open(out) as given, open(into, "wb", buffering=0) as written:
        monkeypatch.setattr(sys, "stdin", given)
        later = threading.Timer(0.2, lambda: (written.write(b"hello"), written.close()))
        later.start()
        stream = Stream("-")
        assert b"".join(stream.blocks(100)) == b"hello"
        stream.close()
        later.join()


def test_a_standard_input_that_python_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hello")))
    stream = Stream("-")
    assert b"".join(stream.blocks(100)) == b"hello"
    stream.close()


def test_which_files_a_path_means(tmp_path: Path) -> None:
    for name in ("b.pgn", "a.PGN.zst", "deep/er/c.pgn.gz", "deep/no.txt", "e.sgf", "._b.pgn", "deep/._a.zip"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    found = records.find([str(tmp_path)], (".pgn",))
    assert [Path(path).name for path in found] == ["a.PGN.zst", "b.pgn", "c.pgn.gz"]
    twice = records.find([str(tmp_path / "b.pgn"), str(tmp_path), "-"], (".pgn",))
    assert [Path(path).name for path in twice] == ["b.pgn", "a.PGN.zst", "c.pgn.gz", "-"]
    assert [Path(p).name for p in records.find([str(tmp_path / "deep" / "no.txt")], (".pgn",))] == ["no.txt"]
    with pytest.raises(KibitzError, match="no such file"):
        records.find([str(tmp_path / "nothing.pgn")], (".pgn",))
    (tmp_path / "empty").mkdir()
    with pytest.raises(KibitzError, match=naming("empty & .pgn")):
        records.find([str(tmp_path / "empty")], (".pgn",))


def test_a_folder_that_cannot_be_read_is_named_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.pgn").write_bytes(TEXT)
    listed = os.scandir

    def refused(folder: str) -> object:
        if str(folder).endswith("b"):
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(os, "scandir", refused)
    assert records.find([str(tmp_path)], (".pgn",)) == [str(tmp_path / "a" / "x.pgn"), str(tmp_path / "b")]


def test_an_empty_name_is_no_folder() -> None:
    with pytest.raises(UsageError, match=naming("empty")):
        records.find([""], (".pgn",))


def test_games_are_told_by_endings_that_say_something(tmp_path: Path) -> None:
    (tmp_path / "damaged.zip").write_bytes(b"PK")
    damaged = str(tmp_path / "damaged.zip")
    assert records.games_by_ending([damaged, "a.sgf"]) == {"go": "a.sgf"}
    assert records.games_by_ending([damaged]) == {"chess": damaged}
    assert set(records.games_by_ending(["a.pgn.gz", "a.sgf"])) == {"chess", "go"}


@pytest.mark.parametrize(
    ("text", "game"),
    [("(;GM[1];B[dd])", "go"), ("\ufeff\n( ; FF[4]GM[1])", "go"), ("Hello\n(;B[dd];W[pp])", "go"), ("\\HS\n", "go"),
     ("1. e4 (;x\n1. d4) e5", "chess"), ('[Event "(;GM[1]"]', "chess"), ("", "chess"), ("(; a remark\n) e4", "chess")],
)  # fmt: skip
def test_the_text_tells_the_game_of_other_endings(tmp_path: Path, text: str, game: str) -> None:
    for name in ("a.txt", "a"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert records.game_by_ending(str(tmp_path / name)) == game
    packed_in(tmp_path / "b.zip", {"a.txt": text.encode()})
    assert records.game_by_ending(f"{tmp_path}/b.zip:a.txt") == game


def test_files_in_an_object_store(tmp_path: Path) -> None:
    """fsspec's store in memory stands for one; a machine without fsspec says what to install."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    for name, text in (("games/b.pgn.gz", gzip.compress(TEXT)), ("games/deep/a.pgn", b"a"), ("games/no.txt", b"x")):
        memory.pipe_file(name, text)
    found = records.find(["memory://games/"], (".pgn",))
    assert [path.rpartition("/")[2] for path in found] == ["b.pgn.gz", "a.pgn"]
    assert records.find(["memory://games/no.txt"], (".pgn",)) == ["memory://games/no.txt"]
    with contextlib.closing(Stream(found[0])) as stream:
        assert b"".join(stream.blocks(1000)) == TEXT
        assert stream.consumed == len(memory.cat_file("games/b.pgn.gz"))
    assert records.size(found) is None
    for path, told in (
        ("memory://games/none.pgn", "no game files"),
        ("memory://none/", "none/"),
        ("nowhere://games/a.pgn", "Check the address"),
    ):
        with pytest.raises(KibitzError, match=told):
            records.find([path], (".pgn",))
    with pytest.raises(KibitzError, match="Check the address"):
        Stream("memory://games/none.pgn")


def test_an_object_store_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(KibitzError, match=naming("s3://bucket/a.pgn & fsspec")):
        records.find(["s3://bucket/a.pgn"], (".pgn",))


def test_an_object_store_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(KibitzError, match=naming("s3://bucket/a.pgn & pip install s3fs")):
        records.find(["s3://bucket/a.pgn"], (".pgn",))


def test_sizes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert records.size([str(tmp_path / "a")] * 2) == 10
    assert records.size([str(tmp_path / "a"), "-"]) is None


def test_a_name_that_is_no_text_can_be_shown_and_stored() -> None:
    assert records.printable("Müller.pgn") == "Müller.pgn"
    records.printable("a\udcff.pgn").encode()


def packed_in(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_files_in_an_archive(tmp_path: Path) -> None:
    path = packed_in(
        tmp_path / "All.ZIP",
        {"b.txt": TEXT, "in/a.TXT.gz": gzip.compress(TEXT), "note.md": b"no", "__MACOSX/._b.txt": b"\0\5"},
    )
    found = records.find([str(path)], (".txt",))
    assert found == [f"{path}:b.txt", f"{path}:in/a.TXT.gz"]
    assert records.find([str(tmp_path)], (".txt",)) == found
    assert records.find(found[:1], (".txt",)) == found[:1]
    total = 0
    for name in found:
        stream = Stream(name)
        assert b"".join(stream.blocks(7777)) == TEXT
        assert stream.name == name
        total += stream.consumed
        stream.close()
    assert total == records.size(found)


def test_an_archive_without_records(tmp_path: Path) -> None:
    path = packed_in(tmp_path / "a.zip", {"note.md": b"no"})
    with pytest.raises(KibitzError, match=naming("archive")):
        records.find([str(path)], (".txt",))
    with pytest.raises(KibitzError, match=naming("archive")):
        records.find([f"{path}:b.txt"], (".txt",))
    with pytest.raises(KibitzError, match=naming("a.zip & file")):
        Stream(str(path))


def test_an_archive_in_an_archive(tmp_path: Path) -> None:
    inner = packed_in(tmp_path / "inner.zip", {"a.txt": TEXT}).read_bytes()
    path = packed_in(tmp_path / "a.zip", {"inner.zip": inner, "inner": inner, "a.txt": TEXT})
    for name in ("inner.zip", "inner"):
        with pytest.raises(KibitzError, match=naming(f"a.zip:{name} & inside & outer")):
            Stream(f"{path}:{name}")
    Stream(f"{path}:a.txt").close()
    assert records.find([str(path)], (".txt",)) == [f"{path}:a.txt", f"{path}:inner.zip"]


@pytest.mark.parametrize(("name", "form"), [("a.ngf", "SGF"), ("A.UGF", "SGF"), ("a.cbh", "PGN"), ("a.si4", "PGN")])
def test_formats_of_other_programs_are_named(tmp_path: Path, name: str, form: str) -> None:
    (tmp_path / name).write_bytes(TEXT)
    with pytest.raises(KibitzError, match=naming(f"{name} & {form}")):
        Stream(str(tmp_path / name))


def test_broken_archives_are_told_in_one_line(tmp_path: Path) -> None:
    path = packed_in(tmp_path / "a.zip", {"a.txt": TEXT})
    whole = path.read_bytes()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(whole[: len(whole) // 2])
    assert records.find([str(cut)], (".txt",)) == [str(cut)]
    with pytest.raises(KibitzError, match=naming("archive")):
        Stream(str(cut))
    path.write_bytes(whole[:2000] + b"?" * 100 + whole[2100:])
    (name,) = records.find([str(path)], (".txt",))
    with pytest.raises(KibitzError, match="cannot be unpacked"):
        list(Stream(name).blocks(1 << 20))
    other = tmp_path / "archive"
    other.write_bytes(whole)
    with pytest.raises(KibitzError, match=naming(".zip")):
        Stream(str(other))


def test_texts_without_the_mark_of_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone two")
    assert b"".join(Stream(str(path)).texts(6, "x")) == b"one two"
    path.write_bytes(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\r\n\xef\xbb\xbfthree \xef\xbb\xbf four\n\xef\xbb")
    for size in range(1, 40):
        assert b"".join(Stream(str(path)).texts(size, "x")) == b"one\ntwo\r\nthree \xef\xbb\xbf four\n\xef\xbb"
    path.write_bytes(b"\0\1")
    with pytest.raises(KibitzError, match=naming("binary")):
        list(Stream(str(path)).texts(6, "a poem is text"))


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_utf16_is_text(tmp_path: Path, charset: str) -> None:
    """Windows' editors call it "Unicode". Some programs leave out the mark."""
    text, path = "Müller–棋 \U0001f600\r\n" * 5, tmp_path / "a.txt"
    path.write_bytes(("\ufeff" + text).encode(charset))
    for size in range(2, 40):
        assert b"".join(Stream(str(path)).texts(size, "x")).decode() == text
    assert decode(path.read_bytes()) == text
    path.write_bytes(text.encode(charset))
    assert b"".join(Stream(str(path)).texts(1 << 20, "x")).decode() == text


@pytest.mark.parametrize("zeros", [1, 5000])
def test_zeros_of_an_interrupted_write_do_not_hide_the_text(tmp_path: Path, zeros: int) -> None:
    """After a power cut, some file systems leave zero bytes at the end of a file or within it."""
    path = tmp_path / "a.txt"
    for text in (b"a poem" + bytes(zeros), TEXT + bytes(zeros) + b"the end", TEXT[:2000] + b"\0" + TEXT[2000:],
                 b"a poem of some words" + bytes(zeros) + b"\r\n"):  # fmt: skip
        path.write_bytes(text)
        assert b"".join(Stream(str(path)).texts(1 << 20, "x")) == text
    for binary in (
        b"a\0 poem",
        b"\x7fELF" + bytes(zeros),
        bytes(zeros),
        TEXT[:2000] + b"\0\1" * 1000,
    ):
        path.write_bytes(binary)
        with pytest.raises(KibitzError, match=naming("binary")):
            list(Stream(str(path)).texts(1 << 20, "a poem is text"))


def bomb(kind: str, path: Path, size: int) -> None:
    """A packed file that unpacks to `size` MiB of blanks."""
    piece = b" " * (1 << 20)
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.txt", "w") as file:
            for _ in range(size):
                file.write(piece)
    elif kind == "zst":
        with path.open("wb") as raw, zstandard.ZstdCompressor().stream_writer(raw) as packed:
            for _ in range(size):
                packed.write(piece)
    else:
        with (gzip.open if kind == "gz" else bz2.open)(path, "wb") as file:
            for _ in range(size):
                file.write(piece)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["zst", "gz", "bz2", "zip"])
def test_a_file_that_unpacks_to_far_more_than_games_do(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "FREELY_UNPACKED", 20 << 20)
    path = tmp_path / f"a.{kind}"
    bomb(kind, path, 40)
    stream, got = Stream(f"{path}:a.txt" if kind == "zip" else str(path)), 0

    def read_all() -> None:
        nonlocal got
        for block in stream.blocks(1 << 20):
            got += len(block)

    with pytest.raises(KibitzError, match=naming("250 & size")):
        read_all()
    stream.close()
    assert got >= 20 << 20  # small ones are read whatever they are


def test_one_piece_of_zstd_takes_little_memory(tmp_path: Path) -> None:
    """A thousand blocks that say "128 kB of this byte" in four bytes each (RFC 8878, by hand)."""
    frame = b"\x28\xb5\x2f\xfd" + bytes([0, (17 - 10) << 3])
    frame += ((1 << 17) << 3 | 1 << 1).to_bytes(3, "little") + b" "
    path = tmp_path / "a.zst"
    path.write_bytes(frame[:6] + frame[6:] * 1000 + (1).to_bytes(3, "little"))
    stream = Stream(str(path))
    held = []
    tracemalloc.start()
    total = 0
    for block in stream.blocks(1 << 16):
        total += len(block)
        held.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    stream.close()
    assert total == 1000 << 17
    assert max(held) < 400 << 20


def test_xz_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.pgn.xz").write_bytes(lzma.compress(TEXT))
    with pytest.raises(KibitzError, match="binary"):
        list(Stream(str(tmp_path / "a.pgn.xz")).texts(1000, "a PGN is text"))
