"""A fast compiled scanner of SGF. It finds the byte offsets of the games in a text, and their main lines as arrays.

The scanner reads only the properties that matter to the moves. Python code reads the headers later. A game with unusual
syntax gets the status ODD, and a full parser reads it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import GRID, PASS, POINTS
from kibitz.kernels import SMALL_BYTES, inner, kernel, small_first

COLOUR_SHIFT = 9
"""The number of bits by which the color is shifted in a scanned move. The move is point + (color << COLOUR_SHIFT)."""

FINE, ODD, OUT, AMONG, SET_UP_OUT = range(5)
"""The status of a scanned main line.

FINE: it was read. ODD: its syntax was not understood. OUT: a move is outside the board. AMONG: stones are set up
between moves. SET_UP_OUT: a setup stone is outside the board.
"""

SINGLE, PAIRS, SHIFT_JIS = range(3)
"""Kinds of text encodings. They differ in whether a byte that looks like a bracket can be part of a longer character.

SINGLE: it can't, as in UTF-8 and Latin-1. PAIRS: a byte from 0x81 on and the next byte are one character, as in GBK and
Big5. SHIFT_JIS: like PAIRS, but the bytes 0xA0 to 0xDF are characters of one byte (half-width katakana).
"""

_B, _W, _AB, _AW, _AE, _PL, _SZ = 2, 23, 34, 55, 37, 524, 634
"""Property names as numbers, with 5 bits per capital letter. Lower-case letters are ignored (FF[3]: "Black",
"AddBlack").
"""


@inner
def _blank(byte):  # type: ignore[no-untyped-def]
    """Return whether a byte is white space."""
    return byte == 32 or 9 <= byte <= 13


@inner
def _is_property(text, at):  # type: ignore[no-untyped-def]
    """Return whether a name of two capital letters and a value begin at this byte.

    This is a root node without its semicolon, as Sina writes it. text: uint8 [bytes].
    """
    if at + 2 >= text.shape[0] or not (65 <= text[at] <= 90 and 65 <= text[at + 1] <= 90):
        return False
    at += 2
    while at < text.shape[0] and _blank(text[at]):
        at += 1
    return at < text.shape[0] and text[at] == 91


@inner
def _begins_game(text, at):  # type: ignore[no-untyped-def]
    """Return whether a new game begins at this byte, the start of a line: "(;" and a property that only root nodes
    have.

    text: uint8 [bytes].
    """
    size = text.shape[0]
    if at + 6 >= size or text[at] != 40:
        return False
    at += 1
    while at < size and _blank(text[at]):
        at += 1
    if at >= size or text[at] != 59:
        return False
    at += 1
    while at < size and _blank(text[at]):
        at += 1
    if at + 3 >= size or text[at + 2] != 91:
        return False
    first, second = text[at], text[at + 1]
    known = False
    for name in (b"GM", b"FF", b"SZ", b"CA", b"AP", b"PB", b"PW", b"DT", b"EV", b"KM", b"RE", b"RU", b"HA", b"GN"):
        known = known or (first == name[0] and second == name[1])
    if not known:
        return False
    at += 3
    while at < size and text[at] != 10:  # the brackets of a game that was pasted into a comment are escaped
        if text[at] == 93:
            return text[at - 1] != 92
        at += 1
    return False


@inner
def _is_pair(text, at, end, kind):  # type: ignore[no-untyped-def]
    """Return whether a character of two bytes begins at this byte. text: uint8 [bytes]. kind: the kind of the encoding,
    such as SINGLE.
    """
    if kind == 0 or at + 1 >= end or text[at] < 0x81 or text[at + 1] < 0x40:
        return False
    return kind == 1 or not 0xA0 <= text[at] <= 0xDF


@small_first(SMALL_BYTES)
def _find(text, parts, kinds, begins, ends, closed):  # type: ignore[no-untyped-def]
    """Fill the offsets of the games and whether each is closed, and return the number of games. The last one may be
    open.

    text: uint8 [bytes]. parts: int64 [n], the offsets of the parts of the text, with kinds uint8 [n] (see Doubles).
    begins, ends: int64 [most]. closed: bool [most].
    """
    count, depth, at, size = 0, 0, 0, text.shape[0]
    part = 0
    inside = False  # whether the position is inside a property's value
    while at < size:
        byte = text[at]
        if byte == 10 and depth > 0 and _begins_game(text, at + 1):  # the previous game is incomplete
            ends[count - 1] = at + 1
            depth, inside = 0, False
        elif inside:
            while part + 1 < parts.shape[0] and parts[part + 1] <= at:
                part += 1
            if byte == 92 or _is_pair(text, at, size, kinds[part]):
                at += 1
            elif byte == 93:
                inside = False
        elif depth == 0:
            if byte == 40:
                after = at + 1
                while after < size and _blank(text[after]):
                    after += 1
                if after < size and (text[after] == 59 or _is_property(text, after)):
                    begins[count], ends[count], closed[count] = at, size, False
                    count += 1
                    depth = 1
        elif byte == 91:
            inside = True
        elif byte == 40:
            depth += 1
        elif byte == 41:
            depth -= 1
            if depth == 0:
                ends[count - 1], closed[count - 1] = at + 1, True
        at += 1
    return count


class Doubles(NamedTuple):
    """The kinds of encodings in a text. The parts of a text may have different encodings because people join files. In
    a double-byte encoding, the second byte of a character may look like a bracket.

    parts: int64 [n], the byte offset at which each part begins; the first is 0.
    kinds: uint8 [n], the kind of each part's encoding: PAIRS or SHIFT_JIS for double-byte encodings, SINGLE for all
        others.
    """

    parts: NDArray[np.int64]
    kinds: NDArray[np.uint8]

    def of(self, begins: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the kind of the encoding of each game, uint8 [games]: SINGLE, PAIRS or SHIFT_JIS. begins: int64
        [games], the byte offset at which each game begins.
        """
        return self.kinds[np.searchsorted(self.parts, begins, side="right") - 1]


