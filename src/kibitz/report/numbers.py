"""Format measured values, intervals and table cells as text. The kind of a value (see `kibitz.stats.Kind`) selects the
format.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kibitz.text import rounded, signed

if TYPE_CHECKING:
    from kibitz.stats import Kind

Row = Mapping[str, Any]


def figure_text(value: float | None, kind: Kind) -> str:
    """Format a number as text. The kind selects the format.

    A "share" becomes a percentage with one decimal, such as "66.0%", and a "small share" has two decimals, such as
    "0.04%". "points" become percentage points with a sign, such as "+8.1". Other kinds get three decimals.

    value: a fraction for shares and percentage points, so 0.66 becomes "66.0%". None and NaN become a dash.
    """
    if value is None or math.isnan(value):
        return "–"
    if kind == "points":
        return signed(value * 100)
    digits = _digits(kind)
    return f"{rounded(value * 100, digits):.{digits}f}%" if is_share(kind) else f"{rounded(value, digits):,.3f}"


def interval_text(figure: Row, kind: Kind) -> str:
    """Format a 95% interval as text, such as "65.0 to 67.0%". The text is a dash if there is no interval.

    figure: a dict with "low" and "high". kind: the kind of the value.
    """
    low, high = figure.get("low"), figure.get("high")
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "–"
    if is_share(kind):
        return f"{figure_text(low, kind).removesuffix('%')} to {figure_text(high, kind)}"
    return f"{figure_text(low, kind)} to {figure_text(high, kind)}"


def is_share(kind: Kind) -> bool:
    """Return whether values of this kind are shares, which are shown in percent."""
    return kind in ("share", "small share")


def _digits(kind: Kind) -> int:
    """Return the number of decimals for half of an interval."""
    return {"share": 1, "small share": 2, "points": 1}.get(kind, 3)


def cell_text(cell: Any, kind: Kind) -> str:
    """Format the content of a table cell as text. Text is not changed, integers get thousands separators, and
    `figure_text` formats floats. None becomes a dash.

    An estimate is a dict with "value", "low" and "high". Half the width of its interval follows the value: "56.1%
    ±0.3". If the value is at one end of the interval, the whole width is shown.

    kind: the kind of the values in the column.
    """
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return figure_text(cell, kind)
    text, low, high = figure_text(cell["value"], kind), cell.get("low"), cell.get("high")
    if low is None or high is None:
        return text
    width = high - low if cell["value"] in (low, high) else (high - low) / 2
    return f"{text} ±{width * (100 if is_share(kind) or kind == 'points' else 1):,.{_digits(kind)}f}"
