"""The clocks of a game record."""

from __future__ import annotations

import chess.pgn


def times_left(game: chess.pgn.Game) -> list[float | None]:
    """Return the seconds on the mover's clock before each move.

    They are the time after the player's previous move, and before the first move the time after it.
    """
    clocks = [node.clock() for node in game.mainline()]
    return [clocks[i - 2] if i >= 2 else clocks[i] for i in range(len(clocks))]
