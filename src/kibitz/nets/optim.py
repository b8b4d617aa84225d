"""Optimizers, learning rate schedules and initial weights, selected by the names that settings use."""

from __future__ import annotations

import math

import torch
from torch import nn

from kibitz.nets.muon import Muon

OPTIMISERS = ("rmsprop", "adagrad", "adamw", "sgd", "muon")
"""Names of the optimizers that `make_optimiser` can make. A system (kind of network) may offer fewer of them."""
WEIGHT_DECAY = (
    "Weight decay: with sgd, rmsprop and adagrad, a penalty on the squared weights in the loss; with adamw and muon,"
    " the weights shrink directly at each step."
)
"""The help text of the option `--weight-decay`."""
SCHEDULES = ("constant", "epoch", "step", "cosine", "inv")
"""Names of the learning rate schedules of `learning_rate_at`. A system (kind of network) may offer fewer of them."""


def make_optimiser(
    name: str,
    module: nn.Module,
    *,
    weight_decay: float = 0.0,
    momentum: float = 0.9,
    smoothing: float = 0.99,
    accumulator: float = 0.0,
) -> torch.optim.Optimizer:
    """Return a new optimizer for the weights of a module. name: "rmsprop", "adagrad", "adamw", "sgd" or "muon". Raises
    ValueError for another name.

    weight_decay: the strength of the weight decay, 0 for none. Biases have no weight decay.
    momentum: the momentum of sgd and muon.
    smoothing: the factor of the moving average of squared gradients in rmsprop.
    accumulator: the initial sum of squared gradients in adagrad.

    "muon" updates the filters of convolutions with Muon, and all other weights with AdamW.
    """
    weights = [p for p in module.parameters() if p.dim() > 1]
    biases = [p for p in module.parameters() if p.dim() <= 1]
    groups = [{"params": weights, "weight_decay": weight_decay}, {"params": biases, "weight_decay": 0.0}]
    if name == "muon":
        matrices = [p for p in weights if p.shape[0] > 1 and p.dim() == 4]
        others = [p for p in weights if not (p.shape[0] > 1 and p.dim() == 4)]
        return Muon(
            [
                {"params": matrices, "weight_decay": weight_decay, "matrices": True},
                {"params": others, "weight_decay": weight_decay},
                {"params": biases},
            ],
            momentum,
        )
    if name == "rmsprop":
        return torch.optim.RMSprop(groups, alpha=smoothing)
    if name == "adagrad":
        return torch.optim.Adagrad(groups, initial_accumulator_value=accumulator)
    if name == "sgd":
        return torch.optim.SGD(groups, lr=1.0, momentum=momentum)
    if name == "adamw":
        return torch.optim.AdamW(groups)  # with Adam's default betas, 0.9 and 0.999
    raise ValueError(f"unknown optimizer {name}. Choose from {', '.join(OPTIMISERS)}")


def move_optimiser(optimiser: torch.optim.Optimizer, on_gpu: bool) -> None:
    """Adapt an optimizer to the device of its weights, for example if its state was saved on another device. on_gpu:
    whether the weights are on a GPU.

    On a GPU, AdamW and SGD update each group of weights in one kernel ("fused"), and the step counter is on the GPU. In
    all other cases the counter is on the CPU, so that reading the counter doesn't wait for the device.
    """
    can_fuse = isinstance(optimiser, torch.optim.Adam | torch.optim.SGD)
    for group in optimiser.param_groups:
        if can_fuse and bool(group["fused"]) != on_gpu:
            group["fused"], group["foreach"] = (True, False) if on_gpu else (None, None)
        for p in group["params"]:
            count = optimiser.state[p].get("step") if p in optimiser.state else None
            if isinstance(count, torch.Tensor):
                optimiser.state[p]["step"] = count.to(p.device if group.get("fused") else "cpu")


