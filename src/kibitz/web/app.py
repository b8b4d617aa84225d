"""The routes of the board: the page, and what it asks for."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from kibitz.errors import KibitzError
from kibitz.web import page
from kibitz.web.params import BadRequest, Fields, dumps, read_body, text, whole
from kibitz.web.responses import LineStream, answer_json, failed, wanted
from kibitz.web.security import SecurityMiddleware
from kibitz.web.workers import Steps, WorkerPool, run_in_thread

if TYPE_CHECKING:
    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.players import Players
    from kibitz.web.positions import Line

MOST_SEQ = 2**53


class AppState:
    """What all requests share. given: names of networks on the command line."""

    def __init__(self, given: list[str]):
        self.given = given
        self.works = WorkerPool()
        self._networks: NetworkRegistry | None = None
        self._players: Players | None = None
        self._making = threading.Lock()

    @property
    def networks(self) -> NetworkRegistry:
        """The list of networks; made in the thread that first asks, since it takes imports."""
        with self._making:
            if self._networks is None:
                from kibitz.web.networks import NetworkRegistry

                self._networks = NetworkRegistry(self.given)
            return self._networks

    @property
    def players(self) -> Players:
        networks = self.networks
        with self._making:
            if self._players is None:
                from kibitz.web.players import Players

                self._players = Players(networks)
            return self._players

    def warm(self) -> None:
        """Import, at a desk of its own, what the first requests need, and load the networks that were named."""

        def work() -> None:
            from kibitz.web import answers, files, planes, positions  # noqa: F401
            from kibitz.web.chess import line as chess_lines  # noqa: F401

            networks = self.networks
            for known in networks.known():
                if known.problem is None and (known.name in networks.given or known.name == "winner"):
                    with contextlib.suppress(KibitzError):
                        networks.session(known.name)

        async def go() -> None:
            with contextlib.suppress(Exception):
                await run_in_thread(self.works.desk("warm"), work)

        self._warming = asyncio.get_running_loop().create_task(go())

    # What is asked of it, each in a thread.

    def list_networks(self) -> dict[str, Any]:
        networks = self.networks
        return {"networks": [known.as_json() for known in networks.known()], "given": networks.given}

    def load(self, fields: Fields) -> dict[str, Any]:
        from kibitz.web import files

        return files.load(fields)

    def save(self, fields: Fields) -> dict[str, Any]:
        from kibitz.web import files

        return files.save(fields)

    def line(self, fields: Fields) -> dict[str, Any]:
        from kibitz.web import positions

        return {"nodes": positions.nodes(positions.read_line(fields))}

    def move(self, fields: Fields) -> dict[str, Any]:
        from kibitz.web import positions

        return {"node": positions.after(positions.read_line(fields), text(fields, "move"))}

    def asked(self, fields: Fields) -> tuple[NetworkInfo, Line]:
        """The network and the line of a request. Raises BadRequest where they do not fit."""
        from kibitz.web import answers, positions

        name = text(fields, "network")
        known = self.networks.find(name) if fields.get("snapshot") is not None else self.networks.ready(name)
        line = positions.read_line(fields)
        answers.check(known, line)
        return known, line

    def targets(self, fields: Fields) -> Callable[[], dict[str, Any]]:
        from kibitz.web import answers

        known, line = self.asked(fields)
        square = _square(text(fields, "square"))
        return lambda: answers.targets(self.networks, known, line, square)

    def planes(self, fields: Fields) -> Callable[[], dict[str, Any]]:
        from kibitz.web import planes

        known, line = self.asked(fields)
        return lambda: planes.planes(self.networks, known, line)

    def occlusion(self, fields: Fields) -> Callable[[], dict[str, Any]]:
        from kibitz.web import occlusion

        known, line = self.asked(fields)
        return lambda: occlusion.occlusion(self.networks, known, line)

    def analyse(self, fields: Fields) -> tuple[str, int, Steps]:
        from kibitz.web import answers

        known, line = self.asked(fields)
        last = len(line.moves)
        seq = whole(fields, "seq", 0, 0, MOST_SEQ)
        first = whole(fields, "from", 0, 0, last)
        last = whole(fields, "to", last, first, last)
        snapshot = None if fields.get("snapshot") is None else text(fields, "snapshot")
        return (
            f"network {known.name}",
            seq,
            lambda tell, stop: answers.analyse(self.networks, known, line, first, last, seq, snapshot),
        )

    def think(self, fields: Fields) -> tuple[str, int, Steps]:
        from kibitz.web.players import read_wanted

        known, line = self.asked(fields)
        wanted = read_wanted(fields, known)
        seq = whole(fields, "seq", 0, 0, MOST_SEQ)
        return (
            f"player {known.name}",
            seq,
            lambda tell, stop: self.players.think(known, line, wanted, seq, tell, stop),
        )

    def metrics(self, name: str, after: str) -> dict[str, Any]:
        from kibitz.web import training

        return training.metrics(self.networks, name, after)

    def snapshots(self, name: str) -> dict[str, Any]:
        from kibitz.web import training

        return training.snapshots(self.networks, name)


def _square(name: str) -> int:
    if len(name) != 2 or name[0] not in "abcdefgh" or name[1] not in "12345678":
        raise BadRequest("square must be one from a1 to h8")
    return "abcdefgh".index(name[0]) + 8 * (int(name[1]) - 1)


Handler = Callable[[Request], Awaitable[Response]]


def create(given: list[str], port: int) -> tuple[SecurityMiddleware, AppState]:
    """The application, behind its wall, and what its requests share."""
    board = AppState(given)
    works = board.works

    def guarded(handler: Callable[[Request], Awaitable[Any]]) -> Handler:
        async def handle(request: Request) -> Any:
            try:
                return await handler(request)
            except ClientDisconnect:
                return Response(status_code=400)
            except Exception as error:
                return failed(error)

        return handle

    def simple(function: Callable[[Fields], Any]) -> Handler:
        """A POST that a shared desk answers."""

        async def handle(request: Request) -> Response:
            body = await request.body()
            return answer_json(await run_in_thread(works.shared(), lambda: dumps(function(read_body(body)))))

        return guarded(handle)

    def by_network(function: Callable[[Fields], Callable[[], Any]]) -> Handler:
        """A POST whose answer a network's desk gives, once a shared one has read it."""

        async def handle(request: Request) -> Response:
            body = await request.body()

            def read() -> tuple[str, Callable[[], Any]]:
                fields = read_body(body)
                return text(fields, "network"), function(fields)

            name, answer = await run_in_thread(works.shared(), read)
            return answer_json(
                await wanted(request, run_in_thread(works.desk(f"network {name}"), lambda: dumps(answer())))
            )

        return guarded(handle)

    def streamed(function: Callable[[Fields], tuple[str, int, Steps]]) -> Handler:
        async def handle(request: Request) -> Any:
            body = await request.body()
            desk, seq, steps = await run_in_thread(works.shared(), lambda: function(read_body(body)))
            return LineStream(works.desk(desk), seq, steps)

        return guarded(handle)

    def got(function: Callable[[Request], Any]) -> Handler:
        async def handle(request: Request) -> Response:
            return answer_json(await run_in_thread(works.shared(), lambda: dumps(function(request))))

        return guarded(handle)

    async def index(request: Request) -> Response:
        board.warm()
        return page.file(request)

    async def file(request: Request) -> Response:
        return page.file(request)

    async def refused(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return answer_json({"error": error.detail.lower()}, error.status_code)
        return failed(error)

    get, post = ["GET"], ["POST"]
    routes = [
        Route("/", guarded(index), methods=get),
        Route("/api/networks", got(lambda request: board.list_networks()), methods=get),
        Route(
            "/api/runs/{name:path}/metrics",
            got(lambda request: board.metrics(request.path_params["name"], request.query_params.get("after", "0"))),
            methods=get,
        ),
        Route(
            "/api/runs/{name:path}/snapshots",
            got(lambda request: board.snapshots(request.path_params["name"])),
            methods=get,
        ),
        *(
            Route(f"/api/{name}", simple(function), methods=post)
            for name, function in (
                ("load", board.load),
                ("save", board.save),
                ("line", board.line),
                ("move", board.move),
            )
        ),
        *(
            Route(f"/api/{name}", by_network(function), methods=post)
            for name, function in (("targets", board.targets), ("planes", board.planes), ("occlusion", board.occlusion))
        ),
        *(
            Route(f"/api/{name}", streamed(function), methods=post)
            for name, function in (("analyse", board.analyse), ("think", board.think))
        ),
        Route("/{path:path}", guarded(file), methods=get),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: refused})
    return SecurityMiddleware(app, port), board
