"""Parse dates from game records and from the command line."""

from __future__ import annotations

import calendar
import datetime
import re

from kibitz.errors import UsageError

_FIRST_YEAR = 1000
"""The earliest year in a record. A smaller number is a year without its century."""

_TIME_OF_DAY = re.compile(r"(?<=\d)[T ] *\d{1,2}:\d\d.*", re.DOTALL)


def read_date(text: str) -> datetime.date | None:
    """Parse a record's date ("2015.06.30", "2015-06"). An unknown month becomes January, and an unknown day becomes the
    first of the month. A time of day after the date is ignored.

    The result is None if the year is unknown or has only two digits, or if the text isn't a date.
    """
    text = _TIME_OF_DAY.sub("", text.strip())
    parts = text.replace("-", ".").replace("/", ".").split(".")
    try:
        year = int(parts[0])
        month = int(parts[1]) if len(parts) > 1 and "?" not in parts[1] else 1
        day = int(parts[2]) if len(parts) > 2 and "?" not in parts[2] else 1
        return datetime.date(year, month or 1, day or 1) if year >= _FIRST_YEAR else None
    except (ValueError, OverflowError):  # OverflowError is raised for numbers with very many digits
        return None


def parse_day(text: str, option: str, *, end: bool = False) -> datetime.date:
    """Parse a day that a user gave: 2015, 2015-06 or 2015-06-30. Raises UsageError for any other text.

    end: whether a year or a month means its last day; otherwise, it means its first day. option: the name of the
    option, for the error message.
    """
    match = re.fullmatch(r"(\d{4})(?:[-./](\d{1,2}))?(?:[-./](\d{1,2}))?", text.strip())
    try:
        if not match:
            raise ValueError
        year, month, day = int(match[1]), int(match[2] or 0), int(match[3] or 0)
        if (match[2] and not month) or (match[3] and not day):
            raise ValueError
        if day or not end:
            return datetime.date(year, month or 1, day or 1)
        month = month or 12
        return datetime.date(year, month, calendar.monthrange(year, month)[1])
    except ValueError:
        raise UsageError(f"{option} must be a date such as 2015, 2015-06 or 2015-06-30 (got {text})") from None


def check_period(since: datetime.date | None, until: datetime.date | None) -> None:
    """Raise UsageError if `until` is before `since`. since, until: the first and the last day of a period; None if the
    period is open at that end.
    """
    if since and until and until < since:
        raise UsageError(f"--until must not be before --since (got {until} and {since}). Swap them.")


def outside(date: datetime.date | None, since: datetime.date | None, until: datetime.date | None) -> str | None:
    """Return why a date is outside a period, such as "before 2020-01-01"; None if it is inside.

    since, until: the first and the last day of the period; None if the period is open at that end.
    """
    if not since and not until:
        return None
    if date is None:
        return "no date"
    if since and date < since:
        return f"before {since}"
    return f"after {until}" if until and date > until else None
