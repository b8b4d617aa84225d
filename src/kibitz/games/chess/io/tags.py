"""Parse PGN headers as people and programs write them, and game results in all their forms."""

from __future__ import annotations

import re
from dataclasses import dataclass

QUOTES = "\"'`´‘’‚“”„«»\x82\x84\x91\x92\x93\x94"
_KNOWN = (
    "Event", "Site", "Date", "Round", "White", "Black", "Result", "WhiteElo", "BlackElo", "WhiteTitle", "BlackTitle",
    "WhiteTeam", "BlackTeam", "WhiteType", "BlackType", "WhiteIsComp", "BlackIsComp", "WhiteFideId", "BlackFideId",
    "ECO", "Opening", "Variation", "TimeControl", "Termination", "FEN", "SetUp", "Variant", "UTCDate", "UTCTime",
    "EventDate", "EventType", "EventRounds", "Annotator", "PlyCount", "Source", "SourceDate", "Time", "Mode",
)  # fmt: skip
_BY_SMALL_NAME = {name.lower(): name for name in _KNOWN}

_NAME = re.compile(
    rf"\[[ \t]*+([A-Za-z][A-Za-z0-9_]*+)"
    rf"(?:[ \t]*+[:=]?+[ \t]*+(?=[{QUOTES}])|[ \t]*+[:=][ \t]*+|[ \t]++|[ \t]*+(?=\]))"
)
_STRICT = re.compile(r'"((?:[^"\\\n]|\\.)*)"[ \t]*\]')
_BRACKET_MISSING = re.compile(rf'"((?:[^"\\\n]|\\.)*)"[ \t]*(?=\[[ \t]*[A-Za-z]\w*[ \t]*[{QUOTES}])')
_WRAPPED = re.compile(r'"((?:[^"\\\n\[]|\\.)*\n[ \t]*(?![\s\[])(?:[^"\\\n]|\\.)*)"[ \t]*\][ \t\r]*(?=\n|$)')
"""A value that an editor has split into two lines."""
_CLOSED = re.compile(rf"[{QUOTES}][ \t]*\]")
_FOLLOWS = re.compile(
    rf"[ \t\r]*(?:$|\[[ \t]*[A-Za-z]\w*[ \t]*[:=]?[ \t]*[{QUOTES}]|\d+[ \t]*[.…]|\{{|\*|[01][-–:][01]|1/2|½|0[.,]5"
    r"|[KQRBNDTLSFCAO]?[a-h]?[1-8]?x?[a-h][1-8]|O-O|0-0)"
)
"""The text that may follow a header in its line: nothing, another header, or moves."""
_BRACKET = re.compile(r"\]")
_ESCAPED = re.compile(r'\\(["\\])')


@dataclass(frozen=True)
class Tag:
    """A PGN header (tag pair) that was found in a text.

    name: the name of the header, such as "White".
    value: the value of the header without escapes.
    end: the index in the text of the first character after the header.
    """

    name: str
    value: str
    end: int


def unescape(value: str) -> str:
    """Return the value of a PGN header without escapes: the backslash before each quotation mark or backslash is
    removed.
    """
    return _ESCAPED.sub(r"\1", value)


def escape(value: str) -> str:
    """Return the value of a PGN header with escapes, so that it can be written between quotation marks."""
    return value.replace("\\", "\\\\").replace('"', '\\"')


def read_tag(text: str, at: int, begins_line: bool = True) -> Tag | None:
    """Parse the PGN header (tag pair) that begins with a bracket at index `at` of a text. Returns None if there is no
    header at this index.

    Any text between double quotation marks is a value. Typographic quotation marks are accepted too, and a quotation
    mark or the closing bracket may be missing. begins_line: whether the opening bracket is at the beginning of a line.
    Only then is a value without quotation marks accepted.
    """
    name = _NAME.match(text, at)
    if name is None:
        return None
    stop = text.find("\n", at)
    stop = len(text) if stop < 0 else stop
    if name.end() > stop:
        return None
    quoted = text[name.end() : name.end() + 1] in QUOTES and name.end() < stop
    if quoted and (wrapped := _WRAPPED.match(text, name.end())) and "]" not in text[name.end() : stop]:
        return Tag(_BY_SMALL_NAME.get(name[1].lower(), name[1]), unescape(" ".join(wrapped[1].split())), wrapped.end())
    if not quoted and not (begins_line and _is_bare(name[1], text[name.end() : stop])):
        return None
    value, end = _quoted(text, name.end(), stop) if quoted else _bare(text, name.end(), stop)
    return Tag(_BY_SMALL_NAME.get(name[1].lower(), name[1]), value, end)


def _is_bare(name: str, rest: str) -> bool:
    """Return whether a line is a header whose value has no quotation marks."""
    known = name.lower() in _BY_SMALL_NAME
    return known if "]" not in rest else known or (name[0].isupper() and rest.rstrip().endswith("]"))


def _quoted(text: str, at: int, stop: int) -> tuple[str, int]:
    """Return the value that begins with the quotation mark at this position, and the end of its header."""
    if (strict := _STRICT.match(text, at, stop)) and _FOLLOWS.match(text, strict.end(), stop):
        return unescape(strict[1]), strict.end()
    if missing := _BRACKET_MISSING.match(text, at, stop):
        return unescape(missing[1]), missing.end()
    ends = list(_CLOSED.finditer(text, at + 1, stop))
    for end in ends:
        if _FOLLOWS.match(text, end.end(), stop):
            return unescape(text[at + 1 : end.start()]), end.end()
    if ends:
        return unescape(text[at + 1 : ends[-1].start()]), ends[-1].end()
    return _bare(text, at, stop)


