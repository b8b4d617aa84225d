"""Marks of moves, and figures of games, the same for both games."""

from __future__ import annotations

from typing import Any

CHESS_SWING = 0.1
"""The usual least change of a game of chess that is marked, of White's probability."""
GAINED = "↑"
"""Beside ?!, ? and ??: the mover gained as much as would be a swing."""


def figure(value: float | None, n: int) -> dict[str, Any]:
    """A figure of one game as JSON, without an interval: that needs many games."""
    return {"value": None if value is None else round(value, 4), "low": None, "high": None, "n": n}


def mark(change: float, swing: float) -> str:
    """The mark of a move by what it changed for its mover, both 0..1.

    ?! from one swing lost, ? from two, ?? from three; ↑ from one swing gained. With the usual swing of 0.1 these are
    10, 20 and 30 points of winning probability.
    """
    steps = int(-change / swing + 1e-6)  # a loss of exactly 0.1 counts
    if steps >= 1:
        return ("?!", "?", "??")[min(steps, 3) - 1]
    return GAINED if change / swing + 1e-6 >= 1 else ""
