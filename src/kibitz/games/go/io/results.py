"""Parse the result of a Go game, in the many forms in which records have it.

SGF writes "B+3.5" or "W+R". Servers and people also write plain words such as "White wins by 2.5". Results may be
Chinese such as 黑中盘胜 and 白胜2又3/4子, Japanese such as 黒番3目半勝ち and 白中押し勝ち,
and Korean such as 흑불계승 and 백 2집반승.
"""

from __future__ import annotations

import re
import unicodedata

from kibitz.games.go.io.numbers import read_number

Result = tuple[int | None, float | None, str]
"""The result of a game as three values: winner, margin and ending.

The winner is 1 for Black, -1 for White, 0 for a draw, or None if unknown. The margin is in points; None if the game was
not scored. The ending is counted, resignation, time, forfeit, void or unknown.
"""

_UNKNOWN: Result = (None, None, "unknown")
_SGF = re.compile(r"([bw]|black|white)\s*\+\s*(.*)", re.DOTALL)
_BLACK, _WHITE = "黑黒흑", "白백"
_SIDES = re.compile(rf"[{_BLACK}]|[{_WHITE}]|先番|先手|后手|後手|\b(?:black|white|b|w)\b")
_DRAWS = re.compile(r"0|draw|drawn|jigo|tie|持碁|和棋|平局|ジゴ|무승부|빅|引き分け|1/2-1/2|½-½")
_VOID = re.compile(r"void|no result|no-result|cancell?ed|annulled|无胜负|無勝負|无结果|三劫|무효|노게임|打ち掛け|打掛")
_LOSES = re.compile(
    r"负|負|敗|败|输|輸|패|認輸|认输|投了(?!勝)|lost|loses|lose|resigned|resigns|forfeits|forfeited|timed out|ran out|"
    r"runs out|out of time"
)
_WINS = re.compile(r"胜|勝|赢|贏|승|이김|win|wins|won|\+|defeats|beats")
_TIME = re.compile(r"超时|超時|時間|时间|切れ負|시간|time|clock|flag")
_RESIGNED = re.compile(r"中盤|中盘|中押|不计点|不計點|불계|投了|認輸|认输|resign|\bres\b|\br\b")
_FORFEIT = re.compile(
    r"forfeit|不戦|不战|不戰|弃权|棄権|棄權|反則|犯规|犯規|기권|반칙|disconnect|\bf\b|掉线|斷線|illegal"
)
_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_CHINESE_NUMBER = re.compile(r"[〇零一二三四五六七八九十百两兩]{1,9}")
_PARTS = re.compile(r"(?<!\d)(\d++)\s*+分之\s*+(\d+)")
_KOREAN = {"한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10}
_KOREAN_NUMBER = re.compile(rf"({'|'.join(_KOREAN)})(?=\s*집)")
_COUNT = re.compile(
    r"(?P<number>\d[\d.,]*(?:\s*又\s*\d+\s*/\s*\d+|\s+\d+/\d+|/\d+|\s*[½¼¾])?|[½¼¾]|[.,]\d+)?\s*又?"
    r"(?P<half>半)?\s*(?P<unit>目|子|집|점|points?|pts?|moku|stones?)?\s*(?P<after>半|반)?"
)
_HALVES = re.compile(r"半\s*(?P<unit>目|子|집)|(?P<korean>반)\s*집")


def read_result(text: str) -> Result:
    """Parse the result in a record, such as "B+3.5". Returns the winner, the margin and the ending (see `Result`). The
    return value is (None, None, "unknown") for a text that is not a result.
    """
    words = unicodedata.normalize("NFKC", _with_fractions(text)).strip().lower().rstrip(".!。")
    if _DRAWS.fullmatch(words):
        return 0, 0.0, "counted"
    if match := _SGF.fullmatch(words):
        return _of_sgf(1 if match[1][0] == "b" else -1, match[2].strip())
    sides = _SIDES.findall(words)
    if not sides:
        if _VOID.search(words):
            return 0, None, "void"
        return (0, 0.0, "counted") if re.match(r"draw|jigo|持碁|和棋|무승부|빅|ジゴ", words) else _UNKNOWN
    first = 1 if sides[0][0] in _BLACK or sides[0] in ("先番", "先手", "black", "b") else -1
    wins, loses = _WINS.search(words), _LOSES.search(words)
    resigned, late, forfeit = _RESIGNED.search(words), _TIME.search(words), _FORFEIT.search(words)
    lost = loses is not None and (wins is None or loses.start() < wins.start())
    winner = -first if lost else first
    if not (wins or lost or resigned or late or forfeit):
        margin = _margin(words)
        return (winner, margin, "counted") if margin else _UNKNOWN
    if not wins and not lost and (late or forfeit):
        winner = -first  # in "白超时", the mentioned side ran out of time
    if resigned:
        return winner, None, "resignation"
    if late:
        return winner, None, "time"
    if forfeit:
        return winner, None, "forfeit"
    # a komi may come before the winner's margin, as in 黑贴3又3/4子胜1/4子
    margin = (_margin(words[wins.end() :]) if wins and "贴" in words[: wins.start()] else None) or _margin(words)
    return (winner, margin, "counted") if margin else (winner, None, "unknown")


def _of_sgf(winner: int, how: str) -> Result:
    """Parse the part of a result after "B+" or "W+"."""
    margin = read_number(how)
    if margin is None and re.match(r"[〇零一二三四五六七八九十两兩半]|반", how):
        margin = _margin(how)
        return (winner, margin, "counted") if margin else (winner, None, "unknown")
    if margin is not None:
        if "目半" in how or "집반" in how or "子半" in how:
            margin += 0.5
        margin *= 2 if "子" in how else 1  # Chinese players count stones; each stone is a difference of two points
        counted = margin > 0 and margin * 4 % 1 == 0  # "W+0.0" and "B+0.02" are not scores
        return (winner, margin, "counted") if counted else (winner, None, "unknown")
    if how.startswith("r") or _RESIGNED.search(how):
        return winner, None, "resignation"
    if how.startswith("t") or _TIME.search(how):
        return winner, None, "time"
    if how.startswith(("f", "off", "disc", "illegal")) or _FORFEIT.search(how):
        return winner, None, "forfeit"
    return winner, None, "unknown"


def _margin(words: str) -> float | None:
    """Parse the points in a text such as "白胜2又3/4子", "三目半", "반집승", "wins by 2.5"; None if it has none."""
    words = with_digits(words)
    with_unit: float | None = None
    first: float | None = None
    if half := _HALVES.search(words):
        first = 1.0 if half["unit"] == "子" else 0.5
    for match in _COUNT.finditer(words):
        if not match["number"]:
            continue
        value = read_number(match["number"].replace(" ", "") if "又" in match["number"] else match["number"])
        if value is None:
            continue
        if match["half"] or match["after"]:
            value += 0.5
        if match["unit"] == "子":
            value *= 2
        if match["unit"]:
            with_unit = value
            break
        first = value if first is None else first  # the first number may be the number of the game
    best = first if with_unit is None else with_unit
    return best if best is not None and 0 < best <= 2 * 361 and best * 4 % 1 == 0 else None


def with_digits(words: str) -> str:
    """Return a text with digits instead of Chinese and Korean numerals: "三又四分之三子" becomes "3又3/4子"."""
    words = _KOREAN_NUMBER.sub(lambda match: str(_KOREAN[match[1]]), words)
    words = _CHINESE_NUMBER.sub(lambda match: str(_chinese_number(match[0])), words)
    return _PARTS.sub(lambda match: f"{match[2]}/{match[1]}", words)


def _with_fractions(text: str) -> str:
    """Rewrite ½, ¼ and ¾ so that they survive the normalization of full-width letters."""
    for sign, spelled in (("½", "1/2"), ("¼", "1/4"), ("¾", "3/4")):
        text = re.sub(rf"(\d)\s*{sign}", rf"\g<1>又{spelled}", text).replace(sign, spelled)
    return text


def _chinese_number(digits: str) -> int:
    """Parse a Chinese numeral below 1,000, for example 二十三."""
    if not set(digits) & set("十百"):
        return int("".join(str(_DIGITS[digit]) for digit in digits))
    total, last = 0, 0
    for digit in digits:
        if digit == "百":
            total, last = total + 100 * (last or 1), 0
        elif digit == "十":
            total, last = total + 10 * (last or 1), 0
        else:
            last = _DIGITS[digit]
    return total + last
