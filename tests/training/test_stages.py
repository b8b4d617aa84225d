"""A training of several stages, killed in each of them: nobody could tell afterwards.

The trainings are real processes that get a real SIGKILL. One process loads everything and forks them, since loading
would take longer than training.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from kibitz.runs import Run
from kibitz.store.store import Store
from support.forks import Forks
from support.helpers import SMALL_PAIRS

LOADED = """
import json, os, signal, sys
from pathlib import Path
from kibitz.store.store import Store
from kibitz.systems.deepchess import Settings
from kibitz.training.trainer import TrainConfig
from kibitz.training.fit import train
plan = TrainConfig(summary_every=7, validate_every=10, checkpoint_every=8, validate_positions=500, precision="32-true")
"""
KILLED = """
store, run, settings, stage, iteration = sys.argv[1:]
def on_progress(progress):
    if (progress.stage, progress.iteration) == (stage, int(iteration)) and not progress.note:
        os.kill(os.getpid(), signal.SIGKILL)
settings = Settings(**json.loads(settings))
done = train("deepchess", settings, store, run=Path(run), plan=plan, on_progress=on_progress)
assert done.outcome.finished
"""

KILLS = [("pos2vec-2", 11), ("deepchess", 1), ("deepchess", 19), ("distilled", 9)]
"""Between two snapshots, and in the first iteration of a stage."""


def rows(path: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "samples_per_second"} for row in Run(path).metrics()]


@pytest.mark.slow
def test_killed_in_every_stage_it_comes_to_the_same_weights(small_store: Store, tmp_path: Path) -> None:
    settings = {
        **SMALL_PAIRS, "pos2vec": "16.8", "compare": "8", "small_pos2vec": "8", "small_compare": "6", "dropout": 0.2,
        "colours": True, "reuse": 2, "batch": 32, "pairs": 640, "positions": 3, "pretrain_epochs": 0.6, "epochs": 1.5,
        "distil_epochs": 1.0, "keep": "best",
    }  # fmt: skip
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    calls = [(unbroken, "", 0), *((broken, *kill) for kill in KILLS), (broken, "", 0)]
    # Loads what compiled functions need.
    with Forks(f"{LOADED}\nStore({str(small_store.path)!r}).captures()") as forks:
        for run, stage, iteration in calls:
            arguments = (str(small_store.path), str(run), json.dumps(settings), stage, str(iteration))
            ended = forks.run(KILLED, *arguments, folder=tmp_path)
            assert ended.code == (-signal.SIGKILL if stage else 0), ended.err
    assert {row["stage"] for row in rows(unbroken)} == {"pos2vec-1", "pos2vec-2", "deepchess", "distilled"}
    assert rows(broken) == rows(unbroken)
    files = sorted(path.name for path in (unbroken / "snapshots").iterdir())
    assert sorted(path.name for path in (broken / "snapshots").iterdir()) == files
    for name in ("best.safetensors", *(f"snapshots/{file}" for file in files)):
        ours, theirs = load_file(broken / name), load_file(unbroken / name)
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[key], theirs[key]) for key in ours), name
    assert (broken / "model.onnx").read_bytes() == (unbroken / "model.onnx").read_bytes()
    assert Run(broken).info["best"] == Run(unbroken).info["best"]
