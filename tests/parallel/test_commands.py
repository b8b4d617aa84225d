"""What commands share out to workers: each backend gives what one process does."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kibitz
from kibitz.cli import run
from kibitz.errors import UsageError
from kibitz.evaluation.owners.baselines import playouts
from kibitz.evaluation.owners.gnugo import estimate_with_gnugo
from kibitz.external.programs import find_gnugo
from kibitz.games import game_of
from kibitz.games.go import filters as go_filters
from kibitz.parallel import Backend, Workers, open_workers
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from kibitz.systems import convchess
from kibitz.training.trainer import TrainConfig
from kibitz.training.tune import search as searching
from kibitz.training.tune.search import TuneResult, search
from kibitz.training.tune.space import Grid, TuneConfig
from support import person
from support.causes import naming
from support.patience import PATIENCE

HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY and not os.environ.get("CI"), reason="Ray is not installed")
APART = [["--workers", "2"], pytest.param(["--ray", "--workers", "2"], marks=needs_ray)]
BACKENDS = [Backend(), Backend("processes", 2), pytest.param(Backend("ray", 2), marks=needs_ray)]


@pytest.fixture(scope="module", autouse=True)
def workers_find_kibitz() -> Iterator[None]:
    """And one Ray for all tests: kibitz uses the Ray to which a process is connected already."""
    paths = [str(Path(kibitz.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        if HAS_RAY:
            stack.enter_context(open_workers(Backend("ray", 2)))
        yield


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, list[str]]:
    """The exit code, standard output, and the warnings and errors of a call."""
    code = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, [line for line in err.splitlines() if "games read" not in line and " games" not in line]


SET_UP = '[Event "?"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n[SetUp "1"]\n\n1. e4 (1. e3 Kd7) Kd8 2. -- Kd7 *\n\n'
VARIANT = '[Event "?"]\n[Variant "Atomic"]\n\n1. e4 e5 *\n\n'
ILLEGAL = '[Event "?"]\n[White "A {B}"]\n\n1. e4 {[%eval 0.2]} e5 2. Ke3 Nf6 *\n\n'


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "games.pgn"
    path.write_text(person.games(2) + "\n" + VARIANT + SET_UP + ILLEGAL, encoding="utf-8")
    return path


@pytest.mark.parametrize("options", APART)
def test_games_of_chess_are_analysed_alike(
    options: list[str], games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for number, more in enumerate(([], options)):
        written = tmp_path / f"{number}.pgn"
        call = ["analyze", "winner", games, "--all", "--json", "--depth", "1", "--pgn", written, *more]
        found.append((*said(capsys, *call), written.read_text(encoding="utf-8")))
    assert found[0] == found[1]
    assert found[0][0] == 0
    assert len(json.loads(found[0][1])["games"]) == 4
    assert len(found[0][2]) == 2, "the variant and the illegal move"
    set_up = json.loads(found[0][1])["games"][2]
    assert [move["san"] for move in set_up["moves"]][2] == "--"


def test_a_players_report_is_the_same(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["analyze", "human", games, "--player", person.PERSON, "--json", "--depth", "1", "--nodes", "0"]
    assert said(capsys, *call) == said(capsys, *call, "--workers", "2")


def test_a_damaged_file_ends_after_the_same_games(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = games.with_name("damaged.pgn")
    damaged.write_bytes(games.read_bytes() + b"{" + b"x" * ((1 << 24) + 9))
    call = ["analyze", "winner", damaged, "--all", "--json", "--raw"]
    plain, shared = said(capsys, *call), said(capsys, *call, "--workers", "2")
    assert plain == shared
    assert plain[0] == 1
    assert len(json.loads(plain[1])["games"]) == 4
    assert "16 MB" in json.loads(plain[1])["problem"]


GO = "(;GM[1]FF[4]SZ[9]KM[6.5]PB[A]PW[B]RE[W+3.5];B[ee];W[ec];B[cc];W[gg])\n"
GO_ILLEGAL = "(;GM[1]FF[4]SZ[9]KM[6.5]PB[C]PW[D];B[ee];W[ec];B[ee])\n"


@pytest.mark.parametrize("options", APART)
def test_games_of_go_are_analysed_alike(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.sgfl"
    path.write_text(GO + GO_ILLEGAL + "(;GM[1]SZ[9];B[zz])\n" + GO)
    call = ["analyze", "gocnn", path, "--json"]
    plain, shared = said(capsys, *call), said(capsys, *call, *options)
    assert plain[0] == shared[0] == 0
    assert sorted(plain[2]) == sorted(shared[2]), "workers are asked after a few more games are read"
    assert len(plain[2]) == 3
    assert json.loads(plain[1]) == json.loads(shared[1])


GRID = Grid((1e-9, 0.003, 1e30), (0.0,), ("he",))


def tuned(store: Store, out: Path, backend: Backend | None, **more: Any) -> TuneResult:
    settings = convchess.Settings(layers="4conv3x3p1.ip8", batch=32, min_rating=0, keep="loss")
    good_first = next(seed for seed in range(9) if GRID.points(seed)[0]["learning_rate"] == 0.003)
    plan = TrainConfig(validate_positions=400, precision="32-true", seed=good_first)
    config = TuneConfig("convchess", str(store.path), settings, GRID, "piece", 10, plan=plan)
    return search(replace(config, **more), out, backend=backend)


@pytest.fixture(scope="module")
def alone(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> TuneResult:
    """A search whose trials are not shared out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "BEFORE_PRUNING", 1)
        return tuned(small_store, tmp_path_factory.mktemp("alone") / "alone.journal", None)


