"""Find, replace and remove dead units: units that are 0 after their ReLU for every example. Dead units get no gradient,
so training can't reactivate them.

At high learning rates, all units of a block can die while the loss still falls, so the network silently becomes
shallower. A training run that starts from such a network first replaces the dead units by new ones (`revive`). A
network that is only used for inference doesn't need dead units (`prune`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from kibitz.nets.batch_norm import BatchNorm


@dataclass(frozen=True)
class ConsumedUnits:
    """The units of one layer outside of residual blocks, and the layers that use them as input. A unit is one output of
    `layer` after a ReLU. A network's method `consumed_units` returns a ConsumedUnits for each such layer.

    layer: the layer that computes the units.
    by: the layers that use the units, each with a list of indices. An index is the place in the layer's input (a column
        or channel) where a copy of the units begins. There are several copies if the units are pooled in several ways.
    added: layers whose outputs are added to those of `layer` before the ReLU.
    """

    layer: nn.Linear | nn.Conv2d
    by: Sequence[tuple[nn.Linear | nn.Conv2d, Sequence[int]]]
    added: Sequence[nn.Linear] = ()


class Branch(Protocol):
    """The interface of a residual block: the convolutions `first` and `second`, and between them `norm`, a BatchNorm or
    an nn.Identity.

    A block with global pooling also has a linear layer `spread`, and an integer `pooled`. The input of `spread` is
    pooled from the first `pooled` channels over the whole board. The output of `spread` is added to all channels
    between the convolutions.
    """

    first: nn.Conv2d
    norm: nn.Module
    second: nn.Conv2d


def branches(network: nn.Module, learning: Iterable[Tensor]) -> Iterator[Branch]:
    """Yield the residual blocks of a network in which both convolutions are trained. learning: all weights that are
    trained.
    """
    learns = {id(weight) for weight in learning}
    for module in network.modules():
        pair = getattr(module, "first", None), getattr(module, "second", None)
        if all(isinstance(part, nn.Conv2d) and id(part.weight) in learns for part in pair):
            yield cast(Branch, module)


def revive(
    network: nn.Module, learning: Iterable[Tensor], answer: Callable[[], object], generator: torch.Generator
) -> tuple[int, int]:
    """Give new random weights to dead units, which are 0 for all examples. Return the number of dead units and the
    number of all units.

    The function searches residual blocks, squeeze-and-excitation blocks, and the layers in the network's
    `consumed_units`. The returned numbers don't include squeeze-and-excitation blocks.

    A unit of a residual block is a channel between the two convolutions. It is dead if it is 0 on every square in all
    examples. Its new filter in the first convolution is random, with variance 2 / fan-in. Its weights in the second
    convolution become 0, so the network's outputs don't change. Before the search, each normalization layer that has
    not processed a batch yet is set to the identity.

    learning: the weights that are trained. Other weights stay unchanged.
    answer: a function that runs the network on several hundred examples. Meanwhile, hooks record which units are
        active.
    generator: the random number generator for the new weights.
    """
    learning = list(learning)
    blocks = list(branches(network, learning))
    _begin_norms([block.norm for block in blocks if isinstance(block.norm, BatchNorm)], answer)
    _revive_squeezes(network, learning, answer, generator)
    dead, units = _revive_consumed(network, learning, answer, generator)
    for block, of in zip(blocks, _watch(blocks, answer), strict=True):
        if of.alive is None:  # no example passed through this block
            continue
        _redraw(block, ~of.alive, generator)
        dead += int((~of.alive).sum())
        units += len(of.alive)
    return dead, units


def prune(network: nn.Module, answer: Callable[[], object]) -> tuple[int, int]:
    """Remove the dead units of residual blocks, to make inference faster. Return the number of removed units and the
    number of all units.

    A unit is dead if it is 0 for all examples. The network's outputs stay the same for all positions in which the
    removed units are 0. If all units of a block are dead, one unit remains, without effect. In a block with global
    pooling, the function removes units only if all units of the block are dead.

    answer: a function that runs the network on examples. Meanwhile, hooks record which units are active. Use thousands
    of examples, because a removed unit can't be restored.
    """
    blocks = list(branches(network, network.parameters()))
    dead, units = 0, 0
    for block, of in zip(blocks, _watch(blocks, answer), strict=True):
        if of.alive is None:
            continue
        spread = getattr(block, "spread", None)
        living = int(of.alive.sum())
        units += len(of.alive)
        if living == len(of.alive) or (spread is not None and living):
            continue
        dead += len(of.alive) - max(1, living)
        _narrow(block, of.alive)
    return dead, units


@torch.no_grad()
def _narrow(block: Branch, alive: Tensor) -> None:
    """Remove the dead units of a block. If all are dead, one unit stays, with weights of 0 in the next layer."""
    alive_units = alive.nonzero().flatten() if alive.any() else torch.tensor([0])
    first, second = block.first, block.second
    first.weight = nn.Parameter(first.weight[alive_units])
    if first.bias is not None:
        first.bias = nn.Parameter(first.bias[alive_units])
    if isinstance(block.norm, BatchNorm):
        block.norm.keep(alive_units)
    second.weight = nn.Parameter(second.weight[:, alive_units] * float(alive.any()))
    first.out_channels = second.in_channels = len(alive_units)
    # A block with `spread` is narrowed only if all its units are dead. The weights of the next layer are then 0, so
    # `spread` has no effect.
    if getattr(block, "spread", None) is not None:
        block.spread = None  # type: ignore[attr-defined]


def _watch(blocks: list[Branch], answer: Callable[[], object]) -> list[_Seen]:
    """Run the network by a call of `answer`, and return which channels are active at the input of each block's second
    convolution.
    """
    return _watch_inputs([block.second for block in blocks], answer)


def _watch_inputs(layers: Iterable[nn.Module], answer: Callable[[], object]) -> list[_Seen]:
    """Run the network by a call of `answer`, and return which channels are active at the input of each layer."""
    seen = []
    with contextlib.ExitStack() as hooks, torch.no_grad():
        for layer in layers:
            seen.append(_Seen())
            hooks.callback(layer.register_forward_pre_hook(seen[-1].note_input).remove)
        answer()
    return seen


def _begin_norms(norms: list[BatchNorm], answer: Callable[[], object]) -> None:
    """Set the normalization layers that have not processed a batch yet to identities."""
    new = [norm for norm in norms if not norm.batches]
    passed: list[Tensor] = []
    with contextlib.ExitStack() as hooks, torch.no_grad():
        for norm in new:
            hooks.callback(norm.register_forward_pre_hook(lambda module, inputs: passed.append(inputs[0])).remove)
        answer()
    for norm, x in zip(new, passed, strict=True):
        norm.begin_as_nothing(x)


def _revive_squeezes(
    network: nn.Module, learning: Iterable[Tensor], answer: Callable[[], object], generator: torch.Generator
) -> None:
    """Revive the dead units of linear layers `squeeze`, whose outputs are the inputs of a layer `excite`.

    Units with leaky ReLUs are never dead.
    """
    learns = {id(weight) for weight in learning}
    pairs = []
    for module in network.modules():
        squeeze, excite = getattr(module, "squeeze", None), getattr(module, "excite", None)
        leaks = bool(getattr(module, "leak", 0))
        if isinstance(squeeze, nn.Linear) and isinstance(excite, nn.Linear) and id(squeeze.weight) in learns:
            pairs += [] if leaks else [ConsumedUnits(squeeze, [(excite, [0])])]
    _revive_units(pairs, answer, generator)


def _revive_consumed(
    network: nn.Module, learning: Iterable[Tensor], answer: Callable[[], object], generator: torch.Generator
) -> tuple[int, int]:
    """Revive the dead units that the network's method `consumed_units` yields. Returns the number of dead units and of
    all units.
    """
    learns = {id(weight) for weight in learning}
    named_units: Iterable[ConsumedUnits] = getattr(network, "consumed_units", tuple)()
    return _revive_units([units for units in named_units if id(units.layer.weight) in learns], answer, generator)


@torch.no_grad()
def _revive_units(
    groups: Sequence[ConsumedUnits], answer: Callable[[], object], generator: torch.Generator
) -> tuple[int, int]:
    """Give new weights to the dead units in some groups, and weights of 0 in the next layers.

    Returns the number of dead units and of all units.
    """
    found, units = 0, 0
    for group, of in zip(groups, _watch_inputs([group.by[0][0] for group in groups], answer), strict=True):
        if of.alive is None:
            continue
        layer, begin = group.layer, group.by[0][1][0]
        n = len(layer.weight)
        dead = ~of.alive[begin : begin + n]
        fresh = torch.empty(layer.weight.shape).normal_(0, (2 / layer.weight[0].numel()) ** 0.5, generator=generator)
        layer.weight[dead] = fresh.to(layer.weight)[dead]
        cast(Tensor, layer.bias)[dead] = 0
        for more in group.added:
            more.weight[dead] = 0
            more.bias[dead] = 0
        for listener, begins in group.by:
            for begin in begins:
                listener.weight[:, begin : begin + n][:, dead] = 0
        found += int(dead.sum())
        units += n
    return found, units


class _Seen:
    """Which channels were above 0 for any input, bool [channels]; None before the first input."""

    def __init__(self) -> None:
        self.alive: Tensor | None = None

    def note_input(self, module: nn.Module, inputs: tuple[Tensor]) -> None:
        """Record which channels of a layer's input are above 0 anywhere. torch calls this method as a forward hook."""
        positive = (inputs[0] > 0).transpose(0, 1).flatten(1).any(1)
        self.alive = positive if self.alive is None else self.alive | positive


@torch.no_grad()
def _redraw(block: Branch, dead: Tensor, generator: torch.Generator) -> None:
    """Give new random weights to dead channels. dead: bool [channels], True for channels that are 0 before the second
    convolution for all examples.

    The weights of `spread` to these channels begin at 0.
    """
    first, second = block.first, block.second
    spread: nn.Linear | None = getattr(block, "spread", None)
    fresh = torch.empty(first.weight.shape).normal_(0, (2 / first.weight[0].numel()) ** 0.5, generator=generator)
    gone = dead.clone()
    if spread is not None and not dead.all():
        # The first `pooled` channels are kept, because they also affect other layers through pooling over the board.
        gone[: getattr(block, "pooled", 0)] = False
    first.weight[gone] = fresh.to(first.weight)[gone]
    of_unit = block.norm if isinstance(block.norm, BatchNorm) else first
    cast(Tensor, of_unit.bias)[gone] = 0
    if isinstance(block.norm, BatchNorm):
        block.norm.weight[gone] = 1
    second.weight[:, dead] = 0
    if spread is not None:
        spread.weight[dead] = 0
        spread.bias[dead] = 0
