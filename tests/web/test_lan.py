"""`kibitz board --lan`: other computers use the board only with its key, and this one without it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from kibitz.errors import KibitzError
from kibitz.web import lan
from kibitz.web.security import Message, Receive, Scope, SecurityMiddleware, Send
from support.board_client import JSON, Answer, Client, served
from support.causes import mentions

KEY = "a-key_0123456789abcdef"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served([], access=lan.Access(KEY)) as (found, _):
        yield found


def from_a_phone(client: Client, method: str, path: str, cookie: str = "", **headers: str) -> Answer:
    """A request for an address that is not this computer's own."""
    body = b'{"text": "e4"}' if method == "POST" else None
    about = {"Host": f"192.168.1.20:{client.port}", **({"Cookie": cookie} if cookie else {}), **headers}
    return client.ask(method, path, body, about)


def cookie(client: Client) -> str:
    """The cookie that the address with the key sets."""
    answer = from_a_phone(client, "GET", f"/?key={KEY}")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert answer.headers["cache-control"] == "no-store"
    value, *attributes = answer.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes)
    return value


def test_this_computer_needs_no_key(client: Client) -> None:
    assert client.get("/").status == 200
    assert client.get("/api/networks").status == 200


@pytest.mark.parametrize(
    "path", ["/", "/api/networks", "/?key=", "/?key=wrong", f"/api/networks?key={KEY}", f"/x?key={KEY}"]
)
def test_without_the_key(client: Client, path: str) -> None:
    answer = from_a_phone(client, "GET", path)
    assert answer.status == 401
    assert mentions(answer.json["error"], "address & key")
    assert "set-cookie" not in answer.headers


def test_a_browser_without_the_key_gets_a_page(client: Client) -> None:
    answer = from_a_phone(client, "GET", "/", Accept="text/html,application/xhtml+xml")
    assert (answer.status, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert "<p>" in answer.body.decode()
    assert mentions(answer.body.decode(), "address & key")
    of_page = from_a_phone(client, "GET", "/api/networks", Accept="text/html")
    assert of_page.headers["content-type"] == "application/json"


def test_with_the_key(client: Client) -> None:
    given = cookie(client)
    for path in ("/", "/api/networks"):
        assert from_a_phone(client, "GET", path, given).status == 200
    own = f"http://192.168.1.20:{client.port}"
    assert from_a_phone(client, "POST", "/api/load", given, Origin=own, **JSON).status == 200


@pytest.mark.parametrize("change", [lambda text: text[:-1], lambda text: text + "x", lambda _: ';=,"', str.upper])
def test_another_cookie(client: Client, change: Any) -> None:
    given = cookie(client)
    assert from_a_phone(client, "GET", "/api/networks", given).status == 200
    name, value = given.split("=")
    assert from_a_phone(client, "GET", "/api/networks", f"{name}={change(value)}").status == 401


def test_another_page_with_the_cookie(client: Client) -> None:
    given = cookie(client)
    for origin in ("http://evil.example", f"http://127.0.0.1:{client.port}", "null"):
        assert from_a_phone(client, "POST", "/api/load", given, Origin=origin, **JSON).status == 403
    assert from_a_phone(client, "POST", "/api/load", given, **{"Content-Type": "text/plain"}).status == 415
    assert from_a_phone(client, "POST", "/api/load", given, **JSON).status == 200


def status(access: lan.Access | None, address: str, host: bytes) -> int:
    """The status of a request from an address, for a host; 200 if the board gets it."""
    found: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])

    async def receive() -> Message:
        return {"type": "http.request"}

    scope: Scope = {
        "type": "http", "path": "/api/networks", "query_string": b"", "method": "GET", "headers": [(b"host", host)],
        "client": (address, 5000),
    }  # fmt: skip
    asyncio.run(SecurityMiddleware(app, 8642, access)(scope, receive, send))
    return found[0]


def test_another_computer_that_names_this_one() -> None:
    """The header Host is the sender's word; the address is not."""
    access = lan.Access(KEY)
    assert status(access, "127.0.0.1", b"127.0.0.1:8642") == 200
    assert status(access, "192.168.1.7", b"127.0.0.1:8642") == 401
    assert status(access, "192.168.1.7", b"localhost:8642") == 401
    assert status(None, "127.0.0.1", b"192.168.1.20:8642") == 403


def test_in_a_container_every_request_needs_the_key() -> None:
    """Some container programs pass on requests from outside with the address 127.0.0.1."""
    assert status(lan.Access(KEY, everywhere=True), "127.0.0.1", b"127.0.0.1:8642") == 401


def test_keys_and_addresses() -> None:
    keys = {lan.make_key() for _ in range(50)}
    assert len(keys) == 50
    assert min(map(len, keys)) >= 22
    address = lan.with_key("http://192.168.1.20:8642", "k")
    assert address == "http://192.168.1.20:8642/?key=k"
    lines = lan.qr_code(address).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lan.qr_code(address) != lan.qr_code(address + "x")


def test_a_computer_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lan.own_host().count(".") == 3

    def unreachable(self: socket.socket, address: object) -> None:
        raise OSError("Network is unreachable")

    monkeypatch.setattr(lan.socket, "socket", type("Unconnected", (socket.socket,), {"connect": unreachable}))
    with pytest.raises(KibitzError, match="--lan"):
        lan.own_host()
