"""Evaluate chess moves with an external UCI engine, and return the results as dicts for the page of `kibitz board`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kibitz.analysis.chess.judging import Stopped
from kibitz.web.chess.candidates import valued_line
from kibitz.web.chess.checking import check_with
from kibitz.web.chess.judging import in_chunks
from kibitz.web.chess.line import ChessLine, read_move

if TYPE_CHECKING:
    from kibitz.analysis.chess.engine_judge import EngineJudge
    from kibitz.play.session import Session
    from kibitz.web.positions import Line


def judge(
    engine: EngineJudge, session: Session, line: Line, first: int, last: int, seq: int, stop: threading.Event
) -> Iterator[list[dict[str, Any]]]:
    """Evaluate the moves `first` to `last` of a line (a start position and moves) with an engine. Moves are counted
    from 1. Yields lists of dicts. Each dict becomes one line of JSON in the response.

    The first dict has the number of moves and the engine's name, and the last dict marks the end. Between them is one
    dict per move. If `first` is 0, the value of the start position is sent too. seq: the number of the request.
    session: the selected network. stop: an event that cancels the work.
    """
    assert isinstance(line, ChessLine)
    began = time.perf_counter()
    yield [{"seq": seq, "total": max(0, last - first + 1), "checked_by": engine.checked_by.as_json()}]
    steps = in_chunks(engine, line, first, last, 1, explained=True)
    while True:
        engine.stop = stop  # other requests may have used the engine since the last step
        try:
            found = next(steps, None)
        except Stopped:
            return
        if found is None:
            break
        yield [{"seq": seq, **each, "exact": True} for each in found]
    yield [{"seq": seq, "done": True, "seconds": round(time.perf_counter() - began, 3)}]


def check(engine: EngineJudge, session: Session, line: Line, stop: threading.Event) -> dict[str, Any]:
    """Return the engine's evaluation of the last move of a line (a start position and moves), with the keys of
    `kibitz.web.chess.checking.check_with`. Raises BadRequest if there is no move, and Stopped when `stop` is set.
    """
    assert isinstance(line, ChessLine)
    engine.stop = stop
    return check_with(engine, line)


def candidates(
    engine: EngineJudge, session: Session, line: Line, names: Sequence[str],
    report: Callable[[dict[str, Any]], None], stop: threading.Event,
) -> dict[str, Any]:  # fmt: skip
    """Search the last position of a line (a start position and moves) with an engine. Return the best move, and the
    values after this move and after each move in `names`, as a dict for the browser page of `kibitz board`. If one of
    these moves is then played, the page shows the same value for it.

    names: moves in UCI notation. report: a function that is called with interim results. Raises BadRequest for an
    illegal move, and Stopped when `stop` is set.
    """
    assert isinstance(line, ChessLine)
    engine.stop = stop
    board = line.since_null()
    others = [read_move(board, name).uci() for name in names]
    found = engine.value(board)
    lines: list[dict[str, Any]] = []
    for name in dict.fromkeys([*found.moves[:1], *others]):
        after = board.copy()
        after.push_uci(name)
        value = engine.value(after)
        lines.append(valued_line(board, found.moves if found.moves[:1] == (name,) else (name, *value.moves), value))
        report({"lines": lines})
    return {"lines": lines}
