"""Messages about the state of a store when the command that makes it is interrupted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def describes_store_if_interrupted(into: Path, otherwise: str) -> Iterator[None]:
    """A context manager that adds a message to a KeyboardInterrupt inside it. The message reports that the store is
    complete if it was written inside the context; if it was not, the message is `otherwise`. into: the folder of the
    store.
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
