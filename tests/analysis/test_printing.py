"""The parts of tables of both games."""

from __future__ import annotations

import numpy as np

from kibitz.analysis.printing import bar, clean, sparkline


def test_bar_and_sparkline() -> None:
    assert bar(0.0, 4) == "····"
    assert bar(1.0, 4) == "████"
    assert bar(0.5, 4) == "██··"
    assert bar(0.4, 4) == "█▋··"  # 12.8 eighths of 32
    assert bar(0.5, 4, ascii_only=True) == "##.."
    assert sparkline(np.array([0.0, 0.5, 1.0]), 3) == "▁▅█"
    assert sparkline(np.array([0.0, 1.0, 1.0, 1.0]), 2) == "▅█"
    assert len(sparkline(np.full(301, 0.5), 60)) == 60
    assert sparkline(np.array([0.3]), 60) == "▃"


def test_clean() -> None:
    assert clean("a\x1b[31m\tb\u202ec\n") == "a[31m bc"
    assert clean("x" * 9, 5) == "xxxx…"
