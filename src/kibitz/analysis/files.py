"""Files that an analysis writes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from kibitz.durable import replace, sync


@contextlib.contextmanager
def whole_file(path: str) -> Iterator[IO[str]]:
    """Open a text file for writing. Before it is completely written, the file has a temporary name. The path "-" is
    standard output.
    """
    if path == "-":
        yield sys.stdout
        return
    target = Path(path).resolve()  # if the path is a link, its target is replaced, so that the link stays
    if target.exists() and not target.is_file():  # a pipe or a device cannot be replaced
        with open(target, "w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            yield file
            sync(file)
        replace(temporary, target)
    except OSError as error:
        if error.filename == str(temporary):  # the user doesn't know the temporary file's name
            error.filename = path
        raise
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
