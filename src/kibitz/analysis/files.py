"""Write the files of an analysis, so that no incomplete file remains by mistake."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from kibitz.durable import replace, sync
from kibitz.messages import note
from kibitz.records import printable


def never() -> bool:
    """Return False. As the argument `keep` of `whole_file`, this function means that an incomplete file is removed."""
    return False


@contextlib.contextmanager
def whole_file(path: str, keep: Callable[[], bool] = never) -> Iterator[IO[str]]:
    """Open a text file for writing, as a context manager. The file has a temporary name until the context ends without
    an error. After an error, the file is removed. The path "-" means standard output.

    keep: a function without arguments, which is called after Ctrl-C. If it returns True, the incomplete file is kept,
    with the name in `path`. If another file already has this name, the incomplete file gets a free name such as
    `out-part.pgn`. A message to the user contains the name.
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
    interrupted: KeyboardInterrupt | None = None
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            try:
                yield file
            except KeyboardInterrupt as error:
                if not keep():
                    raise
                interrupted = error
            sync(file)
        if interrupted:
            target = _unused(target)
        replace(temporary, target)
        if interrupted:
            note(f"{printable(str(target))} contains the results up to the interruption")
            raise interrupted
    except OSError as error:
        if error.filename == str(temporary):  # the user doesn't know the temporary file's name
            error.filename = path
        raise
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _unused(target: Path) -> Path:
    """Return the path if nothing exists there; else a path with a similar name at which nothing exists."""
    number, path = 1, target
    while path.exists():
        path = target.with_stem(f"{target.stem}-part{number if number > 1 else ''}")
        number += 1
    return path
