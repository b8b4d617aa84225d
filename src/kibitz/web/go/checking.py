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
    from kibitz.analysis.go.better import LONG_VISITS
    from kibitz.analysis.go.reason_texts import LANGUAGES
    from kibitz.analysis.go.reasons import CODES
    from kibitz.play.go.value import VISITS

    return ["check", VISITS, LONG_VISITS, MOST_SHOWN, sorted(LANGUAGES), sorted(CODES)]


def check(networks: NetworkRegistry, network: NetworkInfo, line: Line, stop: threading.Event) -> dict[str, Any]:
    """Return the evaluation of a line's last move by the network's search, as a dict. If the move seems to be a
    mistake, everything except `before` and `after` comes from a longer search. A pass that ends the game loses nothing.

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
    from kibitz.analysis.go.better import LONG_VISITS, may_be_mistake
    from kibitz.play.go.value import final_count, searches

    assert isinstance(line, GoLine)
    if not line.moves:
        raise BadRequest("there is no move to check")
    session, ended = networks.session(network.name), final_count(line.board(), line.terms)
    earlier = replace(line, moves=line.moves[:-1])
    before = _looked(session, earlier, stop)
    best = before.moves[0]
    played, loss, points, after, then = line.moves[-1], 0.0, 0.0, best.winrate, None
    if ended is not None:  # the move is the second of two passes. As in `kibitz analyze`, it loses nothing
        after = ended.black_wins if before.sign > 0 else 1 - ended.black_wins
    elif best.point != played:
        then = _looked(session, line, stop)
        loss, points = _lost(before, then, played)
        after = best.winrate - loss
    swing = SWINGS[line.size]
    is_suspect = may_be_mistake(loss, CHESS_SWING) or may_be_mistake(points, swing)
    longer = then is not None and is_suspect and searches(session)
    if longer:
        before, then = (_searched(session, one.board(), line, stop, LONG_VISITS) for one in (earlier, line))
        loss, points = _lost(before, then, played)
    shown, reply = before.moves[0], then.moves[0].pv if then else ()
    sign = max(mark(-loss, CHESS_SWING), mark(-points, swing), key=["", "?!", "?", "??"].index)
    why = _why(session, line, before, then, longer, stop) if sign and then else None
    return {
        "loss": rounded(loss), "mark": sign, "before": rounded(best.winrate), "after": rounded(after),
        "points": round(points, 1), "reply": [to_gtp(point, line.size) for point in reply[:MOST_SHOWN]],
        "line": [to_gtp(point, line.size) for point in shown.pv[:MOST_SHOWN]] or [to_gtp(shown.point, line.size)],
        **({"reason": why} if why else {}),
    }  # fmt: skip


def _lost(before: GoThought, then: GoThought, played: int) -> tuple[float, float]:
    """Return what a move lost, as win probability (0 to 1) and in points. before, then: the search results for the
    positions before and after the move. played: the move's point.
    """
    best, answer = before.moves[0], then.moves[0]
    if best.point == played:
        return 0.0, 0.0
    return max(0.0, best.winrate - (1 - answer.winrate)), max(0.0, best.lead + answer.lead)


def _why(
    session: Session, line: GoLine, before: GoThought, then: GoThought, is_longer: bool, stop: threading.Event
) -> dict[str, Any] | None:
    """Return why the last move was bad: a code, the text in each language, and the lines that the text mentions. None
    if no reason is found.

    before, then: the search results for the positions before and after the move. is_longer: whether they come from a
    longer search.
    """
    from kibitz.analysis.go.better import LONG_VISITS, find_better
    from kibitz.analysis.go.reason_texts import LANGUAGES
    from kibitz.analysis.go.reasons import INSTEAD
    from kibitz.play.go.value import searches

    if not searches(session):
        return None

    def search(board: Board) -> GoThought:
        return _searched(session, board, line, stop)

    def longer(board: Board) -> GoThought:
        return _searched(session, board, line, stop, LONG_VISITS)

    board = replace(line, moves=line.moves[:-1]).board()
    better = find_better(board, line.moves[-1], search, before, then, longer=longer if is_longer else None)
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


def _searched(
    session: Session, board: Board, line: GoLine, stop: threading.Event, visits: int | None = None
) -> GoThought:
    """Return the result of a search of a position of the line's game. visits: None for the usual number."""
    from kibitz.play.go.value import VISITS, search_board

    return search_board(session, board, line.terms, visits or VISITS, on_progress=lambda look: _go_on(stop), stop=stop)


def _go_on(stop: threading.Event) -> None:
    """Raise GivenUp if no client waits for the response any more."""
    if stop.is_set():
        raise GivenUp("the request was canceled")
