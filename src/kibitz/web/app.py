"""Build the web application of `kibitz board`: the page and the routes of its API."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kibitz.external.programs import Program
from kibitz.web import page
from kibitz.web.lan import Access
from kibitz.web.responses import answer_json, failed
from kibitz.web.routes import answers, games, mygames, opinions, stores, trainings
from kibitz.web.routing import guarded, state_of
from kibitz.web.security import SecurityMiddleware
from kibitz.web.state import AppState


def create(
    given: list[str],
    port: int,
    known: list[str],
    records: Sequence[str] = (),
    programs: Sequence[Program] = (),
    checkers: Sequence[Program] = (),
    access: Access | None = None,
) -> tuple[SecurityMiddleware, AppState]:
    """Return the web application of `kibitz board` (ASGI), wrapped in the security middleware, and the state that its
    requests share.

    given: the names of networks to load at the start.
    port: the port of the server.
    known: the paths of game stores.
    records: the paths of game files.
    programs: the engines that the user may select for engine analysis.
    checkers: the engines, at most one per game, that evaluate moves until the user selects other engines.
    access: how other computers can use the page; None if only this computer may use it.
    """
    routes = [
        Route("/", guarded(_index), methods=["GET"]),
        *trainings.ROUTES,
        *games.ROUTES,
        *stores.ROUTES,
        *mygames.ROUTES,
        *answers.ROUTES,
        *opinions.ROUTES,
        Route("/{path:path}", guarded(_file), methods=["GET"]),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refused})
    app.state.board = AppState(given, known, records, programs, checkers)
    return SecurityMiddleware(app, port, access), app.state.board


async def _index(request: Request) -> Response:
    state_of(request).warm_up()
    return page.file(request)


async def _file(request: Request) -> Response:
    return page.file(request)


async def _refused(request: Request, error: Exception) -> Response:
    """Return the response for an unknown path or method."""
    if isinstance(error, HTTPException):
        return answer_json({"error": error.detail.lower()}, error.status_code)
    return failed(error)
