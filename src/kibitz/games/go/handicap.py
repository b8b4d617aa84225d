"""The points that White gets for handicap stones in addition to komi (compensation). They depend on the rules."""

from __future__ import annotations

BONUS = {"chinese": "N", "ing": "N", "aga": "N-1"}
"""The compensation by the name of the rules. "N" is one point per handicap stone, and "N-1" is one point fewer. Under
other rules, White gets no points.
"""


def bonus_of(rules: str | None) -> str:
    """Return White's compensation for N handicap stones under the given rules, as the text "N", "N-1" or "0". rules:
    the name of the rules; None if unknown.
    """
    return BONUS.get(rules or "", "0")


def bonus_points(bonus: str, stones: int) -> int:
    """Return the points that White gets for handicap stones. bonus: the compensation for N stones, "N", "N-1" or "0".
    stones: the number of handicap stones. A single stone is Black's first move and gives no points.
    """
    if stones < 2:
        return 0
    return {"0": 0, "N-1": stones - 1, "N": stones}[bonus]
