"""Writing: whole or not at all, duplicates once, arrays beside the moves, and adding to a store."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz.errors import KibitzError, UsageError
from kibitz.games.batch import EXAMPLES, GameBatch, Rejections
from kibitz.store import writer as writer_module
from kibitz.store.split import Split
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from support.causes import naming
from support.examples import share

COLUMNS = pa.schema([
    ("white", pa.string()), ("result", pa.int8()), ("date", pa.date32()), ("source", pa.string()),
    ("number", pa.int32()),
])  # fmt: skip
PER_MOVE = {"clock": ("uint16", 65535)}
STANDARD = np.zeros(68, np.uint8)


def batch(games: list[list[int]], first: int = 1, clock: bool = False, starts: Any = None, read: int = 0) -> GameBatch:
    """Games that White won, numbered from `first`; with `clock`, each move's clock is the move."""
    count = len(games)
    moves = np.array([move for game in games for move in game], np.uint16)
    rows = pa.table(
        {"white": ["W"] * count, "result": [1] * count, "date": [None] * count, "source": ["f.pgn"] * count,
         "number": list(range(first, first + count))}, schema=COLUMNS,
    )  # fmt: skip
    plies = np.array([len(game) for game in games], np.int32)
    return GameBatch(moves, plies, starts, rows, Rejections(), read or count, {"clock": moves.copy()} if clock else {})


def write(path: Path, *batches: GameBatch, **options: Any) -> Store:
    with StoreWriter(path, "chess", COLUMNS, STANDARD, PER_MOVE, **options) as writer:
        for one in batches:
            writer.add(one)
        return writer.commit({})


def games_of(store: Store) -> list[list[int]]:
    return [store.moves[a:b].tolist() for a, b in zip(store.offsets[:-1], store.offsets[1:], strict=True)]


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@settings(max_examples=share(0.5))
@given(
    st.lists(st.lists(st.lists(st.integers(0, 2**15), max_size=4), max_size=5), min_size=1, max_size=5),
    st.integers(1, 4),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[list[int]]], cut: int
) -> None:
    """In one go, or some batches now and the others with --append: the same games, each once, in order."""
    folder = tmp_path_factory.mktemp("writer")
    expected = list(dict.fromkeys(tuple(game) for games in batches for game in games))
    store = write(folder / "one", *map(batch, batches))
    assert [tuple(game) for game in games_of(store)] == expected
    assert store.info["positions"] == sum(map(len, expected)) + len(expected)
    assert store.info["read"] == sum(map(len, batches))
    duplicates = store.info["left_out"].get("duplicate", {"games": 0, "first": []})
    assert duplicates["games"] == sum(map(len, batches)) - len(expected)
    assert len(duplicates["first"]) == min(duplicates["games"], EXAMPLES)

    write(folder / "two", *map(batch, batches[:cut]))
    added = write(folder / "two", *map(batch, batches[cut:]), append=True)
    assert games_of(added) == games_of(store)
    assert added.fingerprint == store.fingerprint
    assert added.info["read"] == store.info["read"]
    assert left_in(folder) == ["one", "two"]
    assert left_in(folder / "two") == ["0001", "store.json"]


def test_arrays_beside_the_moves_that_come_late(tmp_path: Path) -> None:
    """None before, none between, none after; also when what came before is an old store."""
    plain, timed = batch([[1, 2], [3]]), batch([[4, 5]], clock=True)
    none = 65535
    store = write(tmp_path / "a", plain, timed, batch([[6]]))
    np.testing.assert_array_equal(store.per_move("clock"), [none, none, none, 4, 5, none])
    assert store.per_move("evaluation") is None

    write(tmp_path / "b", plain)
    assert Store(tmp_path / "b").per_move("clock") is None
    np.testing.assert_array_equal(write(tmp_path / "b", timed, append=True).per_move("clock"), [none, none, none, 4, 5])
    np.testing.assert_array_equal(
        write(tmp_path / "b", batch([[6]]), append=True).per_move("clock"), [none, none, none, 4, 5, none]
    )


def test_the_first_games_that_carry_an_array_are_all_duplicates(tmp_path: Path) -> None:
    store = write(tmp_path / "a", batch([[1]]), batch([[1]], clock=True), batch([[2]]))
    assert games_of(store) == [[1], [2]]
    assert store.per_move("clock") is None


