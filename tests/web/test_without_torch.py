"""The server never imports torch, whatever the page asks of it; what needs torch is in a process of its own."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz.errors import KibitzError
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.web.torch_process import TorchProcess, TorchSession
from support import person
from support.board_client import Client, until
from support.causes import naming
from support.processes import is_gone

pytestmark = pytest.mark.process
HEAVY = ("torch", "lightning_fabric")
CHESS = {"game": "chess", "moves": ["e2e4", "e7e5", "g1f3"]}
GO = {"game": "go", "size": 9, "moves": ["C3", "G7"]}
PROGRAM = f"""
import json, sys
from pathlib import Path
from starlette.routing import Route
from kibitz.runs import packaged
from kibitz.web.routes import answers, games, mygames, opinions, stores, trainings
from kibitz.web.judged import JudgedPositions
from support.board_client import served
from web.test_without_torch import ask_everything
given, store, records = json.loads(sys.argv[1])
with served(given, [store], [records]) as (client, board):
    board.judged = JudgedPositions(Path("judged.sqlite"))
    asked = ask_everything(client, given[0], sorted(packaged()), store)
    routes = {{route.path for each in (answers, games, mygames, opinions, stores, trainings) for route in each.ROUTES}}
    print(json.dumps({{"forgotten": sorted(routes - asked), "heavy": [m for m in {HEAVY!r} if m in sys.modules]}}))
"""


def ask_everything(client: Client, run: str, networks: list[str], store: str) -> set[str]:
    """Ask every route what the page asks of it, of a run, whose training is not over, and of all other networks. The
    routes."""
    asked = set()

    def stream(path: str, **body: Any) -> None:
        asked.add(path)
        lines = client.stream(path, body)
        assert not [line["error"] for line in lines if "error" in line], (path, body, lines)

    def good(path: str, **body: Any) -> Any:
        asked.add(path)
        return client.good(path, body)

    def get(path: str, route: str = "") -> Any:
        asked.add(route or path)
        answer = client.get(path)
        assert answer.status == 200, (path, answer.body)
        return answer.json

    client.get("/")
    get("/api/preparing")
    get("/api/given")
    known = {network["name"]: network for network in get("/api/networks")["networks"]}
    for name in (run, *networks):
        network = known[name]
        assert network["planes"]
        line = GO | {"size": network["sizes"][0]} if network["game"] == "go" else CHESS
        stream("/api/analyse", network=name, line=line)
        good("/api/planes", network=name, line=line)
        good("/api/occlusion", network=name, line=line)
        if "moves" in network["answers"] and line["game"] == "chess":
            good("/api/targets", network=name, line=line, square="g1")
        for method in network["methods"]:
            stream("/api/think", network=name, line=line, method=method, nodes=10)
        if name in ("human", "gohuman"):  # a search takes seconds
            stream("/api/candidates", network=name, line=line)
            stream("/api/check", network=name, line=line)
        if "white" in network["answers"] and line["game"] == "chess":
            stream("/api/judge", network=name, line=line)
            assert good("/api/judged", network=name, line=line)["judged"]
            stream("/api/value", network=name, line=line)
    quoted = run.replace("/", "%2F")
    get(f"/api/runs/{quoted}/metrics", "/api/runs/{name:path}/metrics")
    for checkpoint in get(f"/api/runs/{quoted}/snapshots", "/api/runs/{name:path}/snapshots")["snapshots"]:
        stream("/api/analyse", network=run, line=CHESS, snapshot=checkpoint["id"])
    loaded = good("/api/load", text="1. e4 e5 2. Nf3 *")
    good("/api/save", **{key: loaded[key] for key in ("game", "tree", "headers")})
    good("/api/page", **{key: loaded[key] for key in ("game", "tree", "headers", "line")})
    good("/api/line", line=GO)
    good("/api/move", line=CHESS, move="b8c6")
    good("/api/count", line=GO | {"moves": ["pass", "pass"]})
    good("/api/ratings", network="human", line=CHESS)
    good("/api/summary", game="chess", values=[0.5, 0.9], movers=["white"], losses=[0], marks=[""])
    start = {"game": "chess", "moves": []}
    until(lambda: "games" in good("/api/explore", line=start))
    good("/api/stored", store=store, game=good("/api/explore", line=start)["examples"][0]["game"])
    good("/api/stored-games", store=store, search="a")
    game = base64.b64encode(b"1. e4 e5 1-0").decode()
    sent = good("/api/explore/upload", upload="abcdefgh", game="chess", at=0, data=game, last=True)["store"]
    until(lambda: "games" in good("/api/explore", line=start, store=sent))
    get("/api/programs")
    for path in ("/api/opinion", "/api/programs/about", "/api/programs/think"):
        asked.add(path)
        client.error(path, {"program": "no such program", "line": CHESS}, 404)
    asked |= my_games(client, get, good)
    return asked


def my_games(client: Client, get: Any, good: Any) -> set[str]:
    """The routes of one's own games. The work itself is that of other processes."""
    name = get("/api/mygames")["given"][0]
    good("/api/mygames/open", name=name)
    good("/api/mygames/analyse", players=[person.PERSON], network="human", most=2, quick=True)
    until(lambda: get("/api/mygames")["analysis"]["state"] != "running")
    worst = get("/api/mygames/report")["report"]["worst"][0]
    get("/api/mygames/page")
    good("/api/mygames/game", game=worst["game"])
    good("/api/mygames/repertoire", players=[person.PERSON])
    assert "ask" in good("/api/mygames/download", account="somebody", site="lichess")  # contacts nobody yet
    for path in ("/api/mygames/upload", "/api/mygames/train"):
        client.error(path, {})
    good("/api/mygames/stop", what="analysis")
    return {"/api/mygames/upload", "/api/mygames/train"}


