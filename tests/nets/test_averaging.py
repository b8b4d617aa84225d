"""Averaged weights: the mean that they are, in the network for a moment, and through a checkpoint."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from kibitz.nets.averaging import AveragedWeights
from kibitz.nets.batch_norm import BatchNorm


def network() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Conv2d(1, 2, 1), BatchNorm(2))


def change(net: nn.Module, value: float) -> None:
    with torch.no_grad():
        for p in net.parameters():
            p.fill_(value)


def test_the_first_iterations_count_equally_and_later_ones_fade() -> None:
    net = network()
    averages = AveragedWeights(net, 4)
    expected = 0.0
    for step, value in enumerate([1.0, 2.0, 6.0, 3.0, 8.0, 0.0]):
        change(net, value)
        averages.update()
        expected += (value - expected) * max(1 / (step + 1), 1 / 4)
    with averages.averaged_weights():
        assert all(p.eq(p.flatten()[0]).all() for p in net.parameters())
        assert next(net.parameters()).flatten()[0].item() == pytest.approx(expected)
    assert next(net.parameters()).abs().max() == 0, "the network has its own weights again"


def test_no_iteration_changes_nothing() -> None:
    net = network()
    before = copy.deepcopy(net.state_dict())
    with AveragedWeights(net, 4).averaged_weights():
        assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())


def test_a_checkpoint_goes_on_to_the_same_means() -> None:
    net = network()
    whole, first = AveragedWeights(net, 3), AveragedWeights(net, 3)
    for value in (1.0, 5.0):
        change(net, value)
        whole.update()
        first.update()
    second = AveragedWeights(net, 3)
    second.load(copy.deepcopy(first.state()))
    for value in (2.0, 7.0):
        change(net, value)
        whole.update()
        second.update()
    assert all(torch.equal(whole.state()["means"][name], mean) for name, mean in second.state()["means"].items())
    with pytest.raises(KeyError):
        AveragedWeights(nn.Linear(1, 1), 3).load(first.state())
