"""The value network's part of a test: its error, material, and how results separate towards the end of a game."""

from __future__ import annotations

import numpy as np

from kibitz.evaluation import Table
from kibitz.evaluation.policy.metrics import Sheet
from kibitz.stats import Figure
from kibitz.systems.movers import system

LEFT = (1, 5, 10, 20, 40, 80, np.inf)
LEFT_WORDS = ("1 to 4", "5 to 9", "10 to 19", "20 to 39", "40 to 79", "80 and over")
"""Plies to the end of the game."""


def left(sheet: Sheet) -> np.ndarray:
    """Plies from each position to the end of its game, 1 where the last move is to be played."""
    return np.asarray(sheet.store.plies[sheet.games] - sheet.plies)


def valued(sheet: Sheet) -> tuple[dict[str, Figure], list[Table]]:
    """Figures of the value network by name, and its table."""
    value, result, away = sheet.marks["value"].astype(np.float64), sheet.result, left(sheet)
    side, gamma = sheet.marks["side"].astype(np.int64), sheet.settings.gamma
    truth = system.values(sheet.store.column("result")[sheet.games], side, away, gamma)
    decided = result != 0
    right = (value > 0) == (result > 0)
    groups = sheet.groups
    figures = {
        "sign_accuracy": groups.mean(right, decided),
        "value_squared_error": groups.mean((value - truth) ** 2),
        "material_correlation": groups.correlation(value, sheet.marks["material"]),
    }
    rows = []
    for words, low, high in zip(LEFT_WORDS, LEFT[:-1], LEFT[1:], strict=True):
        near = (away >= low) & (away < high)
        if not near.any():
            continue
        cells = [groups.mean(value, near & (result == kind)) for kind in (1, 0, -1)]
        cells.append(groups.mean(right, near & decided))
        rows.append([words, *(figure.as_json() for figure in cells), int(near.sum())])
    table: Table = {
        "title": "Values towards the end",
        "text": f"The mean value of positions whose mover won, drew and lost, and how often its sign is right in "
        f"decided games. It learned ±{gamma:g}^i, i plies before the end; an answer of 0 everywhere would err by "
        f"{float(np.mean(truth.astype(np.float64) ** 2)):.3f} (mean square).",
        "heading": "plies to the end",
        "columns": ["won", "drawn", "lost", "sign right", "positions"],
        "kinds": ["number", "number", "number", "share", "count"],
        "rows": rows,
    }
    return figures, [table]
