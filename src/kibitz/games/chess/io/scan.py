"""Find where games begin in a block of PGN text, without reading their moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import SMALL_BYTES, inner, small_first

LONGEST_COMMENT = 1 << 16
"""A limit in bytes. If a comment contains a header and is longer, the comment's closing brace is assumed to be
missing.
"""


@inner
def _is_quote(text, at, end):  # type: ignore[no-untyped-def]
    """Return whether a quotation mark of any kind is at this position, in UTF-8 or Latin-1. text: uint8."""
    byte = text[at]
    if byte in (34, 39, 96, 0x82, 0x84, 0x91, 0x92, 0x93, 0x94, 0xAB, 0xB4, 0xBB):
        return True
    if byte == 0xE2:
        return at + 2 < end and text[at + 1] == 0x80 and 0x98 <= text[at + 2] <= 0x9F
    return byte == 0xC2 and at + 1 < end and text[at + 1] in (0xAB, 0xB4, 0xBB)


@inner
def _is_tag(text, at, end, begins_line):  # type: ignore[no-untyped-def]
    """Return whether a header begins with the bracket at this position. text: uint8.

    A header is a name and a quotation mark. At the beginning of a line, a header may also be a name and a value without
    quotation marks, if the line ends in a bracket.
    """
    if at + 3 > end or text[at] != 91:
        return False
    i = at + 1
    while i < end and (text[i] == 32 or text[i] == 9):
        i += 1
    if i >= end or not (65 <= text[i] <= 90 or 97 <= text[i] <= 122):
        return False
    is_big = text[i] <= 90
    while i < end and (48 <= text[i] <= 57 or 65 <= text[i] <= 90 or 97 <= text[i] <= 122 or text[i] == 95):
        i += 1
    blank = i
    while i < end and (text[i] in (32, 9, 58, 61)):
        i += 1
    if i < end and _is_quote(text, i, end):
        return True
    return begins_line and is_big and (blank < i < end or text[i - 1] in (58, 61)) and text[end - 1] == 93


@inner
def _tail(text, at, end):  # type: ignore[no-untyped-def]
    """Return the offset of the moves after the headers of a line; -1 if the line has only headers. text: uint8."""
    if text[end - 1] == 93:
        return -1
    for i in range(at, end):
        if text[i] == 93 and i > at:
            before = i - 1
            while before > at and text[before] in (32, 9):
                before -= 1
            last = text[before]
            if last in (34, 39, 96) or last >= 128:
                after = i + 1
                while after < end and text[after] in (32, 9):
                    after += 1
                if after < end and text[after] != 91:
                    return after
    return -1


@inner
def _is_event(text, at, end):  # type: ignore[no-untyped-def]
    """Return whether a line is the header with which a game begins (Event). text: uint8."""
    if at + 7 > end or text[at + 6] not in (32, 9):
        return False
    first, second = (text[at + 1], text[at + 2], text[at + 3]), (text[at + 4], text[at + 5])
    return first == (69, 118, 101) and second == (110, 116)


@inner
def _ends_with_result(text, last):  # type: ignore[no-untyped-def]
    """Return whether the text up to `last`, inclusive, ends with a result: *, 1-0, 0-1, 1/2-1/2 or another form of
    these.

    text: uint8.
    """
    if last < 0:
        return False
    if text[last] == 42:  # a star after a letter or another star marks the end of slanted or bold text
        return last == 0 or text[last - 1] <= 32 or text[last - 1] in (41, 93, 125)
    if last >= 1 and text[last] == 0xBD:
        return True
    if last < 2:
        return False
    if text[last] == 50:
        return text[last - 2] == 49 and text[last - 1] == 47
    if text[last] == 53:
        return text[last - 2] == 48 and text[last - 1] == 46
    if text[last] not in (48, 49):
        return False
    at = last - 1
    # The dashes U+2010 to U+2014, and the minus sign U+2212.
    hyphen = text[at] in (0x90, 0x91, 0x92, 0x93, 0x94) and text[last - 2] == 0x80
    if last >= 4 and (hyphen or (text[at] == 0x92 and text[last - 2] == 0x88)):
        at = last - 3
    elif text[at] not in (45, 58):
        return False
    return text[at - 1] == 97 - text[last]


@inner
def _is_commented(text, at, end, inside):  # type: ignore[no-untyped-def]
    """Return whether a comment in braces is open at the end of a line of moves. Also return the offset of a header in
    the line, -1 for none.

    text: uint8. The line is text[at:end]. inside: whether a comment is open at its beginning.
    """
    for i in range(at, end):
        if inside:
            inside = text[i] != 125
        elif text[i] == 123:
            inside = True
        elif text[i] == 59:  # the rest of the line is a comment
            break
        elif text[i] == 91 and i > at and _is_tag(text, i, end, False):
            return False, i
    return inside, -1


@inner
def _last_of_moves(text, at, end, inside, last):  # type: ignore[no-untyped-def]
    """Return the offset of the last byte of a line of moves that is neither white space nor in a comment that begins
    with a semicolon. If there is none, return `last`.

    text: uint8. The line is text[at:end]. inside: whether a comment in braces is open at its beginning.
    """
    for i in range(at, end):
        if inside:
            inside = text[i] != 125
        elif text[i] == 123:
            inside = True
        elif text[i] == 59:
            break
        if text[i] not in (32, 9):
            last = i
    return last


@inner
def _closing(text, at, whole):  # type: ignore[no-untyped-def]
    """Return the end of the comment that is open at this position; -1 if it is never closed.

    The comment counts as never closed if another comment begins first, or if it doesn't end within LONGEST_COMMENT
    bytes. If the text is not whole, the comment may end in the text that follows. text: uint8.
    """
    stop = min(text.shape[0], at + LONGEST_COMMENT)
    for i in range(at, stop):
        if text[i] == 125:
            return i
        if text[i] == 123:
            return -1
    return -1 if whole or stop < text.shape[0] else stop


@inner
def _is_letter(byte):  # type: ignore[no-untyped-def]
    """Return whether a byte is a letter, a digit or an underscore."""
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == 95


@inner
def _same_name(text, one, other):  # type: ignore[no-untyped-def]
    """Return whether the two headers with brackets at `one` and `other` have the same name. text: uint8."""
    one, other, size = one + 1, other + 1, text.shape[0]
    while one < size and text[one] in (32, 9):
        one += 1
    while other < size and text[other] in (32, 9):
        other += 1
    while one < size and other < size and text[one] == text[other] and _is_letter(text[one]):
        one += 1
        other += 1
    return one < size and other < size and not _is_letter(text[one]) and not _is_letter(text[other])


@small_first(SMALL_BYTES)
def _scan(text, begins, bodies, comments, semicolons, whole):  # type: ignore[no-untyped-def]
    """Write the offsets of games and of their moves, and return the number of games.

    text: uint8. Outputs: begins and bodies, int64. comments: whether the text may have comments in braces. semicolons:
    whether it may have comments that begin with a semicolon. whole: whether the file ends with the text.
    """
    found = 0
    commented, closing = False, -1
    in_headers, in_moves, after_blank, is_open = False, False, False, False
    last = -1  # the last byte that isn't white space or in a comment that begins with a semicolon
    name = 0  # the offset of the game's first header
    at, size = 0, text.shape[0]
    while at < size:
        end, bracket = at, False
        while end < size and text[end] != 10:
            bracket |= text[end] == 91
            end += 1
        first, stop = at, end
        while first < stop and text[first] in (32, 9, 13):
            first += 1
        while stop > first and text[stop - 1] in (32, 9, 13):
            stop -= 1
        if first == stop:
            after_blank = True
        elif text[at] == 37:  # a line that begins with % is for other programs
            pass
        else:
            is_tag = bracket and _is_tag(text, first, stop, True)
            if commented and at > closing and is_tag:
                closing = _closing(text, at, whole)
                commented = closing >= 0
            before = commented
            moves = first  # the offset of move text in this line
            if commented:
                pass
            elif is_tag:
                # If the next game begins here, the previous game has no moves.
                is_next = in_headers and after_blank and (_is_event(text, first, stop) or _same_name(text, first, name))
                if is_next:
                    bodies[found - 1] = at
                if is_next or not in_headers:
                    begins[found] = at
                    bodies[found] = size
                    name = first
                    found += 1
                    in_headers, in_moves = True, False
                moves = _tail(text, first, stop)
                if moves >= 0:
                    bodies[found - 1] = moves
                    in_headers, in_moves = False, True
            elif in_headers and text[first] == 91 and not after_blank:
                moves = -1  # a damaged header between headers
            elif is_open and in_headers and not after_blank and text[stop - 1] == 93 and text[stop - 2] == 34:
                moves = -1  # the second line of a header
            elif in_headers:
                bodies[found - 1] = at
                in_headers, in_moves = False, True
            elif not in_moves or (
                # a game without headers may follow another game
                _ends_with_result(text, last)
                and (
                    text[first] >= 65
                    or (text[first] == 49 and first + 1 < stop and text[first + 1] in (32, 41, 46, 58))
                )
                and text[first] not in (91, 123)
            ):
                begins[found] = at
                bodies[found] = at
                found += 1
                in_moves = True
            if in_moves and moves >= 0 and (bracket or comments):
                commented, tag = _is_commented(text, moves, stop, commented)
                while tag >= 0:  # a header after the moves in the line
                    begins[found] = tag
                    bodies[found] = size
                    name = tag
                    found += 1
                    in_headers, in_moves = True, False
                    moves = _tail(text, tag, stop)
                    if moves < 0:
                        break
                    bodies[found - 1] = moves
                    in_headers, in_moves = False, True
                    commented, tag = _is_commented(text, moves, stop, False)
            is_open = is_tag and text[stop - 1] != 93
            if semicolons and in_moves and not is_tag:
                last = _last_of_moves(text, first, stop, before, last)
            else:
                last = stop - 1
            after_blank = False
        at = end + 1
    return found


def scan(text: bytes, whole: bool = True) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each game begins, and where its moves begin, as two arrays of byte offsets, both int64 [games]. The
    two offsets are equal if a game has no headers.

    A header after moves begins a game. A header after other headers and a blank line may also begin a game: it must be
    Event, or have the name of the previous game's first header. The previous game then has no moves. After a line that
    ends in a result, a line of moves begins a game without headers. Text before the first header counts as a game.

    A comment from a semicolon to the end of its line is ignored. No game begins in a comment in braces, unless the
    comment is never closed.

    The text from one returned offset to the next may contain several games; `movetext.split_games` divides it. whole:
    whether the text is the end of the file. If not, the file continues, perhaps within a comment.
    """
    data = np.frombuffer(text, np.uint8)
    room = text.count(b"\n") + text.count(b"[") + 2
    begins = np.empty(room, np.int64)
    bodies = np.empty_like(begins)
    found = _scan(data, begins, bodies, b"{" in text, b";" in text, whole)
    return begins[:found], bodies[:found]
