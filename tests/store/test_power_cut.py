"""A store after a power cut: as it was before the import, or as it is after it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kibitz.durable import write_whole
from kibitz.store.store import Store
from store.test_writer import batch, games_of, write
from support.power import after_power_cuts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the files of descriptors in /proc")


def nothing(folder: Path) -> None:
    pass


def test_a_new_store_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    seen = set()
    for after, done in after_power_cuts(
        tmp_path, nothing, lambda place: void(write(place / "a", batch([[1, 2], [3]])))
    ):
        seen.add((after / "a").exists())
        assert (after / "a").exists() or not done
        if (after / "a").exists():
            store = Store(after / "a")
            assert games_of(store) == [[1, 2], [3]]
            assert store.table()["plies"].to_pylist() == [2, 1]
    assert seen == {False, True}


def test_a_store_that_grows_keeps_what_it_had(tmp_path: Path) -> None:
    seen = set()

    def prepare(place: Path) -> None:
        write(place / "a", batch([[1]]))

    for after, done in after_power_cuts(
        tmp_path, prepare, lambda place: void(write(place / "a", batch([[2, 3]]), append=True))
    ):
        store = Store(after / "a")
        assert games_of(store) in ([[1]], [[1], [2, 3]])
        assert len(store.table()) == len(store)
        assert len(store) == 2 or not done
        seen.add(len(store))
        # and the next import works
        assert games_of(write(after / "a", batch([[2, 3]]), append=True)) == [[1], [2, 3]]
    assert seen == {1, 2}


def test_a_file_that_is_written_whole(tmp_path: Path) -> None:
    def prepare(place: Path) -> None:
        (place / "f").write_bytes(b"old")

    seen = {
        ((after / "f").read_bytes(), done)
        for after, done in after_power_cuts(tmp_path, prepare, lambda place: write_whole(place / "f", b"new"))
    }
    assert seen == {(b"old", False), (b"new", False), (b"new", True)}


def void(_: object) -> None:
    """Forgets what it is given."""
