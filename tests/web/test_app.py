"""Streams that come bit by bit and can be left, the list of networks, runs and snapshots, and garbage."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from kibitz.play.session import Session
from kibitz.runs import packaged
from kibitz.web import answers
from support.board_client import JSON, Client, until
from support.causes import mentions
from support.patience import PATIENCE
from support.random_lines import random_chess


def test_networks(client: Client, small_run: Path) -> None:
    found = client.get("/api/networks").json
    assert found["given"] == [str(small_run)]
    listed = {network["name"]: network for network in found["networks"]}
    assert next(iter(listed)) == str(small_run)
    assert set(listed) == {str(small_run), *packaged()}
    assert list(listed)[1:] == ["winner", "gocnn", *sorted(set(packaged()) - {"winner", "gocnn"})], "usual ones first"
    mine = listed[str(small_run)]
    assert (mine["system"], mine["game"], mine["from"], mine["problem"]) == ("winner", "chess", "run", None)
    assert mine["answers"] == ["white"]
    assert mine["metrics"] is True
    assert mine["snapshots"] == 3
    assert not mine["plays"]
    assert listed["chessnet"]["answers"] == ["white", "moves"]
    assert listed["chessnet"]["methods"][0] == "puct"
    assert listed["chessnet-value"]["answers"] == ["white"]
    assert mentions(listed["chessnet-value"]["title"], "position")
    assert mentions(listed["chessnet"]["title"], "position")
    assert listed["convchess"]["answers"] == ["moves"]
    assert listed["gocnn"]["answers"] == ["owners"]
    assert listed["gocnn"]["sizes"] == [9, 13, 19]
    assert listed["gocnn"]["claim"]["name"] == "Black's win probability"
    assert listed["winner"]["claim"]["name"] == "White's win probability"
    assert listed["convchess"]["claim"] is None
    assert all(network["planes"] for network in listed.values())
    for name in packaged():  # what the list says without loading them
        outputs = set(Session(name).outputs)
        assert ("moves" in listed[name]["answers"]) == bool({"origin", "policy"} & outputs)
        assert ("white" in listed[name]["answers"]) == bool(outputs & {"white_wins", "white_better", "value"})


@pytest.mark.process
def test_runs_in_the_folder_runs(
    client: Client, small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c", "d"):
        shutil.copytree(small_run, tmp_path / "runs" / name)
    (tmp_path / "runs" / "a" / "model.onnx").unlink()
    (tmp_path / "runs" / "a" / "best.safetensors").unlink()
    (tmp_path / "runs" / "b" / "run.json").write_text("{")
    info = json.loads((tmp_path / "runs" / "c" / "run.json").read_text())
    (tmp_path / "runs" / "c" / "run.json").write_text(json.dumps({**info, "system": "oracle"}))
    (tmp_path / "runs" / "empty").mkdir()
    listed = {network["name"]: network for network in client.get("/api/networks").json["networks"]}
    assert [name for name in listed if name.startswith("runs/")] == [f"runs/{name}" for name in "abcd"]
    assert "nothing is trained yet" in listed["runs/a"]["problem"]
    assert "damaged" in listed["runs/b"]["problem"]
    assert "system oracle" in listed["runs/c"]["problem"]
    assert listed["runs/d"]["problem"] is None
    for name in "abc":
        assert client.error("/api/analyse", {"network": f"runs/{name}", "line": {"game": "chess"}})
    lines = client.stream("/api/analyse", {"network": "runs/d", "line": {"game": "chess"}})
    assert lines[-1]["done"]
    # Weights that cannot be read end the stream with a line.
    (tmp_path / "runs" / "d" / "model.onnx").write_bytes(b"x")
    (tmp_path / "runs" / "d" / "best.safetensors").write_bytes(b"x")
    lines = client.stream("/api/analyse", {"network": "runs/d", "line": {"game": "chess"}, "seq": 3})
    assert lines[-1].keys() == {"seq", "error"}
    assert mentions(lines[-1]["error"], "weights")


@pytest.mark.process
def test_weights_that_change_are_loaded_anew(
    client: Client, small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(small_run, tmp_path / "runs" / "live")
    (tmp_path / "runs" / "live" / "model.onnx").unlink()
    asked = {"network": "runs/live", "line": {"game": "chess"}}
    client.get("/api/networks")
    before = client.stream("/api/analyse", asked)[1]["white"]
    first = min((small_run / "snapshots").iterdir())
    shutil.copy(first, tmp_path / "runs" / "live" / "best.safetensors")
    after = client.stream("/api/analyse", asked)[1]["white"]
    assert after != before
    assert after == client.stream("/api/analyse", {**asked, "snapshot": first.stem})[1]["white"]


def test_a_training_as_it_goes_on(
    client: Client, small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "runs" / "live"
    shutil.copytree(small_run, run)
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    info = json.loads((run / "run.json").read_text())
    began = {key: value for key, value in info.items() if key != "ended"}
    (run / "run.json").write_text(json.dumps({**began, "finished": False}))
    client.get("/api/networks")
    for name in ("runs/live", "runs%2Flive"):
        found = client.get(f"/api/runs/{name}/metrics").json
        assert found == {"rows": rows, "total": len(rows), "finished": False, "stopped": False}
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"stage": "winner", "loss": NaN}\n{"stage": "win')
    found = client.get(f"/api/runs/runs/live/metrics?after={len(rows)}").json
    assert found["rows"] == [{"stage": "winner", "loss": None}]
    assert found["total"] == len(rows) + 1
    (run / "run.json").write_text(json.dumps({**info, "finished": True}))
    assert client.get("/api/runs/runs/live/metrics?after=99999").json == {**found, "rows": [], "finished": True}
    (run / "run.json").write_text(json.dumps({**info, "finished": False, "ended": "time limit"}))
    assert client.get("/api/runs/runs/live/metrics?after=99999").json == {**found, "rows": [], "stopped": True}
    for after in ("-1", "x", "1e3", "9" * 40):
        assert client.get(f"/api/runs/runs/live/metrics?after={after}").status == 400
    assert client.get("/api/runs/nothing/metrics").status == 404
    assert client.get("/api/runs/..%2f..%2fetc/snapshots").status == 404
    (run / "metrics.jsonl").unlink()
    assert client.get("/api/runs/runs/live/metrics").json["total"] == 0


@pytest.mark.process
def test_snapshots(client: Client, small_run: Path) -> None:
    found = client.get(f"/api/runs/{str(small_run).replace('/', '%2F')}/snapshots").json["snapshots"]
    assert [snapshot["iteration"] for snapshot in found] == [40, 80, 120]
    assert {snapshot["stage"] for snapshot in found} == {"winner"}
    import torch
    from safetensors.torch import load_file

    from kibitz.runs import Run

    run = Run(small_run)
    asked = {"network": str(small_run), "line": {"game": "chess", "moves": ["e2e4"]}}
    shown = []
    for snapshot in found:
        lines = client.stream("/api/analyse", {**asked, "snapshot": snapshot["id"]})
        network = run.system.network(run.settings)
        network.load_state_dict(load_file(small_run / "snapshots" / f"{snapshot['id']}.safetensors"))
        from kibitz.web.chess.line import read_line

        codes, state = read_line(asked["line"]).rows(0, 1)
        with torch.inference_mode():
            (expected,) = network.eval()(torch.from_numpy(codes), torch.from_numpy(state))
        np.testing.assert_allclose([line["white"] for line in lines[1:-1]], expected, atol=1e-3)
        shown.append(lines[1]["white"])
    assert len(set(shown)) == 3
    for name in ("x", "../best", "winner-000040.safetensors"):
        lines = client.stream("/api/analyse", {**asked, "snapshot": name})
        assert "has no checkpoint" in lines[-1]["error"]


def test_first_results_come_first(shared: tuple[Client, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read before the rest has been made."""
    client, _ = shared
    go_on, asked = threading.Event(), []
    evaluate = Session.evaluate

    def slow(self: Session, codes: Any, state: Any) -> Any:
        asked.append(len(codes))
        if len(asked) > 2:
            assert go_on.wait(PATIENCE)
        return evaluate(self, codes, state)

    monkeypatch.setattr(Session, "evaluate", slow)
    line = {"game": "chess", "moves": random_chess(1, 100)}
    with client.lines("/api/analyse", {"network": "winner", "line": line, "seq": 1}) as lines:
        assert next(lines)["total"] == 101
        assert [next(lines)["ply"] for _ in range(3)] == [0, 1, 2]
        assert not go_on.is_set()
        go_on.set()
        rest = list(lines)
    assert rest[-1]["done"]
    assert asked[:3] == [1, 2, 4]
    assert max(asked) <= answers.MAX_BATCH


