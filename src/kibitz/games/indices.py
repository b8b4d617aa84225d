"""Checks of the pairs of numbers with which callers select positions of a game store. A pair is the number of a game
and a ply, the number of moves played before the position.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Indices = tuple[NDArray[np.int64], NDArray[np.int64]]


def check_indices(offsets: NDArray[np.int64], games: NDArray[np.int64], plies: NDArray[np.int64]) -> Indices:
    """Check that the selected positions exist, and return `games` and `plies` as contiguous int64 arrays. Call this
    function before compiled loops, which don't check the bounds of arrays.

    games, plies: two arrays of the same shape: for each position, the number of its game, and the number of moves
    before the position. offsets: int64 [games + 1], where each game's moves begin in the array of all moves. Raises
    IndexError for a game or ply that is not in the store.
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
