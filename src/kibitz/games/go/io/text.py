"""Decode the text of SGF files in any encoding, and read their headers."""

from __future__ import annotations

import codecs
import itertools
import re

DOUBLE_BYTES = ("gb18030", "gbk", "gb2312", "shift_jis", "cp932", "big5", "big5hkscs", "cp950")
"""The Python names of encodings in which the second byte of a character may equal that of an ASCII bracket or
backslash.
"""

HALF_WIDTH = ("shift_jis", "cp932")
"""The encodings among DOUBLE_BYTES that also have characters of one byte beyond ASCII: half-width katakana."""

_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "big5": "cp950", "euc_kr": "cp949"}
"""For each encoding, by name, a larger encoding that contains it. Windows also writes characters of the larger encoding
under the name of the smaller one.
"""
_BRACKETS = b"(;[])"
_CHARSET = re.compile(rb"CA\s*\[([^\]]{1,30})\]")
_PROPERTY = re.compile(r"(?<![A-Za-z])([A-Za-z]++)\s*+\[((?:[^\]\\]|\\.?)*+)(\]|\Z)", re.DOTALL)
"""Matches a property: its name, its value, and the closing bracket; at the end of the text, the bracket may be missing.

Nothing is read twice, so that the time is proportional to the length even of a damaged text.
"""
_ESCAPED = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)
_LOST_BRACKET = re.compile(r"^(.{0,40}?)\s{1,3}([A-Z]{2})\[(.*)$", re.DOTALL)
_NAMES_UTF8 = re.compile(r"CA\s*\[\s*utf-?8\s*\]", re.IGNORECASE)
DOUBTFUL = 8
"""A number of characters beyond ASCII. A text with at least this number of them shows its encoding more reliably than
its SGF property CA does.
"""
_WORDS = ("C", "GC")
"""Properties whose text is written by people."""
_KOREAN = {
    letter.encode("euc_kr")
    for letter in "김이박최정강조윤장임한오서신권황안송류유전홍고문양손배백허남심노하곽성차주우구단국기왕회대"
}
"""Common syllables in the names of Korean players and events."""
_JAPANESE = {
    letter.encode("euc_jp")
    for letter in "井山田本村藤林木川島谷沢崎橋石武宮正樹治勲小光一二三大太郎子力"
    "碁聖戦棋名人段第期局回決勝九八七六五四初依紀基"
}
"""Common characters in the names of Japanese players and events."""
_LOST = (0x81, 0x8D, 0x8F, 0x90, 0x9D)
"""The bytes that Windows' variant of Latin-1 doesn't use."""
_SECOND = frozenset((*range(0x40, 0x7F), *range(0xA1, 0xFF)))
_FREQUENT = {
    "gb18030": (frozenset((*range(0xB0, 0xD8), *range(0xA1, 0xA4))), frozenset(range(0xA1, 0xFF))),
    "shift_jis": (
        frozenset((*range(0x81, 0x84), *range(0x88, 0x98))),
        frozenset((*range(0x40, 0x7F), *range(0x80, 0xFD))),
    ),
    "big5": (frozenset(range(0xA1, 0xC7)), _SECOND),
}
"""First and second bytes of the characters that each encoding has for everyday use, including punctuation."""


def charset_of(text: bytes) -> str:
    """Return the Python name of the encoding of a game's text. For ASCII text, the result is "utf-8". For other text,
    the result is the encoding in the SGF property CA (see `named_charset`), or else a guess.

    There is always a result: the last guess is Latin-1, in which every byte is a character.
    """
    if text.isascii():
        return "utf-8"
    return named_charset(text) or _guess(text)


def named_charset(text: bytes) -> str | None:
    """Return the Python name of the encoding in the SGF property CA; None if the property is missing or unreliable. For
    some encodings, the result is a larger encoding that contains it, such as GB18030 for GBK.

    The property is unreliable in three cases: the text can't be decoded with the encoding, the encoding is Latin-1, or
    the encoding doesn't write brackets as in ASCII.
    """
    if (match := _CHARSET.search(text)) is None:
        return None
    try:
        name = codecs.lookup(match[1].decode("ascii", "replace").strip()).name
        name = _WIDER.get(name, name)
        text.decode(name)
    except (LookupError, UnicodeDecodeError, ValueError):
        return None
    # Latin-1 is not trusted: it can decode any text, and many programs declare it by default. UTF-16 is impossible,
    # because its brackets have two bytes.
    return name if name != "iso8859-1" and _is_like_ascii(name) else None


