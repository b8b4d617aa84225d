"""A run's comparison of positions as plain arrays, and the kernels that answer with it, one position at a time.

Made for a search: what a position brings to comparisons (its halves) is made once, and a comparison then costs only
the layers above both. A layer's product adds up the rows of weights that belong to inputs above 0: that is its ReLU,
and spares the half of the work that ReLU made 0. Sizes are filled up with zeros to whole vectors of the processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.replay import CASTLING, SIDE, START_WIDTH
from kibitz.runs import Run

PARTS = ("distilled", "full")
"""The networks that a run may hold; a player's first choice first."""
WHITE_TO_MOVE, RIGHTS, BIAS = 768, 769, 773
"""Rows of the first layer after the twelve pieces' squares."""
_VECTOR = 16
_FAST = {"contract", "reassoc", "nsz"}
"""Sums may be taken in any order; what is no number stays none."""


class Weights(NamedTuple):
    """first [774, n]: what a position's bits add up to, and as the last row the bias. layers int64 [k + m, 3]: the rest
    of Pos2Vec, and as the k-th both as_first and as_second of the comparison, side by side; then the comparison's
    further layers, m of them. Each is a place in `values`, inputs and outputs: there stand the matrix [inputs, outputs]
    and the bias. At the end of `values`: weights of the logit, then its constant. half: size of as_first. room [2,
    widest layer], active [widest layer + 1]: where the kernels work, of one thread."""

    first: NDArray[np.float32]
    values: NDArray[np.float32]
    layers: NDArray[np.int64]
    room: NDArray[np.float32]
    active: NDArray[np.int64]
    below: int
    half: int
    antisymmetric: bool


@numba.njit(nogil=True, cache=True)
def fill(out, row):  # type: ignore[no-untyped-def]
    """out[:] = row, which numba would take seconds more to compile, wherever it stands."""
    for j in range(out.shape[0]):
        out[j] = row[j]


@numba.njit(nogil=True, cache=True)
def add_row(out, rows, bit, sign):  # type: ignore[no-untyped-def]
    row = rows[bit]
    for j in range(out.shape[0]):
        out[j] += sign * row[j]


@numba.njit(nogil=True, cache=True)
def total(weights, row, out):  # type: ignore[no-untyped-def]
    """The first layer's sums of a position [68], from all its bits."""
    fill(out, weights.first[BIAS])
    for square in range(64):
        if row[square]:
            add_row(out, weights.first, (np.int64(row[square]) - 1) * 64 + square, np.float32(1))
    if row[64 + SIDE] == 0:
        add_row(out, weights.first, WHITE_TO_MOVE, np.float32(1))
    for right in range(4):
        if row[64 + CASTLING] >> right & 1:
            add_row(out, weights.first, RIGHTS + right, np.float32(1))


@numba.njit(nogil=True, cache=True, fastmath=_FAST)
def _layer(values, layer, x, active, y):  # type: ignore[no-untyped-def]
    """y = bias + ReLU(x) · matrix."""
    at, inputs, outputs = layer[0], layer[1], layer[2]
    matrix = values[at : at + inputs * outputs].reshape((inputs, outputs))
    bias = values[at + inputs * outputs : at + (inputs + 1) * outputs]
    count = 0
    for i in range(inputs):
        active[count] = i
        count += x[i] > 0
    for j in range(outputs):
        y[j] = bias[j]
    k = 0
    while k + 4 <= count:  # four at a time, so that y is read and written a quarter as often
        i0, i1, i2, i3 = active[k], active[k + 1], active[k + 2], active[k + 3]
        x0, x1, x2, x3 = x[i0], x[i1], x[i2], x[i3]
        row0, row1, row2, row3 = matrix[i0], matrix[i1], matrix[i2], matrix[i3]
        for j in range(outputs):
            y[j] += x0 * row0[j] + x1 * row1[j] + x2 * row2[j] + x3 * row3[j]
        k += 4
    while k < count:
        x0, row0 = x[active[k]], matrix[active[k]]
        for j in range(outputs):
            y[j] += x0 * row0[j]
        k += 1


