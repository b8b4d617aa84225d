"""Where the games lie in a block of PGN text, found without reading their moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import kernel

LONGEST_COMMENT = 1 << 16
"""Bytes after which a comment with a header in it counts as never closed."""


@kernel
def _is_tag(text, at, end):  # type: ignore[no-untyped-def]
    """Whether a line is a header: '[', a letter, word characters, white space, a quotation mark."""
    if at + 4 > end or text[at] != 91 or not (65 <= text[at + 1] <= 90 or 97 <= text[at + 1] <= 122):
        return False
    i = at + 2
    while i < end and (48 <= text[i] <= 57 or 65 <= text[i] <= 90 or 97 <= text[i] <= 122 or text[i] == 95):
        i += 1
    blank = i
    while i < end and (text[i] == 32 or text[i] == 9):
        i += 1
    return blank < i < end and text[i] == 34


@kernel
def _is_event(text, at, end):  # type: ignore[no-untyped-def]
    """Whether a line is the header with which a game begins."""
    if at + 7 > end or text[at + 6] not in (32, 9):
        return False
    first, second = (text[at + 1], text[at + 2], text[at + 3]), (text[at + 4], text[at + 5])
    return first == (69, 118, 101) and second == (110, 116)


@kernel
def _ends_with_result(text, last):  # type: ignore[no-untyped-def]
    """Whether the text up to and including position `last` ends in *, 1-0, 0-1 or 1/2-1/2."""
    if last < 0:
        return False
    if text[last] == 42:
        return True
    if last < 2 or text[last - 1] not in (45, 47):
        return False
    return (
        (text[last - 2] == 49 and text[last - 1] == 45 and text[last] == 48)
        or (text[last - 2] == 48 and text[last - 1] == 45 and text[last] == 49)
        or (text[last - 2] == 49 and text[last - 1] == 47 and text[last] == 50)
    )


@kernel
def _is_commented(text, at, end, inside):  # type: ignore[no-untyped-def]
    """Whether a comment in braces is open after a line of moves. inside: whether one is at its begin."""
    for i in range(at, end):
        if inside:
            inside = text[i] != 125
        elif text[i] == 123:
            inside = True
        elif text[i] == 59:  # the rest of the line is a comment
            break
    return inside


@kernel
def _closing(text, at, whole):  # type: ignore[no-untyped-def]
    """Where the comment ends that is open at this place; -1 where another begins before, or none ends soon: it was
    never closed. Where the text is not whole, it may end in what follows."""
    stop = min(text.shape[0], at + LONGEST_COMMENT)
    for i in range(at, stop):
        if text[i] == 125:
            return i
        if text[i] == 123:
            return -1
    return -1 if whole or stop < text.shape[0] else stop


@kernel
def _scan(text, begins, bodies, comments, whole):  # type: ignore[no-untyped-def]
    """Fill the starts of games and of their move text; return how many games begin in the text. comments: whether there
    may be any; whole: whether the file ends with the text."""
    found = 0
    commented, closing = False, -1
    in_headers, in_moves, after_blank = False, False, False
    last = -1  # the last byte that is no white space
    at, size = 0, text.shape[0]
    while at < size:
        end = at
        while end < size and text[end] != 10:
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
            if commented and at > closing and _is_tag(text, first, stop):
                closing = _closing(text, at, whole)
                commented = closing >= 0
            if commented:
                pass
            elif _is_tag(text, first, stop):
                is_next = in_headers and after_blank and _is_event(text, first, stop)  # the game before has no moves
                if is_next:
                    bodies[found - 1] = at
                if is_next or not in_headers:
                    begins[found] = at
                    bodies[found] = size
                    found += 1
                    in_headers, in_moves = True, False
            elif in_headers and text[first] == 91 and not after_blank:
                pass  # a damaged header among headers
            elif in_headers:
                bodies[found - 1] = at
                in_headers, in_moves = False, True
            elif not in_moves:
                begins[found] = at
                bodies[found] = at
                found += 1
                in_moves = True
            elif (
                after_blank
                and text[first] == 49
                and first + 1 < stop
                and text[first + 1] == 46
                and _ends_with_result(text, last)
            ):  # a game without headers after another
                begins[found] = at
                bodies[found] = at
                found += 1
            commented = comments and in_moves and _is_commented(text, first, stop, commented)
            last = stop - 1
            after_blank = False
        at = end + 1
    return found


def scan(text: bytes, whole: bool = True) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Byte offsets of each game's begin and of its move text (equal where a game has no headers).

    A game begins with the first header line after move text, with the header Event after a blank line after others
    (the game before has no moves), or, without headers, with "1." after a blank line after a result. Text before the
    first game counts as one. In a comment in braces nothing begins, unless it is never closed. whole: whether
    the file ends with the text, or goes on, in a comment perhaps.
    """
    data = np.frombuffer(text, np.uint8)
    begins = np.empty(text.count(b"\n") + 2, np.int64)
    bodies = np.empty_like(begins)
    found = _scan(data, begins, bodies, b"{" in text, whole)
    return begins[:found], bodies[:found]
