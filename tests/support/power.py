"""A disk whose power is cut: what was not written through with fsync is lost.

It watches fsync, replace and rename of this process. Two kinds of disks: on one the names in a folder last only once
the folder was written through; on the other names last at once, and what they name may still be empty.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


class PowerCut(BaseException):
    """Nothing after this is done."""


class Disk:
    """Watches a folder. cut: at which of the watched calls the power goes, counted from 0."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, cut: int):
        self.root, self.cut, self.calls = root, cut, 0
        self.contents: dict[int, bytes] = {}
        self.names: dict[int, dict[str, int]] = {}  # of each folder, as it was last written through
        self.at_cut: dict[int, dict[str, int]] = {}  # of each folder, at the cut
        for path in [root, *root.rglob("*")]:  # what is there has been there for long
            self._write_through(path)
        real_fsync, real_replace, real_rename = os.fsync, os.replace, os.rename

        def fsync(opened: int) -> None:
            self._tick()
            real_fsync(opened)
            self._write_through(Path(os.readlink(f"/proc/self/fd/{opened}")))

        def replace(old: Path, new: Path) -> None:
            self._tick()
            real_replace(old, new)

        def rename(old: Path, new: Path) -> None:
            self._tick()
            real_rename(old, new)

        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(os, "replace", replace)
        monkeypatch.setattr(os, "rename", rename)

    def _tick(self) -> None:
        if self.calls == self.cut:
            self.end()
            raise PowerCut
        self.calls += 1

    def end(self) -> None:
        """The names of this moment: what is done from now on reaches no disk."""
        folders = [self.root, *(path for path in self.root.rglob("*") if path.is_dir())]
        self.at_cut = {path.stat().st_ino: _names(path) for path in folders}

    def _write_through(self, path: Path) -> None:
        if path.is_dir():
            self.names[path.stat().st_ino] = _names(path)
        elif path.is_file():
            self.contents[path.stat().st_ino] = path.read_bytes()

    def remains(self, target: Path, *, names_last: bool) -> None:
        """Write what is on the disk after the cut to another folder. names_last: names last at once."""
        listings = self.at_cut if names_last else self.names

        def write(folder: int, to: Path) -> None:
            to.mkdir(parents=True)
            for name, inode in listings.get(folder, {}).items():
                if inode in self.at_cut or inode in self.names:
                    write(inode, to / name)
                else:
                    (to / name).write_bytes(self.contents.get(inode, b""))

        write(self.root.stat().st_ino, target)


def _names(folder: Path) -> dict[str, int]:
    return {each.name: each.stat().st_ino for each in folder.iterdir()}


def after_power_cuts(
    folder: Path, prepare: Callable[[Path], None], work: Callable[[Path], None]
) -> Iterator[tuple[Path, bool]]:
    """What remains of `work` in a folder that `prepare` has filled, cut at every moment, on both kinds of disks;
    and whether `work` had ended before the cut."""
    for names_last in (False, True):
        cut = 0
        while True:
            place = folder / f"{names_last}-{cut}"
            place.mkdir(parents=True)
            prepare(place)
            done = False
            with pytest.MonkeyPatch.context() as patch:
                disk = Disk(place, patch, cut)
                try:
                    work(place)
                    done = True
                    disk.end()
                except PowerCut:
                    pass
            disk.remains(folder / "after" / place.name, names_last=names_last)
            yield folder / "after" / place.name, done
            shutil.rmtree(place)
            if done:
                break
            cut += 1
