"""A system of two files that another package brings by an entry point: every command and the board take it."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kibitz
from kibitz.store.store import Store
from kibitz.systems import SYSTEMS, register
from support.board_client import served
from support.causes import mentions

TOY = Path(__file__).parents[1] / "support" / "toy"
METADATA = "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n"


class Kibitz:
    """Runs commands in an environment in which the package toy is installed."""

    def __init__(self, folder: Path):
        self.folder = folder
        site = folder / "site"
        shutil.copytree(TOY, site / "toy", ignore=shutil.ignore_patterns("__pycache__"))
        info = site / "toy-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(METADATA)
        (info / "entry_points.txt").write_text("[kibitz.systems]\ntoy = toy:DECLARATION\n")
        source = str(Path(kibitz.__file__).parents[1])
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), source)), "COLUMNS": "120"}

    def run(self, *arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "kibitz", *arguments],
            cwd=self.folder, env=self.environment, input=stdin, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory, small_store: Store) -> Kibitz:
    """With a trained run, r."""
    made = Kibitz(tmp_path_factory.mktemp("toy"))
    made.run("train", "toy", str(small_store.path), "--run", "r", "--iterations", "60")
    return made


def test_it_stands_in_the_list(toy: Kibitz) -> None:
    systems = json.loads(toy.run("systems", "--json"))["systems"]
    assert [one["title"] for one in systems if one["name"] == "toy"] == ["who wins, by counting?"]
    assert "--recipe default: sixty batches" in toy.run("systems", "toy")
    assert "--learning-rate" in toy.run("train", "toy", "--help")


def test_its_table(toy: Kibitz) -> None:
    result = json.loads(toy.run("test", "r", "--split", "all", "--stockfish-positions", "0", "--json"))
    assert result["system"] == "toy"
    assert result["figures"]["accuracy"]["value"] > 0.5


def test_its_analysis(toy: Kibitz) -> None:
    (toy.folder / "game.pgn").write_text('[White "A"]\n\n1. e4 d5 2. exd5 Qxd5 3. Nc3 Qxg2 4. Bxg2 *\n')
    moves = json.loads(toy.run("analyze", "r", "game.pgn", "--json"))["games"][0]["moves"]
    assert len(moves) == 7
    assert moves[-1]["san"] == "Bxg2"
    assert mentions(toy.run("analyze", "r", "game.pgn"), "White's")


def test_it_is_an_engine(toy: Kibitz) -> None:
    said = toy.run("uci", "r", stdin="uci\nisready\nposition startpos\ngo nodes 30\nwait\nquit\n")
    assert "uciok" in said
    answers = toy.run("uci", "r", "--method", "value-negamax", stdin="isready\nposition startpos\ngo depth 1\nquit\n")
    assert "bestmove" in answers


def test_it_plays_a_match(toy: Kibitz) -> None:
    toy.run("match", "r", "r", "--games", "2", "--nodes", "10", "--max-plies", "20", "--pgn", "games.pgn")
    assert (toy.folder / "games.pgn").read_text().count("[Result ") == 2


def test_the_board_shows_it(toy: Kibitz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(toy.folder / "site"))
    register(importlib.import_module("toy").DECLARATION)
    run, line = str(toy.folder / "r"), {"moves": ["e2e4", "d7d5", "e4d5"]}
    try:
        with served([run]) as (client, _):
            known = next(one for one in client.get("/api/networks").json["networks"] if one["name"] == run)
            assert (known["answers"], known["methods"], known["problem"]) == (["white"], ["value-negamax"], None)
            assert known["claim"]["short"] == "by counting"
            chances = [
                result["white"] for result in client.stream("/api/analyse", {"network": run, "line": line})[1:-1]
            ]
            assert len(chances) == 4
            assert chances[3] > chances[0], "White is a pawn up"
            planes = client.good("/api/planes", {"network": run, "line": line})["planes"]
            assert [plane["name"].split()[0] for plane in planes] == [
                "pawns", "knights", "bishops", "rooks", "queens", "kings",
            ]  # fmt: skip
            thought = client.stream("/api/think", {"network": run, "line": line, "nodes": 20})
            assert thought[-1]["done"]
            assert thought[-1]["move"]
    finally:
        SYSTEMS.remove("toy")
        for name in ("toy", "toy.network", "toy.planes"):
            sys.modules.pop(name, None)


def test_a_broken_package_is_left_out_in_one_line(tmp_path: Path) -> None:
    broken = Kibitz(tmp_path)
    (tmp_path / "site" / "toy" / "__init__.py").write_text("raise RuntimeError('no luck')\n")
    done = subprocess.run(
        [sys.executable, "-m", "kibitz", "systems"],
        cwd=tmp_path, env=broken.environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0
    assert mentions(done.stderr, "system")
    assert "winner" in done.stdout
