"""Muon: steps of equal strength in all directions of a weight matrix.

After Keller Jordan's optimiser (2024), with the scale of Liu and others, "Muon is scalable for LLM training" (2025),
so that learning rates are those of AdamW. The momentum of each matrix is brought near to an orthogonal one by five
Newton-Schulz iterations; a convolution is the matrix of its filters. Weights that are no matrices, and those of the
first and last layers if asked for, take AdamW's steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import torch
from torch import Tensor, nn

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
BETAS, EPSILON = (0.9, 0.99), 1e-8


def muon(network: nn.Module, weight_decay: float) -> Muon:
    """Muon for the filters of convolutions, AdamW at half their rate for the rest; biases do not decay."""
    filters = [p for p in network.parameters() if p.dim() == 4 and p.shape[0] > 1]
    others = [p for p in network.parameters() if p.dim() > 1 and not (p.dim() == 4 and p.shape[0] > 1)]
    rest = [p for p in network.parameters() if p.dim() <= 1]
    return Muon(
        [
            {"params": filters, "weight_decay": weight_decay, "matrices": True},
            {"params": others, "weight_decay": weight_decay, "rate": 0.5},
            {"params": rest, "rate": 0.5},
        ],
        momentum=0.95,
    )


def orthogonal(matrix: Tensor, steps: int = 5) -> Tensor:
    """Roughly U·Vᵀ of a matrix U·S·Vᵀ: singular values between about 0.7 and 1.2."""
    a, b, c = COEFFICIENTS
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.mT if tall else matrix
    x = x / (torch.linalg.norm(x) + 1e-7)
    for _ in range(steps):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return cast(Tensor, x.mT if tall else x)


class Muon(torch.optim.Optimizer):
    """groups: each with `params`, `weight_decay` and `matrices` (whether Muon's steps are for them)."""

    def __init__(self, groups: Iterable[dict[str, Any]], momentum: float = 0.95):
        super().__init__(groups, {"lr": 1e-3, "momentum": momentum, "weight_decay": 0.0, "matrices": False})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        loss = closure() if closure else None
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if group["matrices"]:
                    change = self._matrix(p.grad, state, group["momentum"])
                else:
                    change = self._adam(p.grad, state)
                p.mul_(1 - group["lr"] * group["weight_decay"]).add_(change, alpha=-group["lr"])
        return loss

    @staticmethod
    def _matrix(gradient: Tensor, state: dict[str, Any], momentum: float) -> Tensor:
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(gradient)
        mean = state["momentum"].mul_(momentum).add_(gradient)
        matrix = gradient.add(mean, alpha=momentum).flatten(1)
        scale = 0.2 * max(matrix.shape) ** 0.5  # the mean square of AdamW's steps
        return cast(Tensor, (orthogonal(matrix) * scale).view(gradient.shape))

    @staticmethod
    def _adam(gradient: Tensor, state: dict[str, Any]) -> Tensor:
        if "step" not in state:
            state["step"] = torch.zeros(())
            state["first"], state["second"] = torch.zeros_like(gradient), torch.zeros_like(gradient)
        state["step"] += 1
        step = float(state["step"])
        first = state["first"].lerp_(gradient, 1 - BETAS[0]) / (1 - BETAS[0] ** step)
        second = state["second"].lerp_(gradient.square(), 1 - BETAS[1]) / (1 - BETAS[1] ** step)
        return cast(Tensor, first / (second.sqrt() + EPSILON))
