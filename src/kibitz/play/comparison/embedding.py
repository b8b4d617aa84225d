"""The comparison network of a run (a trained model) as plain arrays, and compiled functions that evaluate it, one
position at a time.

The network computes an embedding of each position, and compares two embeddings. A search computes the embedding of a
position once; a comparison then computes only the layers that take two embeddings as input. A layer's product adds the
rows of weights whose inputs are above 0. This applies the ReLU of the layer below, and skips inputs that are 0. Sizes
are padded with zeros to multiples of a vector register.

The functions take `weights`, a Weights. A position is a row, uint8 [68] (games/chess/replay.py). An accumulator,
float32 [n], has the sums of the first layer before its ReLU. An embedding, float32 [2 * d], has the inputs of a
comparison for a position.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.replay import CASTLING, SIDE, START_WIDTH
from kibitz.kernels import fast_kernel, fill, inner, kernel
from kibitz.runs import Run

PARTS = ("distilled", "full")
"""The comparison networks that a run (a trained model) may have. The first one is preferred."""
WHITE_TO_MOVE, RIGHTS, BIAS = 768, 769, 773
"""Rows of the first layer's weights, after those of the pieces. RIGHTS is the first of four rows of castling rights."""
_VECTOR = 16
"""Layer sizes are padded to a multiple of this number of float32 values."""
_FAST_MATH = {"contract", "reassoc", "nsz"}
"""Options for the compiler: sums may be reordered; NaNs and infinities keep their IEEE meaning."""


class Weights(NamedTuple):
    """The weights of a comparison network as arrays. Compiled functions write to `scratch` and `active`, so only one
    thread at a time may use an instance.

    feature_weights   float32 [774, n]: the first layer. Rows 0..767: a piece on a square, (code - 1) * 64 + square. The
                      others: White to move, the four castling rights, and the bias.
    values            float32: the weights and biases of all further layers, one layer after the other, and at the end
                      the weights and the constant of the logit.
    layers            int64 [k + m, 3]: row i is (offset, inputs, outputs) of a layer. Its matrix [inputs, outputs] and
                      its bias begin at this offset in `values`. Rows 0..k - 2: the layers of Pos2Vec after the first.
                      Row k - 1: the input layer of the comparison. It has two matrices, concatenated along the outputs:
                      one for the first position of a pair, and one for the second. Rows k..: the further layers of the
                      comparison.
    embedding_layers  k, the number of layers in `layers` that compute an embedding
    embedding_dim     d, the number of outputs of each of the two matrices in row k - 1. An embedding has 2 * d numbers.
                      The first d are used if the position is the first of a pair. The last d are used if it is the
                      second.
    antisymmetric     whether the logit of a pair is the mean of the logit in this order and minus the logit in the
                      opposite order. If not, only this order is computed.
    scratch           float32 [2, widest layer], working memory
    active            int64 [widest layer + 1], working memory
    """

    feature_weights: NDArray[np.float32]
    values: NDArray[np.float32]
    layers: NDArray[np.int64]
    scratch: NDArray[np.float32]
    active: NDArray[np.int64]
    embedding_layers: int
    embedding_dim: int
    antisymmetric: bool


@inner
def add_feature(accumulator, feature_weights, feature, sign):  # type: ignore[no-untyped-def]
    """Add `sign` times the weights of a feature to an accumulator, float32 [n]: the sums of the network's first layer
    for a position.

    feature_weights: float32 [774, n]. feature: a row of these weights, 0 to 773, such as a piece on a square. sign:
    float32, 1 to add the feature, or -1 to remove it.
    """
    row = feature_weights[feature]
    for j in range(accumulator.shape[0]):
        accumulator[j] += sign * row[j]


