"""Adapters: the parts of a network that learn a person's moves, while everything else stays."""

from __future__ import annotations

from typing import cast

import torch.nn.functional as F
from torch import Tensor, nn

ADAPTERS, ALL, NOTHING = "adapters", "all", "nothing"
"""What is trained: the adapters, all weights, or nothing."""


class Adapter(nn.Module):
    """`x + up(relu(down(x)))`, float [n, filters, rows, columns] both; the identity at first.

    Two 1×1 convolutions, down to a few channels and up again.
    """

    def __init__(self, filters: int, rank: int):
        super().__init__()
        self.down = nn.Conv2d(filters, rank, 1)
        self.up = nn.Conv2d(rank, filters, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x + cast(Tensor, self.up(F.relu(self.down(x))))


def adapters(count: int, filters: int, rank: int) -> nn.ModuleList:
    """Return an adapter for each block."""
    return nn.ModuleList(Adapter(filters, rank) for _ in range(count))


def hold_the_rest(network: nn.Module) -> None:
    """Freeze all weights of a network except its `adapters`."""
    for name, p in network.named_parameters():
        p.requires_grad_(name.startswith("adapters."))
