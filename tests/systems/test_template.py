"""`kibitz systems --new NAME`: a copy of the template under another name."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from kibitz.cli import run
from kibitz.errors import KibitzError, UsageError
from kibitz.store.store import Store
from kibitz.systems import SYSTEMS, register
from kibitz.systems.template import copy_template, template
from support.causes import mentions, naming


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_file_has_the_new_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["systems", "--new", "king_hunt"]) == 0
    assert mentions(capsys.readouterr().out, "pip install -e king_hunt & kibitz train king_hunt")
    files = {path.relative_to(here / "king_hunt").as_posix() for path in (here / "king_hunt").rglob("*.*")}
    assert files == {"README.md", "pyproject.toml", "king_hunt/__init__.py", "king_hunt/network.py"}
    project = tomllib.loads((here / "king_hunt" / "pyproject.toml").read_text())
    assert project["project"]["name"] == "kibitz-king_hunt"
    assert project["project"]["entry-points"]["kibitz.systems"] == {"king_hunt": "king_hunt:DECLARATION"}
    for path in (here / "king_hunt").rglob("*.*"):
        assert "toy" not in path.read_text().lower()
    assert sum(1 for _ in template().rglob("*.py")) == 2


def test_the_copy_trains(here: Path, small_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_template("king_walk", here / "king_walk")
    monkeypatch.syspath_prepend(str(here / "king_walk"))
    import king_walk  # type: ignore[import-not-found]

    register(king_walk.DECLARATION)
    try:
        assert run(["train", "king_walk", str(small_store.path), "--run", "r", "--iterations", "20"]) == 0
        assert json.loads((here / "r" / "run.json").read_text())["system"] == "king_walk"
    finally:
        SYSTEMS.remove("king_walk")
        for name in ("king_walk", "king_walk.network"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["", "King", "2kings", "a-b", "class", "winner", "json"])
def test_names_that_no_system_can_have(here: Path, name: str) -> None:
    with pytest.raises(UsageError, match="--new"):
        copy_template(name, here / "x")
    assert not (here / "x").exists()
    assert copy_template("kings", here / "x")


def test_a_folder_is_not_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "kings").mkdir()
    with pytest.raises(KibitzError, match=naming("kings & exists")):
        copy_template("kings", here / "kings")
    assert run(["systems", "--new", "kings"]) == 1
    assert run(["systems", "winner", "--new", "queens"]) == 2
    assert run(["systems", "--new", "queens", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["system"], len(told["files"])) == ("queens", 4)