@inner
def refresh_accumulator(weights, row, out):  # type: ignore[no-untyped-def]
    """Compute the sums of the network's first layer for a position (its accumulator), and write them to `out`, float32
    [n]. weights: the network's weights, see `Weights`. row: uint8 [68], the position as 64 codes and 4 numbers of the
    state, see `kibitz.PositionArrays`.
    """
    fill(out, weights.feature_weights[BIAS])
    for square in range(64):
        if row[square]:
            add_feature(out, weights.feature_weights, (np.int64(row[square]) - 1) * 64 + square, np.float32(1))
    if row[64 + SIDE] == 0:
        add_feature(out, weights.feature_weights, WHITE_TO_MOVE, np.float32(1))
    for right in range(4):
        if row[64 + CASTLING] >> right & 1:
            add_feature(out, weights.feature_weights, RIGHTS + right, np.float32(1))


@fast_kernel(_FAST_MATH)
def _layer(values, layer, x, active, y):  # type: ignore[no-untyped-def]
    """Write bias + ReLU(x) · matrix to y, float32 [outputs]. x: float32 [inputs].

    layer: int64 [3], a row of Weights.layers. active: int64 [inputs + 1], working memory.
    """
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
    while k + 4 <= count:  # four rows at a time, so that y is read and written a quarter as often
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


@kernel
def embed(weights, accumulator, out):  # type: ignore[no-untyped-def]
    """Compute the embedding of a position, and write it to `out`, float32 [2 * d]. weights: the network's weights, see
    `Weights`. accumulator: float32 [n], the sums of the network's first layer for the position.
    """
    x = accumulator
    for k in range(weights.embedding_layers - 1):
        y = weights.scratch[k % 2]
        _layer(weights.values, weights.layers[k], x, weights.active, y)
        x = y
    _layer(weights.values, weights.layers[weights.embedding_layers - 1], x, weights.active, out)


@fast_kernel(_FAST_MATH)
def logit_ordered(weights, first, second):  # type: ignore[no-untyped-def]
    """Return the logit of the probability that the first of two positions is better for White, from one evaluation of
    the network with the positions in this order.

    weights: the network's weights, see `Weights`. first, second: float32 [2 * d], the embeddings of the positions.
    """
    dim = weights.embedding_dim
    left, right = first[:dim], second[dim:]
    x = weights.scratch[0]
    for j in range(dim):
        x[j] = left[j] + right[j]
    size = dim
    for k in range(weights.embedding_layers, weights.layers.shape[0]):
        y = weights.scratch[(k - weights.embedding_layers + 1) % 2]
        _layer(weights.values, weights.layers[k], x, weights.active, y)
        x, size = y, weights.layers[k, 2]
    last = weights.values[weights.values.shape[0] - size - 1 :]
    result = last[size]
    for j in range(size):
        result += last[j] * max(x[j], np.float32(0))
    return result


@kernel
def logit(weights, first, second):  # type: ignore[no-untyped-def]
    """Return the logit of the probability that the first of two positions is better for White.

    If the network is antisymmetric, the logit is the mean of two numbers: the logit with the pair in this order, and
    minus the logit with the pair in the opposite order. weights: the network's weights, see `Weights`. first, second:
    float32 [2 * d], the embeddings of the positions.
    """
    forth = logit_ordered(weights, first, second)
    if weights.antisymmetric:
        return (forth - logit_ordered(weights, second, first)) / np.float32(2)
    return forth


@kernel
def _embed(weights, rows, out):  # type: ignore[no-untyped-def]
    """Write the embeddings of positions, uint8 [n, 68], to out, float32 [n, 2 * d]."""
    accumulator = np.empty(weights.feature_weights.shape[1], np.float32)
    for i in range(rows.shape[0]):
        refresh_accumulator(weights, rows[i], accumulator)
        embed(weights, accumulator, out[i])


@kernel
def _logits(weights, first, second, out):  # type: ignore[no-untyped-def]
    """Write the logits of pairs of embeddings, float32 [n, 2 * d] each, to out, float32 [n]."""
    for i in range(first.shape[0]):
        out[i] = logit(weights, first[i], second[i])


