"""The order in which a match goes through its openings, each played twice with colours changed."""

from __future__ import annotations

import random


def opening_of(game: int, seed: int, count: int) -> int:
    """Which of `count` openings a game (from 0) has: games 2n and 2n + 1 share one. Each is had before any comes again.

    The order follows from the seed; each further round through the set has an order of its own.
    """
    pair = game // 2
    order = list(range(count))
    random.Random(f"{seed}/{pair // count}").shuffle(order)
    return order[pair % count]