@numba.njit(nogil=True, cache=True)
def halve(weights, sums, out):  # type: ignore[no-untyped-def]
    """From the first layer's sums to a position's halves [2 · half]."""
    x = sums
    for k in range(weights.below - 1):
        y = weights.room[k % 2]
        _layer(weights.values, weights.layers[k], x, weights.active, y)
        x = y
    _layer(weights.values, weights.layers[weights.below - 1], x, weights.active, out)


@numba.njit(nogil=True, cache=True, fastmath=_FAST)
def one_way(weights, first, second):  # type: ignore[no-untyped-def]
    """The network's logit for two positions in this order, from the halves of both."""
    half = weights.half
    left, right = first[:half], second[half:]
    x = weights.room[0]
    for j in range(half):
        x[j] = left[j] + right[j]
    size = half
    for k in range(weights.below, weights.layers.shape[0]):
        y = weights.room[(k - weights.below + 1) % 2]
        _layer(weights.values, weights.layers[k], x, weights.active, y)
        x, size = y, weights.layers[k, 2]
    answer = weights.values[weights.values.shape[0] - size - 1 :]
    found = answer[size]
    for j in range(size):
        found += answer[j] * max(x[j], np.float32(0))
    return found


@numba.njit(nogil=True, cache=True)
def logit(weights, first, second):  # type: ignore[no-untyped-def]
    """How much better the first position is for White than the second, from the halves of both."""
    forth = one_way(weights, first, second)
    if weights.antisymmetric:
        return (forth - one_way(weights, second, first)) / np.float32(2)
    return forth


@numba.njit(nogil=True, cache=True)
def _halves(weights, rows, out):  # type: ignore[no-untyped-def]
    sums = np.empty(weights.first.shape[1], np.float32)
    for i in range(rows.shape[0]):
        total(weights, rows[i], sums)
        halve(weights, sums, out[i])


@numba.njit(nogil=True, cache=True)
def _logits(weights, first, second, out):  # type: ignore[no-untyped-def]
    for i in range(first.shape[0]):
        out[i] = logit(weights, first[i], second[i])


@numba.njit(nogil=True, cache=True)
def _white_better(weights, halves, references, out):  # type: ignore[no-untyped-def]
    for i in range(halves.shape[0]):
        found = 0.0
        for k in range(references.shape[0]):
            forth = one_way(weights, halves[i], references[k])
            back = one_way(weights, references[k], halves[i])
            found += 1 / (1 + np.exp(-(np.float64(forth) - np.float64(back)) / 2))
        out[i] = found / references.shape[0]


