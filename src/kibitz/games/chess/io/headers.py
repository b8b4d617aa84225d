"""The headers of many games at once: where each value lies in the text, and columns of values.

A function of a value is asked once for each value that occurs, and not for each game: that is what makes an import of
millions of games quick, and lets filters be plain functions of strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kibitz.kernels import kernel
from kibitz.records import decode

TAGS = (
    "White", "Black", "WhiteElo", "BlackElo", "Result", "Date", "UTCDate", "Variant", "FEN", "Event", "Site", "ECO",
    "TimeControl", "Termination",
)  # fmt: skip
"""The headers that an import looks at."""
NONE = -1
"""The begin of a value that is not there."""

_HEADER = re.compile(r'(?:^|(?<=\]))[ \t]*\[(\w+)[ \t]+"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_ESCAPED = re.compile(r'\\(["\\])')
_NAMES = np.array([list(name.encode().ljust(16, b"\0")) for name in TAGS], np.uint8)
_LENGTHS = np.array([len(name) for name in TAGS], np.int64)


def read_headers(text: str) -> dict[str, str]:
    """The headers of one game; of two with the same name the first counts."""
    headers: dict[str, str] = {}
    for name, value in _HEADER.findall(text):
        headers.setdefault(name, unescaped(value))
    return headers


def unescaped(value: str) -> str:
    """A value without the backslashes that stand before quotation marks and backslashes in it."""
    return _ESCAPED.sub(r"\1", value)


def escaped(value: str) -> str:
    """A value as it stands between quotation marks."""
    return value.replace("\\", "\\\\").replace('"', '\\"')


@kernel
def _value_end(text, at, end):  # type: ignore[no-untyped-def]
    """Where a value that begins at `at` has its quotation mark, and whether it has a backslash; -1 without an end."""
    escaped = False
    while at < end and text[at] != 10:
        if text[at] == 34:
            return at, escaped
        if text[at] == 92:
            escaped = True
            at += 1
            if at >= end or text[at] == 10:
                break
        at += 1
    return -1, escaped


@kernel
def _find(text, begins, bodies, names, lengths, spans, odd, valid):  # type: ignore[no-untyped-def]
    """Fill the begin and end of each value, and which games have one that is not simply the bytes of the text."""
    for game in range(begins.shape[0]):
        line, stop = begins[game], bodies[game]
        while line < stop:
            at = line
            while at < stop and (text[at] == 32 or text[at] == 9):
                at += 1
            while at < stop and text[at] == 91:  # one or, as the standard allows, several in a line
                known = -1
                name = at + 1
                at = name
                while at < stop and (
                    97 <= text[at] <= 122 or 65 <= text[at] <= 90 or 48 <= text[at] <= 57 or text[at] == 95
                ):
                    at += 1
                for tag in range(names.shape[0]):
                    if lengths[tag] == at - name and text[name] == names[tag, 0]:
                        same = True
                        for i in range(1, lengths[tag]):
                            same &= text[name + i] == names[tag, i]
                        if same:
                            known = tag
                blank = at
                while at < stop and (text[at] == 32 or text[at] == 9):
                    at += 1
                if not blank < at < stop or text[at] != 34:
                    break
                end, escaped = _value_end(text, at + 1, stop)
                if end < 0:
                    break
                if known >= 0 and spans[game, known, 0] < 0:
                    spans[game, known, 0], spans[game, known, 1] = at + 1, end
                    odd[game] |= escaped
                at = end + 1
                while at < stop and (text[at] == 32 or text[at] == 9 or text[at] == 93):
                    at += 1
            while line < stop and text[line] != 10:
                if text[line] >= 128 and not valid:
                    odd[game] = True
                line += 1
            line += 1


@kernel
def _is_space(byte):  # type: ignore[no-untyped-def]
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


@kernel
def _trim(text, begins, ends, spans, odd, valid):  # type: ignore[no-untyped-def]
    """Fill where each game's moves begin and end without white space around, and which ones the parser must be given
    in another form: with lines for other programs or blank lines, empty, or not in UTF-8."""
    for game in range(begins.shape[0]):
        first, stop = begins[game], ends[game]
        new, blank = True, False  # at the begin of a line; only white space since the last line feed
        while stop > first and _is_space(text[stop - 1]):
            stop -= 1
        while first < stop and _is_space(text[first]):
            first += 1
        for at in range(begins[game], ends[game]):
            byte = text[at]
            if (byte == 37 and new) or (byte >= 128 and not valid):
                odd[game] = True
            if byte == 10:
                if blank and first < at < stop:
                    odd[game] = True
                blank = at >= first
            elif byte != 32 and byte != 9 and byte != 13:
                blank = False
            new = byte == 10
        if first == stop or text[first] >= 128 or text[stop - 1] >= 128:
            odd[game] = True
        spans[game, 0], spans[game, 1] = first, stop


@kernel
def _gather(text, spans, offsets, data):  # type: ignore[no-untyped-def]
    for i in range(spans.shape[0]):
        size = offsets[i + 1] - offsets[i]
        begin = spans[i, 0]
        data[offsets[i] : offsets[i] + size] = text[begin : begin + size]


def gather(text: NDArray[np.uint8], spans: NDArray[np.int64]) -> pa.StringArray:
    """The strings at these places [n, 2], begin and end in bytes; null where the begin is NONE."""
    known = spans[:, 0] >= 0
    sizes = np.where(known, spans[:, 1] - spans[:, 0], 0)
    offsets = np.zeros(len(spans) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    _gather(text, spans, offsets, data)
    missing = len(spans) - int(known.sum())
    bitmap = pa.py_buffer(np.packbits(known, bitorder="little")) if missing else None
    return pa.StringArray.from_buffers(len(spans), pa.py_buffer(offsets), pa.py_buffer(data), bitmap, missing)


@dataclass(frozen=True)
class ValueColumn:
    """Strings, one a game, by the number of each in the list of those that occur. codes: int32 [n]; the last of the
    `values`, None, stands for no such header."""

    codes: NDArray[np.int32]
    values: list[str | None]

    @classmethod
    def of(cls, strings: pa.StringArray) -> ValueColumn:
        found = strings.dictionary_encode()
        values = found.dictionary.to_pylist()
        return cls(found.indices.fill_null(len(values)).to_numpy(), [*values, None])

    def map(self, function: Callable[[str | None], Any], dtype: Any = object) -> NDArray[Any]:
        """The function of each game's value; it is called once for each value that occurs."""
        answers = np.empty(len(self.values), dtype)
        answers[:] = [function(value) for value in self.values]
        return answers[self.codes]

    def beside(self, other: ValueColumn, function: Callable[[str | None, str | None], Any]) -> NDArray[Any]:
        """The function of each game's two values; it is called once for each pair that occurs."""
        pairs = self.codes.astype(np.int64) * len(other.values) + other.codes
        found, where = np.unique(pairs, return_inverse=True)
        answers = np.empty(len(found), object)
        answers[:] = [function(self.values[p // len(other.values)], other.values[p % len(other.values)]) for p in found]
        return answers[where]


class Headers:
    """The headers of the games of a text.

    text: uint8, the whole text, and after it what stands for parts that are not simply UTF-8. begins, bodies, ends:
    int64 [n], where each game and its moves begin, and where it ends. spans: int64 [n, tags, 2].
    """

    def __init__(self, text: bytes, begins: NDArray[np.int64], bodies: NDArray[np.int64]):
        self.begins, self.bodies = begins, bodies
        self.ends = np.append(begins[1:], len(text))[: len(begins)]
        self._source = text
        self._valid = _is_utf8(text)
        self.text = np.frombuffer(text, np.uint8)
        self.spans = np.full((len(begins), len(TAGS), 2), NONE, np.int64)
        odd = np.zeros(len(begins), np.bool_)
        _find(self.text, begins, bodies, _NAMES, _LENGTHS, self.spans, odd, self._valid)
        self._put_right(np.flatnonzero(odd))

    def __len__(self) -> int:
        return len(self.begins)

    def _put_right(self, games: NDArray[np.int64]) -> None:
        """Values with backslashes, or of a text in Latin-1: read one by one, and put behind the text."""
        more, end = [], len(self.text)
        for game in games.tolist():
            headers = self.whole(game)
            for tag, name in enumerate(TAGS):
                if name in headers:
                    value = headers[name].encode()
                    self.spans[game, tag] = end, end + len(value)
                    more.append(value)
                    end += len(value)
        if more:
            self.text = np.frombuffer(self._source + b"".join(more), np.uint8)

    def whole(self, game: int) -> dict[str, str]:
        """All headers of one game."""
        return read_headers(decode(self._source[self.begins[game] : self.bodies[game]]))

    def value(self, game: int, name: str) -> str | None:
        """One header of one game."""
        begin, end = self.spans[game, TAGS.index(name)]
        return None if begin < 0 else self.text[begin:end].tobytes().decode()

    def has(self, name: str) -> NDArray[np.bool_]:
        return self.spans[:, TAGS.index(name), 0] >= 0

    def strings(self, name: str, games: NDArray[np.int64] | slice = slice(None)) -> pa.StringArray:
        """One header of these games, null where there is none."""
        return gather(self.text, np.ascontiguousarray(self.spans[games, TAGS.index(name)]))

    def column(self, name: str, games: NDArray[np.int64] | slice = slice(None)) -> ValueColumn:
        return ValueColumn.of(self.strings(name, games))

    def moves(self, games: NDArray[np.int64], put: Callable[[str, str | None], str]) -> pa.StringArray:
        """The moves of these games without white space around. put: makes what the parser reads of the text of moves
        and the FEN, for games that have one or whose text is not taken as it is."""
        spans = np.empty((len(games), 2), np.int64)
        odd = self.has("FEN")[games]
        _trim(self.text, self.bodies[games], self.ends[games], spans, odd, self._valid)
        more, end = [], len(self.text)
        for i in np.flatnonzero(odd).tolist():
            game = int(games[i])
            text = put(decode(self._source[self.bodies[game] : self.ends[game]]), self.value(game, "FEN")).encode()
            spans[i] = end, end + len(text)
            more.append(text)
            end += len(text)
        source = np.concatenate([self.text, np.frombuffer(b"".join(more), np.uint8)]) if more else self.text
        return gather(source, spans)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
