"""Routes for the list of networks, and for the progress of their training."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from kibitz.web.routing import get
from kibitz.web.state import AppState


def networks(state: AppState, request: Request) -> dict[str, Any]:
    """Return the response of /api/networks: the networks that the browser page of `kibitz board` can use."""
    registry = state.networks
    return {"networks": [network.as_json() for network in registry.known()], "given": registry.given}


def metrics(state: AppState, request: Request) -> dict[str, Any]:
    from kibitz.web import training

    return training.metrics(state.networks, request.path_params["name"], request.query_params.get("after", "0"))


def checkpoints(state: AppState, request: Request) -> dict[str, Any]:
    from kibitz.web import training

    return training.checkpoints(state.networks, request.path_params["name"])


ROUTES = [
    get("/api/networks", networks),
    get("/api/runs/{name:path}/metrics", metrics),
    get("/api/runs/{name:path}/snapshots", checkpoints),
]