def test_duplicates_take_their_arrays_with_them(tmp_path: Path) -> None:
    store = write(tmp_path / "a", batch([[1, 1], [2], [1, 1], [3]], clock=True))
    np.testing.assert_array_equal(store.per_move("clock"), [1, 1, 2, 3])
    assert store.column("number").tolist() == [1, 2, 4]


def test_start_positions(tmp_path: Path) -> None:
    """Equal ones are kept once, over batches and over imports; a game with another start is another game."""
    other = STANDARD + np.uint8(1)
    store = write(tmp_path / "a", batch([[1]]), batch([[1], [1]], starts=np.stack([other, STANDARD])))
    assert games_of(store) == [[1], [1]]
    assert store.start_of.tolist() == [0, 1]
    store = write(tmp_path / "a", batch([[2]], starts=other[None]), batch([[3]]), append=True)
    assert store.start_of.tolist() == [0, 1, 1, 0]
    np.testing.assert_array_equal(store.starts, [STANDARD, other])


def test_a_limit(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "a", "chess", COLUMNS, STANDARD, PER_MOVE) as writer:
        assert writer.add(batch([[1], [1], [2], [3], [4]]), limit=2) == 2
        store = writer.commit({})
    assert games_of(store) == [[1], [2]]
    assert {reason: entry["games"] for reason, entry in store.info["left_out"].items()} == {
        "duplicate": 1,
        "over the limit": 2,
    }


def test_a_limit_counts_games_that_are_left_by_costly_work(tmp_path: Path) -> None:
    """The first game is refused after a long look; four of the others are wanted."""
    seen: list[int] = []

    def finish(some: GameBatch) -> GameBatch:
        seen.append(len(some))
        good = some.moves[np.concatenate(([0], np.cumsum(some.plies)[:-1]))] != 1
        left = some.take(good)
        for _ in range(int((~good).sum())):
            left.rejections.add("refused", "a.pgn", 1, {})
        return left

    with StoreWriter(tmp_path / "a", "chess", COLUMNS, STANDARD, PER_MOVE) as writer:
        assert writer.add(batch([[number] for number in range(1, 10)]), limit=4, finish=finish) == 4
        store = writer.commit({})
    assert games_of(store) == [[2], [3], [4], [5]]
    assert seen == [4, 1]
    assert {reason: entry["games"] for reason, entry in store.info["left_out"].items()} == {
        "refused": 1,
        "over the limit": 4,
    }


def test_what_was_left_out_adds_up_over_imports(tmp_path: Path) -> None:
    for number in range(3):
        one = batch([[number]])
        for game in range(4):
            one.rejections.add("drawn", f"{number}.pgn", game, {"White": "W" * 500}, "x" * 500)
        store = write(tmp_path / "a", one, append=True)
    entry = store.info["left_out"]["drawn"]
    assert entry["games"] == 12
    assert [example["file"] for example in entry["first"]] == ["0.pgn"] * 4 + ["1.pgn"]
    assert len(entry["first"][0]["headers"]["White"]) == 80
    assert len(entry["first"][0]["detail"]) == 200
    assert len(store.info["history"]) == 3


def stop_before_commit(path: Path, append: bool = False) -> None:
    with StoreWriter(path, "chess", COLUMNS, STANDARD, PER_MOVE, append=append) as writer:
        writer.add(batch([[2]]))
        raise ZeroDivisionError


