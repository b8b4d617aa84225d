"""Figures in print."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz.report.numbers import cell_text, figure_text, interval_text
from kibitz.stats import Kind


def figure(value: float | None) -> dict[str, Any]:
    if value is None:
        return {"value": None, "low": None, "high": None, "n": 0, "games": 0}
    return {"value": value, "low": value - 0.01, "high": value + 0.01, "n": 330_000, "games": 4200}


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.6613, "share", "66.1%"),
        (-0.012, "share", "-1.2%"),
        (-0.0004, "share", "0.0%"),
        (-0.00004, "small share", "0.00%"),
        (-0.0004, "number", "0.000"),
        (1.0, "share", "100.0%"),
        (0.6613, "small share", "66.13%"),
        (0.5981, "number", "0.598"),
        (1234.5, "number", "1,234.500"),
        (0.0214, "error", "0.021"),
        (4.25, "score", "4.250"),
        (0.0812, "points", "+8.1"),
        (None, "share", "–"),
        (float("nan"), "share", "–"),
    ],
)
def test_figures_print(value: float | None, kind: Kind, text: str) -> None:
    assert figure_text(value, kind) == text


def test_intervals_print() -> None:
    assert interval_text(figure(0.5), "share") == "49.0 to 51.0%"
    assert interval_text(figure(0.5), "number") == "0.490 to 0.510"
    assert interval_text(figure(None), "share") == "–"
    assert interval_text(figure(0.005), "points") == "-0.5 to +1.5"


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
        (figure(2.5), "number", "2.500 ±0.010"),
        (figure(None), "share", "–"),
        (figure(None), "small share", "–"),
        (figure(0.5) | {"low": None, "high": None}, "share", "50.0%"),
    ],
)
def test_cells_print(cell: Any, kind: Kind, text: str) -> None:
    assert cell_text(cell, kind) == text
