"""Decoding the text of SGF files of any encoding, and reading their headers."""

from __future__ import annotations

import codecs
import re

DOUBLE_BYTES = ("gb18030", "gbk", "gb2312", "shift_jis", "cp932", "big5", "big5hkscs")
"""Encodings in which the second byte of a character may look like a bracket or a backslash."""

_CHARSET = re.compile(rb"CA\s*\[([^\]]{1,30})\]")
_PROPERTY = re.compile(r"([A-Za-z]+)\s*\[((?:[^\]\\]|\\.)*)\]", re.DOTALL)
_ESCAPED = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)
_LOST_BRACKET = re.compile(r"^(.{0,40}?)\s{1,3}([A-Z]{2})\[(.*)$", re.DOTALL)
_KOREAN = {
    letter.encode("euc_kr")
    for letter in "김이박최정강조윤장임한오서신권황안송류유전홍고문양손배백허남심노하곽성차주우구단국기왕회대"
}
"""Common syllables in the names of Korean players and events."""


def charset_of(text: bytes) -> str:
    """The Python name of a game's encoding: the one in CA if the text decodes with it, else a guess.

    Never fails: the last guess is Latin-1, in which every byte is a character.
    """
    if text.isascii():
        return "utf-8"
    match = _CHARSET.search(text)
    if match:
        try:
            name = codecs.lookup(match[1].decode("ascii", "replace").strip()).name
            name = "gb18030" if name in ("gb2312", "gbk") else name  # a superset with more characters
            text.decode(name)
            if name != "iso8859-1":  # it fits any text, and many programs write it by default
                return name
        except (LookupError, UnicodeDecodeError, ValueError):
            pass
    return _guess(text)


def _guess(text: bytes) -> str:
    """The most likely encoding of a text whose CA is missing or wrong."""
    if _fits(text, "utf-8"):
        return "utf-8"
    pairs, chinese, high = set[bytes](), 0, 0
    at = 0
    while at < len(text):
        first = text[at]
        if first < 128:
            at += 1
            continue
        second = text[at + 1] if at + 1 < len(text) else 0
        if second >= 0xA1:
            pairs.add(text[at : at + 2])
            chinese += 0xB0 <= first <= 0xF7 or 0xA1 <= first <= 0xA3
        high += 1
        at += 2 if second >= 0x40 else 1
    # The bytes of Korean syllables are also common Chinese characters; a Chinese text has other pairs, too.
    if (
        all(0xB0 <= pair[0] <= 0xC8 for pair in pairs)
        and 3 * len(pairs & _KOREAN) > len(pairs)
        and _fits(text, "euc_kr")
    ):
        return "euc_kr"
    if chinese >= 0.8 * high and _fits(text, "gb18030"):
        return "gb18030"
    for name in ("shift_jis", "euc_kr"):
        if _fits(text, name) and _asian(text.decode(name)):
            return name
    return "latin-1"


def _asian(text: str) -> bool:
    """Whether nearly all characters beyond ASCII are kana, Chinese characters or Korean syllables."""
    foreign = [letter for letter in text if letter > "\x7f"]
    good = sum("぀" <= c <= "ヿ" or "一" <= c <= "鿿" or "가" <= c <= "힣" or "　" <= c <= "〿" for c in foreign)
    return good >= 0.9 * len(foreign)


def _fits(text: bytes, name: str) -> bool:
    try:
        text.decode(name)
    except UnicodeDecodeError:
        return False
    return True


def unscramble(text: str) -> str:
    """Repair a text that was UTF-8 but was decoded as Latin-1 or Chinese; unchanged if that is not the case."""
    if text.isascii():
        return text
    for wrong in ("latin-1", "cp1252", "gb18030"):
        try:
            meant = text.encode(wrong).decode("utf-8")
        except UnicodeError:
            continue
        if wrong != "gb18030" or _asian(meant):  # the bytes of a Chinese name may be valid UTF-8 by chance
            return meant
    return text


def read_headers(head: str) -> dict[str, str]:
    """The properties of a game before its first move, by name. Of several with one name, the first with a value counts.

    A value whose closing bracket was lost to a wrong decoding ("BR[9娈礭  WR[P9段]") ends at the next property.
    """
    headers: dict[str, str] = {}
    for name, value in _PROPERTY.findall(head):
        if not name.isupper():  # FF[3] and older: "PlayerBlack"
            name = "".join(letter for letter in name if letter.isupper())
        if "[" in value and (lost := _LOST_BRACKET.match(value)):
            while lost:
                headers[name] = headers.get(name) or unscramble(lost[1].strip())
                name, value = lost[2], lost[3]
                lost = _LOST_BRACKET.match(value)
        if "\\" in value:
            value = _ESCAPED.sub(lambda match: "" if match[1][0] in "\r\n" else match[1], value)
        if not headers.get(name):
            headers[name] = " ".join(unscramble(value).split())
    return headers
