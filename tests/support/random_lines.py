"""Random lines of both games, for tests of the board."""

from __future__ import annotations

import random

import chess

from kibitz.games.go.points import PASS
from kibitz.web.go import line as go_lines


def random_chess(seed: int, plies: int) -> list[str]:
    draw, board = random.Random(seed), chess.Board()
    while len(board.move_stack) < plies and not board.is_game_over():
        board.push(draw.choice(list(board.legal_moves)))
    return [move.uci() for move in board.move_stack]


def random_go(seed: int, plies: int, size: int = 9, rules: str = "chinese") -> go_lines.GoLine:
    draw, line = random.Random(seed), go_lines.GoLine(size, rules=rules)
    board, moves = line.start(), []
    for _ in range(plies):
        points = [*board.legal(board.to_move), PASS]
        moves.append(draw.choice(points[:-1]) if len(points) > 1 and draw.random() < 0.97 else PASS)
        board.play(board.to_move, moves[-1])
    return go_lines.GoLine(size, rules=rules, moves=tuple(moves))