def _is_like_ascii(name: str) -> bool:
    try:
        return _BRACKETS.decode(name) == _BRACKETS.decode()
    except ValueError:
        return False


_ESCAPES = re.compile(rb"\x1b\$[@B]((?:[!-~][!-~])*)\x1b\([BJ]")
"""Matches Japanese characters of ISO-2022-JP, which are pairs of ASCII bytes between two escape sequences."""


def without_escapes(text: bytes) -> bytes:
    """Return a text with its Japanese characters converted from ISO-2022-JP (JIS) to UTF-8. In ISO-2022-JP, a byte of a
    Japanese character may equal that of an ASCII bracket, which an SGF parser would take for syntax.
    """
    if b"\x1b$" not in text:
        return text
    return _ESCAPES.sub(lambda match: (b"\x1b$B" + match[1] + b"\x1b(B").decode("iso2022_jp", "replace").encode(), text)


def _guess(text: bytes) -> str:
    """Guess the most likely encoding of a text whose CA is missing or wrong."""
    if _fits(text, "utf-8"):
        return "utf-8"
    # The bytes of Korean syllables and Japanese names are also valid codes of common Chinese characters. But a Chinese
    # text usually contains other characters too.
    pairs = set(_pairs(text))
    if (
        all(0xB0 <= pair[0] <= 0xC8 for pair in pairs)
        and 3 * len(pairs & _KOREAN) > len(pairs)
        and _fits(text, "euc_kr")
    ):
        return "euc_kr"
    kana = {pair for pair in pairs if pair[0] in (0xA4, 0xA5)}
    if 3 * len(pairs & _JAPANESE | kana) > len(pairs) and _fits(text, "euc_jp"):
        return "euc_jp"
    # Big5 reads a Latin letter with an accent and the next letter as one Chinese character. So Big5 is tried only if
    # there are pairs of bytes above 127, which are rare in Latin text.
    fitting = [
        name for name in _FREQUENT if (pairs or name != "big5") and _fits(text, name) and _asian(text.decode(name))
    ]
    best = max(fitting, key=lambda name: _share(text, name), default="")  # if several are equal, the first one
    if best and _share(text, best) >= 0.6:
        return best
    if _fits(text, "euc_kr") and _asian(text.decode("euc_kr")):
        return "euc_kr"
    return "latin-1"


def _pairs(text: bytes) -> list[bytes]:
    """Return the pairs of bytes beyond ASCII, in order."""
    found, at = [], 0
    while at < len(text):
        if text[at] < 128:
            at += 1
            continue
        if at + 1 < len(text) and text[at + 1] >= 0xA1:
            found.append(text[at : at + 2])
        at += 2 if at + 1 < len(text) and text[at + 1] >= 0x40 else 1
    return found


def _share(text: bytes, name: str) -> float:
    """Return the share of the characters beyond ASCII that an encoding has for everyday use."""
    firsts, seconds = _FREQUENT[name]
    frequent = others = at = 0
    while at < len(text):
        if text[at] < 128 or (name in HALF_WIDTH and 0xA1 <= text[at] <= 0xDF):
            at += 1
        elif text[at] in firsts and at + 1 < len(text) and text[at + 1] in seconds:
            frequent, at = frequent + 1, at + 2
        else:
            others, at = others + 1, at + (2 if at + 1 < len(text) and text[at + 1] >= 0x40 else 1)
    return frequent / max(1, frequent + others)


def _asian(text: str) -> bool:
    """Return whether nearly all characters beyond ASCII are kana, Chinese characters or Korean syllables."""
    foreign = [letter for letter in text if letter > "\x7f"]
    good = sum(
        "぀" <= c <= "ヿ" or "一" <= c <= "鿿" or "가" <= c <= "힣" or "　" <= c <= "〿" or "！" <= c <= "ﾟ"
        for c in foreign
    )
    return good >= 0.9 * len(foreign)


def _fits(text: bytes, name: str) -> bool:
    try:
        text.decode(name)
    except UnicodeDecodeError:
        return False
    return True


def unscramble(text: str) -> str:
    """Return a text that is repaired if it was UTF-8 and wrongly decoded as Latin-1, Windows-1252 or Chinese (GB18030).
    Other text is returned unchanged.
    """
    if text.isascii():
        return text
    for wrong in ("latin-1", "cp1252", "gb18030"):
        try:
            meant = text.encode(wrong).decode("utf-8")
        except UnicodeError:
            continue
        # By chance, the bytes of a Chinese name may be valid UTF-8, so the repaired text must have CJK characters too.
        if wrong != "gb18030" or _asian(meant):
            return meant
    return (_with_lost_bytes(text) if "?" in text else None) or text


