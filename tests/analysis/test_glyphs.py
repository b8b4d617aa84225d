"""Marks of moves, the same for both games."""

from __future__ import annotations

import pytest

from kibitz.analysis.glyphs import GAINED, figure, mark


@pytest.mark.parametrize(
    ("change", "sign"),
    [
        (0.0, ""), (-0.0999, ""), (-0.1, "?!"), (0.4 - 0.5, "?!"), (-0.1999, "?!"), (-0.2, "?"), (0.5 - 0.8, "??"),
        (-0.95, "??"), (0.0999, ""), (0.1, GAINED), (0.9, GAINED),
    ],
)  # fmt: skip
def test_marks(change: float, sign: str) -> None:
    assert mark(change, 0.1) == sign


def test_a_figure_of_one_game_has_no_interval() -> None:
    assert figure(0.123456, 7) == {"value": 0.1235, "low": None, "high": None, "n": 7}
    assert figure(None, 0)["value"] is None
