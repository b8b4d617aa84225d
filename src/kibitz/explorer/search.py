"""Find games of a store by players, place, date, result and strength."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kibitz.explorer.index import UNRATED
from kibitz.store.store import Store

if TYPE_CHECKING:
    import pyarrow as pa

_TEXTS = ("white", "black", "event", "site", "place", "eco")
"""Columns in which words are searched, if the store has them. The date as YYYY-MM-DD is searched too."""
_NO_DAY = np.iinfo(np.int32).min


@dataclass(frozen=True)
class Wanted:
    """Conditions that a game must meet. None means that there is no such condition.

    words: texts. Each text must be a part of a player's name, the event, the place, the opening's code or the date.
        Upper and lower case are equal.
    result: 1 if the first player won, 0 for a draw, -1 if the second player won. The first player is White in chess and
        Black in Go.
    rating: the smallest and the largest mean rating of the two players; in Go, the mean rank as a number (see
        `kibitz.games.go.ranks.rank_value`). If only one player's rating is known, it counts as the mean. Games without
        any rating do not meet this condition.
    first_year, last_year: the first and the last year of the game. Games without a date do not meet this condition.
    """

    words: tuple[str, ...] = ()
    result: int | None = None
    rating: tuple[int, int] | None = None
    first_year: int | None = None
    last_year: int | None = None


class GameSearch:
    """Finds the games of a store that meet conditions.

    ratings: int16 [games, 2], the ratings of White and Black; in Go, their ranks as numbers. The value -32768 means
    unknown.
    """

    def __init__(self, store: Store, ratings: NDArray[np.int16]):
        self._store, self._ratings = store, ratings

    def find(self, wanted: Wanted, among: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return the numbers of the games that meet all conditions, int64 [k]. The newest game is first, and games
        without a date are last.

        wanted: the conditions. among: bool [games], whether to search each game; None for all games.
        """
        fits = self.fits(wanted)
        if among is not None:
            fits &= among
        return self._newest_first[fits[self._newest_first]]

    def fits(self, wanted: Wanted) -> NDArray[np.bool_]:
        """Return, for each game of the store, whether it meets all conditions, bool [games]. wanted: the conditions."""
        import pyarrow.compute as pc

        fits = np.ones(len(self._store), np.bool_)
        if wanted.result is not None:
            fits &= self._results == wanted.result
        if wanted.rating is not None:
            low, high = wanted.rating
            fits &= (self._means != UNRATED) & (self._means >= low) & (self._means <= high)
        if wanted.first_year is not None:
            fits &= self._years >= wanted.first_year
        if wanted.last_year is not None:
            fits &= (self._years <= wanted.last_year) & (self._years > 0)
        if wanted.words:
            rows = np.flatnonzero(fits)
            for word in wanted.words:  # each word leaves fewer texts to search
                texts = self._text if len(rows) == len(fits) else self._text.take(rows)
                # pyarrow also converted the texts to lower case. Python converts İ and Σ differently.
                small = pc.utf8_lower(word).as_py()
                rows = rows[pc.match_substring(texts, small).to_numpy(zero_copy_only=False)]
            fits[:] = False
            fits[rows] = True
        return fits

    @cached_property
    def has_ratings(self) -> bool:
        """Whether a rating (in Go, a rank) is known in at least one game."""
        return bool((self._ratings != UNRATED).any())

    @cached_property
    def has_dates(self) -> bool:
        """Whether the date of at least one game is known."""
        return bool((self._years > 0).any())

    @cached_property
    def _results(self) -> NDArray[np.int8]:
        return self._store.column("result")

    @cached_property
    def _means(self) -> NDArray[np.int64]:
        """The mean of both ratings, int64 [games]. If only one rating is known, the value is this rating; if none is
        known, UNRATED.
        """
        white, black = self._ratings.astype(np.int64).T
        means = np.where(white == UNRATED, black, np.where(black == UNRATED, white, (white + black) // 2))
        return np.asarray(means)

    @cached_property
    def _days(self) -> NDArray[np.int64]:
        """The date as days since 1970, int64 [games]; _NO_DAY without a date."""
        import pyarrow as pa
        import pyarrow.compute as pc

        days = self._store.table(["date"])["date"].cast(pa.int32())
        return np.asarray(pc.fill_null(days, _NO_DAY).to_numpy(), np.int64)

    @cached_property
    def _years(self) -> NDArray[np.int64]:
        """The year, int64 [games]; 0 without a date."""
        years = self._days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970
        return np.where(self._days == _NO_DAY, 0, years)

    @cached_property
    def _newest_first(self) -> NDArray[np.int64]:
        return np.argsort(-self._days, kind="stable")

    @cached_property
    def _text(self) -> pa.Array:
        """The text of each game in which words are searched, in lower case."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = [name for name in _TEXTS if name in self._store.schema.names]
        table = self._store.table([*names, "date"]).combine_chunks()
        columns = [table[name].cast(pa.string()) for name in table.column_names]
        joined = pc.binary_join_element_wise(*columns, "\n", null_handling="replace", null_replacement="")
        return pc.utf8_lower(joined).combine_chunks()
