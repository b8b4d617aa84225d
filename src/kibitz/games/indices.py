"""Checks of indices into a game store. An index is a pair of a game and a ply (the number of moves played before the
position).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Indices = tuple[NDArray[np.int64], NDArray[np.int64]]


def check_indices(offsets: NDArray[np.int64], games: NDArray[np.int64], plies: NDArray[np.int64]) -> Indices:
    """Return the indices of games and plies as contiguous arrays, after a check that all of them exist. Compiled loops
    don't check indices, so this function must be called before them.

    offsets: int64 [games + 1], the index at which each game's moves begin. games, plies: the indices to check, of equal
    shape. Raises IndexError for a game or ply that is not in the store.
    """
    games, plies = np.ascontiguousarray(games, np.int64), np.ascontiguousarray(plies, np.int64)
    if games.size:
        if games.min() < 0 or games.max() >= len(offsets) - 1:
            raise IndexError(f"game numbers must be from 0 to {len(offsets) - 2} (got {games.min()} to {games.max()})")
        lengths = offsets[games + 1] - offsets[games]
        if (wrong := (plies < 0) | (plies > lengths)).any():
            game, ply, last = (each[wrong][0] for each in np.broadcast_arrays(games, plies, lengths))
            raise IndexError(f"plies of game {game} must be from 0 to {last} (got {ply})")
    return games, plies
