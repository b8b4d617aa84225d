"""The parts of a test's result: named metrics, tables and curves, with the kinds of their values.

The code that computes a value declares its kind, such as a share. `kibitz.report.numbers` formats values by kind, not
by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.stats import Estimate, Kind

Cell = Estimate | str | int | float | None


@dataclass(frozen=True)
class Metric:
    """A metric in the result of a test. The entry "figures" of the result is a dict from names to metrics.

    estimate: the value with its confidence interval. kind: the kind of the value, such as a share or percentage points,
    which determines its format.
    """

    estimate: Estimate
    kind: Kind = "share"

    def as_json(self) -> dict[str, Any]:
        """Return the metric as a dict for JSON: the fields of the estimate, and "kind"."""
        return {**self.estimate.as_json(), "kind": self.kind}


Metrics = dict[str, Metric]


def metrics(kind: Kind, estimates: Mapping[str, Estimate]) -> Metrics:
    """Convert estimates to metrics with the same names. kind: the kind of all values, see `Metric`."""
    return {name: Metric(estimate, kind) for name, estimate in estimates.items()}


@dataclass(frozen=True)
class Column:
    """A column of a table. name: the heading. kind: the kind of the values in the cells, see `Metric`."""

    name: str
    kind: Kind = "share"


@dataclass(frozen=True)
class Table:
    """A table for the result page and the terminal.

    title: the heading of the table. text: one or more sentences under the title.
    heading: the heading of the first column, which contains the names of the rows.
    columns: the other columns.
    rows: for each row, its name and a cell for each of these columns.

    Raises ValueError if the number of cells in a row is not the number of columns.
    """

    title: str
    text: str
    heading: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != 1 + len(self.columns):
                raise ValueError(
                    f"{self.title}: a row has {len(row) - 1} cells, but the table has {len(self.columns)} columns"
                )

    def as_json(self) -> dict[str, Any]:
        """Return the table as a dict for JSON. "columns" are the headings of the columns, "kinds" are the kinds of
        their cells, and "rows" contain the estimates as JSON.
        """
        return {
            "title": self.title,
            "text": self.text,
            "heading": self.heading,
            "columns": [column.name for column in self.columns],
            "kinds": [column.kind for column in self.columns],
            "rows": [[cell.as_json() if isinstance(cell, Estimate) else cell for cell in row] for row in self.rows],
        }


CurvePoint = tuple[float, Estimate]
"""An x value, such as a number of moves, and the estimate at this value."""


def curve_points(
    bands: NDArray[np.int64],
    middle: Callable[[int], float],
    estimate: Callable[[NDArray[np.bool_]], Estimate],
    min_games: int,
) -> list[CurvePoint]:
    """Return the points of a curve: one for each group of positions from at least `min_games` games.

    bands: int64 [n], the number of the group of each position. middle: a function from a group's number to its x value.
    estimate: a function that returns the estimate over the positions of a mask, bool [n].
    """
    points = ((middle(band), estimate(bands == band)) for band in np.unique(bands).tolist())
    return [point for point in points if point[1].games >= min_games]


@dataclass(frozen=True)
class Curve:
    """A diagram with one or more lines. Each line shows a share as a function of a quantity, such as the number of
    moves.

    title: the heading of the diagram. text: one or more sentences under the title.
    heading: the name of the quantity on the x axis.
    lines: the name and the points of each line.
    """

    title: str
    text: str
    heading: str
    lines: Sequence[tuple[str, Sequence[CurvePoint]]]

    def as_json(self) -> dict[str, Any]:
        """Return the diagram as a dict for JSON. "lines" is a list of dicts with the "name" and the "points" of a line.
        A point is a list of two values: the x value, and the estimate as JSON.
        """
        return {
            "title": self.title,
            "text": self.text,
            "heading": self.heading,
            "lines": [
                {"name": name, "points": [[at, estimate.as_json()] for at, estimate in points]}
                for name, points in self.lines
            ],
        }
