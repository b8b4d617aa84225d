"""Networks that train in rounds, and stages that share a time limit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from kibitz.evaluation.pairs.answers import networks
from kibitz.play.comparison import embedding
from kibitz.play.comparison.player import ComparisonPlayer
from kibitz.play.result import SearchLimits
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems import load
from kibitz.training import trainer
from kibitz.training.fit import train
from kibitz.training.rounds import PARTS, TimeShares, next_stage
from kibitz.training.trainer import ALL_DONE, TIME_LIMIT, TrainConfig, Trainer
from support.helpers import SMALL_PAIRS

MOVERS: dict[str, Any] = {
    "networks": "piece,pawn,king", "layers": "8conv3x3p1.ip16", "min_rating": 0, "games": 0, "moves": 4000,
    "iterations": 40, "batch": 32,
}  # fmt: skip
PLAN = TrainConfig(5, 10, 10, 500, precision="32-true", patience=0)
AVERAGED = replace(PLAN, average=5)
PAIRS: dict[str, Any] = SMALL_PAIRS | {
    "pairs": 2_000, "positions": 10, "pretrain_epochs": 0.5, "epochs": 1.0, "distil_epochs": 1.0,
}  # fmt: skip
"""A dozen iterations or more of each stage."""


def _settings(system: str, values: dict[str, Any]) -> Any:
    return load(system).settings_type(**values)


def _train(store: Store, path: Path, plan: TrainConfig = PLAN, stop_at: int | None = None) -> Any:
    seen: list[str] = []

    def watch(progress: Any) -> bool:
        seen.append(progress.stage)
        return stop_at is not None and len(seen) >= stop_at

    done = train("convchess", _settings("convchess", MOVERS), str(store.path), run=path, plan=plan, on_progress=watch)
    return done, list(dict.fromkeys(seen)), seen


def _weights(path: Path) -> dict[str, torch.Tensor]:
    return load_file(path / "best.safetensors")


@pytest.fixture(scope="module")
def whole(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A training without a break, as `_train` returns it."""
    return _train(small_store, tmp_path_factory.mktemp("rounds") / "whole")


def test_networks_take_turns(whole: Any) -> None:
    done, order, seen = whole
    assert order == ["piece", "pawn", "king"]
    turns = [stage for stage, before in zip(seen, ["", *seen], strict=False) if stage != before]
    assert len(turns) > 12, "each network has several turns"
    assert done.outcome.finished
    assert [(part["stage"], part["iteration"], part["iterations"]) for part in done.outcome.parts] == [
        ("piece", 40, 40), ("pawn", 40, 40), ("king", 40, 40),
    ]  # fmt: skip


