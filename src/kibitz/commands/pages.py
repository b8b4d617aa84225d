"""Where the commands write their pages."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kibitz.durable import write_whole
from kibitz.errors import KibitzError, UsageError, one_line
from kibitz.records import printable


def check_page(page: Path, option: str, others: Iterable[str] = ()) -> None:
    """Raises KibitzError, before any work, where no file can be written there, and UsageError where the page would
    take the place of one of the other files that are read or written. option: that chooses another place."""
    for other in others:
        if _is_same(page, Path(other)):
            raise UsageError(f"{option} {page}: it would take the place of {printable(other)}; name another file")
    if page.is_dir():
        raise KibitzError(f"{page}: a folder; name a file with {option}")
    if not page.parent.is_dir():
        raise KibitzError(f"{page}: there is no folder {page.parent}; make it, or choose another place with {option}")
    if not os.access(page.parent, os.W_OK):
        raise KibitzError(f"{page}: no permission to write in {page.parent}; choose another place with {option}")


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths name one file, which need not be there yet."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return one.resolve() == other.resolve()


def write_page(page: Path, text: str, option: str) -> None:
    """Write it whole or not at all. Raises KibitzError where that fails."""
    try:
        write_whole(page, text.encode())
    except OSError as error:
        words = f"{one_line(error)}; the page was not written, choose another place with {option}"
        raise KibitzError(f"{page}: {words}") from None
