"""Tables, curves and metrics: what they are in JSON, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz.evaluation.tables import Column, Curve, Metric, Table, curve_points, metrics
from kibitz.stats import ClusterBootstrap, Estimate
from support.causes import naming

HALF = Estimate(0.5, 0.4, 0.6, 10, 3)


def test_a_table_in_json_has_kinds_beside_its_columns() -> None:
    table = Table("T", "text", "who", [Column("right"), Column("n", "count")], [["network", HALF, 10], ["no", None, 0]])
    assert table.as_json() == {
        "title": "T", "text": "text", "heading": "who", "columns": ["right", "n"], "kinds": ["share", "count"],
        "rows": [["network", HALF.as_json(), 10], ["no", None, 0]],
    }  # fmt: skip


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match=naming("T & 2 & 1")):
        Table("T", "", "who", [Column("right")], [["network", HALF, 10]])


def test_metrics_tell_their_kind() -> None:
    assert Metric(HALF).as_json() == {**HALF.as_json(), "kind": "share"}
    assert metrics("number", {"loss": HALF}) == {"loss": Metric(HALF, "number")}


def test_curves_leave_out_bands_of_few_games() -> None:
    groups = ClusterBootstrap([1, 2, 3, 1, 2, 1])
    right, bands = np.array([1, 0, 1, 1, 0, 1]), np.array([0, 0, 0, 1, 1, 2])
    points = curve_points(bands, lambda band: 10 * band + 5, lambda mask: groups.mean(right, mask), 2)
    assert [(at, estimate.games) for at, estimate in points] == [(5, 3), (15, 2)]
    line = Curve("C", "text", "moves", [("network", points)]).as_json()["lines"][0]
    assert line == {"name": "network", "points": [[at, estimate.as_json()] for at, estimate in points]}
