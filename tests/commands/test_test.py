"""kibitz test: the table, the page, --json, and one clear line for whatever is wrong."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kibitz.cli import run as cli
from kibitz.commands.test import _report
from kibitz.runs import INFO, Run
from kibitz.store.store import Store
from support.causes import mentions, must_succeed
from support.helpers import import_games, program


@dataclass
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


Kibitz = Callable[..., Ended]
PAGE = "test-small.html"
"""Of the small store."""


@pytest.fixture
def kibitz(capsys: pytest.CaptureFixture[str]) -> Kibitz:
    def call(*arguments: object) -> Ended:
        code = cli([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return call


@pytest.fixture
def run(small_run: Path, tmp_path: Path) -> Path:
    """A copy of the small run, for its page."""
    return shutil.copytree(small_run, tmp_path / "runs" / "winner-1")


def changed(run: Path, **data: Any) -> None:
    """Other entries in the data part of run.json."""
    info = json.loads((run / INFO).read_text())
    info["data"] |= data
    (run / INFO).write_text(json.dumps(info))


def figures(value: Any) -> Iterator[dict[str, Any]]:
    """Every figure anywhere in a result."""
    if isinstance(value, dict):
        if "value" in value:
            yield value
        for inner in value.values():
            yield from figures(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from figures(inner)


def test_json_is_one_object_as_the_design_says(kibitz: Kibitz, run: Path) -> None:
    ended = kibitz("test", run, "--json", "--stockfish-positions", 0)
    assert ended.code == 0
    result = ended.json
    assert {"figures", "baselines", "by"} <= result.keys()
    assert {"accuracy", "log_loss", "calibration_error"} == result["figures"].keys()
    assert {"ply", "phase", "rating", "material", "side_to_move"} == result["by"].keys()
    assert result["by"]["side_to_move"]["label"] == "side to move"
    assert all(row.keys() == {"slice", "figure"} for part in result["by"].values() for row in part["rows"])
    assert {"always_white", "material", "rating"} == result["baselines"].keys()
    assert result["baselines"]["always_white"]["label"] == "always White"
    assert result["figures"]["log_loss"]["label"] == "log loss"
    every = list(figures(result))
    assert len(every) > 20
    for figure in every:
        assert figure.keys() - {"label", "kind"} == {"value", "low", "high", "n", "games"}
        assert figure["low"] is None or figure["low"] <= figure["value"] <= figure["high"]
    assert result["run"] == str(run)
    assert result["page"] == str(run / PAGE)
    assert (run / PAGE).read_text(encoding="utf-8").lstrip().startswith("<!doctype html>")
    assert sorted(path.name for path in run.iterdir() if path.name.startswith("test")) == [PAGE]


def test_no_seen_game_is_tested(kibitz: Kibitz, run: Path, small_store: Store) -> None:
    ended = kibitz("test", run, "--json", "--stockfish-positions", 0)
    data = ended.json["data"]
    assert data["seen_games"] == 0
    assert mentions(ended.err, f"{data['seen_games_left_out']:,} & {run} & games")
    assert data["seen_games_left_out"] + data["games"] == (small_store.column("result") != 0).sum()
    hashes = small_store.column("hash")
    shown = [int(game) for game in ended.json["games"]]
    assert shown
    assert Run(run).unseen(hashes[shown]).all()


def test_table(kibitz: Kibitz, run: Path) -> None:
    ended = kibitz("test", run, "--stockfish-positions", 0, "--positions", 500)
    assert ended.code == 0
    result = kibitz("test", run, "--stockfish-positions", 0, "--positions", 500, "--json").json
    value = f"{result['figures']['accuracy']['value']:.1%}"
    lines = ended.out.splitlines()
    assert sum(line.startswith("accuracy ") and value in line and " 500 " in line for line in lines) == 1
    for part in ("always White", "accuracy by phase", "endgame", "95% interval", "71.8% test accuracy", "bundled"):
        assert any(part in line for line in lines), part
    assert "500 of their" in ended.out
    assert lines[-1] == f"report: {run / PAGE}"
    assert ended.err.count("\n") == 1, "only the line on games left out: half a second needs no progress"


def test_tables_of_a_system_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    figure = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 1000, "games": 7}
    table = {
        "title": "Accuracy at k",
        "text": "How often.",
        "heading": "network",
        "columns": ["@1", "place", "positions"],
        "kinds": ["share", "number", "count"],
        "rows": [["origin", figure, figure | {"value": 2.5}, 1000]],
    }
    result = {
        "run": "a",
        "system": "chessnet",
        "title": "b",
        "weights": "w",
        "weights_sha256": "0" * 64,
        "by": {},
        "headline": "accuracy",
        "main": ["accuracy"],
        "figures": {
            name: figure | {"label": name.replace("_", " "), "kind": "share"} for name in ("accuracy", "rook_accuracy")
        },
        "data": {"store": "s", "split": "all"},
        "paper": {"title": "p", "figure": "1%"},
        "baselines": {},
        "tables": [table],
    }
    _report(result)
    out = capsys.readouterr().out
    assert "rook" not in out
    lines = out[out.index("Accuracy at k: How often.") :].splitlines()
    assert [line.split() for line in lines[1:3]] == [
        ["network", "@1", "place", "positions"],
        ["origin", "50.0%", "±10.0", "2.500", "±0.100", "1,000"],
    ]


def test_stockfish_stands_beside_it(kibitz: Kibitz, run: Path) -> None:
    ended = kibitz("test", run, "--positions", 300, "--stockfish-positions", 20, "--stockfish", program("stockfish"))
    assert ended.code == 0
    assert ", depth 1, 20 positions" in ended.out
    assert ", depth 10, 4 positions" in ended.out
    assert ", depth 10, 4 positions" in (run / PAGE).read_text(encoding="utf-8")


def test_without_stockfish_the_rest_is_there(kibitz: Kibitz, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kibitz.external.programs.shutil.which", lambda name: None)
    ended = kibitz("test", run, "--positions", 300)
    assert ended.code == 0
    assert mentions(ended.err, "baselines")
    assert "always White" in ended.out


def test_a_crashing_stockfish_costs_only_its_baselines(kibitz: Kibitz, run: Path, tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\nexit 1\n")
    engine.chmod(engine.stat().st_mode | stat.S_IXUSR)
    ended = kibitz("test", run, "--positions", 300, "--stockfish", engine, "--json")
    assert ended.code == 0
    assert mentions(ended.err, "1 & engine")
    assert len(ended.json["baselines"]) == 3


def test_out_and_split(kibitz: Kibitz, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    options = ("--stockfish-positions", 0, "--positions", 300, "--json", "--out", page)
    ended = kibitz("test", run, "--split", "all", *options)
    assert ended.code == 0
    assert ended.json["data"]["seen_games"] > 300
    assert page.is_file()
    assert not (run / PAGE).exists()
    validation = kibitz("test", run, "--split", "validation", *options).json["data"]
    assert validation["seen_games"] == validation["games"]


def test_a_page_never_takes_the_place_of_the_run_or_the_store(kibitz: Kibitz, run: Path, small_store: Store) -> None:
    for path in (run / INFO, small_store.path / "store.json"):
        before = path.read_bytes()
        done = kibitz("test", run, small_store.path, "--out", path)
        assert done.code == 2
        assert "--out" in done.err
        assert path.read_bytes() == before


def test_a_packaged_network_goes_by_its_name(
    kibitz: Kibitz, run: Path, small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kibitz.runs.packaged", lambda: {"winner": run})
    standing = tmp_path / "standing"
    standing.mkdir()
    monkeypatch.chdir(standing)
    changed(run, store="elsewhere.store")
    games = shutil.copytree(small_store.path, tmp_path / "games.store")
    ended = kibitz("test", "winner", games, "--stockfish-positions", 0, "--positions", 300, "--json")
    assert ended.code == 0
    assert ended.json["run"] == "winner"
    assert mentions(ended.json["data"]["split"], "split"), "known by its fingerprint"
    page = tmp_path / "test-winner-games.html"
    assert ended.json["page"] == str(page)
    assert page.is_file()
    assert list(standing.iterdir()) == [], "nothing is written where one stands"
    assert not list(run.glob("test*")), "nor into the package"
    gone = kibitz("test", "winner")
    assert gone.code == 1
    assert mentions(gone.err, "winner & games")
    assert "kibitz test winner STORE" in gone.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("{tmp}/none",), 1, "none is not a run"),
        (("{tmp}",), 1, "not a run"),
        (("{run}", "{tmp}/none.store"), 1, "no such store"),
        (("{run}", "{tmp}"), 1, "not a game store"),
        (("{run}", "{seen}"), 1, "1 & winner & run"),
        (("{run}", "{go}"), 2, "store"),
        (("{run}", "--split", "train"), 2, "--split & train & validation"),
        (("{run}", "--stockfish", "{tmp}/none"), 2, "--stockfish"),
        (("{run}", "--positions", "-1"), 2, "--positions"),
        (("{run}", "--out", "{tmp}"), 1, "folder"),
        (("{run}", "--against", "winner", "--out", "{tmp}/page.html"), 2, "--out & --against"),
        (("{run}", "--against", "winner", "--stockfish", "stockfish"), 2, "--stockfish & --against"),
        (("{run}", "--out", "{tmp}/none/page.html"), 1, "there is no folder"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    arguments: tuple[str, ...], code: int, said: str, kibitz: Kibitz, run: Path, small_go_store: Store, tmp_path: Path
) -> None:
    seen = import_games(tmp_path / "seen.store", limit=1).path
    go = small_go_store.path
    ended = kibitz("test", *(part.format(run=run, tmp=tmp_path, seen=seen, go=go) for part in arguments))
    assert (ended.code, ended.out) == (code, "")
    assert mentions(ended.err, said)
    assert ended.err.count("\n") == 1
    assert "Traceback" not in ended.err
    assert not (run / PAGE).exists()
    must_succeed(["test", run, "--stockfish-positions", 0, "--positions", 100], once="test winner")


def test_a_run_that_has_no_weights_yet(kibitz: Kibitz, run: Path) -> None:
    (run / "best.safetensors").unlink()
    ended = kibitz("test", run)
    assert (ended.code, ended.out) == (1, "")
    assert "no trained network" in ended.err


def test_figures_are_told_even_if_the_page_cannot_be_written(
    kibitz: Kibitz, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("kibitz.durable.os.replace", full)
    ended = kibitz("test", run, "--stockfish-positions", 0, "--positions", 300, "--json")
    assert ended.code == 1
    assert ended.json["figures"]["accuracy"]["n"] == 300
    assert mentions(ended.err, "page")
    assert not list(run.glob("test*"))
