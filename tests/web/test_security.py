"""Who is let in, and what answers carry."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from kibitz.web import page
from kibitz.web.security import MAX_BODY_BYTES, Message, Receive, Scope, SecurityMiddleware, Send, TooLarge, limited
from support.board_client import JSON, Client
from support.causes import mentions
from support.patience import PATIENCE


@pytest.mark.parametrize("path", ["/", "/assets/none.js", "/api/networks", "/api/nothing", "/../../etc/passwd"])
def test_every_answer_carries_the_headers(client: Client, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert mentions(policy, "'self'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert ("no-store" in headers.get("cache-control", "")) >= path.startswith("/api/")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_its_own_names(client: Client, host: str) -> None:
    assert client.ask("GET", "/api/networks", headers={"Host": f"{host}:{client.port}"}).status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.127.0.0.1:{}", "[::1]:{}", ""])
def test_another_host_is_refused(client: Client, host: str) -> None:
    for path in ("/", "/api/networks"):
        answer = client.ask("GET", path, headers={"Host": host.format(client.port)})
        assert answer.status == 403
        assert "127.0.0.1" in answer.json["error"]
        assert "content-security-policy" in answer.headers


def test_only_its_own_origin(client: Client) -> None:
    body = b'{"text": "e4"}'
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{client.port}", "http://127.0.0.1", ""):
        answer = client.ask("POST", "/api/load", body, {**JSON, "Origin": origin})
        assert answer.status == 403, origin
        assert "access-control-allow-origin" not in answer.headers
    for host in ("127.0.0.1", "localhost"):
        headers = {**JSON, "Host": f"{host}:{client.port}", "Origin": f"http://{host}:{client.port}"}
        assert client.ask("POST", "/api/load", body, headers).status == 200
    crossed = {**JSON, "Host": f"localhost:{client.port}", "Origin": f"http://127.0.0.1:{client.port}"}
    assert client.ask("POST", "/api/load", body, crossed).status == 403


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_what_a_form_could_send_is_refused(client: Client, kind: str | None) -> None:
    answer = client.ask("POST", "/api/load", b'{"text": "e4"}', {"Content-Type": kind} if kind else {})
    assert answer.status == 415
    assert (
        client.ask("POST", "/api/load", b'{"text": "e4"}', {"Content-Type": "application/json; charset=utf-8"}).status
        == 200
    )


def test_a_body_that_is_too_large(client: Client) -> None:
    answer = client.ask("POST", "/api/load", headers={**JSON, "Content-Length": str((8 << 20) + 1)})
    assert answer.status == 413
    assert "8 MB" in answer.json["error"]


def test_a_body_of_exactly_the_limit(client: Client) -> None:
    """8 MB are read, in one piece or in many; with one byte more they are not, whatever the header said."""
    text = b'{"text": "e4"}'
    assert client.ask("POST", "/api/load", text.ljust(MAX_BODY_BYTES), JSON).status == 200

    async def read(sizes: list[int]) -> int:
        pieces = iter(sizes)

        async def receive() -> Message:
            return {"type": "http.request", "body": bytes(next(pieces))}

        receiver = limited(receive)
        return sum([len((await receiver())["body"]) for _ in sizes])

    assert asyncio.run(read([MAX_BODY_BYTES - 5, 5, 0])) == MAX_BODY_BYTES
    with pytest.raises(TooLarge):
        asyncio.run(read([MAX_BODY_BYTES - 5, 5, 1]))


@pytest.mark.parametrize("length", ["-1", "1e3", "", "0" * 16])
def test_a_length_that_is_no_number_of_bytes(length: str) -> None:
    headers = [
        (b"host", b"localhost:8000"),
        (b"content-type", b"application/json"),
        (b"content-length", length.encode()),
    ]
    assert answered({"type": "http", "method": "POST", "path": "/api/load", "headers": headers})[0]["status"] == 413


def answered(scope: dict[str, Any], port: int = 8000) -> list[Message]:
    """What the server sends for a request; the application behind it says 200."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b""})

    asyncio.run(SecurityMiddleware(app, port)(scope, receive, send))
    return sent


def test_a_websocket_is_closed_and_reaches_nothing() -> None:
    """Whoever asks, its own page too; of other kinds of connections nothing is said."""
    headers = [(b"host", b"localhost:8000"), (b"origin", b"http://localhost:8000")]
    scope = {"type": "websocket", "path": "/api/networks", "headers": headers}
    assert answered(scope) == [{"type": "websocket.close", "code": 1008}]
    assert answered({"type": "lifespan"}) == []


def test_the_port_may_be_left_out_where_it_is_http_s_own() -> None:
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
    assert answered(scope, port=80)[0]["status"] == 200
    assert answered(scope, port=8000)[0]["status"] == 403


@pytest.mark.parametrize("name", [b"host", b"origin", b"content-type", b"content-length", b"accept"])
def test_a_header_that_counts_comes_once(name: bytes) -> None:
    given = {b"host": b"localhost:8000", b"origin": b"http://localhost:8000", b"content-length": b"0"}
    value = given.get(name, b"application/json")
    headers = [*given.items(), (name, value), *([(name, value)] if name not in given else [])]
    answer = answered({"type": "http", "method": "GET", "path": "/", "headers": headers})
    assert answer[0]["status"] == (200 if name == b"accept" else 400)


def test_a_body_that_hides_its_size(client: Client) -> None:
    head = f"POST /api/load HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nContent-Type: application/json\r\n"
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", client.port), timeout=PATIENCE) as connection:
        connection.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(140):
                connection.sendall(chunk)
            connection.sendall(b"0\r\n\r\n")
        except OSError:  # it has answered and closed
            pass
        assert b" 413 " in connection.recv(4096)


def test_other_methods(client: Client) -> None:
    assert client.ask("OPTIONS", "/api/load", headers={"Origin": "http://evil.example"}).status == 403
    assert client.get("/api/load").status in (404, 405)
    assert client.ask("POST", "/api/networks", b"{}", JSON).status == 405
    assert client.ask("DELETE", "/", headers=JSON).status == 405


def test_only_files_of_the_page(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "page")
    answer = client.get("/")
    assert answer.status == 200
    assert b"make page" in answer.body  # how to build it
    (tmp_path / "page" / "assets").mkdir(parents=True)
    (tmp_path / "page" / "index.html").write_text("<p>here")
    (tmp_path / "page" / "assets" / "main-1.js").write_text("1")
    (tmp_path / "secret").write_text("no")
    (tmp_path / "page" / "link").symlink_to(tmp_path / "secret")
    answer = client.get("/")
    assert answer.body == b"<p>here"
    assert answer.headers["cache-control"] == "no-cache"
    answer = client.get("/assets/main-1.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    for path in (
        "/../secret",
        "/%2e%2e/secret",
        "/..%2fsecret",
        "/link",
        "/assets",
        "/assets/%00",
        "//etc/passwd",
        "/" + "a" * 5000,
    ):
        assert client.get(path).status == 404, path
