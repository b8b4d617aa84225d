"""Score the final position of a game of Go. Another program, the referee, determines the dead stones, and then the
score is computed by area (stones and territory).
"""

from __future__ import annotations

import contextlib

import numpy as np
from numpy.typing import NDArray

from kibitz.external import EngineDied
from kibitz.external.programs import find_gnugo
from kibitz.games.go.endings.counting import area, settle
from kibitz.games.go.endings.dead import GnuGo, by_playouts
from kibitz.games.go.rules import Board

PLAYOUTS = 1000
PATIENCE = 30.0
"""The seconds that GNU Go may take to find the dead stones of a position. GNU Go is slow if large parts of the board
are still open.
"""


def lead(board: Board, komi: float) -> tuple[float, str]:
    """Return Black's lead in points by area scoring, komi subtracted, and the name of the referee, which determined the
    dead stones.

    The referee is GNU Go in a separate process. If GNU Go isn't installed or fails, random playouts determine the dead
    stones.
    """
    colours = board.colours()
    dead, referee = _dead_by_gnugo(colours, board.size), "GNU Go"
    if dead is None:
        dead, referee = by_playouts(colours, seed=0, playouts=PLAYOUTS), "random playouts"
    return area(settle(colours, dead)) - komi, referee


def _dead_by_gnugo(colours: NDArray[np.uint8], size: int) -> NDArray[np.bool_] | None:
    """Return GNU Go's list of the dead stones, bool [361]; None if GNU Go is not installed or fails."""
    command = find_gnugo()
    if command is None:
        return None
    with (
        contextlib.closing(GnuGo([command, "--mode", "gtp", "--chinese-rules"], PATIENCE)) as gnugo,
        contextlib.suppress(EngineDied, ValueError),
    ):
        return gnugo.dead(colours, size)[0]
    return None
