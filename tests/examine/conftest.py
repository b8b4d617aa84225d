"""One examination of the small run, made once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kibitz.examine import Plan, examine
from kibitz.examine.games import Chosen, choose
from kibitz.store.store import Store
from kibitz.training.run import Run


@pytest.fixture(scope="session")
def opened(small_run: Path) -> Run:
    return Run(small_run)


@pytest.fixture(scope="session")
def chosen(opened: Run, small_store: Store) -> Chosen:
    return choose(opened, small_store)


@pytest.fixture(scope="session")
def result(opened: Run, small_store: Store, chosen: Chosen) -> dict[str, Any]:
    """Of every position of the run's test games, without Stockfish."""
    return examine(opened, small_store, chosen, Plan(), command="kibitz test it", tell=lambda *_: None, say=pytest.fail)
