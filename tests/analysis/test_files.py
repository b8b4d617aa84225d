"""Files that appear whole under their name, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from kibitz.analysis.files import whole_file
from kibitz.analysis.move_tables import move_tables


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out.pgn"
    with whole_file(str(target)) as file:
        file.write("old\n")
        assert not target.exists()

    def broken_off() -> None:
        with whole_file(str(target)) as file:
            file.write("new\n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken_off()
    assert target.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_and_a_missing_folder_is_named(tmp_path: Path) -> None:
    real, link = tmp_path / "real.pgn", tmp_path / "link.pgn"
    real.write_text("old\n")
    link.symlink_to(real)
    with whole_file(str(link)) as file:
        file.write("new\n")
    assert link.is_symlink()
    assert real.read_text() == "new\n"
    missing = str(tmp_path / "no" / "out.pgn")
    with pytest.raises(FileNotFoundError) as caught, whole_file(missing):
        pass
    assert caught.value.filename == missing


def test_devices_are_written_to_and_stay() -> None:
    with whole_file("/dev/null") as file:
        file.write("gone\n")
    assert Path("/dev/null").is_char_device()


def interrupted(opened: AbstractContextManager[Any], work: Callable[[Any], object]) -> None:
    """Ctrl-C after some work with what was opened."""
    with opened as given:
        work(given)
        raise KeyboardInterrupt


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("begun", [False, True])
def test_after_an_interruption_the_results_so_far_are_kept(
    exists: bool, begun: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.pgn"
    if exists:
        target.write_text("old\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupted(whole_file(str(target), lambda: begun), lambda file: file.write("game 1\n"))
    found = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    kept = ["out-part.pgn", "out-part2.pgn"] if exists else ["out.pgn", "out-part.pgn"]
    assert found == ({"out.pgn": "old\n"} if exists else {}) | (dict.fromkeys(kept, "game 1\n") if begun else {})
    err = capsys.readouterr().err
    assert [name in err for name in kept] == [begun] * 2


def test_tables_are_kept_after_an_interruption(tmp_path: Path) -> None:
    rows = [{"ply": 1, "move": "e4"}, {"ply": 2, "move": "e5"}]
    paths = tmp_path / "moves.csv", tmp_path / "moves.parquet"
    tables = move_tables(str(paths[0]), str(paths[1]), {"ply": int, "move": str}, lambda: True)
    with pytest.raises(KeyboardInterrupt):
        interrupted(tables, lambda add: add(rows))
    assert paths[0].read_text(encoding="utf-8") == "ply,move\n1,e4\n2,e5\n"
    assert parquet.read_table(paths[1]).to_pylist() == rows
