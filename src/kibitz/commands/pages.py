"""Write the HTML pages that commands make."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kibitz.durable import write_whole
from kibitz.errors import KibitzError, UsageError, one_line
from kibitz.records import on_disk, printable


def check_page(page: Path, option: str, others: Iterable[str] = ()) -> None:
    """Check, before the command does any work, that a page can be written to a file.

    page: the path of the file.
    option: the option for this path, such as "--page", for error messages.
    others: the other files that the command reads or writes. For a file in an archive, such as "games.zip:a.pgn",
        the archive is checked.

    Raises KibitzError if the file can't be written, and UsageError if it is one of the other files.
    """
    for other in others:
        if _is_same(page, Path(on_disk(other))):
            raise UsageError(
                f"{option} must not be {printable(other)}, which is also read or written. Choose another file."
            )
    if page.is_dir():
        raise KibitzError(f"{option} must be a file (got the folder {page})")
    if not page.parent.is_dir():
        raise KibitzError(
            f"{page} cannot be written: there is no folder {page.parent}. Create it, or choose another file with"
            f" {option}."
        )
    if not os.access(page.parent, os.W_OK):
        raise KibitzError(
            f"{page} cannot be written: no permission for {page.parent}. Choose another file with {option}."
        )


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, which may not exist yet."""
    try:
        return one.samefile(other)
    except OSError:  # one of the files doesn't exist
        return one.resolve() == other.resolve()


def write_page(page: Path, text: str, option: str) -> None:
    """Write a page to a file, which appears only when it is complete.

    page: the path of the file. text: the page as HTML. option: the option for this path, such as "--page", for error
    messages. Raises KibitzError if the file can't be written.
    """
    try:
        write_whole(page, text.encode(errors="replace"))  # the name of a folder may not be valid Unicode
    except OSError as error:
        words = f"{one_line(error)}. The page was not written. Choose another file with {option}."
        raise KibitzError(f"{page}: {words}") from None
