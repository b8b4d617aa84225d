"""The optimizer Muon: steps of equal strength in all directions of a weight matrix.

The optimizer is from Keller Jordan (2024). Five Newton-Schulz iterations make the momentum of each matrix nearly
orthogonal. The filters of a convolution are reshaped to a matrix. Weights that aren't matrices are updated with AdamW.
Callers can also select AdamW for other weights, such as those of the first and last layers.

The scale of the steps is from Liu and others, "Muon is scalable for LLM training". With this scale, learning rates that
suit AdamW also suit Muon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
BETAS, EPSILON = (0.9, 0.99), 1e-8


def muon(network: nn.Module, weight_decay: float) -> Muon:
    """Return an optimizer that uses Muon for the filters of convolutions, and AdamW with half of Muon's learning rate
    for all other weights. weight_decay: the strength of the weight decay. Biases have none.
    """
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


def orthogonal(matrices: Tensor, steps: int = 5) -> Tensor:
    """Return the nearest orthogonal matrix, approximately: U·Vᵀ for a matrix with the singular value decomposition
    U·S·Vᵀ.

    matrices: [rows, columns] or [n, rows, columns], and the result has this shape. steps: the number of Newton–Schulz
    iterations. The singular values of the result are between about 0.7 and 1.2.
    """
    a, b, c = COEFFICIENTS
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / (torch.linalg.matrix_norm(x, keepdim=True) + 1e-7)
    for _ in range(steps):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return cast(Tensor, x.mT if tall else x)


def together(shapes: Sequence[torch.Size], on_gpu: bool) -> list[list[int]]:
    """Divide matrices into groups. The matrices of a group are orthogonalized in one batch.

    shapes: the shape of each matrix. The result is a list of groups. A group is a list of its matrices' indices in
    `shapes`.

    on_gpu: whether the matrices are on a GPU. On a CPU, each matrix is a group, because a batch of several matrices
    would require copies and save no time. On a GPU, all matrices with the same shape are a group, because starting many
    small operations takes longer than computing them.
    """
    if not on_gpu:
        return [[i] for i in range(len(shapes))]
    return [[i for i, shape in enumerate(shapes) if shape == one] for one in dict.fromkeys(shapes)]


class Muon(torch.optim.Optimizer):
    """The optimizer Muon, which also contains AdamW for weights that aren't matrices.

    groups: the parameter groups, each a dict with "params", "weight_decay" and "matrices". "matrices" is true if Muon
    updates the group, and false if AdamW does. momentum: the momentum of Muon.
    """

    def __init__(self, groups: Iterable[dict[str, Any]], momentum: float = 0.95):
        super().__init__(groups, {"lr": 1e-3, "momentum": momentum, "weight_decay": 0.0, "matrices": False})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Update all weights once. closure: an optional function that computes the gradients and returns the loss,
        which is then the result.
        """
        loss = closure() if closure else None
        for group in self.param_groups:
            if given := [p for p in group["params"] if p.grad is not None]:
                changes = self._matrices(given, group["momentum"]) if group["matrices"] else self._adam(given)
                torch._foreach_mul_(given, 1 - group["lr"] * group["weight_decay"])
                torch._foreach_add_(given, changes, alpha=-group["lr"])
        return loss

    def _matrices(self, weights: list[Tensor], momentum: float) -> list[Tensor]:
        gradients, means = [cast(Tensor, p.grad) for p in weights], self._states(weights, "momentum")
        torch._foreach_mul_(means, momentum)
        torch._foreach_add_(means, gradients)
        matrices = [each.flatten(1) for each in torch._foreach_add(gradients, means, alpha=momentum)]
        changes = list(matrices)
        for some in together([matrix.shape for matrix in matrices], matrices[0].is_cuda):
            # The factor makes the steps about as large as the steps of AdamW.
            scale = 0.2 * max(matrices[some[0]].shape) ** 0.5
            if len(some) > 1:
                found = (orthogonal(torch.stack([matrices[i] for i in some])) * scale).unbind()
            else:
                found = (orthogonal(matrices[some[0]]) * scale,)
            for i, change in zip(some, found, strict=True):
                changes[i] = change.reshape(weights[i].shape)
        return changes

    def _adam(self, weights: list[Tensor]) -> list[Tensor]:
        gradients = [cast(Tensor, p.grad) for p in weights]
        firsts, seconds = self._states(weights, "first"), self._states(weights, "second")
        steps = []
        for p in weights:
            state = self.state[p]
            state["step"] = state.get("step", torch.zeros(())) + 1
            steps.append(float(state["step"]))
        torch._foreach_lerp_(firsts, gradients, 1 - BETAS[0])
        torch._foreach_lerp_(seconds, torch._foreach_mul(gradients, gradients), 1 - BETAS[1])
        first = torch._foreach_div(firsts, [1 - BETAS[0] ** step for step in steps])
        second = torch._foreach_div(seconds, [1 - BETAS[1] ** step for step in steps])
        lengths = torch._foreach_add(torch._foreach_sqrt(second), EPSILON)
        return list(torch._foreach_div(first, lengths))

    def _states(self, weights: list[Tensor], name: str) -> list[Tensor]:
        """Return the optimizer's value `name` for each weight; zeros before the first step."""
        for p in weights:
            if name not in self.state[p]:
                self.state[p][name] = torch.zeros_like(p)
        return [self.state[p][name] for p in weights]
