"""The message after Ctrl-C for commands that write a store (a database of games): whether the store is complete."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def describes_store_if_interrupted(into: Path, otherwise: str) -> Iterator[None]:
    """Return a context manager that gives a message to a KeyboardInterrupt raised in its block. If the block has
    written the store, the message reports that the store is complete.

    into: the folder of the store. otherwise: the message if the block has not written the store.
    """
    before = _description(into)
    try:
        yield
    except KeyboardInterrupt:
        now = _description(into)
        whole = now is not None and now != before
        raise KeyboardInterrupt(f"interrupted; {f'{into} is complete' if whole else otherwise}") from None


def _description(store: Path) -> bytes | None:
    from kibitz.store.store import INFO

    try:
        return (store / INFO).read_bytes()
    except OSError:
        return None
