"""The clocks of a game record."""

from __future__ import annotations

import chess.pgn


def times_left(game: chess.pgn.Game) -> list[float | None]:
    """Return, for each move of a game, the seconds on the player's clock before the move.

    A value is None if the record does not contain this time. The time before a move is the time after the player's
    previous move. For a player's first move, it is the time after this move.
    """
    clocks = [node.clock() for node in game.mainline()]
    return [clocks[i - 2] if i >= 2 else clocks[i] for i in range(len(clocks))]
