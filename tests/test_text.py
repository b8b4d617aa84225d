"""Texts with numbers."""

from __future__ import annotations

import pytest

from kibitz.commands.analyze import output
from kibitz.text import number_of


def test_a_number_has_the_noun_that_belongs_to_it() -> None:
    assert [number_of(count, "game") for count in (0, 1, 2, 1200)] == ["0 games", "1 game", "2 games", "1,200 games"]


def test_the_progress_of_one_game(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress("missing.pgn") as show:
        show(1, 0)
    assert "1 games" not in capsys.readouterr().err
