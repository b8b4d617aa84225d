"""What the headers of a Go game say, put into the words of the store."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass

from kibitz.dates import read_date

RULES = ("japanese", "chinese", "korean", "aga", "new zealand", "ing", "tromp-taylor")
SUICIDE = ("new zealand", "ing", "tromp-taylor")
"""Rules under which a stone may take its own chain off the board."""
SUPERKO = ("tromp-taylor", "new zealand", "aga")
"""Rules under which no position may come again. Chinese rules say so too, but their games are played and refereed with
the simple ko alone; the Japanese, under which such a game is void, and games that name no rules, likewise."""

_RULE_WORDS = (
    ("tromp", "tromp-taylor"), ("japan", "japanese"), ("jp", "japanese"), ("日本", "japanese"), ("nihon", "japanese"),
    ("chin", "chinese"), ("cn", "chinese"), ("中国", "chinese"), ("中國", "chinese"), ("korea", "korean"),
    ("kr", "korean"), ("韩", "korean"), ("한국", "korean"), ("aga", "aga"), ("zealand", "new zealand"),
    ("nz", "new zealand"), ("ing", "ing"), ("goe", "ing"), ("应", "ing"), ("應", "ing"), ("tt", "tromp-taylor"),
)  # fmt: skip

_RANK = re.compile(
    r"(?P<before>[pP]|职业|職業|프로)?\s*(?P<number>\d{1,2}|[一二三四五六七八九初])\s*-?\s*"
    r"(?P<unit>dan|kyu|gup|[dDkKpP]|段|级|級|단|급)\s*(?P<after>p|pro)?",
    re.IGNORECASE,
)
_NUMERALS = {letter: value for value, letter in enumerate("一二三四五六七八九", 1)} | {"初": 1}
_RESULT = re.compile(r"([BWbw]|black|white)\s*\+\s*(.*)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?(?!\d|[eE]\d)")
_USUAL_KOMI = {"chinese": 7.5, "aga": 7.5, "new zealand": 7.0, "ing": 8.0, "tromp-taylor": 7.5}


def read_rank(text: str) -> str | None:
    """A rank as "9d", "3k" or (a professional's) "1p"; None where there is none."""
    match = _RANK.match(text.strip())
    if not match:
        return None
    number = _NUMERALS.get(match["number"]) or int(match["number"])
    unit = match["unit"].lower()
    if match["before"] or match["after"] or unit == "p":
        unit = "p"
    elif unit in ("kyu", "gup", "k", "级", "級", "급"):
        unit = "k"
    else:
        unit = "d"
    most = {"k": 35, "d": 10, "p": 9}[unit]
    return f"{number}{unit}" if 1 <= number <= most else None


def rank_value(rank: str) -> int:
    """Ranks in order: 30k is -29, 1k is 0, 1d is 1, 9d is 9, 1p is 11, 9p is 19. Raises ValueError for what is none."""
    normal = read_rank(rank)
    if normal is None:
        raise ValueError(f"{rank}: no rank")
    number = int(normal[:-1])
    return {"k": 1 - number, "d": number, "p": 10 + number}[normal[-1]]


def read_rules(text: str) -> str | None:
    """The name of the rules, as in RULES; None where they are not named or not known."""
    words = text.strip().lower()
    if not words:
        return None
    return next(
        (name for word, name in _RULE_WORDS if words.startswith(word) or (len(word) > 3 and word in words)), None
    )


def read_result(text: str) -> tuple[int | None, float | None, str]:
    """Who won (1 Black, -1 White, 0 nobody, None unknown), by how many points, and how it ended.

    The points are None where they were not counted; the end is counted, resignation, time, forfeit, void or unknown.
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
    number = _NUMBER.match(how)
    if number:
        margin = float(number[0].replace(",", "."))
        counted = margin > 0 and margin * 4 % 1 == 0  # "W+0.0" and "B+0.02" are no scores
        return (winner, margin, "counted") if counted else (winner, None, "unknown")
    if how.startswith("r"):
        return winner, None, "resignation"
    if how.startswith("t"):
        return winner, None, "time"
    if how.startswith(("f", "off", "disc", "illegal")):
        return winner, None, "forfeit"
    return winner, None, "unknown"


def read_komi(text: str, margin: float | None, rules: str | None, handicap: int) -> float:
    """The komi in points; 0 where none is written.

    650 stands for 6.5, and 3.75 (or 375) for the 7.5 points that Chinese players count as 3.75 stones. A whole komi
    beside a result by half a point was never the game's (a server that wrote 0 for all): then the usual one is taken.
    """
    match = _NUMBER.match(text.strip())
    komi = float(match[0].replace(",", ".")) if match else 0.0
    if abs(komi) >= 100:
        komi /= 100
    if komi * 2 % 1:
        komi *= 2
    if margin is not None and margin % 1 == 0.5 and komi % 1 == 0:
        komi = 0.5 if handicap >= 2 else _USUAL_KOMI.get(rules or "", 6.5)
    return komi if -361 <= komi <= 361 else 0.0


@dataclass
class Said:
    """What the headers of one game say."""

    headers: Mapping[str, str]
    black_rank: str | None
    white_rank: str | None
    result: int | None
    margin: float | None
    ending: str
    komi: float
    rules: str | None
    handicap: int  # stones that Black was given
    size: int
    date: datetime.date | None


def read_said(headers: Mapping[str, str], handicap: int, size: int) -> Said:
    """What headers say, for a game with so many handicap stones on a board of that size."""
    result, margin, ending = read_result(headers.get("RE", ""))
    rules = read_rules(headers.get("RU", ""))
    if margin is not None and margin * 2 % 1:  # Chinese players count a lead in stones too
        margin *= 2
    day = headers.get("DT", "").split(",")[0].replace("年", "-").replace("月", "-").replace("日", "")
    return Said(
        headers, read_rank(headers.get("BR", "")), read_rank(headers.get("WR", "")), result, margin, ending,
        read_komi(headers.get("KM", ""), margin, rules, handicap), rules, handicap, size, read_date(day[:10]),
    )  # fmt: skip
