"""Evaluate Go moves with an external GTP engine, and return the results as dicts for the page of `kibitz board`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kibitz.analysis.go.engine_values import ValuesByEngine
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import BLACK, to_gtp
from kibitz.web.answers import rounded
from kibitz.web.go.line import GoLine, read_point
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.play.session import Session
    from kibitz.web.positions import Line

MOST_SHOWN = 8
"""The page shows at most this number of moves of each line (sequence of moves)."""


class EngineValues(ValuesByEngine):
    """An engine's evaluations of the positions and moves of a line (a start position and moves), as dicts for
    the browser page of `kibitz board`.
    """

    def __init__(self, engine: GoEngineJudge, session: Session, line: Line):
        assert isinstance(line, GoLine)
        self.line = line
        record = Record(
            line.size, line.black, line.white, line.side, list(line.moves), komi=line.komi, rules=line.rules,
            handicap=line.handicap,
        )  # fmt: skip
        law = line.law
        super().__init__(
            engine, session, record, line.terms, suicide=law.suicide, superko=law.ko == "POSITIONAL"
        )  # fmt: skip

    def judgment(self, ply: int) -> dict[str, Any]:
        """Return the evaluation of the move that leads to the position at this ply (number of moves from the start
        position). If it is a pass that ends the game, its loss is 0.
        """
        after = self.at(ply)
        found = {"ply": ply, "only": False, "score": rounded(after.lead, 2)}
        white = rounded(1 - after.black)
        if ply == 0:
            nothing: dict[str, Any] = {"move": "", "san": ""}
            return {**found, "loss": 0.0, "points": None, "mark": "", "best": nothing, "line": [],
                    "white": {"before": None, "after": white}}  # fmt: skip
        before, lost = self.at(ply - 1), self.lost(ply)
        names = [to_gtp(point, self.line.size) for point in lost.line[:MOST_SHOWN]]
        return {
            **found, "loss": rounded(lost.chance), "points": rounded(lost.points, 1),
            "mark": self.mark(lost.points), "best": {"move": names[0], "san": names[0]},
            "line": names if before.line else [], "white": {"before": rounded(1 - before.black), "after": white},
        }  # fmt: skip


def judge(
    engine: GoEngineJudge, session: Session, line: Line, first: int, last: int, seq: int, stop: threading.Event
) -> Iterator[list[dict[str, Any]]]:
    """Evaluate the moves `first` to `last` of a line (a start position and moves) with an engine. Moves are counted
    from 1. Yields lists of dicts. Each dict becomes one line of JSON in the response.

    The first dict has the number of moves and the engine's name, and the last dict marks the end. Between them is one
    dict per move. If `first` is 0, the value of the start position is sent too. seq: the number of the request.
    session: the selected network.
    """
    began = time.perf_counter()
    yield [{"seq": seq, "total": max(0, last - first + 1), "checked_by": engine.checked_by.as_json()}]
    values = EngineValues(engine, session, line)
    for ply in range(first, last + 1):
        yield [{"seq": seq, **values.judgment(ply), "exact": True}]
    yield [{"seq": seq, "done": True, "seconds": round(time.perf_counter() - began, 3)}]


def check(engine: GoEngineJudge, session: Session, line: Line, stop: threading.Event) -> dict[str, Any]:
    """Return the engine's evaluation of the last move, with the keys of `kibitz.web.go.checking.check` except "reason".
    session: the session of the selected network. Raises BadRequest if there is no move.
    """
    assert isinstance(line, GoLine)
    if not line.moves:
        raise BadRequest("there is no move to check")
    last = len(line.moves)
    values = EngineValues(engine, session, line)
    found, reply = values.judgment(last), values.at(last).line[:MOST_SHOWN]
    chances = {name: found["white"][name] for name in ("before", "after")}
    if (line.side == BLACK) == (last % 2 == 1):  # Black made the last move
        chances = {name: rounded(1 - white) for name, white in chances.items()}
    return {
        **{name: found[name] for name in ("loss", "mark", "points", "line")}, **chances,
        "reply": [to_gtp(point, line.size) for point in reply] if found["loss"] else [],
    }  # fmt: skip


def candidates(
    engine: GoEngineJudge, session: Session, line: Line, names: Sequence[str],
    report: Callable[[dict[str, Any]], None], stop: threading.Event,
) -> dict[str, Any]:  # fmt: skip
    """Evaluate moves in the last position of a line (a start position and moves) with an engine: the engine's best move
    and the moves in `names`. Return {"lines": one dict per move, the best move first}.

    The dict of a move has the expected moves, and the win probability and the lead of Black after the move. The browser
    page of `kibitz board` shows the same values when the user plays the move. An engine without a search chooses moves
    by other values than its estimates. So a move has no values if they would be better than those of the best move.

    names: moves in GTP notation. An illegal move has no result. report: a function that is called after each
    evaluation, with the result so far. stop: an event that ends the work; the result then has fewer moves. Raises
    BadRequest for a text that is not a move.
    """
    assert isinstance(line, GoLine)
    board = line.board()
    found = EngineValues(engine, session, line).at(len(line.moves))
    others = [read_point(name, line.size) for name in names]
    lines: list[dict[str, Any]] = []
    for point in dict.fromkeys([*found.line[:1], *others]):
        if board.why_not(board.to_move, point) is not None:  # the engine or the network may know other rules
            continue
        if stop.is_set():
            break
        after = replace(line, moves=(*line.moves, point))
        value = EngineValues(engine, session, after).at(len(after.moves))
        pv = found.line if found.line[:1] == (point,) else (point, *value.line)
        moves = [to_gtp(each, line.size) for each in pv[:MOST_SHOWN]]
        values: dict[str, Any] = {"black": rounded(value.black), "score": rounded(value.lead, 1)}
        chosen = bool(lines) and (read_point(lines[0]["moves"][0], line.size),) == found.line[:1]
        sign = 1 if board.to_move == BLACK else -1
        if chosen and not engine.searches and sign * (values["score"] - lines[0]["score"]) > 0:
            values = dict.fromkeys(values)
        lines.append({"moves": moves, "san": moves, **values})
        report({"lines": lines})
    return {"lines": lines}
