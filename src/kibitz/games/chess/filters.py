"""Select the chess games to import: first by their headers, and later by their moves."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kibitz.dates import check_period, outside
from kibitz.errors import UsageError
from kibitz.messages import not_one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPEEDS = ("bullet", "blitz", "rapid", "classical", "correspondence")
ENDINGS = ("checkmate", "decisive", "any")
STANDARD_VARIANTS = {"", "standard", "normal", "chess", "from position"}
"""Values of the header Variant that mean standard chess, in lower case."""
RESULTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0}

# Words in an event's name that show its speed, the most specific first ("FICS rated lightning game", "World Blitz
# 2019").
_EVENT_WORDS = (
    ("correspondence", "correspondence"), ("ultrabullet", "bullet"), ("bullet", "bullet"), ("lightning", "bullet"),
    ("blitz", "blitz"), ("rapid", "rapid"), ("classical", "classical"), ("standard", "classical"),
)  # fmt: skip
_NUMBER = r"(\d{1,9})"  # longer numbers aren't times, and Python refuses to convert very long ones
_SECONDS = r"(\d{1,9}(?:\.\d{1,9})?)"  # engine matches have parts of a second, such as 10+0.1
_SIMPLE_CONTROL = re.compile(rf"{_SECONDS}(?:\+{_SECONDS})?")
_FIRST_PERIOD = re.compile(rf"(?:{_NUMBER}/)?{_SECONDS}(?:\+{_SECONDS})?(?=\s*(?::|$))")
_CLOCK_TIME = re.compile(rf"{_NUMBER}:(\d\d):(\d\d)(?:\s*\+\s*{_NUMBER})?")
_SHORT_CLOCK_TIME = re.compile(rf"(\d{{1,2}}):([0-5]\d)(?:\s*\+\s*{_NUMBER})?$")
_MINUTES = re.compile(rf"{_NUMBER}\s*\|\s*{_NUMBER}$")
_IN_WORDS = re.compile(
    rf"(?:{_NUMBER}\s*h(?:ours?|rs?)?\b)?\D{{0,5}}?(?:{_NUMBER}\s*(?:min\w*|m\b|['′’](?!['’])))?"
    rf"(?:.*?(?<!\d){_NUMBER}\s*(?:sec\w*|s\b|[\"″”]|'')|\s*\+\s*{_NUMBER}\s*$)?"
)
_WITH_INCREMENT = re.compile(rf"{_SECONDS}\s*\+\s*{_SECONDS}")
_WITH_SLASH = re.compile(rf"{_NUMBER}\s*/\s*{_NUMBER}")
_SERVER_EVENT = re.compile(r"\s*(?:(?:un)?rated|casual|live chess|fics|icc)\b", re.IGNORECASE)
"""Matches the names that lichess, chess.com, FICS and ICC give to the event of their games."""
_MOST_MINUTES, _LEAST_INCREMENT = 180, 10
_MOST_MOVES, _LEAST_LONG_TIME = 100, 1800


def is_in_minutes(control: str, event: str = "") -> bool:
    """Return whether the base time in a TimeControl is in minutes, as in "90+30" for 90 minutes and 30 seconds a move.
    event: the event's name.

    The unit of the PGN standard is the second, but organizers write minutes. A base of at most 180 seconds does not fit
    an increment of 10 seconds or more: most of the time would come from the increment. So such a base is in minutes.
    Servers have games with such increments, and always write seconds: "Rated game", "Live Chess", "FICS rated game".
    """
    match = _WITH_INCREMENT.fullmatch(control.strip())
    if match is None or _SERVER_EVENT.match(event):
        return False
    return float(match[1]) <= _MOST_MINUTES and float(match[2]) >= _LEAST_INCREMENT


def standard_control(control: str, event: str = "") -> str:
    """Return a TimeControl in the form of the PGN standard, in seconds: "300+5" for "300 + 5", "300+0" for "300/0",
    "40/5400" for "5400/40" and "5400+30" for "90+30" (see `is_in_minutes`). Other text is returned unchanged.

    In "A/B", a number A over 100 is a time and not a number of moves. Then B is an increment if it is below 20, and a
    number of moves if A is at least half an hour. If neither applies, the result is "".
    """
    control = control.strip()
    if match := _WITH_INCREMENT.fullmatch(control):
        return f"{60 * float(match[1]):g}+{match[2]}" if is_in_minutes(control, event) else f"{match[1]}+{match[2]}"
    if (match := _WITH_SLASH.fullmatch(control)) and int(match[2]) < int(match[1]) > _MOST_MOVES:
        if int(match[2]) < 20:
            return f"{match[1]}+{match[2]}"
        return f"{match[2]}/{match[1]}" if int(match[1]) >= _LEAST_LONG_TIME else ""
    return control


def speed_of(time_control: str, event: str) -> str | None:
    """Return the speed of a game, one of SPEEDS such as "blitz"; None if it is unknown.

    The speed is computed from the header TimeControl. If this header is missing or unreadable, the speed is determined
    by words in the event's name. As on lichess, the expected time of one player for 40 moves decides. A game of under 3
    minutes is bullet, of under 8 minutes blitz, of under 25 minutes rapid, and any longer game classical. A day or more
    per move is correspondence.

    The time control may differ from the PGN standard (see `standard_control`). For a control such as "90+30", whose
    unit is uncertain, a word in the event's name decides if there is one.
    """
    control = time_control.strip().lower()
    if is_in_minutes(control) and (named := _speed_in(event)):
        return named
    control = standard_control(control, event)
    if control.startswith("1/") and (days := _SIMPLE_CONTROL.fullmatch(control[2:])) and float(days[1]) >= 86400:
        return "correspondence"
    if simple := _SIMPLE_CONTROL.fullmatch(control):
        seconds = float(simple[1]) + 40 * float(simple[2] or 0)
    elif (worded := _worded(control)) is not None:
        if worded >= 86400:
            return "correspondence"
        seconds = worded
    # for example "40/7200:3600" or "5400+30:1800+30"
    elif control[:1].isdigit() and (period := _FIRST_PERIOD.match(control)):
        moves, base, increment = int(period[1] or 40), float(period[2]), float(period[3] or 0)
        seconds = base * 40 / max(moves, 1) + 40 * increment
    else:
        return _speed_in(event)
    bounds = ((180, "bullet"), (480, "blitz"), (1500, "rapid"))
    return next((name for bound, name in bounds if seconds < bound), "classical")


def _speed_in(event: str) -> str | None:
    """Return the speed that an event's name shows; None if it has no word for a speed."""
    words = event.lower()
    return next((speed for word, speed in _EVENT_WORDS if word in words), None)


