"""The commands in the README work."""

from __future__ import annotations

import importlib.resources
import re
import shlex
from pathlib import Path

import pytest
import zstandard

from kibitz.cli import run
from kibitz.systems import SYSTEMS
from support.causes import in_process

README = Path(__file__).parents[1] / "README.md"

# What a test adds to a command so that it takes seconds, not hours.
QUICKER = {
    "train": ["--layers", "16conv4x4.pool2x2.ip8", "--iterations", "30", "--batch", "64", "--validate-every", "15"],
    "test": ["--stockfish-positions", "0", "--positions", "3000"],
    "board": ["--help"],  # it would serve until it is stopped; tests/browser has it
    "match": ["--games", "2", "--nodes", "5", "--max-plies", "30"],
}


def commands() -> list[list[str]]:
    """Each `kibitz` command of a block, as words."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    blocks = [text for language, text in fenced if not language]
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("kibitz ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


def bundled_go() -> str:
    packed = Path(str(importlib.resources.files("kibitz") / "data" / "games.sgfl.zst")).read_bytes()
    return zstandard.ZstdDecompressor().decompress(packed).decode()


@pytest.mark.slow
def test_each_command_runs(
    bundled_text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my-games.pgn").write_text(bundled_text)
    found = commands()
    assert {"analyze", "board", "import", "train", "test"} <= {command[0] for command in found}
    for command in found:
        assert run([*command, *QUICKER.get(command[0], [])]) == 0, (command, capsys.readouterr().err)
    assert Path("runs/winner-1/test-my.html").is_file()


def test_each_engine_command_starts() -> None:
    engines = re.findall(r"`kibitz ((?:uci|gtp) [^`]+)`", README.read_text(encoding="utf-8"))
    assert len(engines) >= 3
    for engine in engines:
        done = in_process(shlex.split(engine), "name\nuci\nquit\n")
        assert done.code == 0, done
        assert ("= kibitz" if engine.startswith("gtp") else "uciok") in done.out


def test_the_makefile_has_each_command() -> None:
    text = README.read_text(encoding="utf-8")
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([\w-]+)`", text):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_system_is_in_the_table() -> None:
    text = README.read_text(encoding="utf-8")
    for name in SYSTEMS:
        assert re.search(rf"^\| `{name}` \|", text, re.MULTILINE), name


def test_it_stays_short() -> None:
    assert len(README.read_text(encoding="utf-8").split()) <= 950


def test_links_lead_to_files() -> None:
    text = README.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    assert len(links) >= 15
    for link in links:
        assert (README.parent / link).is_file(), link
