"""Where the games lie in a block of PGN text, found without reading their moves."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(nogil=True, cache=True)
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


@numba.njit(nogil=True, cache=True)
def _is_event(text, at, end):  # type: ignore[no-untyped-def]
    """Whether a line is the header with which a game begins."""
    if at + 7 > end or text[at + 6] not in (32, 9):
        return False
    first, second = (text[at + 1], text[at + 2], text[at + 3]), (text[at + 4], text[at + 5])
    return first == (69, 118, 101) and second == (110, 116)


@numba.njit(nogil=True, cache=True)
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


@numba.njit(nogil=True, cache=True)
def _scan(text, begins, bodies):  # type: ignore[no-untyped-def]
    """Fill the starts of games and of their move text; return how many games begin in the text."""
    found = 0
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
            if _is_tag(text, first, stop):
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
            last = stop - 1
            after_blank = False
        at = end + 1
    return found


def scan(text: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Byte offsets of each game's begin and of its move text (equal where a game has no headers).

    A game begins with the first header line after move text, with the header Event after a blank line after others
    (the game before has no moves), or, without headers, with "1." after a blank line after a result. Text before the
    first game counts as one.
    """
    data = np.frombuffer(text, np.uint8)
    begins = np.empty(text.count(b"\n") + 2, np.int64)
    bodies = np.empty_like(begins)
    found = _scan(data, begins, bodies)
    return begins[:found], bodies[:found]
