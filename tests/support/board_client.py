"""A board that is served, and a client of it, for tests."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kibitz.web.lan import Access
from support.patience import PATIENCE

JSON = {"Content-Type": "application/json"}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    """Asks a board on a port of this machine."""

    port: int

    def ask(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, body: object) -> Answer:
        return self.ask("POST", path, json.dumps(body).encode(), JSON)

    def good(self, path: str, body: object) -> Any:
        """The answer to what must succeed."""
        answer = self.post(path, body)
        assert answer.status == 200, answer.body
        return answer.json

    def error(self, path: str, body: object, status: int = 400) -> str:
        """The line of what must fail."""
        answer = self.post(path, body)
        assert answer.status == status, answer.body
        assert list(answer.json) == ["error"]
        assert "\n" not in answer.json["error"]
        found: str = answer.json["error"]
        return found

    def stream(self, path: str, body: object) -> list[dict[str, Any]]:
        """All lines of a stream."""
        answer = self.post(path, body)
        assert answer.status == 200, answer.body
        assert answer.headers["content-type"] == "application/x-ndjson"
        return [json.loads(line) for line in answer.body.splitlines()]

    @contextlib.contextmanager
    def lines(self, path: str, body: object) -> Iterator[Iterator[dict[str, Any]]]:
        """A stream while it comes; at the end of the block its connection is closed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request("POST", path, json.dumps(body), JSON)
            with contextlib.closing(connection.getresponse()) as response:
                yield (json.loads(line) for line in response)


def until(true: Any, seconds: float = PATIENCE) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


@dataclass
class WithFake:
    """A board with one fake program (support/opinion_fakes.py), and the folder of its notes."""

    client: Client
    board: Any
    folder: Path

    def notes(self, name: str = "asked") -> list[str]:
        path = self.folder / name
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


WithFakes = Callable[[str, str], tuple[Client, Any, Path]]
"""Serves a board with the fake of a protocol and a fault."""


@contextlib.contextmanager
def served(
    given: list[str],
    stores: list[str] | None = None,
    records: Sequence[str] = (),
    engines: Sequence[str] = (),
    access: Access | None = None,
) -> Iterator[tuple[Client, Any]]:
    """A board in a thread of this process: its client, and what its requests share."""
    from kibitz.external.programs import read_command
    from kibitz.web.server import Server

    begun = threading.Event()
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as found:
        programs = [read_command(each) for each in engines]
        server = Server(given, found, lambda address: begun.set(), stores, records, programs, access=access)
        thread = threading.Thread(target=server.go)
        thread.start()
        try:
            assert begun.wait(PATIENCE)
            yield Client(found.getsockname()[1]), server.board
        finally:
            server.handle_exit(2, None)
            thread.join()
