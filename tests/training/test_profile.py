"""Where the time of a training goes, and optimisers that change their device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from kibitz.cli import run
from kibitz.nets.optim import make_optimiser, move_optimiser
from kibitz.store.store import Store
from kibitz.training.profile import REPLAY, Profile

SMALL = ["--layers", "16conv4x4.pool2x2.ip8", "--batch", "64", "--iterations", "20", "--device", "cpu"]


def test_it_names_each_part(small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "winner", str(small_store.path), "--run", str(tmp_path / "r"), *SMALL, "--profile"]
    assert run([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    rows = {row["part"]: row for row in told["profile"]}
    assert list(rows) == [REPLAY, "wait", "copy", "forward", "backward", "step", "figures", "validation", "checkpoint"]
    assert rows[REPLAY]["share"] is None
    assert sum(row["share"] for row in rows.values() if row["share"] is not None) == pytest.approx(1, abs=0.001)
    assert 0 < sum(row["seconds"] for name, row in rows.items() if name != REPLAY) <= told["seconds"] + 0.1
    assert rows["forward"]["ms_an_iteration"] == pytest.approx(50 * rows["forward"]["seconds"], abs=0.05)


def test_a_finished_training_has_none(small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "winner", str(small_store.path), "--run", str(tmp_path / "r"), *SMALL]
    assert run([*words, "--profile"]) == 0
    table = capsys.readouterr().out
    assert "where the time went" in table
    assert "waiting for a batch" in table
    assert run([*words, "--profile"]) == 0
    assert "where the time went" not in capsys.readouterr().out


def test_shares_are_of_all_but_the_making_of_batches() -> None:
    profile = Profile(on=True, seconds={"backward": 3.0, "forward": 1.0, REPLAY: 6.0}, iterations=8)
    assert profile.rows() == [
        {"part": REPLAY, "seconds": 6.0, "share": None, "ms_an_iteration": 750.0},
        {"part": "forward", "seconds": 1.0, "share": 0.25, "ms_an_iteration": 125.0},
        {"part": "backward", "seconds": 3.0, "share": 0.75, "ms_an_iteration": 375.0},
    ]
    assert Profile(on=True, seconds={"forward": 0.0}).rows()[0]["share"] == 0


def test_times_and_shares_are_rounded() -> None:
    profile = Profile(on=True, seconds={"forward": 1.23456789, "step": 0.0123456, REPLAY: 2.34567}, iterations=7)
    assert profile.rows() == [
        {"part": REPLAY, "seconds": 2.346, "share": None, "ms_an_iteration": 335.096},
        {"part": "forward", "seconds": 1.235, "share": 0.9901, "ms_an_iteration": 176.367},
        {"part": "step", "seconds": 0.012, "share": 0.0099, "ms_an_iteration": 1.764},
    ]
    assert Profile(on=True, seconds={"step": 0.5}).rows()[0]["ms_an_iteration"] == 500  # before the first iteration


def test_a_part_waits_for_the_device_and_the_making_of_batches_does_not() -> None:
    waits: list[None] = []
    profile = Profile(on=True, wait_for_device=lambda: waits.append(None))
    for name in ("forward", REPLAY, "forward"):
        with profile.part(name):
            pass
    assert len(waits) == 2
    assert set(profile.seconds) == {"forward", REPLAY}
    assert min(profile.seconds.values()) > 0


def test_nothing_is_measured_unless_asked_for() -> None:
    profile = Profile()
    with profile.part("forward"):
        pass
    assert profile.rows() == []


@pytest.mark.parametrize("name", ["adamw", "sgd", "rmsprop", "adagrad", "muon"])
def test_an_optimiser_goes_on_where_its_weights_are(name: str) -> None:
    """Fused steps, which a CPU makes too, are the same steps; so are those after going back."""

    def trained(places: list[bool]) -> torch.Tensor:
        torch.manual_seed(1)
        layer = nn.Conv2d(3, 4, 3)
        inputs, state = torch.randn(8, 3, 5, 5), None
        for on_gpu in places:
            optimiser = make_optimiser(name, layer, weight_decay=0.01)
            if state is not None:
                optimiser.load_state_dict(state)
            move_optimiser(optimiser, on_gpu)
            assert [bool(group.get("fused")) for group in optimiser.param_groups] == [
                on_gpu and name in ("adamw", "sgd") for _ in optimiser.param_groups
            ]
            for group in optimiser.param_groups:
                group["lr"] = 0.01
            for _ in range(3):
                layer(inputs).square().mean().backward()
                optimiser.step()
                optimiser.zero_grad()
            state = optimiser.state_dict()
        return layer.weight.detach()

    torch.testing.assert_close(trained([False, True, False]), trained([False, False, False]))
