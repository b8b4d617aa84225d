"""Annotations of moves, and the JSON form of numbers about a single game, for chess and Go."""

from __future__ import annotations

from typing import Any

CHESS_SWING = 0.1
"""The default for the smallest annotated change of White's probability in chess."""
SIGNS = {"?!": "inaccuracies", "?": "mistakes", "??": "blunders"}
"""The annotations of moves that lose something, and the names of their counters."""
GAINED = "↑"
"""The annotation of a move by which the mover gained at least one swing."""


def figure(value: float | None, n: int) -> dict[str, Any]:
    """Return a metric of one game as a dict for JSON. It has no confidence interval, because an interval needs many
    games.

    value: the metric; None if it is unknown. n: the number of moves or positions from which it was computed.
    """
    return {"value": None if value is None else round(value, 4), "low": None, "high": None, "n": n}


def mark(change: float, swing: float) -> str:
    """Return the annotation of a move: "?!" for a loss of at least one swing, "?" for two, "??" for three, "↑" for a
    gain of at least one swing, else "".

    change: the change of the win probability for the mover, −1 to 1; negative for a loss. swing: more than 0. In Go,
    both may be in points. With the default swing of 0.1, two swings are 20 percentage points of win probability.
    """
    steps = int(-change / swing + 1e-6)  # + 1e-6, so that a loss of exactly one swing counts in spite of rounding
    if steps >= 1:
        return ("?!", "?", "??")[min(steps, 3) - 1]
    return GAINED if change / swing + 1e-6 >= 1 else ""