def test_left_without_commit_nothing_remains(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        stop_before_commit(tmp_path / "a")
    assert left_in(tmp_path) == []
    write(tmp_path / "a", batch([[1]]))
    before = {path: path.read_bytes() for path in (tmp_path / "a").rglob("*") if path.is_file()}
    with pytest.raises(ZeroDivisionError):
        stop_before_commit(tmp_path / "a", append=True)
    assert {path: path.read_bytes() for path in (tmp_path / "a").rglob("*") if path.is_file()} == before


def test_what_killed_imports_left_is_cleared(tmp_path: Path) -> None:
    """The hidden folder of a first import, the numbered one of an append, one that was never removed."""
    (tmp_path / ".a.unfinished" / "0001").mkdir(parents=True)
    (tmp_path / ".a.unfinished" / "0001" / "moves.u16").write_bytes(b"half")
    write(tmp_path / "a", batch([[1]]))
    assert left_in(tmp_path) == ["a"]
    (tmp_path / "a" / "0002").mkdir()
    (tmp_path / "a" / "0002" / "moves.u16").write_bytes(b"half")
    (tmp_path / "a" / "0007").mkdir()
    assert games_of(write(tmp_path / "a", batch([[2]]), append=True)) == [[1], [2]]
    assert left_in(tmp_path / "a") == ["0001", "store.json"]


def test_an_old_folder_that_cannot_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is complete by then, and the next import tries again."""
    write(tmp_path / "a", batch([[1]]))
    (tmp_path / "a" / "0007").mkdir()
    remove = os.rmdir

    def refuse(path: Any, **options: Any) -> None:
        if os.path.basename(path) == "0007":
            raise PermissionError(errno.EACCES, "no", str(path))
        remove(path, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, "rmdir", refuse)
        assert games_of(write(tmp_path / "a", batch([[2]]), append=True)) == [[1], [2]]
    assert "0007" in left_in(tmp_path / "a")
    assert games_of(write(tmp_path / "a", batch([[3]]), append=True)) == [[1], [2], [3]]
    assert "0007" not in left_in(tmp_path / "a")


def test_what_a_killed_append_left_is_overwritten(tmp_path: Path) -> None:
    write(tmp_path / "a", batch([[1]]))
    folder = tmp_path / "a" / "0001"
    for name in ("moves.u16", "offsets.i64", "starts.u8", "games-0002.parquet"):
        with open(folder / name, "ab") as file:
            file.write(b"half of something" * 40)
    assert games_of(Store(tmp_path / "a")) == [[1]]
    assert games_of(write(tmp_path / "a", batch([[2]]), append=True)) == [[1], [2]]
    assert games_of(write(tmp_path / "a", batch([[3, 4]]), append=True)) == [[1], [2], [3, 4]]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_files_of_a_store_may_lie_on_other_disks(tmp_path: Path) -> None:
    """Each file may be a link to where it lies. Games that are added go there, and an import that stops leaves no trace
    there."""
    alone = write(tmp_path / "alone", batch([[1], [2, 3]], clock=True), batch([[4]]))
    alone = write(alone.path, batch([[5, 6]], clock=True), append=True)
    write(tmp_path / "a", batch([[1], [2, 3]], clock=True), batch([[4]]))
    for file in (tmp_path / "a" / "0001").iterdir():
        disk = tmp_path / f"disk of {file.name}"
        disk.mkdir()
        file.rename(disk / file.name)
        file.symlink_to(disk / file.name)
    before = {path: path.read_bytes() for path in tmp_path.glob("disk*/*")}
    with pytest.raises(ZeroDivisionError):
        stop_before_commit(tmp_path / "a", append=True)
    assert {path: path.read_bytes() for path in tmp_path.glob("disk*/*")} == before
    linked = write(tmp_path / "a", batch([[5, 6]], clock=True), append=True)
    assert games_of(linked) == [[1], [2, 3], [4], [5, 6]]
    assert linked.fingerprint == alone.fingerprint
    assert all(path.is_symlink() for path in (tmp_path / "a" / "0001").iterdir() if path.name != linked.tables[-1])
    assert {path.name for path in before if path.read_bytes() == before[path]} == {"games.parquet", "starts.u8"}
    for name in ("moves.u16", "offsets.i64", "clock.bin"):
        assert (linked.path / "0001" / name).read_bytes() == (alone.path / "0001" / name).read_bytes()


@pytest.mark.parametrize("opened", range(5))
@pytest.mark.parametrize("kind", [PermissionError(errno.EACCES, "no"), KeyboardInterrupt()])
def test_an_append_that_ends_as_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: BaseException, opened: int
) -> None:
    """Whichever file cannot be opened: the store stays as it was."""
    write(tmp_path / "a", batch([[1], [2, 3]], clock=True))
    before = {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.*") if path.is_file()}
    really, count = open, 0

    def opens(path: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
        nonlocal count
        if "w" in mode or "+" in mode:
            count += 1
            if count > opened:
                raise kind
        return really(path, mode, *more, **named)

    monkeypatch.setattr(writer_module, "open", opens, raising=False)
    with pytest.raises((KibitzError, KeyboardInterrupt)):
        write(tmp_path / "a", batch([[4]], clock=True), append=True)
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.*") if path.is_file()} == before
    assert games_of(write(tmp_path / "a", batch([[4]], clock=True), append=True)) == [[1], [2, 3], [4]]


def test_an_append_to_a_damaged_table_is_refused_in_a_line(tmp_path: Path) -> None:
    store = write(tmp_path / "a", batch([[1]]))
    table = store.path / "0001" / store.tables[0]
    table.write_bytes(b"nothing of a table" * 9)
    for _ in range(2):  # the lock is free again
        with pytest.raises(KibitzError, match="damaged"):
            write(tmp_path / "a", batch([[2]]), append=True)
    assert (store.path / "0001" / "moves.u16").stat().st_size == 2


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("at", ["add", "table", "commit"])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, append: bool, at: str) -> None:
    """Told in one line; a new store leaves nothing, an old one is as it was."""
    if append:
        write(tmp_path / "a", batch([[1]]))
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fail(*_: object) -> None:
        raise full

    class FullFile:
        def write(self, data: bytes) -> int:
            raise full

    def fill() -> None:
        with StoreWriter(tmp_path / "a", "chess", COLUMNS, STANDARD, PER_MOVE, append=append) as writer:
            if at == "add":
                monkeypatch.setattr(writer, "_moves", FullFile())
            elif at == "table":
                monkeypatch.setattr(writer_module, "_ROWS", 1)
                monkeypatch.setattr(writer, "_flush_rows", fail)
            writer.add(batch([[2]]))
            if at == "commit":
                monkeypatch.setattr(writer_module.os, "fsync", fail)
            writer.commit({})

    with pytest.raises(KibitzError, match="the disk is full"):
        fill()
    monkeypatch.undo()
    assert left_in(tmp_path) == (["a"] if append else [])
    if append:
        assert games_of(Store(tmp_path / "a")) == [[1]]
        assert left_in(tmp_path / "a") == ["0001", "store.json"]


@pytest.mark.parametrize("append", [False, True])
def test_an_interrupt_at_any_moment_of_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, append: bool
) -> None:
    """Before the exchange the old state stands, after it the new one: store.json never names a missing folder."""
    for name in ("replace", "rename", "fsync"):
        path = tmp_path / name
        if append:
            write(path, batch([[1]]))
        real = getattr(os, name)

        def interrupt(*arguments: Any, real: Any = real) -> None:
            real(*arguments)
            raise KeyboardInterrupt

        monkeypatch.setattr(writer_module.os, name, interrupt)
        with contextlib.suppress(KeyboardInterrupt):
            write(path, batch([[2]]), append=append)
        monkeypatch.undo()
        if path.exists():
            assert games_of(Store(path)) in ([[1]], [[1], [2]], [[2]])
        # and the next import works
        assert [2] in games_of(write(path, batch([[2]]), append=True))


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not opened there")
@pytest.mark.parametrize("append", [False, True])
def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, append: bool) -> None:
    """After store.json is replaced, an error must not remove the games that it names."""
    path = tmp_path / "a"
    if append:
        write(path, batch([[1]]))
    real = os.open

    def unless_folder(name: Any, flags: int, *more: Any) -> int:
        if Path(name).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(name))
        return real(name, flags, *more)

    monkeypatch.setattr(os, "open", unless_folder)
    assert games_of(write(path, batch([[2]]), append=append)) == ([[1], [2]] if append else [[2]])


def test_a_store_that_appears_while_its_path_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that makes the store just before another takes the lock: the other takes the lock of the store."""
    path = tmp_path / "a"
    real, calls = StoreWriter._lock_path, []

    def first(self: StoreWriter) -> Any:
        calls.append(self)
        if len(calls) == 1:
            write(path, batch([[1]]))
        return real(self)

    monkeypatch.setattr(StoreWriter, "_lock_path", first)
    with StoreWriter(path, "chess", COLUMNS, STANDARD, PER_MOVE, append=True) as writer:
        monkeypatch.undo()
        with pytest.raises(KibitzError, match="another import"):
            write(path, batch([[3]]), append=True)
        writer.add(batch([[2]]))
        writer.commit({})
    assert games_of(write(path, batch([[3]]), append=True)) == [[1], [2], [3]]


def test_places_where_no_store_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=naming("folder")):
        write(tmp_path / "file", batch([[1]]))
    with pytest.raises(KibitzError, match="Choose another path"):
        write(tmp_path / "file" / "store", batch([[1]]))
    with pytest.raises(KibitzError, match="Choose another path"):
        write(Path("/proc/store"), batch([[1]]))
    write(tmp_path / "a", batch([[1]]))
    with pytest.raises(UsageError, match="--append"):
        write(tmp_path / "a", batch([[1]]))
    with pytest.raises(UsageError, match=naming("a & chess & store")):
        StoreWriter(tmp_path / "a", "go", COLUMNS, STANDARD, PER_MOVE, append=True)
    assert left_in(tmp_path) == ["a", "file"]


