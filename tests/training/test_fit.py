"""Which run a call means, and calls that cannot work."""

import errno
import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from kibitz import cli
from kibitz.durable import write_whole
from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.filters import Filter
from kibitz.lock import exclusive_lock
from kibitz.report.curves import save_learning_curve
from kibitz.runs import Run, packaged, short_hashes
from kibitz.store.split import Split
from kibitz.store.store import Store
from kibitz.systems.winner import Settings
from kibitz.training import fit
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig
from support.causes import mentions, naming
from support.helpers import SMALL, import_games

QUICK = TrainConfig(5, 5, 5, 200, precision="32-true")


def quick(store: Store, **more: object) -> Settings:
    return Settings(**{**SMALL, "batch": 32, "iterations": 5, **more})  # type: ignore[arg-type]


def test_runs_are_numbered_and_found_again(small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "RUNS", tmp_path / "runs")
    first = train("winner", quick(small_store), str(small_store.path), plan=QUICK)
    again = train("winner", quick(small_store), str(small_store.path), plan=QUICK)
    other = train("winner", quick(small_store, dropout=0.5), str(small_store.path), plan=QUICK)
    assert first.path == again.path == tmp_path / "runs" / "winner-1"
    assert (first.continued, again.continued) == (False, True)
    assert again.outcome.reason == "finished before"
    assert other.path == tmp_path / "runs" / "winner-2"


def test_an_unknown_setting_of_a_run_is_named() -> None:
    data: dict[str, Any] = {"fingerprint": "f", "split": {}}
    info = {"system": "winner", "settings": asdict(Settings(batch=7)), "seed": 0, "data": data}
    assert mentions(str(fit.differences(info, "winner", Settings(batch=8), data, 0)), "batch & 7 & 8")
    info["settings"] = {**asdict(Settings()), "luck": 1}
    assert mentions(str(fit.differences(info, "winner", Settings(), data, 0)), "unknown & luck")


def test_a_directory_that_weights_cannot_be_read_from_is_refused(tmp_path: Path) -> None:
    data: dict[str, Any] = {"fingerprint": "f", "split": {}}
    assert fit.choose("winner", Settings(), data, 0, tmp_path / "rück") == (tmp_path / "rück", None)
    with pytest.raises(UsageError, match=r"--run must be .*UTF-8.*r\?"):
        fit.choose("winner", Settings(), data, 0, tmp_path / os.fsdecode(b"r\xff"))


