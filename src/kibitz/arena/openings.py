"""Choose the opening of each game of a match. Each opening is played twice, with colors swapped."""

from __future__ import annotations

import random


def opening_of(game: int, seed: int, count: int) -> int:
    """Return the number of the opening, from 0, with which a game begins. Games 2n and 2n + 1 have the same opening.

    game: the game's number in the match, from 0.
    seed: the random seed, which determines the order of the openings.
    count: the number of openings. Every opening is used before one is repeated, and the order changes with each
        repetition.
    """
    pair = game // 2
    order = list(range(count))
    random.Random(f"{seed}/{pair // count}").shuffle(order)
    return order[pair % count]
