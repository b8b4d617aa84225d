"""Build the layers of a text description (see layers.py) as torch modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.errors import UsageError
from kibitz.nets.batch_norm import BatchNorm
from kibitz.nets.layers import AVERAGE, STOCHASTIC, Chain, Conv, Dense, Layer, Pool, Residual, shapes

Activation = Callable[[], nn.Module]


class StochasticPool(nn.Module):
    """Stochastic pooling from [n, channels, h, w] to [n, channels, ⌈h / height⌉, ⌈w / width⌉].

    height, width: the size of a window, which is also the stride. Windows at the lower and right edges may be smaller.

    In training, the output for a window is one of its values x, sampled with a probability proportional to max(x, 0).
    In evaluation, the output is the mean of the values, weighted by these probabilities. The output is 0 for a window
    without a positive value.
    """

    def __init__(self, height: int, width: int):
        super().__init__()
        self.height, self.width = height, width

    def forward(self, values: Tensor) -> Tensor:
        """Return the pooled values, [n, channels, ⌈h / height⌉, ⌈w / width⌉]. values: [n, channels, h, w]."""
        # The usual form -(-a // b) needs negative numbers, whose quotient ONNX rounds toward 0.
        rows = (values.shape[2] + self.height - 1) // self.height
        columns = (values.shape[3] + self.width - 1) // self.width
        more = (0, columns * self.width - values.shape[3], 0, rows * self.height - values.shape[2])
        padded = F.pad(F.relu(values), more)
        split = padded.reshape(-1, values.shape[1], rows, self.height, columns, self.width)
        windows = split.permute(0, 1, 2, 4, 3, 5).flatten(4)  # [n, channels, rows, columns, values of a window]
        total = windows.sum(-1, keepdim=True)
        if self.training:
            drawn = torch.rand_like(total) * total
            at = (windows.cumsum(-1) < drawn).sum(-1, keepdim=True).clamp(max=windows.shape[-1] - 1)
            return windows.gather(-1, at)[..., 0]
        weighted: Tensor = (windows * windows).sum(-1) / total[..., 0].clamp(min=1e-12)
        return weighted


def make_pool(layer: Pool) -> nn.Module:
    """Return the torch module for the description of a pooling layer. The windows at the right and lower edges may be
    smaller than the others (`ceil_mode` in torch).
    """
    size = (layer.height, layer.width)
    if layer.kind == AVERAGE:
        return nn.AvgPool2d(size, ceil_mode=True)
    return StochasticPool(*size) if layer.kind == STOCHASTIC else nn.MaxPool2d(size, ceil_mode=True)


class ResidualBlock(nn.Module):
    """A residual block: `relu(x + conv(relu(norm(conv(x)))))`, from [n, channels, h, w] to [n, filters, h, w]. `norm`
    is optional. If `filters` differs from `channels`, x first passes through a 1×1 convolution.

    channels: the number of input channels. layer: the description of the block, with the number of filters and the size
    of the convolutions.
    """

    def __init__(self, channels: int, layer: Residual):
        super().__init__()
        size, padding = (layer.height, layer.width), (layer.height // 2, layer.width // 2)
        self.first = nn.Conv2d(channels, layer.filters, size, padding=padding, bias=not layer.norm)
        self.norm = BatchNorm(layer.filters) if layer.norm else nn.Identity()
        self.second = nn.Conv2d(layer.filters, layer.filters, size, padding=padding)
        self.short = nn.Identity() if channels == layer.filters else nn.Conv2d(channels, layer.filters, 1)

    def forward(self, values: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the output of the block, [n, filters, h, w]. values: the input, [n, channels, h, w].

        mask: 0 or 1, [n, 1, h, w] or a shape that broadcasts to it. The values between the two convolutions are set to
        0 at the points where the mask is 0. None for no mask.
        """
        between = F.relu(self.norm(self.first(values)))
        if mask is not None:
            between = between * mask
        return F.relu(self.short(values) + self.second(between))


def build(
    layers: Sequence[Layer], channels: int, after_convolution: Activation | None, after_dense: Activation, side: int = 8
) -> tuple[list[nn.Module], int]:
    """Return the torch modules for some layer descriptions, in order, and the number of outputs per position. The last
    module flattens its output.

    layers: the descriptions, as `layers.read_layers` returns them.
    channels, side: the shape of the input, [n, channels, side, side].
    after_convolution, after_dense: functions that make the activation module after each convolution and after each
        dense layer; None for no activation.

    Raises UsageError if the layers don't fit together.
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
            steps.append(make_pool(layer))
        elif isinstance(layer, Chain):
            raise UsageError(
                "layers for chess cannot contain 'chain', which works only with chains of Go stones (got chain). Leave"
                " 'chain' out."
            )
        elif isinstance(layer, Dense):
            if grid:
                steps.append(nn.Flatten())
                grid = False
            steps += [nn.Linear(before[0] * before[1] * before[2], layer.units), after_dense()]
        before = size
    if grid:
        steps.append(nn.Flatten())
    return steps, before[0] * before[1] * before[2]
