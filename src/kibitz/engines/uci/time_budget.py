"""Time management: compute the seconds for a move from the clocks in a `go` command."""

from __future__ import annotations

HORIZON = 30
"""The number of further moves that the engine expects in a game if it does not know the number of the present move."""
_MIDPOINT, _STEEPNESS = 51.5, 7.0
_FEWEST = 16.0
"""The smallest number of moves that a game is assumed to last."""
INCREMENT_SHARE = 0.7
"""The share of the increment that the engine spends on a move. It saves the rest."""
LARGEST_SHARE, LAST_SHARE = 0.42, 0.8
"""The largest share of the remaining time that the engine spends on one move. LAST_SHARE is for the last move before
the time control, and LARGEST_SHARE for all other moves.
"""

OVERHEAD_SHARE = 0.05
"""The largest share of a fixed time per move that is reserved for the overhead (the delay between engine and clock).
Most of the time remains thinking time.
"""


def moves_left(move: int) -> float:
    """Return how many more moves a game is expected to last, for each side. move: the number of the next move, 1 or
    more.

    The formula is that of Leela Chess Zero, with a minimum of 16. The result is about 50 at the start, 32 at move 20,
    and 16 from move 37 on.
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
    """Return the seconds to spend on this move, 0 or more; None if there is neither a clock nor a time per move.

    The result is in seconds. All arguments that are times are in milliseconds.

    remaining: the time on the mover's clock.
    increment: the time that the mover gains per move.
    moves_to_go: the number of moves until the next time control. None or less than 1 means sudden death: the remaining
        time is divided by the number of moves that the game is expected to last.
    move_time: the time limit for this move (`go movetime`).
    overhead: the delay between the engine and the clock.
    move: the number of this move, 1 or more; None if it is unknown.

    The result never exceeds the remaining time minus the overhead, nor move_time. If the remaining time is at or below
    the overhead, the result is 0, which means to reply immediately. The remaining time may be negative, because some
    GUIs send negative times.
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
