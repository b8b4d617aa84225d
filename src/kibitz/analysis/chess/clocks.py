"""Read the clock times of a game record."""

from __future__ import annotations

import chess.pgn


def times_left(game: chess.pgn.Game) -> list[float | None]:
    """Return how many seconds were left on the mover's clock before each move of a game. An entry is None if the record
    does not contain this time.

    A record contains the time left after each move. So the time before a move is the time after the same player's
    previous move. A player's first move has no previous move. Its entry is the time after this first move.
    """
    clocks = [node.clock() for node in game.mainline()]
    return [clocks[i - 2] if i >= 2 else clocks[i] for i in range(len(clocks))]
