"""Which games to take, decided from the headers before a move is read, and from the moves after."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kibitz.dates import check_period, outside
from kibitz.errors import UsageError

SPEEDS = ("bullet", "blitz", "rapid", "classical", "correspondence")
ENDINGS = ("checkmate", "decisive", "any")
STANDARD_VARIANTS = {"", "standard", "normal", "chess", "from position"}
"""Values of the header Variant that mean ordinary chess, in small letters."""
RESULTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0}

# Words that name a speed in an event, the more telling first ("FICS rated lightning game", "World Blitz 2019").
_EVENT_WORDS = (
    ("correspondence", "correspondence"), ("ultrabullet", "bullet"), ("bullet", "bullet"), ("lightning", "bullet"),
    ("blitz", "blitz"), ("rapid", "rapid"), ("classical", "classical"), ("standard", "classical"),
)  # fmt: skip
_SIMPLE_CONTROL = re.compile(r"(\d+)(?:\+(\d+))?")
_FIRST_PERIOD = re.compile(r"(?:(\d+)/)?(\d+)(?:\+(\d+))?")


def speed_of(time_control: str, event: str) -> str | None:
    """The speed of a game: from its TimeControl, else from words in the event's name, else None.

    Expected seconds a player has for 40 moves decide, with the bounds of lichess: under 3 minutes bullet, under 8
    blitz, under 25 rapid, then classical; a day or more for a move is correspondence.
    """
    control = time_control.strip().lower()
    if control.startswith("1/") and (days := _SIMPLE_CONTROL.fullmatch(control[2:])) and int(days[1]) >= 86400:
        return "correspondence"
    if simple := _SIMPLE_CONTROL.fullmatch(control):
        seconds = int(simple[1]) + 40 * int(simple[2] or 0)
    elif control[:1].isdigit() and (period := _FIRST_PERIOD.match(control)):  # "40/7200:3600", "5400+30:1800+30"
        moves, base, increment = int(period[1] or 40), int(period[2]), int(period[3] or 0)
        seconds = base * 40 // max(moves, 1) + 40 * increment
    else:
        words = event.lower()
        return next((speed for word, speed in _EVENT_WORDS if word in words), None)
    bounds = ((180, "bullet"), (480, "blitz"), (1500, "rapid"))
    return next((name for bound, name in bounds if seconds < bound), "classical")


def read_rating(text: str) -> int:
    """A rating header as a number; 0 where there is none."""
    digits = re.match(r"\s*(\d{1,4})\b", text)
    return int(digits[1]) if digits else 0


@dataclass(frozen=True)
class Filter:
    """Which games to take. The defaults take every game."""

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
    limit: int | None = None

    def check(self) -> None:
        """Raises UsageError where the filter can let nothing through or names what does not exist."""
        check_period(self.since, self.until)
        if self.min_rating is not None and self.max_rating is not None and self.max_rating < self.min_rating:
            raise UsageError(f"--max-rating {self.max_rating} is under --min-rating {self.min_rating}; exchange them")
        if self.ending not in ENDINGS:
            raise UsageError(f"--ending {self.ending}: choose from {', '.join(ENDINGS)}")
        if self.ending != "any" and self.result == ("1/2-1/2",):
            raise UsageError(f"--ending {self.ending} leaves out all drawn games, --result 1/2-1/2 all others")
        for name in self.speed:
            if name not in SPEEDS:
                raise UsageError(f"--speed {name}: choose from {', '.join(SPEEDS)}")
        for name in self.result:
            if name not in RESULTS:
                raise UsageError(f"--result {name}: choose from {', '.join(RESULTS)}")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"--limit {self.limit}: must be at least 1 game")

    def refuses_headers(
        self, headers: Mapping[str, str], ratings: tuple[int, int], result: int | None, date: datetime.date | None
    ) -> str | None:
        """Why a game is not wanted, as far as headers tell; None where it may be."""
        if self.min_rating is not None or self.max_rating is not None:
            if 0 in ratings and not self.unrated:
                return "no rating"
            known = [rating for rating in ratings if rating]
            if self.min_rating is not None and known and min(known) < self.min_rating:
                return f"rating under {self.min_rating}"
            if self.max_rating is not None and known and max(known) > self.max_rating:
                return f"rating over {self.max_rating}"
        # A result that is written only after the moves is looked at again then.
        if result is not None and (why := self.refuses_result(result)):
            return why
        if why := outside(date, self.since, self.until):
            return why
        if self.player:
            names = (headers.get("White", "") + "\n" + headers.get("Black", "")).lower()
            if not any(name.lower() in names for name in self.player):
                return "other players"
        if self.speed:
            speed = speed_of(headers.get("TimeControl", ""), headers.get("Event", ""))
            if speed not in self.speed:
                return f"speed {speed}" if speed else "no time control"
        return None

    def refuses_result(self, result: int) -> str | None:
        """Why a result (1, 0, -1, White's view) is not wanted; None where it is."""
        if self.ending != "any" and result == 0:
            return "drawn"
        if self.result and result not in {RESULTS[name] for name in self.result}:
            return "other result"
        return None

    def refuses_moves(self, plies: int, ending: str) -> str | None:
        """Why a game is not wanted, now that its moves are known."""
        if plies < self.min_plies:
            return f"under {self.min_plies} plies"
        if self.ending == "checkmate" and ending != "checkmate":
            return "not by checkmate"
        return None

    def as_json(self) -> dict[str, Any]:
        """The filters that differ from their defaults."""
        default = asdict(Filter())
        return {
            key: str(value) if isinstance(value, datetime.date) else value
            for key, value in asdict(self).items()
            if value != default[key]
        }
