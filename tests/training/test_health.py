"""A network that has died or learns nothing is noticed while it trains, and one that learns is left in peace."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
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
from kibitz.training.health import HealthCheck
from kibitz.training.trainer import TrainConfig, TrainProgress
from support.causes import mentions
from support.helpers import SMALL

PLAN = TrainConfig(10, 10, 1000, 500, precision="32-true")
THESIS = {"networks": "piece", "layers": "16conv3x3p1.24conv3x3p1.64conv3x3p1.ip256", "min_rating": 0, "iterations": 40}


def warnings(path: Path) -> list[dict[str, Any]]:
    return [row for row in Run(path).metrics() if row["kind"] == "warning"]


def test_adagrads_leap_is_noticed_and_the_training_goes_on(small_store: Store, tmp_path: Path) -> None:
    """The first step of the thesis' AdaGrad moves every weight by the learning rate. At the thesis' rate of 0.1, two
    thirds to nine tenths of the units die, depending on the rounding of the processor. At 0.5, most of them do.
    """
    notes: list[TrainProgress] = []
    given = chessnet.Settings(**THESIS, batch=250, accumulator=0.0, learning_rate=0.5)  # type: ignore[arg-type]
    done = train("chessnet", given, str(small_store.path), run=tmp_path / "r", plan=PLAN, on_progress=notes.append)
    assert done.outcome.iteration == 40
    (seen,) = [row for row in warnings(tmp_path / "r") if row["warning"] == "dead units"]
    assert seen["iteration"] <= 30
    assert "of the units of nets.piece." in seen["text"]
    assert "--recipe default" in seen["text"]
    assert [progress.note for progress in notes if "dead" in progress.note] == [f"warning: {seen['text']}"]


def test_units_are_not_dead_in_the_first_iteration(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layers before weights of 0, as in a new adapter, have no gradient in the first iteration."""
    checks: list[None] = []
    monkeypatch.setattr(HealthCheck, "dead_units", lambda *_: checks.append(None))
    given = Settings(**SMALL, batch=64, iterations=3)
    train("winner", given, str(small_store.path), run=tmp_path / "r", plan=replace(PLAN, validate_every=1))
    assert len(checks) == 2


def layers(**dead: float) -> tuple[nn.Module, torch.optim.Optimizer]:
    """A network with a layer of each name, of whose 20 units this share has no gradient (None: the layer has none)."""
    network = nn.Module()
    network.nets = nn.Module()
    for name, share in dead.items():
        part = nn.Module()
        part.layer, part.last = nn.Linear(3, 20), nn.Linear(20, 2)
        for p in part.parameters():
            p.grad = torch.ones_like(p)
        part.layer.bias.grad[: round(20 * share)] = 0
        setattr(network.nets, name, part)
    return network, torch.optim.SGD(network.parameters(), 0.1)


def check(network: nn.Module, optimiser: torch.optim.Optimizer) -> str:
    symptom = HealthCheck(SimpleNamespace(constant_loss=None), 100, None).dead_units(network, optimiser)  # type: ignore
    return symptom.text.split(" are dead")[0].replace("nets.", "") if symptom else ""


def test_layers_of_which_most_units_are_dead_are_named_the_worst_first() -> None:
    assert check(*layers(a=0.7, b=0.0)) == ""
    assert check(*layers(a=0.75, b=0.0)) == "75% of the units of a.layer"
    assert mentions(check(*layers(a=0.8, b=0.95, c=0.9)), "80% & b.layer & c.layer & a.layer & units")
    many = check(*layers(**{f"l{i}": 1 - i / 40 for i in range(8)}))
    assert many.endswith("of l0.layer, l1.layer, l2.layer, l3.layer, l4.layer, l5.layer and 2 layers more")
    assert many.startswith("80% or more")  # of 17.5 % of twenty units


def test_a_part_without_any_gradient_had_no_example_and_is_not_dead() -> None:
    network, optimiser = layers(a=1.0, b=0.0)
    for p in network.nets.a.parameters():  # type: ignore[union-attr]
        p.grad.zero_()  # type: ignore[union-attr]
    assert check(network, optimiser) == ""
    network.nets.a.last.bias.grad[0] = 1  # type: ignore[union-attr, index]
    assert check(network, optimiser) == "100% of the units of a.layer"
    assert check(*layers(a=1.0, c=1.0, b=0.0)).startswith("100% of")
    others = torch.optim.SGD(network.nets.b.parameters(), 0.1)  # type: ignore[union-attr]
    assert check(network, others) == "", "what is not trained here is another's business"


def test_a_loss_of_a_constant_answer_is_told_in_time() -> None:
    stage: Any = SimpleNamespace(constant_loss=lambda batch: 0.5)
    health = HealthCheck(stage, 1000, {})
    learned = [(99, 0.5, 0.5), (100, 0.49, 0.6), (100, 0.6, 0.49)]
    for iteration, training, validation in learned:
        assert health.learned_nothing(iteration, training, {"loss": validation}) is None
    symptom = health.learned_nothing(100, 0.4995, {"loss": 0.6})
    assert symptom
    assert symptom.kind == "learned nothing"
    assert mentions(symptom.text, "100 & 1,000 & 0.6000 & iterations")
    assert health.learned_nothing(100, 0.5, {}) is None
    assert HealthCheck(stage, 20, {}).learned_nothing(19, 0.5, {"loss": 0.5}) is None
    assert HealthCheck(stage, 20, {}).learned_nothing(20, 0.5, {"loss": 0.5})
    assert HealthCheck(stage, 1000, None).learned_nothing(500, 0.5, {"loss": 0.5}) is None


def test_a_network_that_stands_still_is_noticed_after_a_tenth(small_store: Store, tmp_path: Path) -> None:
    given = Settings(**{**SMALL, "learning_rate": 0.0, "initial": "mocha"}, batch=64, iterations=200)
    train("winner", given, str(small_store.path), run=tmp_path / "r", plan=PLAN)
    (seen,) = warnings(tmp_path / "r")
    assert seen["warning"] == "learned nothing"
    assert 20 <= seen["iteration"] <= 60  # by chance the first batches look better than later ones
    assert mentions(seen["text"], "0.6")


def test_one_that_learns_is_left_in_peace(small_run: Path) -> None:
    assert warnings(small_run) == []


def test_the_best_constant_answer_to_no_question() -> None:
    assert constant.of_shares(torch.zeros(0)) == constant.of_values(torch.zeros(0, 3)) == 0


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
