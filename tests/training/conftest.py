"""Trainings are what is tested here, so nothing comes from a record."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.store.store import Store
from support.helpers import SMALL


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory, small_store: Store) -> Path:
    """The run of the fixture of this name in tests/conftest.py, trained now. Read only."""
    from kibitz.systems.winner import Settings
    from kibitz.training.fit import train
    from kibitz.training.trainer import TrainConfig

    path = tmp_path_factory.mktemp("runs") / "winner-1"
    plan = TrainConfig(
        summary_every=20, validate_every=40, checkpoint_every=40, validate_positions=2000, precision="32-true"
    )
    train("winner", Settings(**SMALL, batch=256, iterations=120), str(small_store.path), run=path, plan=plan)
    return path
