"""Batch normalisation by groups of rows: what it computes, what it remembers, and how a network without it gets it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor, nn

from kibitz.nets.batch_norm import BatchNorm, averages, norms
from kibitz.nets.build import ResidualBlock
from kibitz.nets.dead_units import prune, revive
from kibitz.nets.layers import Residual
from kibitz.runs import ONNX, Run
from kibitz.store.positions import Positions
from kibitz.store.store import Store
from kibitz.systems import gohuman, human
from kibitz.systems.base import settings_from
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig, TrainProgress

PLAN = TrainConfig(10, 20, 20, validate_positions=200, precision="32-true")
SMALL = human.Settings(blocks=2, filters=16, batch=64, warmup=4, iterations=20)


def values(rows: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, 5, 4, 3, generator=generator) * torch.tensor([1, 2, 0.1, 5, 1])[:, None, None] + 3


def ready(norm: BatchNorm) -> BatchNorm:
    with torch.no_grad():
        norm.weight.copy_(torch.linspace(0.5, 2, 5))
        norm.bias.copy_(torch.linspace(-1, 1, 5))
    return norm


def torchs(norm: BatchNorm) -> nn.BatchNorm2d:
    """torch's own, with the same weights and nothing remembered."""
    other = nn.BatchNorm2d(5)
    other.load_state_dict({"weight": norm.weight, "bias": norm.bias}, strict=False)
    return other


@pytest.mark.parametrize(
    ("rows", "groups"),
    [(1, [1]), (63, [63]), (64, [64]), (127, [127]), (128, [64, 64]), (200, [67, 67, 66])],
)
def test_each_group_by_itself(rows: int, groups: list[int]) -> None:
    norm, x = ready(BatchNorm(5)), values(rows)
    wanted = torch.cat([torchs(norm)(group) for group in x.split(groups)])
    torch.testing.assert_close(norm(x), wanted)
    assert int(norm.batches) == 1


