"""The list of networks: new runs are found by name, and names that cannot be a run cost no search of the folders."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from kibitz.personal.fitting import CANDIDATES
from kibitz.web.networks import NetworkInfo, NetworkRegistry
from kibitz.web.params import BadRequest


def test_a_run_that_began_later_is_found(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    networks = NetworkRegistry()
    networks.known()
    shutil.copytree(small_run, tmp_path / "runs" / "later")
    assert networks.find("runs/later").source == "run"


@pytest.mark.parametrize("name", ["nothing", "../../etc", "runs/../runs", "runs/a/b", "", "a" * 3000])
def test_folders_are_not_searched_for_what_is_no_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    networks = NetworkRegistry()
    networks.known()
    searched: list[str] = []

    def known(_: NetworkRegistry) -> list[NetworkInfo]:
        searched.append(name)
        return []

    monkeypatch.setattr(NetworkRegistry, "known", known)
    with pytest.raises(BadRequest, match="unknown network"):
        networks.find(name)
    assert not searched


def test_links_that_lead_out_are_no_checkpoints(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = Path(shutil.copytree(small_run, tmp_path / "runs" / "linked"))
    first = next((run / "snapshots").glob("*.safetensors"))
    outside = tmp_path / "outside"
    shutil.copytree(run / "snapshots", outside)
    here = NetworkRegistry().find("runs/linked").run
    assert here is not None
    count = len(here.checkpoints())
    (run / "snapshots" / "out.safetensors").symlink_to(outside / first.name)
    (run / "snapshots" / "in.safetensors").symlink_to(first.name)
    assert len(here.checkpoints()) == count + 1, "a link that stays inside is one"
    shutil.rmtree(run / "snapshots")
    (run / "snapshots").symlink_to(outside)
    assert here.checkpoints() == []


def test_a_training_that_runs_is_live_and_those_within_a_personal_one_are_listed_meanwhile(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inner = Path(shutil.copytree(small_run, tmp_path / "runs" / "personal-a" / CANDIDATES / "1-2-3"))
    name = inner.relative_to(tmp_path).as_posix()
    (inner / "metrics.jsonl").touch()

    def live() -> dict[str, bool]:
        return {each.name: each.live for each in NetworkRegistry().known() if each.source == "run"}

    info = json.loads((inner / "run.json").read_text())
    assert info["finished"]
    assert live() == {}
    del info["finished"]
    info.pop("ended", None)
    (inner / "run.json").write_text(json.dumps(info))
    assert live() == {name: True}
    # The page lists it as a step of the personal network, not as a network of its own.
    assert {each.name: each.as_json()["part_of"] for each in NetworkRegistry().known() if each.live} == {
        name: "runs/personal-a"
    }
    shutil.copytree(inner, tmp_path / "runs" / "whole")
    assert NetworkRegistry().find("runs/whole").part_of is None
    shutil.rmtree(tmp_path / "runs" / "whole")
    assert NetworkRegistry().find(name).run is not None
    os.utime(inner / "metrics.jsonl", (1, 1))
    assert live() == {}, "it was killed"


def test_a_personal_network_is_unfinished_until_its_training_has_ended(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = Path(shutil.copytree(small_run, tmp_path / "runs" / "personal-ana"))
    info = json.loads((run / "run.json").read_text())
    for more, unfinished in (
        ({"finished": False}, False),
        ({"finished": False, "person": {"name": "Ana"}, "base": "human"}, True),
        ({"finished": True, "person": {"name": "Ana"}, "base": "human"}, False),
    ):
        (run / "run.json").write_text(json.dumps(info | more))
        found = NetworkRegistry().find("runs/personal-ana").as_json()
        assert found["unfinished"] is unfinished
        assert found["base"] == ("human" if found["person"] else None)
