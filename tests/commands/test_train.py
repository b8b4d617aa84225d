"""`kibitz train` from the outside: options of the system, errors in one line, exit codes, an interrupt."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from kibitz.cli import run
from kibitz.games.chess.filters import Filter
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems import find_recipe
from support.causes import mentions, must_succeed
from support.helpers import SMALL_PAIRS, import_games
from support.patience import PATIENCE

TINY = [
    "--layers", "16conv4x4.pool2x2.ip8", "--activation", "relu", "--optimiser", "adamw", "--learning-rate", "0.003",
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
    assert run(["train", "winner", "--help", "--recipe", "paper"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in ("--attacks", "--separate", "400conv4x4.pool2x2.200conv2x2.ip70", "--momentum", "0.0005", "150000"):
        assert part in text


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--layers", "400conv9x9"], 2, "layer 1 (400conv9x9)"),
        (["--activation", "tanh"], 2, "--activation & relu & got tanh"),
        (["--validate-from", "soon"], 2, "date"),
        (["--test-from", ""], 2, "date"),
        (["--start-from", ""], 2, "run"),
        (["--most-epochs", "1e300"], 2, "at most"),
        (["--validate-from", "2020", "--test-from", "2019"], 2, "must be after"),
        (["--test-from", "1900"], 1, "400 & training"),
        (["--validate-share", "80", "--test-share", "30"], 2, "--test-share & 80 and 30"),
        (["--time-limit", "0"], 2, "--time-limit & got 0"),
        (["--precision", "int4"], 2, "--precision & bf16 & got int4"),
        (["--device", "tpu"], 2, "auto & cpu & cuda"),
        (["--batch", "many"], 2, "batch"),
        (["--colour", "red"], 2, "colour"),
    ],
)
def test_wrong_calls_are_told_in_one_line(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], code: int, said: str
) -> None:
    without = ["train", "winner", str(small_store.path), "--run", str(tmp_path / "run"), *QUICK]
    assert run([*without, *more]) == code
    error = capsys.readouterr().err
    assert mentions(error, said)
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()
    must_succeed(without, once="train winner")


def test_missing_stores_and_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "winner", str(tmp_path / "no.store")]) == 1
    assert "no such store" in capsys.readouterr().err
    assert run(["train", "loser", str(tmp_path / "no.store")]) == 2
    assert "unknown system" in capsys.readouterr().err


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
    until = time.monotonic() + PATIENCE
    while not (metrics.exists() and metrics.read_text()):
        assert time.monotonic() < until, "no summary within ten minutes"
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 130
    assert mentions(out, "command")
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
    mine, base = ours.load_network().state_dict(), theirs.load_network().state_dict()
    assert all(torch.equal(mine[name], base[name]) for name in base)
    hashes = small_store.column("hash")
    assert not ours.unseen(hashes)[~theirs.unseen(hashes)].any()


def test_starting_from_what_does_not_fit(
    small_store: Store, small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["train", "winner", str(small_store.path), "--run", str(tmp_path / "run")]
    assert run([*call, "--start-from", str(small_run), "--layers", "8conv4x4.ip4"]) == 2
    assert "differ" in capsys.readouterr().err
    assert run([*call, "--start-from", str(tmp_path / "nowhere")]) == 1
    assert "is not a run" in capsys.readouterr().err
    assert run(["train", "convchess", *call[2:], "--start-from", str(small_run)]) == 2  # its settings are no defaults
    assert mentions(capsys.readouterr().err, "winner & convchess & run")
    assert not (tmp_path / "run").exists()


# deepchess


@pytest.fixture(scope="module")
def pairs_run(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both networks of `deepchess`, trained for a moment by the command."""
    path = tmp_path_factory.mktemp("runs") / "deepchess-1"
    assert run(["train", "deepchess", str(small_store.path), "--run", str(path), *small_pairs()]) == 0
    return path


def small_pairs() -> list[str]:
    """The options of a training of `deepchess` that takes a moment."""
    settings = {**SMALL_PAIRS, "pairs": 400, "pretrain_epochs": 0.05, "epochs": 1.0, "distil_epochs": 1.0}
    words = ["--colours" if v is True else f"--{k.replace('_', '-')}={v}" for k, v in settings.items()]
    return [*words, "--precision", "float32"]


