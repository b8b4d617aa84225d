"""Find plain games: games whose text is in the export format of the PGN standard.

The fast parser (`fast`) reads only plain games. For them, its result is the same as that of the full reader (`reader`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import SMALL_BYTES, inner, small_first

PLAIN, REWRITTEN, ELAPSED = 1, 2, 4
"""Flags that show how the fast parser can read a game; they are combined by bitwise or.

PLAIN: the parser can read the game. REWRITTEN: the game's text must be changed first, because of blank lines, Latin-1,
or commands that the parser does not know. ELAPSED: comments have the times of moves ([%emt]) but no clocks.
"""
_MAX_ELAPSED = 60_000
"""The longest time of a move, in seconds, that the fast parser reads. The parser's 32-bit floats can represent
hundredths of a second up to this value.
"""


@inner
def _is_space(byte):  # type: ignore[no-untyped-def]
    """Return whether a byte is a space, line feed, carriage return or tab."""
    return byte == 32 or byte == 10 or byte == 13 or byte == 9


@inner
def _has_plain_headers(text, at, stop):  # type: ignore[no-untyped-def]
    """Return whether text[at:stop] (uint8) contains only headers in the standard's form."""
    new = True
    while at < stop:
        byte = text[at]
        if _is_space(byte):
            new |= byte == 10
            at += 1
            continue
        if byte != 91:
            return False
        at += 1
        begin = at
        while at < stop and (
            97 <= text[at] <= 122 or 65 <= text[at] <= 90 or (at > begin and (48 <= text[at] <= 57 or text[at] == 95))
        ):
            at += 1
        if at == begin or at >= stop or (text[at] != 32 and text[at] != 9):
            return False
        while at < stop and (text[at] == 32 or text[at] == 9):
            at += 1
        if at >= stop or text[at] != 34:
            return False
        at += 1
        while at < stop and text[at] != 34:
            if text[at] == 10 or text[at] == 13:
                return False
            at += 2 if text[at] == 92 else 1
        at += 1
        while at < stop and (text[at] == 32 or text[at] == 9):
            at += 1
        if at >= stop or text[at] != 93:
            return False
        at += 1
    return True


@inner
def _is_file(byte):  # type: ignore[no-untyped-def]
    """Return whether a byte is the letter of a file, a to h."""
    return 97 <= byte <= 104


@inner
def _is_rank(byte):  # type: ignore[no-untyped-def]
    """Return whether a byte is the digit of a rank, 1 to 8."""
    return 49 <= byte <= 56


@inner
def _after_move(text, at, stop):  # type: ignore[no-untyped-def]
    """Return the end of a move in the standard's spelling that begins at `at`; -1 if it isn't one. text: uint8."""
    byte = text[at]
    if byte == 79:  # O-O
        if at + 2 >= stop or text[at + 1] != 45 or text[at + 2] != 79:
            return -1
        at += 3
        if at + 1 < stop and text[at] == 45 and text[at + 1] == 79:
            at += 2
    elif _is_file(byte):
        at += 1
        if at + 2 < stop and text[at] == 120:
            at += 1
            if not _is_file(text[at]):
                return -1
            at += 1
        if at >= stop or not _is_rank(text[at]):
            return -1
        at += 1
        if at + 1 < stop and text[at] == 61:
            if text[at + 1] not in (78, 66, 82, 81):
                return -1
            at += 2
    elif byte in (78, 66, 82, 81, 75):
        at += 1
        begin = at
        while at < stop and (_is_file(text[at]) or _is_rank(text[at]) or text[at] == 120):
            at += 1
        size = at - begin
        if not 2 <= size <= 5 or not _is_rank(text[at - 1]) or not _is_file(text[at - 2]):
            return -1
        size -= 2
        if size and text[begin + size - 1] == 120:
            size -= 1
        if size == 2 and not (_is_file(text[begin]) and _is_rank(text[begin + 1])):
            return -1
        if size > 2 or (size == 1 and text[begin] == 120):
            return -1
    else:
        return -1
    if at < stop and (text[at] == 43 or text[at] == 35):
        at += 1
    marks = 0
    while marks < 2 and at < stop and (text[at] == 33 or text[at] == 63):
        at += 1
        marks += 1
    if at < stop and not _is_space(text[at]) and text[at] not in (41, 123, 40):
        return -1
    return at


@inner
def _after_result(text, at, stop):  # type: ignore[no-untyped-def]
    """Return the end of a result that begins with this digit; -1 if it isn't one. text: uint8."""
    size = 0
    if at + 2 < stop and text[at + 1] == 45 and text[at] + text[at + 2] == 97:
        size = 3
    elif (
        at + 6 < stop and text[at] == 49 and text[at + 1] == 47 and text[at + 2] == 50 and text[at + 3] == 45
        and text[at + 4] == 49 and text[at + 5] == 47 and text[at + 6] == 50
    ):  # fmt: skip
        size = 7
    if size == 0 or (at + size < stop and not _is_space(text[at + size])):
        return -1
    return at + size


