"""Print the groups of a player's moves as rows of a table, for chess and Go."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from rich.console import Console

from kibitz.analysis.parts import Part
from kibitz.analysis.printing import clean, print_line
from kibitz.stats import Estimate
from kibitz.text import signed

LABEL = 27
"""The width, in characters, of the column with the names of the groups."""
COUNTED = ("?", "??")
"""The annotations that have a column in the table. ?! has no column, to save space."""


def score_words(results: Mapping[str, int], score: Estimate) -> str:
    """Return a player's results as text, such as "won 3, drawn 1, lost 2: score 58.3%".

    results: a dict from "won", "drawn" and "lost" to the number of games. score: the mean result, 0 to 1.
    """
    line = f"won {results['won']:,}, drawn {results['drawn']:,}, lost {results['lost']:,}"
    return f"{line}: score {score.value:.1%}{with_interval(score)}"


def print_heading(console: Console, compared: bool, scored: bool) -> None:
    """Print the column headings of the table that `print_parts` prints.

    compared: whether there is a column for the usual loss. scored: whether there is a column for the score.
    """
    heading = f"{'loss per move':<{LABEL}}{'games':>6}{'moves':>7}{'score' if scored else '':>6}{'lost':>6}"
    heading += f"{'usual':>6}{'more':>6}{'':>6}" if compared else f"{'':>6}"
    print_line(console, heading + "".join(f"{sign:>5}" for sign in COUNTED), "bold")


def print_parts(console: Console, title: str, parts: Iterable[Part], compared: bool, unit: float = 100) -> None:
    """Print a table with one line for each group of a player's moves.

    title: the heading of the table; "" for no heading.
    parts: the groups of moves with their losses.
    compared: whether there is a column for the usual loss.
    unit: the factor by which losses are multiplied. With 100, win probabilities are shown in percentage points.
    """
    if title:
        print_line(console, title, "bold")
    for part in parts:
        _row(console, part, compared, "  " if title else "", unit)


def _row(console: Console, part: Part, compared: bool, indent: str, unit: float) -> None:
    """Print the results of a part, at most 80 columns wide. If the part has a difference from the usual loss, the row
    shows the interval of this difference.
    """
    label = indent + clean(part.opening.name if part.opening else part.label, LABEL - len(indent) - 1)
    score = f"{part.score.value:.0%}" if part.score is not None and part.score.n else ""
    row = f"{label:<{LABEL}}{part.loss.games:>6,}{part.loss.n:>7,}{score:>6}{part.loss.value * unit:>6.1f}"
    if not compared:
        row += f"{_half(part.loss, unit):>6}"
    elif part.usual.n:
        row += (
            f"{part.usual.value * unit:>6.1f}{signed(part.difference.value * unit):>6}{_half(part.difference, unit):>6}"
        )
    else:
        row += f"{'':>18}"
    print_line(console, (row + "".join(f"{part.marks[sign] or '':>5}" for sign in COUNTED)).rstrip())


def _half(figure: Estimate, unit: float) -> str:
    """Format half of the interval in points, such as "±0.4"; "" without an interval."""
    return "" if math.isnan(figure.low) else f" ±{(figure.high - figure.low) / 2 * unit:.1f}"


def with_interval(figure: Estimate) -> str:
    """Return the interval of a share as text, such as " (95% interval 41.0% to 60.2%)". Return "" if the share has no
    interval. figure: the share, 0 to 1, with its interval; NaN as `low` means no interval.
    """
    return "" if math.isnan(figure.low) else f" (95% interval {figure.low:.1%} to {figure.high:.1%})"