def test_the_server_imports_no_torch(small_run: Path, small_store: Store, tmp_path: Path) -> None:
    """Also not for a training that is going on, which has no model.onnx, and for its checkpoints."""
    live = tmp_path / "runs" / "live"
    shutil.copytree(small_run, live)
    (live / "model.onnx").unlink()
    records = tmp_path / "mine.pgn"
    records.write_text(person.games(4), encoding="utf-8")
    folders = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    asked = json.dumps([["runs/live"], str(small_store.path), str(records)])
    program = [sys.executable, "-c", PROGRAM, asked]
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {"forgotten": [], "heavy": []}


def blank(positions: int) -> tuple[Any, Any]:
    return np.zeros((positions, 64), np.uint8), np.zeros((positions, 4), np.uint8)


def test_the_process_ends_when_idle_and_starts_again(small_run: Path) -> None:
    process = TorchProcess(idle=0.2)
    session = TorchSession(process, Run(small_run))
    first = process.running
    until(lambda: process.running is None)
    assert first is not None
    assert is_gone(first)
    answers = session.evaluate(*blank(3))
    assert (list(answers), answers["white_wins"].shape) == (["white_wins"], (3,))
    process.end()
    with pytest.raises(KibitzError, match="shutting down"):
        session.evaluate(*blank(1))


def test_a_process_that_breaks_off_is_told_and_replaced(small_run: Path) -> None:
    process = TorchProcess()
    session = TorchSession(process, Run(small_run))
    assert process.running is not None
    os.kill(process.running, 9)
    assert is_gone(process.running)
    with pytest.raises(KibitzError, match="process that opens checkpoints"):
        session.evaluate(*blank(1))
    assert session.evaluate(*blank(1))["white_wins"].shape == (1,)
    process.end()


def test_weights_that_are_damaged_are_told_and_others_still_open(small_run: Path, tmp_path: Path) -> None:
    shutil.copytree(small_run, tmp_path / "damaged")
    (tmp_path / "damaged" / "best.safetensors").write_bytes(b"x")
    process = TorchProcess()
    with pytest.raises(KibitzError, match=naming("damaged & weights")):
        TorchSession(process, Run(tmp_path / "damaged"))
    assert TorchSession(process, Run(small_run)).outputs == ("white_wins",)
    process.end()
