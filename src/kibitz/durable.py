"""Files that a killed program or a power cut leaves whole: as they were before, or as they are after.

A name may reach the disk before the bytes that it names. So bytes are written through (fsync) under another name, then
the name is exchanged, then the folder is written through.
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
"""The end of a file's name until it is whole."""


def sync(file: IO[Any]) -> None:
    """Write an open file through to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Write the names in a folder through to the disk. Does nothing where folders cannot be opened (Windows)."""
    if sys.platform == "win32":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system that knows no such thing
            os.fsync(opened)
    finally:
        os.close(opened)


def replace(temporary: Path, path: Path) -> None:
    """Give a file, or a folder, that is written through its name, in place of one that may be there."""
    os.replace(temporary, path)
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all. Raises OSError with the file's name, on a full disk too."""
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
    """Write an array as an .npy file, whole or not at all."""
    import numpy as np

    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    write_whole(path, file.getvalue())
