"""Small trained runs of the chess systems, and their examinations, each made once. All are read only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kibitz.evaluation import EvalConfig, evaluate
from kibitz.evaluation.games import Chosen, choose
from kibitz.evaluation.positions import tsne
from kibitz.runs import Run
from kibitz.store.store import Store
from support.trained import trained


@pytest.fixture(scope="session")
def opened(small_run: Path) -> Run:
    return Run(small_run)


@pytest.fixture(scope="session")
def chosen(opened: Run, small_store: Store) -> Chosen:
    return choose(opened, small_store)


@pytest.fixture(scope="session")
def result(opened: Run, small_store: Store, chosen: Chosen) -> dict[str, Any]:
    """Of every position of the run's test games, without Stockfish."""
    return evaluate(
        opened,
        small_store,
        chosen,
        EvalConfig(),
        command="kibitz test it",
        on_progress=lambda *_: None,
        log=pytest.fail,
    )


Mover = Callable[..., Run]


@pytest.fixture(scope="session")
def mover(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Mover:
    """Train a system that predicts moves on the small store, for a moment."""
    from kibitz.systems import load
    from kibitz.training.trainer import TrainConfig

    known: dict[Any, Run] = {}

    def make(system: str, **settings: Any) -> Run:
        key = (system, *settings.items())
        if key not in known:
            path = tmp_path_factory.mktemp("movers") / f"{system}-1"
            quick = {
                "min_rating": 0,
                "optimiser": "adamw",
                "learning_rate": 0.003,
                "schedule": "constant",
                "batch": 128,
            }
            wanted = load(system).settings_type(**quick | settings)
            plan = TrainConfig(10, 1000, 1000, validate_positions=500, precision="32-true")
            known[key] = Run(trained(system, wanted, small_store, path, plan))
        return known[key]

    return make


@pytest.fixture(scope="session")
def shared(mover: Mover) -> Run:
    """One body for all, targets by origin square, with a value."""
    return mover("chessnet", share="body", targets="square", layers="16conv3x3p1", iterations=60)


@pytest.fixture(scope="session")
def separate(mover: Mover) -> Run:
    """Seven networks, targets by type of piece."""
    return mover("convchess", layers="8conv3x3p1.pool2x2.ip16", iterations=12)


@pytest.fixture(scope="session")
def few(shared: Run, small_store: Store) -> Chosen:
    """Six test games."""
    whole = choose(shared, small_store)
    return replace(whole, games=whole.games[:6])


@pytest.fixture
def small_landscape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tsne, "POINTS", 60)
    monkeypatch.setattr(tsne, "STEPS", 260)


@pytest.fixture(scope="session")
def shared_result(shared: Run, small_store: Store, few: Chosen) -> dict[str, Any]:
    """Of every position of six games, without Stockfish."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tsne, "POINTS", 60)
        patch.setattr(tsne, "STEPS", 260)
        return evaluate(
            shared,
            small_store,
            few,
            EvalConfig(),
            command="kibitz test it",
            on_progress=lambda *_: None,
            log=pytest.fail,
        )