def _worded(control: str) -> int | None:
    """Parse a time control as people write it. Returns the expected seconds for 40 moves; None for other text.

    Examples in lower case: "90 min + 30 sec", "5 min + 3", "1:30:00+30", "15:00", "10|5", "3 days/move".
    """
    if re.match(r"\d+\s*days?\b", control):
        return 86400
    if clock := _CLOCK_TIME.match(control):
        hours, minutes, seconds, increment = (int(part or 0) for part in clock.groups())
        return 3600 * hours + 60 * minutes + seconds + 40 * increment
    if clock := _SHORT_CLOCK_TIME.match(control):
        minutes, seconds, increment = (int(part or 0) for part in clock.groups())
        return 60 * minutes + seconds + 40 * increment
    if short := _MINUTES.match(control):
        return 60 * int(short[1]) + 40 * int(short[2])
    words = _IN_WORDS.match(control)
    if words is None or not (words[1] or words[2]):
        return None
    hours, minutes, increment, more = (int(part or 0) for part in words.groups())
    return 3600 * hours + 60 * minutes + 40 * (increment or more)


_BOT_TITLES = {"bot", "comp", "computer", "c", "(c)", "engine", "program"}
_BOT_TYPES = {"program", "computer", "engine", "bot", "comp"}
_YES = {"yes", "true", "1", "y"}
_BOT_NAME = re.compile(
    r"^\s*bot[ _:]|\(c(?:omp(?:uter)?)?\)\s*$|^lichess ai\b|^stockfish(?:\s+(?:ai\s+)?level|$)", re.IGNORECASE
)


