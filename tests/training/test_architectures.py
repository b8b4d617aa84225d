"""The architectures that bench/architectures.py compares: each learns, and begins as it should."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from kibitz.store.store import Store
from kibitz.systems.human import PlayedMoves, Settings, loss
from kibitz.training.dataloader import make_batch

BENCH = Path(__file__).parents[2] / "bench" / "architectures.py"
NAMES = ("trunk", "narrow", "mixing", "attention", "planes", "normuon")


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("architectures", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["architectures"] = module
    spec.loader.exec_module(module)
    return module


def test_all_six_are_there(bench: ModuleType) -> None:
    assert tuple(bench.ARCHITECTURES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_architecture_learns(bench: ModuleType, small_store: Store, name: str) -> None:
    """Some steps on one batch lower its loss, and every weight has a gradient."""
    architecture = bench.ARCHITECTURES[name]
    network = architecture.network(0)
    batch = make_batch(PlayedMoves(small_store, np.arange(50), Settings()), 16, 0, 0)
    optimizer = architecture.optimizer(network, 0.01)
    losses = []
    for _ in range(4):
        value, _ = loss(network, batch, 0.5)
        value.backward()
        optimizer.step()
        losses.append(float(value.detach()))
        missing = [key for key, p in network.named_parameters() if p.grad is None and not key.startswith("promotion")]
        assert missing == []
        optimizer.zero_grad()
        for group in optimizer.param_groups:
            group["lr"] = 0.005
    assert losses[-1] < losses[0]
    other = architecture.network(0)
    assert all(torch.equal(a, b) for a, b in zip(other.parameters(), architecture.network(0).parameters(), strict=True))


def test_the_table(bench: ModuleType, small_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(
        [str(small_store.path), "--minutes", "0.002", "--only", "trunk", "--seeds", "1", "--batch", "8", "--json"]
    )
    row = json.loads(capsys.readouterr().out)
    assert row["architecture"] == "trunk"
    assert row["positions"] % 8 == 0
    assert 0 < row["move_loss"] < 20
