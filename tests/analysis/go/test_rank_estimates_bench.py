"""bench/rank_estimates.py: which sides of which games are taken."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[3]


def test_a_side_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game of a chosen player may also be among the unseen games."""
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import rank_estimates

    games = 6
    columns = {"black_rank": ["5k"] * games, "white_rank": [None] * games, "black": ["one"] * games,
               "white": ["other"] * games, "size": [19] * games, "number": list(range(1, games + 1))}  # fmt: skip
    store: Any = SimpleNamespace(
        plies=np.full(games, 100), table=lambda names: {name: pa.array(columns[name]) for name in names}
    )
    run: Any = SimpleNamespace(unseen_games=lambda store, games: np.ones(len(games), np.bool_))
    found = rank_estimates.sides_of(store, run)
    assert set(found) == set(range(1, games + 1))
    assert {number: len(sides) for number, sides in found.items()} == dict.fromkeys(found, 1)