def is_bot(name: str, title: str, kind: str, is_computer: str) -> bool:
    """Return whether the headers show that a player is a computer program.

    name: the player's name. Examples of a program's name are "Crafty(C)" and "lichess AI level 3".
    title: the header WhiteTitle or BlackTitle, "BOT" for a program.
    kind: the header WhiteType or BlackType, "program" for a program.
    is_computer: the header WhiteIsComp or BlackIsComp, "Yes" for a program.

    A single header that shows a program is enough. A missing header is "".
    """
    return (
        title.strip().lower() in _BOT_TITLES
        or kind.strip().lower() in _BOT_TYPES
        or is_computer.strip().lower() in _YES
        or _BOT_NAME.search(name) is not None
    )


def read_rating(text: str) -> int:
    """Return the rating in the value of a rating header; 0 if the text has no rating.

    Servers write 1500? or 1500P for a provisional rating, and some programs write 1,500, 1 500 or 1500.25.
    """
    digits = re.match(r"[\s(~+]*(?:(\d)[.,'’\s](\d{3})|(\d{1,4}))(?!\d)", text)
    return int(digits[3] or digits[1] + digits[2]) if digits else 0


UNKNOWN = -128
"""The number that represents an unknown result, if the header is missing."""


class HeaderColumns(Protocol):
    """The headers of n games that a filter reads.

    white_ratings, black_ratings: int64 [n], 0 if unknown.
    results: int64 [n], 1 if White won, 0 for a draw, -1 if Black won, UNKNOWN if missing.

    Each method applies a function to a header of every game, and returns an array with one value per game. A function
    that is applied to both players gives one result: true if it is true for at least one of the two players.
    """

    white_ratings: NDArray[np.int64]
    black_ratings: NDArray[np.int64]
    results: NDArray[np.int64]

    def dates(self, function: Callable[[datetime.date | None], Any]) -> NDArray[Any]:
        """Return the result of `function` for each game's date, [n]. The date is None if it is unknown."""

    def speeds(self, function: Callable[[str | None], Any]) -> NDArray[Any]:
        """Return the result of `function` for each game's speed, [n]: one of SPEEDS, or None if it is unknown."""

    def players(self, function: Callable[[str | None], bool]) -> NDArray[np.bool_]:
        """Return whether `function` is true for the name of at least one player of each game, bool [n]."""

    def bots(self, function: Callable[[str, str, str, str], bool]) -> NDArray[np.bool_]:
        """Return whether `function` is true for at least one player of each game, bool [n]. Its arguments are those of
        `is_bot`.
        """


def _where(refused: NDArray[np.bool_], reason: str) -> NDArray[np.object_]:
    """Return the reason for each refused game and None for the others, object [n]."""
    found = np.full(len(refused), None, object)
    found[refused] = reason
    return found


def _of_few(values: NDArray[np.int64], function: Callable[[int], Any]) -> NDArray[np.object_]:
    """Apply a function to integers that have few distinct values; it is called once per distinct value. Returns object
    [n].
    """
    answers = np.full(len(values), None, object)
    for value in np.unique(values).tolist():
        answers[values == value] = function(value)
    return answers


