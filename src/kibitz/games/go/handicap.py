"""White's compensation for handicap stones, in addition to komi. It depends on the rules."""

from __future__ import annotations

BONUS = {"chinese": "N", "ing": "N", "aga": "N-1"}
"""Compensation by rules: "N" is one point per handicap stone, and "N-1" is one point fewer. Other rules give none."""


def bonus_of(rules: str | None) -> str:
    """Return the points that White gets for N handicap stones under the given rules, as the text "N", "N-1" or "0".
    rules: the name of the rules.
    """
    return BONUS.get(rules or "", "0")


def bonus_points(bonus: str, stones: int) -> int:
    """Return the points that White gets for handicap stones. A single stone is Black's first move and gives no points.
    bonus: the result of `bonus_of`. stones: the number of handicap stones.
    """
    if stones < 2:
        return 0
    return {"0": 0, "N-1": stones - 1, "N": stones}[bonus]
