"""The sources of a player's games for the tab My games: a PGN file, SGF records, or a game store."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kibitz.dates import read_date
from kibitz.errors import KibitzError
from kibitz.games.chess.filters import STANDARD_VARIANTS
from kibitz.personal import names

if TYPE_CHECKING:
    from kibitz.games.go.io.sgf import Record

SIDES = ("white", "black")
"""Names of the colors in chess. The index is 1 if the player has Black, else 0."""
LARGEST = 400 << 20
"""The largest number of bytes of a file from the page."""
UNPACKED = 1 << 30
"""The largest number of bytes of a compressed file after it was unpacked."""


@dataclass(frozen=True)
class ChosenGame:
    """A game that was selected for an analysis. number: the number of the game in its source, from 1 in a file and from
    0 in a store. side: the player's side, "white" or "black".
    """

    number: int
    side: str


class Source(ABC):
    """A file or a store with games of the player.

    game: "chess" or "go".
    name: the name that the browser page of `kibitz board` shows.
    path: the path of the file or store, for `kibitz personal`.
    games: the number of games of standard chess, or of Go.
    variants: the number of other games: chess variants, or unreadable records of Go.
    players: all players, the most frequent first.
    """

    game: str = "chess"
    name: str
    path: str
    games: int
    variants: int = 0
    players: list[names.Player]

    def find(self, wanted: Sequence[str]) -> list[names.Player]:
        """Return the players with these names. Raises KibitzError for an unknown name; the message suggests similar
        names.
        """
        return names.named(self.players, wanted, self.name, "")

    @abstractmethod
    def newest(self, players: Sequence[names.Player], most: int) -> list[ChosenGame]:
        """Return the newest `most` games of these players, who count as one person, in the order of the source.

        Games in which this person has both sides are skipped.
        """

    @abstractmethod
    def text(self, number: int) -> str:
        """Return a game as PGN or SGF. number: the number of the game in the source. Raises IndexError if there is no
        such game.
        """


@dataclass(frozen=True)
class _GamePart:
    """The part of a file that has a game: its bytes, the keys of White's and Black's name, and its date ("" if
    unknown).
    """

    number: int
    begin: int
    end: int
    white: str
    black: str
    date: str


class _FileSource(Source):
    """The games of a file.

    An uncompressed copy in UTF-8 is made, from which single games are read later. The copy is removed together with
    this source.
    """

    def __init__(self, copy: Path, name: str):
        self.name, self.path, self._copy = name, str(copy), copy
        weakref.finalize(self, copy.unlink, missing_ok=True)
        self._parts: list[_GamePart] = []
        self._written: Counter[str] = Counter()

    def _count(self, number: int, problem: str) -> None:
        """Count games and players of all `number` games that were read. Raises KibitzError if there are none.

        problem: the error if there is no game.
        """
        self.games, self.variants = len(self._parts), number - len(self._parts)
        self.players = names.players_among(self._written)
        if not self.games:
            raise KibitzError(problem)
        if not self.players:
            raise KibitzError(f"{self.name} contains no player names, so kibitz cannot find your games")

    def _put(self, number: int, begin: int, end: int, sides: tuple[str, str], date: str) -> None:
        white, black = sides
        self._written.update((white, black) if white != black else (white,))
        self._parts.append(_GamePart(number, begin, end, names.key(white), names.key(black), date))

    def newest(self, players: Sequence[names.Player], most: int) -> list[ChosenGame]:
        wanted = {names.key(player.name) for player in players}
        mine = [part for part in self._parts if (part.white in wanted) != (part.black in wanted)]
        chosen = sorted(_newest([part.date for part in mine], most))
        return [ChosenGame(mine[i].number, SIDES[mine[i].black in wanted]) for i in chosen]

    def text(self, number: int) -> str:
        # The numbers rise. A walk through all parts for each game of an analysis would take minutes in a large file.
        at = bisect_left(self._parts, number, key=lambda part: part.number)
        if at == len(self._parts) or (part := self._parts[at]).number != number:
            raise IndexError(number)
        with self._copy.open("rb") as file:
            file.seek(part.begin)
            return file.read(part.end - part.begin).decode()


class PgnSource(_FileSource):
    """The games of a PGN file, which may be compressed."""

    def __init__(self, path: Path, copy: Path, name: str):
        """name: the file's name for the page. Raises KibitzError if no game of standard chess has the names of its
        players.
        """
        from kibitz.games.chess.io.reader import glance

        super().__init__(copy, name)
        begin = number = 0
        if path.is_file() and not path.stat().st_size:
            raise KibitzError(f"{name}: the file is empty")
        try:
            with copy.open("wb") as file:
                for number, (headers, text) in enumerate(glance(str(path), max(UNPACKED, path.stat().st_size)), 1):
                    data = f"{text.strip()}\n\n".encode(errors="replace")
                    file.write(data)
                    self._add(number, begin, begin + len(data), headers)
                    begin += len(data)
        except KibitzError as error:  # the message would contain the path of the copy on this machine
            raise KibitzError(str(error).replace(str(path), name)) from None
        self._count(number, f"{name} has no games of standard chess, only variants ({number:,})")

    def _add(self, number: int, begin: int, end: int, headers: Mapping[str, str]) -> None:
        if headers.get("Variant", "").strip().lower() not in STANDARD_VARIANTS:
            return
        days = (headers.get(name, "") for name in ("UTCDate", "Date"))
        # An unknown month or day counts as 00, so that the game comes before the other games of the year or month.
        date = next((day.replace("?", "0") for day in days if day and "?" not in day[:4]), "")
        self._put(number, begin, end, (headers.get("White", ""), headers.get("Black", "")), date)


class SgfSource(_FileSource):
    """The games of a file of Go records, which may be compressed. Only their main lines are read."""

    game = "go"

    def __init__(self, path: Path, copy: Path, name: str):
        """name: the file's name for the page. Raises KibitzError if no game can be read, or if no game has the names
        of its players.
        """
        from kibitz.games.go.io.sgf import Record, read_records, write_sgf

        super().__init__(copy, name)
        begin = number = 0
        reason = ""
        try:
            with copy.open("wb") as file:
                for record in read_records([str(path)], cut=True, most=max(UNPACKED, path.stat().st_size)):
                    if not isinstance(record, Record):
                        reason = reason or record.reason
                        number += record.number > 0
                        continue
                    number += 1
                    data = write_sgf(record).encode(errors="replace")
                    file.write(data)
                    self._add(number, begin, begin + len(data), record)
                    begin += len(data)
        except KibitzError as error:  # the message would contain the path of the copy on this machine
            raise KibitzError(str(error).replace(str(path), name)) from None
        if not number:
            raise KibitzError(f"{name} has no Go game. Check that it is an SGF file")
        self._count(number, f"{name} has no game that kibitz can read: {reason} ({number:,})")

    def _add(self, number: int, begin: int, end: int, record: Record) -> None:
        white, black = (record.headers.get(name, "") for name in ("PW", "PB"))
        day = read_date(record.headers.get("DT", "")[:10])
        self._put(number, begin, end, (white, black), "" if day is None else day.isoformat())


class StoreSource(Source):
    """The games of a game store, as kibitz imports them."""

    def __init__(self, path: str):
        from kibitz.store.store import Store

        self.name = self.path = path
        self._store = Store(path)
        self.game = self._store.game
        self.games = len(self._store)
        self.players = names.players_of(self._store)
        if not self.players:
            raise KibitzError(f"{path} contains no player names, so kibitz cannot find your games")

    def newest(self, players: Sequence[names.Player], most: int) -> list[ChosenGame]:
        from kibitz.personal import games

        sides, order = games.sides_of(self._store, games.spellings_of(players)), games.in_time(self._store)
        mine = order[sides[order] != games.NEITHER][-most:]
        colours = games.COLOURS[self._store.game]
        return [ChosenGame(int(game), colours[sides[game]]) for game in np.sort(mine)]

    def text(self, number: int) -> str:
        from kibitz.explorer.records import record

        return record(self._store, number)


def _newest(dates: Sequence[str], most: int) -> list[int]:
    """Return the indices of the newest `most` dates. Games of one day are ordered as in the file, see
    `games.in_time`.
    """
    days: NDArray[np.str_] = np.array(dates, dtype=str)
    order = np.arange(len(days))
    if len(days) > 1 and (days[1:] < days[:-1]).sum() > (days[1:] > days[:-1]).sum():
        order = order[::-1]
    found: list[int] = order[np.argsort(days[order], kind="stable")][-most:].tolist()
    return found
