"""The options of `kibitz import`: the filter for games, the territory labels for Go, and the split into training,
validation and test.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.dates import parse_day
from kibitz.errors import UsageError
from kibitz.games import GAME_NAMES
from kibitz.games.chess import filters as chess
from kibitz.games.go import filters as go
from kibitz.games.go import points
from kibitz.games.go.endings.referees import REFEREES
from kibitz.games.go.io import headers
from kibitz.messages import not_one_of
from kibitz.store.split import Split, check_options
from kibitz.text import shown

if TYPE_CHECKING:
    from kibitz.online.accounts import GameChoice

GameFilter = chess.Filter | go.Filter
SPEEDS = chess.SPEEDS
RULES = headers.RULES
SIZES = tuple(map(str, points.SIZES))
ENDINGS = tuple(dict.fromkeys([*go.ENDINGS[:-1], *chess.ENDINGS]))
RESULTS = (*chess.RESULTS, *go.RESULTS)

_FILTERS: dict[str, type[chess.Filter] | type[go.Filter]] = {"chess": chess.Filter, "go": go.Filter}
_NAMES = {"go": {"min_plies": "min_moves", "unrated": "unranked"}}
"""By game, the names of options in the game's filter, if they differ from the names in FilterOptions."""


@dataclass(frozen=True)
class FilterOptions:
    """The command-line options that select games. The default of an option, such as None or "any", means that the
    option accepts all games.
    """

    min_rating: Annotated[int | None, typer.Option(min=0)] = None
    max_rating: Annotated[
        int | None,
        typer.Option(min=0),
    ] = None
    rank: Annotated[str | None, typer.Option()] = None
    unrated: Annotated[
        bool,
        typer.Option("--unrated"),
    ] = False
    ending: Annotated[
        str,
        typer.Option(
            metavar="|".join(ENDINGS),
        ),
    ] = "any"
    result: Annotated[
        list[str] | None,
        typer.Option(metavar="|".join(RESULTS)),
    ] = None
    rules: Annotated[
        list[str] | None,
        typer.Option(metavar="|".join(RULES)),
    ] = None
    handicap: Annotated[int | None, typer.Option(min=0)] = None
    size: Annotated[
        list[int] | None,
        typer.Option(
            metavar="|".join(SIZES),
        ),
    ] = None
    since: Annotated[
        str | None,
        typer.Option(metavar="DATE"),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(metavar="DATE"),
    ] = None
    speed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="|".join(SPEEDS),
        ),
    ] = None
    min_plies: Annotated[
        int,
        typer.Option("--min-plies", "--min-moves", min=1),
    ] = 1
    player: Annotated[
        list[str] | None,
        typer.Option(),
    ] = None
    no_bots: Annotated[
        bool,
        typer.Option(
            "--no-bots",
        ),
    ] = False
    rated: Annotated[bool, typer.Option("--rated")] = False
    limit: Annotated[int | None, typer.Option(metavar="GAMES")] = None

    def of_accounts(self, sources: Sequence[str], values: dict[str, Any]) -> GameChoice:
        """Return the filter for the games to download from the accounts in `sources`.

        sources: the command's arguments, each an account such as "lichess:NAME", or a file.
        values: the result of `values()`. The method changes this dict: it removes "rated", because this option is only
            for downloads. If all sources are Go accounts, it also makes "speed" empty, because Go records have no
            speed.

        Raises UsageError for --rated without an account.
        """
        from kibitz.commands.accounts import any_account
        from kibitz.online.accounts import GameChoice, account_in

        rated = values.pop("rated")
        if rated and not any_account(sources):
            raise UsageError(
                f"--rated works only with an account, such as lichess:NAME (got {shown(sources[0])}). Leave --rated"
                " out."
            )
        names = ("since", "until", "speed", "limit")
        since, until, speed, limit = (values[name] for name in names)
        found = [account_in(source) for source in sources if ":" in source]
        if len(found) == len(sources) and all(account and account.site.game == "go" for account in found):
            values["speed"] = ()  # records of Go have no speed
        return GameChoice(since, until, speed, rated, limit)

    def values(self) -> dict[str, Any]:
        """Return a dict from the names of the options to their values. Days are converted to dates, and lists to
        tuples. For `until`, the date is the last day of the given period. Raises UsageError for an invalid day.
        """
        return {
            **asdict(self),
            **{name: tuple(getattr(self, name) or ()) for name in ("result", "rules", "size", "speed", "player")},
            "since": _day("--since", self.since),
            "until": _day("--until", self.until, end=True),
        }