@kernel
def _white_better(weights, embeddings, references, out):  # type: ignore[no-untyped-def]
    """Write the mean probability that each position is better for White than the references, in both orders, to out,
    float64 [n].

    embeddings: float32 [n, 2 * d]. references: float32 [k, 2 * d].
    """
    for i in range(embeddings.shape[0]):
        total = 0.0
        for k in range(references.shape[0]):
            forth = logit_ordered(weights, embeddings[i], references[k])
            back = logit_ordered(weights, references[k], embeddings[i])
            total += 1 / (1 + np.exp(-(np.float64(forth) - np.float64(back)) / 2))
        out[i] = total / references.shape[0]


class PositionComparer:
    """A loaded network that compares positions. Only one thread at a time may use an instance.

    rows: uint8 [n, 68], the reference positions of the trained network, as rows of codes and state (see
        `kibitz.PositionArrays`).
    references: float32 [n, 2 * d], the embeddings of these positions.
    draw: the index of the most balanced reference position, whose `white_better` is nearest to 0.5.
    """

    def __init__(self, weights: Weights, rows: NDArray[np.uint8]):
        self.weights, self.rows = weights, rows
        self.references = self.embed(rows[:, :64], rows[:, 64:])
        self.draw = int(np.abs(self.white_better(self.references) - 0.5).argmin())

    def embed(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the embeddings of positions, float32 [n, 2 * d]. codes, state: the positions, uint8 [n, 64] and uint8
        [n, 4 or more], see `kibitz.PositionArrays`.
        """
        rows = np.ascontiguousarray(np.concatenate([codes, state[:, :4]], axis=1), np.uint8)
        out = np.empty((len(rows), 2 * self.weights.embedding_dim), np.float32)
        _embed(self.weights, rows, out)
        return out

    def compare(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the logit of the probability that the first position of each pair is better for White, float32 [n].
        first, second: float32 [n, 2 * d], the embeddings of the positions.
        """
        out = np.empty(len(first), np.float32)
        _logits(self.weights, first, second, out)
        return out

    def white_better(self, embeddings: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return for each position the probability that it is better for White than a reference position, averaged over
        all reference positions of the network, float64 [n]. embeddings: float32 [n, 2 * d].
        """
        out = np.empty(len(embeddings), np.float64)
        _white_better(self.weights, embeddings, self.references, out)
        return out


def load(run: Run, part: str | None = None) -> PositionComparer:
    """Load a comparison network of a run (a trained model). part: "distilled" or "full"; None for the distilled network
    if it exists and is trained, else for the full one.

    Raises UsageError if the run's network does not compare positions, or if the run does not have this part. Raises
    KibitzError if the weights are damaged.
    """
    path, arrays = run.trained(), run.load_weights()
    available = [name for name in PARTS if f"{name}.pos2vec.first.weight" in arrays]
    if not available:
        raise UsageError(f"{run.name} does not compare positions. Use a run of the system 'deepchess'.")
    if part is not None and part not in available:
        raise UsageError(f"{run.name} has no {part} network. Use its {available[0]} network.")
    part = part or next((name for name in available if _trained(arrays, name)), available[0])
    try:
        parameters = {
            name.removeprefix(part + "."): array.astype(np.float32)
            for name, array in arrays.items()
            if name.startswith(part + ".")
        }
        weights = pack(parameters, bool(run.info["settings"].get("antisymmetric", False)))
        rows = np.concatenate([arrays["reference_codes"], arrays["reference_state"]], axis=1)
        if rows.shape[1] != START_WIDTH or rows.dtype != np.uint8 or rows.max(initial=0, where=_CODES) > 12:
            raise ValueError("the reference positions are invalid")
    except (KeyError, ValueError, IndexError):
        raise KibitzError(f"{path} is damaged. Train the network again.") from None
    return PositionComparer(weights, rows)


_CODES = np.arange(START_WIDTH) < 64


def _trained(arrays: Mapping[str, NDArray[Any]], part: str) -> bool:
    """Return whether a network has been trained: before training, all biases are 0. See
    `systems.deepchess.ComparisonNet`.
    """
    return any(a.any() for name, a in arrays.items() if name.startswith(f"{part}.compare.") and name.endswith("bias"))


def pack(arrays: Mapping[str, NDArray[np.float32]], antisymmetric: bool = False) -> Weights:
    """Return the weights of a torch ComparisonNet in the form that the compiled functions use.

    arrays: a dict from names in the network's state dict to weights. antisymmetric: whether a comparison averages both
    orders of a pair, see `Weights`. Raises KeyError or ValueError if an array is missing, or if the shapes don't fit
    together.
    """
    values: list[NDArray[np.float32]] = []
    widest = 0

    def add(matrix: NDArray[np.float32], bias: NDArray[np.float32], inputs: int) -> tuple[int, int, int]:
        """Append a layer to `values`, and return its row of Weights.layers.

        matrix: [outputs, inputs], and bias: [outputs], as in torch. Both are padded with zeros. inputs: the number of
        padded outputs of the layer before it.
        """
        nonlocal widest
        outputs = -(-len(matrix) // _VECTOR) * _VECTOR
        at = sum(map(len, values))
        padded = np.zeros((inputs + 1, outputs), np.float32)
        padded[: matrix.shape[1], : len(matrix)] = matrix.T
        padded[inputs, : len(matrix)] = bias
        values.append(padded.ravel())
        widest = max(widest, inputs, outputs)
        return at, inputs, outputs

    first = _padded(np.concatenate([arrays["pos2vec.first.weight"], arrays["pos2vec.first.bias"][None]]), 1)
    if len(first) != BIAS + 1:
        raise ValueError(f"the first layer must have {BIAS} rows (got {len(first) - 1})")
    width = first.shape[1]
    layers = []
    for name in _numbered(arrays, "pos2vec.rest"):
        layers.append(add(arrays[f"{name}.weight"], arrays[f"{name}.bias"], width))
        width = layers[-1][2]
    as_first, as_second = arrays["compare.as_first.weight"], arrays["compare.as_second.weight"]
    dim = -(-len(as_first) // _VECTOR) * _VECTOR
    both = np.concatenate([_padded(as_first, 0), _padded(as_second, 0)])
    bias = np.zeros(2 * dim, np.float32)
    bias[: len(as_first)] = arrays["compare.as_first.bias"]
    layers.append(add(both, bias, width))
    embedding_layers, width = len(layers), dim
    for name in _numbered(arrays, "compare.rest"):
        layers.append(add(arrays[f"{name}.weight"], arrays[f"{name}.bias"], width))
        width = layers[-1][2]
    last, constants = arrays["compare.answer.weight"], arrays["compare.answer.bias"]
    answer = np.zeros(width + 1, np.float32)
    answer[: last.shape[1]] = last[0] - last[1]
    answer[width] = constants[0] - constants[1]
    scratch, active = np.zeros((2, widest), np.float32), np.zeros(widest + 1, np.int64)
    return Weights(
        first,
        np.concatenate([*values, answer]),
        np.array(layers, np.int64),
        scratch,
        active,
        embedding_layers,
        dim,
        antisymmetric,
    )


def _padded(array: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """Return the array with zeros added along an axis, up to a multiple of _VECTOR."""
    padding = [(0, 0)] * array.ndim
    padding[axis] = (0, -array.shape[axis] % _VECTOR)
    return np.pad(array, padding)


def _numbered(arrays: Mapping[str, Any], name: str) -> list[str]:
    """Return the names NAME.0, NAME.1, ... of the layers that exist."""
    names: list[str] = []
    while f"{name}.{len(names)}.weight" in arrays:
        names.append(f"{name}.{len(names)}")
    return names
