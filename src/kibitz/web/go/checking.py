"""The last move of a line of Go, judged at once: what it lost, and how it would be answered."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kibitz.analysis.glyphs import CHESS_SWING, mark
from kibitz.games.go.points import PASS, to_gtp
from kibitz.play.go.ownership import SWINGS
from kibitz.web.answers import rounded
from kibitz.web.go.line import GoLine
from kibitz.web.networks import NetworkInfo, NetworkRegistry
from kibitz.web.params import BadRequest
from kibitz.web.positions import Line

if TYPE_CHECKING:
    from kibitz.play.go.thought import GoThought, Look
    from kibitz.play.session import Session

MOST_SHOWN = 6
"""Moves of a line."""


class GivenUp(BadRequest):
    """The client of this request is gone."""


def check(networks: NetworkRegistry, network: NetworkInfo, line: Line, stop: threading.Event) -> dict[str, Any]:
    """What a search says of the last move. loss, before, after: of the mover's chance, 0..1; points: lost by it. reply:
    how it would be answered; line: the best move and how the game would go on, names of moves. Raises BadRequest."""
    from kibitz.play.go.value import final_count

    assert isinstance(line, GoLine)
    if not line.moves:
        raise BadRequest("there is no move to check")
    session, ended = networks.session(network.name), final_count(line.board(), line.terms)
    before = _looked(session, replace(line, moves=line.moves[:-1]), stop)
    best = before.moves[0]
    loss, points, reply, after = 0.0, 0.0, [], best.winrate
    if ended is not None:  # the second of two passes: what the count says is left
        black = before.sign > 0
        after = min(best.winrate, ended.black_wins if black else 1 - ended.black_wins)
        loss, points = best.winrate - after, max(0.0, best.lead - before.sign * ended.lead)
    elif best.point != line.moves[-1]:
        then = _looked(session, line, stop)
        answer = then.moves[0]
        after = min(best.winrate, 1 - answer.winrate)
        loss, points = best.winrate - after, max(0.0, best.lead + answer.lead)
        reply = [to_gtp(point, line.size) for point in answer.pv[:MOST_SHOWN]]
    sign = max(mark(-loss, CHESS_SWING), mark(-points, SWINGS[line.size]), key=["", "?!", "?", "??"].index)
    return {
        "loss": rounded(loss), "mark": sign, "before": rounded(best.winrate), "after": rounded(after),
        "points": round(points, 1), "reply": reply,
        "line": [to_gtp(point, line.size) for point in best.pv[:MOST_SHOWN]] or [to_gtp(best.point, line.size)],
    }  # fmt: skip


def _looked(session: Session, line: GoLine, stop: threading.Event) -> GoThought:
    """What a search of the last position finds, or a look at every move, by networks that do not search."""
    from kibitz.play.go.players import player_of
    from kibitz.play.go.value import search_board, searches

    looks: list[Look] = []

    def heard(look: Look) -> None:
        if stop.is_set():
            raise GivenUp("the request was given up")
        looks[:] = [look]

    board = line.board()
    if searches(session):
        return search_board(session, board, line.terms, on_progress=heard, stop=stop)
    last = line.moves[-1] if line.moves else PASS
    player_of(session).choose(board, board.to_move, line.terms, last=last, on_progress=heard, stop=stop)
    return looks[0]()
