"""The course of docs/course: its commands run on the bundled games, and print what the pages show."""

from __future__ import annotations

import ast
import contextlib
import importlib.resources
import re
import runpy
import shlex
import shutil
import sys
import textwrap
from pathlib import Path

import pytest

from kibitz.cli import run
from kibitz.store.store import Store

COURSE = Path(__file__).parents[1] / "docs" / "course"
WALKS = sorted(page for page in COURSE.glob("*.md") if page.name != "index.md")
OWN_NETWORK = COURSE / "own_network.py"
TOLERANCE = 12.0
"""Points by which a share may differ from the page: the trainings are short, and processors round differently."""


def blocks(page: Path) -> list[tuple[str, str]]:
    """The language and the text of each block of a page that is not inside a list."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("kibitz ")]


def expected(text: str) -> list[tuple[str, float]]:
    """Each line of an output: its label, and its first share in percent."""
    lines = [re.match(r"(.+?)  +([\d.]+)%", line) for line in text.splitlines() if line.strip()]
    assert all(lines), text
    return [(found[1], float(found[2])) for found in lines if found]


def share(out: str, label: str) -> float:
    """The first share of the line with that label in an output."""
    found = re.search(rf"^{re.escape(label)}  +([\d.]+)%", out, re.MULTILINE)
    assert found, (label, out)
    return float(found[1])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two stores, as the index makes them."""
    folder = tmp_path_factory.mktemp("course")
    for name in ("games.pgn.zst", "games.sgfl.zst"):
        shutil.copy(str(importlib.resources.files("kibitz") / "data" / name), folder)
    steps = [command for language, text in blocks(COURSE / "index.md") if not language for command in commands(text)]
    assert len(steps) == 2
    with contextlib.chdir(folder):
        for step in steps:
            assert run(step) == 0, step
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", WALKS, ids=[page.stem for page in WALKS])
def test_a_walk_prints_what_its_page_shows(
    page: Path, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shutil.copytree(prepared, tmp_path / "copy"))
    out, compared = "", 0
    for language, text in blocks(page):
        if not language:
            for command in commands(text):
                assert run(command) == 0, (command, capsys.readouterr().err)
                out += capsys.readouterr().out
        elif language == "text":
            for label, value in expected(text):
                assert share(out, label) == pytest.approx(value, abs=TOLERANCE), label
                compared += 1
    assert compared >= 2


def test_the_course_has_its_form() -> None:
    assert [page.stem for page in WALKS] == ["chessnet", "convchess", "deepchess", "gocnn", "winner"]
    index = (COURSE / "index.md").read_text(encoding="utf-8")
    for page in WALKS:
        text = page.read_text(encoding="utf-8")
        assert f"({page.name})" in index
        assert f"(../papers/{page.name})" in text
        assert len(re.findall(r"\d+ processor seconds", text)) == 2, "of the training and of the test"
        exercises = text.partition("## Exercises")[2]
        assert re.findall(r"^(\d)\. \*\*", exercises, re.MULTILINE) == ["1", "2", "3"]
        assert [language for language, _ in blocks(page)].count("text") == 1
    lines = "accuracy   61.0%  60 to 62\nlog loss  5%  x\n"
    assert {word for word, _ in expected(lines)} == {"accuracy", "log loss"}


def test_the_corner_of_the_exercise(capsys: pytest.CaptureFixture[str]) -> None:
    """A 3-4 stone has the firmer grasp of the corner, as the text says."""
    code = re.search(r"^    ```python\n(.*?)^    ```$", (COURSE / "gocnn.md").read_text(), re.MULTILINE | re.DOTALL)
    assert code
    exec(compile(ast.parse(textwrap.dedent(code[1])), "gocnn.md", "exec"), {})
    (_, star), (_, small) = (line.split() for line in capsys.readouterr().out.splitlines())
    assert 0.5 < float(star) < float(small) < 1


@pytest.mark.slow
def test_a_network_of_your_own(
    small_store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line for line in OWN_NETWORK.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) <= 30
    monkeypatch.setattr(sys, "argv", [str(OWN_NETWORK), str(small_store.path), "20000"])
    runpy.run_path(str(OWN_NETWORK), run_name="__main__")
    found = re.match(r"([\d.]+)% \(([\d.]+)% to ([\d.]+)%\) of ([\d,]+) unseen positions", capsys.readouterr().out)
    assert found
    value, low, high = (float(found[i]) for i in (1, 2, 3))
    assert value > 55
    assert low < value < high
