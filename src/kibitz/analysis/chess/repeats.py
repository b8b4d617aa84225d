"""Find games that occur in several files."""

from __future__ import annotations

import hashlib

from kibitz.games.chess.io.reader import Record


class Repeats:
    """Detects games that occurred before, because collections of files often share games. again: the number of
    repeats."""

    _HEADERS = ("White", "Black", "Date", "UTCDate", "UTCTime", "Round", "Result", "FEN")

    def __init__(self) -> None:
        self.again = 0
        self._known: set[bytes] = set()

    def is_new(self, record: Record) -> bool:
        """Return whether the game has not occurred before."""
        headers, moves = record.game.headers, [move.uci() for move in record.game.mainline_moves()]
        told = "\n".join([*(headers.get(name, "") for name in self._HEADERS), *moves])
        key = hashlib.blake2b(told.encode(errors="surrogatepass"), digest_size=16).digest()
        is_new = key not in self._known
        self._known.add(key)
        self.again += not is_new
        return is_new
