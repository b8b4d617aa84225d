"""The order of a match's openings, each played twice with colors swapped."""

from __future__ import annotations

import random


def opening_of(game: int, seed: int, count: int) -> int:
    """Return which of `count` openings a game (from 0) has: games 2n and 2n + 1 share one. All occur before any
    repeats.

    The order depends on the seed; each further round has another order.
    """
    pair = game // 2
    order = list(range(count))
    random.Random(f"{seed}/{pair // count}").shuffle(order)
    return order[pair % count]
