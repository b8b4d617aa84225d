"""Batch normalization between the two convolutions of a residual block.

The method is from Ioffe and Szegedy (2015). Mean and variance are computed over small groups of a batch's positions, as
Hoffer and others proposed for large batches in 2017. Normalization keeps units active: after every step of the
training, each unit is above 0 for some of the positions. Without normalization, all units of a block can become 0 at
high learning rates (docs/results/history/human.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_weights


class BatchNorm(nn.Module):
    """Batch normalization: compute `weight · (x − mean) / √(variance + 1e-5) + bias` for each channel. The input x and
    the output are [n, channels, h, w].

    In training, mean and variance are computed over groups of about 64 consecutive examples of the batch (ghost batch
    normalization). If several processes share a batch, and each has a multiple of 64 examples, they compute the same
    gradient as one process. In evaluation, and if `weight` is not trained, mean and variance are the running averages.
    In an exported model, the layer is merged into the convolution before it.

    running_mean, running_square: averages of x and of x² over about the last ten batches, [channels], initially 0 and
    1. batches: the number of batches so far.
    """

    ROWS, SHARE, EPSILON = 64, 0.1, 1e-5
    running_mean: Tensor
    running_square: Tensor
    batches: Tensor

    def __init__(self, channels: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_square", torch.ones(channels))
        self.register_buffer("batches", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalized input. x, result: [n, channels, h, w]. In training, this also updates the running
        averages.
        """
        if self.training and torch.is_grad_enabled() and self.weight.requires_grad:
            return self._of_groups(x)
        of = self.running_mean, self.running_variance, self.weight, self.bias
        return F.batch_norm(x, *of, False, 0.0, self.EPSILON)

    @property
    def running_variance(self) -> Tensor:
        """The running average of the variance of each channel, [channels]."""
        return self.running_square - self.running_mean.square()

    def _of_groups(self, x: Tensor) -> Tensor:
        groups = max(1, len(x) // self.ROWS)
        if x.is_cuda and len(x) % groups == 0:
            return self._together(x, groups)
        # torch.split, because its backward pass copies the gradient once. With tensor_split, the backward pass would
        # make a gradient of the whole batch for each slice.
        means, squares, normal = [], [], []
        for group in torch.split(x, _sizes(len(x), groups)):
            mean, variance = torch.zeros_like(self.running_mean), torch.ones_like(self.running_mean)
            normal.append(F.batch_norm(group, mean, variance, self.weight, self.bias, True, 1.0, self.EPSILON))
            count = group.numel() // group.shape[1]
            means.append(mean)
            squares.append(variance * ((count - 1) / count) + mean.square())
        self._gather(torch.stack(means).mean(0), torch.stack(squares).mean(0))
        return torch.cat(normal)

    def _together(self, x: Tensor, groups: int) -> Tensor:
        """Normalize `groups` groups of equal size at once. The results are those of one group after the other.

        On a GPU, starting one operation per group takes much longer than computing it: a batch of 8,192 rows has 128
        groups, and a network has six blocks.
        """
        rows = x.permute(0, 2, 3, 1).reshape(groups, -1, x.shape[1]).float()  # no copy if the channels are last
        variance, mean = torch.var_mean(rows, 1, correction=0, keepdim=True)
        normal = (rows - mean) * (self.weight * torch.rsqrt(variance + self.EPSILON)) + self.bias
        self._gather(mean.detach().mean((0, 1)), (variance + mean.square()).detach().mean((0, 1)))
        shape = len(x), *x.shape[2:], x.shape[1]
        return normal.to(x.dtype).view(shape).permute(0, 3, 1, 2)

    @torch.no_grad()
    def _gather(self, mean: Tensor, square: Tensor) -> None:
        self.batches += 1
        share = (1 / self.batches).clamp(min=self.SHARE)
        self.running_mean.lerp_(mean, share)
        self.running_square.lerp_(square, share)

    @torch.no_grad()
    def begin_as_nothing(self, x: Tensor) -> None:
        """Make the layer nearly the identity: set weight, bias and running averages so that evaluation returns x plus
        the previous bias.

        x: a batch of inputs, [n, channels, h, w]. Its mean and variance become the running averages.
        """
        mean, square = x.float().mean((0, 2, 3)), x.float().square().mean((0, 2, 3))
        self.running_mean.copy_(mean)
        self.running_square.copy_(square)
        self.batches.fill_(1)
        self.weight.copy_((square - mean.square() + self.EPSILON).sqrt())
        self.bias.add_(mean)

    def keep(self, channels: Tensor) -> None:
        """Remove all channels of the layer except the given ones. channels: int64 [k], the indices of the channels to
        keep.
        """
        self.weight, self.bias = nn.Parameter(self.weight[channels]), nn.Parameter(self.bias[channels])
        self.running_mean, self.running_square = self.running_mean[channels], self.running_square[channels]


def _sizes(rows: int, groups: int) -> list[int]:
    """Return the sizes of `groups` groups of rows, as equal as possible, the larger groups first."""
    return [rows // groups + (i < rows % groups) for i in range(groups)]


def averages(network: nn.Module) -> list[Tensor]:
    """Return the running averages of all BatchNorm layers in a network, two tensors [channels] per layer.

    In training with several processes, the averages differ between the processes, because each process gets a different
    part of the batch.
    """
    return [part for norm in norms(network) for part in (norm.running_mean, norm.running_square)]


def norms(network: nn.Module) -> Iterator[BatchNorm]:
    """Yield all BatchNorm layers of a network."""
    return (module for module in network.modules() if isinstance(module, BatchNorm))


def fold(network: nn.Module) -> None:
    """Merge the batch normalization of each residual block into the convolution before it, for inference. The network
    is changed in place.

    In a block, the convolution is the module `first`, and the normalization is the module `norm`. `first` gets new
    weights and biases, computed with the running averages. `norm` is replaced by nn.Identity.
    """
    for block in list(network.modules()):
        norm = getattr(block, "norm", None)
        if isinstance(norm, BatchNorm):
            first = cast(nn.Conv2d, block.first)
            first.weight, first.bias = fuse_conv_bn_weights(
                first.weight, first.bias, norm.running_mean, norm.running_variance, norm.EPSILON, norm.weight, norm.bias
            )
            block.norm = nn.Identity()
