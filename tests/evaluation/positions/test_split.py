"""The post's validation, by position, beside a test of unseen games."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz.evaluation import EvalConfig, evaluate
from kibitz.evaluation.games import choose
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.sampling import sample_positions
from kibitz.store.split import TRAIN
from kibitz.store.store import Store
from kibitz.systems.winner import OutcomeExamples, Settings
from kibitz.training.trainer import TrainConfig
from support.trained import trained

SHARE = 20.0
SMALL = Settings(layers="16conv4x4.pool2x2.8conv2x2.ip16", optimiser="adamw", learning_rate=0.003, iterations=60)


@pytest.fixture(scope="module")
def held_out(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A `winner` that a fifth of the positions of its games was kept from."""
    plan = TrainConfig(10, 1000, 1000, validate_positions=500, precision="32-true")
    path = tmp_path_factory.mktemp("split") / "winner-1"
    return Run(trained("winner", replace(SMALL, held_out=SHARE, batch=256), small_store, path, plan))


def examine(run: Run, store: Store, which: str = "unseen") -> dict[str, Any]:
    config = EvalConfig(stockfish_positions=0)
    return evaluate(run, store, choose(run, store, which), config, on_progress=lambda *_: None, log=pytest.fail)


def test_training_takes_all_but_those_held_out(small_store: Store) -> None:
    games = np.flatnonzero(small_store.column("result") != 0)
    examples = OutcomeExamples(small_store, games, held_out=SHARE)
    left_out = sample_positions(small_store, games, 0, share=SHARE, held_out=True)
    taken = set(zip(*(column.tolist() for column in examples.locate(np.arange(len(examples)))), strict=True))
    others = set(zip(left_out.games.tolist(), left_out.plies.tolist(), strict=True))
    everything = OutcomeExamples(small_store, games)
    every = set(zip(*(column.tolist() for column in everything.locate(np.arange(len(everything)))), strict=True))
    assert taken | others == every
    assert not taken & others
    assert len(others) / len(every) == pytest.approx(SHARE / 100, abs=0.02)
    ids = np.arange(0, len(examples), 97)
    codes, _ = small_store.replay(*examples.locate(ids))
    np.testing.assert_array_equal(examples.batch(ids)["codes"], codes)


def test_the_figure_by_position_is_that_of_the_positions_held_out(held_out: Run, small_store: Store) -> None:
    result = examine(held_out, small_store)
    games = held_out.system.games(small_store, held_out.settings)
    games = games[small_store.sides(held_out.split)[games] == TRAIN]
    sample = sample_positions(small_store, games, 0, share=SHARE, held_out=True)
    chance = Session(held_out).evaluate(*small_store.replay(sample.games, sample.plies))["white_wins"]
    right = (chance > 0.5) == (small_store.column("result")[sample.games] > 0)
    figure = result["figures"]["accuracy_by_position"]
    assert figure["value"] == pytest.approx(right.mean(), abs=1e-3)
    assert (figure["n"], figure["games"]) == (len(sample), len(np.unique(sample.games)))
    (table,) = result["tables"]
    network, material = table["rows"]
    by_game = result["figures"]["accuracy"]["value"]
    ahead = network[4]
    assert ahead["value"] == pytest.approx(figure["value"] - by_game)
    assert ahead["low"] < ahead["value"] < ahead["high"]
    assert material[3]["value"] == pytest.approx(result["baselines"]["material"]["value"])


def test_nothing_is_added_where_nothing_was_held_out(result: dict[str, Any]) -> None:
    assert "accuracy_by_position" not in result["figures"]
    assert "tables" not in result


def test_another_store_has_no_learned_games(held_out: Run, small_store: Store, tmp_path: Path) -> None:
    from kibitz.cli import run

    pgn = tmp_path / "a.pgn"
    pgn.write_text(
        "".join(f'[Result "{r}"]\n\n1. e4 e5 2. Nf3 {m} {r}\n\n' for r, m in (("1-0", "d6"), ("0-1", "Nc6")))
    )
    assert run(["import", str(pgn), "--into", str(tmp_path / "b.store")]) == 0
    assert "accuracy_by_position" not in examine(held_out, Store(tmp_path / "b.store"), "all")["figures"]
    assert "accuracy_by_position" in examine(held_out, small_store, "validation")["figures"]
