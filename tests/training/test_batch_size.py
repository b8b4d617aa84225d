"""`--batch auto`. No test needs a GPU: one is made up whose memory ends where the test says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from kibitz.cli import run as command
from kibitz.errors import UsageError
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems import load
from kibitz.systems.winner import Settings
from kibitz.training import batch_size, fit
from kibitz.training.batch_size import largest, step_fits
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig
from support.causes import mentions
from support.helpers import SMALL

QUICK = TrainConfig(5, 5, 5, 200, precision="32-true")
AUTO: Any = "auto"


@pytest.mark.parametrize(
    ("usual", "most", "memory", "expected"),
    [
        (1000, 10**9, 8000, 8000),
        (1000, 10**9, 7999, 4000),
        (1000, 3000, 8000, 2000),  # few examples
        (1000, 100, 8000, 1000),  # the recipe's batch, however few they are
        (1000, 10**9, 999, 500),
        (1000, 10**9, 200, 125),
        (1000, 10**9, 0, 1),  # it fails at the first step, and says why
    ],
)
def test_the_largest_that_fits(usual: int, most: int, memory: int, expected: int) -> None:
    tried: list[int] = []

    def fits(batch: int) -> bool:
        assert batch not in tried
        assert batch <= 2 * max(usual, memory)
        tried.append(batch)
        return batch <= memory

    assert largest(usual, most, fits) == expected
    assert max(tried, default=0) <= max(usual, most)


def test_a_step_fits_unless_memory_ends(small_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stage makes a whole step; what is wrong besides memory is no matter of size."""
    system, device = load("winner"), torch.device("cpu")
    settings = Settings(**SMALL, batch=64)  # type: ignore[arg-type]
    games = system.games(small_store, settings)
    assert step_fits(system, settings, small_store, games, QUICK, device)
    rows = []

    def full(stage: Any, batch: dict[str, torch.Tensor], *_: object) -> None:
        rows.append(len(batch["codes"]))
        raise torch.OutOfMemoryError

    monkeypatch.setattr(batch_size, "_step", full)
    assert not step_fits(system, replace(settings, batch=128), small_store, games, QUICK, device)
    assert rows == [128]


def test_a_training_finds_its_batch_once(small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same call goes on with what was found, though less fits by now. One with a number is another training."""
    monkeypatch.setattr(fit, "RUNS", tmp_path / "runs")
    asked: list[int] = []

    def find(system: Any, settings: Settings, *_: object) -> int:
        asked.append(settings.batch)
        return 64 if len(asked) == 1 else 32

    monkeypatch.setattr(fit, "find_batch", find)
    given = Settings(**SMALL, batch=AUTO, iterations=10)  # type: ignore[arg-type]
    said: list[str] = []
    stopped = train(
        "winner", given, str(small_store.path), plan=QUICK, log=said.append, on_progress=lambda p: p.iteration == 5
    )
    again = train("winner", given, str(small_store.path), plan=QUICK)
    assert asked == [load("winner").recipes["default"].settings.get("batch", 1024)]
    assert any("--batch auto: 64" in line for line in said)
    assert (stopped.outcome.reason, again.outcome.reason) == ("stopped", "all iterations done")
    assert again.path == stopped.path
    assert again.continued
    assert Run(again.path).settings.batch == 64
    assert Run(again.path).info["batch_found"]  # runs of earlier versions have this key, too
    named = train("winner", replace(given, batch=128), str(small_store.path), plan=QUICK)
    assert named.path != again.path
    assert asked == asked[:1]
    in_folder = train("winner", given, str(small_store.path), plan=QUICK, run=tmp_path / "r")
    assert Run(in_folder.path).settings.batch == 32
    assert train("winner", given, str(small_store.path), plan=QUICK, run=tmp_path / "r").continued


@pytest.mark.slow
def test_on_a_cpu_it_is_the_recipes(small_store: Store, tmp_path: Path) -> None:
    options = ["--batch", "auto", "--iterations", "2", "--layers", SMALL["layers"], "--device", "cpu"]
    run = tmp_path / "r"
    assert command(["train", "winner", str(small_store.path), "--run", str(run), *options]) == 0
    assert Run(run).settings.batch == load("winner").recipes["default"].settings.get("batch", 1024)


def test_where_it_means_nothing(small_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="got auto"):
        load("winner").check(Settings(batch=AUTO))
    assert command(["train", "winner", str(small_store.path), "--batch", "many"]) == 2
    assert mentions(" ".join(capsys.readouterr().err.split()), "auto & whole")
