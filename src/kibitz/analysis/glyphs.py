"""Annotations of moves, and the JSON form of numbers about a single game, for chess and Go."""

from __future__ import annotations

from typing import Any

CHESS_SWING = 0.1
"""The default for the smallest annotated change of White's probability in chess."""
SIGNS = {"?!": "inaccuracies", "?": "mistakes", "??": "blunders"}
"""The annotations of moves that lose something, and the names of their counters."""
GAINED = "↑"
"""The annotation of a move by which the mover gained at least the smallest annotated change."""


def figure(value: float | None, n: int) -> dict[str, Any]:
    """Return a metric of one game as a dict for JSON. It has no confidence interval, because an interval needs many
    games.

    value: the metric; None if it is unknown. n: the number of moves or positions from which it was computed.
    """
    return {"value": None if value is None else round(value, 4), "low": None, "high": None, "n": n}


def mark(change: float, swing: float) -> str:
    """Return the annotation of a move: "?!", "?", "??", "↑" or "".

    "?!" means a loss of at least `swing`, "?" a loss of at least 2 · `swing`, and "??" a loss of at least 3 · `swing`.
    "↑" means a gain of at least `swing`. For smaller changes, the result is "".

    change: the change for the mover; negative for a loss. swing: the smallest annotated change, more than 0. Both
    arguments are win probabilities (`change` from −1 to 1) or, in Go, points. With the default swing of 0.1, a move
    with "?" loses at least 20 percentage points of win probability.
    """
    steps = int(-change / swing + 1e-6)  # + 1e-6, so that a loss of exactly one swing counts in spite of rounding
    if steps >= 1:
        return ("?!", "?", "??")[min(steps, 3) - 1]
    return GAINED if change / swing + 1e-6 >= 1 else ""
