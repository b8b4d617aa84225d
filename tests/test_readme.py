"""The README's commands work as they stand there."""

from __future__ import annotations

import importlib.resources
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from kibitz.cli import run
from kibitz.systems import SYSTEMS

README = Path(__file__).parents[1] / "README.md"

# What a test adds to a command so that it takes seconds, not hours.
QUICKER = {
    "train": ["--layers", "16conv4x4.pool2x2.ip8", "--iterations", "30", "--batch", "64", "--validate-every", "15"],
    "test": ["--stockfish-positions", "0", "--positions", "3000"],
    "board": ["--help"],  # it would serve until it is stopped; tests/browser has it
    "match": ["--games", "2", "--nodes", "5", "--max-plies", "30"],
}


def tour() -> list[list[str]]:
    """The commands of the tour, as words."""
    blocks = re.findall(r"^```\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("kibitz ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


def bundled_go() -> str:
    packed = Path(str(importlib.resources.files("kibitz") / "data" / "games.sgfl.zst")).read_bytes()
    return zstandard.ZstdDecompressor().decompress(packed).decode()


@pytest.mark.slow
def test_the_tour_runs(
    bundled_text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my-games.pgn").write_text(bundled_text)
    go = bundled_go().splitlines()
    Path("my-games.sgf").write_text("\n".join(go[:60]))
    Path("my-game.sgf").write_text(go[0])
    commands = tour()
    assert [command[0] for command in commands] == [
        "import", "info", "train", "test", "analyze", "analyze", "match", "board", "import", "analyze", "gtp",
    ]  # fmt: skip
    for command in commands:
        if command[0] == "gtp":  # it listens
            done = subprocess.run(
                [sys.executable, "-m", "kibitz", *command], input="genmove b\nquit\n", capture_output=True, text=True,
                check=True,
            )  # fmt: skip
            assert done.stdout.startswith("= ")
            continue
        assert run([*command, *QUICKER.get(command[0], [])]) == 0, (command, capsys.readouterr().err)
    assert Path("runs/winner-1/test-my.html").is_file()
    capsys.readouterr()
    (example,) = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    assert all(0 < float(number) < 1 for number in re.findall(r"0\.\d+", capsys.readouterr().out))


def test_the_makefile_has_the_two_commands() -> None:
    text = README.read_text(encoding="utf-8")
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert text.index("make demo") < 800, "the two commands stand at the top"


def test_every_system_stands_in_the_table() -> None:
    text = README.read_text(encoding="utf-8")
    for name in SYSTEMS:
        assert re.search(rf"^\| `{name}` \|", text, re.MULTILINE), name
