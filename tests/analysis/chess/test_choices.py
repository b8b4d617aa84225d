"""Expected moves: shares of the legal ones, ranks, and what a pawn becomes."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.analysis.chess.choices import expected, ordinal, percent
from kibitz.games.chess.moves import from_move

PROMOTION = chess.Board("8/4P1k1/8/8/8/8/8/K7 w - - 0 1")


def packed(board: chess.Board) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
    return np.array([from_move(move) for move in board.legal_moves], np.uint16)


def test_shares_of_the_legal_moves() -> None:
    board = chess.Board()
    moves = packed(board)
    wanted = {"g1f3": 0.02, "e2e4": 0.1, "d2d4": 0.08}
    probabilities = np.array([wanted.get(move.uci(), 0) for move in board.legal_moves], np.float32)
    found = expected(board, moves, probabilities, chess.Move.from_uci("g1f3"))
    assert [(one.san, one.uci) for one in found.choices] == [("e4", "e2e4"), ("d4", "d2d4"), ("Nf3", "g1f3")]
    assert [one.probability for one in found.choices] == pytest.approx([0.5, 0.4, 0.1])
    assert (found.rank, found.legal, found.surprising) == (3, 20, False)
    assert found.probability == pytest.approx(0.1)
    other = expected(board, moves, probabilities, chess.Move.from_uci("a2a3"))
    assert (other.probability, other.surprising) == (0, True)


@given(st.lists(st.floats(0, 1, width=32, allow_subnormal=False), min_size=20, max_size=20), st.integers(0, 19))
def test_rank_is_the_place_in_the_order(shares: list[float], played: int) -> None:
    board = chess.Board()
    moves = list(board.legal_moves)
    found = expected(board, packed(board), np.array(shares, np.float32), moves[played])
    assert sum(p > shares[played] for p in shares) < found.rank <= sum(p >= shares[played] for p in shares)
    assert [one.uci for one in found.choices].count(moves[played].uci()) == (found.rank <= 3)
    assert sum(one.probability for one in found.choices) <= 1 + 1e-6
    for place, one in enumerate(found.choices, 1):
        if place == found.rank:
            assert one.probability == pytest.approx(found.probability)


@pytest.mark.parametrize("scale", [1.0, 0.0])  # 0: nothing was expected, so all are equal
def test_underpromotions_are_no_choices_and_rank_last(scale: float) -> None:
    moves = packed(PROMOTION)
    probabilities = np.where(moves >> 12 == 5, 0.9, np.where(moves >> 12 > 0, 0, 0.05)).astype(np.float32) * scale
    queen = expected(PROMOTION, moves, probabilities, chess.Move.from_uci("e7e8q"))
    knight = expected(PROMOTION, moves, probabilities, chess.Move.from_uci("e7e8n"))
    assert "e8=Q" in {one.san for one in queen.choices} or scale == 0
    assert not {"e8=N", "e8=B", "e8=R"} & {one.san for one in queen.choices}
    assert queen.rank <= len(moves) - 3
    assert not queen.underpromotion
    assert (knight.rank, knight.legal, knight.probability) == (len(moves), len(moves), 0.0)
    assert knight.underpromotion
    assert knight.surprising


def test_one_legal_move_is_no_surprise() -> None:
    board = chess.Board("k7/8/8/1Q6/8/8/8/K6R b - - 0 1")
    (move,) = board.legal_moves
    found = expected(board, packed(board), np.zeros(1, np.float32), move)
    assert (found.rank, found.probability, found.surprising) == (1, 1.0, False)


def test_a_null_move_ranks_last() -> None:
    board = chess.Board()
    found = expected(board, packed(board), np.ones(20, np.float32), chess.Move.null())
    assert (found.rank, found.probability) == (20, 0.0)
    mate = chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")
    assert expected(mate, packed(mate), np.ones(0, np.float32), chess.Move.null()).choices == ()


def test_words() -> None:
    assert [percent(p) for p in (0.0, 0.0004, 0.0099, 0.01, 0.314, 1.0)] == ["0%", "<1%", "<1%", "1%", "31%", "100%"]
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
    ]  # fmt: skip
