"""Averaged weights: the exponential moving average of a network's weights over the last training iterations.

At a high learning rate, the weights move around a point with a lower loss, and their average is closer to this point.
So training can continue at a high rate, while validation uses the average, and the average is saved.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn


class AveragedWeights:
    """The exponential moving average of a network's weights. It includes the running means and variances of the
    normalization layers.

    network: the network in training. Its weights stay unchanged, except in the context of `averaged_weights`.
    iterations: the length of the average. After each training iteration, average += (weights − average) / iterations.
        During the first `iterations` iterations, the average is the plain mean.
    steps: the number of iterations averaged so far.
    """

    def __init__(self, network: nn.Module, iterations: int):
        self.network, self.iterations, self.steps = network, iterations, 0
        self._means: dict[str, Tensor] = {}

    @torch.no_grad()
    def update(self) -> None:
        """Include the network's current weights in the average. Call this method once after each training iteration."""
        weights = _floats(self.network)
        if not self.steps:
            self._means = {name: value.clone() for name, value in weights.items()}
        else:
            share = max(1 / (self.steps + 1), 1 / self.iterations)
            torch._foreach_lerp_(list(self._means.values()), list(weights.values()), share)
        self.steps += 1

    @contextlib.contextmanager
    def averaged_weights(self) -> Iterator[None]:
        """Inside this context, the network has the averaged weights. Afterwards it has the weights from before the
        context again. Before the first `update`, the context changes nothing.
        """
        if self.steps:
            self._swap()
        try:
            yield
        finally:
            if self.steps:
                self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for name, value in _floats(self.network).items():
            own = value.clone()
            value.copy_(self._means[name])
            self._means[name].copy_(own)

    def state(self) -> dict[str, Any]:
        """Return a dict to save in a checkpoint: "steps", the number of averaged iterations, and "means", a dict from
        the name of each weight to its average.
        """
        return {"steps": self.steps, "means": self._means}

    def load(self, state: dict[str, Any]) -> None:
        """Restore the averages from a dict that `state` returned. Raises KeyError or RuntimeError if the dict belongs
        to another network.
        """
        weights = _floats(self.network)
        if state["steps"] and state["means"].keys() != weights.keys():
            raise KeyError("the averaged weights belong to another network")
        self.steps = int(state["steps"])
        self._means = {name: weights[name].clone().copy_(value) for name, value in state["means"].items()}


def _floats(network: nn.Module) -> dict[str, Tensor]:
    """Return the floating-point weights and buffers of a network by name, as tensors that share the network's
    memory.
    """
    return {name: value for name, value in network.state_dict().items() if value.is_floating_point()}
