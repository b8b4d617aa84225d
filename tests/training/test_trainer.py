"""The loop: it learns, it can be killed at any moment, and nobody could tell afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from kibitz.errors import KibitzError
from kibitz.runs import Run
from kibitz.store.split import Split
from kibitz.store.store import Store
from kibitz.systems.movers import system
from kibitz.systems.winner import Settings
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig, TrainProgress
from support.causes import Ended, naming
from support.forks import Forks
from support.helpers import SMALL, import_games
from support.patience import PATIENCE

ITERATIONS = 150

LOADED = """
import os, signal, sys
from pathlib import Path
from kibitz.systems.winner import Settings
from kibitz.training.trainer import TrainConfig
from kibitz.training.fit import train
"""
KILLED = """
store, run, stop_at, how, settings = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4], eval(sys.argv[5])
def on_progress(progress):
    if progress.iteration == stop_at and not progress.note:
        os.kill(os.getpid(), getattr(signal, how))
every = {"summary_every": 20, "validate_every": 30, "checkpoint_every": 50}
every |= {"average": int(sys.argv[6])} if len(sys.argv) > 6 else {}
plan = TrainConfig(**every, validate_positions=1000, precision="32-true")
done = train("winner", Settings(**settings), store, run=run, plan=plan, on_progress=on_progress)
print(done.outcome.reason)
"""


def settings() -> dict[str, Any]:
    return {**SMALL, "batch": 64, "iterations": ITERATIONS, "dropout": 0.3}


RunProcess = Callable[..., Ended]


@pytest.fixture(scope="module")
def run_process(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunProcess]:
    """Trains in a process of its own, which gets a signal at an iteration."""
    folder = tmp_path_factory.mktemp("forks")
    with Forks(LOADED) as forks:

        def call(run: Path, stop_at: int, how: str = "SIGKILL", average: int = 0) -> Ended:
            arguments = (str(small_store.path), str(run), str(stop_at), how, repr(settings()), str(average))
            return forks.run(KILLED, *arguments, folder=folder)

        yield call


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory, run_process: RunProcess) -> Path:
    path = tmp_path_factory.mktemp("loop") / "unbroken"
    done = run_process(path, stop_at=-1)
    assert done.code == 0, done.err
    return path


@pytest.mark.parametrize(
    "stops", [pytest.param((75,), id="once"), pytest.param((10, 49, 120), id="three times", marks=pytest.mark.slow)]
)
def test_a_killed_training_comes_to_the_same_weights(
    tmp_path: Path, run_process: RunProcess, unbroken: Path, stops: tuple[int, ...]
) -> None:
    """Killed with SIGKILL between snapshots and before the first; weights and metrics are those of the unbroken run."""
    for stop_at in stops:
        assert run_process(tmp_path / "run", stop_at).code == -signal.SIGKILL
    done = run_process(tmp_path / "run", stop_at=-1)
    assert done.code == 0, done.err
    for name in ("best.safetensors", "snapshots/winner-000150.safetensors"):
        ours, theirs = load_file(tmp_path / "run" / name), load_file(unbroken / name)
        assert ours.keys() == theirs.keys()
        for key in ours:
            assert torch.equal(ours[key], theirs[key]), key
    assert rows(tmp_path / "run") == rows(unbroken)
    assert (tmp_path / "run" / "model.onnx").read_bytes() == (unbroken / "model.onnx").read_bytes()


def rows(path: Path) -> list[dict[str, Any]]:
    """The metrics without the one figure that depends on the clock."""
    return [{k: v for k, v in row.items() if k != "samples_per_second"} for row in Run(path).metrics()]


def test_an_interrupted_training_keeps_its_work(tmp_path: Path, run_process: RunProcess, unbroken: Path) -> None:
    """SIGINT ends with a snapshot of that very iteration; the same call goes on to the same weights."""
    first = run_process(tmp_path / "run", 77, "SIGINT")
    assert first.out.strip() == "stopped"
    state = torch.load(tmp_path / "run" / "last.pt", weights_only=True)
    assert state["iteration"] == 77
    assert Run(tmp_path / "run").info["finished"] is False
    assert run_process(tmp_path / "run", -1).out.strip() == "all iterations done"
    ours, theirs = load_file(tmp_path / "run" / "best.safetensors"), load_file(unbroken / "best.safetensors")
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_averaged_weights_are_kept_and_survive_a_kill(tmp_path: Path, run_process: RunProcess, unbroken: Path) -> None:
    """The raw weights learn as without averages; the kept weights are the averages, also of a killed training."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run_process(whole, -1, average=40).code == 0
    assert run_process(killed, 75, average=40).code == -signal.SIGKILL
    assert run_process(killed, -1, average=40).code == 0
    for name in ("best.safetensors", "snapshots/winner-000150.safetensors"):
        ours, theirs = load_file(killed / name), load_file(whole / name)
        assert all(torch.equal(ours[key], theirs[key]) for key in ours), name
    state, plain = (torch.load(path / "last.pt", weights_only=True) for path in (whole, unbroken))
    best, means = load_file(whole / "snapshots" / "winner-000150.safetensors"), state["averages"]["means"]
    assert all(torch.equal(best[key], means[key]) for key in means), "snapshots hold the averages"
    raw = {row["iteration"]: row["loss"] for row in rows(whole) if row["kind"] == "validation_raw"}
    assert raw == {row["iteration"]: row["loss"] for row in rows(unbroken) if row["kind"] == "validation"}
    averaged = {row["iteration"]: row["loss"] for row in rows(whole) if row["kind"] == "validation"}
    assert averaged.keys() == raw.keys()
    assert averaged != raw
    assert Run(whole).info["averaged_over"] == 40
    assert plain["averages"] is None


