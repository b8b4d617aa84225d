"""Choose a player's move in a Go position. A player is a network with a method to choose moves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kibitz.games.go.points import BLACK, PASS, to_gtp
from kibitz.text import rounded
from kibitz.web.go.line import GoLine

if TYPE_CHECKING:
    from kibitz.play.go.thought import Look
    from kibitz.web.players import PlayRequest

REPORT_SECONDS = 0.15
"""The shortest time in seconds between two reports."""


class Cancelled(Exception):
    """Raised to cancel a search when the browser that requested it has disconnected."""


def think(
    player: Callable[[], Any],
    line: GoLine,
    request: PlayRequest,
    report: Callable[[Mapping[str, Any]], None],
    stop: threading.Event,
) -> str:
    """Return the move that a player (a network with a method to choose moves) chooses in the last position of a line,
    in GTP notation. `kibitz.web.positions.Line.think` describes the arguments. Raises Cancelled when `stop` is set.
    """
    board = line.board()
    side, began, last_report = board.to_move, time.perf_counter(), 0.0

    def progress(look: Look) -> None:
        nonlocal last_report
        if stop.is_set():
            raise Cancelled
        seconds = time.perf_counter() - began
        if seconds - last_report < REPORT_SECONDS and last_report:
            return
        last_report = seconds
        thought = look(1)
        best = thought.moves[0]
        lead, chance = (best.lead, best.winrate) if side == BLACK else (-best.lead, 1 - best.winrate)
        names = [to_gtp(point, line.size) for point in best.pv]
        report(
            {"depth": len(names), "nodes": thought.visits, "seconds": round(seconds, 3), "score": rounded(lead, 2),
             "black": round(chance, 4), "pv": names, "san": names}
        )  # fmt: skip

    last = line.moves[-1] if line.moves else PASS
    chosen = player().choose(
        board, side, line.terms, last=last, seconds=request.seconds, visits=request.nodes, on_progress=progress
    )
    return to_gtp(chosen.point, line.size)
