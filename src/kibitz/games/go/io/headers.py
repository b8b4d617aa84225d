"""Headers of a Go game, interpreted as the columns of a store."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass

from kibitz.dates import read_date
from kibitz.games.go.ranks import read_rank
from kibitz.text import shown

RULES = ("japanese", "chinese", "korean", "aga", "new zealand", "ing", "tromp-taylor")
SUICIDE = ("new zealand", "ing", "tromp-taylor")
"""Rules that allow suicide."""
SUPERKO = ("tromp-taylor",)
"""Rules with positional superko. Chinese rules have it too, but their games are played and refereed with simple ko, as
are games under Japanese rules and games without named rules. Under AGA and New Zealand rules a position may come again
with the other side to move (situational superko); they are read as with simple ko."""

_RULE_WORDS = (
    ("tromp", "tromp-taylor"), ("japan", "japanese"), ("jp", "japanese"), ("日本", "japanese"), ("nihon", "japanese"),
    ("chin", "chinese"), ("cn", "chinese"), ("中国", "chinese"), ("中國", "chinese"), ("korea", "korean"),
    ("kr", "korean"), ("韩", "korean"), ("한국", "korean"), ("aga", "aga"), ("zealand", "new zealand"),
    ("nz", "new zealand"), ("ing", "ing"), ("goe", "ing"), ("应", "ing"), ("應", "ing"), ("tt", "tromp-taylor"),
)  # fmt: skip

_RESULT = re.compile(r"([BWbw]|black|white)\s*\+\s*(.*)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"([+-]?)(\d+(?:[.,]\d+)?|[.,]\d+)(?!\d|[eE]\d|\s*[/½¼¾又])")
_FRACTION = re.compile(r"([+-]?)(?:(\d+)\s*(?:又|\s)\s*)?(\d+)\s*/\s*([1-9]\d*)(?!\d|/)")
_SIGNED_PART = re.compile(r"([+-]?)(\d*)\s*([½¼¾])")
_PARTS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_GIVEN = {str(stones) for stones in range(2, 26)}
_USUAL_KOMI = {"chinese": 7.5, "aga": 7.5, "new zealand": 7.0, "ing": 8.0, "tromp-taylor": 7.5}


def read_number(text: str) -> float | None:
    """The number that a text begins with, also as a fraction: 6.5, .5, +6,5, 1/2, 2 3/4, 6½, 3又1/4; None where it
    begins with none."""
    if found := _FRACTION.match(text):
        value = int(found[2] or 0) + int(found[3]) / int(found[4])
    elif found := _SIGNED_PART.match(text):
        value = int(found[2] or 0) + _PARTS[found[3]]
    elif found := _NUMBER.match(text):
        value = float(found[2].replace(",", "."))
    else:
        return None
    return -value if found[1] == "-" else value


def read_rules(text: str) -> str | None:
    """The name of the rules, as in RULES; None if they are missing or unknown."""
    words = text.strip().lower()
    if not words:
        return None
    return next(
        (name for word, name in _RULE_WORDS if words.startswith(word) or (len(word) > 3 and word in words)), None
    )


def read_result(text: str) -> tuple[int | None, float | None, str]:
    """The result (1 Black won, -1 White won, 0 a draw, None unknown), the margin, and the ending.

    margin: points; None if the game was not counted. ending: counted, resignation, time, forfeit, void or unknown.
    """
    words = text.strip()
    lower = words.lower()
    if lower in ("0", "draw", "jigo", "drawn", "持碁", "和棋", "draw."):
        return 0, 0.0, "counted"
    if lower in ("void", "no result", "无胜负", "無勝負"):
        return 0, None, "void"
    match = _RESULT.match(words)
    if not match:
        return None, None, "unknown"
    winner, how = (1 if match[1][0] in "Bb" else -1), match[2].strip().lower()
    margin = read_number(how)
    if margin is not None:
        margin *= 2 if "子" in how else 1  # Chinese players count stones, of which each is two points of difference
        counted = margin > 0 and margin * 4 % 1 == 0  # "W+0.0" and "B+0.02" are not scores
        return (winner, margin, "counted") if counted else (winner, None, "unknown")
    if how.startswith("r"):
        return winner, None, "resignation"
    if how.startswith("t"):
        return winner, None, "time"
    if how.startswith(("f", "off", "disc", "illegal")):
        return winner, None, "forfeit"
    return winner, None, "unknown"


def read_komi(text: str, margin: float | None, rules: str | None, handicap: int) -> float:
    """The komi in points; 0 if the text has none.

    650 means 6.5; 3.75 and 375 mean 7.5 points, which Chinese players count as 3.75 stones. A whole komi contradicts a
    margin of half a point (some servers wrote 0 for all games); the usual komi is assumed then.
    """
    komi = read_number(text.strip()) or 0.0
    if abs(komi) >= 100:
        komi /= 100
    if komi * 2 % 1:
        komi *= 2
    if margin is not None and margin % 1 == 0.5 and komi % 1 == 0:
        komi = 0.5 if handicap >= 2 else _USUAL_KOMI.get(rules or "", 6.5)
    return komi if -361 <= komi <= 361 else 0.0


def without_its_stones(headers: Mapping[str, str], handicap: int) -> bool:
    """Whether a game's headers tell of handicap stones that the record does not place. handicap: those that it does."""
    return handicap == 0 and headers.get("HA", "").strip() in _GIVEN and "AW" not in headers  # AW: from a position


