"""Detect networks that train badly: dead layers, and networks that learn nothing.

If a step is too large, the network's ReLUs can become 0 for all inputs within the first iterations. Such a network may
seem to learn slowly for hours. Two signs are quick to compute and reliable. The first is units without gradient for any
example of a batch. The second is a validation loss that is no lower than that of the best constant prediction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn

from kibitz.systems.base import Stage, Tensors
from kibitz.text import number_of

DEAD_SHARE = 0.75
"""A layer counts as dead if this share of its units has no gradient. In healthy networks the share is up to one third
(the bundled convchess), in small overfitted networks up to two thirds.
"""
MIN_UNITS = 8
NAMED = 6
"""The largest number of dead layers that a message lists."""
FIRST_SHARE = 0.1
"""After this share of a stage's iterations, the loss should be lower than that of a constant prediction."""
FIRST_ITERATION = 50
"""Nothing is reported before this iteration (or before the end of a shorter stage), because the first steps may go in
the wrong direction.
"""
MARGIN = 0.002
"""The smallest relative difference by which a validation loss must be below the loss of a constant prediction."""
ADVICE = "if this does not change, try a smaller --learning-rate, another --seed, or --recipe default"


@dataclass(frozen=True)
class Symptom:
    """A sign that the training of a stage (a part of the training) fails. kind: "dead units" or "learned nothing".
    text: one line for the user.
    """

    kind: str
    text: str


class HealthCheck:
    """Detects signs that the training of one stage (part of the network) fails.

    iterations: the length of the stage. sample: a batch of validation examples, for which the loss of the best constant
    prediction is computed; None if there are no validation examples.
    """

    def __init__(self, stage: Stage, iterations: int, sample: Tensors | None):
        self.stage, self.iterations = stage, iterations
        self.constant_loss: float | None = None
        if stage.constant_loss is not None and sample is not None:
            with torch.no_grad():
                self.constant_loss = stage.constant_loss(sample)

    def dead_units(self, network: nn.Module, optimiser: torch.optim.Optimizer) -> Symptom | None:
        """Return a symptom if most units of a layer are dead. Call this between the backward pass and the optimizer's
        step.

        A unit is dead if the gradient of its bias is exactly 0, so its ReLU is 0 for every example of the batch.
        optimiser: the optimizer of the training; only layers whose biases it trains are checked.
        """
        trained = {id(p) for group in optimiser.param_groups for p in group["params"]}
        shares: dict[str, float] = {}
        moved: set[str] = set()
        for name, p in network.named_parameters():
            if id(p) not in trained or p.grad is None or p.dim() != 1 or not name.endswith("bias"):
                continue
            dead = float((p.grad == 0).float().mean())
            if dead < 1:
                moved.add(_part(name))
            if len(p) >= MIN_UNITS:
                shares[name.removesuffix(".bias")] = dead
        # If no unit of a module has a gradient, no example of this batch used the module. This happens if a system has
        # several networks.
        shares = {name: share for name, share in shares.items() if share >= DEAD_SHARE and _part(name) in moved}
        if not shares:
            return None
        worst = sorted(shares, key=lambda name: -shares[name])
        names = ", ".join(worst[:NAMED]) + (f" and {len(worst) - NAMED} layers more" if len(worst) > NAMED else "")
        most = "" if len(worst) == 1 or shares[worst[-1]] == 1 else " or more"
        return Symptom(
            "dead units",
            f"{shares[worst[-1]]:.0%}{most} of the units of {names} are dead (0 for every position of a batch); "
            f"{ADVICE}",
        )

    def learned_nothing(self, iteration: int, training_loss: float, means: Mapping[str, float]) -> Symptom | None:
        """Return a symptom if neither the validation loss nor the training loss is lower than the loss of the best
        constant prediction. Early in the stage (a part of the training), the result is always None.

        iteration: the number of completed iterations. training_loss: the mean over the last batches. means: a dict from
        the name of each metric, such as "loss", to its mean over the validation examples.
        """
        first = max(FIRST_SHARE * self.iterations, min(FIRST_ITERATION, self.iterations))
        if self.constant_loss is None or iteration < first or "loss" not in means:
            return None
        if min(means["loss"], training_loss) < self.constant_loss * (1 - MARGIN):
            return None
        return Symptom(
            "learned nothing",
            f"after {iteration:,} of {number_of(self.iterations, 'iteration')} the validation loss"
            f" {means['loss']:.4f} is no better than that of a constant prediction ({self.constant_loss:.4f});"
            f" {ADVICE}",
        )


def _part(name: str) -> str:
    return ".".join(name.split(".")[:2])