def test_the_split_stays_when_games_are_added(tmp_path: Path) -> None:
    write(tmp_path / "a", batch([[1]]), split=Split(11, 12))
    assert write(tmp_path / "a", batch([[2]]), append=True).split == Split(11, 12)
    assert write(tmp_path / "a", batch([[3]]), append=True, split=Split(1, 2)).split == Split(1, 2)


def with_owners(games: list[list[int]], first: int = 1, **options: Any) -> GameBatch:
    """Games that carry their first move three times."""
    found = batch(games, first, **options)
    found.per_game["owner"] = np.array([[game[0]] * 3 for game in games], np.uint8)
    return found


OWNERS = {"owner": ("uint8", 9, 3)}


def test_arrays_that_go_with_the_games(tmp_path: Path) -> None:
    store = write(tmp_path / "s", with_owners([[1, 2], [3], [1, 2]]), batch([[4, 5]], 4), per_game=OWNERS)
    assert store.info["carried"] == {"owner": {"dtype": "uint8", "none": 9, "width": 3}}
    owner = store.per_game("owner")
    assert owner is not None
    assert owner.tolist() == [[1] * 3, [3] * 3, [9] * 3]
    assert store.per_game("other") is None
    assert store.per_move("owner") is None


def test_arrays_of_games_that_come_late_and_are_added_to(tmp_path: Path) -> None:
    write(tmp_path / "s", batch([[7, 7]], clock=True), per_game=OWNERS)
    write(tmp_path / "s", with_owners([[1, 2]]), per_game=OWNERS, append=True)
    store = write(tmp_path / "s", with_owners([[3]], clock=True), per_game=OWNERS, append=True)
    owner, clock = store.per_game("owner"), store.per_move("clock")
    assert owner is not None
    assert clock is not None
    assert owner.tolist() == [[9] * 3, [1] * 3, [3] * 3]
    assert clock.tolist() == [7, 7, 65535, 65535, 3]


