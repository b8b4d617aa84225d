"""A first layer for inputs that are nearly all 0: about 25 of the 773 bits of a chess position are 1.

The output of the layer is the sum of the weight rows of these bits. On a CPU, this module only adds these rows, and
computes the gradients only for them, which saves 29 of 30 multiplications. On other devices, and in ONNX, the output is
a matrix product with all bits.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from kibitz.games.chess.encodings import BITS, PieceBits
from kibitz.games.chess.replay import CASTLING, SIDE
from kibitz.kernels import fast_kernel, inner, kernel

MAX_BITS = 64 + 5
"""The largest number of bits that are 1 in one position: one per square, the side to move and four castling rights."""


@inner
def set_bits(codes, state, found):  # type: ignore[no-untyped-def]
    """Write the indices of the bits that are 1 in one chess position to `found`, and return their number.
    `encodings.PieceBits` describes the 773 bits.

    codes: the pieces on the squares, uint8 [64]. state: the side to move and more, uint8 [4] (see
    games/chess/replay.py). found: the array for the indices, int16 [69].
    """
    count = 0
    for square in range(64):
        if codes[square]:
            found[count] = (np.int64(codes[square]) - 1) * 64 + square
            count += 1
    if state[SIDE] == 0:
        found[count] = 768
        count += 1
    for right in range(4):
        if state[CASTLING] >> right & 1:
            found[count] = 769 + right
            count += 1
    return count


@kernel
def _index(codes, state, bits, counts):  # type: ignore[no-untyped-def]
    """Write the set bits of positions to bits, int16 [n, 69], and their numbers to counts, int16 [n].

    codes, state: the positions, uint8 [n, 64] and uint8 [n, 4], see `kibitz.PositionArrays`.
    """
    for i in range(codes.shape[0]):
        counts[i] = set_bits(codes[i], state[i], bits[i])


@fast_kernel(True)
def _add_rows(bits, counts, weight, bias, out, first, end):  # type: ignore[no-untyped-def]
    """Write bias plus the weights' rows of the set bits to out[first:end], float32 [n, size].

    bits: int16 [n, 69], with counts [n]. weight: float32 [773, size]. bias: float32 [size].
    """
    for i in range(first, end):
        row = out[i]
        row[:] = bias
        for k in range(counts[i]):
            from_ = weight[bits[i, k]]
            for j in range(row.shape[0]):
                row[j] += from_[j]


@fast_kernel(True)
def _add_gradients(bits, counts, gradient, out, first, end):  # type: ignore[no-untyped-def]
    """Add the gradient of each position to the rows of its set bits, in the columns first:end of out, float32 [773,
    size].

    bits: int16 [n, 69], with counts [n]. gradient: float32 [n, size].
    """
    for i in range(bits.shape[0]):
        row = gradient[i, first:end]
        for k in range(counts[i]):
            to = out[bits[i, k], first:end]
            for j in range(row.shape[0]):
                to[j] += row[j]


_POOL: dict[int, ThreadPoolExecutor] = {}


def _side_by_side(function: Any, size: int, *arguments: Any) -> None:
    """Call function(*arguments, first, end) for ranges that together cover 0 to size, each range in its own thread."""
    threads = torch.get_num_threads()
    if threads == 1 or size < 64:
        function(*arguments, 0, size)
        return
    pool = _POOL.setdefault(threads, ThreadPoolExecutor(threads))
    step = -(-size // threads)
    parts = [(at, min(at + step, size)) for at in range(0, size, step)]
    for done in [pool.submit(function, *(*arguments, *part)) for part in parts]:
        done.result()


class _Rows(torch.autograd.Function):
    """The layer's computation on a CPU: (codes, state, weight [773, size], bias [size]) -> [n, size]."""

    @staticmethod
    def forward(ctx: Any, codes: Tensor, state: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        bits, counts = indices(codes.numpy(), state.numpy())
        out = torch.empty(len(codes), weight.shape[1])
        _side_by_side(
            _add_rows, len(codes), bits, counts, weight.detach().float().numpy(), bias.detach().float().numpy(),
            out.numpy(),
        )  # fmt: skip
        ctx.bits, ctx.counts, ctx.width = bits, counts, weight.shape[1]
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, Tensor, Tensor]:
        gradient = gradient.float().contiguous()
        out = torch.zeros(BITS, ctx.width)
        _side_by_side(_add_gradients, ctx.width, ctx.bits, ctx.counts, gradient.numpy(), out.numpy())
        return None, None, out, gradient.sum(0)


def indices(codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the indices of the bits that are 1 in each chess position, int16 [n, 69], and the number of these bits,
    int16 [n]. If k bits of a position are 1, the first k entries of its row are their indices, 0 to 772. The other
    entries have no meaning. `encodings.PieceBits` describes the 773 bits.

    codes: the pieces on the squares, uint8 [n, 64]. state: the side to move and more, uint8 [n, 4] (see
    games/chess/replay.py).
    """
    bits, counts = np.empty((len(codes), MAX_BITS), np.int16), np.empty(len(codes), np.int16)
    _index(codes, state, bits, counts)
    return bits, counts


class BitsLinear(nn.Module):
    """A linear layer whose inputs are the 773 bits of chess positions, which `encodings.PieceBits` describes. It
    returns bits · weight + bias, float [n, size].

    size: the number of outputs. weight: [773, size], one row per bit.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(BITS, size))
        self.bias = nn.Parameter(torch.zeros(size))
        self.bits = PieceBits()
        self.draw(None)

    @torch.no_grad()
    def draw(self, generator: torch.Generator | None) -> None:
        """Set random initial weights, and biases of 0. In a typical position 25 bits are 1, and then the outputs have
        variance 2. generator: None for torch's default generator.
        """
        self.weight.normal_(0, (2 / 25) ** 0.5, generator=generator)
        self.bias.zero_()

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        """Return the outputs for a batch of positions, float [n, size]. codes: the pieces on the squares, uint8 [n,
        64]. state: the side to move and more, uint8 [n, 4] (see games/chess/replay.py).
        """
        if codes.device.type == "cpu" and not torch.onnx.is_in_onnx_export():
            return cast(Tensor, _Rows.apply(codes, state, self.weight, self.bias))  # type: ignore[no-untyped-call]
        return cast(Tensor, self.bits(codes, state) @ self.weight + self.bias)
