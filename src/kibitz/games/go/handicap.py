"""What White is given for handicap stones, beside the komi: it depends on the rules."""

from __future__ import annotations

BONUS = {"chinese": "N", "ing": "N", "aga": "N-1"}
"""By the rules that give anything: as many points as there are stones ("N"), or one fewer."""


def bonus_of(rules: str | None) -> str:
    """ "N", "N-1" or "0", by the name of the rules; "0" where they are not named."""
    return BONUS.get(rules or "", "0")


def bonus_points(bonus: str, stones: int) -> int:
    """White's points for `stones` handicap stones. A single one is Black's first move and gives none."""
    if stones < 2:
        return 0
    return {"0": 0, "N-1": stones - 1, "N": stones}[bonus]
