"""Clients of a board that mean no good, and one that does: how long it waits, and what the board holds in memory."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from support.board_client import JSON, Client

LINE = {"line": {"game": "chess", "moves": ["e2e4", "e7e5"]}}


def send(port: int, data: bytes, seconds: float = 30.0) -> bytes:
    """What a board answers first to some bytes; b"" where it closes. Raises TimeoutError where it does neither."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        with contextlib.suppress(ConnectionError):  # it may have answered and closed before all is sent
            connection.sendall(data)
        with contextlib.suppress(ConnectionError):
            return connection.recv(65536)
        return b""


def request(port: int, path: str, *headers: str, method: str = "GET", body: bytes = b"", host: str = "") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode("latin-1") + body


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/") else 0


def hostile(port: int) -> list[tuple[str, bytes, set[int]]]:
    """Requests that are refused: what they are, their bytes, and the status codes that are right (0: it closes)."""
    kind = "Content-Type: application/json"
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA==")
    form = "Content-Type: application/x-www-form-urlencoded"

    def post(body: bytes, *headers: str) -> bytes:
        return request(port, "/api/load", *headers, method="POST", body=body)

    paths = ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/assets/..%2f..%2f..%2fetc%2fpasswd")
    names = ("..%2f..%2fetc", "%2Fetc%2Fpasswd", "runs%2f..%2f..", "%00", "a" * 3000)
    return [
        *((f"path {path[:20]}", request(port, path), {404}) for path in paths),
        *((f"run {name[:20]}", request(port, f"/api/runs/{name}/metrics"), {404}) for name in names),
        ("rebinding", request(port, "/api/networks", host="evil.example"), {403}),
        ("origin", post(b'{"text":"e4"}', kind, "Origin: http://evil.example"), {403}),
        ("form", post(b"text=e4", form), {415}),
        ("upgrade", request(port, "/api/networks", *upgrade), {200, 400, 403, 426}),
        ("nested", post(b"[" * 1_000_000, kind), {400}),
        ("nested objects", post(b'{"text":' * 200_000, kind), {400}),
        ("long text", post(b'{"text":"' + b"x" * 4_000_000 + b'"}', kind), {200, 400}),
        ("long number", post(b'{"text":' + b"9" * 1_000_000 + b"}", kind), {400}),
        ("too large", post(b" " * 9_000_000, kind), {413}),
        ("many headers", request(port, "/", *(f"X-{n}: {n}" for n in range(20_000))), {0, 400, 431}),
        ("long header", request(port, "/", "X: " + "x" * 2_000_000), {0, 400, 431}),
        ("two hosts", request(port, "/", "Host: evil.example"), {400}),
        ("garbage", b"\x16\x03\x01\x02\x00" + bytes(200) + b"\r\n\r\n", {0, 400}),
    ]


@dataclass
class Siege:
    """What happened: attacks that were answered, and those that gave up waiting; the waits of the honest client in
    seconds; and what was wrong."""

    answers: int = 0
    unanswered: int = 0
    waits: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def besiege(port: int, seconds: float, clients: int, silent: int) -> Siege:
    """Attack a board for some seconds: `clients` that send and do not read, or ask for what is refused, and `silent`
    connections that never say a whole request."""
    siege, over = Siege(), threading.Event()
    held = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(silent)]
    for number, connection in enumerate(held):
        connection.sendall(
            (b"", b"G", b"POST /api/load HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")[number % 3]
        )
    attacks = hostile(port)

    def attack(number: int) -> None:
        draw = random.Random(number)
        while not over.is_set():
            name, data, right = draw.choice(attacks)
            try:
                if number % 4 == 0:
                    _never_reads(port, over)
                    continue
                answer = send(port, data)
            except TimeoutError:  # the machine is too busy; whether the board hangs is for the honest client to say
                siege.unanswered += 1
                continue
            except OSError as error:
                siege.wrong.append(f"{name}: {error}")
                continue
            siege.answers += 1
            if status(answer) not in right or b"root:" in answer or answer.startswith(b"HTTP/1.1 101"):
                siege.wrong.append(f"{name}: {answer[:200]!r}")

    threads = [threading.Thread(target=attack, args=(number,), daemon=True) for number in range(clients)]
    for thread in threads:
        thread.start()
    try:
        _honest(Client(port), time.monotonic() + seconds, siege)
    finally:
        over.set()
        for connection in held:
            connection.close()
        until = time.monotonic() + 60
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
    return siege


def _never_reads(port: int, over: threading.Event) -> None:
    """Asks for large answers again and again, and takes none."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(1)
    with connection:
        connection.connect(("127.0.0.1", port))
        with contextlib.suppress(OSError):
            for _ in range(50):
                connection.sendall(request(port, "/api/networks"))
        over.wait(2)


def _honest(client: Client, end: float, siege: Siege) -> None:
    """Loads a game, looks at a line and asks for the networks, as the page does."""
    asked: list[Callable[[], object]] = [
        lambda: client.get("/").status,
        lambda: client.get("/api/networks").status,
        lambda: client.post("/api/line", LINE).status,
        lambda: client.ask("POST", "/api/load", json.dumps({"text": "1. e4 e5 2. Nf3 *"}).encode(), JSON).status,
    ]
    while time.monotonic() < end:
        for ask in asked:
            begun = time.monotonic()
            try:
                found = ask()
            except OSError as error:
                found = f"{error}"
            siege.waits.append(time.monotonic() - begun)
            if found != 200:
                siege.wrong.append(f"honest: {found}")
