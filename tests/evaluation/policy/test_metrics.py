"""Marks of positions, against a slow loop over boards of python-chess, and by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kibitz.evaluation.policy.metrics import measure, played_in, rank_of, square_marks, with_side_inputs
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import encode_board
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store

PAWNS = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}


def batch_of(boards: Sequence[chess.Board]) -> Batch:
    rows = np.stack([encode_board(board) for board in boards])
    nothing = np.zeros(len(boards), np.int64)
    return Batch(rows[:, :64], rows[:, 64:], nothing, nothing)


def ranked(scores: dict[int, float], key: int) -> int:
    """Its place from 1; of equals the smaller key comes first."""
    return sorted(scores, key=lambda other: (-scores[other], other)).index(key) + 1


def slow_square(chance: np.ndarray, legal: set[int], played: int) -> dict[str, Any]:
    p = {square: float(chance[square]) for square in range(64)}
    total = sum(p[square] for square in legal)
    gaps = [p[square] - (p[square] / total if square in legal else 0.0) for square in range(64)]
    return {
        "rank": ranked(p, played),
        "legal_rank": ranked({square: p[square] for square in legal}, played),
        "illegal": max(p, key=lambda square: p[square]) not in legal,
        "squared": sum(gap**2 for gap in gaps),
        "largest": max(abs(gap) for gap in gaps),
        "choices": len(legal),
    }


def slow(board: chess.Board, move: chess.Move, origin: np.ndarray, target: np.ndarray) -> dict[str, Any]:
    """Marks of one position."""
    kind = board.piece_type_at(move.from_square)
    assert kind
    moves = list(board.legal_moves)

    def to(squares: Sequence[int]) -> set[int]:
        return {m.to_square for m in moves if m.from_square in squares}

    found = {
        f"origin_{name}": mark
        for name, mark in slow_square(origin, {m.from_square for m in moves}, move.from_square).items()
    }
    own = list(board.pieces(kind, board.turn))
    if len(target) == 64:
        alone = slow_square(target[move.from_square], to([move.from_square]), move.to_square)
        found |= {f"from_square_{name}": mark for name, mark in alone.items()}
        chance = sum(origin[square] * target[square] for square in own) / sum(origin[square] for square in own)
    else:
        chance = target[kind - 1]
    found |= {f"target_{name}": mark for name, mark in slow_square(np.asarray(chance), to(own), move.to_square).items()}

    def probability(m: chess.Move) -> float:
        if m.promotion not in (None, chess.QUEEN):
            return 0.0
        row = m.from_square if len(target) == 64 else (board.piece_type_at(m.from_square) or 0) - 1
        return float(origin[m.from_square] * target[row, m.to_square])

    chances = {m: probability(m) for m in moves}
    best = max(moves, key=lambda m: chances[m])
    start = max({m.from_square for m in moves}, key=lambda square: origin[square])
    top = max((m for m in moves if m.from_square == start), key=lambda m: chances[m])
    more = [m for m in moves if chances[m] > chances[move]]
    if chances[move]:
        found["rank"] = len(more) + 1
    men = board.piece_map().values()
    return found | {
        "chance": chances[move] / sum(chances.values()),
        "choices": len(moves),
        "top_move": top == move,
        "pair": (best.from_square, best.to_square) == (move.from_square, move.to_square),
        "promotion": move.promotion is not None,
        "underpromotion": move.promotion not in (None, chess.QUEEN),
        "castling": board.is_castling(move),
        "en_passant": board.is_en_passant(move),
        "side": int(not board.turn),
        "material": sum(PAWNS[man.piece_type] * (1 if man.color == board.turn else -1) for man in men),
        "piece": kind - 1,
    }


@pytest.mark.parametrize("name", ["shared", "separate"])
def test_games_against_the_slow_loop(name: str, small_store: Store, few: Any, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(name)
    session = Session(run)
    positions = Positions(small_store, few.games[:3], last=-2)
    batch = positions.batch(np.arange(len(positions)))
    played = played_in(small_store, batch.games, batch.plies)
    answers = session.evaluate(batch.codes, with_side_inputs(session, run.settings, small_store, batch))
    marks = measure(answers, batch, played)
    assert set(marks["phase"].tolist()) <= {0, 1, 2}
    place = 0
    for game in few.games[:3].tolist():
        board = chess.Board()
        for code in small_store.moves[small_store.offsets[game] : small_store.offsets[game + 1]].tolist():
            move = chess.Move(code & 63, code >> 6 & 63, code >> 12 or None)
            expected = slow(board, move, answers["origin"][place], answers["target"][place])
            assert marks.keys() - {"value", "phase"} == expected.keys()
            for mark, value in expected.items():
                assert marks[mark][place] == pytest.approx(value, rel=1e-4, abs=1e-6), (board.fen(), move, mark)
            board.push(move)
            place += 1
    assert place == len(positions)


SPECIAL = {
    "8/P6k/8/8/8/8/8/K7 w - - 0 1 a7a8n": {"promotion", "underpromotion"},
    "8/P6k/8/8/8/8/8/K7 w - - 0 1 a7a8q": {"promotion"},
    "8/7k/8/8/8/8/p7/7K b - - 0 1 a2a1r": {"promotion", "underpromotion"},
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1 e8c8": {"castling"},
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 e1g1": {"castling"},
    "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1 e5d6": {"en_passant"},
    "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1 d4e3": {"en_passant"},
    "4k3/8/3p4/4P3/8/8/8/4K3 w - - 0 1 e5d6": set(),
}


def even(count: int, rows: int) -> dict[str, np.ndarray]:
    return {
        "origin": np.full((count, 64), 1 / 64, np.float32),
        "target": np.full((count, rows, 64), 1 / 64, np.float32),
    }


def test_special_moves() -> None:
    boards = [chess.Board(line.rsplit(" ", 1)[0]) for line in SPECIAL]
    moves = [chess.Move.from_uci(line.rsplit(" ", 1)[1]) for line in SPECIAL]
    marks = measure(even(len(boards), 6), batch_of(boards), np.array([from_move(move) for move in moves]))
    for i, expected in enumerate(SPECIAL.values()):
        assert {
            name for name in ("promotion", "underpromotion", "castling", "en_passant") if marks[name][i]
        } == expected


@pytest.mark.parametrize("rows", [6, 64])
def test_an_underpromotion_is_never_the_first_choice_but_its_squares_may_be(rows: int) -> None:
    board = chess.Board("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    answers = even(1, rows)
    answers["origin"][0, chess.A7] = 0.9
    for promotion, rank, right in ((chess.QUEEN, 1, True), (chess.KNIGHT, 5, False)):
        move = chess.Move(chess.A7, chess.A8, promotion)  # beside it, three moves of the king
        marks = measure(answers, batch_of([board]), np.array([from_move(move)]))
        assert marks["rank"][0] == rank
        assert bool(marks["top_move"][0]) is right
        assert marks["pair"][0]
        assert marks["target_rank"][0] == 1 + chess.A8, "all squares alike: in their order"
        assert marks["target_legal_rank"][0] == 1
        chance = 0.9 / (0.9 + 3 / 64) if right else 0.0
        assert marks["chance"][0] == pytest.approx(chance)


def test_top_move_is_not_top_prob() -> None:
    """The best origin's best target, though another pair is more probable."""
    board = chess.Board("7k/8/8/8/8/8/8/K1N5 w - - 0 1")
    answers = even(1, 6)
    answers["origin"][0, [chess.A1, chess.C1]] = 0.5, 0.4
    answers["target"][0, chess.KING - 1, chess.A2] = 0.3
    answers["target"][0, chess.KNIGHT - 1, chess.D3] = 0.9
    for uci, top, rank in (("a1a2", True, 2), ("c1d3", False, 1)):
        marks = measure(answers, batch_of([board]), np.array([from_move(chess.Move.from_uci(uci))]))
        assert bool(marks["top_move"][0]) is top
        assert marks["rank"][0] == rank