def _bare(text: str, at: int, stop: int) -> tuple[str, int]:
    """Return a value without quotation marks, and the end of its header.

    The value ends at a bracket that is followed by nothing, a header or moves, or at the end of the line.
    """
    for bracket in _BRACKET.finditer(text, at, stop):
        if _FOLLOWS.match(text, bracket.end(), stop):
            return unescape(text[at : bracket.start()].strip().strip(QUOTES).strip()), bracket.end()
    line = text[at:stop].rstrip()
    return unescape(line.rstrip("]").strip().strip(QUOTES).strip()), stop


def read_headers(text: str) -> dict[str, str]:
    """Return the headers in a text as a dict from names to values without escapes. If a name occurs twice, the first
    header is used.

    text: the text before the game's moves.
    """
    headers: dict[str, str] = {}
    at, begins_line = 0, True
    while (bracket := text.find("[", at)) >= 0:
        line = text.rfind("\n", 0, bracket) + 1
        if text.startswith("%", line):
            at = bracket + 1
            continue
        begins_line = not text[line:bracket].strip(" \t\ufeff") or begins_line
        tag = read_tag(text, bracket, begins_line)
        if tag is None:
            at, begins_line = bracket + 1, False
        else:
            headers.setdefault(tag.name, tag.value)
            at, begins_line = tag.end, True
    return headers


# Results

_DASHES = str.maketrans({"–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "‒": "-", ":": "-", ",": ".", "\x96": "-"})
_HALVES = {"1/2", "½", "0.5", ".5", "1/2-1/2", "½-½", "0.5-0.5", ".5-.5", "1/2-", "½-", "=-=", "=", "draw",
           "drawn", "draw game", "drawn game", "remis", "1/2 1/2", "0.5 0.5"}  # fmt: skip
_WINS = {"1-0": "1-0", "0-1": "0-1", "1.0-0.0": "1-0", "0.0-1.0": "0-1", "1.0-0": "1-0", "0-1.0": "0-1", "+--": "1-0",
         "--+": "0-1", "+/-": "1-0", "-/+": "0-1", "1-": "1-0", "-1": "0-1", "1-0f": "1-0", "0-1f": "0-1",
         "1f-0f": "1-0", "0f-1f": "0-1", "1-0ff": "1-0", "0-1ff": "0-1"}  # fmt: skip
_WORDS = re.compile(r"(white|black)\s+(?:wins|won|win|is victorious)\b.*")

_D = r"[ \t]?[-–—−‐‑‒:\x96][ \t]?"
_FORFEIT = r"[Ff]{1,2}"
_PLAIN = rf"(?:1/2|½|0[.,]5|\*|1(?:[.,]0)?{_D}0|0(?:[.,]0)?{_D}1)"
_LAST = rf"[ \t.!]*(?:\Z|\[(?!%)|{_PLAIN}|(?>\r\n|\r|\n)[ \t]*(?:\Z|[\r\n]|\[(?!%)|{_PLAIN}))"
_VERDICT = (
    r"(?i:(?:(?:white|black)[ \t]+(?:wins|won)(?:[ \t]+(?:by|on)(?:[ \t]+[a-z]+){1,3})?"
    rf"|drawn?(?:[ \t]+game)?|remis)(?={_LAST}))"
)
"""Matches a result in words. The words must be at the end of the game: a header, a blank line, a result or nothing
follows them. This condition excludes remarks on a move and offers of a draw.
"""
RESULT = re.compile(
    rf"(?<![\w/.½-])(?:1/2{_D}1/2|½{_D}½|0[.,]5{_D}0[.,]5|1(?:[.,]0)?{_D}0(?:[.,]0|{_FORFEIT})?"
    rf"|0(?:[.,]0)?{_D}1(?:[.,]0|{_FORFEIT})?|1/2|½|\*|{_VERDICT})(?![\w/½]|[-–:][\w½])"
)
"""A regular expression for a result among moves, such as 1-0 or ½-½."""


def read_result(text: str) -> str | None:
    """Return the result that a text means, in any of its forms: "1-0", "0-1", "1/2-1/2", or "*" for an unfinished game.
    Returns None for other text.
    """
    plain = text.strip().translate(_DASHES).lower()
    if plain == "*":
        return "*"
    short = re.sub(r"\s*-\s*", "-", plain)
    if short in _HALVES:
        return "1/2-1/2"
    if short in _WINS:
        return _WINS[short]
    if words := _WORDS.fullmatch(plain):
        return "1-0" if words[1] == "white" else "0-1"
    return None


_LOST = re.compile(
    r"(white|black) (?:resigns|resigned|gives up|gave up|(?:loses|lost|forfeits|forfeited)(?: (?:on|by) time)?"
    r"|(?:was |is |has been )?(?:check)?mated|runs out of time|ran out of time"
    r"|(?:exceeds|exceeded|oversteps|overstepped) (?:the )?time(?: limit)?)"
)
_DRAWN = re.compile(
    r"(?:the )?(?:game )?(?:is |was )?drawn?(?: game)?(?: is| was)? (?:agreed|by (?:mutual )?agreement"
    r"|by (?:threefold )?repetition|by (?:stalemate|perpetual check|insufficient material))"
    r"|(?:players )?agreed (?:to )?(?:a )?draw|draw (?:was )?offered and accepted|stalemate"
)


def result_of_remark(text: str) -> str | None:
    """Return the result in a remark after the last move, such as "White resigns" or "Draw agreed". Returns None for
    other remarks, and if the remark has further words.
    """
    words = " ".join(re.sub(r"[.!,;*]+", " ", text.lower()).split())
    if lost := _LOST.fullmatch(words):
        return "0-1" if lost[1] == "white" else "1-0"
    return "1/2-1/2" if _DRAWN.fullmatch(words) else None
