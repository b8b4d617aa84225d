"""Second opinions of other programs: which there are, and what one says of a position."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from kibitz.web.params import Fields, whole
from kibitz.web.routes.answers import MAX_SEQ
from kibitz.web.routing import StreamJob, get, post_for_stream
from kibitz.web.state import AppState


def programs(state: AppState, request: Request) -> dict[str, Any]:
    return {"programs": state.opinions.known()}


def opinion(state: AppState, fields: Fields) -> StreamJob:
    from kibitz.web import positions

    line = positions.read_line(fields)
    desk, lines = state.opinions.read(fields, line)
    seq = whole(fields, "seq", 0, 0, MAX_SEQ)
    return StreamJob(f"program {desk.program.name}", seq, lambda tell, stop: desk.analyse(line, lines, seq, tell, stop))


ROUTES = [get("/api/programs", programs), post_for_stream("/api/opinion", opinion)]
