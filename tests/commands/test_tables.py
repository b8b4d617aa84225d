"""Tables: plain lines in a pipe; on a terminal drawn, and split rather than cut."""

from __future__ import annotations

import re
import sys

import pytest

from kibitz.commands.tables import print_table

HEADINGS = ("network", *(f"{kind} at {k}" for kind in ("accuracy", "legal") for k in (1, 3, 5, 10)), "positions")
ROWS = [("knight", *(f"{i}0.5% ±1.9" for i in range(1, 9)), "3,000")]


def test_in_a_pipe_a_row_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Ranks", HEADINGS, ROWS, right=range(1, 10))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Ranks"
    assert lines[2].split() == " ".join(ROWS[0]).split()


@pytest.mark.parametrize(("width", "parts"), [(80, 2), (200, 1)])
def test_a_wide_table_is_split_where_the_terminal_is_narrow(
    width: int, parts: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_table("Ranks", HEADINGS, ROWS, right=range(1, 10))
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert [out.count(word) for word in ("Ranks", "network", "knight", "positions", "3,000")] == [
        1, parts, parts, 1, 1,
    ]  # fmt: skip
    words = out.split()
    assert all(words.count(f"{i}0.5%") == 1 for i in range(1, 9))
    assert max(map(len, out.splitlines())) <= width
