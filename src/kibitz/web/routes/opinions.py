"""Routes for external engines: the available engines, their analysis of a position, and their moves in a game."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from kibitz.web.params import Fields, whole
from kibitz.web.routes.answers import MAX_SEQ
from kibitz.web.routing import StreamJob, get, post_for_stream
from kibitz.web.state import AppState


def programs(state: AppState, request: Request) -> dict[str, Any]:
    """Return the response of /api/programs: the engines that the browser page of `kibitz board` can use."""
    return {"programs": state.opinions.known(), "checked_by": state.opinions.checked_by}


def opinion(state: AppState, fields: Fields) -> StreamJob:
    """Parse `fields`, the JSON of a request to `/api/opinion`. Return a job that analyzes a position with an engine,
    and sends the results to the browser page of `kibitz board`.
    """
    from kibitz.web import positions
    from kibitz.web.opinions import read_lines

    line = positions.read_line(fields)
    desk, lines = state.opinions.desk(fields, line.game), read_lines(fields)
    seq = whole(fields, "seq", 0, 0, MAX_SEQ)
    return StreamJob(
        f"program {desk.program.name}", seq, lambda on_step, stop: desk.analyse(line, lines, seq, on_step, stop)
    )


def about(state: AppState, fields: Fields) -> StreamJob:
    """Parse `fields`, the JSON of a request to `/api/programs/about`. Return a job that starts an engine, and sends its
    name and its range of ratings to the browser page of `kibitz board`.
    """
    desk = state.opinions.desk(fields)
    seq = whole(fields, "seq", 0, 0, MAX_SEQ)
    return StreamJob(f"program {desk.program.name}", seq, lambda on_step, stop: desk.about(seq, on_step, stop))


def think(state: AppState, fields: Fields) -> StreamJob:
    """Parse `fields`, the JSON of a request to `/api/programs/think`. Return a job that lets an engine choose a move,
    and sends the move to the browser page of `kibitz board`.
    """
    from kibitz.web import positions
    from kibitz.web.opinions import read_move_limits

    line = positions.read_line(fields)
    desk, limits = state.opinions.desk(fields, line.game), read_move_limits(fields)
    seq = whole(fields, "seq", 0, 0, MAX_SEQ)
    return StreamJob(
        f"program {desk.program.name}", seq, lambda on_step, stop: desk.play(line, limits, seq, on_step, stop)
    )


ROUTES = [
    get("/api/programs", programs),
    post_for_stream("/api/opinion", opinion),
    post_for_stream("/api/programs/about", about),
    post_for_stream("/api/programs/think", think),
]
