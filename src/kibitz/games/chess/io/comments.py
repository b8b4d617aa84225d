"""What comments say in commands: the time on the clock, the time that a move took, the evaluation."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = r"\d{1,9}(?:[.,]\d+)?"
_TIME = rf"(?:(?:(\d{{1,6}}):)?(\d{{1,6}}):)?({_NUMBER})"
_CLOCK = re.compile(rf"\[%clk\s+{_TIME}\s*\]")
_ELAPSED = re.compile(rf"\[%emt\s+{_TIME}\s*\]")
_EVALUATION = re.compile(r"\[%eval\s+(?:#\s*([+-]?\d{1,4})|([+-]?\d{1,6}(?:\.\d+)?))\s*(?:,\s*\d+)?\s*\]")
_PERIOD = re.compile(rf"(?:(\d+)/)?({_NUMBER})(?:\+({_NUMBER}))?")
MATE_CENTIPAWNS = 32_000
"""The evaluation of a mate in n moves is this number of centipawns less n, for the side that gives mate."""


def _seconds(match: re.Match[str]) -> float:
    hours, minutes, seconds = match.groups()
    return 3600 * int(hours or 0) + 60 * int(minutes or 0) + float(seconds.replace(",", "."))


def clock(comment: str) -> float | None:
    """The seconds left after a move, from `[%clk 0:03:00]`; None if the comment does not say."""
    match = _CLOCK.search(comment)
    return _seconds(match) if match else None


def elapsed(comment: str) -> float | None:
    """The seconds that a move took, from `[%emt 0:00:05]` or `[%emt 5.2]`; None if the comment does not say."""
    match = _ELAPSED.search(comment)
    return _seconds(match) if match else None


def evaluation(comment: str) -> int | None:
    """The evaluation in centipawns, White's view, from `[%eval 0.25]`, `[%eval 0.25,18]` or `[%eval #-3]`; None if the
    comment does not say. Mates are MATE_CENTIPAWNS less the number of moves."""
    match = _EVALUATION.search(comment)
    if match is None:
        return None
    if match[1] is not None:
        moves = int(match[1])
        return -MATE_CENTIPAWNS - moves if match[1].startswith("-") else MATE_CENTIPAWNS - moves
    return round(100 * float(match[2]))


def clocks(comments: Sequence[str], time_control: str) -> list[float | None]:
    """The seconds left after each move, from the comments after the moves.

    What `[%clk]` says counts. Without it a clock is the time control less the sum of `[%emt]` of all moves of that
    side so far, plus its increments; None from the first move on that has neither, and without a time control.
    """
    found = [clock(comment) for comment in comments]
    if not any("[%emt" in comment for comment in comments):
        return found
    periods = _periods(time_control)
    if periods is None:
        return found
    for side in range(2):
        left: float | None = periods[0][1]
        for i in range(side, len(comments), 2):
            spent, number = elapsed(comments[i]), i // 2 + 1
            if found[i] is not None:
                left = found[i]
                continue
            if left is None or spent is None:
                left = None
                continue
            left += _gained(periods, number) - spent
            found[i] = max(left, 0.0)
    return found


def _periods(time_control: str) -> list[tuple[int | None, float, float]] | None:
    """Moves, seconds and increment of each period of a TimeControl; None if it cannot be read."""
    found = []
    for part in time_control.strip().split(":"):
        match = _PERIOD.fullmatch(part.strip())
        if match is None:
            return None
        moves, base, increment = match.groups()
        found.append((int(moves) if moves else None, float(base), float(increment or 0)))
    return found


def _gained(periods: Sequence[tuple[int | None, float, float]], number: int) -> float:
    """The seconds that the clock gains with a side's move of this number: the increment, and the next period's time
    when the moves of one are made."""
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
    again = moves is not None and (number - end) % moves == 0
    return increment + (base if again else 0)
