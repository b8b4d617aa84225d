"""Split SGF files into blocks of games, and parse the main lines (the moves without variations) of the games.

The fast reader (`scan`) parses the moves. The tree reader (`tree`) parses the games that the fast reader does not
understand.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError, one_line
from kibitz.games.go.io.gib import gib_as_sgf, is_gib
from kibitz.games.go.io.scan import (
    AMONG,
    COLOUR_SHIFT,
    FINE,
    ODD,
    OUT,
    PAIRS,
    SET_UP_OUT,
    SHIFT_JIS,
    SINGLE,
    Doubles,
    Lines,
    find_games,
    main_lines,
    whole,
)
from kibitz.games.go.io.text import (
    DOUBLE_BYTES,
    HALF_WIDTH,
    charset_of,
    named_charset,
    read_headers,
    without_escapes,
)
from kibitz.games.go.io.tree import main_sequence, parse_tree, read_point, read_points, read_size, words_of
from kibitz.games.go.points import BLACK, GRID, PASS, SIZES, WHITE
from kibitz.records import Stream, unquoted
from kibitz.text import shown

ENDINGS = (".sgf", ".sgfl", ".gib")
BLOCK = 1 << 20
"""The number of bytes of text in a block."""
MAX_GAME_BYTES = 1 << 24
"""The largest number of bytes of a game; reading of a file stops at a longer one. No real game is as long, but a file
that is not SGF may be.
"""


_VALUE = re.compile(rb"\[(?:\\.?|[^\]\\])*(\]|\Z)", re.DOTALL)
_VALUE_DOUBLES = re.compile(rb"\[(?:[\x81-\xff][\x40-\xff]|\\.?|[^\]\\])*(\]|\Z)", re.DOTALL)
_VALUE_SHIFT_JIS = re.compile(rb"\[(?:[\x81-\x9f\xe0-\xff][\x40-\xff]|\\.?|[^\]\\])*(\]|\Z)", re.DOTALL)
_VALUES = {SINGLE: _VALUE, PAIRS: _VALUE_DOUBLES, SHIFT_JIS: _VALUE_SHIFT_JIS}
"""Patterns for a property's value, by the scanner's kind of encoding. The first group is the value, up to its closing
bracket or the end of the text.
"""


SET_UP_LATE = "set-up stones among the moves"
"""The reason to reject a game that sets up stones between its moves."""
ILLEGAL = "illegal move"
"""The reason to reject a game with a move outside the board."""


_BAD_SYNTAX = ("unexpected node", "property with no values", "unexpected end of SGF data")
"""Messages of sgfmill about a text whose brackets do not match."""
_ESCAPE = "perhaps a bracket in a comment needs a backslash before it"


@dataclass
class Piece:
    """A part of an SGF file that contains only complete games.

    begins, ends: the byte offsets in the text at which each game begins and ends.
    closed: bool [games], whether each game ends with its closing parenthesis.
    before: the number of games before this part in the file.
    kinds: uint8 [games], the kind of each game's encoding, such as `scan.SINGLE`.
    """

    file: str
    text: bytes
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    closed: NDArray[np.bool_]
    before: int
    kinds: NDArray[np.uint8]


@dataclass
class Games:
    """Games of one SGF file, or of many small files, with their main lines.

    begins, ends: the byte offsets in the text at which each game begins and ends.
    files, numbers: each game's file and its number in the file, from 1.
    closed: bool [games], whether each game ends with its closing parenthesis.
    lines: the main lines (the moves without variations) of the games.
    """

    text: bytes
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    files: list[str]
    numbers: list[int]
    closed: NDArray[np.bool_]
    lines: Lines
    charset: str | None = None  # encoding of the text; if None, each game's CA decides, or it is guessed
    reasons: dict[int, str] = field(default_factory=dict)  # why the tree reader could not read a game either

    def __len__(self) -> int:
        return len(self.begins)

    def headers(self, i: int) -> dict[str, str]:
        """Return the headers of the game with index `i`: a dict from names to values of the decoded SGF properties
        before its first move.
        """
        head = self.text[int(self.begins[i]) : int(self.lines.heads[i])]
        return read_headers(head.decode(self.charset or charset_of(head), "replace"))

    def handicap(self, i: int) -> int:
        """Return the number of handicap stones of the game with index `i`; 0 if it is an even game. Handicap stones are
        at least two black stones that are set up without white stones, or that Black plays before White's first move.
        """
        stones = self.black_stones(i)
        return stones if stones >= 2 and not (self.lines.setup[i] == WHITE).any() else 0

    def black_stones(self, i: int) -> int:
        """Return the number of black stones in the start position of the game with index `i`. Two or more moves of
        Black before White's first move, without setup stones, are part of the start position.
        """
        setup = self.lines.setup[i]
        if setup.any():
            return int((setup == BLACK).sum())
        first = int(self.lines.first[i])
        written = self.lines.written[first : first + int(self.lines.move_count[i])]
        first_moves = set[int]()
        for move in written.tolist():
            if move >> COLOUR_SHIFT != BLACK or move & 511 == PASS or move in first_moves:
                break
            first_moves.add(move)
        return len(first_moves) if len(first_moves) >= 2 else 0

    def why_not(self, i: int, headers: dict[str, str]) -> tuple[str, str] | None:
        """Return why the game with index `i` can't be replayed: the reason, such as "unreadable", and a detail of it.
        Returns None if it can be replayed. headers: the game's headers.
        """
        size, status = int(self.lines.size[i]), int(self.lines.status[i])
        if headers.get("GM", "1").strip() not in ("1", ""):
            return "another game", f"GM[{headers['GM'][:10]}]"
        if not self.closed[i]:
            return "cut short", "the closing bracket is missing"
        if size not in SIZES:
            text = headers.get("SZ", "?")[:10]
            return (f"board of {size}×{size}" if size else f"board of {text.replace(':', '×')}"), f"SZ[{text}]"
        if status == ODD:
            self._parse_as_tree(i)
            status = int(self.lines.status[i])
        if status == OUT:
            return ILLEGAL, f"move {int(self.lines.move_count[i]) + 1}: outside the board"
        if status == SET_UP_OUT:
            return "set-up position", "a set-up stone outside the board"
        if status == AMONG:
            return SET_UP_LATE, f"after move {int(self.lines.move_count[i])}"
        if status == ODD:
            return "unreadable", self.reasons.get(i, "")
        return None

    def whole_part(self, i: int) -> Games:
        """Return the game with index `i` alone, with the end of its text repaired. The game is cut after its last
        complete property value, and the missing closing parentheses are added.
        """
        text = self.text[int(self.begins[i]) : int(self.ends[i])]
        kind = _kind_of(text)
        values = _VALUES[kind]
        end = max((match.end() for match in values.finditer(text) if match[1]), default=len(text))
        outside = values.sub(b"", text[:end])
        text = text[:end] + b")" * max(0, outside.count(b"(") - outside.count(b")"))
        begins, ends = np.array([0]), np.array([len(text)])
        lines = main_lines(text, begins, ends, np.array([kind], np.uint8))
        return Games(text, begins, ends, [self.files[i]], [self.numbers[i]], np.array([True]), lines, self.charset)

    def _parse_as_tree(self, i: int) -> None:
        """Parse a game that the fast reader did not understand. If this succeeds, its main line is replaced."""
        text = self.text[int(self.begins[i]) : int(self.ends[i])]
        if not self.charset and has_double_bytes(text):  # the tree reader does not support characters of two bytes
            text = text.decode(charset_of(text), "replace").encode()
        try:
            status, setup, side, written = _by_tree(text)
        except (ValueError, KeyError) as error:
            reason = one_line(error) if str(error) else "not SGF"
            self.reasons[i] = f"{reason} ({_ESCAPE})" if reason in _BAD_SYNTAX else reason
            return
        lines = self.lines
        lines.status[i], lines.setup[i], lines.side[i] = status, setup, side
        lines.first[i], lines.move_count[i] = len(lines.written), len(written)
        self.lines = lines._replace(written=np.concatenate((lines.written, np.array(written, np.uint16))))


def _by_tree(text: bytes) -> tuple[int, NDArray[np.uint8], int, list[int]]:
    """Parse a game as a tree. Returns its main line in the form of the fast reader: status, setup stones, the side that
    PL gives, moves.

    Raises ValueError if the text is not SGF.
    """
    tree = parse_tree(text)
    size = read_size(words_of(tree.sequence[0].get("SZ", [b"19"])))
    setup, written, side, among = np.zeros(GRID * GRID, np.uint8), list[int](), 0, False
    for node in main_sequence(tree):
        for colour, name in ((BLACK, "AB"), (WHITE, "AW"), (0, "AE")):
            points = read_points([value for value in node.get(name, []) if value.strip()], size)
            among = among or bool(written and points)
            if not among:
                setup[points] = colour
        for colour, name in ((BLACK, "B"), (WHITE, "W")):
            for value in node.get(name, []):
                if among:
                    return AMONG, setup, side, written
                if (point := read_point(value, size)) is None:
                    if len(value.strip()) != 2:
                        raise ValueError("the file has a move that is not on a point of the board")
                    return OUT, setup, side, written
                written.append(point + (colour << COLOUR_SHIFT))
        if not written and "PL" in node:
            side = BLACK if words_of(node["PL"])[:1].lower() in ("b", "1") else WHITE
    return FINE, setup, side, written


_CHARSET = re.compile(rb"\bCA\s*\[[^]]*\]")
"""The property of SGF that names the charset."""


def pieces(stream: Stream, broken: list[str]) -> Iterator[Piece]:
    """Yield the games of one file as parts of the file, in order. stream: the open file. If it is compressed and
    damaged, reading ends at the damage. broken: a list to which the function appends a line of text about each problem.
    """
    rest, games_read, faults, gib, stray = b"", 0, len(broken), False, _StrayText(stream.name)
    unpacked = stream.texts(BLOCK, "SGF files are text")
    while True:
        try:
            block = next(unpacked, b"")
        except KibitzError as error:
            broken.append(str(error))
            block = b""
        if stream.converted:  # the editor that wrote UTF-16 left the name of the older charset
            block = _CHARSET.sub(b"CA[UTF-8]", block)
        block = unquoted(block)
        text = rest + block if rest else block
        gib = gib or (not games_read and is_gib(text))
        if gib:  # a file in Tygem's format has one game
            rest = text
            if block and len(rest) <= MAX_GAME_BYTES:
                continue
            text, block = gib_as_sgf(text), b""
        text = without_escapes(text)
        doubles = doubles_in(text)
        begins, ends, closed = find_games(text, doubles)
        complete = len(begins)
        if block and complete and not closed[-1]:
            complete -= 1
        if complete or games_read:
            stray.note(text, begins, ends, complete, not block, broken)
        if complete:
            begins, ends, closed = begins[:complete], ends[:complete], closed[:complete]
            yield Piece(stream.name, text, begins, ends, closed, games_read, doubles.of(begins))
            games_read += complete
            text = text[int(ends[-1]) :]
        rest = text
        if not block:
            if not games_read and len(broken) == faults:
                broken.append(f"{stream.name}: this does not look like an SGF file: no games")
            return
        if len(rest) > MAX_GAME_BYTES:
            megabytes = len(rest) >> 20
            broken.append(
                f"{stream.name}: this does not look like an SGF file: {megabytes} MB without the end of a game"
            )
            return


STRAY = "skipped text that belongs to no game"
"""The message about a part of a file that belongs to no game. A file with such text is not damaged."""
_ENDS_OF_LINES = re.compile(rb"\r\n|\r|\n")
_SHOWN_LENGTH = 40


def _stray(text: bytes, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> Iterator[tuple[int, str]]:
    """Return the line, from 0, and a message for each slice of a text that is not blank."""
    wide = stops - starts > 2
    for start, stop in zip(starts[wide].tolist(), stops[wide].tolist(), strict=True):
        words = text[start:stop].strip(b"\xef\xbb\xbf\x1a\x00 \t\r\n")
        if len(words) > 1:
            line = len(_ENDS_OF_LINES.findall(text, 0, start + text[start:stop].index(words)))
            begin = words[:_SHOWN_LENGTH].decode(charset_of(words), "replace")
            yield line, f"{STRAY}: {shown(begin)}"


def stray_text(text: bytes, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> list[str]:
    """Return a message, with the line number, for each part of a text that belongs to no game. begins, ends: the byte
    offsets at which each game begins and ends.
    """
    starts, stops = np.concatenate([[0], ends]), np.append(begins, len(text))
    return [f"line {1 + line}: {words}" for line, words in _stray(text, starts, stops)]


class _StrayText:
    """Text of a file that belongs to no game, reported by line."""

    def __init__(self, file: str):
        self.file, self.lines_before = file, 1

    def note(
        self,
        text: bytes,
        begins: NDArray[np.int64],
        ends: NDArray[np.int64],
        complete: int,
        last: bool,
        broken: list[str],
    ) -> None:
        """Append a message to `broken` about each part of a text that belongs to no game and lies before or between the
        first `complete` games. If the file ends with the text and all its games are complete, the part after the last
        game is included.

        begins, ends: int64 [games], the byte offsets at which each game begins and ends. last: whether the file ends
        with this text.
        """
        if not complete and not last:
            return
        end = int(ends[complete - 1]) if complete else 0
        starts = np.concatenate([[0], ends[:complete]])
        stops = np.append(begins[:complete], len(text) if last and complete == len(begins) else end)
        for line, words in _stray(text, starts, stops):
            broken.append(f"{self.file}: line {self.lines_before + line}: {words}")
        self.lines_before += len(_ENDS_OF_LINES.findall(text, 0, end))


def gather(pieces: Iterable[Piece]) -> Iterator[Games]:
    """Combine parts of files, in order, into larger blocks, which may contain several files. Yields each block with the
    main lines (the moves without variations) of its games.
    """
    joined: list[Piece] = []
    room = BLOCK
    for piece in pieces:
        if joined and room < len(piece.text):
            yield _joined(joined)
            joined, room = [], BLOCK
        joined.append(piece)
        room -= len(piece.text)
    if joined:
        yield _joined(joined)


def _joined(parts: list[Piece]) -> Games:
    text = parts[0].text if len(parts) == 1 else b"".join(piece.text for piece in parts)
    shifts = np.cumsum([0, *(len(piece.text) for piece in parts)])
    begins = np.concatenate([piece.begins + shift for piece, shift in zip(parts, shifts, strict=False)])
    ends = np.concatenate([piece.ends + shift for piece, shift in zip(parts, shifts, strict=False)])
    return Games(
        text,
        begins,
        ends,
        [piece.file for piece in parts for _ in piece.begins],
        [piece.before + i for piece in parts for i in range(1, len(piece.begins) + 1)],
        np.concatenate([piece.closed for piece in parts]),
        main_lines(text, begins, ends, np.concatenate([piece.kinds for piece in parts])),
    )


_BEGINS = re.compile(rb"\(\s*;\s*(?:GM|FF|SZ|CA|AP|PB|PW|DT|EV|KM|RE|RU|HA|GN)\s*\[")
"""Matches the root node of a game. No character of two bytes contains such text."""
_BEYOND_ASCII = bytes(range(128, 256))
_SAMPLE = 1 << 16
"""An encoding is guessed from this number of bytes at the beginning of a text."""


def doubles_in(text: bytes) -> Doubles:
    """Find the parts of a text whose encoding has double-byte characters, such as GBK. Returns the kind of encoding of
    each part.

    Each game of the text may have a different encoding, because people join files.
    """
    if _is_utf8(text, cut=True):
        return whole(SINGLE)
    starts = [0, *(match.start() for match in _BEGINS.finditer(text) if match.start())]
    kinds = np.zeros(len(starts), np.uint8)
    odd: list[int] = []
    stops = [*starts[1:], len(text)]
    for i, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        part = text[start:stop]
        if _is_utf8(part, cut=stop == len(text)):
            continue
        if (name := named_charset(_without_half(part))) is not None:
            kinds[i] = _kind(name)
        else:
            odd.append(i)
    if odd:  # one guess for all games that don't name their encoding, because a guess needs much text
        kinds[odd] = _kind_of(b"".join(text[starts[i] : stops[i]] for i in odd))
    return Doubles(np.array(starts, np.int64), kinds)


def _kind_of(text: bytes) -> int:
    """Return the kind of a text's encoding. Only the beginning of the text is examined."""
    return SINGLE if _is_utf8(text, cut=True) else _kind(charset_of(_without_half(text)))


def _kind(charset: str) -> int:
    return SHIFT_JIS if charset in HALF_WIDTH else PAIRS if charset in DOUBLE_BYTES else SINGLE


def _is_utf8(text: bytes, cut: bool) -> bool:
    """Return whether a text is UTF-8. cut: whether it may end in the middle of a character."""
    if text.isascii():
        return True
    try:
        codecs.utf_8_decode(text, "strict", not cut)
    except UnicodeDecodeError:
        return False
    return True


def _without_half(text: bytes) -> bytes:
    """Return the first _SAMPLE bytes of a text, without bytes beyond ASCII at the end. Such bytes may be half a
    character, which is invalid in every encoding.
    """
    return text[:_SAMPLE].rstrip(_BEYOND_ASCII)


def has_double_bytes(text: bytes) -> bool:
    """Return whether the encoding of a text is one in which the second byte of a character may be equal to a
    bracket.
    """
    return _kind_of(text) != SINGLE
