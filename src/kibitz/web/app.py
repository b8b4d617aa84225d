"""The application of the board: the page, and the routes of its API."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kibitz.web import page
from kibitz.web.responses import answer_json, failed
from kibitz.web.routes import answers, games, trainings
from kibitz.web.routing import guarded, state_of
from kibitz.web.security import SecurityMiddleware
from kibitz.web.state import AppState


def create(given: list[str], port: int) -> tuple[SecurityMiddleware, AppState]:
    """The application behind its security middleware, and its state. given: names of networks to load at the start."""
    routes = [
        Route("/", guarded(_index), methods=["GET"]),
        *trainings.ROUTES,
        *games.ROUTES,
        *answers.ROUTES,
        Route("/{path:path}", guarded(_file), methods=["GET"]),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refused})
    app.state.board = AppState(given)
    return SecurityMiddleware(app, port), app.state.board


async def _index(request: Request) -> Response:
    state_of(request).warm_up()
    return page.file(request)


async def _file(request: Request) -> Response:
    return page.file(request)


async def _refused(request: Request, error: Exception) -> Response:
    """Of a path or method that there is not."""
    if isinstance(error, HTTPException):
        return answer_json({"error": error.detail.lower()}, error.status_code)
    return failed(error)
