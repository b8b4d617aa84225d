"""The layers of a line (see layers.py) as torch modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.errors import UsageError
from kibitz.nets.batch_norm import BatchNorm
from kibitz.nets.layers import Chain, Conv, Dense, Layer, Pool, Residual, shapes

Activation = Callable[[], nn.Module]


class ResidualBlock(nn.Module):
    """relu(x + conv(relu(norm(conv(x))))), the grid's size unchanged; norm if the layer says so. mask: 0 at points that
    must stay 0."""

    def __init__(self, channels: int, layer: Residual):
        super().__init__()
        size, padding = (layer.height, layer.width), (layer.height // 2, layer.width // 2)
        self.first = nn.Conv2d(channels, layer.filters, size, padding=padding, bias=not layer.norm)
        self.norm = BatchNorm(layer.filters) if layer.norm else nn.Identity()
        self.second = nn.Conv2d(layer.filters, layer.filters, size, padding=padding)
        self.short = nn.Identity() if channels == layer.filters else nn.Conv2d(channels, layer.filters, 1)

    def forward(self, values: Tensor, mask: Tensor | None = None) -> Tensor:
        between = F.relu(self.norm(self.first(values)))
        if mask is not None:
            between = between * mask
        return F.relu(self.short(values) + self.second(between))


def build(
    layers: Sequence[Layer], channels: int, after_convolution: Activation | None, after_dense: Activation, side: int = 8
) -> tuple[list[nn.Module], int]:
    """The modules of some layers over planes [n, channels, side, side], flattened at the end, and their output width.

    after_convolution, after_dense: the non-linearity after each, None for none. Raises UsageError where the shapes
    do not fit.
    """
    steps: list[nn.Module] = []
    grid, before = True, (channels, side, side)
    for layer, size in zip(layers, shapes(list(layers), channels, side), strict=True):
        if isinstance(layer, Conv):
            steps.append(nn.Conv2d(before[0], layer.filters, (layer.height, layer.width), layer.stride, layer.padding))
            if after_convolution:
                steps.append(after_convolution())
        elif isinstance(layer, Residual):
            steps.append(ResidualBlock(before[0], layer))
        elif isinstance(layer, Pool):
            steps.append(nn.MaxPool2d((layer.height, layer.width), ceil_mode=True))
        elif isinstance(layer, Chain):
            raise UsageError("chain: a layer for Go's chains of stones; leave it out")
        elif isinstance(layer, Dense):
            if grid:
                steps.append(nn.Flatten())
                grid = False
            steps += [nn.Linear(before[0] * before[1] * before[2], layer.units), after_dense()]
        before = size
    if grid:
        steps.append(nn.Flatten())
    return steps, before[0] * before[1] * before[2]
