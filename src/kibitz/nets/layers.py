"""Parse the layers of a network from one line, such as `400conv4x4.pool2x2.200conv2x2.ip70`. A period separates two
layers. The notation extends the name of a folder in the blog post on which the network `winner` is based. In this name,
400conv4x4.pool.200conv2x2.ip70, a pool has no size.

400conv4x4      a convolution with 400 filters of 4×4
400conv4x4s2p1  with a stride of 2 and zero padding of 1; both parts are optional
400conv4x3s2x1p1x0  windows, strides and paddings may be rectangular, height first. The post puts the width first.

pool2x2         max-pooling over windows of 2×2, with a stride of 2×2. Windows at the far edge may be smaller.
avgpool2x2      average pooling over the same windows.
stochpool2x2    in training a random value of each window, with a probability proportional to its positive part; in
                evaluation the mean weighted by these probabilities

ip70            a dense layer ("inner product") of 70 units
64res3x3        a residual block: two convolutions of 64 filters of 3×3 with zero padding, added to their input
64res3x3n       with batch normalization between the convolutions.
5*64res3x3      five residual blocks, one after the other
chain           only for Go: each stone gets the largest value among the stones of its chain
chain16         the same, only in the first 16 channels
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kibitz.errors import UsageError

_CONV = re.compile(r"(\d{1,5})conv(\d{1,5})x(\d{1,5})(?:s(\d{1,5})(?:x(\d{1,5}))?)?(?:p(\d{1,5})(?:x(\d{1,5}))?)?")
_POOL = re.compile(r"(|avg|stoch)pool(\d{1,5})x(\d{1,5})")
_DENSE = re.compile(r"ip(\d{1,5})")
_RESIDUAL = re.compile(r"(\d{1,5})res(\d{1,5})x(\d{1,5})(n?)")
_CHAIN = re.compile(r"chain(\d{0,5})")
_TIMES = re.compile(r"(\d{1,5})\*(.+)")


MAX, AVERAGE, STOCHASTIC = "", "avg", "stoch"
"""Kinds of pooling: the text before "pool" in a layer's name."""


@dataclass(frozen=True)
class Conv:
    """The description of a convolution from [n, channels, h, w] to [n, filters, h', w'].

    height, width: the size of a filter. stride, padding: pairs, first for the height, then for the width. h' = (h +
    2·padding[0] − height) / stride[0] + 1, and w' is computed in the same way.
    """

    filters: int
    height: int
    width: int
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Pool:
    """The description of a pooling layer from [n, channels, h, w] to [n, channels, ⌈h / height⌉, ⌈w / width⌉].

    height, width: the size of the window, which is also the stride. kind: MAX, AVERAGE or STOCHASTIC.
    """

    height: int
    width: int
    kind: str = MAX


@dataclass(frozen=True)
class Dense:
    """The description of a dense layer with `units` outputs. It flattens its input, and its output is [n, units]."""

    units: int


@dataclass(frozen=True)
class Residual:
    """The description of a residual block: two convolutions whose output is added to their input, from [n, channels, h,
    w] to [n, filters, h, w].

    height, width: the size of the filters, odd numbers. norm: whether there is batch normalization between the
    convolutions. If `filters` differs from the number of channels, the input first passes through a 1×1 convolution.
    """

    filters: int
    height: int
    width: int
    norm: bool = False


@dataclass(frozen=True)
class Chain:
    """The description of a layer for Go: each stone gets the largest value among the stones of its chain (connected
    stones of one color), in each channel.

    channels: the number of channels, from the first on, that change; 0 for all channels.
    """

    channels: int = 0


Layer = Conv | Pool | Dense | Residual | Chain


MAX_REPEATS = 100
"""The largest number of repetitions of a layer, such as 5 in 5*64res3x3."""


