"""Figures in print, on pages and on terminals alike."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]

_NUMBERS = re.compile(r"loss|error|brier|perplexity|entropy|rank|score|rating$|elo|number|correlation|gap$")
"""In the name of a figure: that it is a number, not a share."""


def figure_text(value: float | None, name: str) -> str:
    """A figure as print: "66.0%" for shares, "+8.1" for differences of shares in points (names that end so), three
    decimals for losses, errors and whatever is no share."""
    if value is None or math.isnan(value):
        return "–"
    if name.endswith("points"):
        return f"{value * 100:+.1f}"
    return f"{value * 100:.1f}%" if is_share(value, name) else f"{value:,.3f}"


def interval_text(figure: Row, name: str) -> str:
    """The 95% interval as print, "65.0 to 67.0%"; a dash where there is none."""
    low, high = figure.get("low"), figure.get("high")
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "–"
    if name.endswith("points"):
        return f"{figure_text(low, name)} to {figure_text(high, name)}"
    if not is_share(figure["value"], name):
        return f"{low:,.3f} to {high:,.3f}"
    return f"{low * 100:.1f} to {high * 100:.1f}%"


def is_share(value: float, name: str) -> bool:
    """Whether a figure of that name is written in percent."""
    return not _NUMBERS.search(name.lower()) and abs(value) <= 1


def cell_text(cell: Any, kind: str) -> str:
    """A cell of a table as print: words as they are, counts, and figures or bare numbers as `figure_text` writes them;
    a figure with an interval has half its width beside it, "56.1% ±0.3".

    kind: of the column, where a name stands in `figure_text`: "share", "small share" (two decimals), "points", or
    "number" for what is no share.
    """
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return figure_text(cell, kind)
    low, high = cell.get("low"), cell.get("high")
    if kind == "points" and cell["value"] is not None:
        text, half, digits = figure_text(cell["value"], kind), 50.0, 1
    elif cell["value"] is None or not is_share(cell["value"], kind):
        text, half, digits = figure_text(cell["value"], kind), 0.5, 3
    else:
        digits = 2 if kind == "small share" else 1
        text, half = f"{cell['value'] * 100:.{digits}f}%", 50.0
    return text if low is None or high is None else f"{text} ±{(high - low) * half:,.{digits}f}"
