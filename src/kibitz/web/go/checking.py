"""The evaluation of the last move of a Go line: what it lost, and the reply to it."""

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
from kibitz.web.reason_lines import reason_lines

if TYPE_CHECKING:
    from kibitz.games.go.rules import Board
    from kibitz.play.go.thought import GoThought, Look
    from kibitz.play.session import Session

MOST_SHOWN = 6
"""The largest number of moves of a line that are shown."""


class GivenUp(BadRequest):
    """Raised to cancel the work when the client of the request has disconnected."""


def limits() -> list[object]:
    """Return the settings, such as the number of visits, that affect the evaluations of moves in addition to the
    network and the line.
    """
    from kibitz.analysis.go.reason_texts import LANGUAGES
    from kibitz.analysis.go.reasons import CODES
    from kibitz.play.go.value import VISITS

    return ["check", VISITS, MOST_SHOWN, sorted(LANGUAGES), sorted(CODES)]


def check(networks: NetworkRegistry, network: NetworkInfo, line: Line, stop: threading.Event) -> dict[str, Any]:
    """Return the evaluation of a line's last move by the network's search, as a dict.

    before, after: the win probability of the player who made the move, 0 to 1, before and after the move.
    loss: the win probability that the move lost, 0 to 1.
    points: the points that the move lost.
    mark: the annotation of the move, "" for none.
    reply: the expected moves after the move, in GTP notation.
    line: the best move instead of it, and the moves that would follow.
    reason: why the move was bad: a code, a text in each language, and the lines that the text mentions. This key exists
        only if a reason is found.

    Raises BadRequest if there is no move, and GivenUp when `stop` is set.
    """
    from kibitz.play.go.value import final_count

    assert isinstance(line, GoLine)
    if not line.moves:
        raise BadRequest("there is no move to check")
    session, ended = networks.session(network.name), final_count(line.board(), line.terms)
    before = _looked(session, replace(line, moves=line.moves[:-1]), stop)
    best = before.moves[0]
    loss, points, reply, after, then = 0.0, 0.0, [], best.winrate, None
    if ended is not None:  # the move is the second of two passes, so the final score decides
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
    why = _why(session, line, before, then, stop) if sign and then else None
    return {
        "loss": rounded(loss), "mark": sign, "before": rounded(best.winrate), "after": rounded(after),
        "points": round(points, 1), "reply": reply,
        "line": [to_gtp(point, line.size) for point in best.pv[:MOST_SHOWN]] or [to_gtp(best.point, line.size)],
        **({"reason": why} if why else {}),
    }  # fmt: skip


def _why(
    session: Session, line: GoLine, before: GoThought, then: GoThought, stop: threading.Event
) -> dict[str, Any] | None:
    """Return why the last move was bad: a code, the text in each language, and the lines that the text mentions. None
    if no reason is found.

    before, then: the search results for the positions before and after the move.
    """
    from kibitz.analysis.go.better import find_better
    from kibitz.analysis.go.reason_texts import LANGUAGES
    from kibitz.analysis.go.reasons import INSTEAD
    from kibitz.play.go.value import searches

    if not searches(session):
        return None

    def search(board: Board) -> GoThought:
        return _searched(session, board, line, stop)

    better = find_better(replace(line, moves=line.moves[:-1]).board(), line.moves[-1], search, before, then)
    if better is None or better.why is None:
        return None
    why = better.why
    lines = [
        {"instead": instead, "moves": moves, "written": " ".join(moves)}
        for instead, moves in reason_lines(why.as_json(), INSTEAD)
    ]
    return {"code": why.code, "texts": {language: why.text(language) for language in LANGUAGES}, "lines": lines}


def _looked(session: Session, line: GoLine, stop: threading.Event) -> GoThought:
    """Search the last position. If the network does not search, evaluate every move instead."""
    from kibitz.play.go.players import player_of
    from kibitz.play.go.value import searches

    board = line.board()
    if searches(session):
        return _searched(session, board, line, stop)
    looks: list[Look] = []

    def on_look(look: Look) -> None:
        _go_on(stop)
        looks[:] = [look]

    last = line.moves[-1] if line.moves else PASS
    player_of(session).choose(board, board.to_move, line.terms, last=last, on_progress=on_look, stop=stop)
    return looks[0]()


def _searched(session: Session, board: Board, line: GoLine, stop: threading.Event) -> GoThought:
    """Return the result of a search of a position of the line's game."""
    from kibitz.play.go.value import search_board

    return search_board(session, board, line.terms, on_progress=lambda look: _go_on(stop), stop=stop)


def _go_on(stop: threading.Event) -> None:
    """Raise GivenUp if no client waits for the response any more."""
    if stop.is_set():
        raise GivenUp("the request was canceled")
