"""Files that appear whole under their name, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.analysis.files import whole_file


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
