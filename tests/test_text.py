"""Texts with numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kibitz
from kibitz.analysis.chess.moves import Worth
from kibitz.analysis.glyphs import figure
from kibitz.analysis.parts import figure_of
from kibitz.commands.analyze import output
from kibitz.play.value import NETWORK, PositionValue
from kibitz.stats import Estimate
from kibitz.text import number_of, rounded, signed
from kibitz.web.answers import rounded as web_rounded
from kibitz.web.answers import rounded_list


def test_a_number_has_the_noun_that_belongs_to_it() -> None:
    assert [number_of(count, "game") for count in (0, 1, 2, 1200)] == ["0 games", "1 game", "2 games", "1,200 games"]


def test_no_number_is_minus_zero() -> None:
    assert [str(rounded(value, 4)) for value in (-0.0, -0.00001, 0.25, -0.5)] == ["0.0", "0.0", "0.25", "-0.5"]
    assert [signed(value) for value in (-0.04, 0, 2.46, -0.06)] == ["+0.0", "+0.0", "+2.5", "-0.1"]
    assert str(Worth(0.5, 0.5, -0.00001).as_json()["change"]) == "0.0"
    found = [web_rounded(-0.0), *rounded_list(np.array([-0.00001, 0.3]))]
    assert list(map(str, found)) == ["0.0", "0.0", "0.3"]
    assert str(figure(-0.00001, 3)["value"]) == "0.0"
    assert str(PositionValue(0.5, NETWORK, lead=-0.001).as_json()["lead"]) == "0.0"
    assert str(figure_of(Estimate(-0.00001, -0.1, 0.1, 3, 2))["value"]) == "0.0"


def test_signs_are_written_by_signed() -> None:
    """A format with `+` writes "-0.0" for numbers just below 0."""
    source = Path(kibitz.__file__).parent
    own = re.compile(r":[<>^]?\+(?:[0-9.]|\{\w+\})*f\}")
    found = {
        path.relative_to(source).as_posix() for path in source.rglob("*.py") if own.search(path.read_text("utf-8"))
    }
    assert found == {"text.py"}, "nothing but `signed` itself"


def test_no_message_says_1_games() -> None:
    """A count before a plural is written by `number_of`, unless the line itself treats the number 1."""
    nouns = "positions|games|moves|files|iterations|rows|pairs|trials|stones|visits|plies"
    plural = re.compile(rf"\{{[^{{}}A-Z]*:,\}} (?:[a-z]+ ){{0,2}}(?:{nouns})\b")
    source = Path(kibitz.__file__).parent
    found = [
        f"{path.relative_to(source)}:{at + 1}: {lines[at].strip()}"
        for path in sorted(source.rglob("*.py"))
        for lines in [path.read_text(encoding="utf-8").splitlines()]
        for at in range(len(lines))
        if plural.search(lines[at]) and "== 1 else" not in lines[at] and "> 1" not in lines[at - 1]
    ]
    assert not found


def test_the_progress_of_one_game(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress("missing.pgn") as show:
        show(1, 0)
    assert "1 games" not in capsys.readouterr().err
