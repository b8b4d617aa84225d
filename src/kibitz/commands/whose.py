"""Whose games of a file are meant: the player that the options name, or the player in nearly all games."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kibitz import records

if TYPE_CHECKING:
    from kibitz.games.chess.io.reader import Record
    from kibitz.personal.names import Player


def find_players(path: str, named: Sequence[str]) -> list[Player]:
    """Return the players that these names mean in the games of a file or folder; several names are accounts of one.

    Without a name, it is the player in nearly all games. Raises UsageError and KibitzError.
    """
    from kibitz.personal import names
    from kibitz.personal.games import opened

    where = records.printable(path)
    # problems of the file are reported later, when its games are read again
    with opened([path], lambda line: None) as store:
        return names.find(store, list(named), where)


class PlayerSides:
    """The side of a player in chess games. players: the names of one player."""

    def __init__(self, players: Iterable[Player]):
        from kibitz.personal.names import key

        self._key = key
        self._wanted = {key(player.name) for player in players}

    def side(self, record: Record) -> str:
        """Return white or black; "" if the player has neither side, or both."""
        headers = record.game.headers
        found = [side for side in ("white", "black") if self._key(headers.get(side.capitalize(), "")) in self._wanted]
        return found[0] if len(found) == 1 else ""
