"""Judging moves: whose view, which mark, and what the end of a game changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kibitz.analysis import load
from kibitz.analysis.chess import moves as judging
from kibitz.analysis.chess.moves import AnalysedGame
from kibitz.analysis.glyphs import GAINED
from kibitz.errors import UsageError

Judge = Callable[[str, Sequence[float]], AnalysedGame]


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
    assert (last.mark, last.change) == ("#", None)
    assert last.worth is not None
    assert last.worth.after == pytest.approx(0.9)
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


OPEN = ({"e2e4": 0.3, "d2d4": 0.2, "e7e5": 0.2}, {"e7e5": 0.2, "c7c5": 0.4})


def test_moves_without_a_value(judge_moves: Callable[..., AnalysedGame]) -> None:
    judged = judge_moves("1. e4 e5 2. a3 h6 *", OPEN)
    assert judged.white is None
    assert judged.predicts
    assert [m.mark for m in judged.moves] == [""] * 4
    assert judged.swings == []
    found = [m.expected for m in judged.moves]
    assert [(e.rank, round(e.probability, 3)) for e in found[:2] if e] == [(1, 0.6), (2, 0.333)]
    assert [m.san for m in judged.surprises] == ["a3", "h6"]
    white, black = judged.predictable("white"), judged.predictable("black")
    assert white is not None
    assert black is not None
    assert (white.first_choice, white.first_three, white.moves) == (0.5, 0.5, 2)
    assert white.probability == pytest.approx(0.3)
    assert (black.first_choice, black.first_three) == (0, 0.5)
    found_json = judged.as_json()
    assert set(found_json) == {"number", "headers", "result", "problem", "moves", "predictable"}
    assert set(found_json["moves"][0]) == {
        "ply", "move_number", "side", "san", "uci", "mark",
        "choices", "rank", "probability", "legal_moves", "surprising",
    }  # fmt: skip
    assert found_json["predictable"]["white"]["first_choice"] == {"value": 0.5, "low": None, "high": None, "n": 2}


def test_values_are_the_movers(judge_moves: Callable[..., AnalysedGame]) -> None:
    judged = judge_moves("1. e4 e5 *", OPEN, [0.0, 0.5, -1.0])
    assert judged.white is not None
    assert list(judged.white) == [0.5, 0.25, 0.0]
    assert [m.change for m in judged.moves] == [-0.25, 0.25]
    assert [m.mark for m in judged.moves] == ["?", GAINED]
    assert {"before", "after", "change", "choices"} <= set(judged.as_json()["moves"][0])


def test_a_run_that_has_learned_values_alone(judge_fake: Callable[..., AnalysedGame], make_fake: Any) -> None:
    judged = judge_fake("1. e4 e5 *", make_fake(value=[0.2]))
    assert not judged.predicts
    assert judged.white is not None
    assert [m.expected for m in judged.moves] == [None, None]
    assert judged.predictable("white") is None
    assert "predictable" not in judged.as_json()


def test_mate_without_a_value_and_a_game_without_moves(judge_moves: Callable[..., AnalysedGame]) -> None:
    judged = judge_moves("1. f3 e5 2. g4 Qh4# 0-1", OPEN)
    assert [m.mark for m in judged.moves] == ["", "", "", "#"]
    judged = judge_moves('[White "A"]\n\n*', OPEN)
    assert judged.moves == []
    assert judged.as_json()["predictable"] == {"white": None, "black": None}


def test_long_games_are_asked_about_in_pieces(
    judge_moves: Callable[..., AnalysedGame], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "1. e4 e5 2. Nf3 Nc6 3. Bb5 *"
    values = [0.1, 0.2]  # as many positions as are asked about at once, so that all pieces are answered alike
    whole = judge_moves(text, OPEN, values)
    monkeypatch.setattr(judging, "TOGETHER", 2)
    assert judge_moves(text, OPEN, values).as_json() == whole.as_json()


@pytest.mark.parametrize("name", ["moves", "moves.x", "../winner", "nothing", ""])
def test_unknown_systems(name: str) -> None:
    with pytest.raises(UsageError, match="unknown system"):
        load(name)
