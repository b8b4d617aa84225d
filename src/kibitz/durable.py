"""Write files atomically: after a kill or a power cut, a file has either its old or its new contents.

An operating system may store a file's name before its data. So the data are first written to the disk (fsync) under a
temporary name. Then the file is renamed, and finally the folder is written to the disk.
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
"""The extension of the temporary name that a file has until it is complete."""


def sync(file: IO[Any]) -> None:
    """Write the data of an open file to the disk (fsync)."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Write the list of a folder's files to the disk (fsync), so that new and renamed files survive a power failure.

    This does nothing if the folder can't be opened, as on Windows.
    """
    if sys.platform == "win32":
        return
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:  # for example, the user may write to the folder but not list it
        return
    try:
        with contextlib.suppress(OSError):  # the file system doesn't support it
            os.fsync(opened)
    finally:
        os.close(opened)


def replace(temporary: Path, path: Path) -> None:
    """Rename a completely written file or folder from `temporary` to `path`. Anything that exists at `path` is
    replaced.
    """
    os.replace(temporary, path)
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write bytes to a file atomically: after an interruption, the file has either its old or its new contents. Raises
    OSError with the file's name, for example if the disk is full.
    """
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
    """Write an array to an .npy file atomically: after an interruption, the file has either its old or its new
    contents.
    """
    import numpy as np

    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    write_whole(path, file.getvalue())
