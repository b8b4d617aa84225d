"""Find and open files in cloud storage or on another machine, by addresses that fsspec supports, such as s3://… and
gs://….

kibitz doesn't require fsspec, which is installed together with PyTorch. Each kind of storage has a separate package
(s3fs, gcsfs). fsspec is imported only for a remote address.
"""

from __future__ import annotations

import re
from typing import IO, Any, cast

from kibitz.errors import KibitzError, UsageError, one_line

_URL = re.compile(r"[a-z][a-z0-9+.-]+://")


def is_remote(path: str) -> bool:
    """Return whether a path is a remote address, such as s3://…"""
    return _URL.match(path) is not None


def find(path: str, ends: tuple[str, ...]) -> list[str]:
    """Return the addresses of the record files at a remote address. The address of a folder ends in /.

    For a file, the result is [path]. For a folder, the result has all files in the folder and its subfolders whose
    names end in one of `ends`. Raises KibitzError if there are none, or if the address can't be read. Raises UsageError
    if fsspec is not installed.
    """
    system, inner_path = _reach(path)
    try:
        if not path.endswith("/"):
            found = [path] if system.isfile(inner_path) else []
        else:
            inside = sorted(name for name in system.find(inner_path) if name.lower().endswith(ends))
            found = [system.unstrip_protocol(name) for name in inside]
    except Exception as error:  # each kind of store has its own exceptions
        raise _failed(path, error) from None
    if not found:
        raise KibitzError(f"{path} has no game files. Check the address. The address of a folder ends in /.")
    return found


def open_remote(path: str) -> IO[bytes]:
    """Open a remote file for sequential reading. Raises KibitzError if this fails, and UsageError if fsspec is not
    installed.
    """
    system, inner_path = _reach(path)
    try:
        return cast("IO[bytes]", system.open(inner_path, "rb", cache_type="readahead"))
    except Exception as error:
        raise _failed(path, error) from None


def _reach(path: str) -> tuple[Any, str]:
    """Return fsspec's file system for a path, and the path in this file system."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise UsageError(f"{path} needs fsspec, which is not installed. Install it: pip install fsspec") from None
    try:
        return cast("tuple[Any, str]", url_to_fs(path))
    except Exception as error:
        raise _failed(path, error) from None


def _failed(path: str, error: Exception) -> KibitzError:
    """Return the error for a remote file. It replaces the errors of the various kinds of storage, which are hard to
    understand.
    """
    if isinstance(error, ImportError):  # fsspec raises it from the error that names the missing package, such as s3fs
        package = getattr(error.__cause__, "name", None) or error.name
        return KibitzError(f"{path} needs {package}, which is not installed. Install it: pip install {package}")
    if isinstance(error, ValueError):
        return KibitzError(f"{path} is of an unknown kind. Check the address, and the package of fsspec for it.")
    reason = f" ({one_line(error)})" if isinstance(error, OSError) and error.strerror else ""
    return KibitzError(f"{path} cannot be read{reason}. Check the address, the permissions and the connection.")
