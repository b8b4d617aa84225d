"""What every result holds, whatever the system."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kibitz.errors import KibitzError, UsageError
from kibitz.evaluation import EvalConfig, evaluate, load, own_store
from kibitz.evaluation.games import Chosen
from kibitz.report.page import render_test_page
from kibitz.runs import INFO, WEIGHTS, Run
from kibitz.store.store import Store
from kibitz.systems import SYSTEMS
from support.causes import naming


def test_every_system_has_an_examination() -> None:
    for name in SYSTEMS:
        assert callable(load(name).evaluate)
    with pytest.raises(UsageError, match="unknown system"):
        load("games")  # a module of the package, and no system


def test_result_says_where_it_comes_from(result: dict[str, Any], opened: Run, small_store: Store) -> None:
    weights = (opened.path / WEIGHTS).read_bytes()
    assert result["weights_sha256"] == hashlib.sha256(weights).hexdigest()
    assert (result["system"], result["weights"], result["command"]) == ("winner", WEIGHTS, "kibitz test it")
    assert result["data"]["store"] == str(small_store.path)
    assert result["data"]["fingerprint"] == small_store.fingerprint
    assert result["paper"]["figure"] == SYSTEMS["winner"].anchor


def test_result_is_json_and_makes_a_page(result: dict[str, Any]) -> None:
    again = json.loads(json.dumps(result, allow_nan=False))
    assert again == result, "keys are texts, numbers Python's own"
    page = render_test_page(again)
    for name in ("figures", "baselines", "gallery", "hardest", "mistakes", "games", "learning"):
        assert f'<h2 id="{name}"' in page


def test_metrics_that_are_no_numbers_become_none(
    small_run: Path, small_store: Store, chosen: Chosen, tmp_path: Path
) -> None:
    path = shutil.copytree(small_run, tmp_path / "run")
    (path / "metrics.jsonl").write_text('{"kind": "summary", "iteration": 1, "loss": NaN}\n')
    found = evaluate(
        Run(path), small_store, chosen, EvalConfig(positions=50), on_progress=lambda *_: None, log=pytest.fail
    )
    assert found["metrics"] == [{"kind": "summary", "iteration": 1, "loss": None}]


def test_a_store_that_has_gone_is_named(opened: Run, small_run: Path, tmp_path: Path) -> None:
    assert own_store(opened) == opened.info["data"]["store"]
    path = shutil.copytree(small_run, tmp_path / "run")
    info = json.loads((path / INFO).read_text())
    info["data"]["store"] = "gone.store"
    (path / INFO).write_text(json.dumps(info))
    with pytest.raises(KibitzError, match=naming("gone.store & STORE & store")):
        own_store(Run(path))
