"""Marks of moves, the same for both games."""

from __future__ import annotations

import pytest

from kibitz.analysis.glyphs import GAINED, decimals, figure, mark


@pytest.mark.parametrize(
    ("change", "sign"),
    [
        (0.0, ""), (-0.0999, ""), (-0.1, "?!"), (0.4 - 0.5, "?!"), (-0.1999, "?!"), (-0.2, "?"), (0.5 - 0.8, "??"),
        (-0.95, "??"), (0.0999, ""), (0.1, GAINED), (0.9, GAINED),
    ],
)  # fmt: skip
def test_marks(change: float, sign: str) -> None:
    assert mark(change, 0.1) == sign


@pytest.mark.parametrize(
    ("change", "swing", "least", "written"),
    [
        (-9.8, 10, 0, "-9.8"), (-9.97, 10, 0, "-9.97"), (-9.4, 10, 0, "-9"), (-10.4, 10, 0, "-10"),
        (-19.6, 10, 0, "-19.6"), (9.6, 10, 0, "+9.6"), (-12.4, 12.4, 0, "-12.4"), (-1.97, 2, 1, "-1.97"),
        (-1.92, 2, 1, "-1.9"), (-60.4, 10, 0, "-60"),
    ],
)  # fmt: skip
def test_a_written_change_has_the_mark_of_the_exact_one(change: float, swing: float, least: int, written: str) -> None:
    assert f"{change:+.{decimals(change, swing, least)}f}" == written
    assert mark(float(written), swing) == mark(change, swing)


def test_a_figure_of_one_game_has_no_interval() -> None:
    assert figure(0.123456, 7) == {"value": 0.1235, "low": None, "high": None, "n": 7}
    assert figure(None, 0)["value"] is None
