"""Dead units of residual blocks: found, drawn anew, and nothing is said differently for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from kibitz.nets.build import ResidualBlock
from kibitz.nets.dead_units import branches, prune, revive
from kibitz.nets.layers import Residual
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems import human
from kibitz.systems.gohuman import Block, BoardMask, GameConditions
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig, TrainProgress


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def kill(block: Any, units: slice) -> None:
    with torch.no_grad():
        block.first.bias[units] = -1e6


def alive(block: Any, answer: Any) -> Tensor:
    """Which channels of what the second convolution gets are above 0 anywhere."""
    seen: list[Tensor] = []
    with block.second.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0])):
        answer()
    return (seen[0] > 0).transpose(0, 1).flatten(1).any(1)


@pytest.mark.parametrize("units", [slice(0), slice(3), slice(8)])
def test_dead_units_live_and_nothing_is_said_differently(units: slice) -> None:
    torch.manual_seed(1)
    network = nn.Sequential(*(ResidualBlock(8, Residual(8, 3, 3)) for _ in range(2)))
    kill(network[1], units)
    boards = torch.rand(50, 8, 8, 8, generator=drawn())
    before, old = network(boards).detach(), {name: value.clone() for name, value in network.state_dict().items()}
    assert alive(network[1], lambda: network(boards)).tolist() == [i >= units.stop for i in range(8)]
    assert revive(network, network.parameters(), lambda: network(boards), drawn()) == (units.stop, 16)
    torch.testing.assert_close(network(boards), before)
    assert alive(network[1], lambda: network(boards)).all()
    new = network.state_dict()
    for name in ("0.first.weight", "0.second.weight"):
        assert torch.equal(old[name], new[name]), "those that live stay as they are"
    assert torch.equal(old["1.first.weight"][units.stop :], new["1.first.weight"][units.stop :])
    network(boards).sum().backward()
    assert network[1].second.weight.grad[:, units].abs().sum() > 0 or not units.stop, "and they are heard of"


@pytest.mark.parametrize("units", [slice(12), slice(2, 7), slice(4, 12)])
@pytest.mark.parametrize("silent", [True, False])
def test_blocks_that_see_the_whole_board(units: slice, silent: bool) -> None:
    """silent: the units are dead before something is added to them from the whole board, too. The first four are what
    is seen of it, and others hear them."""
    torch.manual_seed(2)
    block = Block(12, 4)
    with torch.no_grad():
        block.spread.bias[units] = -1e6
        if silent:
            kill(block, units)
    board = BoardMask(torch.ones(20, 1, 19, 19), torch.full((20, 1), 361.0), torch.full((20, 1), 0.5))
    told = torch.rand(20, GameConditions.WIDTH, generator=drawn())
    boards = torch.rand(20, 12, 19, 19, generator=drawn(1))
    before = block(boards, board, told).detach()
    dead = units.stop - (units.start or 0)
    assert revive(block, block.parameters(), lambda: block(boards, board, told), drawn()) == (dead, 12)
    torch.testing.assert_close(block(boards, board, told), before)
    now = alive(block, lambda: block(boards, board, told))
    unheard = now if dead == 12 or not silent else now[4:]
    assert unheard.all()


def test_what_does_not_learn_stays() -> None:
    block = ResidualBlock(8, Residual(8, 3, 3))
    kill(block, slice(8))
    boards = torch.rand(5, 8, 8, 8)
    assert not list(branches(block, [block.first.weight]))
    assert revive(block, [], lambda: block(boards), drawn()) == (0, 0)
    assert block.first.bias.max() < -1e5


def test_a_training_that_goes_on_says_it(small_store: Store, tmp_path: Path) -> None:
    plan = TrainConfig(10, 20, 20, validate_positions=200, precision="32-true")
    settings = human.Settings(blocks=2, filters=16, norm=False, batch=32, warmup=4, iterations=4)
    train("human", settings, str(small_store.path), run=tmp_path / "one", plan=plan)
    weights = tmp_path / "one" / "best.safetensors"
    changed = load_file(weights)
    changed["blocks.1.first.bias"][:] = -1e6
    save_file(changed, weights)
    notes: list[TrainProgress] = []
    train(
        "human", settings, str(small_store.path), run=tmp_path / "two", plan=plan, start_from=str(tmp_path / "one"),
        on_progress=notes.append,
    )  # fmt: skip
    assert any("16 of 32 units of residual blocks were dead: drawn anew" in note.note for note in notes)
    warned = [row for row in Run(tmp_path / "two").metrics() if row["kind"] == "warning"]
    assert [row["warning"] for row in warned].count("revived") == 1
    assert Run(tmp_path / "two").load_network().state_dict()["blocks.1.first.bias"].min() > -1


@pytest.mark.parametrize("units", [slice(0), slice(3), slice(8)])
def test_what_is_pruned_answers_as_before(units: slice) -> None:
    torch.manual_seed(1)
    network = nn.Sequential(*(ResidualBlock(8, Residual(8, 3, 3)) for _ in range(2)))
    kill(network[1], units)
    boards = torch.rand(50, 8, 8, 8, generator=drawn())
    before = network(boards).detach()
    left = max(1, 8 - units.stop)
    assert prune(network, lambda: network(boards)) == (8 - left, 16)
    assert network[1].first.weight.shape == (left, 8, 3, 3)
    assert network[1].second.weight.shape == (8, left, 3, 3)
    assert network[0].first.weight.shape == (8, 8, 3, 3)
    torch.testing.assert_close(network(boards), before)


@pytest.mark.parametrize(("units", "taken"), [(slice(12), 11), (slice(2, 7), 0)])
def test_blocks_that_see_the_whole_board_are_pruned_where_all_of_them_is_dead(units: slice, taken: int) -> None:
    torch.manual_seed(2)
    block = Block(12, 4)
    with torch.no_grad():
        block.spread.bias[units] = -1e6
    board = BoardMask(torch.ones(20, 1, 19, 19), torch.full((20, 1), 361.0), torch.full((20, 1), 0.5))
    told = torch.rand(20, GameConditions.WIDTH, generator=drawn())
    boards = torch.rand(20, 12, 19, 19, generator=drawn(1))
    before = block(boards, board, told).detach()
    assert prune(block, lambda: block(boards, board, told)) == (taken, 12)
    torch.testing.assert_close(block(boards, board, told), before)


def test_dead_units_of_squeezes_live_and_nothing_is_said_differently() -> None:
    torch.manual_seed(4)
    block = human.ConditionedBlock(8)
    with torch.no_grad():
        block.squeeze.bias[:20] = -1e6
    boards, told = torch.rand(30, 8, 8, 8), torch.rand(30, human.Conditions.WIDTH)
    before = block(boards, told).detach()
    revive(block, [block.first.weight], lambda: block(boards, told), drawn())
    assert block.squeeze.bias.min() < -1e5, "these do not learn"
    revive(block, block.parameters(), lambda: block(boards, told), drawn())
    torch.testing.assert_close(block(boards, told), before)
    block(boards, told).square().sum().backward()
    assert (block.excite.weight.grad[:, :20].abs().sum(0) > 0).float().mean() > 0.7
