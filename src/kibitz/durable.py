"""Write files atomically, so that a kill or a power cut leaves either the old or the new contents.

A name may reach the disk before the data. So data are written through (fsync) under another name, then the file is
renamed, then the folder is written through.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEW = ".new"
"""Suffix of a file's name until it is complete."""


def sync(file: IO[Any]) -> None:
    """Write an open file through to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Write the names in a folder through to the disk. Does nothing if folders can't be opened (Windows)."""
    if sys.platform == "win32":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system that doesn't support it
            os.fsync(opened)
    finally:
        os.close(opened)


def replace(temporary: Path, path: Path) -> None:
    """Rename a completely written file or folder, replacing an existing one."""
    os.replace(temporary, path)
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically. Raises OSError with the file's name, also if the disk is full."""
    temporary = path.with_name(path.name + NEW)
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            sync(file)
        replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        error.filename, error.filename2 = str(path), None
        raise


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array as an .npy file, atomically."""
    import numpy as np

    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    write_whole(path, file.getvalue())
