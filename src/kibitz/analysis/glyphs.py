"""The annotations of moves (?!, ?, ??, ↑), for chess and Go. The function `figure` formats a number without a
confidence interval for JSON.
"""

from __future__ import annotations

from typing import Any

from kibitz.text import rounded

CHESS_SWING = 0.1
"""The default of the smallest annotated change of White's win probability in chess, 0 to 1."""
SIGNS = {"?!": "inaccuracies", "?": "mistakes", "??": "blunders"}
"""The annotations of moves that lose something, each with the JSON key for the number of moves with this annotation."""
GAINED = "↑"
"""The annotation of a move with a gain of at least the smallest annotated change."""


def figure(value: float | None, n: int) -> dict[str, Any]:
    """Return a number without a confidence interval as a dict for JSON. An interval needs many games, so a number about
    one game has none. A number about all data, such as the games of a store, needs none.

    value: the number; None if it is unknown. n: the number of moves, positions or games from which it was computed.
    """
    return {"value": None if value is None else rounded(value, 4), "low": None, "high": None, "n": n}


def mark(change: float, swing: float) -> str:
    """Return the annotation of a move: "?!", "?", "??", "↑" or "".

    "?!" means a loss of at least `swing`, "?" a loss of at least 2 · `swing`, and "??" a loss of at least 3 · `swing`.
    "↑" means a gain of at least `swing`. For a smaller change, the result is "".

    change: the change for the mover, negative for a loss. It is a change of win probability (−1 to 1) in chess, and of
    points in Go. swing: the smallest annotated change, in the same unit, more than 0.
    """
    steps = int(-change / swing + 1e-6)  # + 1e-6, so that a loss of exactly one swing counts in spite of rounding
    if steps >= 1:
        return ("?!", "?", "??")[min(steps, 3) - 1]
    return GAINED if change / swing + 1e-6 >= 1 else ""


def decimals(change: float, swing: float, least: int) -> int:
    """Return the number of decimals with which a change is written. The rounded change has the annotation that the
    exact change has. For example, a loss of 9.8 without an annotation is not written as 10 if the limit is 10.

    change, swing: see `mark`, both in the unit in which the change is written. least: the smallest result; the largest
    result is `least` + 4.
    """
    exact = mark(change, swing)
    alike = (digits for digits in range(least, least + 4) if mark(round(change, digits), swing) == exact)
    return next(alike, least + 4)


def rounded_change(change: float, swing: float, least: int) -> float:
    """Return a change, rounded to the number of decimals that `decimals` gives for the same arguments."""
    return rounded(change, decimals(change, swing, least))
