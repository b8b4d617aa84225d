"""Written games: python-chess reads the evaluations back, and what was in the game stays in it."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from typing import Any

import chess
import chess.pgn
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.analysis.chess.moves import AnalysedGame
from kibitz.analysis.chess.notes import centipawns, drop_mark, note_game, note_move
from kibitz.analysis.chess.pgn import annotated
from kibitz.analysis.summary import GameSummary, SideSummary
from kibitz.systems import find
from support.causes import mentions

Judge = Callable[[str, Sequence[float]], AnalysedGame]

TEXT = """[Event "A \\"small\\" match"]
[White "Ångström"]
[Black "B"]
[Result "0-1"]
[Clock "of the hall"]

{ before } 1. f3 { [%clk 0:01:00] [%eval 9.99] bad } ( 1. e4 { best } 1... e5 $10 ) 1... e5 $1
2. g4 ( 2. h4 ) 2... Qh4# { mate } 0-1
"""


@given(st.floats(-2000, 2000))
def test_centipawns_turn_lichess_formula_round(worth: float) -> None:
    percent = 50 + 50 * (2 / (1 + math.exp(-0.00368208 * worth)) - 1)
    assert centipawns(percent / 100) == pytest.approx(worth, abs=0.51)


def test_centipawns_have_bounds() -> None:
    assert centipawns(0.5) == 0
    assert centipawns(1.0) == -centipawns(0.0) == 2501


def test_notes_on_a_whole_game_are_written_once() -> None:
    game = chess.pgn.Game()
    game.comment = "before"
    sides = {"white": SideSummary(0.5, 0.1, 20, {}), "black": SideSummary(None, None, 0, {})}
    for engine in ("Stockfish 16", "Stockfish 17"):
        note_game(game, "", engine, GameSummary(sides, None))
    assert game.comment == "before / checked by: Stockfish 17"
    assert game.headers["WhiteAccuracy"] == "50.0"
    assert "BlackAccuracy" not in game.headers
    meaning = find("deepchess").meaning.note
    assert meaning
    for _ in range(2):
        note_game(game, meaning, "", None)
    assert game.comment == f"before / net: {meaning}"


def test_python_chess_reads_the_evaluations_back(judge_text: Judge) -> None:
    white = [0.5, 0.35, 0.46, 0.05, 0.4]
    text = annotated(judge_text(TEXT, white))
    assert "{ [%eval -1.68] [%clk 0:01:00] bad }" in text or "[%clk 0:01:00] [%eval -1.68] bad" in text
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    nodes = list(game.mainline())
    for node, probability in zip(nodes[:-1], white[1:], strict=False):
        score = node.eval()
        assert score is not None
        assert score.white().score() == centipawns(probability)
    assert nodes[-1].eval() is None  # mate
    assert nodes[0].clock() == 60
    before = chess.pgn.read_game(io.StringIO(TEXT))
    assert before is not None
    assert dict(game.headers) == dict(before.headers)
    assert game.comment == "before"
    assert nodes[-1].comment == "mate"
    assert [v.san() for v in game.variations] == ["f3", "e4"]
    assert game.variations[1].comment == "best"
    assert [v.san() for v in nodes[1].variations] == ["g4", "h4"]


def test_marks_are_nags_and_a_judgement_that_was_there_stays(judge_text: Judge) -> None:
    judged = judge_text("1. a3 e5 $1 2. a4 Nf6 3. h3 Nc6 *", [0.9, 0.79, 0.9, 0.69, 0.8, 0.4, 0.3])
    assert [m.mark for m in judged.moves] == ["?!", "?!", "?", "?!", "??", "↑"]
    game = chess.pgn.read_game(io.StringIO(annotated(judged)))
    assert game is not None
    assert [node.nags for node in game.mainline()] == [{6}, {1}, {2}, {6}, {4}, set()]


def test_set_up_and_stalemate(judge_text: Judge) -> None:
    text = annotated(judge_text('[SetUp "1"]\n[FEN "7k/5K2/8/8/6Q1/8/8/8 w - - 9 60"]\n\n60. Qg6 1/2-1/2', [0.9, 0.2]))
    assert '[FEN "7k/5K2/8/8/6Q1/8/8/8 w - - 9 60"]' in text
    assert text.endswith("60. Qg6 { [%eval 0.00] } 1/2-1/2\n\n")


WANTED = ({"g1f3": 0.31, "d2d4": 0.22, "c2c4": 0.09, "e2e4": 0.05, "a2a3": 0.33}, {"e7e5": 1})


def test_choices_become_comments_and_are_replaced(judge_moves: Callable[..., AnalysedGame]) -> None:
    text = annotated(judge_moves("1. e4 { fine } e5 { [%clk 0:01:00] } *", WANTED, [0.0]))
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    first, second = game.mainline()
    assert first.comment == "fine [%eval 0.00] net: a3 33%, Nf3 31%, d4 22%; played 5th, 5%"
    assert "net: e5 100%" in second.comment
    assert second.comment.endswith("0%; played 1st, 100%")
    assert second.clock() == 60
    again = annotated(judge_moves(text, WANTED[::-1], [0.0]))
    assert again.count("net: ") == 2
    assert "fine [%eval 0.00] net: " in again
    assert annotated(judge_moves(text, WANTED, [0.0])) == text


def test_without_a_value_there_is_no_evaluation_and_one_that_was_there_stays(
    judge_moves: Callable[..., AnalysedGame],
) -> None:
    text = annotated(judge_moves("1. e4 { fine } e5 { [%eval 1.00] } *", WANTED))
    assert "{ fine / net: a3 33%, Nf3 31%, d4 22%; played 5th, 5% }" in text
    assert text.count("%eval") == 1
    assert annotated(judge_moves(text, WANTED)) == text


def test_what_people_wrote_stays_though_it_looks_alike(judge_moves: Callable[..., AnalysedGame]) -> None:
    text = annotated(judge_moves("1. e4 { in the net: well; played 5th, once } e5 *", WANTED))
    assert mentions(text, "5th & a3")


def test_a_users_words_before_a_colon_stay() -> None:
    game = chess.pgn.Game()
    game.comment = "twice checked by: Anna"
    node = game.add_variation(chess.Move.from_uci("e2e4"), comment="my reason: the center")
    for reason in ("Loses a pawn.", "Loses a piece."):
        note_game(game, "", "Stockfish 16", None)
        drop_mark(node)
        note_move(node, None, "?", reason)
    assert game.comment == "twice checked by: Anna / checked by: Stockfish 16"  # exact: the format of comments
    assert node.comment == "my reason: the center [%kibitz ?] reason: Loses a piece."  # exact: the same
    drop_mark(node)
    assert node.comment == "my reason: the center"
    for reason in ("", "Loses a pawn."):
        note_move(node, None, "?!", reason, "d4 d5")
        assert node.comment.endswith("better: d4 d5")
        drop_mark(node)
        assert node.comment == "my reason: the center"
    node.comment = "better: Nf3"
    for _ in range(2):
        note_move(node, None, "?", "", "d4 d5")
        assert node.comment == "better: Nf3 [%kibitz ?] better: d4 d5"
        drop_mark(node)
        assert node.comment == "better: Nf3"


def test_what_another_analysis_wrote_is_replaced(
    judge_text: Judge, judge_moves: Callable[..., AnalysedGame], judge_fake: Callable[..., AnalysedGame], make_fake: Any
) -> None:

    def written(judged: AnalysedGame) -> str:
        return " ".join(annotated(judged).split())

    game = judge_moves("1. e4 { fine } e5 $2 { somebody's } *", WANTED, [0.0, 0.9, -0.9])
    first = annotated(game)
    assert "1. e4 $4 { fine [%eval -8.00] [%kibitz ??] net: a3 33%" in written(game)
    assert "1... e5 $2 { somebody's [%eval -8.00] net: e5" in written(game)
    # another network, which expects nothing, and sees other swings
    assert written(judge_text(first, [0.5, 0.5, 0.8])).endswith(
        "1. e4 { fine [%eval 0.00] } 1... e5 $2 { somebody's [%eval 3.76] } *"
    )
    # one that does not say who wins has nothing in place of the evaluations and marks
    assert "1. e4 $4 { fine [%eval -8.00] [%kibitz ??] net: " in written(judge_moves(first, WANTED[::-1]))
    noted = annotated(judge_fake("{ before } 1. e4 *", make_fake(white_wins=[0.5]), find("deepchess").meaning))
    assert "{ before } 1. e4 { [%eval 0.00] } *" in written(judge_text(noted, [0.5]))
