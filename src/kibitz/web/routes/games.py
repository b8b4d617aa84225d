"""Routes for games: read and write game records, and return the positions of a line (a start position and moves)."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from kibitz.web import files, positions
from kibitz.web.params import Fields, text
from kibitz.web.routing import get, post
from kibitz.web.state import AppState


def load(state: AppState, fields: Fields) -> dict[str, Any]:
    return files.load(fields)


def given(state: AppState, request: Request) -> dict[str, Any]:
    return state.first_file()


def save(state: AppState, fields: Fields) -> dict[str, Any]:
    return files.save(fields)


def page(state: AppState, fields: Fields) -> dict[str, Any]:
    from kibitz.web import game_page

    return game_page.page(fields)


def line(state: AppState, fields: Fields) -> dict[str, Any]:
    return {"nodes": positions.read_line(fields).nodes()}


def count(state: AppState, fields: Fields) -> dict[str, Any]:
    from kibitz.web.go import counting

    return counting.count(fields)


def summary(state: AppState, fields: Fields) -> dict[str, Any]:
    from kibitz.web import summary

    return summary.summary(fields)


def move(state: AppState, fields: Fields) -> dict[str, Any]:
    return {"node": positions.read_line(fields).after(text(fields, "move"))}


ROUTES = [
    get("/api/given", given),
    post("/api/load", load),
    post("/api/save", save),
    post("/api/page", page),
    post("/api/line", line),
    post("/api/move", move),
    post("/api/count", count),
    post("/api/summary", summary),
]