def test_a_damaged_array_of_games(tmp_path: Path) -> None:
    write(tmp_path / "s", with_owners([[1, 2]]), per_game=OWNERS)
    (tmp_path / "s" / "0001" / "owner.bin").write_bytes(b"12")
    with pytest.raises(KibitzError, match=naming("owner.bin & size")):
        Store(tmp_path / "s")


def test_new_games_alone_are_finished_and_may_be_left_out(tmp_path: Path) -> None:
    asked: list[list[int]] = []

    def finish(games: GameBatch) -> GameBatch:
        asked.append(games.moves.tolist())
        games.rejections.add("too small", "f.pgn", 1, {})
        return games.take(games.moves[np.cumsum(games.plies) - 1] > 2)

    with StoreWriter(tmp_path / "s", "chess", COLUMNS, STANDARD, PER_MOVE) as writer:
        assert writer.add(batch([[1, 2], [3], [3]]), finish=finish) == 1
        assert writer.add(batch([[3], [1, 2]]), finish=finish) == 0
        store = writer.commit({})
    assert asked == [[1, 2, 3]]  # what was left out once is known too
    assert games_of(store) == [[3]]
    assert store.info["left_out"]["too small"]["games"] == 1
    assert store.info["left_out"]["duplicate"]["games"] == 3
