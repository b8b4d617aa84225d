"""Convert functions to Starlette routes. The functions run in a worker thread, and their errors become responses.

The first argument of every function is the AppState, the state that all requests share.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from kibitz.web.params import Fields, dumps, read_body, text
from kibitz.web.responses import LineStream, answer_json, cancel_on_disconnect, failed
from kibitz.web.state import AppState
from kibitz.web.workers import Steps, Unwanted, run_in_thread

SHUTTING_DOWN = "kibitz board is shutting down"
Handler = Callable[[Request], Awaitable[Any]]
LARGE = 1 << 18
"""The size in bytes from which the body of a request counts as large. A single worker processes all large requests in
order, because a large file takes seconds, and small requests must not wait.
"""


@dataclass(frozen=True)
class StreamJob:
    """A job of a worker thread that sends its results to the browser page of `kibitz board` one by one.

    worker: the name of the worker thread. seq: the number that the page gave to the request. steps: a function that
    returns the iterator of the steps of the work (see `workers.Steps`).
    """

    worker: str
    seq: int
    steps: Steps


def state_of(request: Request) -> AppState:
    """Return the state that all requests share."""
    state: AppState = request.app.state.board
    return state


def guarded(handler: Handler) -> Handler:
    """Wrap a request handler: if it raises an error, the result is an error response."""

    async def handle(request: Request) -> Any:
        try:
            return await handler(request)
        except ClientDisconnect:
            return Response(status_code=400)
        except Unwanted:
            return answer_json({"error": SHUTTING_DOWN}, 503)
        except Exception as error:
            return failed(error)

    return handle


def get(path: str, function: Callable[[AppState, Request], Any]) -> Route:
    """Return a GET route. A shared worker thread calls `function`, whose result becomes the JSON response. If the
    client disconnects first, the work is canceled.
    """

    async def handle(request: Request) -> Response:
        state = state_of(request)
        answer = run_in_thread(state.workers.shared(), lambda: dumps(function(state, request)))
        return answer_json(await cancel_on_disconnect(request, answer))

    return Route(path, guarded(handle), methods=["GET"])


def post(
    path: str, function: Callable[[AppState, Fields], Any], worker: str | None = None, changes: bool = False
) -> Route:
    """Return a POST route. A worker thread calls `function`, whose result becomes the JSON response.

    worker: the name of the worker thread; None for a shared one. changes: whether `function` changes the state of the
    server. If False, the work is canceled when the client disconnects; if True, it is completed.
    """

    async def handle(request: Request) -> Response:
        state, body = state_of(request), await request.body()
        name = worker or ("large" if len(body) > LARGE else None)
        thread = state.workers.worker(name, newest_first=False) if name else state.workers.shared()
        answer = run_in_thread(thread, lambda: dumps(function(state, read_body(body))))
        return answer_json(await (answer if changes else cancel_on_disconnect(request, answer)))

    return Route(path, guarded(handle), methods=["POST"])


def post_to_network(path: str, function: Callable[[AppState, Fields], Callable[[], Any]]) -> Route:
    """Return a POST route for work with a network. A shared worker thread parses the request, and the worker thread of
    the network makes the response. If the client disconnects, the work is canceled.

    function: a function that parses the request, and returns the function that makes the response.
    """

    async def handle(request: Request) -> Response:
        state, body = state_of(request), await request.body()

        def read() -> tuple[str, Callable[[], Any]]:
            fields = read_body(body)
            return text(fields, "network"), function(state, fields)

        name, answer = await run_in_thread(state.workers.shared(), read)
        worker = state.workers.worker(f"network {name}")
        return answer_json(await cancel_on_disconnect(request, run_in_thread(worker, lambda: dumps(answer()))))

    return Route(path, guarded(handle), methods=["POST"])


def post_for_stream(path: str, function: Callable[[AppState, Fields], StreamJob]) -> Route:
    """Return a POST route whose response is a stream of JSON lines. function: a function that parses the request, in a
    shared worker thread, and returns the job that computes the response.
    """

    async def handle(request: Request) -> Any:
        state, body = state_of(request), await request.body()
        job = await run_in_thread(state.workers.shared(), lambda: function(state, read_body(body)))
        return LineStream(state.workers.worker(job.worker), job.seq, job.steps)

    return Route(path, guarded(handle), methods=["POST"])
