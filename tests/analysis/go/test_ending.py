"""The sentences about the count at the end of an analyzed Go game."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from kibitz.analysis.go import answers
from kibitz.analysis.go.ending import end_notes
from kibitz.analysis.go.games import AnalysedGame, analyse
from kibitz.analysis.go.terminal import show
from kibitz.games.go.io.sgf import parse_record
from support.causes import mentions
from support.go_fakes import FakeOwners, owners

BLACK, WHITE = "".join(f"[d{row}]" for row in "abcdefghi"), "".join(f"[f{row}]" for row in "abcdefghi")
"""Walls on the columns D and F. The nine points of E are neutral, 27 points are Black's and 27 White's."""


def ended(result: str, black: str = BLACK, moves: str = ";B[];W[]", rules: str = "Japanese") -> AnalysedGame:
    text = f"(;SZ[9]KM[0.5]RU[{rules}]RE[{result}]AB{black}AW{WHITE}{moves})"
    maps = [owners(*["999950000"] * 9)] * (1 + moves.count(";"))
    fake: Any = FakeOwners(maps)
    return analyse(1, parse_record(text), fake, answers)


def test_an_open_border_is_named_with_its_neutral_points() -> None:
    judged = ended("?", black=BLACK.replace("[di]", ""))
    [note] = end_notes(judged)
    assert mentions(note, "open & D1 & 37 points")
    assert judged.as_json()["end_notes"] == end_notes(judged)
    raw = io.StringIO()
    show(judged, None, Console(file=raw, width=100))
    assert end_notes(judged)[0] in raw.getvalue()
    closed = ended("?")
    assert end_notes(closed) == []
    assert "end_notes" not in closed.as_json()


def test_a_different_recorded_result_is_explained() -> None:
    """Each side has 27 points of territory and 36 of area. A black stone between the walls is a point of area."""
    assert end_notes(ended("W+0.5")) == []
    more = ";B[ea];W[];B[]"
    for result, rules, first, second in (
        ("B+0.5", "Japanese", "by territory", "by area"), ("W+0.5", "Chinese", "by area", "by territory"),
    ):  # fmt: skip
        [note] = end_notes(ended(result, moves=more, rules=rules))
        assert mentions(note, f"komi 0.5 & recorded {result}")
        assert note.lower().index(first) < note.lower().index(second)
    [other] = end_notes(ended("B+2.5"))
    assert mentions(other, "territory & komi 0.5 & differs & B+2.5")
    assert "area" not in other
    assert end_notes(ended("B+R")) == []


def test_without_passes_neutral_points_have_likely_owners() -> None:
    def judged(result: str, moves: str = "") -> AnalysedGame:
        text = f"(;SZ[9]KM[0.5]RE[{result}]AB{BLACK}AW{WHITE}{moves})"
        fake: Any = FakeOwners([owners(*["999960000"] * 9)] * (1 + moves.count(";")))
        return analyse(1, parse_record(text), fake, answers)

    assert judged("?").positions[-1].score.count == 45 - 36 - 0.5
    assert end_notes(judged("B+8.5")) == []
    for moves, method in (("", "area"), (";B[ea]", "territory")):
        [note] = end_notes(judged("W+0.5", moves))
        assert mentions(note, f"neutral & {method} scoring & komi 0.5 & W+0.5")
