"""The order of a match's openings, each played twice with colors swapped."""

from __future__ import annotations

import random


def opening_of(game: int, seed: int, count: int) -> int:
    """Return which of `count` openings a game (from 0) has. Games 2n and 2n + 1 have the same opening.

    Every opening is used once before openings are repeated. The order depends on the seed, and differs from round to
    round.
    """
    pair = game // 2
    order = list(range(count))
    random.Random(f"{seed}/{pair // count}").shuffle(order)
    return order[pair % count]
