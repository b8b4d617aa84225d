"""Time management: from the clocks of a `go` command to the seconds for this move."""

from __future__ import annotations

HORIZON = 30
"""A game is taken to last so many moves more; the clock is shared between them."""
INCREMENT_SHARE = 0.7
"""Share of the increment that a move spends; the rest is saved."""
LARGEST_SHARE = 0.8
"""Largest share of the remaining time for a move, even for the last one before the time control."""

OVERHEAD_SHARE = 0.05
"""Of a time for the move at most so much is left to the overhead: nobody's flag falls, and the rest is for thinking."""


def seconds_to_think(
    remaining: int | None,
    increment: int = 0,
    moves_to_go: int | None = None,
    move_time: int | None = None,
    overhead: int = 0,
) -> float | None:
    """Seconds to spend on this move, 0 or more; None where neither a clock nor a time for the move is known.

    All times in milliseconds: remaining on the mover's own clock, increment for each move, move_time for this one (`go
    movetime`), overhead between the engine and the clock. moves_to_go: moves until the clock is filled up; None or less
    than 1: sudden death. The result never exceeds what remains less the overhead, nor move_time; a clock at or under
    the overhead (or negative, as some send it) gives 0: answer at once.
    """
    limits = []
    if remaining is not None:
        usable = max(0, remaining - overhead)
        moves = min(moves_to_go, HORIZON) if moves_to_go is not None and moves_to_go >= 1 else HORIZON
        share = usable / moves + INCREMENT_SHARE * max(0, increment)
        limits.append(min(share, LARGEST_SHARE * usable))
    if move_time is not None:
        limits.append(max(0, move_time - min(overhead, OVERHEAD_SHARE * move_time)))
    return min(limits) / 1000 if limits else None
