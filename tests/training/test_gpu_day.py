"""The small store that is carried to a GPU: the same samples, without names."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from kibitz.store.store import Store
from kibitz.systems.human import PlayedMoves, Settings

TOOLS = Path(__file__).parents[2] / "tools"


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_thin_store_gives_the_same_samples_without_names(small_store: Store, tmp_path: Path) -> None:
    tool = load_tool("thin_store")
    whole = tool.thin(small_store, tmp_path / "whole.store", 10**9)
    assert len(whole) == len(small_store)
    assert whole.fingerprint == small_store.fingerprint
    assert set(whole.table(["white"])["white"].to_pylist()) == {None}
    assert whole.info["beside"] == {}
    ids = np.arange(0, 4000, 13)
    ours, theirs = (
        PlayedMoves(store, np.arange(len(store)), Settings()).batch(ids, 0) for store in (whole, small_store)
    )
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    few = tool.thin(small_store, tmp_path / "few.store", len(small_store.moves) // 4)
    assert len(small_store.moves) / 8 < len(few.moves) < len(small_store.moves) / 2
    assert set(few.column("hash").tolist()) < set(small_store.column("hash").tolist())


def test_a_thin_store_of_go_keeps_the_owners_of_points(small_go_store: Store, tmp_path: Path) -> None:
    whole = load_tool("thin_store").thin(small_go_store, tmp_path / "whole.store", 10**9)
    assert whole.fingerprint == small_go_store.fingerprint
    assert whole.info["carried"].keys() == small_go_store.info["carried"].keys() >= {"owner"}
    assert np.array_equal(whole.per_game("owner"), small_go_store.per_game("owner"))
    assert small_go_store.per_game("owner").any()


def test_a_packed_store_is_the_same_store(small_store: Store, tmp_path: Path) -> None:
    """Each move as one byte, and back."""
    tool = load_tool("pack_store")
    whole = load_tool("thin_store").thin(small_store, tmp_path / "whole.store", 10**9)
    tool.pack(whole.path, tmp_path / "packed")
    assert (tmp_path / "packed" / tool.NUMBERS).stat().st_size == len(whole.moves)
    tool.unpack(tmp_path / "packed", tmp_path / "again.store")
    again = Store(tmp_path / "again.store")
    assert again.fingerprint == whole.fingerprint
    assert np.array_equal(again.moves, whole.moves)
    assert np.array_equal(again.sides(), whole.sides())
    for name in ("white_rating", "result", "hash", "opening"):
        assert np.array_equal(again.column(name), whole.column(name)), name
    numbers = np.fromfile(tmp_path / "packed" / tool.NUMBERS, np.uint8)
    numbers[0] = 255  # more than the legal moves of any position
    numbers.tofile(tmp_path / "packed" / tool.NUMBERS)
    with pytest.raises(SystemExit, match="not legal"):
        tool.unpack(tmp_path / "packed", tmp_path / "damaged.store")


def test_the_script_is_sound_and_says_how_it_is_called() -> None:
    script = TOOLS / "gpu_day.sh"
    subprocess.run(["bash", "-n", str(script)], check=True)
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "gpu_day.sh prepare STORE FOLDER" in done.stdout


@pytest.mark.parametrize("arguments", [["prepare", "only-a-store"], ["rehearse"]])
def test_a_call_without_a_folder_fails(arguments: list[str]) -> None:
    assert subprocess.run(["bash", str(TOOLS / "gpu_day.sh"), *arguments], capture_output=True, check=False).returncode


@pytest.mark.slow
def test_a_training_follows_the_clock(small_store: Store, tmp_path: Path) -> None:
    """The rate rises, stays, and has fallen when the time is over. The number of iterations plays no role."""
    run = tmp_path / "run"
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, str(TOOLS / "train_by_clock.py"), "6", "human", str(small_store.path), "--run", str(run),
         "--blocks", "1", "--filters", "8", "--batch", "32", "--warmup", "2", "--cooldown", "0.5",
         "--learning-rate", "0.01", "--iterations", "10000000", "--most-epochs", "0", "--patience", "0",
         "--summary-every", "1", "--validate-every", "100000", "--validate-positions", "64", "--device", "cpu"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(TOOLS.parent / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began > 6
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    rates = [row["learning_rate"] for row in rows if row["kind"] == "summary"]
    assert len(rates) > 10
    assert max(rates) == pytest.approx(0.01)
    assert rates[-1] < 0.002
    assert rates[len(rates) // 4] > 5 * rates[-1]
    assert json.loads((run / "run.json").read_text())["ended"] == "time limit"
