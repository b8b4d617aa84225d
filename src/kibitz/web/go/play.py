"""A player's move in a position of Go."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kibitz.games.go.points import BLACK, PASS, to_gtp
from kibitz.play.go import ownership
from kibitz.web.go.line import GoLine

if TYPE_CHECKING:
    from kibitz.play.go.player import Study
    from kibitz.web.players import PlayRequest

REPORT_SECONDS = 0.15
"""Between two reports, at least."""


class Cancelled(Exception):
    """The client of this request is gone."""


def think(
    player: Callable[[], Any],
    line: GoLine,
    request: PlayRequest,
    report: Callable[[Mapping[str, Any]], None],
    stop: threading.Event,
) -> str:
    """See `kibitz.web.positions.Line.think`. The move is named as GTP does. Raises Cancelled."""
    board = line.board()
    side, began, last_report = board.to_move, time.perf_counter(), 0.0

    def progress(study: Study) -> None:
        nonlocal last_report
        if stop.is_set():
            raise Cancelled
        seconds = time.perf_counter() - began
        if seconds - last_report < REPORT_SECONDS and last_report:
            return
        last_report = seconds
        best = study.candidates()[0]
        lead = best.lead if side == BLACK else -best.lead
        name = to_gtp(best.point, line.size)
        chance = ownership.winrate(lead, ownership.spread(best.owners, line.size))
        report(
            {"depth": 1, "nodes": int(study.looks.sum()), "seconds": round(seconds, 3), "score": round(lead, 2),
             "black": round(chance, 4), "pv": [name], "san": [name]}
        )  # fmt: skip

    last = line.moves[-1] if line.moves else PASS
    chosen = player().choose(board, side, line.terms, last=last, seconds=request.seconds, on_progress=progress)
    return to_gtp(chosen.point, line.size)
