"""Evaluate the positions of a line (a start position and moves) with a network, for the page of `kibitz board`: win
probability, moves, ownership.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz import text
from kibitz.web.networks import NetworkInfo, NetworkRegistry
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from kibitz.web.positions import Line

FIRST_BATCH, MAX_BATCH = 1, 32
"""The smallest and the largest number of positions in a batch. The first batch is small, so that results appear soon.
Later batches are larger, which is faster. Even the largest batch is so small that a canceled analysis ends soon.
"""


def analyse(
    networks: NetworkRegistry, network: NetworkInfo, line: Line, first: int, last: int, seq: int, checkpoint: str | None
) -> Iterator[list[dict[str, Any]]]:
    """Evaluate the positions from ply `first` to ply `last` of a line with a network. Yields lists of dicts. Each dict
    becomes one line of JSON in the response.

    The first dict has the number of results, and the last dict marks the end. Between them is one dict per position.
    seq: the number that the browser page of `kibitz board` gave to the request. checkpoint: the name of a training
    checkpoint, whose weights are used; None for the network's best weights.
    """
    began = time.perf_counter()
    yield [{"seq": seq, "total": last - first + 1}]
    session = networks.evaluator(network.name, checkpoint)
    for batch in line.results(session, network, first, last):
        yield [{"seq": seq, **result} for result in batch]
    yield [{"seq": seq, "done": True, "seconds": round(time.perf_counter() - began, 3)}]


def batches(count: int) -> Iterator[slice]:
    """Yield Python slices that together cover the indices from 0 to `count` - 1. The slices become larger, from 1 to 32
    indices.
    """
    start, size = 0, FIRST_BATCH
    while start < count:
        yield slice(start, min(start + size, count))
        start += size
        size = min(2 * size, MAX_BATCH)


def targets(networks: NetworkRegistry, network: NetworkInfo, line: Line, square: int) -> dict[str, Any]:
    """Return where the piece on a square of a line's last position would move: {"targets": a probability for each of
    the 64 squares, a1 first}. line: a start position and moves. square: the square of the piece, 0 to 63.

    All probabilities are 0 if the square has no piece of the side to move. Raises BadRequest if the network predicts no
    moves.
    """
    if line.game != "chess" or "moves" not in network.answers:
        raise BadRequest(f"{network.name} does not predict moves")
    last = len(line.moves)
    codes, state = line.rows(last, last)
    code = int(codes[0, square])
    if code == 0 or (code > 6) != bool(state[0, 0]):
        return {"targets": [0] * 64}
    session = networks.session(network.name)
    rows = session.evaluate(*line.conditioned(session.side_inputs))["target"][0]
    return {"targets": rounded_list(rows[square if len(rows) == 64 else (code - 1) % 6])}


def rounded(value: Any, digits: int = 4) -> float:
    """Round a number to `digits` decimals, for JSON."""
    return text.rounded(float(value), digits)


def rounded_list(values: NDArray[Any], digits: int = 4) -> list[float]:
    """Round each number in `values` to `digits` decimals, for JSON."""
    result: list[float] = (values.astype(np.float64).round(digits) + 0.0).tolist()
    return result
