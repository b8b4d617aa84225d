"""The whole texts of each command against the approved ones: the one place where a change of words shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.cli import COMMANDS
from recorded import texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("approved")
    texts.prepare(path)
    return path


@pytest.mark.process
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in ("train", "tune", "personal") else name
        for name in COMMANDS
    ],
)
def test_the_texts_of_a_command_are_the_approved_ones(command: str, folder: Path) -> None:
    """After a change of words: `python tests/recorded/record.py --texts`, and look at the diff."""
    approved = (texts.APPROVED / f"{command}.txt").read_text(encoding="utf-8")
    assert texts.text_of(command, folder).splitlines() == approved.splitlines()


def test_every_command_has_calls_that_succeed_and_calls_that_fail(folder: Path) -> None:
    assert set(texts.CALLS) == set(COMMANDS)
    for command in COMMANDS:
        approved = (texts.APPROVED / f"{command}.txt").read_text(encoding="utf-8")
        assert "exit code 0" in approved
        assert "exit code 1" in approved or "exit code 2" in approved
        assert "No such option" not in approved
        assert "Traceback" not in approved


def test_what_differs_from_machine_to_machine_is_left_out(tmp_path: Path) -> None:
    text = f"│ {tmp_path}/a.pgn: 12.5% in 3 s │\n╰────╯\n"
    assert texts.plain(text, tmp_path) == ["FOLDER/a.pgn: #% in # s"]
    assert texts.plain("in 1 min 3 s", tmp_path) == ["in # s"]
