"""The options of kibitz import: which games are kept, who finds the owners in Go, and how games are divided."""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any

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

GameFilter = chess.Filter | go.Filter
SPEEDS = chess.SPEEDS
RULES = headers.RULES
SIZES = tuple(map(str, points.SIZES))
ENDINGS = tuple(dict.fromkeys([*go.ENDINGS[:-1], *chess.ENDINGS]))
RESULTS = (*chess.RESULTS, *go.RESULTS)

_FILTERS: dict[str, type[chess.Filter] | type[go.Filter]] = {"chess": chess.Filter, "go": go.Filter}
_NAMES = {"go": {"min_plies": "min_moves", "unrated": "unranked"}}
"""What the filter of a game calls an option, where the two differ."""


@dataclass(frozen=True)
class FilterOptions:
    """Which games are kept. None, (), False and 1 stand for options that were not given."""

    min_rating: Annotated[
        int | None, typer.Option(help="Chess: lowest rating of either player, in Elo points. Default: no bound.", min=0)
    ] = None
    max_rating: Annotated[
        int | None,
        typer.Option(help="Chess: highest rating of either player, in Elo points. Default: no bound.", min=0),
    ] = None
    rank: Annotated[
        str | None, typer.Option(help="Go: lowest rank of either player: 5k, 6d, 1p. Default: no bound.")
    ] = None
    unrated: Annotated[
        bool,
        typer.Option("--unrated", help="With a bound on rating or rank, keep games of players without one too."),
    ] = False
    ending: Annotated[
        str,
        typer.Option(
            help="Which endings to keep. Chess: 'checkmate' on the board, 'decisive' (no draws), or 'any'. Go:"
            " 'counted', by 'resignation', on 'time', or 'any'.",
            metavar="|".join(ENDINGS),
        ),
    ] = "any"
    result: Annotated[
        list[str] | None,
        typer.Option(
            help="Keep games of this result; may be given several times. Default: all.", metavar="|".join(RESULTS)
        ),
    ] = None
    rules: Annotated[
        list[str] | None,
        typer.Option(
            help="Go: keep games under these rules; may be given several times. Default: all.", metavar="|".join(RULES)
        ),
    ] = None
    handicap: Annotated[
        int | None, typer.Option(help="Go: most handicap stones, 0 for even games. Default: no bound.", min=0)
    ] = None
    size: Annotated[
        list[int] | None,
        typer.Option(
            help="Go: keep games on boards of this side; may be given several times. Default: all.",
            metavar="|".join(SIZES),
        ),
    ] = None
    since: Annotated[
        str | None,
        typer.Option(help="First day to keep: 2015, 2015-06 or 2015-06-30. Default: no bound.", metavar="DATE"),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(help="Last day to keep; 2015 is the whole of that year. Default: no bound.", metavar="DATE"),
    ] = None
    speed: Annotated[
        list[str] | None,
        typer.Option(
            help="Chess: keep games of this speed, told by TimeControl or else by the event's name; may be given"
            " several times. Default: all.",
            metavar="|".join(SPEEDS),
        ),
    ] = None
    min_plies: Annotated[
        int,
        typer.Option("--min-plies", "--min-moves", help="Shortest game to keep, in plies (moves of one side).", min=1),
    ] = 1
    player: Annotated[
        list[str] | None,
        typer.Option(
            help="Keep games in which a player's name contains this text; may be given several times. Default: all."
        ),
    ] = None
    no_bots: Annotated[
        bool,
        typer.Option(
            "--no-bots",
            help="Chess: skip games in which a header says that a player is a program: WhiteTitle BOT, WhiteIsComp,"
            " WhiteType program.",
        ),
    ] = False
    limit: Annotated[
        int | None, typer.Option(help="Stop when this many games are kept. Default: no bound.", metavar="GAMES")
    ] = None

    def values(self) -> dict[str, Any]:
        """By name: days as dates (of `until` the last), lists as tuples. Raises UsageError for what is no day."""
        return {
            **asdict(self),
            **{name: tuple(getattr(self, name) or ()) for name in ("result", "rules", "size", "speed", "player")},
            "since": _day("--since", self.since),
            "until": _day("--until", self.until, end=True),
        }


@dataclass(frozen=True)
class RefereeOptions:
    """Who finds the owners of all points at the end of counted games of Go."""

    referee: Annotated[
        str,
        typer.Option(
            help="Go: who tells the owners of all points at the end of counted games: random 'playouts', 'gnugo', both"
            " ('auto': GNU Go where playouts do not agree with the written result), or 'none'. A game whose result"
            " neither confirms is left out.",
            metavar="|".join(REFEREES),
        ),
    ] = "auto"
    gnugo: Annotated[
        str | None, typer.Option(help="Go: GNU Go's path. Default: the one that is installed, if any.", metavar="PATH")
    ] = None
    unconfirmed: Annotated[
        bool,
        typer.Option(
            "--unconfirmed",
            help="Go: keep counted games too whose result no referee confirms, without owners, for their moves and"
            " winner.",
        ),
    ] = False
    play_out: Annotated[
        bool,
        typer.Option(
            "--play-out",
            help="Go: let GNU Go play resigned games to their end, some seconds each, so that their owners are known"
            " too, wherever the recorded winner wins there. The others are kept without owners.",
        ),
    ] = False
    gnugo_limit: Annotated[
        float,
        typer.Option(
            help="Go: seconds that GNU Go has for a game, before it is killed and the game left out.", min=0.1, max=3600
        ),
    ] = 10.0

    @property
    def labels(self) -> bool:
        """Whether any game is labelled."""
        return self.referee != "none" or self.play_out

    def check(self, game: str) -> None:
        """Raises UsageError for a referee that there is not, and for options that mean nothing for the game."""
        if self.referee not in REFEREES:
            raise UsageError(not_one_of("--referee", self.referee, REFEREES))
        if game != "go" and (self.referee != "auto" or self.gnugo is not None or self.unconfirmed or self.play_out):
            raise UsageError(
                "--referee, --gnugo, --unconfirmed and --play-out are for Go (got chess games). Leave them out, or"
                " add --game go."
            )


@dataclass(frozen=True)
class SplitOptions:
    """How the games are divided into those for training, validation and the test."""

    validate_share: Annotated[
        float | None,
        typer.Option(help="Percent of the games for validation, drawn by hash. Default: 5.", metavar="PERCENT"),
    ] = None
    test_share: Annotated[
        float | None,
        typer.Option(help="Percent of the games for the test, drawn by hash. Default: 5.", metavar="PERCENT"),
    ] = None
    validate_from: Annotated[
        str | None,
        typer.Option(
            help="Games from this day on are the validation, instead of a share. Default: by hash.", metavar="DATE"
        ),
    ] = None
    test_from: Annotated[
        str | None,
        typer.Option(help="Games from this day on are the test, instead of a share. Default: by hash.", metavar="DATE"),
    ] = None

    def values(self) -> dict[str, Any]:
        """The fields of a Split that were given. Raises UsageError where they make no split."""
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
    """The filter of a game from `FilterOptions.values()`.

    Raises UsageError for an option of another game, and where the filter could let nothing through.
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
                f"--{option.replace('_', '-')} is not for {GAME_NAMES[game]} (got {GAME_NAMES[game]} games). Leave"
                " it out."
            )
    keep = kind(**own)
    keep.check()
    return keep
