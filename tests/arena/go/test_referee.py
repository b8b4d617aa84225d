"""Positions at a game's end whose score is plain, with dead stones on the board."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.arena.go import referee
from kibitz.games.go.points import BLACK, WHITE, from_gtp
from kibitz.games.go.rules import Board
from support.helpers import program

# Black owns the five columns on the left, White the four on the right; one white stone in Black's part is dead.
LEFT_AND_RIGHT = 45 - 36


def board() -> Board:
    made = Board(9, superko=True)
    for row in range(1, 10):
        made.put(BLACK, from_gtp(f"E{row}", 9))
        made.put(WHITE, from_gtp(f"F{row}", 9))
    for vertex in ("B2", "D8"):
        made.put(WHITE, from_gtp(vertex, 9))
    return made


def test_gnugo_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee, "find_gnugo", lambda: program("gnugo"))
    assert referee.lead(board(), 7.5) == (LEFT_AND_RIGHT - 7.5, "GNU Go")


def test_playouts_count_where_there_is_no_gnugo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee, "find_gnugo", lambda: None)
    assert referee.lead(board(), 9) == (0, "random playouts")


@pytest.mark.process
def test_playouts_count_where_gnugo_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "gnugo"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    for command in (str(broken), str(tmp_path / "nowhere")):
        monkeypatch.setattr(referee, "find_gnugo", lambda command=command: command)
        assert referee.lead(board(), 0.5) == (LEFT_AND_RIGHT - 0.5, "random playouts")


def test_an_empty_board_is_whites_by_the_komi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee, "find_gnugo", lambda: None)
    assert referee.lead(Board(13), 7.5)[0] == -7.5
