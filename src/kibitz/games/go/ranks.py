"""Parse the ranks of Go players, and convert them to numbers.

The numbers are one scale: 30k is -29, 1k is 0, 1d is 1, 9d is 9 and 10d is 10. Professionals are above all amateurs: 1p
is 11 and 9p is 19. The steps are not equally large: a step between professional dans is smaller than one between
amateur dans.
"""

from __future__ import annotations

import math
import re
import unicodedata

from kibitz.games.go.io.results import with_digits

FIRST_PROFESSIONAL = 11
"""The number of the rank 1p. Professional ranks have at least this number, and amateur ranks have a smaller one."""

_PROFESSIONAL = r"p(?:ro(?:fessional)?)?(?![a-z])|职业|職業|プロ|프로"
_AMATEUR = r"ama(?:teur)?(?![a-z])|业余|業余|業餘|アマ(?:チュア)?|아마(?:추어)?"
_RANK = re.compile(
    rf"(?:(?P<before>{_PROFESSIONAL})|{_AMATEUR})?\s*(?P<number>\d{{1,2}}|初)\s*-?\s*"
    rf"(?P<unit>dan|kyu|gup|[dkp]|段|级|級|단|급)(?:\s*\(?(?P<after>{_PROFESSIONAL})\)?)?",
    re.IGNORECASE,
)
_HIGHEST = {"k": 35, "d": 10, "p": 9}


def read_rank(text: str, whole: bool = False) -> str | None:
    """Return the rank that a text means: "9d", "3k" or, for a professional, "1p"; None if the text is not a rank.

    The text may name the kind of player before the rank or, for professionals, after it: 业余5段 and "amateur 5d" are
    5d, and 职业九段 and "9d (pro)" are 9p.

    whole: whether the rank must be the whole text. If not, other text may follow the rank, as in "5k*".
    """
    # NFKC converts full-width letters and digits, as in ２段
    plain = with_digits(unicodedata.normalize("NFKC", text)).strip()
    match = (_RANK.fullmatch if whole else _RANK.match)(plain)
    if not match:
        return None
    number = 1 if match["number"] == "初" else int(match["number"])
    unit = match["unit"].lower()
    if match["before"] or match["after"] or unit == "p":
        unit = "p"
    elif unit in ("kyu", "gup", "k", "级", "級", "급"):
        unit = "k"
    else:
        unit = "d"
    return f"{number}{unit}" if 1 <= number <= _HIGHEST[unit] else None


def rank_value(rank: str) -> int:
    """Return the strength of a rank as a number, from -34 for 35k to 19 for 9p. Raises ValueError for text that isn't a
    rank.
    """
    normal = read_rank(rank)
    if normal is None:
        raise ValueError(f"{rank} is not a rank. Write ranks like 5k, 6d or 1p.")
    number = int(normal[:-1])
    return {"k": 1 - number, "d": number, "p": FIRST_PROFESSIONAL - 1 + number}[normal[-1]]


def rank_of(value: int) -> str:
    """Return the rank with this number, such as "9d". This function is the inverse of `rank_value`. The number 10 is
    10d, which is above 9d.
    """
    if value >= FIRST_PROFESSIONAL:
        return f"{value - FIRST_PROFESSIONAL + 1}p"
    return f"{value}d" if value > 0 else f"{1 - value}k"


def value_or_nan(rank: str | None) -> float:
    """Return the number of a rank, from -34 for 35k to 19 for 9p; NaN if the text is None or isn't a rank."""
    return math.nan if rank is None or read_rank(rank) is None else float(rank_value(rank))
