"""Several processes train one network: as one would, and as often as they like."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from kibitz.errors import KibitzError, UsageError
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems.deepchess import PairExamples
from kibitz.systems.deepchess import Settings as PairSettings
from kibitz.training.dataloader import make_batch, part_of
from kibitz.training.ranks import ProcessRank, Ranks, resolve_rank
from support.causes import Ended, mentions, naming
from support.forks import Forked, Forks
from support.helpers import SMALL_PAIRS
from support.patience import PATIENCE
from support.processes import is_gone

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
SETTINGS = [
    "--layers", "16conv4x4.pool2x2.ip8", "--activation", "relu", "--optimiser", "adamw", "--learning-rate", "0.003",
    "--dropout", "0.2", "--batch", "65", "--iterations", "300", "--precision", "float32", "--device", "cpu",
    "--validate-every", "50", "--checkpoint-every", "60", "--validate-positions", "9000", "--summary-every", "40",
]  # fmt: skip


LOADED = (
    "lightning_fabric, matplotlib.pyplot, onnx, onnxruntime, rich.progress, safetensors.torch, kibitz.training.fit,"
    " kibitz.training.ranks, kibitz.systems.winner, kibitz.report.curves"
)
"""What a training imports. It takes longer than the training."""
START = "import sys; sys.argv = ['kibitz', *sys.argv[1:]]; from kibitz.cli import main; main()"


def command(store: Path, run: Path, *more: str) -> list[str]:
    return ["train", "winner", str(store), "--run", str(run), *SETTINGS, *more]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """The first process of each training is a fork. The processes that it starts are new ones, as always."""
    with Forks(f"import {LOADED}", ENVIRONMENT) as made:
        yield made


def trained(forks: Forks, words: list[str], folder: Path) -> None:
    """Run a training to its end."""
    with forks.started(START, *words, folder=folder) as process:
        ended = process.communicate()
    assert ended.code == 0, ended


def children(process: Forked) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def until_validation(process: Forked, iteration: int) -> str:
    """What a training prints until it has validated at that iteration or a later one."""
    seen = ""
    for line in process.stderr:
        seen += line
        if (found := re.match(r"winner (\d+):", line)) and int(found[1]) >= iteration:
            break
    return seen


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def rows(path: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "samples_per_second"} for row in Run(path).metrics()]


def assert_same(ours: Path, theirs: Path) -> None:
    """Weights bit for bit, and every figure but the pace."""
    for name in ("best.safetensors", "snapshots/winner-000300.safetensors"):
        mine, others = load_file(ours / name), load_file(theirs / name)
        assert mine.keys() == others.keys()
        assert all(torch.equal(mine[key], others[key]) for key in mine), name
    assert rows(ours) == rows(theirs)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory, small_store: Store, forks: Forks) -> Path:
    """A training of two processes that nothing disturbed."""
    path = tmp_path_factory.mktemp("ranks") / "unbroken"
    trained(forks, command(small_store.path, path, "--devices", "2"), path.parent)
    return path


def test_two_processes_leave_a_run_as_one_does(unbroken: Path) -> None:
    info = Run(unbroken).info
    assert (info["finished"], info["iteration"]) == (True, 300)
    assert info["machine"].endswith("2 processes")
    assert (unbroken / "model.onnx").is_file()
    kinds = [row["kind"] for row in rows(unbroken)]
    assert (kinds.count("summary"), kinds.count("validation")) == (8, 6)  # of one process, not of each
    means = [row["accuracy"] for row in rows(unbroken) if row["kind"] == "summary"]
    assert means[-1] > means[0] > 0.4


def test_a_training_that_is_stopped_in_three_ways_goes_on_with_the_same_command(
    tmp_path: Path, small_store: Store, unbroken: Path, forks: Forks
) -> None:
    """One of its processes is killed, then the other, then Ctrl-C comes to one. It ends as if nothing had happened."""
    run = tmp_path / "run"
    words = command(small_store.path, run, "--devices", "2")
    for victim, from_iteration in (("child", 100), ("parent", 50)):
        with forks.started(START, *words, folder=tmp_path) as process:
            seen = until_validation(process, from_iteration)
            (child,) = children(process)
            os.kill(child if victim == "child" else process.pid, signal.SIGKILL)
            ended = process.communicate()  # ends when nobody has the pipe open: the child neither
            lines = [line for line in ended.err.splitlines() if line.startswith("error:")]
            said = "process 2 of 2 was killed (signal 9)" if victim == "child" else "another of the 2 processes ended"
            said = f"error: {said}, so training stopped. Run the same command again to resume from the last checkpoint."
            # If the parent is killed, nothing reads the pipe of the child, so the child may end before it prints.
            assert lines == [said] or (victim == "parent" and not lines), seen + ended.err
            assert ended.code == (1 if victim == "child" else -signal.SIGKILL)
            assert is_gone(child)
        assert "Traceback" not in ended.err
        assert 0 < torch.load(run / "last.pt", weights_only=True)["iteration"] < 300
    with forks.started(START, *words, folder=tmp_path) as process:
        seen = until_validation(process, 50)
        os.kill(children(process)[0], signal.SIGINT)
        ended = process.communicate()
    assert ended.code == 130, seen + ended.err
    assert Run(run).info["ended"] == "stopped"
    validated = int(seen.splitlines()[-1].split()[1].rstrip(":"))
    assert validated <= torch.load(run / "last.pt", weights_only=True)["iteration"] < 300
    trained(forks, words, tmp_path)
    assert_same(run, unbroken)


def test_torchrun(tmp_path: Path, small_store: Store, unbroken: Path) -> None:
    before = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "--", "kibitz.cli")
    words = [sys.executable, *before, *command(small_store.path, tmp_path / "run")]
    with subprocess.Popen(
        words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            said, _ = process.communicate(timeout=PATIENCE)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, said
    assert_same(tmp_path / "run", unbroken)


def on_two_machines(forks: Forks, store: Path, run: Path, first: list[str], second: list[str]) -> list[Ended]:
    """How two trainings end that meet at the second loopback address."""
    more = ("--num-nodes", "2", "--main-address", f"127.0.0.2:{free_port()}", "--node-rank")
    with (
        forks.started(START, *command(store, run, *more, "0", *first), folder=run.parent) as one,
        forks.started(START, *command(store, run.with_name("unused"), *more, "1", *second), folder=run.parent) as other,
    ):
        return [one.communicate(), other.communicate()]


def test_two_machines(tmp_path: Path, small_store: Store, unbroken: Path, forks: Forks) -> None:
    one, other = on_two_machines(forks, small_store.path, tmp_path / "run", [], [])
    assert (one.code, other.code) == (0, 0)
    assert re.fullmatch(r"note: 2 processes \w+ at 127\.0\.0\.2:\d+\n", other.err)
    assert_same(tmp_path / "run", unbroken)
    assert not (tmp_path / "unused").exists()


def test_two_machines_with_different_commands_are_told_so(tmp_path: Path, small_store: Store, forks: Forks) -> None:
    for ended in on_two_machines(forks, small_store.path, tmp_path / "run", [], ["--seed", "1"]):
        assert ended.code == 1
        assert mentions(ended.err.splitlines()[-1], "2 & process")


GRADIENTS = """
import json, os, sys
os.environ |= json.loads(sys.argv[3])
import numpy as np, torch
from safetensors.torch import save_file
from kibitz.store.store import Store
from kibitz.systems import load
from kibitz.training.dataloader import make_batch
from kibitz.training.ranks import Ranks, joined, resolve_rank

