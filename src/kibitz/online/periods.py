"""The periods of an account whose games are all saved, and the gaps between these periods.

Downloads go from new games to old games. If a download ends early, the oldest games are missing, and the saved period
begins later than requested. The next call downloads the missing games.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kibitz.online.accounts import DAY, GameChoice
from kibitz.online.cache import PERIODS, CachedGames

MARGIN = DAY
"""The milliseconds at the end of a saved period that are requested again. Games may still have been running then, and
clocks may be wrong.
"""
ALL = "all"
"""The key of the periods in which all games were downloaded, without a filter."""


@dataclass
class Result:
    """The result of a download.

    new: the number of new games.
    damaged: the number of damaged games.
    hidden: the number of games that the site does not make public.
    """

    new: int = 0
    damaged: int = 0
    hidden: int = 0


@dataclass
class Gap:
    """A period of an account whose games are not all saved yet. The class that downloads from a site calls `put` for
    each game of the period, from new to old, and `reached` from time to time.

    cache: the saved games of the account.
    wanted: the filter for the games.
    since, until: the beginning and the end of the period, in milliseconds since 1970.
    need: a limit on the number of games that the filter accepts. When `matched` reaches this number, the download can
        stop. None for no limit.
    reached: a function that takes a time, in milliseconds since 1970. A call means that all games of the period since
        this time are saved.
    on_game: a function that is called after each new game.
    result: the numbers of games, which `put` updates.
    matched: the number of games so far that the filter accepts.
    """

    cache: CachedGames
    wanted: GameChoice
    since: int
    until: int
    need: int | None
    reached: Callable[[int], None]
    on_game: Callable[[], None]
    result: Result
    matched: int = 0

    def put(self, id: str, moment: int, speed: str, rated: bool, text: bytes) -> bool:
        """Save a game. Return False if the game was already saved, otherwise True.

        id: the game's identifier on the server. moment: the time of the game, in milliseconds since 1970. speed: the
        speed, such as "blitz". rated: whether the game was rated. text: the PGN or SGF.
        """
        self.seen(moment, speed, rated)
        if not self.cache.add(id, moment, speed, rated, text):
            return False
        self.result.new += 1
        self.on_game()
        return True

    def seen(self, moment: int, speed: str, rated: bool) -> None:
        """Count a game towards the limit `need` if the filter accepts the game. `put` calls this method for its game.
        Call it also for games that are not passed to `put`, such as games that were already saved.

        moment: the time of the game, in milliseconds since 1970. speed: the speed, such as "blitz". rated: whether the
        game was rated.
        """
        self.matched += moment < self.until and self.wanted.takes(moment, speed, rated)

    @property
    def has_enough(self) -> bool:
        """Whether the limit `need` is reached, so that the download can stop."""
        return self.need is not None and self.matched >= self.need


class Downloads(Protocol):
    """The interface of a class that downloads games from one site."""

    def key(self, wanted: GameChoice) -> str:
        """Return the key of a filter in the list of complete periods. In a complete period, all games that the filter
        accepts are saved. The key is "all" if `fill` downloads every game of a period, not only the accepted games.
        """

    def begin(self, cache: CachedGames, wanted: GameChoice, newest: int, expect: Callable[[int], None]) -> Result:
        """Prepare a download. Some sites send games already in this step; the result counts these games.

        cache: the account's saved games.
        wanted: the filter for the games.
        newest: the end of the latest period of which all games are saved, in milliseconds since 1970; 0 if there is no
            such period.
        expect: a function that is called with the number of the account's games, if the site sends this number.
        """

    def fill(self, gap: Gap) -> None:
        """Download the games of a period, from new to old, and save them with `gap.put`. gap: the period."""


def now() -> int:
    """Return the current time in milliseconds since 1970. Tests replace this function to set the time."""
    return int(time.time() * 1000)


def download(
    source: Downloads,
    cache: CachedGames,
    wanted: GameChoice,
    expect: Callable[[int], None],
    on_game: Callable[[], None],
) -> Result:
    """Download an account's games, if the filter accepts them and they are not saved yet. Return how many games were
    new, damaged or hidden. Every downloaded game is saved, even if an error or Ctrl-C follows.

    source: downloads from the account's site.
    cache: the account's saved games.
    wanted: the filter.
    expect: a function that is called with the number of the account's games, if the site sends this number.
    on_game: a function that is called after each new game.
    """
    periods = _periods(cache, source.key(wanted))
    result = source.begin(cache, wanted, periods[0][1] if periods else 0, expect)
    at = _start(periods, min(now(), wanted.end or now()))
    top = periods[at]

    def reached(moment: int) -> None:
        top[0] = min(top[0], moment)

    while True:
        older = periods[at + 1] if at + 1 < len(periods) else None
        if older is not None and top[0] <= older[1]:
            reached(older[0])
            del periods[at + 1]
            continue
        need = None if wanted.limit is None else wanted.limit - len(cache.wanted(wanted, top[0]))
        if top[0] <= wanted.begin or (need is not None and need <= 0):
            break
        before = top[0]
        since = max(wanted.begin, older[1] - MARGIN if older else 0)
        source.fill(Gap(cache, wanted, since, before, need, reached, on_game, result))
        if top[0] == before:  # the reply had no older game, so the account has no older game
            reached(max(wanted.begin, older[1] if older else 0))
        cache.save()
    if not cache.entries:  # an empty reply may be a fault of the server, so the next call requests everything again
        cache.state[PERIODS] = {}
    return result


def _periods(cache: CachedGames, key: str) -> list[list[int]]:
    """Return the complete periods for a filter, the newest first: begin and end of each. The result is the list in the
    cache's state, so a change of the result changes the state.

    A period in which every game was downloaded is complete for each filter. A period that is complete for one filter is
    not complete for other filters.
    """
    known: dict[str, list[list[int]]] = cache.state.setdefault(PERIODS, {})
    found = known.setdefault(key, [])
    if key != ALL:
        found[:] = _joined([*found, *known.get(ALL, [])])
    return found


def _joined(periods: list[list[int]]) -> list[list[int]]:
    """Join overlapping periods. Returns the result, the newest first."""
    joined: list[list[int]] = []
    for begin, end in sorted(periods, key=lambda one: one[1], reverse=True):
        if joined and end >= joined[-1][0]:
            joined[-1][0] = min(joined[-1][0], begin)
        else:
            joined.append([begin, end])
    return joined


def _start(periods: list[list[int]], moment: int) -> int:
    """Return the index of the period that a download extends into the past: the one with this moment, or else a new
    period.
    """
    for i, (begin, end) in enumerate(periods):
        if begin <= moment:
            if end < moment:
                periods.insert(i, [moment, moment])
            return i
    periods.append([moment, moment])
    return len(periods) - 1
