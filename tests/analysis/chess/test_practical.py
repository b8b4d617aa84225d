"""The practical choice: the move that scores best against likely answers of an opponent of a given rating."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import chess
import chess.pgn
import numpy as np
import pytest
from rich.console import Console

import kibitz
from kibitz.analysis import load
from kibitz.analysis.chess.judging import Judge
from kibitz.analysis.chess.moves import MOST_RISKY, RISKY
from kibitz.analysis.chess.practical import (
    Answers,
    Practical,
    listed_answers,
    practical_choice,
    scored,
    seen,
    sees_at,
)
from kibitz.analysis.chess.ratings import OPPONENT, RATING, UNIT
from kibitz.analysis.chess.terminal import show
from kibitz.errors import UsageError
from kibitz.play.session import Session
from support.causes import mentions

TRAP = "e4 e5 Nf3 d6 Bc4 Bg4 Nc3 Nc6"
"""Now Nxe5 loses a piece to Nxe5. But Bxd1, which takes the queen, allows mate: Bxf7+ Ke7 Nd5#."""
ELEPHANT_TRAP = "d4 d5 c4 e6 Nc3 Nf6 Bg5 Nbd7 cxd5 exd5"
"""Now Nxd5 wins a pawn if Black does not dare to answer Nxd5, which gives up the queen and wins it back with Bb4+."""
SOUND_TRAP = "d4 e5 dxe5 Nc6 Nf3 Qe7 Bf4"
"""Now Qb4+ attacks two pieces: it is the best move, and many answers lose material."""


def after(moves: str) -> chess.Board:
    board = chess.Board()
    for san in moves.split():
        board.push_san(san)
    return board


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(Session("human"), load("human"), nodes=20)


def choice(judge: Judge, moves: str, best: str, rating: int) -> Practical:
    board = after(moves)
    look = judge.first_look(board)
    assert look is not None
    return practical_choice(board, board.parse_san(best), look, judge, {}, (rating, rating))


def test_a_trap_is_the_practical_choice_against_weak_players_only(judge: Judge) -> None:
    weak = choice(judge, ELEPHANT_TRAP, "e3", 1400)
    assert (weak.chosen.san, weak.best.san, weak.differs) == ("Nxd5", "e3", True)
    assert weak.chosen.worst < weak.best.worst - 0.1
    assert weak.chosen.score > weak.best.score
    assert weak.chosen.answer == "Be7"
    assert weak.chosen.likely > 0.2
    text = weak.text()
    assert all(word in text for word in ("Nxd5", "e3", "1400", f"{weak.chosen.score:.0%}", f"{weak.best.score:.0%}"))
    strong = choice(judge, ELEPHANT_TRAP, "e3", 2800)
    assert (strong.chosen.san, strong.differs) == ("e3", False)


def test_a_sound_trap_is_both_the_best_move_and_the_practical_choice(judge: Judge) -> None:
    found = choice(judge, SOUND_TRAP, "Qb4+", 1000)
    assert (found.chosen.san, found.differs) == ("Qb4+", False)
    assert found.chosen.mistake > 0.2
    assert found.chosen.score > found.chosen.worst


def test_a_mate_ends_the_comparison(judge: Judge) -> None:
    found = choice(judge, "f3 e5 g4", "Qh4#", 1000)
    assert (found.chosen.san, found.chosen.score, found.chosen.answer) == ("Qh4#", 1.0, "")


def test_answers_contain_the_best_one_however_unlikely(judge: Judge) -> None:
    board, rating = after(TRAP), 600 // UNIT
    move = board.parse_san("Nxe5")
    answers, shares = listed_answers(board, [move], judge, {RATING: rating, OPPONENT: rating})[move]
    board.push(move)
    assert board.parse_san("Nxe5") in answers
    assert len(answers) == len(shares)
    assert 0 < shares.sum() <= 1.0001


def test_players_see_good_answers_the_more_the_stronger_they_are() -> None:
    shares, worths = np.array([0.6, 0.3]), np.array([0.2, 0.8])
    weak, strong = (seen(shares, worths, sees_at(rating)) for rating in (1000, 2200))
    assert shares[1] < weak[1] < strong[1]
    assert weak.sum() == pytest.approx(0.9)
    assert seen(shares, worths, 0.0) == pytest.approx(shares)


