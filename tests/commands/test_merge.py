"""`kibitz merge`: several stores as one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kibitz import cli
from kibitz.store.store import Store
from support.causes import assert_refused, in_process, refused
from support.patience import PATIENCE

Made = Callable[..., Path]


@pytest.fixture
def made(bundled_games: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Made:
    """Makes a store of some of the bundled games, with options of import."""

    def make(name: str, first: int, last: int, *options: str) -> Path:
        records = tmp_path / f"{name}.pgn"
        records.write_text("\n".join(bundled_games[first:last]))
        store = tmp_path / f"{name}.store"
        assert cli.run(["import", str(records), "--into", str(store), *options]) == 0
        capsys.readouterr()
        return store

    return make


def test_games_are_joined_and_duplicates_left_out(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two, whole = made("one", 0, 60), made("two", 40, 100), made("whole", 0, 100)
    assert cli.run(["merge", str(one), str(two), "--into", str(tmp_path / "both.store"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["read"], told["kept"], told["duplicates"]) == (120, 100, 20)
    both, whole_store = Store(tmp_path / "both.store"), Store(whole)
    assert both.fingerprint == whole_store.fingerprint
    np.testing.assert_array_equal(both.moves, whole_store.moves)
    for column in ("white", "result", "plies", "hash", "opening"):
        assert both.table()[column].to_pylist() == whole_store.table()[column].to_pylist()
    np.testing.assert_array_equal(both.sides(), whole_store.sides())
    assert Store(one).fingerprint != both.fingerprint  # the old ones stay as they were


def test_a_store_that_grew_several_times(made: Made, tmp_path: Path) -> None:
    store = made("all", 0, 30)
    made("other", 30, 70)
    assert cli.run(["import", str(tmp_path / "other.pgn"), "--into", str(store), "--append"]) == 0
    assert len(Store(store).tables) == 2
    assert cli.run(["merge", str(store), "--into", str(tmp_path / "one.store")]) == 0
    merged = Store(tmp_path / "one.store")
    assert len(merged.tables) == 1
    assert merged.fingerprint == Store(store).fingerprint
    assert merged.table().drop(["source"]).equals(Store(store).table().drop(["source"]))


def test_stores_that_are_split_differently(made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = made("one", 0, 10), made("two", 10, 20, "--test-share", "50")
    into = str(tmp_path / "both.store")
    assert_refused(in_process(["merge", one, two, "--into", into]), code=2, names="split")
    assert cli.run(["merge", str(one), str(two), "--into", into, "--test-share", "20"]) == 0
    assert Store(into).split.test_share == 20
    three, into = made("three", 20, 30, "--validate-share", "30"), str(tmp_path / "more.store")
    options = "--test-share", "20"  # the stores still have different shares of validation games
    assert_refused(in_process(["merge", one, three, "--into", into, *options]), code=2, names="split")
    assert cli.run(["merge", str(one), str(three), "--into", into, "--validate-share", "7"]) == 0
    assert Store(into).split.validate_share == 7


def test_what_cannot_be_merged(made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = str(made("one", 0, 10))
    good = ["merge", one, "--into", str(tmp_path / "y.store")]
    none = str(tmp_path / "none.store")
    refused(good, ["merge", one, none, "--into", str(tmp_path / "x.store")], code=1, names=[none, "store"])
    refused(good, ["merge", one, "--into", one], code=2, names=[one, "store"])


@pytest.mark.process
@pytest.mark.skipif(os.name != "posix", reason="other systems have names in Unicode alone")
def test_stores_in_a_folder_whose_name_is_not_unicode(tmp_path: Path) -> None:
    """Made, explored, merged, exported and described."""
    folder = tmp_path / os.fsdecode(b"q\xff")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has names in Unicode alone")
    games, one, both = folder / "games.pgn", folder / "one.store", folder / "both.store"
    games.write_text('[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n')
    said = []
    for call in (
        ["import", games, "--into", one], ["explore", one, "--json"], ["merge", one, one, "--into", both],
        ["export-positions", both, "--to", folder / "positions.npz", "--positions", "3"], ["info", both, "--json"],
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "kibitz", *call], capture_output=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert [each["san"] for each in json.loads(said[1])["moves"]] == ["e4"]
    assert json.loads(said[-1])["games"] == 1
