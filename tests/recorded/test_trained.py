"""A record of a small run holds what its training leaves today: else `make runs` was forgotten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from kibitz.runs import INFO, WEIGHTS, Run
from kibitz.store.store import Store
from kibitz.systems.human import Settings
from kibitz.training.trainer import TrainConfig
from support.trained import TRAINING_ONLY, trained


def files(run: Path) -> set[str]:
    found = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    return {name for name in found if not name.startswith(TRAINING_ONLY)}


def shape(value: Any) -> Any:
    """A value of JSON with the names of its keys and the kinds of its values, not the values."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(shape(item), sort_keys=True) for item in value})
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


@pytest.mark.slow
def test_a_fresh_training_gives_the_files_of_its_record(small_store: Store, human_run: Path, tmp_path: Path) -> None:
    plan = TrainConfig(20, 1000, 1000, validate_positions=500, precision="32-true")
    settings = Settings(blocks=1, filters=16, batch=128, warmup=5, iterations=60)
    fresh = trained("human", settings, small_store, tmp_path / "human-1", plan, record=False)
    assert files(fresh) == files(human_run)
    ours, theirs = (json.loads((run / INFO).read_text(encoding="utf-8")) for run in (fresh, human_run))
    assert shape(ours) == shape(theirs)
    assert ours["settings"] == theirs["settings"]
    rows, recorded = (Run(run).metrics() for run in (fresh, human_run))
    assert [(row["kind"], row.get("iteration"), sorted(row)) for row in rows] == [
        (row["kind"], row.get("iteration"), sorted(row)) for row in recorded
    ]
    # Other processors round otherwise, and a training adds that up.
    for row, other in zip(rows, recorded, strict=True):
        assert row.get("loss", 0) == pytest.approx(other.get("loss", 0), rel=0.02)
    weights, of_record = load_file(fresh / WEIGHTS), load_file(human_run / WEIGHTS)
    assert {name: array.shape for name, array in weights.items()} == {n: a.shape for n, a in of_record.items()}
    # All weights together: the gradient of some biases is nothing but rounding.
    apart, size = (sum(float(np.abs(array).sum()) for array in arrays) for arrays in (
        [array - of_record[name] for name, array in weights.items()], of_record.values()
    ))  # fmt: skip
    assert apart <= 0.02 * size
