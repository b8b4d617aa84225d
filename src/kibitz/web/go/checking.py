"""Evaluate the last move of a Go line (a start position and moves): how much it lost, and the opponent's best reply."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kibitz.analysis.glyphs import mark
from kibitz.games.go.points import PASS, to_gtp
from kibitz.play.go.ownership import SWINGS
from kibitz.web.answers import rounded
from kibitz.web.go.line import GoLine
from kibitz.web.networks import NetworkInfo, NetworkRegistry
from kibitz.web.params import BadRequest
from kibitz.web.positions import Line
from kibitz.web.reason_lines import reason_lines

if TYPE_CHECKING:
    from kibitz.analysis.go.reasons import Why
    from kibitz.games.go.rules import Board
    from kibitz.play.go.thought import GoThought, Look
    from kibitz.play.session import Session

MOST_SHOWN = 6
"""The page shows at most this number of moves of each line (sequence of moves)."""


class GivenUp(BadRequest):
    """Raised to cancel an evaluation when the browser that requested it has disconnected."""


def limits() -> list[object]:
    """Return the settings, such as the number of visits, that affect the evaluations. They are part of the key under
    which evaluations are stored.
    """
    from kibitz.analysis.go.better import LONG_VISITS, SUSPECT
    from kibitz.analysis.go.reason_texts import LANGUAGES
    from kibitz.analysis.go.reasons import CODES
    from kibitz.play.go.value import VISITS

    return ["check", VISITS, SUSPECT, LONG_VISITS, MOST_SHOWN, sorted(LANGUAGES), sorted(CODES)]


def check(networks: NetworkRegistry, network: NetworkInfo, line: Line, stop: threading.Event) -> dict[str, Any]:
    """Evaluate the last move of a line (a start position and moves) by the network's search. Return a dict with these
    keys:

    before, after: the win probability of the player who made the move, 0 to 1, before and after the move.
    loss: the win probability that the move lost, 0 to 1. A pass that ends the game loses nothing.
    points: the points that the move lost.
    lead: the lead in points of the player who made the move, before the move.
    mark: the annotation of the move, such as "?", which depends on `points`; "" for none.
    reply: the moves expected after the evaluated move, in GTP notation.
    line: the best move that the player could have made, and the moves expected after this best move, in GTP notation.
    reason: why the evaluated move was bad, as a dict. "code" is the kind of reason, and "texts" has a text in each
        language. "lines" has the sequences of moves that the text mentions. The key "reason" exists only if a reason is
        found.

    If the move may have lost much, further searches give all values except `before` and `after`, as in `kibitz
    analyze`.

    Raises BadRequest if there is no move, and GivenUp when `stop` is set.
    """
    from kibitz.analysis.go.better import LONG_VISITS, PointLoss, loss_of
    from kibitz.play.go.value import final_count, searches

    assert isinstance(line, GoLine)
    if not line.moves:
        raise BadRequest("there is no move to check")

    def search(board: Board) -> GoThought:
        return _searched(session, board, line, stop)

    def longer(board: Board) -> GoThought:
        return _searched(session, board, line, stop, LONG_VISITS)

    session, ended = networks.session(network.name), final_count(line.board(), line.terms)
    earlier, swing = replace(line, moves=line.moves[:-1]), SWINGS[line.size]
    before = _looked(session, earlier, stop)
    best, played = before.moves[0], line.moves[-1]
    lost, after, reply = PointLoss(), best.winrate, tuple[int, ...]()
    if ended is not None:
        after = ended.black_wins if before.sign > 0 else 1 - ended.black_wins
    elif best.point != played:
        then = _looked(session, line, stop)
        after, reply = min(best.winrate, 1 - then.moves[0].winrate), then.moves[0].pv
        suspect = swing if searches(session) else math.inf
        points = best.lead + then.moves[0].lead
        lost = loss_of(earlier.board(), played, best.point, points, search, suspect, longer, before, then)
    better, sign = lost.better, mark(-lost.points, swing)
    loss = better.chance if better else best.winrate - after if lost.points else 0.0
    shown = better.line if better else best.pv or (best.point,)
    reply = better.played_line[1:] if better else reply
    why = _why(better.why) if sign and better and better.why else {}
    return {
        "loss": rounded(loss), "mark": sign, "before": rounded(best.winrate), "after": rounded(after),
        "points": rounded(lost.points, 1), "lead": rounded(best.lead, 1),
        "reply": [to_gtp(point, line.size) for point in reply[:MOST_SHOWN]],
        "line": [to_gtp(point, line.size) for point in shown[:MOST_SHOWN]], **why,
    }  # fmt: skip


def _why(why: Why) -> dict[str, Any]:
    """Return the key "reason" of `check` for a reason."""
    from kibitz.analysis.go.reason_texts import LANGUAGES
    from kibitz.analysis.go.reasons import INSTEAD

    lines = [
        {"instead": instead, "moves": moves, "written": " ".join(moves)}
        for instead, moves in reason_lines(why.as_json(), INSTEAD)
    ]
    texts = {language: why.text(language) for language in LANGUAGES}
    return {"reason": {"code": why.code, "texts": texts, "lines": lines}}


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