@dataclass(frozen=True)
class Filter:
    """The conditions that a chess game must meet to be imported. The defaults accept every game.

    min_rating, max_rating: the limits that the ratings of both players must meet, for example 1000 and 2200; None for
        no limit.
    unrated: whether to accept players without a rating although there is a limit.
    ending: how the game must have ended: "checkmate", "decisive" (one side won) or "any".
    result: the results to accept, for example ("1-0",); () for all results.
    since, until: the first and the last day of the period in which the game was played; None for no limit.
    speed: the speeds to accept, for example ("blitz", "rapid"); () for all.
    min_plies: the smallest number of plies (moves of either side).
    player: texts of which at least one must be part of a player's name, ignoring case; () for all games.
    no_bots: whether to exclude games in which a computer program plays.
    limit: the largest number of games to import; None for no limit.
    """

    min_rating: int | None = None
    max_rating: int | None = None
    unrated: bool = False
    ending: str = "any"
    result: tuple[str, ...] = ()
    since: datetime.date | None = None
    until: datetime.date | None = None
    speed: tuple[str, ...] = ()
    min_plies: int = 1
    player: tuple[str, ...] = ()
    no_bots: bool = False
    limit: int | None = None

    def check(self) -> None:
        """Raise UsageError if the filter can't accept any game or has an unknown value."""
        check_period(self.since, self.until)
        if self.min_rating is not None and self.max_rating is not None and self.max_rating < self.min_rating:
            raise UsageError(
                f"--max-rating must not be below --min-rating (got {self.max_rating} and {self.min_rating}). Swap them."
            )
        if self.ending not in ENDINGS:
            raise UsageError(not_one_of("--ending", self.ending, ENDINGS))
        if self.ending != "any" and self.result == ("1/2-1/2",):
            raise UsageError(
                f"--ending {self.ending} excludes draws, and --result 1/2-1/2 excludes all other games. Leave one of"
                " them out."
            )
        for name in self.speed:
            if name not in SPEEDS:
                raise UsageError(not_one_of("--speed", name, SPEEDS))
        for name in self.result:
            if name not in RESULTS:
                raise UsageError(not_one_of("--result", name, RESULTS))
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"--limit must be at least 1 (got {self.limit})")

    def refuses_headers(self, games: HeaderColumns) -> NDArray[np.object_]:
        """Return why the filter excludes each game because of its headers, object [n]: a phrase such as "rating under
        2000", or None for an accepted game.
        """
        first = [*self._refuses_ratings(games.white_ratings, games.black_ratings)]
        # If the result appears only after the moves, it is checked later
        first.append(_of_few(games.results, lambda result: None if result == UNKNOWN else self.refuses_result(result)))
        if self.since or self.until:
            first.append(games.dates(lambda date: outside(date, self.since, self.until)))
        if self.player:
            names = [name.lower() for name in self.player]
            plays = games.players(lambda player: any(name in (player or "").lower() for name in names))
            first.append(_where(~plays, "other players"))
        if self.no_bots:
            first.append(_where(games.bots(is_bot), "bot"))
        if self.speed:
            first.append(games.speeds(self._refuses_speed))
        why = np.full(len(games.results), None, object)
        for reasons in reversed(first):
            why = np.where(reasons != None, reasons, why)  # noqa: E711
        return why

    def _refuses_ratings(self, white: NDArray[np.int64], black: NDArray[np.int64]) -> Iterator[NDArray[np.object_]]:
        """Yield the reasons to refuse games by their ratings, which are 0 if unknown."""
        if self.min_rating is None and self.max_rating is None:
            return
        if not self.unrated:
            yield _where((white == 0) | (black == 0), "no rating")
        if self.min_rating is not None:
            lower = np.where(white == 0, black, np.where(black == 0, white, np.minimum(white, black)))
            yield _where((lower > 0) & (lower < self.min_rating), f"rating under {self.min_rating}")
        if self.max_rating is not None:
            yield _where(np.maximum(white, black) > self.max_rating, f"rating over {self.max_rating}")

    def _refuses_speed(self, speed: str | None) -> str | None:
        if speed in self.speed:
            return None
        return f"speed {speed}" if speed else "no time control"

    def refuses_result(self, result: int) -> str | None:
        """Return why the filter excludes a game with this result, as a phrase; None if it accepts the result. result: 1
        if White won, 0 for a draw, -1 if Black won.
        """
        if self.ending != "any" and result == 0:
            return "drawn"
        if self.result and result not in {RESULTS[name] for name in self.result}:
            return "other result"
        return None

    def refuses_moves(self, plies: int, ending: str) -> str | None:
        """Return why the filter excludes a game because of its length or ending, as a phrase; None if it accepts the
        game. plies: the number of moves. ending: "checkmate" if the last move is mate, or another ending.
        """
        if plies < self.min_plies:
            return f"under {self.min_plies} plies"
        if self.ending == "checkmate" and ending != "checkmate":
            return "not by checkmate"
        return None

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
