"""Games that the tests in a browser open."""

from __future__ import annotations

import random

import chess
import chess.pgn


def random_game(plies: int, seed: int = 1) -> str:
    """A PGN of random legal moves, so that an analysis marks many of them."""
    rng, board = random.Random(seed), chess.Board()
    while len(board.move_stack) < plies:
        board.push(rng.choice([move for move in board.legal_moves if not _ends(board, move)]))
    return str(chess.pgn.Game.from_board(board))


def _ends(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    over = board.is_game_over()
    board.pop()
    return over