@inner
def _after_digits(text, at, stop):  # type: ignore[no-untyped-def]
    """Return the end of one to four digits that begin at this byte; -1 if there are none or more. text: uint8."""
    end = at
    while end < stop and 48 <= text[end] <= 57:
        end += 1
    return end if at < end <= at + 4 else -1


@inner
def _after_decimals(text, at, stop):  # type: ignore[no-untyped-def]
    """Return the end of a number's decimals; -1 if there are more than two. The integer part of the number ends at this
    byte.
    """
    if at >= stop or text[at] != 46:
        return at
    end = _after_digits(text, at + 1, stop)
    return end if end <= at + 3 else -1


@inner
def _after_number(text, at, stop):  # type: ignore[no-untyped-def]
    """Return the end of a number that begins at this byte; -1 if it has more than two decimals. text: uint8.

    The fast parser has 32-bit floats, which round numbers with more decimals differently.
    """
    at = _after_digits(text, at, stop)
    return _after_decimals(text, at, stop) if at >= 0 else -1


@inner
def _after_blanks(text, at, stop):  # type: ignore[no-untyped-def]
    """Return the end of the white space that begins at this byte. text: uint8 [bytes]."""
    while at < stop and _is_space(text[at]):
        at += 1
    return at


@inner
def _after_clock(text, at, stop):  # type: ignore[no-untyped-def]
    """Return the end of a clock such as 0:03:00 that begins at this byte; -1 for another form. text: uint8."""
    for _ in range(2):
        at = _after_digits(text, at, stop)
        if at < 0 or at >= stop or text[at] != 58:
            return -1
        at += 1
    return _after_number(text, at, stop)


@inner
def _after_elapsed(text, at, stop):  # type: ignore[no-untyped-def]
    """Return the end of the time of a move that begins at this byte: 5.2, 1:05 or 0:01:05; -1 for another form.

    text: uint8. The time is at most _MAX_ELAPSED seconds.
    """
    total = 0
    for part in range(3):
        end = _after_digits(text, at, stop)
        if end < 0:
            return -1
        number = 0
        for i in range(at, end):
            number = 10 * number + text[i] - 48
        total = 60 * total + number
        at = end
        if part == 2 or at >= stop or text[at] != 58:
            break
        at += 1
    return _after_decimals(text, at, stop) if total <= _MAX_ELAPSED else -1


@inner
def _after_evaluation(text, at, stop):  # type: ignore[no-untyped-def]
    """Return the end of an evaluation that begins at this byte, and whether it must be rewritten for the fast parser.

    The form 0.25 stays. The forms 0.25,18 with a depth and #-3 for a mate must be rewritten. The end is -1 for another
    form. text: uint8.
    """
    if at < stop and text[at] == 35:
        at += 1
        if at < stop and (text[at] == 43 or text[at] == 45):
            at += 1
        return _after_digits(text, at, stop), True
    if at < stop and (text[at] == 43 or text[at] == 45):
        at += 1
    at = _after_number(text, at, stop)
    if at > 0 and at < stop and text[at] == 44:
        return _after_digits(text, at + 1, stop), True
    return at, False


@inner
def _after_comment(text, at, stop, known):  # type: ignore[no-untyped-def]
    """Return the end of a comment, the commands of the move so far, and whether a command must be rewritten.

    The end is -1 if the comment doesn't end or has a command that the fast parser reads in another way. text: uint8.
    known: the commands in earlier comments on the same move, as a sum: 1 for an evaluation, 2 for a clock, 4 for a
    move's time.
    """
    rewritten = False
    while at < stop and text[at] != 125:
        if text[at] == 37 and at + 5 < stop and text[at - 1] == 91:  # [%
            first, second, third, fourth = text[at + 1], text[at + 2], text[at + 3], text[at + 4]
            kind, size = 0, 4
            if first == 99 and second == 108:  # clk
                kind = 2 if third == 107 else -1
            elif first == 101 and second == 118:  # eval
                kind = 1 if third == 97 and fourth == 108 else -1
                size = 5
            elif first == 101 and second == 109:  # emt
                kind = 4 if third == 116 else -1
            if kind < 0 or known & kind:  # if a command occurs twice, the fast parser uses the last one
                return -1, known, rewritten
            if kind:
                known |= kind
                begin = at + size
                at = _after_blanks(text, begin, stop)
                if at == begin:
                    return -1, known, rewritten
                other = kind == 4
                if kind == 2:
                    at = _after_clock(text, at, stop)
                elif kind == 4:
                    at = _after_elapsed(text, at, stop)
                else:
                    at, other = _after_evaluation(text, at, stop)
                rewritten |= other
                if at < 0:
                    return -1, known, rewritten
                at = _after_blanks(text, at, stop)
                if at >= stop or text[at] != 93:
                    return -1, known, rewritten
        at += 1
    return (at + 1 if at < stop else -1), known, rewritten