def test_averages_may_begin_in_a_run_that_had_none(tmp_path: Path, run_process: RunProcess) -> None:
    assert run_process(tmp_path / "run", 77, "SIGINT").out.strip() == "stopped"
    assert run_process(tmp_path / "run", -1, average=20).out.strip() == "all iterations done"
    state = torch.load(tmp_path / "run" / "last.pt", weights_only=True)
    assert state["averages"] is None or state["averages"]["steps"] == ITERATIONS - 77


def test_it_learns(small_store: Store, tmp_path: Path) -> None:
    """On what it trains on, a few hundred steps must beat the constant answer by far."""
    plan = TrainConfig(summary_every=100, validate_every=500, checkpoint_every=500, precision="32-true")
    given = Settings(**{**SMALL, "view": "mover"}, batch=256, iterations=400)
    train("winner", given, str(small_store.path), run=tmp_path / "run", plan=plan)
    summaries = [row for row in Run(tmp_path / "run").metrics() if row["kind"] == "summary"]
    assert summaries[0]["accuracy"] < summaries[-1]["accuracy"]
    assert summaries[-1]["accuracy"] > 0.68


def test_patience_ends_a_training_that_gets_no_better(small_store: Store, tmp_path: Path) -> None:
    given = Settings(**{**SMALL, "learning_rate": 0.0}, batch=64, iterations=10_000)
    plan = TrainConfig(50, 10, 50, 500, patience=3, precision="32-true")
    outcome = train("winner", given, str(small_store.path), run=tmp_path / "run", plan=plan).outcome
    assert outcome.finished
    assert (outcome.reason, outcome.iteration) == ("no better validation", 40)


@pytest.mark.slow
def test_a_time_limit_stops_with_weights_and_the_same_call_goes_on(small_store: Store, tmp_path: Path) -> None:
    given = Settings(**SMALL, batch=64, iterations=100_000)
    plan = TrainConfig(50, 100_000, 100_000, 500, time_limit=1.0, precision="32-true")
    first = train("winner", given, str(small_store.path), run=tmp_path / "run", plan=plan)
    assert (first.outcome.finished, first.outcome.reason) == (False, "time limit")
    assert Run(tmp_path / "run").trained().is_file()
    assert (tmp_path / "run" / "model.onnx").is_file()
    second = train("winner", given, str(small_store.path), run=tmp_path / "run", plan=plan)
    assert second.continued
    assert second.outcome.iteration > first.outcome.iteration


@pytest.mark.slow
def test_a_time_limit_leaves_weights_without_a_validation_too(small_store: Store, tmp_path: Path) -> None:
    given = Settings(**SMALL, batch=64, iterations=100_000)
    plan = TrainConfig(50, 10, 100_000, 500, time_limit=0.2, precision="32-true")
    split = Split(validate_share=0, test_share=0)
    done = train("winner", given, str(small_store.path), run=tmp_path / "run", split=split, plan=plan)
    assert done.outcome.reason == "time limit"
    assert Run(done.path).trained().is_file()


