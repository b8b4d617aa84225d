"""The sources of the opening explorer: game stores, game files, and the games in the tab My games. Their indexes are
made in the background.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz.web.explored import MINE, OPENED, BuiltStore, BuiltStores, PlayerGames, why
from kibitz.web.params import BadRequest, Fields, choice, text, whole
from kibitz.web.positions import Line, read_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kibitz.explorer.answers import Explorer
    from kibitz.explorer.search import Wanted

LISTED = 200
"""The largest number of games that a response lists."""
_MOST_WORDS = 20
_LAST_YEAR = 9999
_RESULTS = {"": None, "1": 1, "0": 0, "-1": -1}
_SIDES = {"white": 1, "black": -1}
_NEWEST = 8
"""Number of a player's own games that are listed for a position."""


class OpenStore:
    """A game store that the opening explorer shows.

    path: the path of the store. share: how much of the store's index is made, 0 to 1. problem: why the store can't be
    used; None if it can be used.
    """

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
        """Return an object that finds the games of the store by position. Return None while the index of the store is
        being made. The index is made in the background if the store has none, or if games were added. Raises BadRequest
        if the store can't be used.
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
            problem = self.problem
            if problem:  # a file may have been locked, or a disk full: the next request tries again
                self._of = self.problem = None
        if problem:
            raise BadRequest(problem)
        return self.explorer

    def _open(self, of: int) -> None:
        """Make the index of the store. of: the modification time of the store's file, which identifies the version. If
        the store has changed since then, the result is dropped.
        """
        from kibitz.explorer.answers import Explorer
        from kibitz.explorer.search import Wanted
        from kibitz.store.store import Store

        try:
            explorer = Explorer(Store(self.path), functools.partial(self._report, of))
            explorer.search.find(Wanted(("a",)))  # the first search reads the columns into memory
            problem = None
        except Exception as error:
            explorer, problem = None, why(self.name, error)
        with self._lock:
            if of == self._of:
                self.explorer, self.problem = explorer, problem

    def _report(self, of: int, share: float) -> None:
        if of == self._of:
            self.share = share


class Stores:
    """All sources of the games in the opening explorer. Requests find them by their names.

    given: the paths of stores on the command line. records: the paths of game files. mine: a function that returns the
    games on which the report in the tab My games is based; None if there is no report.
    """

    def __init__(
        self, given: list[str], records: Sequence[str] = (), mine: Callable[[], PlayerGames | None] = lambda: None
    ):
        self._stores = {name: OpenStore(name) for name in given}
        self.built, self._mine = BuiltStores(records), mine

    def of_game(self, game: str) -> list[OpenStore]:
        """Return the stores with games of this kind. game: "chess" or "go"."""
        return [store for store in self._stores.values() if store.game == game]

    def explore(self, fields: Fields) -> dict[str, Any]:
        """Return the response of /api/explore for the last position of a line (a start position and moves). The
        response has the name of the opening, and the names of all sources with games of the line's kind (chess or Go).
        For one source, the response also has the games and the moves in the position.

        fields: the JSON of the request. The field "store" is the name of the source; the default is the first source.
        The response may also have these keys:

        mine: a description of the games in the report of the tab My games, if there is a report on chess games.
        missing: true if the source is a file that the server does not have. The browser must upload the file.
        building: how much of the source's index is made, 0 to 1, until the index is complete.
        problem: why the source can't be used.

        Raises BadRequest for an invalid request.
        """
        line = read_line(fields)
        named = [*(store.name for store in self.of_game(line.game)), *self.built.given(line.game)]
        answer: dict[str, Any] = {"stores": named, "opening": _opening(line)}
        mine = self._mine() if line.game == "chess" else None
        if mine is not None:
            answer["mine"] = {"store": MINE, "player": mine.player, "games": len(mine.sides)}
        wanted = text(fields, "store", "")
        if wanted.startswith(OPENED) and wanted not in named:
            if wanted == MINE and mine is None:
                return answer
        elif not named:
            return answer
        else:
            wanted = wanted if wanted in named else named[0]
        answer["store"] = wanted
        try:
            store = self._find(wanted)
            if store is None:
                return answer | {"missing": True}
            if store.game != line.game:
                return answer
            explorer = store.ready()
        except BadRequest as error:  # the other stores can still be chosen
            return answer | {"problem": str(error)}
        if explorer is None:
            return answer | {"building": round(store.share, 3)}
        from kibitz.explorer.report import answer as known

        search = _wanted(fields, line.game)
        among = _among(fields, store, explorer, replace(search, rating=None))
        answer = answer | known(explorer, line.board(), None, search.rating, among) | answer
        answer["has"] = {"ratings": explorer.search.has_ratings, "dates": explorer.search.has_dates}
        if isinstance(store, BuiltStore):
            answer["left_out"] = store.left_out
            if store.sides is not None:
                here = explorer.games_with(line.board())
                newest = explorer.search.find(search, here if among is None else here & among)
                answer["examples"] = explorer.rows(newest[:_NEWEST].tolist())
            _number(answer["examples"], store)
        return answer

    def _find(self, name: str) -> OpenStore | BuiltStore | None:
        return self._stores.get(name) or self.built.find(name, self._mine() if name == MINE else None)

    def record(self, fields: Fields) -> dict[str, str]:
        """Return the response of /api/stored: a game of a store as PGN or SGF. fields: the JSON of the request. Raises
        BadRequest if there is no such store or game.
        """
        from kibitz.explorer.records import record

        store, explorer = self._ready(fields)
        game = whole(fields, "game", -1, 0, max(0, len(explorer.store) - 1))
        if game < 0:
            raise BadRequest("game must be the number of a game")
        return {"text": store.text(game) if isinstance(store, BuiltStore) else record(explorer.store, game)}

    def games(self, fields: Fields) -> dict[str, Any]:
        """Return the response of /api/stored-games: the number of games of a store that meet the conditions of the
        request, and at most LISTED (200) of these games, the newest first.

        fields: the JSON of the request. Its field "first" is the number of games that are skipped at the beginning of
        the list. If the request has "line", only games with the last position of the line (a start position and moves)
        are listed. If the request also has "move", the game must continue with this move. Raises BadRequest for an
        invalid request.
        """
        store, explorer = self._ready(fields)
        first = whole(fields, "first", 0, 0, 2**31)
        among = _among(fields, store, explorer, None)
        if fields.get("line") is not None:
            line = read_line(fields)
            if line.game != store.game:
                raise BadRequest("the line and the game store must be of the same game")
            here = explorer.games_with(line.board(), text(fields, "move", "") or None)
            among = here if among is None else here & among
        found = explorer.search.find(_wanted(fields, store.game), among)
        rows = explorer.rows(found[first : first + LISTED].tolist())
        if isinstance(store, BuiltStore):
            _number(rows, store)
        return {"store": store.name, "of": len(explorer.store), "count": len(found), "games": rows}

    def _ready(self, fields: Fields) -> tuple[OpenStore | BuiltStore, Explorer]:
        """Return the store that a request selects, and its explorer. Raises BadRequest."""
        store = self._find(text(fields, "store"))
        if store is None:
            raise BadRequest("unknown game store. Load the page again")
        if (explorer := store.ready()) is None:
            raise BadRequest(f"{store.name}: indexing the games, {store.share:.0%} done. Try again in a moment", 503)
        return store, explorer

    def end(self) -> None:
        """Remove the temporary stores."""
        self.built.end()


def _number(rows: list[dict[str, Any]], store: BuiltStore) -> None:
    """Add to each game the game's number in its file, from 1. Do nothing if the store is made from several files."""
    if store.numbers is None:
        return
    for row in rows:
        row["number"] = int(store.numbers[row["game"]])


def _among(
    fields: Fields, store: OpenStore | BuiltStore, explorer: Explorer, wanted: Wanted | None
) -> NDArray[np.bool_] | None:
    """Return which games meet the conditions of a request, bool [games]; None if the request has no conditions.

    `side` selects the games in which the player of My games had this side. wanted: further conditions.
    """
    from kibitz.explorer.search import Wanted

    side = choice(fields, "side", ("", *_SIDES), "")
    sides = store.sides if isinstance(store, BuiltStore) else None
    if side and sides is None:
        raise BadRequest("side must be empty, except for the games of My games")
    found = explorer.search.fits(wanted) if wanted is not None and wanted != Wanted() else None
    if side and sides is not None:
        mine: NDArray[np.bool_] = sides == _SIDES[side]
        found = mine if found is None else found & mine
    return found


def _wanted(fields: Fields, game: str) -> Wanted:
    from kibitz.explorer.answers import read_band
    from kibitz.explorer.search import Wanted

    words = text(fields, "search", "").split()
    if len(words) > _MOST_WORDS:
        raise BadRequest(f"a search can have at most {_MOST_WORDS} words")
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
