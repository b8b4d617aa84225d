"""Pictures: well formed, without global state, in the page's colours, and showing what they were given."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import pytest

import kibitz.report.curves
from kibitz.report.curves import (
    _unrolled,
    draw_curve,
    landscape_svg,
    learning_curve_svg,
    reliability_svg,
    save_learning_curve,
    slices_svg,
)
from kibitz.runs import CURVE, FORMAT, INFO, write_json

HOSTILE = "</svg><script>alert(1)</script> $\\frac$ & 赵 \"'"


def figure(value: float | None, width: float = 0.02) -> dict[str, Any]:
    if value is None:
        return {"value": None, "low": None, "high": None, "n": 0, "games": 0}
    return {"value": value, "low": value - width, "high": value + width, "n": 100, "games": 10}


def calibration() -> list[dict[str, Any]]:
    return [
        {"low": i / 10, "high": (i + 1) / 10, "predicted": i / 10 + 0.05, "observed": figure(i / 10 + 0.04), "n": 50}
        for i in range(10)
    ]


def metrics(stages: tuple[str | None, ...] = (None,)) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"kind": "start", "seed": 1}]
    for stage in stages:
        extra = {} if stage is None else {"stage": stage}
        for i in range(300, 3001, 300):
            rows.append({"kind": "summary", "iteration": i, "loss": 0.7 - i / 1e5, "accuracy": 0.5 + i / 1e5, **extra})
        rows.append({"kind": "validation", "iteration": 1000, "loss": 0.65, "accuracy": 0.61, **extra})
    return rows


LANDSCAPE = {
    "points": [[0, 0, 0], [1, 2, 2], [3, 1, 2]], "groups": ["opening", "middlegame", HOSTILE],
    "course": [[0, 0], [1, 1], [2, 0]],
}  # fmt: skip


def words(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("text")]


def pictures() -> list[str]:
    rows = [{"slice": name, "figure": figure(value)} for name, value in (("0-9", 0.6), ("10-19", None), (HOSTILE, 0.8))]
    return [
        reliability_svg(calibration()),
        slices_svg(rows, f"accuracy {HOSTILE}", 0.7, (0.5, 0.9)),
        learning_curve_svg(metrics((HOSTILE, "second"))),
        landscape_svg(LANDSCAPE),
    ]


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    return dict(zip(("reliability", "slices", "learning", "landscape"), pictures(), strict=True))


@pytest.mark.parametrize("name", ["reliability", "slices", "learning", "landscape"])
def test_pictures_are_whole_and_ask_for_nothing(name: str, drawn: dict[str, str]) -> None:
    svg = drawn[name]
    root = ElementTree.fromstring(svg)
    assert root.tag == "svg"
    assert root[0].tag == "title"
    assert not re.search(r'(?:href|src)="(?!#)', svg)
    assert "http" not in svg
    assert "<script" not in svg
    assert "var(--accent, #2a6fb0)" in svg


def test_ids_of_pictures_on_one_page_do_not_meet_and_references_hold() -> None:
    seen: set[str] = set()
    for svg in pictures():
        ids = set(re.findall(r' id="([^"]+)"', svg))
        assert not ids & seen
        seen |= ids
        assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg)) <= ids


def test_same_numbers_same_picture() -> None:
    assert pictures() == pictures()


def test_every_slice_is_named_and_only_those_with_a_figure_have_a_dot() -> None:
    rows = [{"slice": str(i), "figure": figure(0.5 if i % 2 else None)} for i in range(100, 107)]
    svg = slices_svg(rows, "by something")
    assert [text for text in words(svg) if text.startswith("10")] == [str(i) for i in range(100, 107)]
    full = slices_svg([{"slice": str(i), "figure": figure(0.5)} for i in range(100, 107)], "by something")
    assert full.count("<use") - svg.count("<use") == 4


def test_shares_print_as_percent_and_others_do_not() -> None:
    rows = [{"slice": "a", "figure": figure(0.6)}]
    assert any(text.endswith("%") for text in words(slices_svg(rows, "accuracy")))
    assert not any(text.endswith("%") for text in words(slices_svg(rows, "log loss", percent=False)))


def test_learning_curve_leaves_out_what_is_not_there() -> None:
    rows = [{key: value for key, value in row.items() if key != "accuracy"} for row in metrics()]
    assert "accuracy" in words(learning_curve_svg(metrics()))
    assert "accuracy" not in words(learning_curve_svg(rows))
    assert "iteration" in words(learning_curve_svg([]))


def test_stages_stand_one_after_another() -> None:
    shown = words(learning_curve_svg(metrics(("first", "second"))))
    assert {"first", "second", "6,000"} <= set(shown)
    assert "6,000" not in words(learning_curve_svg(metrics(("first",))))


def test_a_long_stage_begins_where_a_short_one_ends() -> None:
    stages = {"short": (10, 20, 100), "long": (300, 600)}
    rows = [{"kind": "summary", "stage": name, "iteration": i} for name, each in stages.items() for i in each]
    placed, borders = _unrolled(rows)
    assert [row["at"] for row in placed] == [10, 20, 100, 400, 700]
    assert borders == [("short", 0), ("long", 100)]


def test_a_row_written_again_counts_once() -> None:
    rows = metrics()
    wrong = [{**row, "loss": 99.0} for row in rows if row["kind"] == "summary"]
    assert learning_curve_svg([*wrong, *rows]) == learning_curve_svg(rows)


def test_saved_as_the_ending_says(tmp_path: Path) -> None:
    save_learning_curve(metrics(), tmp_path / "curve.svg")
    save_learning_curve(metrics(), str(tmp_path / "curve.PNG"))
    root = ElementTree.fromstring((tmp_path / "curve.svg").read_text(encoding="utf-8"))
    assert root.tag.endswith("svg")
    assert "var(" not in (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert (tmp_path / "curve.PNG").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        save_learning_curve(metrics(), tmp_path / "curve.gif")


def test_the_curve_of_a_finished_run_stays(tmp_path: Path) -> None:
    info = {"kibitz_run": FORMAT, "system": "winner", "game": "chess", "settings": {}}
    write_json(tmp_path / INFO, info)
    draw_curve(tmp_path, again=False)
    assert not (tmp_path / CURVE).exists(), "nothing was measured"
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in metrics()), encoding="utf-8")
    draw_curve(tmp_path, again=False)
    assert "accuracy" in (tmp_path / CURVE).read_text(encoding="utf-8")
    (tmp_path / CURVE).write_text("mine", encoding="utf-8")
    draw_curve(tmp_path, again=False)
    assert (tmp_path / CURVE).read_text(encoding="utf-8") == "mine"
    draw_curve(tmp_path, again=True)
    assert "accuracy" in (tmp_path / CURVE).read_text(encoding="utf-8")


def test_matplotlib_is_left_as_it_was() -> None:
    before = matplotlib.rcParams.copy()
    pictures()
    assert matplotlib.rcParams.copy() == before


def test_pyplot_is_never_loaded() -> None:
    """In a fresh interpreter, as pyplot keeps every figure alive and picks a backend for the whole process."""
    code = "import sys, kibitz.report.curves as c; c.learning_curve_svg([]); print('matplotlib.pyplot' in sys.modules)"
    source = str(Path(kibitz.report.curves.__file__).parents[2])
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "False"


def test_landscape_names_the_groups_that_it_has() -> None:
    assert words(landscape_svg(LANDSCAPE)) == ["start", "end", "opening", HOSTILE]
    assert words(landscape_svg(LANDSCAPE | {"course": []})) == ["opening", HOSTILE]
    landscape_svg(LANDSCAPE | {"course": [[0, 0]], "points": []})


def test_learning_curve_of_many_stages_and_of_one_body_for_several_answers() -> None:
    names = ("piece", "pawn", "knight", "bishop", "rook", "queen", "king", "value")
    assert set(names) <= set(words(learning_curve_svg(metrics(names))))
    rows = [
        {
            "kind": "summary",
            "stage": "moves",
            "iteration": i,
            "loss": 3.0,
            "origin_accuracy": 0.3,
            "target_accuracy": 0.4,
        }
        for i in (100, 200)
    ]
    shown = words(learning_curve_svg(rows))
    assert {"loss", "origin accuracy", "target accuracy"} <= set(shown)
