"""Divide the positions of a test into groups by rating or speed, and make tables with a row for each group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.filters import SPEEDS
from kibitz.stats import ClusterBootstrap, slices
from kibitz.store.store import Store

VALUES = np.array([0, 1, 3, 3, 5, 9, 0, -1, -3, -3, -5, -9, 0], np.int8)
"""The material value, for White, of each code of a square's contents. A pawn is 1, a knight or bishop 3, a rook 5 and a
queen 9. Black's pieces are negative.
"""

PHASES = ("opening", "middlegame", "endgame")
RATING_STEP = 200


def rating_bands(known: NDArray[np.int64]) -> dict[str, Any]:
    """Divide ratings into bands (ranges of ratings). Returns a dict with the arguments `edges` and `labels` of
    `kibitz.stats.slices`.

    known: int64 [n], ratings. Ratings below the 1st percentile belong to the lowest band, and those above the 99th
    percentile to the highest.
    """
    low, high = (int(end) // RATING_STEP * RATING_STEP for end in np.percentile(known, (1, 99)))
    inner = range(low + RATING_STEP, high + 1, RATING_STEP)
    if not inner:
        return {"edges": (0, np.inf), "labels": (f"about {low} to {low + RATING_STEP - 1}",)}
    middle = [f"{edge} to {edge + RATING_STEP - 1}" for edge in inner[:-1]]
    return {"edges": (0, *inner, np.inf), "labels": (f"under {inner[0]}", *middle, f"{inner[-1]} and over")}


def per_rating(
    right: NDArray[Any], groups: ClusterBootstrap, rating: NDArray[np.int64]
) -> dict[str, list[dict[str, Any]]]:
    """Return the accuracy by rating: a dict with the table "rating", which has a row for each range of ratings. The
    dict is empty if all ratings are unknown.

    right: [n], the correctness of each prediction, 0 to 1. groups: the positions grouped by game. rating: int64 [n],
    the rating at each position, for example the mover's; −1 if unknown.
    """
    if not (known := rating[rating >= 0]).size:
        return {}
    return {"rating": slices(right, groups, rating, score=True, **rating_bands(known))}


def per_speed(
    right: NDArray[Any], groups: ClusterBootstrap, store: Store, games: NDArray[np.int64]
) -> dict[str, list[dict[str, Any]]]:
    """Return the accuracy by the speed of the game, such as blitz: a dict with the table "speed", which has a row for
    each speed. The dict is empty if all speeds are unknown.

    right: [n], the correctness of each prediction, 0 to 1. groups: the positions grouped by game. games: int64 [n], the
    game of each position, as its index in the store.
    """
    numbers = {speed: number for number, speed in enumerate(SPEEDS)}
    speed = np.array([numbers.get(name, -1) for name in store.column("speed")])[games]
    if not (speed >= 0).any():
        return {}
    return {"speed": slices(right, groups, speed, labels=SPEEDS, score=True)}


def slices_as_json(tables: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Convert tables made by `kibitz.stats.slices` to the form of the entry "by" of a test's result. Empty rows are
    omitted.
    """
    return {
        name: [
            {"slice": "unknown" if row["slice"] == "other" else row["slice"], "figure": row["figure"].as_json()}
            for row in rows
            if row["figure"].n
        ]
        for name, rows in tables.items()
    }
