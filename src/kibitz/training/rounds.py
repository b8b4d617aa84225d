"""Divide the time of a training run among its stages. Each stage trains one part of the network.

Stages that are independent of each other (the seven networks of `convchess`) train in rounds: each stage trains for
some iterations, then the next stage. So if a run is stopped at any moment, all stages have done a similar share of
their iterations. The order doesn't change the result, because a stage depends only on its own iterations.

Stages that depend on each other (those of `deepchess`) train one after the other. With a time limit, each stage gets
its share of the time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from kibitz.systems.base import Stage

PARTS = (0.002, 0.005, 0.01, 0.02, 0.04, 0.07, *(i / 10 for i in range(1, 11)))
"""The rounds if there is no time limit: the shares of a stage's iterations that are done at the end of each round."""
ROUNDS = 6
"""The number of rounds if there is a time limit."""


class TimeShares:
    """Decides when a training stage (a part of the training) must pause, so that the next stage can train.

    stages: all stages of the training run.
    limit: the time limit in seconds, for one call of `training.fit.train`; None for no limit.
    alone: whether only one process trains. If several processes train, all must pause at the same iteration, so this
        class ignores the time limit.
    """

    def __init__(self, stages: Sequence[Stage], limit: float | None, alone: bool):
        self.stages = stages
        self.rounds = len(stages) > 1 and all(stage.independent for stage in stages)
        self.limit = limit if alone and len(stages) > 1 else None
        self._began, self._stop_at = 0.0, 0

    def begin(self, index: int, iteration: int, iterations: int, started: float) -> None:
        """Record that a stage (a part of the training) starts or resumes. index: the index of the stage. iteration: the
        number of its completed iterations. iterations: the number of all its iterations. started: the time at which the
        training began (time.monotonic).
        """
        now = time.monotonic()
        self._stop_at, self._until = iterations, float("inf")
        if self.limit is None:
            if self.rounds:
                ends = (round(part * iterations) for part in PARTS)
                self._stop_at = next((end for end in ends if end > iteration), iterations)
            return
        left = self.stages if self.rounds else self.stages[index:]
        share = self.stages[index].time_share / sum(stage.time_share for stage in left)
        whole = self.limit if self.rounds else max(0.0, self.limit - (now - started))
        self._until = now + whole * share / (ROUNDS if self.rounds else 1)
        if not self.rounds and index == len(self.stages) - 1:
            self._until = float("inf")  # the time limit ends the last stage

    def over(self, iteration: int) -> bool:
        """Return whether the current stage (a part of the training) must pause after this iteration, so that the next
        stage can train.
        """
        return iteration >= self._stop_at or time.monotonic() > self._until


class BestParts:
    """The best weights of each stage (a part of the training) so far, for stages that train in turn, some iterations at
    a time. The weights are stored in the memory of the CPU.
    """

    def __init__(self, network: nn.Module, stages: Sequence[Stage]):
        self.names = {stage.name: names_of(network, stage.module) for stage in stages}
        self.weights: dict[str, torch.Tensor] = {}

    def keep(self, network: nn.Module, stage: str) -> None:
        """Record the current weights of a stage (a part of the training) as its best weights. stage: its name."""
        state = network.state_dict()
        self.weights |= {name: state[name].detach().cpu().clone() for name in self.names[stage]}

    def of(self, stage: str) -> dict[str, torch.Tensor]:
        """Return the best weights of a stage (a part of the training) so far, as a dict from names to tensors; {} if
        `keep` was not called for this stage.
        """
        return {name: self.weights[name] for name in self.names[stage] if name in self.weights}

    def merged(self, network: nn.Module) -> dict[str, torch.Tensor]:
        """Return the weights of the whole network, as a dict from names to tensors. The weights of a stage (a part of
        the training) are its best ones if `keep` was called for the stage, otherwise the current ones.
        """
        return {**network.state_dict(), **self.weights}


def names_of(network: nn.Module, module: nn.Module) -> list[str]:
    """Return the names of a module's weights in the network's state dict. module: a part of the network."""
    prefix = next(name for name, part in network.named_modules() if part is module)
    return [name for name in network.state_dict() if not prefix or name.startswith(prefix + ".")]


def next_stage(index: int, finished: Mapping[int, Any], count: int) -> int:
    """Return the index of the next unfinished stage (a part of the training) after the current one. After the last
    stage comes the first one. Returns `count` if all stages are finished.

    index: the current stage. finished: a dict whose keys are the indices of the finished stages. count: the number of
    stages.
    """
    for step in range(1, count + 1):
        if (index + step) % count not in finished:
            return (index + step) % count
    return count
