"""A board that many clients misuse still answers the one that does not; `make soak` does the same for minutes."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz.runs import Run
from kibitz.web.routing import LARGE
from kibitz.web.workers import Job
from support.attacks import besiege, hostile, send, status
from support.board_client import Client
from support.patience import PATIENCE


def test_each_attack_is_refused(client: Client) -> None:
    for name, data, right in hostile(client.port):
        answer = send(client.port, data)
        assert status(answer) in right, (name, answer[:300])
        assert b"root:" not in answer


def test_silence_is_no_end_of_a_connection() -> None:
    """An attack that gives up waiting has not been turned away without an answer."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        with pytest.raises(TimeoutError):
            send(mute.getsockname()[1], b"GET / HTTP/1.1", seconds=0.1)
        closing = threading.Thread(target=lambda: [mute.accept()[0].close() for _ in range(2)])
        closing.start()
        assert send(mute.getsockname()[1], b"GET / HTTP/1.1") == b""
        closing.join()


def test_an_honest_client_is_answered_meanwhile(client: Client) -> None:
    siege = besiege(client.port, 2.0, clients=8, silent=60)
    assert siege.wrong == []
    assert siege.answers > 5
    assert len(siege.waits) >= 4


def test_links_that_lead_out_of_a_run(
    client: Client, small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that somebody sent may hold links to files of the user's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.jsonl").write_text(
        json.dumps({"kind": "summary", "stage": "s", "iteration": 1, "password": "p"})
    )
    run = tmp_path / "runs" / "sent"
    shutil.copytree(small_run, run)
    (run / "metrics.jsonl").unlink()
    (run / "metrics.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (run / "snapshots" / "winner-999.safetensors").symlink_to(tmp_path / "secret.jsonl")
    assert Run(run).metrics() == []
    assert all(not path.is_symlink() for path in Run(run).checkpoints())
    listed = {network["name"]: network for network in client.get("/api/networks").json["networks"]}
    assert listed["runs/sent"]["snapshots"] == len(Run(small_run).checkpoints())
    for path in ("metrics", "snapshots"):
        assert b"password" not in client.get(f"/api/runs/runs/sent/{path}").body


def test_small_requests_do_not_wait_for_large_ones(shared: tuple[Client, Any]) -> None:
    client, board = shared
    free, answers = threading.Event(), list[int]()

    def busy() -> Iterator[None]:
        assert free.wait(PATIENCE)
        yield

    board.workers.worker("large", newest_first=False).add(Job(busy(), lambda result: None, lambda error: None))
    large = {"text": "1. e4 e5 *\n\n" * (LARGE // 10)}
    waiting = threading.Thread(target=lambda: answers.append(client.post("/api/load", large).status))
    waiting.start()
    assert client.post("/api/load", {"text": "1. e4 *"}).status == 200
    assert answers == []
    free.set()
    waiting.join(PATIENCE)
    assert answers