@pytest.fixture(scope="module")
def distilled_run(pairs_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as it is packaged: the distilled network alone."""
    path = tmp_path_factory.mktemp("runs") / "distilled"
    shutil.copytree(pairs_run, path)
    info = json.loads((path / "run.json").read_text())
    info["settings"]["networks"] = "distilled"
    (path / "run.json").write_text(json.dumps(info))
    weights = load_file(path / "best.safetensors")
    kept = {name: value for name, value in weights.items() if not name.startswith(("full.", "decoders."))}
    save_file(kept, path / "best.safetensors")
    return path


def test_one_command_trains_all_networks_of_deepchess(pairs_run: Path, distilled_run: Path) -> None:
    whole = Run(pairs_run)
    assert whole.info["finished"]
    assert {row["stage"] for row in whole.metrics()} == {"pos2vec-1", "pos2vec-2", "deepchess", "distilled"}
    network = whole.load_network()
    assert list(network.parts()) == ["full", "distilled"]  # type: ignore[operator]
    assert list(Run(distilled_run).load_network().parts()) == ["distilled"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("result", "limit", "said"),
    [
        ("1/2-1/2", 20, "White & 0 & Black & 10 & games"),
        ("1/2-1/2", 20, "games.store & decisive & got 0 and 0"),
        ("1-0", 30, "White & 30 & Black & games"),
        (None, 15, "games.store & decisive & got 3 and 11"),
    ],
)
def test_stores_that_make_no_pairs(
    result: str | None, limit: int, said: str, tmp_path: Path, pairs_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a store that makes pairs, the same call trained `pairs_run`."""
    keep = Filter(result=(result,)) if result else Filter()
    store = import_games(tmp_path / "games.store", keep=keep, limit=limit)
    assert run(["train", "deepchess", str(store.path), "--run", str(tmp_path / "run"), *small_pairs()]) == 1
    error = capsys.readouterr().err
    assert mentions(error, said)
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--networks", "distilled"], 2, "distilled"),
        (["--pos2vec", "600-400"], 2, "--pos2vec & got 600-400"),
        (["--small-compare", "0"], 2, "--small-compare & got 0"),
        (["--reuse", "3"], 2, "--reuse & --batch & 128 and 3"),
        (["--pretrain-epochs", "0", "--epochs", "0", "--distil-epochs", "0"], 2, "--epochs & --distil-epochs & 0"),
        (["--opening", "300"], 1, "300 & moves"),
        (["--held-out", "100"], 2, "--held-out & got 100"),
    ],
)
def test_wrong_calls_of_deepchess(
    small_store: Store, tmp_path: Path, pairs_run: Path, capsys: pytest.CaptureFixture[str], more: list[str],
    code: int, said: str,
) -> None:  # fmt: skip
    """Without the last options, the same call trained `pairs_run`."""
    call = ["train", "deepchess", str(small_store.path), "--run", str(tmp_path / "run"), *small_pairs()]
    assert run([*call, *more]) == code
    error = capsys.readouterr().err
    assert mentions(error, said)
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_training_that_cannot_be_begun_leaves_nothing(
    small_store: Store, tmp_path: Path, pairs_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it has to learn from is known only when it begins. The same call with fewer games held out trained
    `pairs_run`."""
    call = ["train", "deepchess", str(small_store.path), "--run", str(tmp_path / "run"), *small_pairs()]
    assert run([*call, "--held-out", "99.999"]) == 1
    assert mentions(capsys.readouterr().err, "pairs")
    assert not (tmp_path / "run").exists()


def test_training_games_that_one_side_has_won(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole store has both kinds; what a split leaves for training has one."""
    store = import_games(tmp_path / "games.store", limit=60)
    call = ["train", "deepchess", str(store.path), "--run", str(tmp_path / "run"), *small_pairs()]
    assert run([*call, "--validate-share", "1", "--test-share", "98"]) == 1
    error = capsys.readouterr().err
    must_succeed(call)
    assert mentions(error, "Black & training")
    assert "Import more decisive games" in error
    assert error.strip().splitlines()[-1].startswith("error: ")
    assert "Traceback" not in error


def test_deepchess_that_cannot_start_from_there(
    small_store: Store, pairs_run: Path, distilled_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["train", "deepchess", str(small_store.path), "--run", str(tmp_path / "run"), "--start-from"]
    for more in ([], ["--networks", "both"], ["--networks", "full"]):
        assert run([*call, str(distilled_run), *more]) == 2
        error = capsys.readouterr().err
        assert mentions(error, f"--start-from {distilled_run} & --networks distilled & full network")
        assert len(error.strip().splitlines()) == 1
    for more in (["--pos2vec", "24.12"], ["--networks", "full"]):
        assert run([*call, str(pairs_run), *more]) == 2
        assert mentions(capsys.readouterr().err, f"--start-from {pairs_run} & network")
    assert not (tmp_path / "run").exists()


def test_the_distilled_network_can_be_taught_again(
    small_store: Store, pairs_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["train", "deepchess", str(small_store.path), "--run", str(tmp_path / "run"), "--start-from", str(pairs_run)]
    more = ["--pretrain-epochs", "0", "--epochs", "0", "--precision", "float32"]
    assert run([*call, *more]) == 0, capsys.readouterr().err
    ours, theirs = Run(tmp_path / "run").load_network().state_dict(), Run(pairs_run).load_network().state_dict()
    changed = {name.split(".")[0] for name in ours if not torch.equal(ours[name], theirs[name])}
    assert changed == {"distilled"}


def test_the_settings_of_deepchess_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "deepchess", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for part in ("600.400.200.100", "400.200.100", "100.100.100", "--pretrain-decay", "0.98", "0.99", "1000000"):
        assert part in text


@pytest.mark.slow
def test_of_a_repeated_recipe_the_last_one_counts(small_store: Store, tmp_path: Path) -> None:
    """Its settings and its name."""
    small = ("--layers", "ip8", "--iterations", "1", "--batch", "8", "--validate-positions", "64")
    found = []
    for name, recipes in (("once", ["default"]), ("twice", ["quick", "default"])):
        words = [word for recipe in recipes for word in ("--recipe", recipe)]
        assert run(["train", "winner", str(small_store.path), "--run", str(tmp_path / name), *words, *small]) == 0
        info = Run(tmp_path / name).info
        found.append((info["recipe"], info["settings"]))
    assert found[0] == found[1]
    assert find_recipe("winner", "quick").settings["attacks"] != found[0][1]["attacks"]
