"""Interpret the headers of a Go game (SGF properties) as the columns of a store."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from kibitz.dates import read_date
from kibitz.games.go.io.numbers import read_number
from kibitz.games.go.io.results import read_result, with_digits
from kibitz.games.go.ranks import read_rank
from kibitz.text import shown

RULES = ("japanese", "chinese", "korean", "aga", "new zealand", "ing", "tromp-taylor")
SUICIDE = ("new zealand", "ing", "tromp-taylor")
"""The names of the rules that allow suicide."""
SUPERKO = ("tromp-taylor",)
"""The names of the rules with positional superko, which forbids a move that repeats an earlier position.

Chinese rules have it too, but games under them are played and refereed with simple ko. The same is true of games under
Japanese rules and of games with unknown rules. Under AGA and New Zealand rules, a position may be repeated with the
other side to move (situational superko); such games are read with simple ko.
"""

_RULE_WORDS = (
    ("tromp", "tromp-taylor"), ("japan", "japanese"), ("jp", "japanese"), ("日本", "japanese"), ("nihon", "japanese"),
    ("chin", "chinese"), ("cn", "chinese"), ("中国", "chinese"), ("中國", "chinese"), ("korea", "korean"),
    ("kr", "korean"), ("韩", "korean"), ("韓", "korean"), ("한국", "korean"), ("aga", "aga"),
    ("zealand", "new zealand"), ("nz", "new zealand"), ("ing", "ing"), ("goe", "ing"), ("应", "ing"), ("応", "ing"),
    ("應", "ing"), ("tt", "tromp-taylor"),
)  # fmt: skip

IN_TENTHS = (45.0, 55.0, 65.0, 75.0, 85.0)
"""Values of komi that mean tenths of a point: Tygem and others write 65 for a komi of 6.5."""
MIN_FOX_HUNDREDTHS = 25
_GIVEN = {str(stones) for stones in range(2, 26)}
_USUAL_KOMI = {"chinese": 7.5, "aga": 7.5, "ing": 7.5, "tromp-taylor": 7.5}
"""The usual komi with half a point, by rules; 6.5 under other rules."""


def read_rules(text: str) -> str | None:
    """Return the name of the rules in the value of the SGF property RU, one of RULES; None if the text is empty or does
    not name known rules.
    """
    words = text.strip().lower()
    if not words:
        return None
    return next(
        (name for word, name in _RULE_WORDS if words.startswith(word) or (len(word) > 3 and word in words)), None
    )


_AND_A_HALF = re.compile(r"[+-]?\d+\s*(?:目?半|[집호]?\s*반)")
"""Matches a komi such as 6目半, which is 6.5."""
_KOMI_WORDS = re.compile(r"\s*(?:先番|[黑黒흑])?\s*(?:贴|貼|コミ|ｺﾐ|덤|komi)?\s*[出:：]?\s*", re.IGNORECASE)
"""Words before the number of a komi, such as those of 黑贴3又3/4子 and コミ6目半."""
_MOST_STONES = 5
"""A komi in Chinese stones (子) is smaller than this number. A larger number is in points, whatever its unit is."""


def _komi_words(text: str) -> str:
    """Return the text of a komi with digits, from its number on."""
    return with_digits(_KOMI_WORDS.sub("", text, count=1)).strip()


def read_komi(text: str, margin: float | None, rules: str | None, handicap: int, server: str = "") -> float:
    """Return the komi of a record in points; 0 if the text has no number.

    There may be words before the number, and the number may be written in Chinese. 650 means 6.5, and 65 without a
    decimal point also means 6.5. 3.75 and 375 mean 7.5 points, because a komi of 7.5 points is written as 3.75 stones
    in China.

    text: the value of the SGF property KM.
    margin: the margin of the result in points; None if unknown. If the margin is not a whole number, a komi that is a
        whole number must be wrong: some servers wrote 0 for all games. The function then returns the usual komi.
    rules, handicap: the name of the rules (None if unknown) and the number of handicap stones. They decide which komi
        is usual.
    server: "fox" if the record is from the server Fox, which writes the komi in hundredths: 50 means 0.5 points. In
        such a record, 325, 350 and 375 count stones: 350 means 3.5 stones, which are 7 points.
    """
    text = _komi_words(text)
    komi = read_number(text) or 0.0
    if _AND_A_HALF.match(text):
        komi += -0.5 if komi < 0 else 0.5
    if abs(komi) >= 100 or (server == "fox" and abs(komi) >= MIN_FOX_HUNDREDTHS and komi % 1 == 0):
        komi /= 100
        if server == "fox" and abs(komi) in (3.25, 3.5, 3.75):
            komi *= 2
    elif abs(komi) in IN_TENTHS and text.isdigit():
        komi /= 10
    if komi * 2 % 1 or ("子" in text and abs(komi) < _MOST_STONES):
        komi *= 2
    if margin is not None and margin % 1 == 0.5 and komi % 1 == 0:
        komi = 0.5 if handicap >= 2 else _USUAL_KOMI.get(rules or "", 6.5)
    return komi if -361 <= komi <= 361 else 0.0


def server_of(headers: Mapping[str, str]) -> str:
    """Return "fox" if the headers of a record name the server Fox; "" for any other record. The server Fox writes the
    komi in an unusual way (see `read_komi`).
    """
    text = " ".join(headers.get(name, "") for name in ("AP", "PC", "SO", "GN", "EV", "US")).lower()
    return "fox" if "foxwq" in text or "野狐" in text or text.startswith("fox") else ""


def allows_suicide(rules: str | None, black_stones: int) -> bool:
    """Return whether suicide is legal in a game record. rules: the name of the rules; None if the record has none.

    A record without rules is read by Chinese rules, which forbid suicide. If Black has two or more setup stones
    (`black_stones`), it is read by New Zealand rules: they give White no points for these stones, and allow suicide.
    The page of `kibitz board` reads records by the same rules.
    """
    return rules in SUICIDE or (rules is None and black_stones > 1)


def without_its_stones(headers: Mapping[str, str], handicap: int) -> bool:
    """Return whether a record gives a number of handicap stones in its header (SGF property HA), but places no handicap
    stones.

    handicap: the number of handicap stones that the record places on the board.
    """
    # AW sets up white stones: such a game begins from a set-up position, not from a handicap
    named = unicodedata.normalize("NFKC", headers.get("HA", "")).strip()  # converts full-width digits
    return handicap == 0 and named in _GIVEN and "AW" not in headers


def has_komi(headers: Mapping[str, str]) -> bool:
    """Return whether the headers of a record give the komi as a number (SGF property KM)."""
    return read_number(_komi_words(headers.get("KM", ""))) is not None


def assumptions(headers: Mapping[str, str], komi: float, rules: str | None, handicap: int) -> list[str]:
    """Return messages about the values that kibitz assumes because a header of the game is missing, unknown or
    contradictory.

    komi, rules, handicap: the values that kibitz uses for the game.
    """
    found = []
    written = headers.get("KM", "").strip()
    if has_komi(headers) and read_komi(written, None, rules, handicap, server_of(headers)) != komi:
        found.append(
            f"the komi {shown(written)} contradicts the result {shown(headers.get('RE', ''))}; komi {komi:g} is assumed"
        )
    elif not has_komi(headers):
        lacks = f"the komi {shown(written)} is not a number" if written else "no komi in the record"
        found.append(f"{lacks}; komi {komi:g} is assumed")
    if rules is None and (named := headers.get("RU", "").strip()):
        found.append(f"the rules {shown(named)} are unknown; area scoring is assumed")
    if without_its_stones(headers, handicap):
        found.append(f"the record names {headers['HA'].strip()} handicap stones but places none; none are assumed")
    return found


@dataclass
class HeaderInfo:
    """The headers of one Go game after their interpretation.

    headers: the headers as text. handicap: the number of handicap stones on the board. size: the size of the board.
    Each of the other fields has the value of the column with the same name in a store's table of games.
    """

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


_DAY = re.compile(
    r"\s*(\d{4})(?!\d)(?:(?:\s*[-./年년]\s*|\s+)(\d{1,2})(?!\d)(?:(?:\s*[-./月월]\s*|\s+)(\d{1,2})(?!\d))?)?"
)


def first_day(text: str) -> datetime.date | None:
    """Return the first date in the value of the SGF property DT; None if there is no date. The value may have a time or
    further dates after it.

    An unknown month becomes January, and an unknown day becomes the first of the month.
    """
    found = _DAY.match(text)
    return read_date("-".join(part or "1" for part in found.groups())) if found else None


def interpret_headers(headers: Mapping[str, str], handicap: int, size: int) -> HeaderInfo:
    """Return the interpreted headers of a game. headers: a dict from names to values of the SGF properties before the
    first move. handicap: the number of handicap stones on the board. size: the size of the board.
    """
    result, margin, ending = read_result(headers.get("RE", ""))
    rules = read_rules(headers.get("RU", ""))
    if margin is not None and margin * 2 % 1:  # Chinese players count a lead in stones, which is half of the points
        margin *= 2
    komi = read_komi(headers.get("KM", ""), margin, rules, handicap, server_of(headers))
    return HeaderInfo(
        headers, read_rank(headers.get("BR", "")), read_rank(headers.get("WR", "")), result, margin, ending,
        komi, rules, handicap, size, first_day(headers.get("DT", "")),
    )  # fmt: skip
