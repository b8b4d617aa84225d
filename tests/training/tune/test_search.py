"""A search: its grid, its trials, what is kept of them, and how it goes on after any kind of end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kibitz.errors import KibitzError, UsageError
from kibitz.lock import exclusive_lock
from kibitz.store.split import Split
from kibitz.store.store import Store
from kibitz.systems import chessnet, convchess, winner
from kibitz.training.fit import prepare_data
from kibitz.training.trainer import TrainConfig
from kibitz.training.tune import search as searching
from kibitz.training.tune.search import TrialResult, TuneResult, folder_of, search
from kibitz.training.tune.space import Grid, TuneConfig, usual_grid
from kibitz.training.tune.study import opened
from support.causes import naming

pytestmark = pytest.mark.slow  # trials are trainings

PLAN = TrainConfig(validate_positions=400, precision="32-true")
GRID = Grid((0.001, 0.01), (0.0,), ("he", "0.01"))


def about(store: Store, grid: Grid = GRID, keep: str = "loss", **more: Any) -> TuneConfig:
    settings = convchess.Settings(layers="4conv3x3p1.ip8", batch=32, min_rating=0, keep=keep)
    return TuneConfig(**{
        "system": "convchess", "store": str(store.path), "settings": settings, "grid": grid, "network": "piece",
        "iterations": 10, "plan": PLAN, **more,
    })  # fmt: skip


def test_the_grid_has_every_combination_in_an_order_of_its_seed() -> None:
    grid = Grid((0.1, 0.2, 0.3), (0.0, 0.001), ("he", "xavier"))
    points = grid.points(seed=3)
    assert len({tuple(point.values()) for point in points}) == 12
    assert points == grid.points(seed=3)
    assert points != grid.points(seed=4)


def test_the_usual_grid_is_about_the_systems_own_numbers() -> None:
    assert usual_grid(convchess.SYSTEM) == Grid((0.0005, 0.0015, 0.005), (0.0, 0.0001, 0.001), ("he", "xavier", "0.01"))
    assert usual_grid(winner.SYSTEM) == Grid((0.003, 0.01, 0.03), (0.0, 0.0001, 0.0005, 0.001), ("mocha", "unit"))
    assert usual_grid(chessnet.SYSTEM, "value").learning_rates == (0.0003, 0.001, 0.003)


def test_a_network_with_a_learning_rate_of_its_own_is_searched_in_that() -> None:
    what = TuneConfig("chessnet", "a.store", chessnet.Settings(), GRID, network="value", iterations=7)
    settings = what.at({"learning_rate": 0.5, "weight_decay": 0.25, "initial": "xavier"})
    assert (settings.value_learning_rate, settings.weight_decay, settings.initial) == (0.5, 0.25, "xavier")
    assert (settings.value_iterations, settings.networks) == (7, "value")
    assert settings.learning_rate == chessnet.Settings().learning_rate


def test_a_file_with_planes_as_numbers_goes_on(small_store: Store, tmp_path: Path) -> None:
    config = about(small_store)
    data = prepare_data(convchess.SYSTEM, config.base, config.store).description
    earlier = {**config.fingerprint(data, "loss"), "planes": 6}
    with opened(tmp_path / "s.journal", earlier):
        pass
    with opened(tmp_path / "s.journal", config.fingerprint(data, "loss")) as study:
        assert study.user_attrs["about"] == earlier
    with (
        pytest.raises(UsageError, match="planes 6 instead of 12"),
        opened(tmp_path / "s.journal", {**earlier, "planes": "12"}),
    ):
        pass


def test_a_whole_grid(small_store: Store, tmp_path: Path) -> None:
    ended: list[TrialResult] = []
    steps = []
    found = search(about(small_store), tmp_path / "s.journal", on_progress=steps.append, on_end=ended.append)
    assert (found.reason, [trial.number for trial in found.trials]) == ("all trials done", [1, 2, 3, 4])
    assert ended == found.trials
    assert [trial.settings for trial in found.trials] == GRID.points(0)
    assert found.best == min(found.trials, key=lambda trial: trial.figures["loss"])
    assert {(step.number, step.ended) for step in steps} == {(1, 0), (2, 1), (3, 2), (4, 3)}
    for trial in found.trials:
        kept = {file.name for file in trial.path.iterdir()}
        more = {"best.safetensors", "seen.npy"} if trial == found.best else set()
        assert kept == {"run.json", "metrics.jsonl", *more}
        info = json.loads((trial.path / "run.json").read_text())
        assert info["best"] == trial.figures
        assert {name: info["settings"][name] for name in trial.settings} == trial.settings
        assert (info["settings"]["networks"], info["settings"]["iterations"]) == ("piece", 10)
    ended.clear()
    assert search(about(small_store), tmp_path / "s.journal", on_end=ended.append) == found
    assert ended == []  # nothing is tried twice


def test_trials_are_compared_by_accuracy_where_weights_are_kept_by_it(small_store: Store, tmp_path: Path) -> None:
    """More is better. A file of a search that took less for better is refused."""
    what = about(small_store, keep="accuracy", iterations=20, prune=False)
    found = search(what, tmp_path / "s.journal")
    accuracies = {trial.number: trial.figures["accuracy"] for trial in found.trials}
    assert len(set(accuracies.values())) > 1
    assert found.best is not None
    assert found.best.figures["accuracy"] == max(accuracies.values())
    assert min(found.trials, key=found.value).figures == found.best.figures
    assert (found.best.path / "best.safetensors").exists()
    data = prepare_data(convchess.SYSTEM, what.base, what.store).description
    earlier = {name: value for name, value in what.fingerprint(data, "accuracy").items() if name != "compared_by"}
    with opened(tmp_path / "earlier.journal", earlier):
        pass
    with pytest.raises(UsageError, match=r"compared.by"):
        search(what, tmp_path / "earlier.journal")


def test_drawn_trials_stay_between_what_is_given(small_store: Store, tmp_path: Path) -> None:
    grid = Grid((0.001, 0.01), (0.0, 0.0001, 0.001), ("he", "xavier"))
    found = search(about(small_store, grid, trials=4, iterations=2), tmp_path / "s.journal")
    for trial in found.trials:
        assert 0.001 <= trial.settings["learning_rate"] <= 0.01
        assert trial.settings["weight_decay"] == 0 or 0.0001 <= trial.settings["weight_decay"] <= 0.001
    assert len({trial.settings["learning_rate"] for trial in found.trials}) == 4
    first = search(about(small_store, grid, trials=2, iterations=2), tmp_path / "again.journal")
    assert [trial.settings for trial in first.trials] == [trial.settings for trial in found.trials[:2]]
    more = search(about(small_store, grid, trials=3, iterations=2), tmp_path / "again.journal")  # more of the same
    assert [trial.settings for trial in more.trials] == [trial.settings for trial in found.trials[:3]]


def test_a_trial_that_diverges_is_no_end(small_store: Store, tmp_path: Path) -> None:
    found = search(about(small_store, Grid((0.001, 1e30), (0.0,), ("he",))), tmp_path / "s.journal")
    states = {trial.settings["learning_rate"]: trial.state for trial in found.trials}
    assert states == {0.001: "done", 1e30: "diverged"}
    assert found.best is not None
    assert found.best.state == "done"


@pytest.mark.parametrize("keep", ["loss", "accuracy"])
def test_a_hopeless_trial_is_given_up(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str
) -> None:
    monkeypatch.setattr(searching, "BEFORE_PRUNING", 1)
    grid = Grid((1e-9, 0.003), (0.0,), ("he",))
    seed = next(seed for seed in range(9) if grid.points(seed)[0]["learning_rate"] == 0.003)
    what = about(small_store, grid, keep, plan=replace(PLAN, seed=seed))
    found = search(what, tmp_path / "s.journal")
    assert [trial.state for trial in found.trials] == ["done", "pruned"]
    assert found.trials[1].iteration < 10
    whole = search(replace(what, prune=False), tmp_path / "whole.journal")
    assert [trial.state for trial in whole.trials] == ["done", "done"]


class _Killed(BaseException):
    """Ends a search as nothing in it expects."""


def killed_at(number: int, iteration: int) -> Any:
    def tell(step: searching.Step) -> None:
        if (step.number, step.progress.iteration) == (number, iteration):
            raise _Killed

    return tell


@pytest.mark.parametrize("trials", [None, 4])
def test_a_broken_trial_goes_on_from_its_snapshot(small_store: Store, tmp_path: Path, trials: int | None) -> None:
    """To the figures, and to the trials after it, of a search that was never broken."""
    what = about(small_store, trials=trials)
    whole = search(what, tmp_path / "whole.journal")
    out = tmp_path / "s.journal"
    with pytest.raises(_Killed):
        search(what, out, on_progress=killed_at(2, 6))
    said: list[str] = []
    iterations = []

    def tell(step: searching.Step) -> None:
        if step.number == 2:
            iterations.append(step.progress.iteration)

    found = search(what, out, on_progress=tell, log=said.append)
    assert any("trial-002: resuming" in line for line in said)
    assert iterations[0] == 5  # the snapshot is of 4
    assert comparable(found) == comparable(whole)


def comparable(found: TuneResult) -> Any:
    return [(trial.number, trial.settings, trial.state, trial.figures) for trial in found.trials]


def test_a_search_goes_on_after_a_kill_between_any_two_steps(small_store: Store, tmp_path: Path) -> None:
    """The journal cut after each of its lines, and in the middle of the last, is what a kill leaves behind."""
    grid = Grid((0.001, 0.01), (0.0,), ("he",))
    what = about(small_store, grid, iterations=2)
    whole = search(what, tmp_path / "whole.journal")
    lines = (tmp_path / "whole.journal").read_bytes().splitlines(keepends=True)
    for kept in range(0, len(lines), 2):
        out = tmp_path / f"cut-{kept}.journal"
        out.write_bytes(b"".join(lines[:kept]) + lines[kept][:-5])
        half_begun = folder_of(out) / "trial-001"
        half_begun.mkdir(parents=True)
        (half_begun / "seen.npy").write_bytes(b"cut")
        found = search(what, out)
        assert [trial.settings for trial in found.trials] == [trial.settings for trial in whole.trials], kept
        assert found.reason == "all trials done"


def test_a_search_by_workers_goes_on_after_a_kill_as_it_asked(small_store: Store, tmp_path: Path) -> None:
    """A kill after trial 3 was named for the next worker, while 1 and 2 were out."""
    grid = Grid((0.001, 0.003, 0.01), (0.0,), ("he",))
    what = about(small_store, grid, iterations=1)
    whole = search(what, tmp_path / "whole.journal")
    out = tmp_path / "cut.journal"
    data = prepare_data(convchess.SYSTEM, what.base, what.store)
    with opened(out, what.fingerprint(data.description, whole.monitor)) as study:
        study.enqueue_trial(grid.points(what.plan.seed)[2], user_attrs={"number": 3})
    found = search(what, out)
    assert [trial.settings for trial in found.trials] == [trial.settings for trial in whole.trials]


def test_studies_have_folders_of_their_own(tmp_path: Path) -> None:
    names = ("a.journal", "a", "rate-0.1", "rate-0.2", "a.json")
    assert len({folder_of(tmp_path / name) for name in names}) == len(names)
    assert folder_of(tmp_path / "a.journal") == tmp_path / "a"
    (tmp_path / "rate-0").mkdir()  # of an earlier version
    (tmp_path / "rate-0.1").write_text("")
    assert folder_of(tmp_path / "rate-0.1") == tmp_path / "rate-0"
    assert folder_of(tmp_path / "rate-0.2") == tmp_path / "rate-0.2-trials"


def test_a_time_limit_leaves_the_rest_for_later(small_store: Store, tmp_path: Path) -> None:
    what = about(small_store, plan=replace(PLAN, time_limit=1e-6))
    found = search(what, tmp_path / "s.journal")
    assert (found.reason, found.trials, found.best) == ("time limit", [], None)
    assert search(about(small_store), tmp_path / "s.journal").reason == "all trials done"


def test_ctrl_c_between_two_trials(small_store: Store, tmp_path: Path) -> None:
    def ended(tried: TrialResult) -> None:
        raise KeyboardInterrupt

    found = search(about(small_store), tmp_path / "s.journal", on_end=ended)
    assert (found.reason, [trial.state for trial in found.trials]) == ("stopped", ["done"])


def test_another_search_needs_another_file(small_store: Store, tmp_path: Path) -> None:
    out = tmp_path / "s.journal"
    search(about(small_store, Grid((0.001,), (0.0,), ("he",)), iterations=1), out)
    with pytest.raises(UsageError, match=naming("learning_rates & 0.001 & 0.01 & --out")):
        search(about(small_store, iterations=1), out)
    with pytest.raises(UsageError, match="iterations 1 instead of 2"):
        search(about(small_store, Grid((0.001,), (0.0,), ("he",)), iterations=2), out)


@pytest.mark.parametrize("text", ["my notes", '{"op_code":0,"worker_id":"a"}\n', '{"op_code":77}\n{}\n', "[1]\n"])
def test_files_that_are_no_study(small_store: Store, tmp_path: Path, text: str) -> None:
    out = tmp_path / "s.journal"
    out.write_text(text)
    with pytest.raises(KibitzError, match=r"another --out"):
        search(about(small_store), out)
    assert out.read_text() == text


def test_one_search_at_a_time(small_store: Store, tmp_path: Path) -> None:
    out = tmp_path / "s.journal"
    with (
        exclusive_lock(tmp_path / ".s.journal.lock", out),
        pytest.raises(KibitzError, match=naming("search")),
    ):
        search(about(small_store), out)


def test_nothing_is_begun_that_cannot_be_compared(small_store: Store, tmp_path: Path) -> None:
    out = tmp_path / "s.journal"
    with pytest.raises(UsageError, match=r"--network .*piece, pawn"):
        about(small_store, network="pieces")
    with pytest.raises(UsageError, match=naming("pawn")):
        search(about(small_store, network="all"), out)
    with pytest.raises(UsageError, match=r"--initial .*warm"):
        search(about(small_store, Grid((0.1,), (0.0,), ("he", "warm"))), out)
    with pytest.raises(UsageError, match=r"--network .*winner"):
        TuneConfig("winner", "a.store", winner.Settings(), GRID, network="piece")
    assert list(tmp_path.iterdir()) == []


def test_no_games_for_validation(small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(system: Any, settings: Any, store: str) -> Any:
        return prepare_data(system, settings, store, Split(0, 5))

    monkeypatch.setattr(searching, "prepare_data", none_left)
    with pytest.raises(KibitzError, match=naming("validation")):
        search(about(small_store), tmp_path / "s.journal")
