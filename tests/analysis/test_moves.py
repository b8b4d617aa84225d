"""Judging moves: whose view, which mark, and what the end of a game changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from kibitz.analysis import load
from kibitz.analysis.moves import GAINED, Judged, mark
from kibitz.errors import UsageError

Judge = Callable[[str, Sequence[float]], Judged]


@pytest.mark.parametrize(
    ("change", "sign"),
    [
        (0.0, ""), (-0.0999, ""), (-0.1, "?!"), (0.4 - 0.5, "?!"), (-0.1999, "?!"), (-0.2, "?"), (0.5 - 0.8, "??"),
        (-0.95, "??"), (0.0999, ""), (0.1, GAINED), (0.9, GAINED),
    ],
)  # fmt: skip
def test_marks(change: float, sign: str) -> None:
    assert mark(change, 0.1) == sign


def test_changes_are_the_movers(judge_text: Judge) -> None:
    judged = judge_text("1. e4 e5 2. Nf3 Nc6 *", [0.5, 0.25, 0.375, 0.875, 0.75])
    assert [(m.side, m.san, m.uci, m.move_number, m.ply) for m in judged.moves] == [
        ("white", "e4", "e2e4", 1, 1), ("black", "e5", "e7e5", 1, 2), ("white", "Nf3", "g1f3", 2, 3),
        ("black", "Nc6", "b8c6", 2, 4),
    ]  # fmt: skip
    assert [m.change for m in judged.moves] == [-0.25, -0.125, 0.5, 0.125]
    assert [m.mark for m in judged.moves] == ["?", "?!", GAINED, GAINED]
    assert [m.san for m in judged.swings] == ["Nf3", "e4", "e5", "Nc6"]
    assert judged.average_loss("white") == (0.125, 2)
    assert judged.average_loss("black") == (0.0625, 2)


def test_after_mate_the_result_counts(judge_text: Judge) -> None:
    judged = judge_text("1. f3 e5 2. g4 Qh4# 0-1", [0.5, 0.5, 0.5, 0.5, 0.9])
    last = judged.moves[-1]
    assert (last.mark, last.change, round(last.after, 4)) == ("#", None, 0.9)
    assert judged.swings == []
    assert judged.average_loss("black") == (0.0, 1)


def test_stalemate_and_black_to_move_first(judge_text: Judge) -> None:
    judged = judge_text(
        '[FEN "7k/5K2/8/6Q1/8/8/8/8 b - - 9 60"]\n\n60... Kh7 61. Qg6+ Kh8 62. Qg1 Kh7 63. Kf8 *', [0.9]
    )
    assert [(m.move_number, m.side) for m in judged.moves[:2]] == [(60, "black"), (61, "white")]
    assert judged.moves[-1].mark == ""
    judged = judge_text('[FEN "7k/5K2/8/8/6Q1/8/8/8 w - - 9 60"]\n\n60. Qg6 1/2-1/2', [0.9, 0.2])
    assert (judged.moves[-1].mark, judged.moves[-1].change) == ("½", None)


def test_no_moves(judge_text: Judge) -> None:
    judged = judge_text('[White "A"]\n\n*', [0.6])
    assert judged.moves == []
    assert judged.as_json()["average_loss"]["white"] == {"value": None, "low": None, "high": None, "n": 0}


@pytest.mark.parametrize("name", ["moves.x", "../winner", "nothing", ""])
def test_unknown_systems(name: str) -> None:
    with pytest.raises(UsageError, match="does not know the system"):
        load(name)
