"""Security middleware (ASGI): decides which requests are accepted, and restricts what browsers may do with
responses.
"""

from __future__ import annotations

import hmac
import html
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from kibitz.web.lan import Access
from kibitz.web.params import dumps

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY_BYTES = 8 << 20
"""The largest number of bytes of a request."""

HEADERS = (
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
     b" form-action 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)  # fmt: skip


class TooLarge(Exception):
    """Raised if the body of a request has more than MAX_BODY_BYTES bytes (8 MiB)."""


class SecurityMiddleware:
    """Accepts requests from the page of this server, and rejects all other requests.

    The header Host must be a name of this server, which prevents DNS rebinding. The header Origin, if there is one,
    must have the same host, so other pages can't send requests. Posted data must have the content type of JSON, which
    other pages can't send without permission.

    If there is a key (see `Access`), other computers may use the board, and the header Host may be any name of this
    computer. Their first request must be for "/?key=KEY". The response sets a cookie, which all later requests must
    have.
    """

    def __init__(self, app: App, port: int, access: Access | None = None):
        self.app, self.access, self.cookie = app, access, f"kibitz-{port}"
        self.hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}
        if port == 80:
            self.hosts |= {b"127.0.0.1", b"localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        api = scope["path"].startswith("/api/")

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = (*HEADERS, (b"cache-control", b"no-store")) if api else HEADERS
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        if refused := self._refused(scope):
            await refuse(guarded, *refused, readable=_wants_page(scope))
            return
        if self.access is not None and scope["path"] == "/" and self._is_key(_given_key(scope)):
            await self._let_in(guarded)
            return
        await self.app(scope, limited(receive), guarded)

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and reason if the request is rejected; else None."""
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in headers and name in (b"host", b"origin", b"content-type", b"content-length"):
                return 400, f"the request has the header {name.decode()} twice"
            headers[name] = value
        host = headers.get(b"host", b"").lower()
        if self.access is not None and (self.access.everywhere or host not in self.hosts or not _is_local(scope)):
            invited = scope["path"] == "/" and self._is_key(_given_key(scope))
            if not invited and not self._is_key(_cookie(headers.get(b"cookie", b""), self.cookie)):
                return 401, "the key is missing. Open the whole address that kibitz board printed"
        elif host not in self.hosts:
            return 403, (
                "this board can be opened only at 127.0.0.1 or localhost. Open the address that kibitz board printed"
            )
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() != b"http://" + host:
            return 403, "a page from another address sent this request, which the board does not allow"
        if scope["method"] not in ("GET", "HEAD"):
            kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
            if kind != b"application/json":
                return 415, "the content type of the request must be application/json"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 15 or int(length) > MAX_BODY_BYTES:
            return 413, f"the file has more than {MAX_BODY_BYTES >> 20} MB. Split it into smaller files"
        return None

    def _is_key(self, given: str) -> bool:
        return self.access is not None and hmac.compare_digest(given.encode(), self.access.key.encode())

    async def _let_in(self, send: Send) -> None:
        """Send the cookie with the key, and redirect to the address without the key."""
        assert self.access is not None
        headers = [
            (b"location", b"/"),
            (b"content-length", b"0"),
            (b"cache-control", b"no-store"),
            (b"set-cookie", f"{self.cookie}={self.access.key}; Path=/; HttpOnly; SameSite=Strict".encode()),
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _is_local(scope: Scope) -> bool:
    """Return whether a request comes from this computer."""
    client = scope.get("client")
    return client is not None and str(client[0]).startswith("127.")


def _given_key(scope: Scope) -> str:
    """Return the key in the address of a request; "" if there is none."""
    query: bytes = scope["query_string"]
    return parse_qs(query.decode("latin-1")).get("key", [""])[-1]


def _cookie(header: bytes, name: str) -> str:
    """Return the value of a cookie; "" if there is none."""
    try:
        found = SimpleCookie(header.decode("latin-1")).get(name)
    except CookieError:
        return ""
    return str(found.value) if found is not None else ""


def limited(receive: Receive) -> Receive:
    """Return an ASGI receive function that calls `receive`, and raises TooLarge as soon as the body of the request has
    more than MAX_BODY_BYTES bytes (8 MiB). It counts the bytes, because the header Content-Length may be wrong.
    """
    room = MAX_BODY_BYTES

    async def counted() -> Message:
        nonlocal room
        message = await receive()
        room -= len(message.get("body", b""))
        if room < 0:
            raise TooLarge
        return message

    return counted


def _wants_page(scope: Scope) -> bool:
    """Return whether a browser opens an address, so that a person sees the answer."""
    accepts = b",".join(value for name, value in scope["headers"] if name == b"accept").lower()
    return not scope["path"].startswith("/api/") and b"text/html" in accepts


def _page(line: str) -> bytes:
    """Return an HTML page with a message. line: the message, without a period at its end."""
    words = html.escape(line[:1].upper() + line[1:])
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>kibitz</title>'
        '<meta name="viewport" content="width=device-width"></head>'
        f"<body><h1>kibitz</h1><p>{words}.</p></body></html>"
    ).encode()


async def refuse(send: Send, status: int, line: str, readable: bool = False) -> None:
    """Send an error response to a client whose request was rejected. Then the connection is closed, because the body of
    the request may not have been read.

    send: the ASGI function that sends the response.
    status: the HTTP status.
    line: the message.
    readable: True for a small HTML page, which a person can read in a browser. False for JSON.
    """
    body = _page(line) if readable else dumps({"error": line})
    headers = [
        (b"content-type", b"text/html; charset=utf-8" if readable else b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
