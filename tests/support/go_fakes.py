"""Networks of Go that need no training: owners that a test writes down, or that follow from the stones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from kibitz.games.go.points import GRID, POINTS
from kibitz.games.go.replay import colours_of
from kibitz.games.go.sides import BEYOND, KOMI_BYTE, NO_KOMI


def owners(*rows: str) -> np.ndarray:
    """Black's probabilities [361] from a digit a point, in tenths; 0.5 outside the board."""
    found = np.full((GRID, GRID), 0.5)
    for i, row in enumerate(rows):
        found[i, : len(row)] = [int(digit) / 10 for digit in row]
    return found.reshape(POINTS)


def influence(codes: np.ndarray) -> np.ndarray:
    """Black's probabilities [n, 361]: stones reach over the points around them, and fade."""
    colours = colours_of(codes).reshape(-1, GRID, GRID)
    stones = np.array([0, 3, -3, 0])[colours].astype(float)
    reach = stones
    for _ in range(6):
        wide = np.pad(reach, ((0, 0), (1, 1), (1, 1)))
        around = wide[:, :-2, 1:-1] + wide[:, 2:, 1:-1] + wide[:, 1:-1, :-2] + wide[:, 1:-1, 2:]
        reach = (stones + 0.22 * around) * (colours != 3)
    return (1 / (1 + np.exp(-reach))).reshape(-1, POINTS)


class FakeOwners:
    """A session of `gocnn`. maps: what it answers, [k, 361], over and over; none: `influence`. asked: all it was."""

    name, system, game, outputs = "gocnn-1", "gocnn", "go", ("black_owns",)
    of_person = False
    side_inputs: ClassVar[dict[str, int]] = {}

    def __init__(self, maps: Sequence[np.ndarray] | None = None, sizes: str = "9,13,19"):
        self.maps = None if maps is None else np.array(maps)
        self.run = SimpleNamespace(path=Path("run"), name="gocnn-1", info={"game": "go", "settings": {"sizes": sizes}})
        self.asked: list[Any] = []

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        assert codes.shape == (len(codes), POINTS)
        assert state.shape == (len(codes), 4)
        assert codes.dtype == state.dtype == np.uint8
        at = sum(len(c) for c, _ in self.asked)
        self.asked.append((codes, state))
        if self.maps is None:
            return {"black_owns": influence(codes).astype(np.float32)}
        rows = [(at + i) % len(self.maps) for i in range(len(codes))]
        return {"black_owns": self.maps[rows].astype(np.float32)}


class FakeGo(FakeOwners):
    """A session of `gohuman`: owners by `influence`, and what follows from them; likely moves are those at points that
    are open still. asked: all that it was."""

    name, system, outputs = "gohuman-1", "gohuman", ("policy", "value", "black_owns", "lead", "spread")
    side_inputs: ClassVar[dict[str, int]] = dict(BEYOND)

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        assert codes.shape == (len(codes), POINTS)
        assert state.shape in ((len(codes), 4), (len(codes), 4 + len(self.side_inputs)))
        assert codes.dtype == state.dtype == np.uint8
        self.asked.append((codes.copy(), state.copy()))
        owns, colours = influence(codes), colours_of(codes)
        komi = state[:, KOMI_BYTE] if state.shape[1] > 4 else np.full(len(codes), BEYOND["komi"])
        sign = 1 - 2 * state[:, 0].astype(float)
        lead = sign * (((2 * owns - 1) * (colours != 3)).sum(1) - (komi.astype(float) - NO_KOMI) / 2)
        odds = np.exp(-8 * np.abs(2 * owns - 1)) * (colours == 0)
        odds = np.concatenate([odds, np.full((len(codes), 1), 0.02)], 1)
        answers = {
            "policy": odds / odds.sum(1, keepdims=True), "value": np.tanh(lead / 10), "black_owns": owns,
            "lead": lead, "spread": np.full(len(codes), 9.0),
        }  # fmt: skip
        return {name: values.astype(np.float32) for name, values in answers.items()}
