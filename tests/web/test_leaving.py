"""Clients that leave: what they asked for stops, on real sockets that close."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kibitz.web import files
from kibitz.web.chess import files as chess_files
from kibitz.web.go import files as go_files
from kibitz.web.mygames.state import MyGames
from kibitz.web.routing import LARGE, SHUTTING_DOWN
from kibitz.web.workers import Job, check_wanted
from support.board_client import Client, served, until
from support.patience import PATIENCE

MOVES = "1. Nf3 Nf6 2. Ng1 Ng8 " * 200
GO_MOVES = "".join(f";B[{a}{b}];W[{b}{a}]" for a in "abcdefghi" for b in "jklmnopqrs")


def request(client: Client, path: str, body: object) -> socket.socket:
    """A connection on which something is asked for."""
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nContent-Type: application/json\r\n"
    connection = socket.create_connection(("127.0.0.1", client.port))
    connection.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    return connection


@pytest.mark.parametrize(
    ("module", "record"), [(chess_files, f"{MOVES}*"), (go_files, f"(;SZ[19]{GO_MOVES})")], ids=["PGN", "SGF"]
)
def test_a_file_is_read_no_further(
    shared: tuple[Client, Any], monkeypatch: pytest.MonkeyPatch, module: Any, record: str
) -> None:
    client, board = shared
    begun, left, made, node = threading.Event(), threading.Event(), list[int](), module.node

    def slow(*arguments: Any) -> Any:
        made.append(1)
        if len(made) == 5:
            begun.set()
            assert left.wait(PATIENCE)
        return node(*arguments)

    monkeypatch.setattr(module, "node", slow)
    connection = request(client, "/api/load", {"text": record})
    assert begun.wait(PATIENCE)
    (job,) = [job for worker in board.workers._workers.values() for job in worker._jobs]
    connection.close()
    assert job.stop.wait(PATIENCE)
    left.set()
    until(lambda: not board.workers.busy)
    assert len(made) == 5


def test_what_waits_for_a_client_that_left_is_not_begun(
    shared: tuple[Client, Any], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    client, board = shared
    free, read = threading.Event(), list[str]()

    def busy() -> Iterator[None]:
        assert free.wait(PATIENCE)
        yield

    monkeypatch.setattr(files, "load", lambda fields: read.append("read"))
    worker = board.workers.worker("large", newest_first=False)
    worker.add(Job(busy(), lambda result: None, lambda error: None))
    connection = request(client, "/api/load", {"text": "1. e4 e5 *\n\n" * (LARGE // 10)})
    until(lambda: len(worker._jobs) == 2)
    connection.close()
    assert worker._jobs[1].stop.wait(PATIENCE)
    free.set()
    until(lambda: not worker.busy)
    assert read == []
    assert capfd.readouterr().err == ""


def test_what_changes_something_is_done_all_the_same(
    shared: tuple[Client, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = shared
    begun, left, done = threading.Event(), threading.Event(), threading.Event()

    def slow(self: MyGames, fields: Any) -> Any:
        begun.set()
        assert left.wait(PATIENCE)
        check_wanted()
        done.set()
        return {}

    monkeypatch.setattr(MyGames, "stop", slow)
    connection = request(client, "/api/mygames/stop", {"what": "training"})
    assert begun.wait(PATIENCE)
    connection.close()
    # The server has seen the end of a connection that closed later.
    assert client.get("/api/mygames").status == 200
    left.set()
    assert done.wait(PATIENCE)


@pytest.mark.parametrize("ends", [False, True])
def test_an_answer_says_that_the_board_ends(monkeypatch: pytest.MonkeyPatch, ends: bool) -> None:
    begun, free = threading.Event(), threading.Event()

    def slow(fields: Any) -> dict[str, Any]:
        begun.set()
        assert free.wait(PATIENCE)
        return {"read": True}

    monkeypatch.setattr(files, "load", slow)
    with served([]) as (client, board), request(client, "/api/load", {"text": "1. e4 *"}) as connection:
        assert begun.wait(PATIENCE)
        if ends:
            board.workers.end()
        free.set()
        response = http.client.HTTPResponse(connection)
        response.begin()
        answer = json.loads(response.read())
    assert (response.status, answer) == ((503, {"error": SHUTTING_DOWN}) if ends else (200, {"read": True}))
