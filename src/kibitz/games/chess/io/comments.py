"""Parse the commands in PGN comments: %clk, the time on the clock; %emt, the time that a move took; %eval, the
evaluation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kibitz.games.chess.filters import standard_control

_NUMBER = r"\d{1,9}(?:[.,]\d+)?"
_TIME = rf"(?:(?:(\d{{1,6}}):)?(\d{{1,6}}):)?({_NUMBER})"
_CLOCK = re.compile(rf"\[%clk\s+{_TIME}\s*\]")
_ELAPSED = re.compile(rf"\[%emt\s+{_TIME}\s*\]")
_EVALUATION = re.compile(r"\[%eval\s+(?:#\s*([+-]?\d{1,4})|([+-]?\d{1,6}(\.\d+)?))\s*(,\s*\d+)?\s*\]")
_SPECIAL_EVALUATION = re.compile(r"\[%eval\s+(?:#[+-]?\d+|[+-]?[\d.]+,\d+)\s*\]")
_ANY_ELAPSED = re.compile(r"\[%emt\s+([\d:.]+)\s*\]")
_PERIOD = re.compile(rf"(?:(\d{{1,9}})/)?({_NUMBER})(?:\+({_NUMBER}))?")
MATE_CENTIPAWNS = 32_000
"""The value, in centipawns, from which the evaluation of a mate is computed. A mate in n moves is MATE_CENTIPAWNS - n
for the side that mates.
"""


def _seconds(match: re.Match[str]) -> float:
    hours, minutes, seconds = match.groups()
    return 3600 * int(hours or 0) + 60 * int(minutes or 0) + float(seconds.replace(",", "."))


def clock(comment: str) -> float | None:
    """Return the seconds left after a move, from a command such as `[%clk 0:03:00]` in the comment; None if the comment
    has no such command.
    """
    match = _CLOCK.search(comment)
    return _seconds(match) if match else None


def elapsed(comment: str) -> float | None:
    """Return the seconds that a move took, from a command such as `[%emt 0:00:05]` or `[%emt 5.2]` in the comment; None
    if the comment has no such command.
    """
    match = _ELAPSED.search(comment)
    return _seconds(match) if match else None


def evaluation(comment: str) -> int | None:
    """Return the evaluation in a comment, in centipawns from White's point of view; None if the comment has no
    evaluation.

    An evaluation is a command `[%eval 0.25]`, `[%eval 0.25,18]` (with the depth) or `[%eval #-3]`. ChessBase and Fritz
    write centipawns and the depth: `[%eval 25,18]`. If White mates in n moves, the result is 32,000 - n. If Black mates
    in n moves, the result is -(32,000 - n). See MATE_CENTIPAWNS.
    """
    match = _EVALUATION.search(comment)
    if match is None:
        return None
    if match[1] is not None:
        moves = int(match[1])
        return -MATE_CENTIPAWNS - moves if match[1].startswith("-") else MATE_CENTIPAWNS - moves
    _, value, decimals, depth = match.groups()
    return int(value) if depth and not decimals else round(100 * float(value))


def clocks(comments: Sequence[str], time_control: str, event: str = "") -> list[float | None]:
    """Return the seconds left after each move of a game; None where they are unknown. comments: the comment after each
    move. time_control, event: the headers TimeControl and Event.

    If a move's comment has `[%clk]`, the clock is the value of this command. If the comment has only `[%emt]`, the
    clock is computed from the time control, the increments and the times that the side's moves took. If the comment has
    neither command, the side's clocks are None from this move until the side's next `[%clk]`. If the time control is
    missing or unreadable, every move without `[%clk]` has None.
    """
    found = [clock(comment) for comment in comments]
    if not any("[%emt" in comment for comment in comments):
        return found
    return clocks_from_elapsed([elapsed(comment) for comment in comments], time_control, found, event)


def clocks_from_elapsed(
    spent: Sequence[float | None], time_control: str, shown: Sequence[float | None], event: str = ""
) -> list[float | None]:
    """Return the seconds left after each move, computed from the seconds that each move took; None for a move whose
    clock is unknown.

    spent: the seconds that each move took, both sides in turn; None if unknown. time_control, event: the headers
    TimeControl and Event. shown: the clock after each move in the game record; None if unknown. A clock in the record
    replaces the computed one.
    """
    found = list(shown)
    periods = _periods(standard_control(time_control, event))
    if periods is None:
        return found
    for side in range(2):
        left: float | None = periods[0][1]
        for i in range(side, len(found), 2):
            taken, number = spent[i], i // 2 + 1
            if found[i] is not None:
                left = found[i]
                continue
            if left is None or taken is None:
                left = None
                continue
            left += _gained(periods, number) - taken
            found[i] = max(left, 0.0)
    return found


def for_the_fast_parser(moves: str) -> str:
    """Return the movetext of a game with its comments changed so that the fast parser (see `fast`) can read their
    commands.

    `[%eval #3]` becomes the number of centipawns for this mate, and `[%eval 0.25,18]` loses its depth. `[%emt 5.2]`
    becomes `[%clk …]` with the same time, because the fast parser reads only `%clk`. `clocks_from_elapsed` later
    computes the clocks from these elapsed times.
    """
    moves = _SPECIAL_EVALUATION.sub(_as_number, moves)
    return _ANY_ELAPSED.sub(_as_clock, moves)


def _as_number(match: re.Match[str]) -> str:
    value = evaluation(match[0])
    return match[0] if value is None else f"[%eval {value / 100:.2f}]"


def _as_clock(match: re.Match[str]) -> str:
    time = match[1]
    return f"[%clk {'0:' * (2 - time.count(':'))}{time}]"


def _periods(time_control: str) -> list[tuple[int | None, float, float]] | None:
    """Parse a TimeControl in the form of the PGN standard. Returns the moves, seconds and increment of each period;
    None for other text.
    """
    found = []
    for part in time_control.split(":"):
        match = _PERIOD.fullmatch(part.strip())
        if match is None:
            return None
        moves, base, increment = match.groups()
        found.append((int(moves) if moves else None, float(base), float(increment or 0)))
    return found


def _gained(periods: Sequence[tuple[int | None, float, float]], number: int) -> float:
    """Return the seconds that the clock gains with a side's move of this number.

    The clock gains the increment and, after the last move of a period, also the next period's time.
    """
    end = 0
    for i, (moves, _, increment) in enumerate(periods):
        if moves is None:
            return increment
        end += moves
        if number < end:
            return increment
        if number == end:
            return increment + (periods[i + 1][1] if i + 1 < len(periods) else 0)
    moves, base, increment = periods[-1]
    return increment + (base if moves and (number - end) % moves == 0 else 0)
