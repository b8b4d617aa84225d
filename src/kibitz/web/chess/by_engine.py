"""Evaluate chess moves by a UCI engine instead of a search with the network, and return the results in the form for the
page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kibitz.analysis.chess.judging import Stopped
from kibitz.web.answers import rounded
from kibitz.web.chess.checking import check_with
from kibitz.web.chess.judging import in_chunks
from kibitz.web.chess.line import ChessLine, read_move

if TYPE_CHECKING:
    import chess

    from kibitz.analysis.chess.engine_judge import EngineJudge
    from kibitz.play.session import Session
    from kibitz.play.value import PositionValue
    from kibitz.web.positions import Line

MOST_SHOWN = 8
"""The largest number of moves of a line."""


def judge(
    engine: EngineJudge, session: Session, line: Line, first: int, last: int, seq: int, stop: threading.Event
) -> Iterator[list[dict[str, Any]]]:
    """Yield the lines of a stream: the number of moves and the engine's name, the evaluation of each move, and the end.

    first, last: the range of moves, counted from 1. 0 is the start position, for which only the value is sent.
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
    """Return the evaluation of the last move, as `kibitz.web.chess.checking.check` does. Raises BadRequest and
    Stopped.
    """
    assert isinstance(line, ChessLine)
    engine.stop = stop
    return check_with(engine, line)


def candidates(
    engine: EngineJudge, session: Session, line: Line, names: Sequence[str],
    report: Callable[[dict[str, Any]], None], stop: threading.Event,
) -> dict[str, Any]:  # fmt: skip
    """Return the best move in the last position, and the value after it and after some other moves.

    names: the other moves, in UCI notation. The value after a move is the value that the page shows after the move is
    played. report: called with interim results. Raises BadRequest for an illegal move, and Stopped.
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
        lines.append(_line(board, found.moves if found.moves[:1] == (name,) else (name, *value.moves), value))
        report({"lines": lines})
    return {"lines": lines}


def _line(board: chess.Board, moves: Sequence[str], value: PositionValue) -> dict[str, Any]:
    """Return a line, and the value after its first move in White's view."""
    after, shown = board.copy(stack=False), moves[:MOST_SHOWN]
    sans = [after.san_and_push(after.parse_uci(name)) for name in shown]
    return {"moves": list(shown), "san": sans, "white": rounded(value.chance), "mate": value.mate}