@pytest.mark.parametrize("backend", BACKENDS)
def test_trials_come_to_the_same(
    backend: Backend, alone: TuneResult, small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "BEFORE_PRUNING", 1)
    shared = tuned(small_store, tmp_path / "shared.journal", backend)
    assert shared.reason == alone.reason == "all trials done"
    assert [trial.state for trial in shared.trials] == [trial.state for trial in alone.trials]
    assert sorted({trial.state for trial in alone.trials}) == ["diverged", "done", "pruned"]
    for one, other in zip(alone.trials, shared.trials, strict=True):
        assert (one.number, one.settings, one.iteration) == (other.number, other.settings, other.iteration)
        assert other.figures == pytest.approx(one.figures, rel=1e-4)
    assert (shared.best.path / "best.safetensors").is_file() if shared.best else False
    assert tuned(small_store, tmp_path / "shared.journal", backend) == shared


def test_trials_that_depend_on_each_other_are_not_shared_out(small_store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=naming("--workers & workers")):
        tuned(small_store, tmp_path / "a.journal", Backend("processes", 2), trials=3)


def test_a_search_that_is_ended_goes_on(small_store: Store, tmp_path: Path) -> None:
    """SIGTERM while workers train: nothing of the search is running afterwards, and the same call ends it."""
    words = ["tune", "convchess", small_store.path, "--layers", "8conv3x3p1.ip16", "--batch", "32", "--min-rating", "0"]
    words += ["--precision", "float32", "--validate-positions", "100", "--initials", "he", "--weight-decays", "0"]
    words += ["--learning-rates", "0.001,0.002", "--iterations-per-trial", "100000", "--workers", "2", "--json"]
    child = subprocess.Popen(
        [sys.executable, "-m", "kibitz.cli", *map(str, words)], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        while len(list(tmp_path.glob("searches/*/trial-*/run.json"))) < 2:
            assert child.poll() is None, child.communicate()
            time.sleep(0.02)
        workers = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        child.send_signal(signal.SIGTERM)
        out, _ = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    assert child.returncode in (130, 143)
    assert len(workers) >= 2
    assert not [pid for pid in workers if Path(f"/proc/{pid}/exe").exists() and _runs(pid)]
    if child.returncode == 130:
        assert json.loads(out)["left"] == 2


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def go_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("go")
    (folder / "games.sgfl").write_text((GO + GO_ILLEGAL + GO.replace("gg", "gc")) * 1)
    rules = game_of("go")
    with StoreWriter(folder / "s", "go", rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE) as writer:
        for batch in rules.Reader([str(folder / "games.sgfl")], go_filters.Filter()):
            writer.add(batch)
        return writer.commit({})


@pytest.fixture(params=BACKENDS)
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    with open_workers(request.param) as opened:
        yield opened


def test_answers_beside_a_network_of_go_are_the_same(
    workers: Workers, go_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    games, plies = np.array([0, 0, 1, 1]), np.array([0, 2, 1, 4])
    positions = go_store.replay(games, plies)
    heard: list[tuple[int, int]] = []
    tell = lambda done, total: heard.append((done, total))  # noqa: E731
    assert np.array_equal(playouts(*positions, 3, 2, tell), playouts(*positions, 3, workers, tell))
    assert heard == [(4, 4), (4, 4)]
    gnugo = find_gnugo()
    if gnugo is None:
        pytest.skip("GNU Go is not installed")
    monkeypatch.setattr("kibitz.evaluation.owners.gnugo.PART", 1)
    asked = estimate_with_gnugo(gnugo, go_store, games, plies, workers=2)
    again = estimate_with_gnugo(gnugo, go_store, games, plies, workers=workers, on_progress=tell)
    assert again.name == asked.name
    assert np.array_equal(again.chance, asked.chance)
    assert np.array_equal(again.lead, asked.lead)
    assert np.isfinite(asked.lead).all()
    assert np.array_equal(again.answered, asked.answered)
    assert asked.answered.all()
    assert heard[2:] == [(2, 4), (4, 4)]
