"""How the board begins: where it listens in a container, and what it says without a page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kibitz.errors import KibitzError
from kibitz.web import page, server
from support.causes import naming


def test_in_a_container_it_listens_to_all_and_still_answers_to_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(server.ADDRESS, raising=False)
    with server.bind(None) as usual:
        assert usual.getsockname()[0] == "127.0.0.1"
        free = usual.getsockname()[1]
    monkeypatch.setenv(server.ADDRESS, f"0.0.0.0:{free}")
    with server.bind(None) as container:
        assert container.getsockname() == ("0.0.0.0", free)
    board = server.create([], free, [])[0]
    assert board.hosts == {f"127.0.0.1:{free}".encode(), f"localhost:{free}".encode()}


@pytest.mark.parametrize("address", ["8000", "0.0.0.0", ":8000", "0.0.0.0:0", "0.0.0.0:x", "0.0.0.0:65536"])
def test_a_wrong_address_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(server.ADDRESS, address)
    with pytest.raises(KibitzError, match=naming(f"{server.ADDRESS} & HOST:PORT")):
        server.bind(None)


def test_an_address_that_cannot_be_used_is_named_as_the_user_gave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(server.ADDRESS, raising=False)
    with server.bind(None) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(KibitzError, match=naming(f"--port {port} & another program")):
            server.bind(port)
        monkeypatch.setenv(server.ADDRESS, f"127.0.0.1:{port}")
        with pytest.raises(KibitzError, match=naming(f"{server.ADDRESS}=127.0.0.1:{port} & another program")) as error:
            server.bind(None)
    assert "--port" not in str(error.value)


def test_the_printed_address_is_one_that_answers() -> None:
    for host, shown in (("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("192.168.1.20", "192.168.1.20")):
        listening: Any = SimpleNamespace(getsockname=lambda host=host: (host, 8000))
        assert server.Server([], listening, print).address == f"http://{shown}:8000"


def test_a_page_that_is_not_built_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path)
    problem = page.problem()
    assert problem is not None
    assert "make page" in problem
    assert "\n" not in problem
    (tmp_path / "index.html").write_text("<html></html>")
    assert page.problem() is None


LIGHT = """
import json, sys
from pathlib import Path
from kibitz.web.judged import JudgedPositions
from support.board_client import served
LINE = {"game": "chess", "moves": ["e2e4", "e7e5"], "ratings": [1500, 1600]}
with served([]) as (client, board):
    board.judged = JudgedPositions(Path("judged.sqlite"))
    client.good("/api/line", {"line": LINE})
    known = client.good("/api/judged", {"network": "human", "line": LINE})["judged"]
    heavy = ("numba", "onnxruntime", "pyarrow", "scipy")
    before = [name for name in heavy if name in sys.modules]
    client.good("/api/planes", {"network": "human", "line": LINE})
    print(json.dumps([known, before, "numba" in sys.modules]))
"""


@pytest.mark.process
def test_a_game_that_was_judged_before_is_shown_without_the_modules_of_a_search(tmp_path: Path) -> None:
    source = Path(server.__file__).parents[2]
    path = os.pathsep.join((str(source), str(source.parent / "tests")))
    environment = {**os.environ, "PYTHONPATH": path, "KIBITZ_BOARD_PREPARE": "0"}
    told = subprocess.run(
        [sys.executable, "-c", LIGHT], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    known, before, after = json.loads(told.stdout)
    assert (known, before) == ([], [])
    assert after  # the same program sees the modules of a request that needs them
