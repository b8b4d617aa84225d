"""The lock: one holder, taken away afterwards, and no import beside another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kibitz.errors import KibitzError
from kibitz.lock import exclusive_lock
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from store.test_writer import COLUMNS, PER_MOVE, STANDARD, batch, write


def test_one_holder_at_a_time_and_nothing_is_left(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with exclusive_lock(file, Path("it")):
        with pytest.raises(KibitzError, match=r"^another import .* it\b"), exclusive_lock(file, Path("it")):
            pass
        assert file.exists()
    assert not file.exists()
    with exclusive_lock(file, Path("it")):
        pass


def test_a_killed_holder_holds_no_more(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    script = "import os, sys; from pathlib import Path; from kibitz.lock import exclusive_lock\n"
    script += "with exclusive_lock(Path(sys.argv[1]), Path('it')): os._exit(9)"
    assert subprocess.run([sys.executable, "-c", script, str(file)], check=False).returncode == 9
    assert file.exists()
    with exclusive_lock(file, Path("it")):
        pass
    assert not file.exists()


@pytest.mark.parametrize("append", [False, True])
def test_a_second_writer_is_refused_and_the_first_is_not_disturbed(tmp_path: Path, append: bool) -> None:
    path = tmp_path / "s"
    if append:
        write(path, batch([[1, 2]]))
    with StoreWriter(path, "chess", COLUMNS, STANDARD, PER_MOVE, append=append) as first:
        first.add(batch([[3, 4, 5]]))
        with pytest.raises(KibitzError, match="another import"):
            StoreWriter(path, "chess", COLUMNS, STANDARD, PER_MOVE, append=append)
        first.add(batch([[6, 7]]))
        first.commit({})
    assert len(Store(path)) == (3 if append else 2)
    assert os.listdir(tmp_path) == ["s"]
    assert sorted(os.listdir(path)) == ["0001", "store.json"]
    write(path, batch([[8, 9]]), append=True)
    assert len(Store(path)) == (4 if append else 3)
