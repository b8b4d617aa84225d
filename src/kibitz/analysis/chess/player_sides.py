"""Find the games of one player in files of many players, and the player's side in each game."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from kibitz import records
from kibitz.analysis.chess.repeats import Repeats
from kibitz.analysis.repeats import Seen, skipped_games
from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.io.blocks import Stray
from kibitz.games.chess.io.reader import Record, glance, read
from kibitz.personal.names import Player, find_among, key, players_among

_COMMENT = re.compile(r"\[[^\]\n]*\]|\{[^}]*\}|;[^\n]*")
"""A header, or a comment."""
_MOVE = re.compile(r"[a-h]x?[a-h]?[1-8]|[Oo0]-[Oo0]")


class PlayerSides:
    """Finds which side one player has in a chess game.

    players: the names of this one player, with all spellings that occur in the files.
    """

    def __init__(self, players: Iterable[Player]):
        self._wanted = {key(player.name) for player in players}

    def side(self, record: Record) -> str:
        """Return the player's side in a game, "white" or "black". Return "" if the player has neither side, or both."""
        found = self._sides(record)
        return found[0] if len(found) == 1 else ""

    def on_both_sides(self, record: Record) -> bool:
        """Return whether both players of a game have the name of the player."""
        return len(self._sides(record)) == 2

    def _sides(self, record: Record) -> list[str]:
        headers = record.game.headers
        return [side for side in ("white", "black") if key(headers.get(side.capitalize(), "")) in self._wanted]


class OwnGames:
    """Selects the games of one player, each game once, and counts the games that it skips.

    sides: the object that finds the player's side in a game.
    both: the number of skipped games in which the player has both sides.
    empty: the number of skipped games of the player without moves.
    repeats: the object that detects repeated games.
    """

    def __init__(self, sides: PlayerSides):
        self.sides, self.repeats = sides, Repeats()
        self.both = self.empty = 0

    def wants(self, record: Record) -> bool:
        """Return whether to use a game, and count it if it is skipped. Call this method once for each game.

        The result is also True for a game of the player that can't be read, so that the caller can report the game.
        """
        if not self.sides.side(record):
            self.both += self.sides.on_both_sides(record)
            return False
        if record.refused:
            return True
        if not record.game.variations and not record.problem:
            self.empty += 1
            return False
        return self.repeats.is_new(record)

    def problems(self) -> Iterator[str]:
        """Yield a message to the user for each reason for which games were skipped."""
        return skipped_games(self.repeats.again, self.empty, self.both)


def players_in(files: Sequence[str], named: Sequence[str], where: str) -> list[Player]:
    """Return the players with the given names in PGN files.

    files: the paths of the files.
    named: the names. Several names are the accounts of one player. Without a name, the result is the player who is in
        nearly all games.
    where: a description of the games, which error messages contain.

    Games without moves, and games with the same name on both sides, do not count. In an incomplete game, the moves
    before the error count.

    Raises UsageError for an unknown player. Raises KibitzError if there is no game with moves, or if the only file
    can't be read.
    """
    written: Counter[str] = Counter()
    copies, games, both = Seen(), 0, 0
    for file in files:
        try:
            with contextlib.closing(glance(file)) as found:
                for headers, text in found:
                    if not _MOVE.search(_COMMENT.sub(" ", text)) or not copies.is_new_text(text):
                        continue
                    games += 1
                    white, black = headers.get("White", ""), headers.get("Black", "")
                    if key(white) == key(black):
                        both += 1
                    else:
                        written.update((white, black))
        except KibitzError:
            # It is reported when the games are read again.
            if len(files) == 1 and not games:
                raise
    if not games:
        raise KibitzError(f"{where}: no game has a move. Check the files.")
    if both == games:
        raise UsageError(f"{where}: all games have the same name for White and Black. Choose other games.")
    return find_among(players_among(written), games - both, named, where)


def own_games(
    files: Sequence[str], sides: PlayerSides, on_problem: Callable[[str], None]
) -> Iterator[tuple[Record, str]]:
    """Yield each game of one player in the given PGN files, with the player's side, "white" or "black". A repeated game
    is yielded only once.

    files: the paths of the files.
    sides: the object that finds the player's side in a game.
    on_problem: a function that is called with each message to the user. The messages are about games and files that
        were not read completely, about text outside of games, and about skipped games.

    Raises KibitzError if the only file can't be read.
    """
    own = OwnGames(sides)
    for file in files:
        strays: list[Stray] = []
        name = records.printable(file)
        try:
            with contextlib.closing(read(file, on_stray=strays.append)) as found:
                for record in found:
                    if not own.wants(record):
                        continue
                    if record.refused:
                        on_problem(f"{name} game {record.number}: {record.refused}")
                        continue
                    if record.problem:
                        on_problem(f"{name} game {record.number}: {record.problem}. The moves before it are used.")
                    yield record, sides.side(record)
        except KibitzError as error:
            if len(files) == 1:
                raise
            on_problem(str(error))
        for stray in strays:
            if not stray.words.startswith("%"):
                on_problem(f"{name} line {stray.line}: skipped text that belongs to no game ({stray.words})")
    for problem in own.problems():
        on_problem(problem)