@inner
def _after_dots(text, at, stop):  # type: ignore[no-untyped-def]
    """Return the end of the dots that begin at this byte, and their number. Blanks before each dot are skipped.

    text: uint8 [bytes], read up to `stop`.
    """
    dots, end = 0, at
    while at < stop and text[at] in (32, 9, 46):
        if text[at] == 46:
            dots += 1
            end = at + 1
        at += 1
    return end, dots


@inner
def _flags_of_moves(text, first, stop):  # type: ignore[no-untyped-def]
    """Return the flags of a game whose moves are text[first:stop]; 0 unless they are in the standard's form with one
    result, at the end. text: uint8."""
    at, depth, moves, result = first, 0, 0, False
    known = 0  # commands in the comments since the last move of the main line
    all_known = 0  # commands in all comments
    rewritten = False
    while at < stop:
        byte = text[at]
        if _is_space(byte):
            at += 1
            continue
        if result:
            return 0
        if 48 <= byte <= 57:
            end = at + 1
            while end < stop and 48 <= text[end] <= 57:
                end += 1
            after, dots = _after_dots(text, end, stop)
            if end - at < 4 and (dots or (end < stop and _is_space(text[end]))):
                number = end - at == 1 and byte == 49
                if number and dots == 1 and moves and not depth:
                    return 0  # the first move of another game
                at = after
            else:
                end = _after_result(text, at, stop)
                if end < 0 or depth:
                    return 0
                result = True
                at = end
        elif byte == 123:
            at, commands, other = _after_comment(text, at + 1, stop, 0 if depth else known)
            if at < 0:
                return 0
            all_known |= commands
            rewritten |= other
            known = known if depth else commands
        elif byte == 40:
            if moves == 0:
                return 0
            depth += 1
            at += 1
        elif byte == 41:
            depth -= 1
            if depth < 0:
                return 0
            at += 1
        elif byte == 36:
            begin = at + 1
            at = begin
            while at < stop and 48 <= text[at] <= 57:
                at += 1
            if not 1 <= at - begin <= 3 or (at < stop and not _is_space(text[at]) and text[at] not in (41, 40, 123)):
                return 0
        elif byte == 46:  # dots without a number, before a move of Black
            at, _ = _after_dots(text, at, stop)
            if at < stop and not _is_space(text[at]):
                return 0
        elif byte == 42:
            if depth or at + 1 != stop:
                return 0
            result = True
            at += 1
        else:
            at = _after_move(text, at, stop)
            if at < 0:
                return 0
            moves += 1
            known = known if depth else 0
    # the game is not plain if it has both clocks and times of moves
    if not result or moves == 0 or depth or all_known & 6 == 6:
        return 0
    return PLAIN + (REWRITTEN if rewritten else 0) + (ELAPSED if all_known & 4 else 0)


@small_first(SMALL_BYTES)
def _classify(text, begins, bodies, ends, valid, flags, spans):  # type: ignore[no-untyped-def]
    """Write the flags of each game, and the begin and end of its moves without the white space around them.

    text: uint8. begins, bodies, ends: int64 [games]. valid: whether the text is UTF-8. Outputs: flags, uint8 [games],
    sums of PLAIN, REWRITTEN and ELAPSED; spans, int64 [games, 2].
    """
    for game in range(begins.shape[0]):
        first, stop = bodies[game], ends[game]
        while stop > first and _is_space(text[stop - 1]):
            stop -= 1
        while first < stop and _is_space(text[first]):
            first += 1
        spans[game, 0], spans[game, 1] = first, stop
        flags[game] = 0
        if first == stop or not _has_plain_headers(text, begins[game], bodies[game]):
            continue
        found = _flags_of_moves(text, first, stop)
        if found == 0:
            continue
        feed = -2  # the last line feed, if only white space has followed it so far
        for at in range(first, stop):  # finds blank lines, and bytes that aren't UTF-8
            byte = text[at]
            if byte > 32:
                feed = -2
                if byte >= 128 and not valid:
                    found |= REWRITTEN
            elif byte == 10:
                if feed >= 0:
                    found |= REWRITTEN
                feed = at
        flags[game] = found


def classify(
    text: NDArray[np.uint8],
    begins: NDArray[np.int64],
    bodies: NDArray[np.int64],
    ends: NDArray[np.int64],
    is_utf8: bool,
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return how the fast parser can read each game, and where each game's movetext is.

    The first array, uint8 [n], has flags, combined by bitwise or. PLAIN: the fast parser can read the game. REWRITTEN:
    the text must be changed first. ELAPSED: the comments have %emt commands but no clocks. The second array, int64 [n,
    2], has the byte offsets of the movetext, without white space before and after it.

    text: uint8, the text of the games. begins, bodies, ends: int64 [n], the byte offsets at which each game begins, its
    movetext begins, and it ends. is_utf8: whether the text is valid UTF-8; otherwise it is Latin-1.
    """
    flags, spans = np.empty(len(begins), np.uint8), np.empty((len(begins), 2), np.int64)
    _classify(text, begins, bodies, ends, is_utf8, flags, spans)
    return flags, spans
