"""The saved games of an account: a file with the texts of the games, an index, and a list of the periods whose games
are all saved.

The program only appends data to the texts and the index. If it was killed, the next call removes incomplete data at the
end of both files. The list of periods is written less often than the games, so a period in the list never lacks a game.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from kibitz.durable import NEW, replace, sync, write_whole
from kibitz.lock import exclusive_lock
from kibitz.online.accounts import Account, GameChoice

TEXTS, INDEX, STATE, LOCK = "texts", "index.jsonl", "state.json", "lock"
PERIODS, COUNT = "periods", "games"
"""Keys of the dict `CachedGames.state`: the periods whose games are all saved, and the number of saved games when the
state was written.
"""
SAVE_EVERY = 200
"""The number of new games after which the state is written to the disk."""


class Entry(NamedTuple):
    """A saved game.

    id: the game's identifier on the server.
    time: the time of the game, in milliseconds since 1970.
    speed: the speed, such as "blitz".
    rated: whether the game was rated.
    at, size: the offset and the length of the game's text in the file of texts, in bytes.
    """

    id: str
    time: int
    speed: str
    rated: bool
    at: int
    size: int


class CachedGames:
    """The saved games of an account. The function `opened` returns an instance. Only one process at a time can have an
    instance for an account.

    entries: the saved games, a dict from a game's identifier on the server to its `Entry`.
    state: a dict for JSON, with the facts that the next download needs, such as the complete periods. The method `save`
        writes it to the disk.
    """

    def __init__(self, folder: Path, texts: IO[bytes], index: IO[bytes]):
        self.folder, self._texts, self._index = folder, texts, index
        self.entries: dict[str, Entry] = {}
        self._read_index()
        self.state: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):
            state = json.loads((folder / STATE).read_bytes())
            self.state = state if isinstance(state, dict) else {}
        # Periods are complete only if all games are there that were saved before the periods were written. If games are
        # missing, the index or the texts are damaged, and all periods are requested again.
        if len(self.entries) < _whole_number(self.state.get(COUNT)):
            self.state.pop(PERIODS, None)
        self._unsaved = 0

    def _read_index(self) -> None:
        """Read the index. Incomplete data at its end and at the end of the texts are removed."""
        length, whole, end = os.fstat(self._texts.fileno()).st_size, 0, 0
        self._index.seek(0)
        for line in self._index:
            try:
                entry = Entry(*json.loads(line))
                fits = line.endswith(b"\n") and entry.at == end and entry.at + entry.size <= length
            except (ValueError, TypeError):
                fits = False
            if not fits:
                break
            self.entries[entry.id] = entry
            whole, end = whole + len(line), entry.at + entry.size
        for file, size in ((self._index, whole), (self._texts, end)):
            file.truncate(size)
            file.seek(size)
        self._end = end

    def add(self, id: str, time: int, speed: str, rated: bool, text: bytes) -> bool:
        """Save a game. Return False if the game was already saved, otherwise True.

        id: the game's identifier on the server. time: the time of the game, in milliseconds since 1970. speed: the
        speed, such as "blitz". rated: whether the game was rated. text: PGN or SGF, without white space at the
        beginning and at the end.
        """
        if id in self.entries:
            return False
        entry = Entry(id, time, speed, rated, self._end, len(text))
        self._texts.write(text)
        self._texts.flush()  # flushed before the index is written, which refers to the text
        self._index.write(json.dumps(entry).encode() + b"\n")
        self.entries[id] = entry
        self._end += len(text)
        self._unsaved += 1
        if self._unsaved >= SAVE_EVERY:
            self.save()
        return True

    def save(self) -> None:
        """Write the new games and `state` to the disk."""
        sync(self._texts)
        sync(self._index)
        self.state[COUNT] = len(self.entries)
        write_whole(self.folder / STATE, json.dumps(self.state).encode())
        self._unsaved = 0

    def wanted(self, wanted: GameChoice, begin: int = 0) -> list[Entry]:
        """Return the saved games that the filter accepts, the newest first. The method ignores the filter's limit on
        the number of games.

        wanted: the filter. begin: the earliest time of a game, in milliseconds since 1970.
        """
        found = [
            one for one in self.entries.values() if one.time >= begin and wanted.takes(one.time, one.speed, one.rated)
        ]
        return sorted(found, key=lambda one: (-one.time, one.id))

    def write(self, path: Path, wanted: GameChoice) -> int:
        """Write the saved games that the filter accepts into the file `path`, the newest first. Return the number of
        written games. If more games than the filter's limit are accepted, only the newest are written.

        wanted: the filter. The file appears at `path` only when it is complete.
        """
        chosen = self.wanted(wanted)[: wanted.limit]
        temporary = path.with_name(f"{path.name}.{os.getpid()}{NEW}")
        try:
            with open(temporary, "wb") as file, open(self.folder / TEXTS, "rb") as texts:
                for entry in chosen:
                    texts.seek(entry.at)
                    file.write(texts.read(entry.size) + b"\n\n")
            replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        return len(chosen)


def _whole_number(value: object) -> int:
    return value if isinstance(value, int) else 0


@contextlib.contextmanager
def opened(account: Account) -> Iterator[CachedGames]:
    """A context manager that opens the saved games of an account. When the context ends, all data are written to the
    disk, even after an error or Ctrl-C.

    Raises KibitzError if another process is using these games, and OSError if the folder cannot be written.
    """
    folder = account.folder
    folder.mkdir(parents=True, exist_ok=True)
    for name in (TEXTS, INDEX):
        (folder / name).touch()
    with (
        exclusive_lock(folder / LOCK, folder, "download"),
        open(folder / TEXTS, "r+b") as texts,
        open(folder / INDEX, "r+b") as index,
    ):
        cache = CachedGames(folder, texts, index)
        try:
            yield cache
        finally:
            cache.save()