def test_a_stream_that_nobody_reads_stops(shared: tuple[Client, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    client, board = shared
    evaluated: list[int] = []
    evaluate, closed = Session.evaluate, threading.Event()

    def counted(self: Session, codes: Any, state: Any) -> Any:
        evaluated.append(len(codes))
        if len(evaluated) > 3:
            assert closed.wait(PATIENCE)
        return evaluate(self, codes, state)

    monkeypatch.setattr(Session, "evaluate", counted)
    line = {"game": "chess", "moves": ["g1f3", "g8f6", "f3g1", "f6g8"] * 1000}
    with client.lines("/api/analyse", {"network": "winner", "line": line}) as lines:
        next(lines)
        next(lines)
    closed.set()
    until(lambda: not board.workers.worker("network winner").busy)
    assert sum(evaluated) < 4001


def test_the_newest_analysis_goes_first(shared: tuple[Client, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    client, board = shared
    evaluate, sizes, worker = Session.evaluate, list[int](), board.workers.worker("network winner")

    def slow(self: Session, codes: Any, state: Any) -> Any:
        sizes.append(len(codes))
        if len(codes) > 4:  # in the middle of the older analysis; the newer one has a single position
            until(lambda: sizes.count(1) == 2 or len(worker._jobs) == 2)
        return evaluate(self, codes, state)

    monkeypatch.setattr(Session, "evaluate", slow)
    long = {"game": "chess", "moves": ["g1f3", "g8f6", "f3g1", "f6g8"] * 300}
    with client.lines("/api/analyse", {"network": "winner", "line": long, "seq": 1}) as old:
        next(old)
        next(old)
        new = client.stream("/api/analyse", {"network": "winner", "line": {"game": "chess"}, "seq": 2})
        assert new[-1]["done"]
        rest = list(old)  # and the older one is finished afterwards
    assert rest[-1]["done"]
    assert rest[-1]["seconds"] > new[-1]["seconds"]


def test_what_is_wrong_inside_is_a_line_too(
    client: Client, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(self: Session, codes: Any, state: Any) -> Any:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(Session, "evaluate", broken)
    asked = {"network": "winner", "line": {"game": "chess"}}
    assert "terminal" in client.stream("/api/analyse", asked)[-1]["error"]
    assert client.post("/api/occlusion", asked).status == 500
    assert "ZeroDivisionError: inside" in capfd.readouterr().err


POSTS = ("load", "save", "line", "move", "analyse", "targets", "planes", "occlusion", "think", "opinion", "candidates")
WORDS = some.sampled_from(
    ["game", "chess", "go", "line", "moves", "fen", "size", "tree", "text", "network", "winner", "gocnn", "id",
     "parent", "move", "e2e4", "D4", "pass", "setup", "B", "W", "headers", "square", "e2", "seq", "komi",
     "(;B[aa])", "1. e4"]
)  # fmt: skip
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | WORDS | some.text(max_size=8),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(WORDS | some.text(max_size=4), inner, max_size=5),
    max_leaves=12,
)
LINES = some.fixed_dictionaries(
    {},
    optional={
        "game": WORDS, "moves": some.lists(WORDS | some.text(max_size=4), max_size=3) | VALUES,
        "fen": some.text(max_size=20),
        "size": some.integers() | some.just(9), "setup": VALUES, "komi": VALUES,
    },
)  # fmt: skip
BODIES = VALUES | some.fixed_dictionaries(
    {"network": WORDS, "line": LINES},
    optional={"move": WORDS, "square": WORDS, "text": WORDS | some.text(max_size=30), "tree": VALUES, "headers": VALUES,
              "seq": VALUES, "from": VALUES, "snapshot": VALUES, "seconds": some.just(0.01), "index": VALUES},
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=some.sampled_from(POSTS), body=BODIES)
def test_any_json_is_answered(client: Client, path: str, body: Any) -> None:
    answer = client.post(f"/api/{path}", {**body, "seconds": 0.01} if isinstance(body, dict) else body)
    assert answer.status in (200, 400, 404), answer.body
    if answer.status != 200:
        assert list(answer.json) == ["error"]
        assert 0 < len(answer.json["error"]) < 500


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=some.sampled_from(POSTS), body=some.binary(max_size=200))
def test_any_bytes_are_answered(client: Client, path: str, body: bytes) -> None:
    assert client.ask("POST", f"/api/{path}", body, JSON).status == 400


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=some.text(alphabet="()[];:\\{}<>$*-+=#%/BWCabeNf123.0O \n\"'AS", max_size=120))
def test_any_record_is_answered(client: Client, text: str) -> None:
    for record in (text, "(;SZ[9]" + text, "1. e4 " + text, '[FEN "' + text):
        assert client.post("/api/load", {"text": record}).status in (200, 400)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 1_000_000,
        b'{"a":' * 500_000,
        b"9" * 100_000,
        b'{"text":"\\ud800 1. e4"}',
        b"\xff",
        b"",
        b'{"text":' + b"9" * 5000 + b"}",
    ],
)
def test_nasty_bodies(client: Client, body: bytes) -> None:
    assert client.ask("POST", "/api/load", body, JSON).status in (200, 400)
    assert client.get("/api/networks").status == 200
