"""The game stores of the board: their indexes, which are made in the background, and queries."""

from __future__ import annotations

import functools
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz.errors import KibitzError
from kibitz.web.params import BadRequest, Fields, choice, text, whole
from kibitz.web.positions import Line, read_line
from kibitz.web.responses import error_line

if TYPE_CHECKING:
    from kibitz.explorer.answers import Explorer
    from kibitz.explorer.search import Wanted

LISTED = 200
"""The largest number of games in a response."""
_MOST_WORDS = 20
_LAST_YEAR = 9999
_RESULTS = {"": None, "1": 1, "0": 0, "-1": -1}


class OpenStore:
    """One store. share: the completed share of its index, 0 to 1. problem: why the store can't be used, or None."""

    def __init__(self, path: str):
        from kibitz.store.store import Store

        self.path = Path(path)
        self.name = path
        self.game = Store(self.path).game
        self.share = 0.0
        self.problem: str | None = None
        self.explorer: Explorer | None = None
        self._of: int | None = None
        self._lock = threading.Lock()

    def ready(self) -> Explorer | None:
        """Return the explorer, or None while its index is made. The index is made if there is none, or if games were
        added.
        """
        try:
            now = (self.path / "store.json").stat().st_mtime_ns
        except OSError:
            raise BadRequest(f"{self.name}: the game store was deleted or moved") from None
        with self._lock:
            if now != self._of:
                self._of, self.share, self.problem, self.explorer = now, 0.0, None, None
                threading.Thread(
                    target=self._open, args=(now,), name=f"kibitz explorer {self.name}", daemon=True
                ).start()
        if self.problem:
            raise BadRequest(self.problem)
        return self.explorer

    def _open(self, of: int) -> None:
        """Make the index of the store for the version whose file was written at `of`. A later version replaces it."""
        from kibitz.explorer.answers import Explorer
        from kibitz.explorer.search import Wanted
        from kibitz.store.store import Store

        try:
            explorer = Explorer(Store(self.path), functools.partial(self._report, of))
            explorer.search.find(Wanted(("a",)))  # the first search reads the columns into memory
            problem = None
        except Exception as error:
            explorer, problem = None, str(error) if isinstance(error, KibitzError) else error_line(error)
        with self._lock:
            if of == self._of:
                self.explorer, self.problem = explorer, problem

    def _report(self, of: int, share: float) -> None:
        if of == self._of:
            self.share = share


class Stores:
    """All game stores of the board, by name."""

    def __init__(self, given: list[str]):
        self._stores = {name: OpenStore(name) for name in given}

    def of_game(self, game: str) -> list[OpenStore]:
        """Return the stores with games of chess, or of Go."""
        return [store for store in self._stores.values() if store.game == game]

    def explore(self, fields: Fields) -> dict[str, Any]:
        """Return the response of /api/explore: the opening, the stores of this game, and the data of one store about
        the position.

        Raises BadRequest.
        """
        line = read_line(fields)
        here = self.of_game(line.game)
        answer: dict[str, Any] = {"stores": [store.name for store in here], "opening": _opening(line)}
        if not here:
            return answer
        wanted = text(fields, "store", here[0].name)
        store = next((each for each in here if each.name == wanted), here[0])
        answer["store"] = store.name
        try:
            explorer = store.ready()
        except BadRequest as error:  # the other stores can still be chosen
            return answer | {"problem": str(error)}
        if explorer is None:
            return answer | {"building": round(store.share, 3)}
        from kibitz.explorer.answers import read_band
        from kibitz.explorer.report import answer as known

        band = text(fields, "rating", "")
        return answer | known(explorer, line.board(), None, read_band(band, line.game) if band else None) | answer

    def record(self, fields: Fields) -> dict[str, str]:
        """Return the response of /api/stored: a game of a store as PGN or SGF. Raises BadRequest."""
        from kibitz.explorer.records import record

        _, explorer = self._ready(fields)
        game = whole(fields, "game", -1, 0, max(0, len(explorer.store) - 1))
        if game < 0:
            raise BadRequest("game must be the number of a game")
        return {"text": record(explorer.store, game)}

    def games(self, fields: Fields) -> dict[str, Any]:
        """Return the response of /api/stored-games: the number of a store's games that meet all conditions, and LISTED
        of these games.

        The list begins with the index `first`; the newest game is first. Raises BadRequest.
        """
        store, explorer = self._ready(fields)
        first = whole(fields, "first", 0, 0, 2**31)
        found = explorer.search.find(_wanted(fields, store.game))
        rows = explorer.rows(found[first : first + LISTED].tolist())
        return {"store": store.name, "of": len(explorer.store), "count": len(found), "games": rows}

    def _ready(self, fields: Fields) -> tuple[OpenStore, Explorer]:
        """Return the store that a request selects, and its explorer. Raises BadRequest."""
        store = self._stores.get(text(fields, "store"))
        if store is None:
            raise BadRequest("unknown game store. Load the page again")
        if (explorer := store.ready()) is None:
            raise BadRequest(f"{store.name}: indexing the games, {store.share:.0%} done. Try again in a moment", 503)
        return store, explorer


def _wanted(fields: Fields, game: str) -> Wanted:
    from kibitz.explorer.answers import read_band
    from kibitz.explorer.search import Wanted

    words = text(fields, "search", "").split()
    if len(words) > _MOST_WORDS:
        raise BadRequest(f"the search takes at most {_MOST_WORDS} words")
    band = text(fields, "rating", "")
    return Wanted(
        tuple(words),
        _RESULTS[choice(fields, "result", tuple(_RESULTS), "")],
        read_band(band, game) if band else None,
        whole(fields, "first_year", 0, 0, _LAST_YEAR) or None,
        whole(fields, "last_year", 0, 0, _LAST_YEAR) or None,
    )


def _opening(line: Line) -> dict[str, str] | None:
    from kibitz.explorer.openings import opening_of
    from kibitz.web.chess.line import ChessLine

    if not isinstance(line, ChessLine):
        return None
    found = opening_of(line.boards())
    return {"eco": found.eco, "name": found.name} if found else None
