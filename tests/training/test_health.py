"""A network that has died or learns nothing is noticed while it trains, and one that learns is left in peace."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from kibitz.nets import constant
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems import chessnet
from kibitz.systems.winner import Settings
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig, TrainProgress
from support.helpers import SMALL

PLAN = TrainConfig(10, 10, 1000, 500, precision="32-true")
THESIS = {"networks": "piece", "layers": "16conv3x3p1.24conv3x3p1.64conv3x3p1.ip256", "min_rating": 0, "iterations": 40}


def warnings(path: Path) -> list[dict[str, Any]]:
    return [row for row in Run(path).metrics() if row["kind"] == "warning"]


def test_adagrads_leap_is_noticed_and_the_training_goes_on(small_store: Store, tmp_path: Path) -> None:
    """The thesis to the letter: its first step moves every weight by 0.1."""
    notes: list[TrainProgress] = []
    given = chessnet.Settings(**THESIS, batch=250, accumulator=0.0)  # type: ignore[arg-type]
    done = train("chessnet", given, str(small_store.path), run=tmp_path / "r", plan=PLAN, on_progress=notes.append)
    assert done.outcome.iteration == 40
    (seen,) = [row for row in warnings(tmp_path / "r") if row["warning"] == "dead units"]
    assert seen["iteration"] <= 30
    assert "of the units of nets.piece." in seen["text"]
    assert "--recipe default" in seen["text"]
    assert [progress.note for progress in notes if "dead" in progress.note] == [f"warning: {seen['text']}"]


def test_a_network_that_stands_still_is_noticed_after_a_tenth(small_store: Store, tmp_path: Path) -> None:
    given = Settings(**{**SMALL, "learning_rate": 0.0, "initial": "mocha"}, batch=64, iterations=200)
    train("winner", given, str(small_store.path), run=tmp_path / "r", plan=PLAN)
    (seen,) = warnings(tmp_path / "r")
    assert (seen["warning"], seen["iteration"]) == ("learned nothing", 50)
    assert "always giving the same answer (0.6" in seen["text"]


def test_one_that_learns_is_left_in_peace(small_run: Path) -> None:
    assert warnings(small_run) == []


def test_the_best_constant_answers() -> None:
    generator = torch.Generator().manual_seed(1)
    target = (torch.rand(1000, generator=generator) < 0.3).float()
    share = target.mean()
    wanted = nn.functional.binary_cross_entropy(share.expand(1000), target)
    assert float(constant.of_shares(target)) == pytest.approx(float(wanted), abs=1e-6)
    labels = torch.randint(0, 5, (1000,), generator=generator)
    logits = torch.bincount(labels, minlength=64).float().log().expand(1000, 64)
    wanted = nn.functional.cross_entropy(logits, labels)
    assert float(constant.of_labels(labels)) == pytest.approx(float(wanted), abs=1e-6)
    values = torch.randn(1000, generator=generator)
    assert float(constant.of_values(values)) == pytest.approx(float(((values - values.mean()) ** 2).mean()), abs=1e-5)
