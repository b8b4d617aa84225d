"""Find games that occur more than once in a collection of files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator


class Seen:
    """Detects repeated games. Collections of game records often contain a game several times.

    again: the number of repeated games so far.
    """

    def __init__(self) -> None:
        self.again = 0
        self._known: set[bytes] = set()

    def is_new_text(self, text: str) -> bool:
        """Return True at the first call with a text, False at each further call with the same text. text: the headers
        and moves of a game as text.
        """
        key = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
        is_new = key not in self._known
        self._known.add(key)
        self.again += not is_new
        return is_new


def skipped_games(again: int, empty: int, both: int) -> Iterator[str]:
    """Yield messages about the skipped games of a player, such as "skipped 2 games without moves".

    Each argument is the number of games that were skipped for one reason. There is no message for the number 0.

    again: the number of repeated games.
    empty: the number of games without moves.
    both: the number of games in which the player has both sides.
    """
    for count, kind, why in (
        (again, "repeated ", "with the same players, date and moves"),
        (empty, "", "without moves"),
        (both, "", "with the player on both sides"),
    ):
        if count:
            yield f"skipped {count:,} {kind}game{'' if count == 1 else 's'} {why}"
