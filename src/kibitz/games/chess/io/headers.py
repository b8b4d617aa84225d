"""Read the headers of many games in one pass: first the offsets of the values in the text, then columns of values.

A function that converts header values is called once for each distinct value, not for each game. So an import of
millions of games is fast, and filters can be plain functions of strings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kibitz.games.chess.io.blocks import GameBlock
from kibitz.games.chess.io.plain import ELAPSED, PLAIN, REWRITTEN
from kibitz.games.chess.io.tags import read_headers
from kibitz.kernels import inner, kernel
from kibitz.records import decode

TAGS = (
    "White", "Black", "WhiteElo", "BlackElo", "Result", "Date", "UTCDate", "Variant", "FEN", "Event", "Site", "ECO",
    "TimeControl", "Termination",
)  # fmt: skip
"""The names of the PGN headers that every import reads."""
NONE = -1
"""The offset that means that a game does not have a header."""

BOT_TAGS = ("WhiteTitle", "BlackTitle", "WhiteIsComp", "BlackIsComp", "WhiteType", "BlackType")
"""The names of further headers, which show that a player is a computer program."""


def _names(tags: tuple[str, ...]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return names as bytes, uint8 [n, 16], and their lengths, int64 [n]."""
    names = np.array([list(name.encode().ljust(16, b"\0")) for name in tags], np.uint8)
    return names, np.array([len(name) for name in tags], np.int64)


@inner
def _value_end(text, at, end):  # type: ignore[no-untyped-def]
    """Return the offset of the end of the value that begins at `at`, and whether the value contains a backslash.

    The end is the position of the closing quotation mark; -1 if the line has none. text: uint8. end: the end of the
    search.
    """
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
    """Write the begin and the end of each header's value, and whether a game needs the slow reader.

    text: uint8. begins, bodies: int64 [games]. names: uint8 [tags, 16], with lengths int64 [tags]. valid: whether the
    text is UTF-8. Outputs: spans, int64 [games, tags, 2], with -1 for missing values; odd, bool [games], true if a
    value has backslashes, if a value isn't ASCII in a text that isn't UTF-8, or if a name is in another case.
    """
    for game in range(begins.shape[0]):
        line, stop = begins[game], bodies[game]
        while line < stop:
            at = line
            while at < stop and (text[at] == 32 or text[at] == 9):
                at += 1
            while at < stop and text[at] == 91:  # a line has one header or, as the standard allows, several
                known = -1
                name = at + 1
                at = name
                while at < stop and (
                    97 <= text[at] <= 122 or 65 <= text[at] <= 90 or 48 <= text[at] <= 57 or text[at] == 95
                ):
                    at += 1
                for tag in range(names.shape[0]):
                    if lengths[tag] == at - name and text[name] | 32 == names[tag, 0] | 32:
                        same = alike = True
                        for i in range(lengths[tag]):
                            same &= text[name + i] == names[tag, i]
                            alike &= text[name + i] | 32 == names[tag, i] | 32
                        if same:
                            known = tag
                        elif alike:
                            odd[game] = True
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
def _gather(text, spans, offsets, data):  # type: ignore[no-untyped-def]
    """Copy the bytes text[spans[i, 0] : spans[i, 1]] one after another into `data`.

    text, data: uint8. spans: int64 [n, 2]. offsets: int32 or int64 [n + 1], the offset of each string in `data`.
    """
    for i in range(spans.shape[0]):
        size = offsets[i + 1] - offsets[i]
        begin = spans[i, 0]
        data[offsets[i] : offsets[i] + size] = text[begin : begin + size]