@dataclass(frozen=True)
class RefereeOptions:
    """The command-line options for territory labels: which program determines the owner of each point at the end of a
    Go game.
    """

    referee: Annotated[
        str,
        typer.Option(
            metavar="|".join(REFEREES),
        ),
    ] = "auto"
    gnugo: Annotated[str | None, typer.Option(metavar="PATH")] = None
    unconfirmed: Annotated[
        bool,
        typer.Option(
            "--unconfirmed",
        ),
    ] = False
    play_out: Annotated[
        bool,
        typer.Option(
            "--play-out",
        ),
    ] = False
    gnugo_limit: Annotated[
        float,
        typer.Option(min=0.1, max=3600),
    ] = 10.0

    @property
    def labels(self) -> bool:
        """Whether the import computes territory labels, the final owner of each point, for Go games."""
        return self.referee != "none" or self.play_out

    def check(self, game: str) -> None:
        """Raise UsageError for an unknown value of --referee, and for any option of this class if the games are chess.

        game: "chess" or "go".
        """
        if self.referee not in REFEREES:
            raise UsageError(not_one_of("--referee", self.referee, REFEREES))
        changed = [
            f"--{field.name.replace('_', '-')}" for field in fields(self) if getattr(self, field.name) != field.default
        ]
        if game != "go" and changed:
            raise UsageError(
                f"{changed[0]} works only with Go games (got chess games). Leave the option out, or add --game go."
            )


@dataclass(frozen=True)
class SplitOptions:
    """The command-line options that divide the games into training, validation and test."""

    validate_share: Annotated[
        float | None,
        typer.Option(metavar="PERCENT"),
    ] = None
    test_share: Annotated[
        float | None,
        typer.Option(metavar="PERCENT"),
    ] = None
    validate_from: Annotated[
        str | None,
        typer.Option(metavar="DATE"),
    ] = None
    test_from: Annotated[
        str | None,
        typer.Option(metavar="DATE"),
    ] = None

    def values(self) -> dict[str, Any]:
        """Return the options that the user gave, as a dict. Each key is the name of a field of `Split`, such as
        "test_share". Options that the user did not give are omitted. Days are converted to dates.

        Raises UsageError if a value is invalid, if two options exclude each other, or if no training games are left.
        """
        values: dict[str, Any] = {
            "validate_share": self.validate_share,
            "test_share": self.test_share,
            "validate_from": _day("--validate-from", self.validate_from),
            "test_from": _day("--test-from", self.test_from),
        }
        given = {name: value for name, value in values.items() if value is not None}
        check_options(given)
        replace(Split(), **given).check()
        return given


def _day(option: str, text: str | None, end: bool = False) -> datetime.date | None:
    return None if text is None else parse_day(text, option, end=end)


def filter_for(game: str, values: dict[str, Any]) -> GameFilter:
    """Return the filter for games of chess or Go.

    game: "chess" or "go". values: the result of `FilterOptions.values()`. Raises UsageError for an option of the other
    game, and for a filter that no game can pass.
    """
    kind = _FILTERS[game]
    known = {field.name for field in fields(kind)}
    own = {}
    for option, value in values.items():
        name = _NAMES.get(game, {}).get(option, option)
        if name in known:
            own[name] = value
        elif value is not None and value is not False and value != ():
            raise UsageError(
                f"--{option.replace('_', '-')} does not work with {GAME_NAMES[game]} games (got {GAME_NAMES[game]}"
                " games). Leave the option out."
            )
    keep = kind(**own)
    keep.check()
    return keep
