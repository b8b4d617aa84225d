"""The games of one player in files of many players: finds the player's side in each game."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from kibitz import records
from kibitz.analysis.chess.repeats import Repeats
from kibitz.errors import KibitzError
from kibitz.games.chess.io.reader import Record, read
from kibitz.personal.names import Player, key


class PlayerSides:
    """Finds which side one player has in a chess game. players: the spellings of this player's name."""

    def __init__(self, players: Iterable[Player]):
        self._wanted = {key(player.name) for player in players}

    def side(self, record: Record) -> str:
        """Return the player's side, "white" or "black"; "" if the player is on neither side, or on both."""
        headers = record.game.headers
        found = [side for side in ("white", "black") if key(headers.get(side.capitalize(), "")) in self._wanted]
        return found[0] if len(found) == 1 else ""


def own_games(
    files: Sequence[str], sides: PlayerSides, on_problem: Callable[[str], None]
) -> Iterator[tuple[Record, str]]:
    """Yield each game of one player in the given PGN files, with the player's side, "white" or "black". A repeated game
    is yielded only once.

    sides: finds the player's side. on_problem: a function that is called with a message for each game or file that
    could not be read, and with a message about the number of repeated games. Raises KibitzError if there is only one
    file and it cannot be read.
    """
    repeats = Repeats()
    for file in files:
        name = records.printable(file)
        try:
            with contextlib.closing(read(file)) as found:
                for record in found:
                    side = sides.side(record)
                    if side and record.refused:
                        on_problem(f"{name} game {record.number}: {record.refused}")
                    elif side and repeats.is_new(record):
                        if record.problem:
                            on_problem(f"{name} game {record.number}: {record.problem}. The moves before it are used.")
                        yield record, side
        except KibitzError as error:
            if len(files) == 1:
                raise
            on_problem(str(error))
    if repeats.again:
        number = "1 repeated game" if repeats.again == 1 else f"{repeats.again:,} repeated games"
        on_problem(f"skipped {number} with the same players, date and moves")
