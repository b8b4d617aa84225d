"""File locks that allow only one writer at a time. The operating system releases a lock when the process that holds it
ends for any reason.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from kibitz.errors import KibitzError

if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


_AGAIN = 0.02
"""Seconds between two attempts to get a lock that another process holds."""


@contextlib.contextmanager
def exclusive_lock(file: Path, what: Path, work: str = "import", wait: float = 0.0) -> Iterator[None]:
    """Inside this context, hold an exclusive lock on a file. The file is created at the beginning and removed at the
    end.

    file: the lock file.
    wait: how many seconds to wait while another process holds the lock. Afterwards, KibitzError is raised.
    what, work: the locked object and the kind of work, such as "import", for the error message.

    If the file system does not support locks, nothing is locked.
    """
    until = time.monotonic() + wait
    with contextlib.ExitStack() as files:
        while not _taken(files.enter_context(open(file, "wb")), file):
            files.close()
            if time.monotonic() >= until:
                raise KibitzError(f"another {work} is using {what}. Try again when the other {work} has ended.")
            time.sleep(_AGAIN)
        try:
            yield
        finally:
            if sys.platform == "win32":  # Windows can't remove an open file
                files.close()
            with contextlib.suppress(OSError):
                file.unlink()


def _taken(held: IO[bytes], file: Path) -> bool:
    try:
        _take(held)
        # false if the last holder has just removed the file
        return os.path.samestat(os.fstat(held.fileno()), file.stat())
    except (BlockingIOError, PermissionError, FileNotFoundError):
        return False
    except OSError:
        return True
