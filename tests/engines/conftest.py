"""Runs that play badly, and by the rules: one of chess, trained for a moment, and one of Go, not trained at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.store.store import Store
from support.small_runs import make_go, make_mover


@pytest.fixture(scope="session")
def mover_run(tmp_path_factory: pytest.TempPathFactory, small_store: Store) -> Path:
    """A small `chessnet` with a value network. Read only."""
    return make_mover(tmp_path_factory.mktemp("runs") / "chessnet-1", small_store)


@pytest.fixture(scope="session")
def go_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small `gocnn` for boards of 9 and 13 whose weights are written down. Read only."""
    return make_go(tmp_path_factory.mktemp("runs") / "gocnn-1")
