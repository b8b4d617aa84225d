"""The part of a test for the value network, which predicts the result of a game.

The metrics are the squared error, the accuracy of the sign, and the correlation with material. A table contains the
predicted values by the distance from the end of the game.
"""

from __future__ import annotations

import numpy as np

from kibitz.evaluation.policy.metrics import PolicyResults
from kibitz.evaluation.tables import Cell, Column, Metric, Metrics, Table
from kibitz.systems.movers import system

LEFT = (1, 5, 10, 20, 40, 80, np.inf)
LEFT_WORDS = ("1 to 4", "5 to 9", "10 to 19", "20 to 39", "40 to 79", "80 and over")
"""The names of the groups of positions by the number of plies to the end of the game."""


def left(results: PolicyResults) -> np.ndarray:
    """Return the number of plies from each position to the end of its game, int64 [n]. The number is 1 in the position
    before the last move.
    """
    return np.asarray(results.store.plies[results.games] - results.plies)


def valued(results: PolicyResults) -> tuple[Metrics, list[Table]]:
    """Return a dict of metrics of the network that predicts the result, and a table of its predicted values. The table
    has the values by the number of plies (moves of one side) to the end of the game.
    """
    value, result, away = results.marks["value"].astype(np.float64), results.result, left(results)
    side, gamma = results.marks["side"].astype(np.int64), results.settings.gamma
    truth = system.values(results.store.column("result")[results.games], side, away, gamma)
    decided = result != 0
    right = (value > 0) == (result > 0)
    groups = results.groups
    figures = {
        "sign_accuracy": Metric(groups.mean(right, decided)),
        "value_squared_error": Metric(groups.mean((value - truth) ** 2), "number"),
        "material_correlation": Metric(groups.correlation(value, results.marks["material"]), "number"),
    }
    rows: list[list[Cell]] = []
    for words, low, high in zip(LEFT_WORDS, LEFT[:-1], LEFT[1:], strict=True):
        near = (away >= low) & (away < high)
        if not near.any():
            continue
        cells = [groups.mean(value, near & (result == kind)) for kind in (1, 0, -1)]
        cells.append(groups.mean(right, near & decided))
        rows.append([words, *cells, int(near.sum())])
    table = Table(
        "Value by plies to the end",
        "Mean value if the player to move won, drew or lost, and how often its sign is right in decided games. The "
        f"training target is ±{gamma:g}^i, i plies before the end. A constant 0 has a mean squared error of "
        f"{float(np.mean(truth.astype(np.float64) ** 2)):.3f}.",
        "plies to the end",
        [
            Column("won", "number"),
            Column("drawn", "number"),
            Column("lost", "number"),
            Column("sign accuracy"),
            Column("positions", "count"),
        ],
        rows,
    )
    return figures, [table]
