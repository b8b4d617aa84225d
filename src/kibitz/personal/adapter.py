"""Adapters: small additional layers that learn a person's moves, while the other weights of the network don't
change.
"""

from __future__ import annotations

from typing import cast

import torch.nn.functional as F
from torch import Tensor, nn

ADAPTERS, ALL, NOTHING = "adapters", "all", "nothing"
"""The possible values of the setting `learns`. They train the weights of the adapters, all weights, or no weights."""


class Adapter(nn.Module):
    """A small residual module that computes `x + up(relu(down(x)))`. Input and output are float [n, filters, rows,
    columns]. Before training, the output equals the input.

    `down` is a 1×1 convolution from `filters` to `rank` channels. `up` is a 1×1 convolution from `rank` to `filters`
    channels.
    """

    def __init__(self, filters: int, rank: int):
        super().__init__()
        self.down = nn.Conv2d(filters, rank, 1)
        self.up = nn.Conv2d(rank, filters, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x + cast(Tensor, self.up(F.relu(self.down(x))))


def adapters(count: int, filters: int, rank: int) -> nn.ModuleList:
    """Return `count` adapters (small trainable layers), one for each residual block of a network.

    filters: the number of channels of a block. rank: the number of channels between the two convolutions of an adapter.
    """
    return nn.ModuleList(Adapter(filters, rank) for _ in range(count))


def hold_the_rest(network: nn.Module) -> None:
    """Freeze all weights of a network except those of its adapters. The adapters are the small trainable layers in its
    attribute `adapters`.
    """
    for name, p in network.named_parameters():
        p.requires_grad_(name.startswith("adapters."))
