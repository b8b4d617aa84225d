"""Select the Go games to import: first by their headers, and later by their moves."""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass
from typing import Any

from kibitz.dates import check_period, outside
from kibitz.errors import UsageError
from kibitz.games.go.io.headers import RULES, HeaderInfo
from kibitz.games.go.points import SIZES
from kibitz.games.go.ranks import rank_value, read_rank
from kibitz.messages import not_one_of

ENDINGS = ("counted", "resignation", "time", "any")
RESULTS = {"black": 1, "white": -1, "draw": 0}


@dataclass(frozen=True)
class Filter:
    """The conditions that a Go game must meet to be imported. The defaults accept every game.

    min_moves: the smallest number of moves, passes included.
    rank: the lowest accepted rank of a player, for example "6d". Both players must have this rank or a higher one. None
        for no limit.
    unranked: whether to accept players without a rank although `rank` is set.
    ending: how the game must have ended, such as "resignation"; "any" for all endings.
    result: the results to accept: "black", "white" (the winner) or "draw"; () for all.
    rules: the names of the rules to accept; () for all.
    handicap: the largest number of handicap stones; 0 for even games, None for all games.
    size: the board sizes to accept, for example (19,); () for all.
    since, until: the first and the last day on which the game was played; None for no limit.
    player: texts of which at least one must be part of a player's name, ignoring case; () for all games.
    limit: the largest number of games to import; None for no limit.
    """

    min_moves: int = 1
    rank: str | None = None
    unranked: bool = False
    ending: str = "any"
    result: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    handicap: int | None = None
    size: tuple[int, ...] = ()
    since: datetime.date | None = None
    until: datetime.date | None = None
    player: tuple[str, ...] = ()
    limit: int | None = None

    def check(self) -> None:
        """Raise UsageError if the filter can't accept any game or has an unknown value."""
        check_period(self.since, self.until)
        if self.rank is not None and read_rank(self.rank) is None:
            raise UsageError(f"--rank must be a rank, for example 5k, 6d or 1p (got {self.rank})")
        if self.ending not in ENDINGS:
            raise UsageError(not_one_of("--ending", self.ending, ENDINGS))
        for name in self.result:
            if name not in RESULTS:
                raise UsageError(not_one_of("--result", name, RESULTS))
        for name in self.rules:
            if name not in RULES:
                raise UsageError(not_one_of("--rules", name, RULES))
        for size in self.size:
            if size not in SIZES:
                raise UsageError(not_one_of("--size", size, SIZES))
        if self.handicap is not None and self.handicap < 0:
            raise UsageError(f"--handicap must be at least 0 (got {self.handicap}). 0 keeps only even games.")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"--limit must be at least 1 (got {self.limit})")

    def refuses_headers(self, game: HeaderInfo) -> str | None:
        """Return why the filter excludes a game because of its headers or setup stones, as a phrase such as "no rank";
        None if it accepts the game.
        """
        return self._refuses_players(game) or self._refuses_kind(game) or self._refuses_result(game)

    def _refuses_players(self, game: HeaderInfo) -> str | None:
        if self.rank is not None:
            ranks = [rank for rank in (game.black_rank, game.white_rank) if rank is not None]
            if len(ranks) < 2 and not self.unranked:
                return "no rank"
            if ranks and min(map(rank_value, ranks)) < rank_value(self.rank):
                return f"rank under {self.rank}"
        if self.player:
            names = (game.headers.get("PB", "") + "\n" + game.headers.get("PW", "")).lower()
            if not any(name.lower() in names for name in self.player):
                return "other players"
        return None

    def _refuses_kind(self, game: HeaderInfo) -> str | None:
        if self.size and game.size not in self.size:
            return f"board of {game.size}×{game.size}"
        if self.handicap is not None and game.handicap > self.handicap:
            return f"handicap over {self.handicap}" if self.handicap else "handicap"
        if self.rules and game.rules not in self.rules:
            return f"rules {game.rules}" if game.rules else "no rules named"
        return outside(game.date, self.since, self.until)

    def _refuses_result(self, game: HeaderInfo) -> str | None:
        if self.ending != "any" and game.ending != self.ending:
            return f"not {self.ending}" if self.ending == "counted" else f"not by {self.ending}"
        if self.result and game.result not in {RESULTS[name] for name in self.result}:
            return "other result"
        return None

    def refuses_moves(self, moves: int) -> str | None:
        """Return why the filter excludes a game because of its number of moves, as a phrase; None if it accepts the
        game.
        """
        return f"under {self.min_moves} moves" if moves < self.min_moves else None

    def as_json(self) -> dict[str, Any]:
        """Return the conditions of the filter that differ from their defaults, as a dict from their names to values for
        JSON.
        """
        default = asdict(Filter())
        return {
            key: str(value) if isinstance(value, datetime.date) else value
            for key, value in asdict(self).items()
            if value != default[key]
        }
