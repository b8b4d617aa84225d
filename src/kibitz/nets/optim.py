"""Optimisers, learning rates and initial weights by name, as the settings of systems ask for them."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from kibitz.nets.muon import Muon

WEIGHT_DECAY = (
    "weight decay: sgd, rmsprop and adagrad add so much of a weight to its gradient; adam and muon take so much of the"
    " learning rate off the weight itself at each step (AdamW's)"
)
"""What `--l2` is, in the help of every system whose optimisers are made here."""


def optimiser(name: str, module: nn.Module, settings: Any, smoothing: float) -> torch.optim.Optimizer:
    """The optimiser of that name over a module's weights; biases do not decay.

    settings: `l2`, `momentum` and, for adagrad, `accumulator`. What l2 means is in WEIGHT_DECAY.
    """
    weights = [p for p in module.parameters() if p.dim() > 1]
    rest = [p for p in module.parameters() if p.dim() <= 1]
    groups = [{"params": weights, "weight_decay": settings.l2}, {"params": rest, "weight_decay": 0.0}]
    if name == "muon":
        matrices = [p for p in weights if p.shape[0] > 1 and p.dim() == 4]
        others = [p for p in weights if not (p.shape[0] > 1 and p.dim() == 4)]
        return Muon(
            [
                {"params": matrices, "weight_decay": settings.l2, "matrices": True},
                {"params": others, "weight_decay": settings.l2},
                {"params": rest},
            ],
            settings.momentum,
        )
    if name == "rmsprop":
        return torch.optim.RMSprop(groups, alpha=smoothing)
    if name == "adagrad":
        return torch.optim.Adagrad(groups, initial_accumulator_value=settings.accumulator)
    if name == "sgd":
        return torch.optim.SGD(groups, lr=1.0, momentum=settings.momentum)
    return torch.optim.AdamW(groups)  # Adam's own betas, 0.9 and 0.999


def rate(settings: Any, base: float, iteration: int, iterations: int, schedule: str | None = None) -> float:
    """The learning rate of one iteration. schedule: another one than the settings'."""
    schedule = schedule or settings.schedule
    if schedule == "epoch":
        return float(base * settings.decay ** int(settings.epochs * iteration / max(1, iterations)))
    if schedule == "step":
        return base if iteration < settings.step else base * settings.decay
    if schedule == "cosine":  # a linear rise over the first hundredth, then half a cosine to 0
        rise = max(1, iterations // 100)
        if iteration < rise:
            return base * (iteration + 1) / rise
        return float(base * 0.5 * (1 + math.cos(math.pi * min(1, (iteration - rise) / max(1, iterations - rise)))))
    return base


def draw_weights(network: nn.Module, initial: str, generator: torch.Generator) -> None:
    """Initial weights: he (normal, variance 2 / fan-in), xavier (2 / (fan-in + fan-out)), or one standard deviation."""
    for name, p in network.named_parameters():
        with torch.no_grad():
            if p.dim() < 2 or name.endswith("pairs"):
                p.zero_()
                continue
            inputs, outputs = p[0].numel(), p.shape[0] * p[0, 0].numel() if p.dim() > 2 else p.shape[0]
            spread = (2 / inputs) ** 0.5 if initial == "he" else (2 / (inputs + outputs)) ** 0.5
            p.normal_(0, spread if initial in ("he", "xavier") else float(initial), generator=generator)
            if name.endswith("second.weight"):  # a residual block begins as what came in
                p.mul_(0.1)