@pytest.mark.parametrize("rows", [64, 256, 65 * 3])
def test_all_groups_at_once_as_a_gpu_computes_them(rows: int) -> None:
    """The same output, gradients and running averages as one group after the other."""
    one, all_at_once = ready(BatchNorm(5)).double(), ready(BatchNorm(5))
    groups = max(1, rows // BatchNorm.ROWS)
    for seed in range(3):
        results = []
        for norm in (one, all_at_once):
            x = values(rows, seed).to(norm.weight.dtype).to(memory_format=torch.channels_last).requires_grad_()
            norm.weight.grad = norm.bias.grad = None
            y = norm._of_groups(x) if norm is one else norm._together(x, groups)
            (y * values(rows, seed + 100)).sum().backward()
            assert x.grad is not None
            results.append([y.detach(), x.grad, norm.weight.grad, norm.bias.grad, *averages(norm)])
        for ours, theirs in zip(*results, strict=True):
            assert ours is not None
            assert theirs is not None
            torch.testing.assert_close(ours.float(), theirs.float(), rtol=1e-3, atol=5e-3)
    assert int(one.batches) == int(all_at_once.batches) == 3
    whole = ready(BatchNorm(5))._together(values(rows), 1)
    assert (groups == 1) == torch.allclose(whole, all_at_once._together(values(rows), groups), atol=1e-3)


def test_the_first_batch_is_remembered_and_then_the_last_ten() -> None:
    norm, x = ready(BatchNorm(5)), values(200)
    norm(x)
    torch.testing.assert_close(
        norm.running_mean, torch.stack([g.mean((0, 2, 3)) for g in x.split([67, 67, 66])]).mean(0)
    )
    other = torchs(norm).eval()
    other.running_mean, other.running_var = norm.running_mean, norm.running_square - norm.running_mean.square()  # type: ignore[assignment]
    torch.testing.assert_close(norm.eval()(x), other(x))
    norm.train()
    for i in range(400):
        norm(values(64, i) + 1)
    assert int(norm.batches) == 401
    assert float((norm.running_mean - 4).abs().max()) < 0.2
    spread = (norm.running_square - norm.running_mean.square()).sqrt()
    torch.testing.assert_close(spread, torch.tensor([1, 2, 0.1, 5, 1]), rtol=0.05, atol=0)


@pytest.mark.parametrize("why", ["evaluates", "no gradient", "held"])
def test_what_does_not_learn_answers_each_row_for_itself(why: str) -> None:
    norm = ready(BatchNorm(5))
    norm(values(64))
    if why == "evaluates":
        norm.eval()
    if why == "held":
        norm.requires_grad_(False)
    x, before = values(10, 1), [part.clone() for part in averages(norm)]
    with torch.set_grad_enabled(why != "no gradient"):
        torch.testing.assert_close(norm(x)[:1], norm(x[:1]))
    assert all(torch.equal(old, new) for old, new in zip(before, averages(norm), strict=True))
    assert int(norm.batches) == 1


def test_halves_of_a_batch_have_its_gradient_together() -> None:
    torch.manual_seed(3)
    block = ResidualBlock(8, Residual(8, 3, 3, norm=True))
    boards, weights = torch.randn(128, 8, 8, 8), torch.randn(128, 8, 8, 8)

    def gradients(part: slice) -> list[Tensor]:
        block.zero_grad()
        (block(boards[part]) * weights[part]).mean().backward()
        return [p.grad.clone() for p in block.parameters() if p.grad is not None]

    for whole, one, two in zip(gradients(slice(128)), gradients(slice(64)), gradients(slice(64, 128)), strict=True):
        torch.testing.assert_close(whole, (one + two) / 2)


def test_runs_of_before_have_none_and_new_ones_have() -> None:
    for settings in (human.Settings, gohuman.Settings):
        assert settings().norm
        assert not settings_from(settings, {"blocks": 3}).norm
        assert settings_from(settings, {"blocks": 3, "norm": True}).norm
    assert len(list(norms(human.Human(human.Settings(blocks=3))))) == 3
    assert not list(norms(human.Human(human.Settings(blocks=3, norm=False))))
    old = Path(__file__).parents[1] / "recorded" / "old" / "human"
    assert not list(norms(Run(old).load_network()))
    assert len(list(norms(Run("human").load_network()))) == 6


def test_a_network_without_gets_them_and_answers_as_before(small_store: Store, tmp_path: Path) -> None:
    """But for the squeezes, whose units leak from then on; here they do not."""
    one, two = tmp_path / "one", tmp_path / "two"
    train("human", replace(SMALL, norm=False), str(small_store.path), run=one, plan=PLAN)
    old = Run(one).load_network()
    with torch.no_grad():
        old.blocks[1].first.bias[:7] = -1e6  # type: ignore[index, union-attr]
    new = human.Human(SMALL)
    human.SYSTEM.prepare(new, small_store, human.SYSTEM.games(small_store, SMALL), SMALL, 0)
    new.load_state_dict(human.SYSTEM.adopt(new, "human", old.state_dict()))
    for block in new.blocks:
        block.leak = 0.0  # type: ignore[assignment]
    examples = human.PlayedMoves(small_store, np.arange(len(small_store)), SMALL)
    batch = {name: torch.from_numpy(part) for name, part in examples.batch(np.arange(192), 0).items()}
    given = batch["codes"], batch["state"]
    before = [answer.detach() for answer in old(*given)]
    for name, answer, wanted in zip(new.outputs, new.eval()(*given), before, strict=True):
        torch.testing.assert_close(answer, wanted, msg=name, atol=1e-5, rtol=1e-4)
    generator = torch.Generator().manual_seed(0)
    dead, units = revive(new, new.parameters(), lambda: new(*given), generator)
    assert dead >= 7
    assert units == 32 + 64 + 16, "of the blocks, of the conditions, before the moves"
    for name, answer, wanted in zip(new.outputs, new(*given), before, strict=True):
        torch.testing.assert_close(answer, wanted, msg=name, atol=1e-5, rtol=1e-4)
    new.train()
    for name, answer, wanted in zip(new.outputs, new(*given), before, strict=True):  # with statistics of this batch
        torch.testing.assert_close(answer, wanted, msg=name, atol=2e-2, rtol=2e-1)

    notes: list[TrainProgress] = []
    train("human", SMALL, str(small_store.path), run=two, plan=PLAN, start_from=str(one), on_progress=notes.append)
    assert len(list(norms(Run(two).load_network()))) == 2
    told = [note.note for note in notes if "dead" in note.note]
    assert len(told) <= 1, "the blocks live; of what comes before the moves a part may not"


def test_an_exported_network_has_them_in_its_convolutions(small_store: Store, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train("human", SMALL, str(small_store.path), run=run, plan=PLAN)
    kinds = {node.op_type for node in onnx.load(run / ONNX).graph.node}
    assert "Conv" in kinds
    assert not {"BatchNormalization", "InstanceNormalization"} & kinds
    import onnxruntime

    few = Positions(small_store, np.arange(len(small_store)), last=-2).batch(np.arange(20))
    state = np.concatenate([few.state, np.zeros((20, 8), np.uint8)], 1)
    said = onnxruntime.InferenceSession(run / ONNX).run(None, {"codes": few.codes, "state": state})
    network = Run(run).load_network()
    with torch.no_grad():
        for name, answer, wanted in zip(
            network.outputs, said, network(*map(torch.from_numpy, (few.codes, state))), strict=True
        ):  # type: ignore[arg-type]
            torch.testing.assert_close(torch.from_numpy(answer), wanted, msg=name, atol=1e-5, rtol=1e-4)


def test_dead_units_of_normalised_blocks() -> None:
    torch.manual_seed(1)
    network = nn.Sequential(*(ResidualBlock(8, Residual(8, 3, 3, norm=True)) for _ in range(2)))
    boards = torch.rand(70, 8, 8, 8)
    network(boards)
    with torch.no_grad():
        network[1].norm.bias[:3] = -1e6
    network.eval()
    before = network(boards).detach()
    assert revive(network, network.parameters(), lambda: network(boards), torch.Generator().manual_seed(0)) == (3, 16)
    torch.testing.assert_close(network(boards), before)
    assert revive(network, network.parameters(), lambda: network(boards), torch.Generator().manual_seed(0)) == (0, 16)
    with torch.no_grad():
        network[1].norm.bias[2:5] = -1e6
    before = network(boards).detach()
    assert prune(network, lambda: network(boards)) == (3, 16)
    assert network[1].first.weight.shape == (5, 8, 3, 3)
    torch.testing.assert_close(network(boards), before)