def test_nothing_to_learn_is_told(small_store: Store, tmp_path: Path) -> None:
    """Its loss would be 0 for ever."""
    given = system.Settings(layers="4conv3x3p1", min_rating=4000, networks="piece", iterations=5)
    with pytest.raises(KibitzError, match=naming("--min-rating & rating")):
        train("convchess", given, str(small_store.path), run=tmp_path / "run", plan=TrainConfig(precision="32-true"))
    assert not (tmp_path / "run").exists()  # the next training is not a resumed one


def test_a_batch_counts_the_examples_that_it_has(tmp_path: Path) -> None:
    store = import_games(tmp_path / "few.store", limit=40)
    games = np.flatnonzero((store.column("result") != 0) & (store.sides() == 0))
    positions = int((store.plies[games] + 1).sum())
    given = Settings(**SMALL, batch=2 * positions, iterations=2)
    train("winner", given, str(store.path), run=tmp_path / "run", plan=TrainConfig(1, 1, 2, 64, precision="32-true"))
    rows = Run(tmp_path / "run").metrics()
    assert {(row["iteration"], row["samples"]) for row in rows if "samples" in row} == {
        (1, positions),
        (2, 2 * positions),
    }


def test_a_few_games_end_a_long_recipe_early(small_store: Store, tmp_path: Path) -> None:
    given = Settings(**SMALL, batch=256, iterations=100_000, most_epochs=0.5)
    done = train("winner", given, str(small_store.path), run=tmp_path / "run", plan=TrainConfig(precision="32-true"))
    games = np.flatnonzero((small_store.column("result") != 0) & (small_store.sides() == 0))
    positions = int((small_store.plies[games] + 1).sum())
    assert done.outcome.iteration == round(0.5 * (positions // 256))
    rows = Run(tmp_path / "run").metrics()
    assert 18 <= len([row for row in rows if row["kind"] == "validation"]) <= 22


def test_progress_is_told_at_every_iteration(small_store: Store, tmp_path: Path) -> None:
    beats: list[TrainProgress] = []
    given = Settings(**SMALL, batch=64, iterations=30)
    plan = TrainConfig(10, 15, 30, 500, precision="32-true")
    train("winner", given, str(small_store.path), run=tmp_path / "run", plan=plan, on_progress=beats.append)
    assert [progress.iteration for progress in beats if not progress.note] == list(range(1, 31))
    assert [progress.iteration for progress in beats if progress.samples_per_second] == [10, 20, 30]
    assert [progress.iteration for progress in beats if progress.note.startswith("validation")] == [15, 30]


def test_the_best_weights_are_those_of_the_best_validation(small_run: Path) -> None:
    checks = [row for row in Run(small_run).metrics() if row["kind"] == "validation"]
    best = min(checks, key=lambda row: row["loss"])
    assert Run(small_run).info["best"]["iteration"] == best["iteration"]
    snapshot = load_file(small_run / "snapshots" / f"winner-{best['iteration']:06d}.safetensors")
    kept = load_file(small_run / "best.safetensors")
    assert all(torch.equal(snapshot[key], kept[key]) for key in kept)


def test_rows_are_json_lines(small_run: Path) -> None:
    lines = (small_run / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines].count("summary") == 6


def test_second_interrupt_is_the_usual_one(small_store: Store, tmp_path: Path) -> None:
    """A loop that hangs must still be stoppable: the first Ctrl-C asks, the second raises."""
    hang = (
        "import time; print('now', flush=True);"
        " list(iter(lambda: (time.sleep(0.01), signal.getsignal(signal.SIGINT))[1], signal.default_int_handler));"
        " print('noticed', flush=True); time.sleep(60)"
    )
    script = LOADED + KILLED.replace("os.kill(os.getpid(), getattr(signal, how))", hang)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(small_store.path), str(tmp_path / "run"), "5", "SIGINT", repr(settings())],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "now"
    os.kill(process.pid, signal.SIGINT)
    assert process.stdout.readline().strip() == "noticed"
    assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)
    process.stdout.close()
    assert process.wait(PATIENCE) != 0
