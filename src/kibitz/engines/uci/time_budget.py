"""Time management: from the clocks of a `go` command to the seconds for this move."""

from __future__ import annotations

HORIZON = 30
"""A game is taken to last so many moves more where it is not known how far it is."""
_MIDPOINT, _STEEPNESS = 51.5, 7.0
_FEWEST = 16.0
"""Moves that any game is taken to last."""
INCREMENT_SHARE = 0.7
"""Share of the increment that a move spends; the rest is saved."""
LARGEST_SHARE, LAST_SHARE = 0.42, 0.8
"""Largest shares of the remaining time for a move, and for the last one before the time control."""

OVERHEAD_SHARE = 0.05
"""Of a time for the move at most so much is left to the overhead: nobody's flag falls, and the rest is for thinking."""


def moves_left(move: int) -> float:
    """Moves that a game lasts from move number `move` (1 or more) on: the curve of Leela Chess Zero, but never few.

    About 50 at the start, 32 at move 20, 16 from move 37 on.
    """
    length: float = _MIDPOINT * (1 + 2 * (move / _MIDPOINT) ** _STEEPNESS) ** (1 / _STEEPNESS)
    return max(_FEWEST, length - move)


def seconds_to_think(
    remaining: int | None,
    increment: int = 0,
    moves_to_go: int | None = None,
    move_time: int | None = None,
    overhead: int = 0,
    move: int | None = None,
) -> float | None:
    """Seconds to spend on this move, 0 or more; None where neither a clock nor a time for the move is known.

    All times in milliseconds: remaining on the mover's own clock, increment for each move, move_time for this one (`go
    movetime`), overhead between the engine and the clock. moves_to_go: moves until the clock is filled up; None or less
    than 1: sudden death, where the clock is shared between the moves that a game lasts from number `move` on. The
    result never exceeds what remains less the overhead, nor move_time; a clock at or under the overhead (or negative,
    as some send it) gives 0: answer at once.
    """
    limits = []
    if remaining is not None:
        usable = max(0, remaining - overhead)
        moves = HORIZON if move is None else moves_left(move)
        if moves_to_go is not None and moves_to_go >= 1:
            moves = min(moves_to_go, moves)
        share = usable / moves + INCREMENT_SHARE * max(0, increment)
        limits.append(min(share, (LAST_SHARE if moves_to_go == 1 else LARGEST_SHARE) * usable))
    if move_time is not None:
        limits.append(max(0, move_time - min(overhead, OVERHEAD_SHARE * move_time)))
    return min(limits) / 1000 if limits else None