def gather(text: NDArray[np.uint8], spans: NDArray[np.int64]) -> pa.StringArray:
    """Return substrings of a text as an Arrow array. text: uint8, the bytes of the text in UTF-8.

    spans: int64 [n, 2], the byte offsets of the beginning and the end of each string. If the beginning is NONE, the
    string is null.
    """
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
    """The values of one header for all games. Equal values are stored once.

    values: the distinct values. The last one is None, for games without the header. codes: int32 [n], each game's index
    into `values`.
    """

    codes: NDArray[np.int32]
    values: list[str | None]

    @classmethod
    def of(cls, strings: pa.StringArray) -> ValueColumn:
        """Build a column from the header values of all games; null for a game without the header."""
        found = strings.dictionary_encode()
        values = found.dictionary.to_pylist()
        return cls(found.indices.fill_null(len(values)).to_numpy(), [*values, None])

    def map(self, function: Callable[[str | None], Any], dtype: Any = object) -> NDArray[Any]:
        """Return the result of `function` for the value of each game, [n]. dtype: the dtype of the result.

        The function is called once for each distinct value, and once for None.
        """
        answers = np.empty(len(self.values), dtype)
        answers[:] = [function(value) for value in self.values]
        return answers[self.codes]

    def beside(self, other: ValueColumn, function: Callable[[str | None, str | None], Any]) -> NDArray[Any]:
        """Return the result of `function` for two headers of each game, object [n]. The first argument of the function
        is the value in this column, and the second is the value in the column `other`.

        The function is called once for each distinct pair of values.
        """
        pairs = self.codes.astype(np.int64) * len(other.values) + other.codes
        found, where = np.unique(pairs, return_inverse=True)
        answers = np.empty(len(found), object)
        answers[:] = [function(self.values[p // len(other.values)], other.values[p % len(other.values)]) for p in found]
        return answers[where]


class Headers:
    """The headers of the games in a block of PGN text.

    text: uint8, the text of the block, followed by header values of games that the fast parser can't read. In these
        values, escapes are undone and Latin-1 is converted to UTF-8.
    spans: int64 [n, headers, 2], the byte offsets in `text` at which the value of each header begins and ends; NONE for
        a missing header.
    """

    def __init__(self, block: GameBlock, more: tuple[str, ...] = ()):
        """Find the headers of a block's games. more: headers to read in addition to TAGS."""
        self.block, self.tags = block, TAGS + more
        self._source = block.text
        self.text = np.frombuffer(block.text, np.uint8)
        self.spans = np.full((len(block), len(self.tags), 2), NONE, np.int64)
        odd = block.flags & PLAIN == 0
        _find(self.text, block.begins, block.bodies, *_names(self.tags), self.spans, odd, block.is_utf8)
        self._put_right(np.flatnonzero(odd))

    def __len__(self) -> int:
        return len(self.block)

    def _put_right(self, games: NDArray[np.int64]) -> None:
        """Read the values of unusual games (with backslashes, or in Latin-1) one by one, and append them to the
        text.
        """
        more, end = [], len(self.text)
        for game in games.tolist():
            headers = self.whole(game)
            self.spans[game] = NONE
            for tag, name in enumerate(self.tags):
                if name in headers:
                    value = headers[name].encode()
                    self.spans[game, tag] = end, end + len(value)
                    more.append(value)
                    end += len(value)
        if more:
            self.text = np.frombuffer(self._source + b"".join(more), np.uint8)

    def whole(self, game: int) -> dict[str, str]:
        """Return all headers of a game as a dict from names to values. game: the index of the game in the block of
        games.
        """
        return read_headers(self.texts(game)[0])

    def texts(self, game: int) -> tuple[str, str]:
        """Return the text of a game's headers and the text of its moves. game: the game's index in the block
        of games.
        """
        return self.block.texts(game)

    def value(self, game: int, name: str) -> str | None:
        """Return the value of one header of a game; None if the game does not have this header. game: the game's index
        in the block of games. name: the name of the header.
        """
        begin, end = self.spans[game, self.tags.index(name)]
        return None if begin < 0 else self.text[begin:end].tobytes().decode()

    def has(self, name: str) -> NDArray[np.bool_]:
        """Return whether each game has the header with this name, bool [n]."""
        return self.spans[:, self.tags.index(name), 0] >= 0

    def strings(self, name: str, games: NDArray[np.int64] | slice = slice(None)) -> pa.StringArray:
        """Return the values of one header for the given games, as an Arrow array; null for a game without the header.
        name: the name of the header. games: int64, indices in the block of games.
        """
        return gather(self.text, np.ascontiguousarray(self.spans[games, self.tags.index(name)]))

    def column(self, name: str, games: NDArray[np.int64] | slice = slice(None)) -> ValueColumn:
        """Return the values of one header for the given games, as a `ValueColumn`. name: the name of the header. games:
        int64, indices in the block of games.
        """
        return ValueColumn.of(self.strings(name, games))

    def moves(self, games: NDArray[np.int64], rewrite: Callable[[str, str | None], str]) -> pa.StringArray:
        """Return the text of the moves of each given game, which is the input of the compiled parser of import. White
        space before and after the moves is removed. The text is "*" for a game that this parser can't read.

        games: int64, indices in the block of games.
        rewrite: a function that changes the text of some games before they are parsed: the games that start from a
            FEN, and those whose flags in `plain.classify` ask for it. Its arguments are the text of the moves and the
            FEN (None if there is none). It returns the new text.
        """
        flags, spans = self.block.flags[games], self.block.spans[games]
        more, end = [b"*"], len(self.text) + 1
        spans[flags & PLAIN == 0] = len(self.text), end
        odd = (flags & PLAIN != 0) & (self.has("FEN")[games] | (flags & (REWRITTEN | ELAPSED) != 0))
        for i in np.flatnonzero(odd).tolist():
            begin, stop = spans[i].tolist()
            text = rewrite(decode(self._source[begin:stop]), self.value(int(games[i]), "FEN")).encode()
            spans[i] = end, end + len(text)
            more.append(text)
            end += len(text)
        return gather(np.concatenate([self.text, np.frombuffer(b"".join(more), np.uint8)]), spans)