def test_the_order_changes_nothing(small_store: Store, whole: Any, tmp_path: Path) -> None:
    """A network has the weights and the validations that it has when it trains alone."""
    train("convchess", _settings("convchess", MOVERS | {"networks": "piece"}), str(small_store.path),
          run=tmp_path / "piece", plan=PLAN)  # fmt: skip
    together, alone = _weights(whole[0].path), _weights(tmp_path / "piece")
    assert len(alone) > 2
    assert all(torch.equal(together[name], values) for name, values in alone.items())


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows of the metrics without the speed, in an order that does not depend on the turns."""
    rows = [{k: v for k, v in row.items() if k != "samples_per_second"} for row in Run(path).metrics()]
    return sorted(rows, key=lambda row: (row["stage"], row["iteration"], row["kind"]))


# 1 is the end of the first round of the first network: it has no validation yet
@pytest.mark.parametrize("stop_at", [1, 7, 40, 75, 110])
def test_a_broken_training_goes_on_to_the_same_weights(
    small_store: Store, whole: Any, tmp_path: Path, stop_at: int
) -> None:
    unbroken, _, _ = whole
    stopped, _, _ = _train(small_store, tmp_path / "broken", stop_at=stop_at)
    assert not stopped.outcome.finished
    done, _, _ = _train(small_store, tmp_path / "broken")
    assert done.outcome.finished
    assert done.continued
    weights, broken = _weights(unbroken.path), _weights(tmp_path / "broken")
    assert all(torch.equal(weights[name], broken[name]) for name in weights)
    assert _rows(unbroken.path) == _rows(tmp_path / "broken")
    assert done.outcome == unbroken.outcome
    again, _, _ = _train(small_store, tmp_path / "broken")
    assert again.outcome.parts == unbroken.outcome.parts, "a finished training keeps its parts"


@pytest.mark.slow
def test_the_outcome_is_that_of_the_last_network(small_store: Store, tmp_path: Path) -> None:
    """The network that trains last may be another one: the first network has the longest rounds."""
    settings = _settings("convchess", MOVERS | {"iterations": 0, "epochs": 1.0, "moves": 2000})
    done = train("convchess", settings, str(small_store.path), run=tmp_path / "r", plan=PLAN)
    last = done.outcome.parts[-1]
    assert last["stage"] == "king"
    assert done.outcome.parts[0]["iteration"] > last["iteration"]
    assert (done.outcome.iteration, done.outcome.best) == (last["iteration"], last["best"])


@pytest.mark.slow
def test_a_stage_begins_its_summaries_anew(small_store: Store, tmp_path: Path) -> None:
    """The stage before it ended between two summaries."""

    def first_summaries(every: int) -> list[dict[str, Any]]:
        settings = replace(_settings("deepchess", PAIRS), pretrain_epochs=0.0, keep="best")
        plan = TrainConfig(every, 7, 50, 200, precision="32-true", patience=1)
        done = train("deepchess", settings, str(small_store.path), run=tmp_path / f"every-{every}", plan=plan)
        assert done.outcome.parts[0]["iteration"] % 10, "the first stage stalled between two summaries"
        rows = [row for row in Run(done.path).metrics() if row["kind"] == "summary" and row["stage"] == "distilled"]
        return [row for row in rows if row["iteration"] <= 10]

    (whole,), parts = first_summaries(10), first_summaries(1)
    assert len(parts) == 10
    for name in ("loss", "accuracy", "agreement"):
        assert whole[name] == pytest.approx(np.mean([row[name] for row in parts]), abs=1e-6)


@pytest.mark.slow
def test_the_speed_after_a_stop_includes_the_time_before_it(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(trainer, "time", SimpleNamespace(monotonic=lambda: now[0]))
    settings = _settings("convchess", MOVERS | {"networks": "piece"})
    plan = replace(PLAN, summary_every=10, validate_every=100, checkpoint_every=100)

    def run(stop_at: int) -> None:
        def tick(progress: Any) -> bool:
            now[0] += 0.0 if progress.validation or progress.note else 1.0
            return bool(progress.iteration == stop_at)

        train("convchess", settings, str(small_store.path), run=tmp_path / "r", plan=plan, on_progress=tick)
        now[0] += 1000.0

    run(8)
    run(0)
    rows = [row for row in Run(tmp_path / "r").metrics() if row["kind"] == "summary"]
    # the first summary is made after 9 seconds, each other one after 10
    assert [row["samples_per_second"] for row in rows[:2]] == [round(10 * 32 / 9), 32]


def test_a_stop_in_the_first_moments_leaves_all_networks_trained(small_store: Store, tmp_path: Path) -> None:
    done, _, _ = _train(small_store, tmp_path / "r", stop_at=20)
    assert not done.outcome.finished
    parts = {part["stage"]: part["iteration"] for part in done.outcome.parts}
    assert min(parts.values()) > 0
    assert max(parts.values()) < 20
    fresh = load_of_a_new_network(small_store, tmp_path)
    weights = _weights(tmp_path / "r")
    for name in ("piece", "pawn", "king"):
        assert not torch.equal(weights[f"nets.{name}.last.weight"], fresh[f"nets.{name}.last.weight"])
    assert Run(tmp_path / "r").trained()


@pytest.fixture(scope="module")
def averaged(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The training of `whole`, with averaged weights."""
    return _train(small_store, tmp_path_factory.mktemp("averaged") / "whole", AVERAGED)