def tells_komi(headers: Mapping[str, str]) -> bool:
    """Whether a record names its komi, in a number."""
    return read_number(headers.get("KM", "").strip()) is not None


def assumptions(headers: Mapping[str, str], komi: float, rules: str | None, handicap: int) -> list[str]:
    """What the headers of a game do not say, or not in words that are understood, and what stands for it.

    komi, rules, handicap: as they were read.
    """
    found = []
    written = headers.get("KM", "").strip()
    if read_number(written) is not None and read_komi(written, None, rules, handicap) != komi:
        found.append(
            f"the komi {shown(written)} contradicts the result {shown(headers.get('RE', ''))}, {komi:g} is assumed"
        )
    elif not tells_komi(headers):
        lacks = f"the komi {shown(written)} is no number" if written else "no komi in the record"
        found.append(f"{lacks}, {komi:g} is assumed")
    if rules is None and (named := headers.get("RU", "").strip()):
        found.append(f"the rules {shown(named)} are unknown, area is counted")
    if without_its_stones(headers, handicap):
        found.append(f"HA[{headers['HA'].strip()}], but no stones are placed, none are assumed")
    return found


@dataclass
class HeaderInfo:
    """The interpreted headers of one game. handicap: number of stones; the rest as in a store's table."""

    headers: Mapping[str, str]
    black_rank: str | None
    white_rank: str | None
    result: int | None
    margin: float | None
    ending: str
    komi: float
    rules: str | None
    handicap: int
    size: int
    date: datetime.date | None


def interpret_headers(headers: Mapping[str, str], handicap: int, size: int) -> HeaderInfo:
    """Interpret the headers of a game. handicap: its number of handicap stones; size: of the board."""
    result, margin, ending = read_result(headers.get("RE", ""))
    rules = read_rules(headers.get("RU", ""))
    if margin is not None and margin * 2 % 1:  # Chinese players count a lead in stones: half as many
        margin *= 2
    day = headers.get("DT", "").split(",")[0].replace("年", "-").replace("月", "-").replace("日", "")
    return HeaderInfo(
        headers, read_rank(headers.get("BR", "")), read_rank(headers.get("WR", "")), result, margin, ending,
        read_komi(headers.get("KM", ""), margin, rules, handicap), rules, handicap, size, read_date(day[:10]),
    )  # fmt: skip