def test_a_gap_in_the_numbers_and_a_damaged_neighbour_change_nothing(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "RUNS", tmp_path / "runs")
    given = ("winner", quick(small_store), str(small_store.path))
    for name in ("winner-1", "winner-2"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text("{")
    assert train(*given, plan=QUICK).path.name == "winner-3"
    shutil.rmtree(tmp_path / "runs" / "winner-2")
    again = train(*given, plan=QUICK)
    assert (again.path.name, again.continued) == ("winner-3", True)
    assert train("winner", quick(small_store, dropout=0.5), str(small_store.path), plan=QUICK).path.name == "winner-2"


def test_a_run_that_another_training_writes_is_left_alone(small_store: Store, tmp_path: Path) -> None:
    given, run = ("winner", quick(small_store), str(small_store.path)), tmp_path / "r"
    train(*given, run=run, plan=replace(QUICK, time_limit=1e-9))
    with (
        exclusive_lock(run / ".lock", run, "training"),
        pytest.raises(KibitzError, match=naming("training")),
    ):
        train(*given, run=run, plan=QUICK)
    assert train(*given, run=run, plan=QUICK).outcome.finished
    assert not (run / ".lock").exists()


def test_trainings_that_begin_at_once_get_a_run_each(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long one of them takes from its choice of a number to its first file."""
    monkeypatch.setattr(fit, "RUNS", tmp_path / "runs")
    made = fit._make_room

    def slowly(*given: Any) -> Any:
        time.sleep(0.3)
        return made(*given)

    monkeypatch.setattr(fit, "_make_room", slowly)

    def prepared(seed: int) -> tuple[str, int]:
        plan = replace(QUICK, seed=seed)
        request = fit.TrainRequest("winner", quick(small_store), str(small_store.path), None, None, plan, None, "", "")
        job = fit.prepare(request, lambda line: None)
        with job.held:
            return job.path.name, json.loads((job.path / "run.json").read_text())["seed"]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(prepared, range(4)))
    assert sorted(name for name, _ in found) == [f"winner-{number}" for number in range(1, 5)]
    assert [seed for _, seed in found] == [0, 1, 2, 3]
    assert not list((tmp_path / "runs").rglob(".lock"))


def test_a_run_goes_on_where_its_store_is_now(small_store: Store, tmp_path: Path) -> None:
    given, moved = ("winner", quick(small_store)), tmp_path / "moved.store"
    train(*given, str(small_store.path), run=tmp_path / "r", plan=replace(QUICK, time_limit=1e-9))
    shutil.copytree(small_store.path, moved)
    assert train(*given, str(moved), run=tmp_path / "r", plan=QUICK).continued
    assert Run(tmp_path / "r").info["data"]["store"] == str(moved)


def test_another_precision_is_refused(small_store: Store, tmp_path: Path) -> None:
    given = ("winner", quick(small_store), str(small_store.path))
    train(*given, run=tmp_path / "r", plan=QUICK)
    with pytest.raises(UsageError, match=r"another precision \(32-true\)"):
        train(*given, run=tmp_path / "r", plan=replace(QUICK, precision="bf16-mixed"))


@pytest.mark.parametrize("at", [0.3, 0.5, 0.7])
def test_a_damaged_checkpoint_is_said(small_store: Store, tmp_path: Path, at: float) -> None:
    """Torch reads what the archive's checksums contradict."""
    given = ("winner", quick(small_store), str(small_store.path))
    train(*given, run=tmp_path / "r", plan=replace(QUICK, time_limit=1e-9))
    path = tmp_path / "r" / "last.pt"
    data = bytearray(path.read_bytes())
    where = int(at * len(data))
    data[where : where + 64] = bytes(64) if any(data[where : where + 64]) else b"\x3f" * 64
    path.write_bytes(data)
    with pytest.raises(KibitzError, match=r"last\.pt is damaged"):
        train(*given, run=tmp_path / "r", plan=QUICK)


@pytest.mark.parametrize(
    "more", [{"system": []}, {"settings": []}, {"data": []}, {"beyond": 5}, {"data": None}], ids=str
)
def test_a_run_of_other_kinds_is_damaged(small_run: Path, tmp_path: Path, more: dict[str, object]) -> None:
    shutil.copytree(small_run, tmp_path / "r")
    info = json.loads((tmp_path / "r" / "run.json").read_text())
    (tmp_path / "r" / "run.json").write_text(json.dumps(info | more))
    with pytest.raises(KibitzError, match=r"run\.json is damaged"):
        Run(tmp_path / "r")
    (tmp_path / "r" / "run.json").write_text(json.dumps(info))
    (tmp_path / "r" / "metrics.jsonl").write_text('{}\n{"kind": "validation"}\n1\n')
    assert cli.run(["info", str(tmp_path / "r")]) == 0
    save_learning_curve(Run(tmp_path / "r").metrics(), tmp_path / "learning.svg")


def test_weights_that_cannot_be_read_are_no_beginning(small_run: Path, small_store: Store, tmp_path: Path) -> None:
    shutil.copytree(small_run, tmp_path / "r")
    weights = tmp_path / "r" / "best.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    with pytest.raises(KibitzError, match="weights cannot be read"):
        train(
            "winner", quick(small_store), str(small_store.path), run=tmp_path / "n", plan=QUICK,
            start_from=str(tmp_path / "r"),
        )  # fmt: skip
    assert not (tmp_path / "n").exists()


@pytest.mark.parametrize("more", [{"learning_rate": 1e300}, {"most_epochs": 1e308}, {"batch": 10**30}], ids=str)
def test_numbers_beyond_all_measure(small_store: Store, tmp_path: Path, more: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=r"at most 1e\+"):
        train("winner", quick(small_store, **more), str(small_store.path), run=tmp_path / "n", plan=QUICK)


def test_a_finished_run_without_its_export_gets_it(small_store: Store, tmp_path: Path) -> None:
    """As where it was killed between its last iteration and the export."""
    given = ("winner", quick(small_store), str(small_store.path))
    (train(*given, run=tmp_path / "r", plan=QUICK).path / "model.onnx").unlink()
    assert train(*given, run=tmp_path / "r", plan=QUICK).outcome.reason == "finished before"
    assert (tmp_path / "r" / "model.onnx").is_file()


def test_a_named_run_of_another_training_is_refused(small_store: Store, small_run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"batch .*iterations 120 instead of 5"):
        train("winner", quick(small_store), str(small_store.path), run=small_run, plan=QUICK)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match=naming("empty")):
        train("winner", quick(small_store), str(small_store.path), run=tmp_path / "full", plan=QUICK)


def test_a_call_killed_before_run_json_goes_on(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its own directory, and in the numbered one that it had taken."""
    monkeypatch.setattr(fit, "RUNS", tmp_path / "runs")
    for folder in (tmp_path / "named", tmp_path / "runs" / "winner-1"):
        folder.mkdir(parents=True)
        (folder / "seen.npy").write_bytes(b"\x93NUMPY, and no more")
        (folder / "run.json.new").write_text('{"kibitz_run":')
    given = ("winner", quick(small_store), str(small_store.path))
    found = [train(*given, run=tmp_path / "named", plan=QUICK), train(*given, plan=QUICK)]
    assert [(result.path.name, result.continued) for result in found] == [("named", False), ("winner-1", False)]
    assert all(len(Run(result.path).seen()) for result in found)
    (tmp_path / "named" / "run.json").unlink()
    with pytest.raises(UsageError, match=naming("empty")):
        train(*given, run=tmp_path / "named", plan=QUICK)


def test_what_was_seen_is_kept_and_the_test_side_is_unseen(small_store: Store, small_run: Path) -> None:
    run, hashes, sides = Run(small_run), small_store.column("hash"), small_store.sides()
    decisive = small_store.column("result") != 0
    unseen = run.unseen(hashes)
    assert unseen[sides == 2].all()
    assert not unseen[(sides != 2) & decisive].any()
    assert short_hashes(hashes).dtype == np.uint32


def test_a_split_given_here_replaces_the_stores(small_store: Store, tmp_path: Path) -> None:
    split = Split(validate_share=20, test_share=30)
    run = train("winner", quick(small_store), str(small_store.path), run=tmp_path / "r", split=split, plan=QUICK)
    games = Run(run.path).info["data"]["games"]
    assert games["training"] < games["validation"] + games["test"] + 40
    assert Run(run.path).split == split


def test_a_store_without_decisive_games(tmp_path: Path) -> None:
    store = import_games(tmp_path / "drawn.store", keep=Filter(result=("1/2-1/2",)), limit=20)
    with pytest.raises(KibitzError, match=naming("20 & training")):
        train("winner", quick(store), str(store.path), run=tmp_path / "r", plan=QUICK)
    assert not (tmp_path / "r").exists()


@pytest.mark.slow
def test_no_validation_is_said_and_the_last_weights_are_kept(small_store: Store, tmp_path: Path) -> None:
    said: list[str] = []
    split = Split(validate_from=date(2999, 1, 1), test_from=date(2999, 1, 2))
    done = train(
        "winner",
        quick(small_store),
        str(small_store.path),
        run=tmp_path / "r",
        split=split,
        plan=QUICK,
        log=said.append,
    )
    assert any(mentions(line, "validation") for line in said)
    assert Run(done.path).trained().is_file()


def test_runs_that_cannot_be_opened(small_run: Path, tmp_path: Path) -> None:
    with pytest.raises(KibitzError, match="is not a run"):
        Run(tmp_path / "nowhere")
    with pytest.raises(KibitzError, match="not a run"):
        Run(tmp_path)
    copy = tmp_path / "copy"
    shutil.copytree(small_run, copy)
    info = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps({**info, "kibitz_run": 99}))
    with pytest.raises(KibitzError, match="version 99"):
        Run(copy)
    (copy / "run.json").write_text("{")
    with pytest.raises(KibitzError, match="damaged"):
        Run(copy)


def test_a_run_without_weights_says_how_to_go_on(small_run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(small_run, copy)
    (copy / "best.safetensors").unlink()
    with pytest.raises(KibitzError, match="no trained network"):
        Run(copy).load_network()


def test_an_unwritable_place_for_the_run(small_store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KibitzError, match="another --run"):
        train("winner", quick(small_store), str(small_store.path), run=tmp_path / "file" / "run", plan=QUICK)


def test_packaged_networks_open_by_name() -> None:
    for name in packaged():
        assert Run(name).load_network() is not None


def test_a_store_that_has_grown_is_said_to_begin_a_new_run(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "RUNS", tmp_path / "runs")
    store, said = tmp_path / "s", []
    shutil.copytree(small_store.path, store)
    on_cpu = replace(QUICK, device="cpu")
    train("winner", quick(small_store), str(store), plan=on_cpu, recipe="default", log=said.append)
    assert not any("has changed" in line for line in said)
    assert any("trains on the CPU" in line for line in said)
    shutil.rmtree(store)
    import_games(store, limit=300)
    said.clear()
    done = train("winner", quick(small_store), str(store), plan=QUICK, log=said.append)
    assert done.path == tmp_path / "runs" / "winner-2"
    assert "has changed" in said[0]
    assert str(tmp_path / "runs" / "winner-1") in said[0]


def test_a_loss_that_is_no_number_ends_the_training(small_store: Store, tmp_path: Path) -> None:
    wild = quick(small_store, optimiser="sgd", learning_rate=1e30, activation="relu")
    with pytest.raises(KibitzError, match=naming("5 & --learning-rate & rate")):
        train("winner", wild, str(small_store.path), run=tmp_path / "r", plan=QUICK)


def test_a_full_disk_is_told_with_the_files_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "last.pt"
    write_whole(path, b"old")

    def full(file: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("kibitz.durable.sync", full)
    with pytest.raises(OSError, match=naming("device")):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"kibitz_run": 1}', '{"kibitz_run": 1, "system": "winner"}'])
def test_a_damaged_description_of_a_run(content: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(KibitzError, match=r"run\.json is damaged"):
        Run(tmp_path)


@pytest.mark.parametrize(
    "data",
    [None, 7, {}, {"split": 7}, {"split": {"shares": 1}}, {"split": {"validate_share": "many"}},
     {"split": {"test_share": -1}}, {"split": {"test_from": "2ol2"}}, {"split": {"newest": 10**30}}],
)  # fmt: skip
def test_a_run_that_does_not_say_how_its_games_were_divided(data: object, tmp_path: Path) -> None:
    account = {"kibitz_run": 1, "system": "winner", "game": "chess", "settings": {}, "data": data}
    (tmp_path / "run.json").write_text(json.dumps(account))
    with pytest.raises(KibitzError, match=r"run\.json is damaged"):
        _ = Run(tmp_path).split


def test_a_stopped_run_that_goes_on_is_not_said_to_have_ended(small_store: Store, tmp_path: Path) -> None:
    """While it trains, run.json does not name the reason why the call before stopped: the board tells by that."""
    given, path, seen = ("winner", quick(small_store), str(small_store.path)), tmp_path / "r", []
    plan = replace(QUICK, checkpoint_every=1)
    train(*given, run=path, plan=plan, on_progress=lambda progress: progress.iteration == 2)
    assert (Run(path).info["ended"], Run(path).info["finished"]) == ("stopped", False)
    train(*given, run=path, plan=plan, on_progress=lambda progress: seen.append("ended" in Run(path).info))
    assert seen
    assert not any(seen)
    assert (Run(path).info["ended"], Run(path).info["finished"]) == ("all iterations done", True)


@pytest.mark.parametrize("content", [b"", b"garbage"])
def test_damaged_files_of_a_run(content: bytes, small_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "r"
    train(
        "winner",
        quick(small_store, iterations=50),
        str(small_store.path),
        run=path,
        plan=replace(QUICK, time_limit=0.0),
    )
    (path / "seen.npy").write_bytes(content)
    with pytest.raises(KibitzError, match=r"seen\.npy is damaged"):
        Run(path).unseen(small_store.column("hash"))
    (path / "last.pt").write_bytes(content)
    with pytest.raises(KibitzError, match=r"last\.pt is damaged"):
        train("winner", quick(small_store, iterations=50), str(small_store.path), run=path, plan=QUICK)


def test_a_run_names_the_gpu_that_trained_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = SimpleNamespace(device=torch.device("cuda", 0))
    plan: Any = SimpleNamespace(device="auto", ranks=SimpleNamespace(alone=True, fabric=lambda *_: fabric))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H200")
    assert fit._machine(plan) == f"NVIDIA H200, {torch.get_num_threads()} threads"
    assert "NVIDIA" not in fit._machine(TrainConfig(device="cpu"))
