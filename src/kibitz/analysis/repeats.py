"""Find games that occur in several files."""

from __future__ import annotations

import hashlib


class Seen:
    """Detects repeated games, because collections of files often contain a game several times.

    again: the number of repeated games so far.
    """

    def __init__(self) -> None:
        self.again = 0
        self._known: set[bytes] = set()

    def is_new_text(self, text: str) -> bool:
        """Return whether a game has not occurred before. text: the game's headers and moves as text."""
        key = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
        is_new = key not in self._known
        self._known.add(key)
        self.again += not is_new
        return is_new
