"""The template of a system, copied and installed: every command and the board take it."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import kibitz
from kibitz.store.store import Store
from kibitz.systems import SYSTEMS, register
from kibitz.systems.template import copy_template, template
from support.board_client import served
from support.causes import in_process, mentions
from support.patience import PATIENCE
from support.warm import Warm


class Kibitz:
    """Runs commands in an environment in which a copy of the template is installed, all of them in one process."""

    def __init__(self, folder: Path, added: str = ""):
        self.folder = folder
        site = folder / "site"
        copy = folder / "my-system"
        copy_template("toy", copy)
        (copy / "toy" / "__init__.py").write_text((copy / "toy" / "__init__.py").read_text() + added)
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
             "--target", str(site), str(copy)],
            check=True, timeout=PATIENCE,
        )  # fmt: skip
        source = str(Path(kibitz.__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), source)), "COLUMNS": "120"}
        self.warm = Warm(environment, folder)

    def run(self, *arguments: str, lines: str = "") -> str:
        done = self.warm.run(*arguments, lines=lines)
        assert done.code == 0, done.err
        return done.out


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory, small_store: Store) -> Iterator[Kibitz]:
    """With a trained run, r."""
    made = Kibitz(tmp_path_factory.mktemp("toy"))
    with made.warm:
        made.run("train", "toy", str(small_store.path), "--run", "r", "--iterations", "60")
        yield made


@contextmanager
def registered(toy: Kibitz, monkeypatch: pytest.MonkeyPatch, **changes: str) -> Iterator[None]:
    """The system in this process, in the folder with the run. changes: of its declaration, modules of the folder
    `site`."""
    monkeypatch.chdir(toy.folder)
    monkeypatch.syspath_prepend(str(toy.folder / "site"))
    register(replace(importlib.import_module("toy").DECLARATION, **changes))
    try:
        yield
    finally:
        SYSTEMS.remove("toy")
        for name in ("toy", "toy.network", *changes.values()):
            if not name.startswith("kibitz."):
                sys.modules.pop(name, None)


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
    said = toy.run("uci", "r", lines="uci\nisready\nposition startpos\ngo nodes 30\nwait\nquit\n")
    assert "uciok" in said
    answers = toy.run("uci", "r", "--method", "value-negamax", lines="isready\nposition startpos\ngo depth 1\nquit\n")
    assert "bestmove" in answers


def test_it_plays_a_match(toy: Kibitz) -> None:
    toy.run("match", "r", "r", "--games", "2", "--nodes", "10", "--max-plies", "20", "--pgn", "games.pgn")
    assert (toy.folder / "games.pgn").read_text().count("[Result ") == 2


def test_the_board_shows_it(toy: Kibitz, monkeypatch: pytest.MonkeyPatch) -> None:
    run, line = str(toy.folder / "r"), {"moves": ["e2e4", "d7d5", "e4d5"]}
    with registered(toy, monkeypatch), served([run]) as (client, _):
        known = next(one for one in client.get("/api/networks").json["networks"] if one["name"] == run)
        assert (known["answers"], known["methods"], known["problem"]) == (["white"], ["value-negamax"], None)
        assert known["claim"]["short"] == "by counting"
        chances = [result["white"] for result in client.stream("/api/analyse", {"network": run, "line": line})[1:-1]]
        assert len(chances) == 4
        assert chances[3] > chances[0], "White is a pawn up"
        planes = client.good("/api/planes", {"network": run, "line": line})["planes"]
        assert [plane["name"].split()[0] for plane in planes] == [
            "pawns", "knights", "bishops", "rooks", "queens", "kings",
        ]  # fmt: skip
        thought = client.stream("/api/think", {"network": run, "line": line, "nodes": 20})
        assert thought[-1]["done"]
        assert thought[-1]["move"]


def test_a_broken_package_is_left_out_in_one_line(tmp_path: Path) -> None:
    broken = Kibitz(tmp_path, "raise RuntimeError('no luck')\n")
    with broken.warm:
        done = broken.warm.run("systems")
    assert done.code == 0
    assert mentions(done.err, "system")
    assert done.err.count("\n") == 1
    assert "winner" in done.out


def test_the_template_is_short() -> None:
    lines = [line for path in template().rglob("*.py") for line in path.read_text().splitlines() if line.strip()]
    assert len(lines) <= 80


WRONG = {
    "no output that it can show": (
        "white_wins = lambda answers, state: None\nexpected_moves = lambda answers, codes, state: None\n",
        "r has no output that analyze can show (got white_wins, value).",
    ),
    "a list": (
        "white_wins = lambda answers, state: [0.5]\nexpected_moves = lambda answers, codes, state: None\n",
        "wrong.white_wins must give an array of numbers (got list).",
    ),
    "another output": (
        "white_wins = lambda answers, state: answers['winner']\nexpected_moves = lambda answers, codes, state: None\n",
        "r has outputs that analyze cannot show (got white_wins, value).",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_output_that_cannot_be_shown_is_refused(toy: Kibitz, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an analysis module of its own that is wrong; with the usual one the same call succeeds."""
    (toy.folder / "short.pgn").write_text('[White "A"]\n\n1. e4 d5 *\n')
    assert json.loads(toy.run("analyze", "r", "short.pgn", "--json"))["games"][0]["moves"]
    module, message = WRONG[case]
    (toy.folder / "site" / "wrong.py").write_text(module)
    importlib.invalidate_caches()
    with registered(toy, monkeypatch, analysis="wrong"):
        done = in_process(["analyze", "r", "short.pgn"])
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_wrong_type_from_an_evaluation_is_one_line(toy: Kibitz, monkeypatch: pytest.MonkeyPatch) -> None:
    (toy.folder / "site" / "wrong_evaluation.py").write_text(
        "from kibitz.evaluation.positions import evaluator\n"
        "def evaluate(*arguments):\n"
        "    result = evaluator.evaluate(*arguments)\n"
        "    return result | {'figures': {'accuracy': 0.5}}\n"
    )
    call = ["test", "r", "--split", "all", "--positions", "200", "--stockfish-positions", "0", "--json"]
    for module, code in (("kibitz.evaluation.positions.evaluator", 0), ("wrong_evaluation", 1)):
        with registered(toy, monkeypatch, evaluation=module):
            done = in_process(call)
        assert done.code == code, done.err
    lines = [line for line in done.err.splitlines() if "must be" in line]
    assert len(lines) == 1
    assert mentions(lines[0], "wrong_evaluation.evaluate & kibitz.evaluation.tables.Metric")
    assert "Traceback" not in done.err
