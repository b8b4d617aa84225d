"""Figures in print."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz.report.numbers import cell_text, figure_text, interval_text


def figure(value: float | None) -> dict[str, Any]:
    if value is None:
        return {"value": None, "low": None, "high": None, "n": 0, "games": 0}
    return {"value": value, "low": value - 0.01, "high": value + 0.01, "n": 330_000, "games": 4200}


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (0.6613, "accuracy", "66.1%"),
        (0.5981, "log_loss", "0.598"),
        (0.0214, "calibration_error", "0.021"),
        (-0.012, "accuracy_difference", "-1.2%"),
        (0.82, "material_correlation", "0.820"),
        (0.4, "origin_largest_gap", "0.400"),
        (1.0, "accuracy", "100.0%"),
        (1234.5, "positions_per_second", "1,234.500"),
        (0.0812, "ahead_of_material_in_points", "+8.1"),
        (None, "accuracy", "–"),
        (float("nan"), "accuracy", "–"),
    ],
)
def test_figures_print(value: float | None, name: str, text: str) -> None:
    assert figure_text(value, name) == text


def test_intervals_print() -> None:
    assert interval_text(figure(0.5), "accuracy") == "49.0 to 51.0%"
    assert interval_text(figure(0.5), "log_loss") == "0.490 to 0.510"
    assert interval_text(figure(None), "accuracy") == "–"
    assert interval_text(figure(0.005), "gain_in_points") == "-0.5 to +1.5"


@pytest.mark.parametrize(
    ("cell", "kind", "text"),
    [
        (None, "share", "–"),
        ("Nf3 & more", "share", "Nf3 & more"),
        (12345, "count", "12,345"),
        (0.4567, "share", "45.7%"),
        (0.4567, "number", "0.457"),
        (figure(0.5), "share", "50.0% ±1.0"),
        (figure(0.5), "small share", "50.00% ±1.00"),
        (figure(0.5), "number", "0.500 ±0.010"),
        (figure(-0.124), "points", "-12.4 ±1.0"),
        (figure(None), "points", "–"),
        (figure(2.5), "share", "2.500 ±0.010"),
        (figure(None), "share", "–"),
        (figure(None), "small share", "–"),
        (figure(0.5) | {"low": None, "high": None}, "share", "50.0%"),
    ],
)
def test_cells_print(cell: Any, kind: str, text: str) -> None:
    assert cell_text(cell, kind) == text
