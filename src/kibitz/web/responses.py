"""HTTP responses for the browser page of `kibitz board`: JSON, streams of lines of JSON, and errors."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import traceback
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from kibitz.errors import KibitzError, one_line
from kibitz.web.params import BadRequest, dumps
from kibitz.web.security import MAX_BODY_BYTES, Receive, Scope, Send, TooLarge
from kibitz.web.workers import END, Steps, WorkerThread, stream

T = TypeVar("T")

_BUG = "something went wrong in kibitz. See its terminal for details"


class LineStream:
    """A response that is a stream of lines of JSON, as an ASGI application. The lines are the results of a job in a
    worker thread. If the client disconnects, the job is canceled.

    seq: the number that the browser page of `kibitz board` gave to the request.
    """

    def __init__(self, worker: WorkerThread, seq: int, steps: Steps):
        self.worker, self.seq, self.steps = worker, seq, steps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        queue, stop = stream(self.worker, self.steps)

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            stop.set()
            queue.put_nowait(END)

        watching = asyncio.create_task(watch())
        try:
            headers = [(b"content-type", b"application/x-ndjson")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            while (item := await queue.get()) is not END:
                if isinstance(item, BaseException):
                    item = [{"seq": self.seq, "error": error_line(item)}]
                body = b"".join(dumps(line) + b"\n" for line in item)
                if body:
                    await send({"type": "http.response.body", "body": body, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except OSError:  # the client has disconnected
            pass
        finally:
            stop.set()
            watching.cancel()


async def cancel_on_disconnect(request: Request, answer: Coroutine[Any, Any, T]) -> T:
    """Wait for the coroutine `answer`, and return its result. request: the HTTP request of the client. If the client
    disconnects first, `answer` is canceled, and ClientDisconnect is raised.
    """

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    answering, watching = asyncio.create_task(answer), asyncio.create_task(gone())
    try:
        await asyncio.wait({answering, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise ClientDisconnect
        return answering.result()
    finally:
        answering.cancel()
        watching.cancel()


def error_line(error: BaseException) -> str:
    """Return an error as one line for the user. Any error other than KibitzError is a bug in kibitz, so its traceback
    is printed to standard error.
    """
    if isinstance(error, KibitzError):
        return one_line(error)
    with contextlib.suppress(OSError, ValueError, AttributeError):  # standard error may be closed, or None
        traceback.print_exception(error, file=sys.stderr)
    return _BUG


def failed(error: Exception) -> Response:
    """Return the HTTP response for an error: its message as JSON, with a status such as 400 or 500."""
    if isinstance(error, TooLarge):
        return answer_json(
            {"error": f"the file has more than {MAX_BODY_BYTES >> 20} MB. Split it into smaller files"}, 413
        )
    status = error.status if isinstance(error, BadRequest) else 400 if isinstance(error, KibitzError) else 500
    return answer_json({"error": error_line(error)}, status)


def answer_json(value: Any, status: int = 200) -> Response:
    """Return an HTTP response with a value as JSON."""
    return Response(value if isinstance(value, bytes) else dumps(value), status, media_type="application/json")