def test_square_marks_by_hand() -> None:
    chance = np.zeros((1, 64), np.float32)
    chance[0, :3] = 0.5, 0.3, 0.2
    legal = np.zeros((1, 64), np.bool_)
    legal[0, [1, 2]] = True
    marks = {name: values[0] for name, values in square_marks(chance, legal, np.array([2])).items()}
    assert (marks["rank"], marks["legal_rank"], marks["choices"]) == (3, 2, 2)
    assert marks["illegal"]
    assert marks["largest"] == pytest.approx(0.5)
    assert marks["squared"] == pytest.approx(0.5**2 + 0.3**2 + 0.2**2)  # q is 0, 0.6, 0.4
    nothing = square_marks(chance, np.roll(legal, 10, 1), np.array([11]))
    assert nothing["squared"][0] == pytest.approx(0.5**2 + 0.3**2 + 0.2**2 + 2 * 0.5**2), "q is even where p is 0"


@given(
    arrays(np.float32, (3, 64), elements=st.floats(0, 1, width=16)),
    arrays(np.bool_, (3, 64)),
    st.lists(st.integers(0, 63), min_size=3, max_size=3),
)
def test_leaving_out_illegal_squares_never_harms(chance: np.ndarray, legal: np.ndarray, squares: list[int]) -> None:
    played = np.array(squares)
    legal[np.arange(3), played] = True
    marks = square_marks(chance, legal, played)
    assert (marks["legal_rank"] >= 1).all()
    assert (marks["legal_rank"] <= marks["rank"]).all()
    assert (marks["legal_rank"] <= marks["choices"]).all()
    assert not (marks["illegal"] & (marks["rank"] == 1)).any()
    assert np.isfinite(marks["squared"]).all()
    assert (marks["squared"] >= marks["largest"] ** 2 - 1e-5).all()


def test_places_of_equals_are_in_order() -> None:
    scores = np.array([[0.2, 0.5, 0.5, 0.1]] * 4, np.float32)
    assert rank_of(scores, np.arange(4)).tolist() == [3, 1, 2, 4]
