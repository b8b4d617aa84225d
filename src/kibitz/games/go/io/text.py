"""The text of SGF files in whatever encoding it has, and headers out of it."""

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
    """The Python name of the encoding that a game is in: what CA says where that is right, else a guess.

    Never fails: what is nothing else is Latin-1, in which every byte is a character.
    """
    if text.isascii():
        return "utf-8"
    said = _CHARSET.search(text)
    if said:
        try:
            name = codecs.lookup(said[1].decode("ascii", "replace").strip()).name
            name = "gb18030" if name in ("gb2312", "gbk") else name  # a superset that knows more names
            text.decode(name)
            if name != "iso8859-1":  # which fits everything, and which programs write without thinking
                return name
        except (LookupError, UnicodeDecodeError, ValueError):
            pass
    return _guess(text)


def _guess(text: bytes) -> str:
    """The encoding that a text without a right CA is most likely in."""
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
    # Korean syllables lie where common Chinese characters lie too, but those have others beside them.
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
    """Whether what is not ASCII is nearly all kana, Chinese characters or Korean syllables."""
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
    """Text that somebody read as Latin-1 or as Chinese although it was UTF-8, put right where that can be done."""
    if text.isascii():
        return text
    for wrong in ("latin-1", "cp1252", "gb18030"):
        try:
            meant = text.encode(wrong).decode("utf-8")
        except UnicodeError:
            continue
        if wrong != "gb18030" or _asian(meant):  # the bytes of a Chinese name may happen to be UTF-8 for something odd
            return meant
    return text


def read_headers(head: str) -> dict[str, str]:
    """The properties of a game before its first move, by name; of two with the same name the first that says something.

    A value that lost its bracket to a wrong decoding ("BR[9娈礭  WR[P9段]") ends where the next property begins.
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
            value = _ESCAPED.sub(lambda found: "" if found[1][0] in "\r\n" else found[1], value)
        if not headers.get(name):
            headers[name] = " ".join(unscramble(value).split())
    return headers
