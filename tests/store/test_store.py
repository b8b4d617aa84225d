"""Opening a store: what it gives, and what is said of one that is missing, of another version, or damaged."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kibitz.errors import KibitzError
from kibitz.store.store import FORMATS, INFO, Store
from store.test_writer import batch, write
from support.causes import naming


@pytest.fixture
def copy(tmp_path: Path, bundled_store: Store) -> Path:
    return Path(shutil.copytree(bundled_store.path, tmp_path / "copy.store"))


def touch_all(path: Path) -> None:
    """Everything a reader of a store may ask for."""
    store = Store(path)
    store.replay(np.arange(len(store)), store.plies)
    store.sides()
    store.row(0)
    store.column("white")


def test_rows_and_columns(bundled_store: Store) -> None:
    assert len(bundled_store) == bundled_store.info["games"] == len(bundled_store.table())
    row = bundled_store.row(7)
    assert row["number"] == 8
    assert row["plies"] == bundled_store.plies[7]
    assert bundled_store.column("result").dtype == np.int8
    assert set(np.unique(bundled_store.column("result"))) == {-1, 0, 1}
    assert bundled_store.offsets[-1] == len(bundled_store.moves)


def test_unknown_values(tmp_path: Path, make_store: Callable[..., Store]) -> None:
    (tmp_path / "a.pgn").write_text("1. e4 1-0")
    store = make_store(tmp_path / "a.store", tmp_path / "a.pgn")
    assert store.column("white_rating").tolist() == [0]
    assert np.isnat(store.column("date").astype("datetime64[D]")).all()
    assert store.column("speed").tolist() == [None]


def test_a_store_of_no_games(tmp_path: Path, make_store: Callable[..., Store]) -> None:
    (tmp_path / "a.pgn").write_text("")
    store = make_store(tmp_path / "a.store", tmp_path / "a.pgn")
    assert (len(store), len(store.moves), len(store.sides())) == (0, 0, 0)


def test_no_store(tmp_path: Path) -> None:
    with pytest.raises(KibitzError, match=naming("nothing & store")):
        Store(tmp_path / "nothing")
    with pytest.raises(KibitzError, match="not a game store"):
        Store(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(KibitzError, match="not a game store"):
        Store(tmp_path / "file")


def test_another_version(copy: Path) -> None:
    info = json.loads((copy / INFO).read_text())
    (copy / INFO).write_text(json.dumps({**info, "kibitz_store": FORMATS[-1] + 1}))
    with pytest.raises(KibitzError, match=naming(f"{FORMATS[-1] + 1} & {FORMATS[-1]}")):
        Store(copy)


NO_ACCOUNTS = [
    "",
    "{",
    "[]",
    "7",
    '{"games": 3}',
    '{"kibitz_store": 1}',
    '{"kibitz_store": 1, "game": "chess", "split": []}',
]


@pytest.mark.parametrize("text", NO_ACCOUNTS)
def test_a_damaged_account(copy: Path, text: str) -> None:
    (copy / INFO).write_text(text)
    with pytest.raises(KibitzError, match=naming("damaged")):
        Store(copy)


@pytest.mark.parametrize(
    ("key", "value"),
    [("read", None), ("read", "3"), ("fingerprint", None), ("history", None), ("history", 3), ("left_out", None),
     ("left_out", []), ("left_out", {"draw": 3}), ("tables", [])],
)  # fmt: skip
def test_a_damaged_part_of_an_account(copy: Path, key: str, value: object) -> None:
    """None: the key is missing. Adding games would need each of these keys."""
    info = json.loads((copy / INFO).read_text())
    assert len(Store(copy)) == info["games"]
    (copy / INFO).write_text(
        json.dumps({name: each for name, each in (info | {key: value}).items() if each is not None})
    )
    with pytest.raises(KibitzError, match=naming("damaged")):
        Store(copy)


@pytest.mark.parametrize("name", ["moves.u16", "offsets.i64", "starts.u8", "games.parquet"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut"])
def test_damaged_files(copy: Path, name: str, damage: str) -> None:
    file = copy / "0001" / name
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(b"" if damage == "empty" else file.read_bytes()[:-9])
    with pytest.raises(KibitzError, match=f"{name}: .*. Import the games again"):
        touch_all(copy)


def test_a_table_whose_columns_are_not_text(copy: Path) -> None:
    file = copy / "0001" / "games.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"white", b"\x99hite"))
    with pytest.raises(KibitzError, match=naming("games.parquet & games")):
        touch_all(copy)


def test_offsets_that_lead_out_of_the_moves(copy: Path) -> None:
    """They would lead the replay out of its memory."""
    file = copy / "0001" / "offsets.i64"
    offsets = np.fromfile(file, "<i8")
    offsets[5] = 10**12
    offsets.tofile(file)
    with pytest.raises(KibitzError, match=r"offsets\.i64 is damaged"):
        touch_all(copy)


def test_moves_that_are_none_stay_inside_the_board(copy: Path) -> None:
    """Any 16 bits replay to something, without a step out of the arrays."""
    file = copy / "0001" / "moves.u16"
    np.random.default_rng(0).integers(0, 2**16, file.stat().st_size // 2).astype("<u2").tofile(file)
    touch_all(copy)


def test_its_size(copy: Path) -> None:
    files = [path for path in copy.rglob("*") if path.is_file()]
    assert Store(copy).bytes_on_disk() == sum(path.stat().st_size for path in files)


def test_a_store_that_is_added_to_while_it_is_read(tmp_path: Path) -> None:
    """A reader goes on with the games that it has opened; nothing of them moves."""
    store = write(tmp_path / "s", batch([[1, 2]]))
    moves = store.moves
    for plies in ([3, 4], [5], [6, 7, 8]):
        write(tmp_path / "s", batch([plies]), append=True)
    late = Store(tmp_path / "s")
    assert moves.tolist() == store.moves.tolist() == [1, 2]
    assert len(store.table()) == len(store.column("hash")) == 1
    assert late.moves.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert late.plies.tolist() == late.column("plies").tolist() == [2, 2, 1, 3]
    assert [late.row(game)["plies"] for game in range(4)] == [2, 2, 1, 3]
    with pytest.raises(IndexError):
        late.row(4)


def test_adding_leaves_what_was_there(tmp_path: Path) -> None:
    """Old files keep their beginnings, byte for byte, and the store is as one that was made at once."""
    write(tmp_path / "s", batch([[1, 2]]))
    before = {path.name: path.read_bytes() for path in (tmp_path / "s" / "0001").iterdir()}
    grown = write(tmp_path / "s", batch([[3, 4]]), append=True)
    for name, old in before.items():
        assert (tmp_path / "s" / "0001" / name).read_bytes()[: len(old)] == old
    whole = write(tmp_path / "t", batch([[1, 2], [3, 4]]))
    assert grown.fingerprint == whole.fingerprint
    assert grown.table().drop(["number"]).equals(whole.table().drop(["number"]))
    assert [grown.info["kibitz_store"], whole.info["kibitz_store"]] == [2, 1]


@pytest.mark.process
def test_a_column_needs_no_further_library(bundled_store: Store) -> None:
    """A whole table reader of pyarrow would cost each program 20 MB of memory."""
    script = (
        "import sys; from kibitz.store.store import Store; store = Store(sys.argv[1]); store.sides();"
        " print(len(store.column('result')), 'pyarrow.parquet' in sys.modules, 'pyarrow.dataset' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(bundled_store.path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(len(bundled_store)), "True", "False"]
