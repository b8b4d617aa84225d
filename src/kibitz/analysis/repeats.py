"""Find games that occur in several files."""

from __future__ import annotations

import hashlib


class Seen:
    """Detects repeated games. Collections of game records often contain a game several times.

    again: the number of repeated games so far.
    """

    def __init__(self) -> None:
        self.again = 0
        self._known: set[bytes] = set()

    def is_new_text(self, text: str) -> bool:
        """Return whether the game did not occur in an earlier call. text: the game's headers and moves as text."""
        key = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
        is_new = key not in self._known
        self._known.add(key)
        self.again += not is_new
        return is_new
