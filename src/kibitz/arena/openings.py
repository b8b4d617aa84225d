"""The openings of a match: a set of its own, each played twice with colours changed."""

from __future__ import annotations

import importlib.resources
import random
from functools import cache

import chess

BUNDLED = "openings.txt"


@cache
def openings() -> tuple[tuple[chess.Move, ...], ...]:
    """The openings that kibitz carries, as moves from the ordinary start; see the head of data/openings.txt."""
    text = (importlib.resources.files("kibitz") / "data" / BUNDLED).read_text(encoding="utf-8")
    return tuple(
        tuple(chess.Move.from_uci(word) for word in line.split())
        for line in text.splitlines()
        if line and not line.startswith("#")
    )


def opening_of(game: int, seed: int) -> int:
    """Which opening a game (from 0) has: games 2n and 2n + 1 share one. Every opening is had before any comes again.

    The order follows from the seed; each further round through the set has an order of its own.
    """
    pair, count = game // 2, len(openings())
    order = list(range(count))
    random.Random(f"{seed}/{pair // count}").shuffle(order)
    return order[pair % count]