def gradients(ranks, name, settings, path):
    system = load(name)
    settings, store = system.settings_type(**settings), Store(path)
    torch.manual_seed(0)
    network, games = system.network(settings), system.games(store, settings)
    system.prepare(network, store, games, settings, 0)
    found = {}
    for stage in system.stages(network, settings):
        examples = stage.examples(store, games)
        batch = make_batch(examples, stage.batch, 0, 3, ranks.rank, ranks.world)
        torch.manual_seed(0)
        loss, measures = stage.loss(batch)
        optimiser = stage.optimiser()
        loss.backward()
        parameters = [p for group in optimiser.param_groups for p in group["params"]]
        ranks.add_gradients(parameters, len(next(iter(measures.values()))), [])
        here = {id(p): key for key, p in network.named_parameters()}
        found |= {f"{name} {stage.name} {here[id(p)]}": p.grad.clone() for p in parameters if p.grad is not None}
        for p in network.parameters():
            p.grad = None
    return found

cases = json.loads(sys.argv[1])
with joined(resolve_rank(None, None, None, None), "cpu") as ranks:
    found = {key: value for case in cases for key, value in gradients(ranks, *case).items()}
    if ranks.main:
        save_file(found, sys.argv[2])
"""


def test_two_processes_have_the_gradients_of_one(
    tmp_path: Path, small_store: Store, small_go_store: Store, forks: Forks
) -> None:
    """Of every system and stage, of a batch that two do not share evenly; and where one has none for a network. With
    batch normalisation of batches whose groups of 64 rows are not divided."""
    chess, movers = str(small_store.path), {"layers": "8conv3x3p1.ip16", "batch": 33}
    pairs = {**SMALL_PAIRS, "reuse": 3, "batch": 33, "nearer": True, "mirror": True}
    cases = [
        ("winner", {"layers": "8conv4x4.pool2x2.ip8", "dropout": 0.0, "batch": 33}, chess),
        ("winner", {"layers": "8conv4x4.pool2x2.ip8", "dropout": 0.0, "batch": 5, "separate": "side+phase"}, chess),
        ("convchess", movers, chess),
        ("chessnet", {**movers, "value_batch": 33}, chess),
        ("chessnet", {"share": "body", "layers": "8conv3x3p1.2*8res3x3", "batch": 33}, chess),
        ("deepchess", pairs, chess),
        ("human", {"blocks": 1, "filters": 16, "batch": 33, "norm": False}, chess),
        ("human", {"blocks": 2, "filters": 16, "batch": 128}, chess),
        ("gocnn", {"layers": "8conv5x5p2", "batch": 9}, str(small_go_store.path)),
        ("gohuman", {"blocks": 1, "filters": 16, "batch": 9, "norm": False}, str(small_go_store.path)),
        ("gohuman", {"blocks": 2, "filters": 16, "batch": 128}, str(small_go_store.path)),
    ]
    port = str(free_port())

    def process(rank: int, world: int, file: Path) -> contextlib.AbstractContextManager[Forked]:
        where = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world, "MASTER_PORT": port}
        variables = {**{name: str(value) for name, value in where.items()}, "MASTER_ADDR": "127.0.0.1"}
        return forks.started(GRADIENTS, json.dumps(cases), str(file), json.dumps(variables), folder=tmp_path)

    alone, both = tmp_path / "alone", tmp_path / "both"
    with process(0, 1, alone) as first, process(0, 2, both) as second, process(1, 2, both) as third:
        ended = [each.communicate() for each in (first, second, third)]
    assert [each.code for each in ended] == [0, 0, 0], ended
    one, two = load_file(alone), load_file(both)
    assert one.keys() == two.keys()
    assert {key.split()[0] for key in one} == {name for name, _, _ in cases}
    assert {"deepchess pos2vec-2", "deepchess distilled", "convchess king"} <= {" ".join(k.split()[:2]) for k in one}
    largest: dict[str, float] = {}  # of each stage: a bias before a softmax has a gradient of rounding errors alone
    for key, gradient in one.items():
        stage = key.rpartition(" ")[0]
        largest[stage] = max(largest.get(stage, 0.0), float(gradient.abs().max()))
    for key, gradient in one.items():
        off = float((two[key] - gradient).abs().max())
        assert off <= 3e-5 * largest[key.rpartition(" ")[0]], key


@pytest.mark.parametrize("world", [2, 3])
def test_parts_of_pairs_are_the_pairs(world: int, small_store: Store) -> None:
    """Every pair of the batch is in one part, with its positions and target."""
    settings = PairSettings(**{**SMALL_PAIRS, "reuse": 4, "nearer": True})
    games = np.flatnonzero(small_store.column("result") != 0)
    examples, ids = PairExamples(small_store, games, settings, 5), np.arange(40, 104)

    def pairs(rank: int, of: int) -> list[tuple[bytes, bytes, float]]:
        batch = part_of(examples, ids, 2, rank, of)
        positions = np.concatenate([batch["codes"], batch["state"]], 1)
        return [
            (positions[first].tobytes(), positions[second].tobytes(), float(target))
            for names in (("first", "second", "target"), ("more_first", "more_second", "more_target"))
            for first, second, target in zip(*(batch[name] for name in names), strict=True)
        ]

    assert len(pairs(0, 1)) == 64 + 16
    assert sorted(pair for rank in range(world) for pair in pairs(rank, world)) == sorted(pairs(0, 1))


def test_fewer_examples_than_processes_are_refused(small_store: Store) -> None:
    settings = PairSettings(**SMALL_PAIRS)
    examples = PairExamples(small_store, np.flatnonzero(small_store.column("result") != 0), settings)
    with pytest.raises(KibitzError, match=naming("--batch & 2 & 3 & --devices & processes")):
        make_batch(examples, 2, 0, 0, 0, 3)
    with pytest.raises(KibitzError, match=naming("1 & 2 & processes")):
        make_batch(examples, 4, 0, 0, 0, 2)


@pytest.mark.process
def test_who_does_not_train_need_not_wait_for_lightning() -> None:
    """Most tests need TrainConfig only."""
    script = "import sys, kibitz.training.trainer; assert 'lightning_fabric' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_fabric_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    """Lightning sets the level of its log as it is imported."""
    Ranks().fabric("cpu", "32-true")
    for name in ("lightning_fabric", "lightning_utilities.core.rank_zero"):
        assert logging.getLogger(name).level == logging.WARNING


def test_where_a_process_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    assert resolve_rank(None, None, None, None).world == 1
    assert resolve_rank(3, None, None, None) == ProcessRank(0, 3, 0, 3, "127.0.0.1", 0)
    assert resolve_rank(4, 2, 1, "big:77") == ProcessRank(4, 8, 0, 4, "big", 77)
    assert resolve_rank(4, 2, 1, "big") == ProcessRank(4, 8, 0, 4, "big", 29400)
    for given, message in (
        ((1, None, 1, None), "--num-nodes"),
        ((1, 2, None, "big"), "--node-rank from 0 to 1"),
        ((1, 2, 0, None), "--main-address"),
        ((1, 2, 2, "big"), "--node-rank .*got 2"),
        ((1, 2, 0, "big:port"), "HOST or HOST:PORT"),
        ((1, 2, 0, "big:99999"), "HOST or HOST:PORT"),
    ):
        with pytest.raises(UsageError, match=message):
            resolve_rank(*given)
    for name, value in {"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}.items():
        monkeypatch.setenv(name, value)
    assert resolve_rank(None, None, None, None) == ProcessRank(5, 8, 1, 4, "127.0.0.1", 29400, outside=True)
    with pytest.raises(UsageError, match=naming("4 & processes")):
        resolve_rank(2, None, None, None)
    with pytest.raises(UsageError, match=r"--num-nodes .*uses 2 .*got 3"):
        resolve_rank(4, 3, None, None)