def _with_lost_bytes(text: str) -> str | None:
    """Repair a Chinese or Japanese text in UTF-8 that was decoded as Windows' variant of Latin-1; None if it isn't one.

    The text has `?` for each of the five bytes that this encoding lacks. A character with such bytes becomes the only
    common character that fits, and U+FFFD if several or none fit.
    """
    try:
        data = _latin_bytes(text)
    except UnicodeEncodeError:
        return None
    found, at = list[str](), 0
    while at < len(data):
        lead = data[at]
        length = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        bytes_of_it = [_LOST if byte == ord("?") and i else (byte,) for i, byte in enumerate(data[at : at + length])]
        meant = [bytes(choice) for choice in itertools.product(*bytes_of_it)]
        fitting = [choice.decode() for choice in meant if _fits(choice, "utf-8")]
        if not fitting:
            return None
        if len(meant) > 1:
            fitting = [letter for letter in fitting if _common(letter)]
        found.append(fitting[0] if len(fitting) == 1 else "\ufffd")
        at += length
    known = "".join(found).replace("\ufffd", "")
    return "".join(found) if not known.isascii() and _asian(known) else None


def _common(letter: str) -> bool:
    """Return whether a character is a kana or one of the 3,755 most common Chinese characters, the first level of GB
    2312."""
    try:
        lead = letter.encode("gb2312")[0]
    except UnicodeEncodeError:
        return False
    return lead in (0xA4, 0xA5) or 0xB0 <= lead <= 0xD7


def _latin_bytes(text: str) -> bytes:
    """Return the bytes of a text that was decoded as Latin-1 or Windows' variant of it. Raises UnicodeEncodeError for
    other text.
    """
    return b"".join(bytes((ord(c),)) if ord(c) < 256 else c.encode("cp1252") for c in text)


def put_right(text: str) -> str:
    """Repair a record's text that was decoded as Latin-1 (or Windows-1252) because the encoding was unknown. The
    function restores the bytes of the record, and decodes them with the encoding that fits them (see `charset_of`).

    Three kinds of text are returned unchanged. The first is ASCII text. The second is text that cannot have been
    Latin-1. The third is text whose SGF property CA is UTF-8 and that has fewer than 8 characters beyond ASCII
    (DOUBTFUL).
    """
    if text.isascii() or (_NAMES_UTF8.search(text) and sum(letter > "\x7f" for letter in text) < DOUBTFUL):
        return text
    try:
        data = _latin_bytes(text)
    except UnicodeEncodeError:  # the text was not Latin-1
        return text
    return data.decode(charset_of(data), "replace")


def read_headers(head: str) -> dict[str, str]:
    """Return the SGF properties before the first move of a game, as a dict from name to value. If a name occurs several
    times, the first value that is not empty is used.

    Wrong decoding may have lost the closing bracket of a value, as in "BR[9娈礭  WR[P9段]". Such a value ends where the
    next property begins.
    """
    headers: dict[str, str] = {}
    for name, value, closed in _PROPERTY.findall(head):
        if not closed:
            break
        if not name.isupper():  # FF[3] and older have names such as "PlayerBlack"
            name = "".join(letter for letter in name if letter.isupper())
        # Text that people write may look like properties. So a property with such text is not cut as long as it has a
        # closing bracket.
        whole = name in _WORDS or "\\]" in value
        if "[" in value and not whole and (lost := _LOST_BRACKET.match(value)):
            while lost:
                headers[name] = headers.get(name) or unscramble(lost[1].strip())
                name, value = lost[2], lost[3]
                lost = _LOST_BRACKET.match(value)
        if "\\" in value:
            value = _ESCAPED.sub(lambda match: "" if match[1][0] in "\r\n" else match[1], value)
        if name == "AP" and headers.get(name):  # a program that rewrites a server's record adds its own AP
            headers[name] += " " + value.strip()
        elif not headers.get(name):
            headers[name] = " ".join(unscramble(value).split())
    return usual_names(headers)


def usual_names(headers: dict[str, str]) -> dict[str, str]:
    """Return the headers with standard SGF names added for values that the server Sina writes under other names.

    Sina writes the komi as KO instead of KM, the date as RD instead of DT, and the event as TE instead of EV. The
    headers with Sina's names remain.
    """
    if "KM" not in headers and re.fullmatch(r"-?\d+(\.\d+)?", headers.get("KO", "")):
        usual = {"KO": "KM", "RD": "DT", "TE": "EV"}
        return headers | {usual[name]: value for name, value in headers.items() if name in usual}
    return headers
