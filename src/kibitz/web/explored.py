"""Temporary game stores, in which the opening explorer of `kibitz board` shows the games of a file, or the games of a
report in the tab My games.

A store is made when it is first needed, with the same code as `kibitz import`. Its folder is removed together with the
store.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import functools
import hashlib
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.errors import KibitzError, one_line
from kibitz.web.params import BadRequest, Fields, choice, text, whole
from kibitz.web.responses import error_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kibitz.explorer.answers import Explorer
    from kibitz.store.store import Store

LARGEST = 100 << 20
"""The largest number of bytes of a file."""
MOST_GAMES = 200_000
"""The largest number of games of a file. This limit is necessary because small compressed files can contain many games.
"""
UNPACKED = 1 << 30
"""The largest size of each file after decompression, in bytes."""
MAX_STORES = 4
"""The largest number of temporary stores. The store that was unused for the longest time is removed first."""
SENDING = 3
"""The largest number of files that the page may upload at the same time."""
OPENED = "@"
"""The beginning of the names of temporary stores whose games are not from the command line: uploaded files and My
games.
"""
MINE = f"{OPENED}my-games"
_IMPORT, _INDEX = 0.6, 0.4
"""The shares of the two steps, import and index, in the total work for a store."""
_SHOWN_REASONS = 3
_UPLOAD = re.compile(r"[0-9a-z]{8,40}")
_CHARSET = re.compile(rb"\bCA\s*\[[^\]]{0,40}\]")
_PART_MISSING = "part of the file is missing. Open the file again"


class _Ended(Exception):
    """Raised inside the work for a store that is not wanted any more."""


@dataclass(frozen=True)
class GameMaterial:
    """Games from which a temporary store is made.

    title: the name of the game collection, for messages.
    game: "chess" or "go".
    version: a value that changes when the games change.
    write: a function that takes a folder. It writes the games to files there, or finds existing files, and returns the
        paths of the files.
    own: whether these files are copies, which are removed after they were read.
    sides: the player's side in each game, int8 [games], 1 for White and -1 for Black; None if the games are not those
        of one player.
    text: a function that takes a file and the number of a game in it, from 1. It returns the game's original text. None
        to write games from the store.
    """

    title: str
    game: str
    version: object
    write: Callable[[Path], list[Path]]
    own: bool = True
    sides: NDArray[np.int8] | None = None
    text: Callable[[str, int], str] | None = None


@dataclass(frozen=True)
class PlayerGames:
    """The games of the player in the report of the tab My games.

    version: a value that changes when the games change.
    player: the name of the player.
    texts: a function that returns the PGN texts of all games.
    sides: the player's side in each game, int8 [games]: 1 for White, -1 for Black.
    text: a function that takes the number of a game, from 1, and returns its PGN text.
    """

    version: object
    player: str
    texts: Callable[[], Iterable[str]] = field(repr=False)
    sides: NDArray[np.int8] = field(repr=False)
    text: Callable[[int], str] = field(repr=False)


class BuiltStore:
    """A temporary store, which is made from a `GameMaterial`.

    share: how much of the work to make the store is done, 0 to 1.
    left_out: why games were skipped, as a dict. The keys are the reasons, and the values are the numbers of games.
    numbers: int64 [games], the number of each game of the store in its file, counted from 1. None if there are several
        files, because the number then doesn't identify a game.
    sides: the player's side in each game of the store, int8 [games], 1 for White and -1 for Black; None if the games
        are not those of one player.
    """

    def __init__(self, name: str, material: GameMaterial):
        self.name, self.material, self.game = name, material, material.game
        self.share = 0.0
        self.left_out: dict[str, int] = {}
        self.numbers: NDArray[np.int64] | None = None
        self._origins: list[tuple[str, int]] = []
        self.sides: NDArray[np.int8] | None = None
        self._problem = ""
        self._passes = False
        self.is_over = False
        """Whether the work failed for a cause that may be temporary, and the error was already reported."""
        self._explorer: Explorer | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._folder: Path | None = None
        self._ended = False

    def ready(self) -> Explorer | None:
        """Return the `Explorer` of the store, which finds its games by position. Return None while the store is being
        made. The first call starts this work.

        Raises BadRequest if the games cannot be used. If the cause may be temporary, such as a full disk, only one call
        raises the error. After this call, `BuiltStores` makes a new store.
        """
        with self._lock:
            if self._thread is None and not self._ended:
                self._thread = threading.Thread(target=self._work, name=f"kibitz explorer {self.name}", daemon=True)
                self._thread.start()
            if self._problem:
                self.is_over = self._passes
                raise BadRequest(self._problem)
            return self._explorer

    def text(self, game: int) -> str:
        """Return a game of the store as PGN or SGF: its original text if possible, or else a text made from the store.
        game: its index in the store.
        """
        from kibitz.explorer.records import record

        if self.material.text is not None:
            with contextlib.suppress(KibitzError, OSError, IndexError, StopIteration):
                return self.material.text(*self._origins[game])
        explorer = self.ready()
        assert explorer is not None
        return record(explorer.store, game)

    def end(self) -> None:
        """Remove the store. If it is being made, this work is stopped."""
        self._ended = True
        self._remove()

    def _remove(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _work(self) -> None:
        from kibitz.explorer.answers import Explorer
        from kibitz.explorer.search import Wanted

        explorer, problem, passes = None, "", False
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="kibitz-explorer-"))
            self._report(0.0)
            store = self._import(self._folder)
            explorer = Explorer(store, lambda share: self._report(_IMPORT + _INDEX * share))
            explorer.search.find(Wanted(("a",)))  # the first search reads the columns into memory
        except _Ended:
            pass
        except Exception as error:
            problem = why(self.material.title, error)
            passes = not isinstance(error, BadRequest)
            if self._folder is not None:
                problem = problem.replace(str(self._folder), "")
        with self._lock:
            self._explorer, self._problem, self._passes = explorer, problem, passes
        if self._ended or explorer is None:
            self._remove()

    def _report(self, share: float) -> None:
        self.share = share
        if self._ended:
            raise _Ended

    def _import(self, folder: Path) -> Store:
        """Make the store. Raises KibitzError if no game can be used."""
        from kibitz import records
        from kibitz.games import game_of
        from kibitz.store.writer import StoreWriter

        material, title = self.material, self.material.title
        files = [str(file) for file in material.write(folder)]
        size = records.size(files) or 1
        if size > LARGEST:
            raise BadRequest(_too_large(title, material.game))
        rules = game_of(material.game)
        reader = rules.Reader(files, _keep(material.game))
        reader.most = UNPACKED
        path = folder / "games.store"
        with StoreWriter(
            path, material.game, rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE, per_game=rules.PER_GAME
        ) as writer:
            with contextlib.closing(iter(reader)) as batches:
                for batch in batches:
                    writer.add(batch)
                    self._report(_IMPORT * min(1.0, reader.consumed / size))
                    if writer.read > MOST_GAMES:
                        raise BadRequest(_too_large(title, material.game))
            if too_large := next((line for line in reader.broken if "unpacks to more than" in line), None):
                raise BadRequest(too_large.replace(str(folder / "games"), title))
            self.left_out = dict(writer.rejections.counts.most_common())
            if not writer.games:
                raise BadRequest(_why_nothing(title, writer.read, self.left_out))
            store = writer.commit({})
        for file in files if material.own else ():
            Path(file).unlink(missing_ok=True)
        numbers = store.column("number").astype(np.int64)
        self._origins = list(zip(store.column("source").tolist(), numbers.tolist(), strict=True))
        self.numbers = numbers if len(files) == 1 else None
        if material.sides is not None:
            if writer.read != len(material.sides):
                raise BadRequest(
                    f"{title}: kibitz cannot match these games to your report. Open the original file in the explorer"
                    " instead"
                )
            self.sides = material.sides[numbers - 1]
        return store


def _keep(game: str) -> Any:
    """Return the filter that accepts every game."""
    if game == "chess":
        from kibitz.games.chess.filters import Filter

        return Filter()
    from kibitz.games.go.filters import Filter as GoFilter

    return GoFilter()


def _too_large(title: str, game: str) -> str:
    ending = "pgn" if game == "chess" else "sgf"
    return (
        f"{title} is too large for the explorer: the limits are {LARGEST >> 20} MB and {MOST_GAMES:,} games. Make a"
        f" store of it with: kibitz import games.{ending} --into my.store"
    )


def why(title: str, error: Exception) -> str:
    """Return one line that explains why making a store failed. title: the name of the game collection. error: the
    exception that was raised.
    """
    if isinstance(error, OSError):
        return f"{title}: {one_line(error)}. Try again"
    return str(error) if isinstance(error, KibitzError) else error_line(error)


def _why_nothing(title: str, read: int, left_out: dict[str, int]) -> str:
    """Return one line that explains why a file has no game that can be used."""
    if not read:
        return f"{title} contains no games"
    reasons = ", ".join(f"{reason} ({count:,})" for reason, count in list(left_out.items())[:_SHOWN_REASONS])
    return f"{title}: no game counts. Skipped: {reasons}. The explorer needs complete games with a result"


class BuiltStores:
    """All temporary stores of the server, and the files that the browser page of `kibitz board` is uploading.

    records: the paths on the command line, which are files, or folders of SGF files.
    """

    def __init__(self, records: Iterable[str] = ()):
        from kibitz.web.given import game_of

        self._records = {name: game_of(name) for name in records}
        self._built: dict[str, BuiltStore] = {}  # in the order of their last use
        self._sent: dict[str, Path] = {}
        self._room: Path | None = None
        self._lock = threading.Lock()
        self._ended = False

    def given(self, game: str) -> list[str]:
        """Return the paths on the command line that have games of this kind. game: "chess" or "go"."""
        return [name for name, kind in self._records.items() if kind == game]

    def find(self, name: str, mine: PlayerGames | None = None) -> BuiltStore | None:
        """Return the temporary store with this name; None if there is no such store, or if it was removed.

        mine: the player's games in the report of the tab My games, from which the store MINE is made; None if there is
            no report. Then no store has the name MINE.
        """
        if name in self._records:
            return self._store_of(name, _of_record(name, self._records[name]))
        if name == MINE:
            return self._store_of(name, _of_player(mine)) if mine is not None else None
        with self._lock:
            found = self._built.pop(name, None)
            if found is not None and found.is_over:  # the page sends the file again
                return None
            if found is not None:
                self._built[name] = found
            return found

    def _store_of(self, name: str, material: GameMaterial) -> BuiltStore:
        """Return the store of these games; a store of an earlier version is removed."""
        with self._lock:
            if self._ended:
                raise BadRequest("kibitz board is shutting down")
            found, old = self._built.pop(name, None), []
            if found is not None and (found.material.version != material.version or found.is_over):
                old.append(found)
                found = None
            self._built[name] = found = found or BuiltStore(name, material)
            while len(self._built) > MAX_STORES:
                old.append(self._built.pop(next(iter(self._built))))
        for each in old:
            each.end()
        return found

    def upload(self, fields: Fields) -> dict[str, Any]:
        """Append a part of a file, which the browser page of `kibitz board` uploads, to the previous parts. Return the
        response of /api/explore/upload. The request `fields` has the part as UTF-8 in base64.

        After the last part, the response has the name of the temporary store. Raises BadRequest for invalid data, a
        missing part or a file that is too large.
        """
        upload, game = text(fields, "upload"), choice(fields, "game", ("chess", "go"), "chess")
        at = whole(fields, "at", 0, 0, LARGEST)
        if not _UPLOAD.fullmatch(upload):
            raise BadRequest("upload must be 8 to 40 letters and digits")
        try:
            data = base64.b64decode(text(fields, "data"), validate=True)
        except (binascii.Error, ValueError):
            raise BadRequest("data must be base64") from None
        if at + len(data) > LARGEST:
            raise BadRequest(_too_large("the opened file", game), 413)
        path = self._append(upload, at, data)
        if fields.get("last") is not True:
            return {"at": at + len(data)}
        with self._lock:
            self._sent.pop(upload, None)
        content = path.read_bytes()
        if game == "go":  # the browser has converted the text
            content = _CHARSET.sub(b"CA[UTF-8]", content)
            path.write_bytes(content)
        name = f"{OPENED}{game}-{hashlib.sha256(content).hexdigest()[:32]}"
        if self.find(name) is not None:
            path.unlink()
            return {"store": name}
        ending = "pgn" if game == "chess" else "sgf"

        def moved(folder: Path) -> list[Path]:
            return [Path(shutil.move(path, folder / f"games.{ending}"))]

        self._store_of(name, GameMaterial("the opened file", game, name, moved)).ready()
        return {"store": name}

    def _append(self, upload: str, at: int, data: bytes) -> Path:
        """Append a part to an upload. Returns the path of its file."""
        with self._lock:
            if self._ended:
                raise BadRequest("kibitz board is shutting down")
            if self._room is None:
                self._room = Path(tempfile.mkdtemp(prefix="kibitz-explorer-"))
            if not at:
                self._sent[upload] = self._room / upload
                self._sent[upload].write_bytes(b"")
                while len(self._sent) > SENDING:
                    self._sent.pop(next(iter(self._sent))).unlink(missing_ok=True)
            path = self._sent.get(upload)
            if path is None or not path.is_file() or path.stat().st_size != at:
                raise BadRequest(_PART_MISSING, 409)
            with path.open("ab") as file:
                file.write(data)
            return path

    def end(self) -> None:
        """Remove all temporary stores and uploaded files."""
        with self._lock:
            self._ended = True
            built, room = list(self._built.values()), self._room
            self._built.clear()
        for each in built:
            each.end()
        if room is not None:
            shutil.rmtree(room, ignore_errors=True)


def _of_record(name: str, game: str) -> GameMaterial:
    """Return the games of a file or folder on the command line. Raises BadRequest if it is missing."""
    from kibitz.web.given import files_of, game_text

    try:
        files = files_of(name)
        version = [(file, (status := os.stat(file)).st_mtime_ns, status.st_size) for file in files]
    except OSError:
        raise BadRequest(f"{name}: the file was deleted or moved") from None
    paths = [Path(file) for file in files]
    return GameMaterial(name, game, version, lambda folder: paths, own=False, text=functools.partial(game_text, game))


def _of_player(mine: PlayerGames) -> GameMaterial:
    def write(folder: Path) -> list[Path]:
        path = folder / "mine.pgn"
        with path.open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(f"{_ended(each.strip())}\n\n" for each in mine.texts())
        return [path]

    return GameMaterial(
        "My games", "chess", mine.version, write, sides=mine.sides, text=lambda file, number: mine.text(number)
    )


def _ended(text: str) -> str:
    """Return the text of a PGN game. If the game has no moves, the result `*` is added. Without a result, the headers
    of the next game would be read as further headers of this game.
    """
    return f"{text}\n\n*" if text.endswith("]") else text
