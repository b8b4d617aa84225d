"""Compare the distilled (small) network of a trained network with its full network: the loss in accuracy, and the gain
in speed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from kibitz.evaluation.pairs.answers import PairResults, PairSample
from kibitz.evaluation.tables import Cell, Column, Table
from kibitz.play.comparison import embedding
from kibitz.runs import Run
from kibitz.text import signed

SPEED_POSITIONS = 512
SECONDS, TRIES = 0.1, 3


def distilled(run: Run, results: PairResults, by_position: PairResults | None) -> list[Table]:
    """Return a list with the table that compares the full network of a run (the folder of a trained network) and its
    distilled network. The list is empty if the run has only one network.

    results: the predictions for the tested pairs. by_position: the predictions for pairs of held-out positions, from
    the training games; None if there are none.
    """
    if len(results.parts) < 2:
        return []
    full, small = results.answers["full"], results.answers["distilled"]
    lost = results.groups.difference(full.right, small.right)
    agree = results.groups.mean((full.as_shown > 0) == (small.as_shown > 0))
    speeds = {name: speed(run, name, results.pairs) for name in results.parts}
    rates = {name: 1 / (1 / embed + 1 / compare) for name, (embed, compare) in speeds.items()}
    rows: list[list[Cell]] = []
    for name, part in results.parts.items():
        rows.append(
            [
                name,
                results.groups.mean(results.answers[name].right, score=True),
                by_position.groups.mean(by_position.answers[name].right, score=True) if by_position else None,
                agree if name == "distilled" else None,
                sum(weights.numel() for weights in part.parameters()),
                *(round(rate) for rate in speeds[name]),
                round(rates[name]),
            ]
        )
    points, low, high = (100 * value for value in (lost.value, lost.low, lost.high))
    interval = f" (95% interval of the loss {signed(low)} to {signed(high)})" if not math.isnan(low) else ""
    return [
        Table(
            "Distilled and full network",
            f"The distilled network is right {abs(points):.1f} points {'less' if points >= 0 else 'more'} "
            f"often by game{interval} and makes "
            f"{rates['distilled'] / rates['full']:.1f} times as many evaluations per second. An evaluation embeds "
            "and compares one position; the speed is measured on one core, one position at a time, with the code for "
            "playing.",
            "network",
            [
                *(Column(name) for name in ("by game", "by position", "agrees")),
                *(Column(name, "count") for name in ("weights", "embeddings/s", "comparisons/s", "evaluations/s")),
            ],
            rows,
        )
    ]


def speed(run: Run, name: str, pairs: PairSample) -> tuple[float, float]:
    """Measure the speed of a network. Return how many positions per second it converts to features, and how many pairs
    per second it then compares.

    run: the folder of a trained network, which contains the network. name: the network's name, such as "distilled".
    pairs: the sample with whose positions the speed is measured.
    """
    network = embedding.load(run, name)
    rows = np.resize(np.arange(len(pairs.games)), SPEED_POSITIONS)
    codes, state = pairs.store.replay(pairs.games[rows], pairs.plies[rows])
    embeddings = network.embed(codes, state)
    return (
        rate(lambda: network.embed(codes, state), SPEED_POSITIONS),
        rate(lambda: network.compare(embeddings, embeddings[::-1].copy()), SPEED_POSITIONS),
    )


def rate(work: Callable[[], object], many: int) -> float:
    """Measure the speed of a function, in units of work per second.

    work: the function. many: the number of units of work in one call, such as the number of positions.

    The function is called repeatedly in several periods of time, and the result is the highest speed of a period.
    Other programs on the machine can only reduce the speed.
    """
    work()
    best = 0.0
    for _ in range(TRIES):
        begun, calls = time.perf_counter(), 0
        while (passed := time.perf_counter() - begun) < SECONDS:
            work()
            calls += 1
        best = max(best, calls * many / passed)
    return best
