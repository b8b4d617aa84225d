"""What a network is told beside the position: state columns after those of the position itself."""

from __future__ import annotations

from collections.abc import Mapping

import chess.pgn
import numpy as np
from numpy.typing import NDArray

from kibitz.chess.filters import read_rating
from kibitz.chess.replay import SIDE

RATING = "rating"
"""The name, among what a network is told, of the mover's rating."""
UNIT = 16
"""Points that one step of its column stands for (as in training): 0..255 are ratings up to 4080."""


def told(state: NDArray[np.uint8], headers: chess.pgn.Headers, beyond: Mapping[str, int]) -> NDArray[np.uint8]:
    """State rows of a game's positions [n, 4] with the columns that `Session.beyond` names [n, 4 + len(beyond)].

    The rating is the mover's by the game's headers. Where there is none, and for everything else, the usual value.
    """
    columns = [state]
    for name, usual in beyond.items():
        white = black = usual
        if name == RATING:
            white, black = (min(rating // UNIT, 255) or usual for rating in _ratings(headers))
        columns.append(np.where(state[:, SIDE] == 0, white, black).astype(np.uint8)[:, None])
    return np.concatenate(columns, 1)


def lacking(headers: chess.pgn.Headers) -> bool:
    """Whether a player of the game has no rating."""
    return not all(_ratings(headers))


def _ratings(headers: chess.pgn.Headers) -> tuple[int, int]:
    """White's and Black's; 0 where there is none."""
    return read_rating(headers.get("WhiteElo", "")), read_rating(headers.get("BlackElo", ""))
