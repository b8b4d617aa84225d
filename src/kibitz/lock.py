"""One writer at a time, by a lock that the system lets go of when its holder ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import sys
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


@contextlib.contextmanager
def exclusive_lock(file: Path, what: Path, work: str = "import") -> Iterator[None]:
    """Hold a lock on that file, which is created, and removed at the end.

    Raises KibitzError, naming `what` and the kind of `work`, where somebody else holds it. On a disk that knows no
    locks nothing is held.
    """
    with open(file, "wb") as held:
        if not _taken(held, file):
            raise KibitzError(f"{what}: another {work} writes it at this moment; try again when that is done")
        try:
            yield
        finally:
            if sys.platform == "win32":  # which takes away no open file
                held.close()
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
