"""Routes for the opening explorer and its game stores."""

from __future__ import annotations

from typing import Any

from kibitz.web.params import Fields
from kibitz.web.routing import post
from kibitz.web.state import AppState


def explore(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.stores.explore(fields)


def stored(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.stores.record(fields)


def stored_games(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.stores.games(fields)


def upload(state: AppState, fields: Fields) -> dict[str, Any]:
    return state.stores.built.upload(fields)


ROUTES = [
    post("/api/explore", explore),
    post("/api/explore/upload", upload, "explorer", changes=True),
    post("/api/stored", stored),
    post("/api/stored-games", stored_games),
]
