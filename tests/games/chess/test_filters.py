"""Filters: what headers mean, what is refused and why, and which calls cannot work."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from kibitz.dates import parse_day, read_date
from kibitz.errors import UsageError
from kibitz.games.chess.filters import Filter, read_rating, speed_of
from kibitz.games.chess.io.blocks import find_games
from kibitz.games.chess.io.headers import BOT_TAGS, Headers
from kibitz.games.chess.io.ingest import ParsedBlock

DAY = datetime.date


@pytest.mark.parametrize(
    ("control", "event", "speed"),
    [
        ("60+0", "", "bullet"), ("120+1", "", "bullet"), ("180+0", "", "blitz"), ("300+3", "", "blitz"),
        ("480+0", "", "rapid"), ("600+10", "", "rapid"), ("1500+0", "", "classical"), ("5400+30", "", "classical"),
        ("40/7200:3600", "", "classical"), ("40/300", "", "blitz"), ("5400+30:1800+30", "", "classical"),
        ("1/86400", "", "correspondence"), ("1/259200", "", "correspondence"),
        ("", "Rated Blitz game", "blitz"), ("?", "FICS rated lightning game", "bullet"),
        ("-", "World Rapid 2019", "rapid"),
        ("-", "Rated UltraBullet game", "bullet"), ("", "Wch U12 Girls", None),
        ("-", "Correspondence ch", "correspondence"),
        ("0+1", "", "bullet"), ("*", "", None), ("180", "Classical", "blitz"), ("179", "", "bullet"),
        ("90 min + 30 sec / move", "", "classical"), ("90 min/40 moves + 30 min + 30 sec increment", "", "classical"),
        ("1:30:00+30", "", "classical"), ("2h", "", "classical"), ("5 min", "", "blitz"), ("10|5", "", "rapid"),
        ("3|2", "", "blitz"), ("3 days/move", "", "correspondence"), ("15m+10s", "", "rapid"),
        ("90'+30\"", "", "classical"),
        ("300/0", "", "blitz"), ("300 + 5", "", "rapid"), ("180/2", "", "blitz"), ("5400/40", "", "classical"),
        ("300/30", "", None), ("300/30", "Rapid", "rapid"), ("5 min + 3", "", "blitz"), ("2 min + 3", "", "blitz"),
        ("90+30", "", "classical"), ("90 + 30", "Open", "classical"), ("15+10", "", "rapid"),
        ("60+30", "", "classical"),
        ("60+10", "Live Chess", "blitz"), ("120+12", "Rated Blitz game", "blitz"), ("181+10", "", "rapid"),
        ("120+15", "Rated game", "rapid"), ("60+10", "casual game", "blitz"), ("120+12", "ICC 2 12", "rapid"),
        ("90+9", "", "blitz"), ("40/9", "", "bullet"), ("5+3", "", "bullet"),
        ("5 rounds", "Rapid", "rapid"), ("300+0 and more", "", None),
        ("10+0.1", "", "bullet"), ("60+0.6", "", "bullet"), ("300.5+2.5", "", "blitz"), ("40/12.5+0.125", "", "bullet"),
        ("5:00", "", "blitz"), ("15:00", "", "rapid"), ("3:00+2", "", "blitz"), ("1:30", "", "bullet"),
        ("180:60", "", "blitz"), ("179:60", "", "bullet"), ("40/100+2:50", "", "blitz"), ("40/99+2:50", "", "bullet"),
    ],
)  # fmt: skip
def test_speed(control: str, event: str, speed: str | None) -> None:
    assert speed_of(control, event) == speed


@pytest.mark.parametrize("control", ["{}", "{}+1", "40/{}", "{}/40", "{}|1", "{} min", "{}:00:00", "5 min {} sec"])
def test_a_time_control_of_any_length_is_read(control: str) -> None:
    assert speed_of(control.format("9" * 5000), "Blitz") in ("blitz", "rapid")
    assert speed_of(control.format("9"), "Blitz") is not None


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2015.06.30", DAY(2015, 6, 30)), ("2015.06.??", DAY(2015, 6, 1)), ("2015.??.??", DAY(2015, 1, 1)),
        ("2015", DAY(2015, 1, 1)), ("2015-06-30", DAY(2015, 6, 30)), ("2015/6/3", DAY(2015, 6, 3)),
        ("2015.06.30 12:00", DAY(2015, 6, 30)), ("2015.06.30T23:59:59Z", DAY(2015, 6, 30)),
        ("2015-06-30 9:05 pm", DAY(2015, 6, 30)),
        ("2015.00.00", DAY(2015, 1, 1)),
        ("????.??.??", None), ("", None), ("2015.13.01", None), ("2015.02.30", None), ("soon", None),
        ("0000.01.01", None), ("98.01.02", None), ("99999.01.01", None), ("9" * 30, None), ("2015.1." + "9" * 30, None),
    ],
)  # fmt: skip
def test_dates_of_games(text: str, date: datetime.date | None) -> None:
    assert read_date(text) == date


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2015", DAY(2015, 1, 1), DAY(2015, 12, 31)), ("2015-02", DAY(2015, 2, 1), DAY(2015, 2, 28)),
        ("2016-02", DAY(2016, 2, 1), DAY(2016, 2, 29)), ("2015-12", DAY(2015, 12, 1), DAY(2015, 12, 31)),
        ("2015-06-30", DAY(2015, 6, 30), DAY(2015, 6, 30)), ("2015.6.3", DAY(2015, 6, 3), DAY(2015, 6, 3)),
    ],
)  # fmt: skip
def test_days_a_user_writes(text: str, first: datetime.date, last: datetime.date) -> None:
    assert parse_day(text, "--since") == first
    assert parse_day(text, "--until", end=True) == last


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2015-13", "2015-02-30", "15", "2015-1-1-1", "0000", "9999-99-99", "2015-00", "2015-00-15",
     "2015-02-00"],
)  # fmt: skip
@pytest.mark.parametrize("end", [False, True])
def test_days_that_are_none(text: str, end: bool) -> None:
    with pytest.raises(UsageError, match="--until"):
        parse_day(text, "--until", end=end)


def test_the_last_year_there_is() -> None:
    assert parse_day("9999", "--until", end=True) == DAY(9999, 12, 31)


@pytest.mark.parametrize(
    ("text", "rating"),
    [("2000", 2000), (" 1850 ", 1850), ("?", 0), ("-", 0), ("", 0), ("0", 0), ("99999", 0), ("1500?", 1500),
     ("1567P", 1567), ("1567E", 1567), ("1500P12", 1500), ("(2100)", 2100), ("~2100", 2100), ("2100 (FIDE)", 2100),
     ("1500.25", 1500), ("2,100", 2100), ("2.100", 2100), ("2 100", 2100), ("2\u202f100", 2100), ("unrated", 0)],
)  # fmt: skip
def test_ratings(text: str, rating: int) -> None:
    assert read_rating(text) == rating


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"since": DAY(2016, 1, 1), "until": DAY(2015, 1, 1)}, "--until .*2015-01-01 and 2016-01-01"),
        ({"min_rating": 2000, "max_rating": 1000}, "--max-rating .*1000 and 2000"),
        ({"ending": "mate"}, "--ending .*mate"),
        ({"speed": ("fast",)}, "--speed .*fast"),
        ({"result": ("won",)}, "--result .*won"),
        ({"limit": 0}, "--limit .*0"),
        ({"ending": "checkmate", "result": ("1/2-1/2",)}, "draws"),
    ],
)
def test_filters_that_cannot_work(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Filter(**options).check()


def said(keep: Filter, **headers: str) -> str | None:
    """What a filter says of a game with these headers."""
    text = "".join(f'[{name} "{value}"]\n' for name, value in headers.items()).encode()
    found = find_games(text + b"\n1. e4 e5 *\n")
    block = ParsedBlock("x.pgn", 0, Headers(found, BOT_TAGS), False)
    (why,) = keep.refuses_headers(block)
    assert why is None or isinstance(why, str)
    return why


def refused(**options: Any) -> str | None:
    """What a filter says of a game rated 2100 and 1900, won by White in June 2015."""
    names = {"White": "Carlsen, M", "Black": "Nobody", "WhiteElo": "2100", "BlackElo": "1900"}
    return said(Filter(**options), **names, TimeControl="300+0", Result="1-0", Date="2015.06.01")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, None),
        ({"min_rating": 1900}, None), ({"min_rating": 1901}, "rating under 1901"),
        ({"max_rating": 2100}, None), ({"max_rating": 2099}, "rating over 2099"),
        ({"since": DAY(2015, 6, 1)}, None), ({"since": DAY(2015, 6, 2)}, "before 2015-06-02"),
        ({"until": DAY(2015, 6, 1)}, None), ({"until": DAY(2015, 5, 31)}, "after 2015-05-31"),
        ({"result": ("1-0",)}, None), ({"result": ("0-1", "1/2-1/2")}, "other result"),
        ({"player": ("carlsen",)}, None), ({"player": ("x", "NOBODY")}, None),
        ({"player": ("Karpov",)}, "other players"),
        ({"speed": ("blitz", "rapid")}, None), ({"speed": ("bullet",)}, "speed blitz"),
        ({"no_bots": True}, None),
    ],
)  # fmt: skip
def test_headers(options: dict[str, Any], reason: str | None) -> None:
    assert refused(**options) == reason


@pytest.mark.parametrize("ratings", [(0, 2100), (2100, 0), (0, 0)])
def test_unknown_ratings(ratings: tuple[int, int]) -> None:
    """Left out where a bound is given, unless asked for; a known one must keep the bound all the same."""

    def say(**options: Any) -> str | None:
        known = {name: str(value) for name, value in zip(("WhiteElo", "BlackElo"), ratings, strict=True) if value}
        return said(Filter(**options), **known, Result="1-0")

    assert say() is None
    assert say(min_rating=2000) == say(max_rating=2200) == "no rating"
    assert say(min_rating=2000, unrated=True) is None
    assert say(min_rating=2200, unrated=True) == ("rating under 2200" if any(ratings) else None)


def test_bots_are_refused_only_if_asked() -> None:
    assert said(Filter(), WhiteTitle="BOT") is None
    assert said(Filter(no_bots=True), WhiteTitle="BOT") == "bot"


def test_the_smallest_limit() -> None:
    Filter(limit=1).check()


def test_unknown_dates_and_time_controls() -> None:
    assert said(Filter(since=DAY(2015, 1, 1))) == "no date"
    assert said(Filter(speed=("blitz",))) == "no time control"


def test_results_and_moves() -> None:
    assert Filter(ending="decisive").refuses_result(0) == "drawn"
    assert Filter(ending="decisive").refuses_result(-1) is None
    assert Filter(ending="checkmate").refuses_moves(30, "resignation") == "not by checkmate"
    assert Filter(ending="checkmate").refuses_moves(30, "checkmate") is None
    assert Filter(min_plies=31).refuses_moves(30, "checkmate") == "under 31 plies"


def test_what_was_asked_for_is_kept_without_the_defaults() -> None:
    assert Filter().as_json() == {}
    assert Filter(min_rating=2000, until=DAY(2015, 12, 31)).as_json() == {"min_rating": 2000, "until": "2015-12-31"}
