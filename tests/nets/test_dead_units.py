"""Dead units of residual blocks: found, drawn anew, and nothing is said differently for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from kibitz.games.go.replay import SIZE
from kibitz.nets.build import ResidualBlock
from kibitz.nets.dead_units import branches, prune, revive
from kibitz.nets.layers import Residual
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems import gohuman, human
from kibitz.systems.gohuman import Block, BoardMask, GameConditions
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig, TrainProgress
from support.causes import mentions


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
    assert network[1].second.weight.grad[:, units].abs().sum() > 0 or not units.stop, "and they are consumed_units of"


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
    assert any(mentions(note.note, "units") for note in notes)
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


def test_squeezes_that_leak_never_die() -> None:
    torch.manual_seed(4)
    block = human.ConditionedBlock(8, norm=True)
    with torch.no_grad():
        block.squeeze.bias[:20] = -100
    boards, told = torch.rand(30, 8, 8, 8), torch.rand(30, human.Conditions.WIDTH)
    revive(block, block.parameters(), lambda: block(boards, told), drawn())
    assert (block.squeeze.bias[:20] < -90).all()


def random_positions(game: str, n: int = 64) -> tuple[Tensor, Tensor]:
    """Boards with anything on them, with and without an edge, and any side inputs."""
    draw = drawn(7)
    if game == "chess":
        return torch.randint(0, 13, (n, 64), generator=draw).byte(), torch.randint(0, 2, (n, 12), generator=draw).byte()
    codes, state = torch.randint(0, 3, (n, 19, 19), generator=draw), torch.randint(0, 2, (n, 10), generator=draw)
    codes[::2, 9:] = codes[::2, :, 9:] = 14  # outside the board
    state[:, SIZE] = torch.where(torch.arange(n) % 2 == 0, 9, 19)
    return codes.flatten(1).byte(), state.byte()


@pytest.mark.parametrize(
    ("network", "game"),
    [
        (human.Human(human.Settings(blocks=2, filters=16, norm=False)), "chess"),
        (gohuman.GoHuman(gohuman.Settings(blocks=3, filters=16, norm=False)), "go"),
    ],
)
def test_units_that_the_network_tells_live_too(network: Any, game: str) -> None:
    """Three units of each layer that it names are killed: nothing is said differently, and they live and are heard."""
    codes, state = random_positions(game)
    for p in network.parameters():
        torch.nn.init.normal_(p, 0, 0.05, generator=drawn(3))
    layers = list(network.consumed_units())
    revive(network, network.parameters(), lambda: network(codes, state), drawn())
    with torch.no_grad():
        for units in layers:
            for layer, begins in units.by:  # what revived units are consumed_units by is 0 until it learns
                for begin in begins:
                    torch.nn.init.normal_(layer.weight[:, begin : begin + len(units.layer.weight)], 0, 0.05)
            units.layer.bias[:3] = -1e6
    before = [part.detach() for part in network(codes, state)]
    dead, of = revive(network, network.parameters(), lambda: network(codes, state), drawn())
    assert 3 * len(layers) <= dead < of
    for old, new in zip(before, network(codes, state), strict=True):
        torch.testing.assert_close(new, old, rtol=1e-3, atol=1e-3)
    again, _ = revive(network, network.parameters(), lambda: network(codes, state), drawn())
    assert again < dead
    assert all(units.layer.bias.min() > -1 for units in layers)