def whole(kind: int) -> Doubles:
    """Return the encodings of a text that has the same encoding everywhere. kind: the kind of this encoding: SINGLE,
    PAIRS or SHIFT_JIS.
    """
    return Doubles(np.zeros(1, np.int64), np.array([kind], np.uint8))


def find_games(
    text: bytes, doubles: Doubles | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Find the games in an SGF text. Returns three arrays. The first two have the byte offsets at which each game
    begins and ends, int64 [n]. The third is true for each game whose closing parenthesis is in the text, bool [n].

    doubles: the kinds of encodings in the text; None if no byte that looks like a bracket belongs to a longer
    character. A game without a closing parenthesis ends at the line where the next game begins, or at the end of the
    text.
    """
    most = text.count(b"(") + 1
    begins, ends, closed = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.bool_)
    parts, kinds = whole(SINGLE) if doubles is None else doubles
    count = _find(np.frombuffer(text, np.uint8), parts, kinds, begins, ends, closed)
    return begins[:count], ends[:count], closed[:count]


class Lines(NamedTuple):
    """The main lines (the moves without variations) of some games as arrays, as the scanner reads them.

    status: uint8 [games], FINE or the kind of the fault, such as ODD.
    size: int64 [games], the size of the board, 0 if it is unreadable.
    heads: int64 [games], the byte offset of the first move in the text.
    setup: uint8 [games, 361], the color of the stone that is set up on each point before the first move, 0 for none.
    side: uint8 [games], the color in the SGF property PL, which moves first; 0 for none.
    first, move_count: int64 [games], the index of a game's first move in `written`, and the number of its moves. If the
        status is not FINE, only the moves before the fault are counted.
    written: uint16, the moves of all games. A move is point + (color << COLOUR_SHIFT).
    """

    status: NDArray[np.uint8]
    size: NDArray[np.int64]
    heads: NDArray[np.int64]
    setup: NDArray[np.uint8]
    side: NDArray[np.uint8]
    first: NDArray[np.int64]
    move_count: NDArray[np.int64]
    written: NDArray[np.uint16]


@kernel
def _value_end(text, at, end, kind):  # type: ignore[no-untyped-def]
    """Return the offset of the bracket that closes the value at `at`; `end` if there is none."""
    while at < end and text[at] != 93:
        if text[at] == 92 or _is_pair(text, at, end, kind):
            at += 1
        at += 1
    return min(at, end)


@inner
def _vertex(text, at, end, size):  # type: ignore[no-untyped-def]
    """Parse the point of a value. Returns PASS if it is empty, -1 outside the board, -2 if it is not understood."""
    while at < end and _blank(text[at]):
        at += 1
    while at < end and _blank(text[end - 1]):
        end -= 1
    if at == end:
        return PASS
    if end - at != 2 or not (97 <= text[at] <= 122 and 97 <= text[at + 1] <= 122):
        return -2
    column, row = text[at] - 97, text[at + 1] - 97
    if column >= size or row >= size:
        return PASS if column == 19 and row == 19 and size <= 19 else -1
    return np.int64(row) * GRID + column


@kernel
def _put(text, at, end, size, colour, setup):  # type: ignore[no-untyped-def]
    """Set up the points of a value, which is one point or a rectangle "aa:cc". Returns a status."""
    colon = -1
    for i in range(at, end):
        if text[i] == 58:
            colon = i
    one = _vertex(text, at, end if colon < 0 else colon, size)
    other = one if colon < 0 else _vertex(text, colon + 1, end, size)
    if one == -1 or other == -1:
        return SET_UP_OUT
    if one < 0 or other < 0 or one == PASS or other == PASS:
        return ODD
    for row in range(min(one // GRID, other // GRID), max(one // GRID, other // GRID) + 1):
        for column in range(min(one % GRID, other % GRID), max(one % GRID, other % GRID) + 1):
            setup[row * GRID + column] = colour
    return FINE


@kernel
def _board_size(text, at, end):  # type: ignore[no-untyped-def]
    """Parse the board size from `at` to `end`. The text may also have the same number twice, with a colon between them.
    Returns 19 for an empty text, and 0 for other text.

    text: uint8 [bytes].
    """
    number, before, digits = 0, -1, 0
    while at < end and _blank(text[at]):
        at += 1
    if at == end:
        return 19
    for i in range(at, end):
        byte = text[i]
        if 48 <= byte <= 57 and digits < 3:
            number = number * 10 + byte - 48
            digits += 1
        elif byte == 58 and before < 0:
            before, number, digits = number, 0, 0
        elif not _blank(byte):
            return 0
    return number if before < 0 or before == number else 0


@inner
def _first_size(text, at, end, kind):  # type: ignore[no-untyped-def]
    """Return the size of the board: the first SZ before the first move or in its node; 19 if there is none.

    text: uint8 [bytes].
    """
    name, moved = 0, False
    while at < end:
        byte = text[at]
        if 65 <= byte <= 90:
            name = (name * 32 + byte - 64) & 0xFFFF
        elif byte == 91:
            stop = _value_end(text, at + 1, end, kind)
            if name == _SZ:
                return _board_size(text, at + 1, stop)
            moved = moved or name in (_B, _W)
            name, at = 0, stop
        elif byte == 41 or (moved and (byte == 59 or byte == 40)):
            return 19
        at += 1
    return 19


@inner
def _is_tree(text, at, end, kind):  # type: ignore[no-untyped-def]
    """Return whether only variations follow the main line, whose closing parenthesis is at `at`.

    Other text belongs to the main line. It follows an unescaped bracket or parenthesis in a comment. text: uint8.
    """
    depth, lowest = 1, 1
    while at < end:
        byte = text[at]
        if byte == 40:
            depth += 1
        elif byte == 41:
            depth -= 1
            lowest = min(lowest, depth)
        elif depth == lowest and not _blank(byte):
            return False
        elif byte == 91:
            at = _value_end(text, at + 1, end, kind)
        at += 1
    return True


@kernel
def _main_line(text, at, end, kind, setup, written):  # type: ignore[no-untyped-def]
    """Read one game's main line. Returns status, size, offset of the first move, the side that PL gives, and number of
    moves.

    The main line takes the first variation at every branch, so it is the text before the first closing parenthesis.
    text: uint8. Outputs: setup, uint8 [361], and written, uint16.
    """
    size = _first_size(text, at, end, kind)
    status, head, side, count, among = FINE, end, 0, 0, False
    if size < 1 or size > 19:
        return status, size, head, side, count
    name, last, begin, nodes, in_root = 0, 0, at, 0, False
    while at < end:
        byte = text[at]
        # Here the root node ends. If it has a move, all its other properties describe the game, even those after the
        # move.
        if in_root and (byte == 41 or byte == 59 or byte == 40):
            head, in_root = at, False
        if byte == 41:
            break
        if 65 <= byte <= 90:
            if name == 0:
                begin = at
            name = (name * 32 + byte - 64) & 0xFFFF
        elif byte == 91:
            if name:
                last = name
            stop = _value_end(text, at + 1, end, kind)
            if last in (_B, _W):
                if name == 0:  # a further value of the same property
                    status = ODD
                if count == 0:
                    head, in_root = begin, nodes <= 1
                point = _vertex(text, at + 1, stop, size)
                if point < 0 and status == FINE:
                    status = ODD if point == -2 else OUT
                if among and status == FINE:
                    status = AMONG
                if status != FINE and status != ODD:
                    return status, size, head, side, count
                written[count] = max(point, 0) + ((1 if last == _B else 2) << COLOUR_SHIFT)
                count += 1
            elif last in (_AB, _AW, _AE):
                if count and not in_root:  # the stones of a node are placed before its move
                    among = True
                else:
                    colour = 1 if last == _AB else 2 if last == _AW else 0
                    put = _put(text, at + 1, stop, size, colour, setup)
                    status = put if status == FINE else status
            elif last == _PL and stop > at + 1:  # PL
                side = 1 if text[at + 1] in (66, 98, 49) else 2
            name = 0
            at = stop
        elif byte == 59 or byte == 40:
            name, last = 0, 0
            nodes += byte == 59
        elif not _blank(byte) and not 97 <= byte <= 122:
            status = ODD if status == FINE else status
        at += 1
    if status == FINE and not _is_tree(text, at, end, kind):
        status = ODD
    if count == 0:
        head = at
    return status, size, head, side, count


@small_first(SMALL_BYTES)
def _main_lines(text, begins, ends, kinds, status, sizes, heads, setup, side, first, count, written):  # type: ignore[no-untyped-def]
    """Read the main lines of games, and return the number of moves. The outputs are the fields of Lines.

    text: uint8. begins, ends: int64 [games], the byte offsets of the games. kinds: uint8 [games], the kind of each
    game's encoding, such as SINGLE.
    """
    at = 0
    for i in range(begins.shape[0]):
        status[i], sizes[i], heads[i], side[i], count[i] = _main_line(
            text, begins[i], ends[i], kinds[i], setup[i], written[at:]
        )
        first[i] = at
        at += count[i]
    return at


def main_lines(
    text: bytes, begins: NDArray[np.int64], ends: NDArray[np.int64], kinds: NDArray[np.uint8] | None = None
) -> Lines:
    """Return the main lines (the moves without variations) of the games that `find_games` found in a text.

    begins, ends: int64 [games], the byte offsets at which each game begins and ends. kinds: uint8 [games], the kind of
    each game's encoding, such as SINGLE; None if all are SINGLE.
    """
    n = len(begins)
    kinds = np.zeros(n, np.uint8) if kinds is None else kinds
    lines = Lines(
        np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n, np.int64), np.zeros((n, POINTS), np.uint8),
        np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n, np.int64),
        np.empty(len(text) // 2 + 1, np.uint16),  # a further value of a property takes at least two bytes: "[]"
    )  # fmt: skip
    used = _main_lines(
        np.frombuffer(text, np.uint8), begins, ends, kinds, lines.status, lines.size, lines.heads, lines.setup,
        lines.side, lines.first, lines.move_count, lines.written,
    )  # fmt: skip
    return lines._replace(written=lines.written[:used])
