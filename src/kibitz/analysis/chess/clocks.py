"""The clocks of a game record."""

from __future__ import annotations

import chess.pgn


def times_left(game: chess.pgn.Game) -> list[float | None]:
    """Return the seconds on the player's clock before each move of a game; None for a move if the record does not
    contain this time.

    The record contains the time after each move. The time before a move is the time after the same player's previous
    move. For a player's first move, the function returns the time after this move.
    """
    clocks = [node.clock() for node in game.mainline()]
    return [clocks[i - 2] if i >= 2 else clocks[i] for i in range(len(clocks))]