def read_layers(text: str) -> list[Layer]:
    """Parse layers in the notation of this module, such as "400conv4x4.pool2x2.ip70", and return their descriptions in
    order.

    Raises UsageError if a part is not a layer or cannot follow the layer before it. The message quotes this part.
    """
    layers: list[Layer] = []
    parts: list[str] = []
    for part in text.split("."):
        times = _TIMES.fullmatch(part)
        if times and int(times[1]) > MAX_REPEATS:
            raise UsageError(
                f"layers must repeat a layer at most {MAX_REPEATS} times (got {part}). Use a smaller factor."
            )
        parts += [times[2]] * int(times[1]) if times and int(times[1]) else [part]
    for index, part in enumerate(parts, 1):
        if match := _CONV.fullmatch(part):
            filters, height, width = (int(value) for value in match.groups()[:3])
            stride, padding = _two(match[4], match[5], 1), _two(match[6], match[7], 0)
            layer: Layer = Conv(filters, height, width, stride, padding)
            positive = bool(filters and height and width and all(stride))
        elif match := _POOL.fullmatch(part):
            layer = Pool(int(match[2]), int(match[3]), match[1])
            positive = bool(layer.height and layer.width)
        elif match := _RESIDUAL.fullmatch(part):
            layer = Residual(int(match[1]), int(match[2]), int(match[3]), bool(match[4]))
            positive = layer.filters > 0 and layer.height % 2 == layer.width % 2 == 1
        elif match := _CHAIN.fullmatch(part):
            layer = Chain(int(match[1] or 0))
            positive = match[1] == "" or layer.channels > 0
        elif match := _DENSE.fullmatch(part):
            layer = Dense(int(match[1]))
            positive = layer.units > 0
        else:
            raise UsageError(
                f"layer {index} is unknown (got {part or 'nothing'}). Example of layers: 400conv4x4.pool2x2.ip70"
            )
        if not positive:
            odd = ", and a residual block's sizes odd" if isinstance(layer, Residual) else ""
            raise UsageError(f"layer {index} must have sizes, filters and strides of at least 1{odd} (got {part})")
        if not isinstance(layer, Dense) and layers and isinstance(layers[-1], Dense):
            raise UsageError(f"layer {index} cannot follow a dense layer (got {part}). Put dense layers last.")
        layers.append(layer)
    return layers


def _two(first: str | None, second: str | None, default: int) -> tuple[int, int]:
    """Parse one number or two, and return a number for the height and one for the width. A single number is for
    both.
    """
    one = default if first is None else int(first)
    return one, one if second is None else int(second)


def shapes(layers: list[Layer], channels: int, side: int = 8) -> list[tuple[int, int, int]]:
    """Return the output shape of each layer, (channels, height, width), for an input [n, channels, side, side].

    A convolution must satisfy two conditions, both for the width and for the height: (W + 2P − F) mod S = 0 and W + 2P
    − F > 0. W is the size of the input, P the padding, F the size of the filter, and S the stride. Raises UsageError
    with the number of the first layer that doesn't fit its input.
    """
    outputs: list[tuple[int, int, int]] = []
    height = width = side
    for index, layer in enumerate(layers, 1):
        if isinstance(layer, Dense):
            channels, height, width = layer.units, 1, 1
        elif isinstance(layer, Residual):
            channels = layer.filters
        elif isinstance(layer, Chain):
            if layer.channels > channels:
                raise UsageError(f"layer {index} must have at most {channels} channels (got chain{layer.channels})")
        elif isinstance(layer, Pool):
            if layer.height > height or layer.width > width:
                raise UsageError(
                    f"layer {index}, pool{layer.height}x{layer.width}, must not be larger than its input (got"
                    f" {height}×{width})"
                )
            height, width = -(-height // layer.height), -(-width // layer.width)
        else:
            name = f"layer {index} ({layer.filters}conv{layer.height}x{layer.width})"
            windows = (("height", height, layer.height), ("width", width, layer.width))
            for (what, size, field), stride, padding in zip(windows, layer.stride, layer.padding, strict=True):
                room = size + 2 * padding - field
                if room <= 0:
                    raise UsageError(
                        f"{name} does not fit its input: the {what} of the input is {size}, and with a padding of"
                        f" {padding} on each side, it must be more than {field}. Use a smaller field or more padding."
                    )
                if room % stride:
                    raise UsageError(
                        f"{name} does not fit its input: {what} + 2·padding − field is {size} + 2·{padding} − {field} ="
                        f" {room}, and the stride {stride} must divide this number. Use another stride."
                    )
            channels = layer.filters
            height = (height + 2 * layer.padding[0] - layer.height) // layer.stride[0] + 1
            width = (width + 2 * layer.padding[1] - layer.width) // layer.stride[1] + 1
        outputs.append((channels, height, width))
    return outputs
