"""One writer at a time, by a lock that the system lets go of when its holder ends, however it ends."""

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
"""Seconds between two looks at a lock that somebody else holds."""


@contextlib.contextmanager
def exclusive_lock(file: Path, what: Path, work: str = "import", wait: float = 0.0) -> Iterator[None]:
    """Hold a lock on that file, which is created, and removed at the end.

    wait: seconds to wait for somebody else who holds it. Raises KibitzError, naming `what` and the kind of `work`,
    where somebody still does. On a disk that knows no locks nothing is held.
    """
    until = time.monotonic() + wait
    with contextlib.ExitStack() as files:
        while not _taken(files.enter_context(open(file, "wb")), file):
            files.close()
            if time.monotonic() >= until:
                raise KibitzError(f"{what}: another {work} writes it at this moment; try again when that is done")
            time.sleep(_AGAIN)
        try:
            yield
        finally:
            if sys.platform == "win32":  # which takes away no open file
                files.close()
            with contextlib.suppress(OSError):
                file.unlink()


def _taken(held: IO[bytes], file: Path) -> bool:
    try:
        _take(held)
        return os.path.samestat(os.fstat(held.fileno()), file.stat())  # not if its last holder just took it away
    except (BlockingIOError, PermissionError, FileNotFoundError):
        return False
    except OSError:
        return True
