"""Units of residual blocks that are 0 for every example: they get no gradient, so no training brings them back.

At high learning rates whole blocks die one after the other, while the loss still falls: the network gets shallower and
nobody notices. A training that goes on from such a network begins with new units in their place (`revive`); what only
answers need not compute them (`prune`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from kibitz.nets.batch_norm import BatchNorm


class Branch(Protocol):
    """A residual block: two convolutions, one after the other, and between them `norm`, a BatchNorm or nothing. It may
    have `spread`, a linear layer from the first `pooled` channels of the whole board to all channels between the two.
    """

    first: nn.Conv2d
    norm: nn.Module
    second: nn.Conv2d


def branches(network: nn.Module, learning: Iterable[Tensor]) -> Iterator[Branch]:
    """The residual blocks whose weights are among those that learn."""
    learns = {id(weight) for weight in learning}
    for module in network.modules():
        pair = getattr(module, "first", None), getattr(module, "second", None)
        if all(isinstance(part, nn.Conv2d) and id(part.weight) in learns for part in pair):
            yield cast(Branch, module)


def revive(
    network: nn.Module, learning: Iterable[Tensor], answer: Callable[[], object], generator: torch.Generator
) -> tuple[int, int]:
    """Draw new weights for the dead units of residual blocks, and for those of squeezes; how many of the first there
    were, and how many units there are.

    A unit is a channel between the two convolutions of a block; it is dead if it is 0 on every square of all examples.
    Its new filter has variance 2 / fan-in, and nothing listens to it yet (the second convolution's weights for it are
    0), so that the network answers as before: what a dead unit told was nothing. Normalisations that the network had
    not so far begin as nothing, too. learning: the weights that learn; others stay as they are. answer: has the network
    answer to some hundred examples.
    """
    learning = list(learning)
    blocks = list(branches(network, learning))
    _begin_norms([block.norm for block in blocks if isinstance(block.norm, BatchNorm)], answer)
    _revive_squeezes(network, learning, answer, generator)
    dead, units = 0, 0
    for block, (of_first, of_second) in zip(blocks, _watch(blocks, answer), strict=True):
        if of_first.alive is None or of_second.alive is None:  # no example came there
            continue
        _redraw(block, ~of_first.alive, ~of_second.alive, generator)
        dead += int((~of_second.alive).sum())
        units += len(of_second.alive)
    return dead, units


def prune(network: nn.Module, answer: Callable[[], object]) -> tuple[int, int]:
    """Take the dead units out of residual blocks, so that nothing is computed for them; how many, and of how many.

    The network answers as before wherever they are dead. One unit of each block stays. A block that adds something from
    the whole board is pruned only where all of its units are dead. answer: has the network answer to thousands of
    examples, since a unit that is taken out never comes back.
    """
    blocks = list(branches(network, network.parameters()))
    dead, units = 0, 0
    for block, (_, of_second) in zip(blocks, _watch(blocks, answer), strict=True):
        if of_second.alive is None:
            continue
        spread = getattr(block, "spread", None)
        living = int(of_second.alive.sum())
        units += len(of_second.alive)
        if living == len(of_second.alive) or (spread is not None and living):
            continue
        dead += len(of_second.alive) - max(1, living)
        _narrow(block, of_second.alive)
    return dead, units


@torch.no_grad()
def _narrow(block: Branch, alive: Tensor) -> None:
    """Keep the living units of a block, or one that nothing listens to."""
    kept = alive.nonzero().flatten() if alive.any() else torch.tensor([0])
    first, second = block.first, block.second
    first.weight = nn.Parameter(first.weight[kept])
    if first.bias is not None:
        first.bias = nn.Parameter(first.bias[kept])
    if isinstance(block.norm, BatchNorm):
        block.norm.keep(kept)
    second.weight = nn.Parameter(second.weight[:, kept] * float(alive.any()))
    first.out_channels = second.in_channels = len(kept)
    if getattr(block, "spread", None) is not None:  # all units are dead, whatever it adds
        block.spread = None  # type: ignore[attr-defined]


def _watch(blocks: list[Branch], answer: Callable[[], object]) -> list[tuple[_Seen, _Seen]]:
    """Which channels live after the first convolution of each block, and which before its second one."""
    seen = [(_Seen(), _Seen()) for _ in blocks]
    with contextlib.ExitStack() as hooks, torch.no_grad():
        for block, (of_first, of_second) in zip(blocks, seen, strict=True):
            hooks.callback(block.norm.register_forward_hook(of_first.note_output).remove)
            hooks.callback(block.second.register_forward_pre_hook(of_second.note_input).remove)
        answer()
    return seen


def _begin_norms(norms: list[BatchNorm], answer: Callable[[], object]) -> None:
    """Have those normalisations that no batch has passed begin as no change."""
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
    """The same for units of linear layers `squeeze`, which a linear layer `excite` listens to."""
    learns = {id(weight) for weight in learning}
    pairs = []
    for module in network.modules():
        squeeze, excite = getattr(module, "squeeze", None), getattr(module, "excite", None)
        if isinstance(squeeze, nn.Linear) and isinstance(excite, nn.Linear) and id(squeeze.weight) in learns:
            pairs.append((squeeze, excite))
    seen = [_Seen() for _ in pairs]
    with contextlib.ExitStack() as hooks, torch.no_grad():
        for (_, excite), of in zip(pairs, seen, strict=True):
            hooks.callback(excite.register_forward_pre_hook(of.note_input).remove)
        answer()
        for (squeeze, excite), of in zip(pairs, seen, strict=True):
            if of.alive is None:
                continue
            dead = ~of.alive
            fresh = torch.empty(squeeze.weight.shape).normal_(0, (2 / squeeze.in_features) ** 0.5, generator=generator)
            squeeze.weight[dead] = fresh.to(squeeze.weight)[dead]
            squeeze.bias[dead] = 0
            excite.weight[:, dead] = 0


class _Seen:
    """Which channels of what passes were above 0 anywhere, bool [channels]; None before anything passed."""

    def __init__(self) -> None:
        self.alive: Tensor | None = None

    def note_output(self, module: nn.Module, inputs: object, grid: Tensor) -> None:
        self._note(grid)

    def note_input(self, module: nn.Module, inputs: tuple[Tensor]) -> None:
        self._note(inputs[0])

    def _note(self, grid: Tensor) -> None:
        positive = (grid > 0).transpose(0, 1).flatten(1).any(1)
        self.alive = positive if self.alive is None else self.alive | positive


@torch.no_grad()
def _redraw(block: Branch, silent: Tensor, dead: Tensor, generator: torch.Generator) -> None:
    """silent, dead: the channels that are never above 0 after the first convolution (and its normalisation), and before
    the second one; bool.
    What `spread` adds to the dead ones begins as nothing."""
    first, second = block.first, block.second
    spread: nn.Linear | None = getattr(block, "spread", None)
    fresh = torch.empty(first.weight.shape).normal_(0, (2 / first.weight[0].numel()) ** 0.5, generator=generator)
    gone = dead & silent
    if spread is not None and not dead.all():
        gone[: getattr(block, "pooled", 0)] = False  # others hear them by way of the whole board
    first.weight[gone] = fresh.to(first.weight)[gone]
    of_unit = block.norm if isinstance(block.norm, BatchNorm) else first
    cast(Tensor, of_unit.bias)[gone] = 0
    if isinstance(block.norm, BatchNorm):
        block.norm.weight[gone] = 1
    second.weight[:, dead] = 0
    if spread is not None:
        spread.weight[dead] = 0
        spread.bias[dead] = 0
