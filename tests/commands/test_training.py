"""`kibitz train` from the outside: options of the system, errors in one line, exit codes, an interrupt."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from kibitz.cli import run
from kibitz.store.store import Store
from kibitz.training.run import Run

TINY = [
    "--layers", "16conv4x4.pool2x2.ip8", "--activation", "relu", "--optimiser", "adam", "--learning-rate", "0.003",
    "--batch", "64", "--precision", "float32", "--validate-positions", "500",
]  # fmt: skip
QUICK = [*TINY, "--iterations", "20", "--validate-every", "10"]


def test_a_training_from_the_command_line(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["train", "winner", str(small_store.path), "--run", str(tmp_path / "run"), *QUICK]
    assert run([*call, "--json"]) == 0
    said = capsys.readouterr()
    report = json.loads(said.out)
    assert report["run"] == str(tmp_path / "run")
    assert (report["finished"], report["iteration"]) == (True, 20)
    assert "validation loss" in said.err
    for name in ("run.json", "metrics.jsonl", "last.pt", "best.safetensors", "model.onnx", "seen.npy", "learning.svg"):
        assert (tmp_path / "run" / name).is_file(), name
    info = json.loads((tmp_path / "run" / "run.json").read_text())
    assert info["settings"]["layers"] == "16conv4x4.pool2x2.ip8"
    assert info["data"]["fingerprint"] == small_store.fingerprint
    assert run(call) == 0
    assert "is finished" in capsys.readouterr().out


def test_the_settings_of_a_system_are_options_with_the_papers_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "winner", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in ("--attacks", "--separate", "400conv4x4.pool2x2.200conv2x2.ip70", "--momentum", "0.0005"):
        assert part in text


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--layers", "400conv9x9"], 2, "layer 1 (400conv9x9)"),
        (["--activation", "tanh"], 2, "choose from identity, relu"),
        (["--validate-from", "soon"], 2, "not a date"),
        (["--validate-from", "2020", "--test-from", "2019"], 2, "must be after"),
        (["--test-from", "1900"], 1, "none of its 400 games is for training"),
        (["--validate-share", "80", "--test-share", "30"], 2, "must leave some to train on"),
        (["--time-limit", "0"], 2, "more than 0"),
        (["--precision", "int4"], 2, "choose from auto, float32, bf16"),
        (["--device", "tpu"], 2, "choose from auto, cpu, cuda"),
        (["--batch", "many"], 2, "batch"),
        (["--colour", "red"], 2, "colour"),
    ],
)
def test_wrong_calls_are_told_in_one_line(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], code: int, said: str
) -> None:
    assert run(["train", "winner", str(small_store.path), "--run", str(tmp_path / "run"), *QUICK, *more]) == code
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_missing_stores_and_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "winner", str(tmp_path / "no.store")]) == 1
    assert "no such store" in capsys.readouterr().err
    assert run(["train", "loser", str(tmp_path / "no.store")]) == 2
    assert "no such system" in capsys.readouterr().err


def test_an_interrupt_keeps_the_work(small_store: Store, tmp_path: Path) -> None:
    """Ctrl-C on a real process: exit code 130, a snapshot, a line that says how to go on; and it does go on."""
    call = [
        sys.executable,
        "-m",
        "kibitz.cli",
        "train",
        "winner",
        str(small_store.path),
        "--run",
        str(tmp_path / "run"),
    ]
    process = subprocess.Popen(
        [*call, *TINY, "--iterations", "100000", "--summary-every", "5"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    metrics = tmp_path / "run" / "metrics.jsonl"
    until = time.monotonic() + 60
    while not (metrics.exists() and metrics.read_text()):
        assert time.monotonic() < until, "no summary within a minute"
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on" in out
    assert (tmp_path / "run" / "last.pt").is_file()


def test_a_training_can_start_from_another_run(
    small_store: Store, small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its settings become the defaults, its weights the first ones, and what it has seen stays seen."""
    call = ["train", "winner", str(small_store.path), "--run", str(tmp_path / "run"), "--start-from", str(small_run)]
    more = ["--iterations", "2", "--validate-every", "1", "--learning-rate", "0", "--test-share", "40"]
    assert run([*call, *more, "--precision", "float32"]) == 0, capsys.readouterr().err
    ours, theirs = Run(tmp_path / "run"), Run(small_run)
    assert ours.info["settings"]["layers"] == theirs.info["settings"]["layers"]
    assert ours.info["data"]["started_from"] == theirs.weights_sha256()
    mine, base = ours.network().state_dict(), theirs.network().state_dict()
    assert all(torch.equal(mine[name], base[name]) for name in base)
    hashes = small_store.column("hash")
    assert not ours.unseen(hashes)[~theirs.unseen(hashes)].any()


def test_starting_from_what_does_not_fit(
    small_store: Store, small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["train", "winner", str(small_store.path), "--run", str(tmp_path / "run")]
    assert run([*call, "--start-from", str(small_run), "--layers", "8conv4x4.ip4"]) == 2
    assert "another shape" in capsys.readouterr().err
    assert run([*call, "--start-from", str(tmp_path / "nowhere")]) == 1
    assert "no such run" in capsys.readouterr().err
    assert run(["train", "convchess", *call[2:], "--start-from", str(small_run)]) == 2  # its settings are no defaults
    assert "a run of winner, not of convchess" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
