"""Find chess games that occur more than once in a collection of files."""

from __future__ import annotations

from kibitz.analysis.repeats import Seen
from kibitz.games.chess.io.reader import Record


class Repeats(Seen):
    """Detects repeated chess games. Two games are equal if they have the same headers and moves."""

    _HEADERS = ("White", "Black", "Date", "UTCDate", "UTCTime", "Round", "Result", "FEN")

    def is_new(self, record: Record) -> bool:
        """Return True at the first call with a game, False at each further call with the same game."""
        headers, moves = record.game.headers, [move.uci() for move in record.game.mainline_moves()]
        return self.is_new_text("\n".join([*(headers.get(name, "") for name in self._HEADERS), *moves]))