def test_averaged_networks_take_turns(whole: Any, averaged: Any, small_store: Store, tmp_path: Path) -> None:
    """The averages of a network are put aside between its turns, and are those that it has when it trains alone."""
    done, _, seen = averaged
    turns = [stage for stage, before in zip(seen, ["", *seen], strict=False) if stage != before]
    assert len(turns) > 12
    assert done.outcome.finished
    train("convchess", _settings("convchess", MOVERS | {"networks": "piece"}), str(small_store.path),
          run=tmp_path / "piece", plan=AVERAGED)  # fmt: skip
    together, alone, raw = (_weights(path) for path in (done.path, tmp_path / "piece", whole[0].path))
    assert all(torch.equal(together[name], values) for name, values in alone.items())
    assert not any(torch.equal(raw[name], values) for name, values in alone.items())


@pytest.mark.parametrize("stop_at", [20, 75])
def test_a_broken_averaged_training_goes_on_to_the_same_weights(
    small_store: Store, averaged: Any, tmp_path: Path, stop_at: int
) -> None:
    stopped, _, _ = _train(small_store, tmp_path / "broken", AVERAGED, stop_at=stop_at)
    assert not stopped.outcome.finished
    done, _, _ = _train(small_store, tmp_path / "broken", AVERAGED)
    assert done.outcome.finished
    whole, broken = _weights(averaged[0].path), _weights(tmp_path / "broken")
    assert all(torch.equal(whole[name], broken[name]) for name in whole)


def test_an_averaged_training_of_an_earlier_version_goes_on(small_store: Store, tmp_path: Path) -> None:
    """It trained the networks one after the other, and averaged all weights: those before the current one are done."""
    _train(small_store, tmp_path / "r", AVERAGED, stop_at=75)
    state = torch.load(tmp_path / "r" / "last.pt", weights_only=True)
    optimiser = load("convchess").stages(*_network(small_store))[1].optimiser().state_dict()
    state |= {
        "stage": 1, "iteration": 0, "rounds": None, "best": {}, "best_stage": "piece", "optimiser": optimiser,
        "averages": {"steps": 3, "means": dict(state["network"])},
    }  # fmt: skip
    torch.save(state, tmp_path / "r" / "last.pt")
    done, order, _ = _train(small_store, tmp_path / "r", AVERAGED)
    assert done.outcome.finished
    assert order == ["pawn", "king"]
    weights = _weights(tmp_path / "r")
    assert torch.equal(weights["nets.piece.last.weight"], state["network"]["nets.piece.last.weight"])
    assert not torch.equal(weights["nets.pawn.last.weight"], state["network"]["nets.pawn.last.weight"])


def _network(store: Store) -> tuple[Any, Any]:
    """A new network and its settings."""
    settings = _settings("convchess", MOVERS)
    return load("convchess").network(settings), settings


def load_of_a_new_network(store: Store, folder: Path) -> dict[str, torch.Tensor]:
    """The weights before the first iteration."""
    system = load("convchess")
    settings = system.settings_type(**MOVERS)
    network = system.network(settings)
    system.prepare(network, store, np.arange(len(store)), settings, 0)
    return dict(network.state_dict())


def test_stages_that_build_on_each_other_share_a_time_limit(small_store: Store, tmp_path: Path) -> None:
    settings: Any = SMALL_PAIRS | {"epochs": 1000.0, "pretrain_epochs": 1000.0, "distil_epochs": 1000.0}
    plan = TrainConfig(50, 1000, 1000, 200, precision="32-true", time_limit=4.0)
    settings = _settings("deepchess", settings)
    done = train("deepchess", settings, str(small_store.path), run=tmp_path / "r", plan=plan)
    iterations = [part["iteration"] for part in done.outcome.parts]
    assert min(iterations) > 0, "every stage had its share"
    assert done.outcome.reason == "time limit"
    plan = TrainConfig(50, 1000, 1000, 200, precision="32-true")
    alone = train(
        "deepchess", settings, str(small_store.path), run=tmp_path / "s", plan=plan,
        on_progress=lambda progress: progress.iteration >= 9,
    )  # fmt: skip
    assert [part["iteration"] > 0 for part in alone.outcome.parts].count(True) == 1, "without a limit it is the first's"