class PositionComparer:
    """A comparison network, ready to answer; safe in one thread at a time.

    references: halves of the run's reference positions float32 [n, 2 · half]. draw: the number of the most balanced of
    them, whose own white_better is nearest to one half; rows uint8 [n, 68]: the reference positions themselves.
    """

    def __init__(self, weights: Weights, rows: NDArray[np.uint8]):
        self.weights, self.rows = weights, rows
        self.references = self.halves(rows[:, :64], rows[:, 64:])
        self.draw = int(np.abs(self.white_better(self.references) - 0.5).argmin())

    def halves(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NDArray[np.float32]:
        """What positions codes [n, 64], state [n, 4] bring to a comparison, [n, 2 · half]."""
        rows = np.ascontiguousarray(np.concatenate([codes, state[:, :4]], axis=1), np.uint8)
        found = np.empty((len(rows), 2 * self.weights.half), np.float32)
        _halves(self.weights, rows, found)
        return found

    def compare(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits [n] that the first position of each pair, given by its halves, is the better one for White."""
        found = np.empty(len(first), np.float32)
        _logits(self.weights, first, second, found)
        return found

    def white_better(self, halves: NDArray[np.float32]) -> NDArray[np.float64]:
        """The probability [n] that a position is better for White than a reference position, their mean."""
        found = np.empty(len(halves), np.float64)
        _white_better(self.weights, halves, self.references, found)
        return found


def load(run: Run, part: str | None = None) -> PositionComparer:
    """A run's comparer: "distilled" or "full"; None: the distilled one where there is one.

    Raises UsageError where the run compares nothing, or holds no such network, KibitzError where its weights are
    damaged.
    """
    path, arrays = run.trained(), run.load_weights()
    there = [name for name in PARTS if f"{name}.pos2vec.first.weight" in arrays]
    if not there:
        raise UsageError(f"{run.name}: compares no positions; take a run of deepchess")
    if part is not None and part not in there:
        raise UsageError(f"{run.name}: holds no {part} network, only the {there[0]} one")
    part = part or there[0]
    try:
        inside = {
            name.removeprefix(part + "."): array.astype(np.float32)
            for name, array in arrays.items()
            if name.startswith(part + ".")
        }
        weights = pack(inside, bool(run.info["settings"].get("antisymmetric", False)))
        rows = np.concatenate([arrays["reference_codes"], arrays["reference_state"]], axis=1)
        if rows.shape[1] != START_WIDTH or rows.dtype != np.uint8 or rows.max(initial=0, where=_CODES) > 12:
            raise ValueError("reference positions")
    except (KeyError, ValueError, IndexError) as error:
        raise KibitzError(f"{path}: damaged ({' '.join(str(error).split())}); train again") from None
    return PositionComparer(weights, rows)


_CODES = np.arange(START_WIDTH) < 64


def pack(arrays: Mapping[str, NDArray[np.float32]], antisymmetric: bool = False) -> Weights:
    """Weights from the arrays of a torch ComparisonNet, under their names there. Raises KeyError or ValueError where
    they do not fit together."""
    values: list[NDArray[np.float32]] = []
    widest = 0

    def add(matrix: NDArray[np.float32], bias: NDArray[np.float32], inputs: int) -> tuple[int, int, int]:
        """matrix [outputs, inputs] as torch has it, which is filled up to the inputs that the layer below gives."""
        nonlocal widest
        outputs = -(-len(matrix) // _VECTOR) * _VECTOR
        at = sum(map(len, values))
        whole = np.zeros((inputs + 1, outputs), np.float32)
        whole[: matrix.shape[1], : len(matrix)] = matrix.T
        whole[inputs, : len(matrix)] = bias
        values.append(whole.ravel())
        widest = max(widest, inputs, outputs)
        return at, inputs, outputs

    first = _wide(np.concatenate([arrays["pos2vec.first.weight"], arrays["pos2vec.first.bias"][None]]), 1)
    if len(first) != BIAS + 1:
        raise ValueError(f"{len(first) - 1} rows of the first layer")
    width = first.shape[1]
    layers = []
    for name in _numbered(arrays, "pos2vec.rest"):
        layers.append(add(arrays[f"{name}.weight"], arrays[f"{name}.bias"], width))
        width = layers[-1][2]
    as_first, as_second = arrays["compare.as_first.weight"], arrays["compare.as_second.weight"]
    half = -(-len(as_first) // _VECTOR) * _VECTOR
    both = np.concatenate([_wide(as_first, 0), _wide(as_second, 0)])
    bias = np.zeros(2 * half, np.float32)
    bias[: len(as_first)] = arrays["compare.as_first.bias"]
    layers.append(add(both, bias, width))
    width = half
    below, width = len(layers), half
    for name in _numbered(arrays, "compare.rest"):
        layers.append(add(arrays[f"{name}.weight"], arrays[f"{name}.bias"], width))
        width = layers[-1][2]
    last, constants = arrays["compare.answer.weight"], arrays["compare.answer.bias"]
    answer = np.zeros(width + 1, np.float32)
    answer[: last.shape[1]] = last[0] - last[1]
    answer[width] = constants[0] - constants[1]
    room, active = np.zeros((2, widest), np.float32), np.zeros(widest + 1, np.int64)
    return Weights(
        first, np.concatenate([*values, answer]), np.array(layers, np.int64), room, active, below, half, antisymmetric
    )


def _wide(array: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """Filled up with zeros along an axis."""
    more = [(0, 0)] * array.ndim
    more[axis] = (0, -array.shape[axis] % _VECTOR)
    return np.pad(array, more)


def _numbered(arrays: Mapping[str, Any], name: str) -> list[str]:
    found: list[str] = []
    while f"{name}.{len(found)}.weight" in arrays:
        found.append(f"{name}.{len(found)}")
    return found
