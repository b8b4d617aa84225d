"""What moves gain at first sight, and in which order moves are searched, against plain loops over python-chess."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from kibitz.games.chess.moves import to_move
from kibitz.play.chess import position as positions
from kibitz.play.chess.tactics import MIN_CHECK_WEIGHT, MIN_TACTICAL_WEIGHT, gains_and_checks, order_moves

PAWNS = (0, 1, 3, 3, 5, 9, 0)


def boards(count: int) -> list[chess.Board]:
    draw, found = random.Random(11), []
    while len(found) < count:
        board = chess.Board()
        for _ in range(draw.randrange(120)):
            if board.is_game_over():
                break
            board.push(draw.choice(list(board.legal_moves)))
        if any(board.legal_moves):
            found.append(board)
    return [*found, chess.Board("1n2k3/P1P5/8/3pP3/8/8/8/R3K2R w KQ d6 0 1")]


def gain(board: chess.Board, move: chess.Move) -> int:
    """What is taken and promoted to, less the piece that can then be taken, whatever pins it."""
    taken = 1 if board.is_en_passant(move) else PAWNS[board.piece_type_at(move.to_square) or 0]
    won = taken + (PAWNS[move.promotion] - 1 if move.promotion else 0)
    if not won:
        return 0
    after = board.copy(stack=False)
    after.push(move)
    if after.is_attacked_by(after.turn, move.to_square):
        won -= PAWNS[after.piece_type_at(move.to_square) or 0]
    return won


def test_gains_and_checks_of_many_positions_at_once() -> None:
    many = boards(60)
    rows, moves, offsets = [], [], [0]
    for board in many:
        position, _ = positions.root(board)
        rows.append(position.row)
        moves += position.legal()
        offsets.append(len(moves))
    codes = np.stack(rows)
    gains, checks = gains_and_checks(codes[:, :64], codes[:, 64:], np.array(moves, np.uint16), np.array(offsets))
    seen = set()
    for i, board in enumerate(many):
        for at in range(offsets[i], offsets[i + 1]):
            move = to_move(moves[at])
            expected = gain(board, move), board.gives_check(move)
            assert (gains[at], checks[at]) == expected, (board.fen(), move)
            seen.add(expected[0])
    assert min(seen) < 0
    assert {0, 1, 3, 5, 8} <= seen


@pytest.mark.parametrize(("cut", "width"), [(0.5, 100), (0.9, 100), (1.0, 100), (0.9, 3), (0.01, 100), (1.0, 1)])
def test_moves_come_by_falling_weight(cut: float, width: int) -> None:
    draw = np.random.default_rng(5)
    counts = [1, 7, 30, 12]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    total = int(offsets[-1])
    priors = np.concatenate([draw.dirichlet(np.full(n, 0.3)) for n in counts]).astype(np.float32)
    priors[10:12] = priors[12]  # equals stay in their order
    gains, checks = draw.integers(-3, 5, total).astype(np.int16), draw.random(total) < 0.2
    moves = draw.permutation(total).astype(np.uint16)
    given = moves.copy()
    ordered, weights, marks, widths = order_moves(moves, offsets, priors, gains, checks, cut, width)
    assert (moves == given).all(), "what was given stays"
    for i, n in enumerate(counts):
        part = slice(offsets[i], offsets[i + 1])
        expected = []
        for at in range(offsets[i], offsets[i + 1]):
            least = MIN_TACTICAL_WEIGHT if gains[at] >= 2 else MIN_CHECK_WEIGHT if checks[at] else 1e-6
            expected.append((max(float(priors[at]), least), int(moves[at]), int(gains[at] >= 2)))
        expected.sort(key=lambda each: -each[0])
        whole = sum(each[0] for each in expected)
        shares = [each[0] / whole for each in expected]
        assert ordered[part].tolist() == [each[1] for each in expected]
        assert marks[part].tolist() == [each[2] for each in expected]
        assert weights[part] == pytest.approx(shares, rel=1e-5)
        followed = 0
        while followed < min(n, width) and sum(shares[:followed]) < cut - 1e-7:
            followed += 1
        assert widths[i] == followed