def test_the_progress_of_earlier_calls_stays_known(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a stop, the finished stages have their iterations and measures, and one that was cut short is no secret."""
    settings, plan = _settings("deepchess", PAIRS), PLAN

    def run(name: str, stop_in: str = "") -> Any:
        return train(
            "deepchess", settings, str(small_store.path), run=tmp_path / name, plan=plan,
            on_progress=lambda progress: progress.stage == stop_in,
        ).outcome  # fmt: skip

    whole = run("whole")
    assert whole.reason == ALL_DONE
    stopped = run("broken", stop_in="pos2vec-2")
    assert not stopped.finished
    assert stopped.parts[0] == whole.parts[0]
    assert run("broken").parts == whole.parts
    monkeypatch.setattr(TimeShares, "over", lambda self, iteration: self.stages[0].name in self.begun and iteration > 9)
    monkeypatch.setattr(TimeShares, "begin", lambda self, index, *_: setattr(self, "begun", [self.stages[index].name]))
    assert not run("cut", stop_in="pos2vec-2").finished
    done = run("cut")
    assert done.finished
    assert done.parts[0]["iteration"] == 10
    assert done.reason == TIME_LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stop_in", "plays"), [("pos2vec-2", "distilled"), ("deepchess", "full"), ("distilled", "distilled")]
)
def test_a_stop_leaves_a_network_that_plays(small_store: Store, tmp_path: Path, stop_in: str, plays: str) -> None:
    """Even before the first validation. Without a trained distilled network, the full one plays."""
    plan = TrainConfig(50, 1000, 1000, 200, precision="32-true", patience=0)
    settings = _settings("deepchess", PAIRS)
    done = train(
        "deepchess", settings, str(small_store.path), run=tmp_path / "r", plan=plan,
        on_progress=lambda progress: progress.stage == stop_in and progress.iteration >= 3,
    )  # fmt: skip
    assert not done.outcome.finished
    run = Run(tmp_path / "r")
    player = ComparisonPlayer(run)
    assert np.array_equal(player.memory.comparer.references, embedding.load(run, plays).references)
    assert player.think(chess.Board(), SearchLimits(depth=1)) is not None
    trained = [name for name in ("full", "distilled") if load_network(run)[name].trained]
    assert trained == {"pos2vec-2": [], "deepchess": ["full"], "distilled": ["full", "distilled"]}[stop_in]
    assert list(networks(run)) == (trained or ["full"])


def load_network(run: Run) -> dict[str, Any]:
    network: Any = run.load_network()
    return {"full": network.full, "distilled": network.distilled}


class _Stage:
    def __init__(self, independent: bool, time_share: float = 1.0):
        self.independent, self.time_share = independent, time_share


def test_when_a_round_ends() -> None:
    shares = TimeShares([_Stage(True), _Stage(True)], None, True)  # type: ignore[list-item]
    shares.begin(0, 0, 1000, 0.0)
    assert next(i for i in range(1, 10) if shares.over(i)) == round(PARTS[0] * 1000)
    one = TimeShares([_Stage(True), _Stage(False)], None, True)  # type: ignore[list-item]
    one.begin(0, 0, 1000, 0.0)
    assert not one.over(999)
    assert not TimeShares([_Stage(True)], 1.0, True).rounds  # type: ignore[list-item]
    assert (next_stage(0, {}, 3), next_stage(2, {0: "done"}, 3), next_stage(1, {0: "", 1: "", 2: ""}, 3)) == (1, 1, 3)


def test_dead_units_are_replaced_once(small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each network is revived at its start, and not whenever its turn comes again."""
    begun: list[tuple[str, int]] = []
    monkeypatch.setattr(Trainer, "_revive", lambda _, run: begun.append((run.stage.name, run.iteration)))
    settings = _settings("convchess", MOVERS | {"networks": "piece,pawn"})
    train("convchess", settings, str(small_store.path), run=tmp_path / "first", plan=PLAN)
    assert begun == []
    train(
        "convchess", settings, str(small_store.path), run=tmp_path / "second", plan=PLAN,
        start_from=str(tmp_path / "first"),
    )  # fmt: skip
    assert begun == [("piece", 0), ("pawn", 0)]