def test_the_score_is_the_mean_over_answers_and_others_count_as_the_best_one() -> None:
    board = chess.Board()
    answers = tuple(chess.Move.from_uci(uci) for uci in ("e7e5", "f7f6"))
    found = scored(
        board, chess.Move.from_uci("e2e4"), Answers(answers, np.array([0.5, 0.3]), np.array([0.5, 0.9]), 0.5)
    )
    assert found.score == pytest.approx(0.5 * 0.5 + 0.3 * 0.9 + 0.2 * 0.5)
    assert (found.mistake, found.answer, found.likely) == (pytest.approx(0.3), "f6", pytest.approx(0.3))
    quiet = scored(
        board, chess.Move.from_uci("e2e4"), Answers(answers, np.array([0.5, 0.3]), np.array([0.5, 0.55]), 0.5)
    )
    assert (quiet.mistake, quiet.answer) == (0.0, "")


MOVES = "1. e4 e5 2. Nf3 d6 3. Bc4 Bg4 4. Nc3 Nc6 5. Nxe5 Bxd1 6. Bxf7+ Ke7 7. Nd5# 1-0"
GAME = f'[WhiteElo "600"]\n[BlackElo "600"]\n\n{MOVES}'


QUICK: dict[str, Any] = {"nodes": 20, "depth": 3}


@pytest.fixture(scope="module")
def plain() -> Any:
    """The game without practical choices."""
    return kibitz.analyse(GAME, "human", **QUICK)


def test_a_game_has_practical_choices_before_its_marked_moves(plain: Any) -> None:
    game = kibitz.analyse(GAME, "human", practical=True, **QUICK)
    marked = [move for move in game.moves if move.sign]
    assert marked
    assert all((move.practical is not None) == bool(move.sign) for move in game.moves)  # type: ignore[union-attr]
    found = marked[0].as_json()["practical"]
    assert found["opponent_rating"] == 600
    assert set(found) == {"opponent_rating", "differs", "chosen", "best"}
    assert set(found["chosen"]) == {"move", "san", "score", "worst", "mistake", "answer"}
    assert not any("practical" in move.as_json() for move in plain.moves)
    assert [move.mark for move in plain.moves] == [move.mark for move in game.moves]


def test_a_game_without_ratings_has_no_practical_choice() -> None:
    unrated = chess.pgn.read_game(io.StringIO(MOVES))
    assert unrated is not None
    game = kibitz.analyse(unrated, "human", practical=True, **QUICK)
    assert any(move.sign for move in game.moves)
    assert all(move.practical is None for move in game.moves)  # type: ignore[union-attr]
    rated = kibitz.analyse(unrated, "human", practical=True, ratings=(600, 600), **QUICK)
    assert any(move.practical for move in rated.moves)  # type: ignore[union-attr]


def test_networks_without_ratings_are_refused() -> None:
    with pytest.raises(UsageError) as refusal:
        kibitz.analyse(GAME, "winner", practical=True)
    assert mentions(str(refusal.value), "practical & winner")
    with pytest.raises(UsageError) as both:
        kibitz.analyse(GAME, "human", practical=True, raw=True)
    assert mentions(str(both.value), "practical & raw")


def test_the_line_below_a_marked_move_names_the_practical_choice(judge: Judge, plain: Any) -> None:
    at, weak = 8, choice(judge, ELEPHANT_TRAP, "e3", 1400)
    shown = []
    for practical in (weak, replace(weak, chosen=weak.best)):
        moves = [
            replace(move, mark="?", practical=practical) if i == at else move for i, move in enumerate(plain.moves)
        ]
        console = Console(file=io.StringIO(), width=90)
        show(replace(plain, moves=moves), 0.1, console)
        shown.append(" ".join(console.file.getvalue().split()))  # type: ignore[attr-defined]
    assert weak.text() in shown[0]
    assert "Practical choice" not in shown[1]


def test_the_riskiest_positions_of_a_game_are_listed_in_order(plain: Any) -> None:
    risks = [move.judged.risk for move in plain.moves]
    listed = [move.judged.risk for move in plain.riskiest]
    assert listed == sorted((risk for risk in risks if risk >= RISKY), reverse=True)[:MOST_RISKY]
    assert listed
    assert [move["ply"] for move in plain.as_json()["riskiest"]] == [move.ply for move in plain.riskiest]
    unrated = kibitz.analyse(MOVES, "human", **QUICK)
    assert unrated.riskiest == []  # type: ignore[union-attr]
    assert "riskiest" not in unrated.as_json()
