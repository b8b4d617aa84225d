"""A run that predicts moves and knows a value, trained for a moment: it plays badly, and by the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.store.store import Store


@pytest.fixture(scope="session")
def mover_run(tmp_path_factory: pytest.TempPathFactory, small_store: Store) -> Path:
    """A small `chessnet` with a value network. Read only."""
    from kibitz.systems.chessnet import Settings
    from kibitz.training.loop import Plan
    from kibitz.training.start import train

    path = tmp_path_factory.mktemp("runs") / "chessnet-1"
    plan = Plan(summary_every=20, validate_every=20, snapshot_every=20, validate_positions=500, precision="32-true")
    settings = Settings(
        layers="8conv3x3p1.ip16", min_rating=0, batch=64, iterations=20, value_batch=64, value_iterations=20
    )
    train("chessnet", settings, str(small_store.path), run=path, plan=plan)
    return path
