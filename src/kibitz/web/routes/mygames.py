"""Routes for the tab My games: sources of games, their analysis, and a network that is trained on them."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from kibitz.web.params import Fields
from kibitz.web.routing import get, post
from kibitz.web.state import AppState

READER = "my games"
"""The name of the worker thread that reads files and starts jobs, one after the other."""


def as_json(state: AppState, request: Request) -> dict[str, Any]:
    return state.my_games.as_json()


def report(state: AppState, request: Request) -> dict[str, Any]:
    return state.my_games.report()


def page(state: AppState, request: Request) -> dict[str, str]:
    return state.my_games.page()


def upload(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.my_games.upload(fields)


def open_given(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.my_games.open(fields)


def download(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.my_games.download(fields)


def game(state: AppState, fields: Fields) -> dict[str, str]:
    return state.my_games.game(fields)


def analyse(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.my_games.analyse(fields)


def repertoire(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.my_games.repertoire(fields)


def train(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.my_games.train(fields)


def stop(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.my_games.stop(fields)


ROUTES = [
    get("/api/mygames", as_json),
    get("/api/mygames/report", report),
    get("/api/mygames/page", page),
    post("/api/mygames/upload", upload, READER, changes=True),
    post("/api/mygames/open", open_given, READER, changes=True),
    post("/api/mygames/download", download, READER, changes=True),
    post("/api/mygames/game", game),
    post("/api/mygames/analyse", analyse, READER, changes=True),
    post("/api/mygames/repertoire", repertoire, READER),
    post("/api/mygames/train", train, READER, changes=True),
    post("/api/mygames/stop", stop, changes=True),
]