def learning_rate_at(
    schedule: str,
    base: float,
    iteration: int,
    iterations: int,
    *,
    decay: float = 1.0,
    epochs: float = 0.0,
    step: int = 0,
) -> float:
    """Return the learning rate for one iteration. Raises ValueError for an unknown schedule.

    schedule: the name of the schedule. "constant": always `base`. "epoch": `base` is multiplied by `decay` after each
        epoch. "step": `base` is multiplied by `decay` from iteration `step` on. "cosine": see `cosine`. "inv": see
        `inverse`.
    base: the largest learning rate of the schedule.
    iteration: the index of the iteration, 0 to `iterations` − 1.
    iterations: the number of iterations in the training.
    epochs: the number of epochs in the training. It may be a fraction.
    """
    if schedule == "epoch":
        return float(base * decay ** int(epochs * iteration / max(1, iterations)))
    if schedule == "step":
        return base if iteration < step else base * decay
    if schedule == "cosine":
        return cosine(base, iteration, iterations)
    if schedule == "inv":
        return inverse(base, iteration)
    if schedule == "constant":
        return base
    raise ValueError(f"unknown schedule {schedule}. Choose from {', '.join(SCHEDULES)}")


def cosine(base: float, iteration: int, iterations: int) -> float:
    """Return the learning rate of a cosine schedule at one iteration. The rate rises linearly to `base` during the
    first 1% of the iterations, and then falls to 0 along half a cosine wave.
    """
    rise = max(1, iterations // 100)
    if iteration < rise:
        return base * (iteration + 1) / rise
    return float(base * 0.5 * (1 + math.cos(math.pi * min(1, (iteration - rise) / max(1, iterations - rise)))))


def plateau(base: float, iteration: int, iterations: int, *, warmup: int, cooldown: float) -> float:
    """Return the learning rate at one iteration of a schedule with three parts: rise, plateau and fall.

    The rate rises linearly to `base` during the first `warmup` iterations, and then stays at `base`. At the end it
    falls along half a cosine wave to a thousandth of `base`. cooldown: the share of all iterations in which the rate
    falls, 0 to 1.

    Training that was stopped on the plateau can be resumed with any total number of iterations. A new training that
    starts from the stopped one's weights can also begin directly with the fall.
    """
    if iteration < warmup:
        return base * (iteration + 1) / warmup
    falling = cooldown * iterations
    left = iterations - iteration
    if left >= falling:
        return base
    return base * (0.001 + 0.999 * 0.5 * (1 - math.cos(math.pi * left / falling)))


def inverse(base: float, iteration: int, gamma: float = 0.0001, power: float = 0.75) -> float:
    """Return the learning rate of the "Inv" policy of Mocha and Caffe: base · (1 + gamma · iteration)^−power."""
    return float(base * (1 + gamma * iteration) ** -power)


def draw_weights(network: nn.Module, initial: str, generator: torch.Generator) -> None:
    """Set all weights of a network to random numbers from a normal distribution with mean 0. Biases become 0, and the
    weights of normalization layers become 1.

    initial: the variance or the standard deviation. "he" is the variance `2 / fan-in`, and "xavier" is the variance `2
    / (fan-in + fan-out)`. A number such as "0.01" is the standard deviation. In the second convolution of a residual
    block, each of these random numbers is divided by 10, so that the block begins almost as the identity.
    """
    for name, p in network.named_parameters():
        with torch.no_grad():
            if name.endswith("norm.weight"):
                p.fill_(1)
                continue
            if p.dim() < 2 or name.endswith("pairs"):
                p.zero_()
                continue
            inputs, outputs = p[0].numel(), p.shape[0] * p[0, 0].numel() if p.dim() > 2 else p.shape[0]
            spread = (2 / inputs) ** 0.5 if initial == "he" else (2 / (inputs + outputs)) ** 0.5
            p.normal_(0, spread if initial in ("he", "xavier") else float(initial), generator=generator)
            if name.endswith("second.weight"):  # a residual block begins almost as the identity
                p.mul_(0.1)
