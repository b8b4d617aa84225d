"""The process that prepares both games while the first page is shown."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kibitz import environment, preparation
from kibitz.web.preparing import SWITCH, Preparing


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for compiled kernels."""
    monkeypatch.setattr(environment, "user_folder", lambda: tmp_path / "kernels")
    monkeypatch.delenv(SWITCH)
    return tmp_path


class FakeProcess:
    """A process that says how far it is, and ends when it is killed."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.stdout, self.code = io.StringIO("3 14 \n7 14 9\nnonsense\n"), None

    def poll(self) -> int | None:
        return self.code

    def wait(self) -> int | None:
        return self.code

    def kill(self) -> None:
        self.code = -9


def test_it_starts_once_and_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[FakeProcess] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(FakeProcess()) or started[-1])
    preparing = Preparing()
    assert preparing.state() == {"is_running": False, "done": 0, "total": 0, "left": None}
    preparing.start()
    preparing.start()
    assert len(started) == 1
    preparing._follow(started[0])  # type: ignore[arg-type]
    assert preparing.state() == {"is_running": True, "done": 7, "total": 14, "left": 9}
    preparing.end()
    assert not preparing.state()["is_running"]


def test_what_is_prepared_is_not_prepared_again(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    started: list[FakeProcess] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(FakeProcess()) or started[-1])
    preparation.remember(["chess"])
    assert preparation.are_prepared(["chess"])
    assert not preparation.are_prepared(["chess", "go"])
    preparation.remember(["go"])
    Preparing().start()
    assert started == []
    for mark in (home / "kernels").iterdir():
        mark.unlink()
    monkeypatch.setenv(SWITCH, "0")
    Preparing().start()
    assert started == []
    monkeypatch.delenv(SWITCH)
    Preparing().start()
    assert len(started) == 1


def test_another_version_prepares_again(monkeypatch: pytest.MonkeyPatch) -> None:
    preparation.remember(["go"])
    monkeypatch.setattr(sys, "version", "another Python")
    assert not preparation.are_prepared(["go"])


def test_the_total_is_that_of_the_work_that_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "_work", [])
    assert not any(word.isdigit() for word in preparation.Preparation(3, preparation.expected(), True).text().split())
    preparation.expect("chess search")
    preparation.expect("chess search")
    assert preparation.expected() == preparation.KERNELS["chess search"]
    assert preparation.Preparation(3, preparation.expected(), True).text().endswith(f"3 of {preparation.expected()}")
