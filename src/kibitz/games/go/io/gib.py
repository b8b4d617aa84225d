"""Convert game records of the server Tygem (.gib) to SGF, so that every SGF reader can read them.

A line `STO 0 n color x y` is a move: color 1 is Black, x and y count from 0 at the upper left. `SKI 0 n` is a pass.
`INI 0 1 stones &4` gives the number of handicap stones, which are placed on the usual points.
"""

from __future__ import annotations

import re

from kibitz.games.go.io.text import charset_of
from kibitz.games.go.points import GRID, to_sgf

BEGIN = rb"\HS"
END = r"\GE"
_HEADER = re.compile(r"^\s*\\\[([A-Z]+)=(.*?)(?:\\\])?\s*$", re.MULTILINE)
_PLAYER = re.compile(r"(.*?)\s*\(([^()]*)\)\s*$")
_DATE = re.compile(r"(\d{4})\D{1,2}(\d{1,2})\D{1,2}(\d{1,2})")
_BY_CODE = {0: "B", 1: "W", 3: "B+R", 4: "W+R", 7: "B+T", 8: "W+T"}
"""Results by the number in GRLT. The first two are results of scored games."""


def is_gib(text: bytes) -> bool:
    """Return whether a file is a game record in the GIB format of the server Tygem. text: the file's content or its
    beginning.
    """
    return text[:64].lstrip(b"\xef\xbb\xbf \r\n\t").startswith(BEGIN)


def gib_as_sgf(data: bytes) -> bytes:
    """Return a game record of the server Tygem as SGF in UTF-8. data: the content of the GIB file."""
    text = "\n".join(data.decode(_charset(data), "replace").lstrip("\ufeff").splitlines())
    headers = {name: value.strip() for name, value in _HEADER.findall(text)}
    main = dict(part.split(":", 1) for part in headers.get("GAMEINFOMAIN", "").split(",") if ":" in part)
    tag = headers.get("GAMETAG", "")
    fields = {"FF": "4", "GM": "1", "CA": "UTF-8", "SZ": str(GRID), "AP": "Tygem"}
    for name, player, rank in (("GAMEBLACKNAME", "PB", "BR"), ("GAMEWHITENAME", "PW", "WR")):
        if match := _PLAYER.match(headers.get(name, "")):
            fields[player], fields[rank] = match[1], match[2]
        elif headers.get(name):
            fields[player] = headers[name]
    for name, key in (("GAMENAME", "GN"), ("GAMEPLACE", "PC"), ("GAMETOTALNUM", "RO")):
        if headers.get(name):
            fields[key] = headers[name]
    if match := _DATE.search(headers.get("GAMEDATE", "")) or _DATE.search(tag.partition("C")[2]):
        fields["DT"] = f"{match[1]}-{int(match[2]):02}-{int(match[3]):02}"
    stones = _handicap(text)
    komi = _whole(main.get("GONGJE", "")) or _whole((re.search(r"(?:^|,)G(\d+)", tag) or ["", ""])[1])
    fields["KM"] = f"{(komi or 0) / 10:g}"
    if stones > 1:
        fields["HA"] = str(stones)
    if result := _result(main, headers.get("GAMERESULT", "")):
        fields["RE"] = result
    head = "".join(f"{name}[{_escaped(value)}]" for name, value in fields.items())
    # More than nine handicap stones have no usual points. Then one stone is put outside the board, so that the reader
    # reports an error.
    points = [*map(to_sgf, _handicap_points(min(stones, 9))), *["zz"] * (stones > 9)]
    setup = "AB" + "".join(f"[{place}]" for place in points) if stones > 1 else ""
    end = ")" if END in text else ""  # without its bracket, the reader reports that the game is cut short
    return f"(;{head}{setup}{_moves(text, stones)}{end}\n".encode()


def _charset(data: bytes) -> str:
    """Return the encoding. If all characters can be Korean syllables, the encoding is Korean, because the server is
    Korean. Otherwise, it is guessed as for any other game.
    """
    try:
        korean = [letter for letter in data.decode("euc_kr") if letter > "\x7f"]
    except UnicodeDecodeError:
        return charset_of(data)
    return "euc_kr" if korean and all("가" <= letter <= "힣" for letter in korean) else charset_of(data)


def _moves(text: str, stones: int) -> str:
    parts, colour = [], "W" if stones > 1 else "B"
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 6 and words[0] == "STO":
            colour = "B" if words[3] == "1" else "W"
            x, y = _whole(words[4]), _whole(words[5])
            # A point outside the board stays in the record, so that the reader reports it
            parts.append(f";{colour}[{chr(97 + min(x, 25))}{chr(97 + min(y, 25))}]")
        elif words[:1] == ["SKI"]:
            parts.append(f";{colour}[]")
        else:
            continue
        colour = "W" if colour == "B" else "B"
    return "".join(parts)


def _handicap(text: str) -> int:
    """Return the number of handicap stones in the line INI."""
    words = next((line.split() for line in text.splitlines() if line.split()[:1] == ["INI"]), [])
    return _whole(words[3]) if len(words) > 3 else 0


def _handicap_points(stones: int) -> list[int]:
    """Return the usual points of 2 to 9 handicap stones."""
    near, middle, far = 3, 9, 15
    corners = [(near, far), (far, near), (far, far), (near, near)]  # row, column
    points = corners[:stones]
    if stones >= 6:
        points += [(middle, near), (middle, far)]
    if stones >= 8:
        points += [(near, middle), (far, middle)]
    if stones in (5, 7, 9):
        points.append((middle, middle))
    return [row * GRID + column for row, column in points]


def _result(main: dict[str, str], words: str) -> str:
    code = main.get("GRLT", "")
    known = _BY_CODE.get(_whole(code), "") if code.strip().isdigit() else ""
    if known in ("B", "W"):
        margin = _whole(main.get("ZIPSU", "")) / 10
        return f"{known}+{margin:g}" if margin else f"{known}+"
    return known or words


def _whole(text: str) -> int:
    return int(text) if text.strip().isascii() and text.strip().isdigit() and len(text) < 9 else 0


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")
