"""Positions of the search against python-chess: moves, mates, keys, what was seen, and material that cannot mate."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from kibitz.errors import KibitzError
from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.replay import encode_board
from kibitz.play.chess import position as positions

ODD = (
    "1n2k2r/P1P5/8/3pP3/8/8/6pp/R3K2R w KQk d6 0 1",  # promotions with and without a capture, castling, en passant
    "r3k2r/8/8/8/8/8/p1p5/1N2K2R b Kkq - 3 9",
    "8/8/8/KPp4r/8/8/8/4k3 w - c6 0 2",  # en passant would bare the king
    "6rk/6pp/8/6N1/8/8/8/6K1 w - - 254 299",
    "8/2p5/8/KP5r/8/8/8/4k3 b - - 0 1",  # the same en passant, after a move of the search
    "8/8/5k2/8/2B5/8/3K4/3b4 w - - 0 1",  # bishops on squares of one colour
)


def walks(seed: int) -> list[chess.Board]:
    """Boards of a game at random, with its moves."""
    draw = random.Random(seed)
    board = chess.Board(ODD[seed]) if seed < len(ODD) else chess.Board()
    found = [board.copy()]
    while len(found) < 60 and any(board.legal_moves):
        board.push(draw.choice(list(board.legal_moves)))
        found.append(board.copy())
    return found


@pytest.mark.parametrize("seed", range(len(ODD) + 3))
def test_positions_are_those_of_python_chess(seed: int) -> None:
    for board in walks(seed):
        position, seen = positions.root(board)
        moves = list(board.legal_moves)
        assert {to_move(code) for code in position.legal()} == set(moves)
        assert position.in_check() == board.is_check()
        assert position.has_insufficient_material() == board.is_insufficient_material()
        assert position.clock == min(255, board.halfmove_clock)
        assert (position.row == encode_board(board)).all()
        assert sum(seen.values()) == min(board.halfmove_clock, len(board.move_stack))
        codes = np.array([from_move(move) for move in moves], np.uint16)
        for move, child in zip(moves, positions.children([position] * len(moves), codes), strict=True):
            after = board.copy()
            after.push(move)
            assert (child.row == encode_board(after)).all()
            assert child.key == positions.root(after)[0].key
            assert position.mates(from_move(move)) == after.is_checkmate()
    assert positions.children([], np.empty(0, np.uint16)) == []


def test_a_key_is_another_where_the_rules_see_another_position() -> None:
    fens = [
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w Kkq - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w Qkq - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w KQq - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 2",
    ]  # fmt: skip
    keys = [positions.root(chess.Board(fen))[0].key for fen in fens]
    assert len(set(keys)) == len(fens)
    later = [positions.root(chess.Board(fen[:-3] + "9 30"))[0].key for fen in fens]
    assert later == keys, "counters are no part of it"
    pinned, bare = "8/8/8/KPp4r/8/8/8/4k3 w - c6 0 2", "8/8/8/KPp4r/8/8/8/4k3 w - - 0 2"
    assert positions.root(chess.Board(pinned))[0].key == positions.root(chess.Board(bare))[0].key


def test_what_was_seen_since_the_last_capture_or_pawn_move() -> None:
    board = chess.Board()
    for move in ("e2e4", "e7e5", *("g1f3", "g8f6", "f3g1", "f6g8") * 2):
        board.push_uci(move)
    position, seen = positions.root(board)
    assert seen[position.key] == 2
    assert sum(seen.values()) == 8
    assert positions.packed((chess.Move.from_uci("e2e4"), chess.Move.from_uci("a7a8n"))) == {
        from_move(chess.Move.from_uci("e2e4")), from_move(chess.Move.from_uci("a7a8n")),
    }  # fmt: skip


def test_more_men_than_a_side_can_have_are_refused() -> None:
    full = chess.Board("k7/8/8/8/8/NNNNNNN1/NNNNNNNN/K7 w - - 0 1")
    assert len(positions.root(full)[0].legal()) == full.legal_moves.count()
    for board in (full, full.mirror()):
        board.set_piece_at(chess.H5, chess.Piece(chess.KNIGHT, board.turn))
        with pytest.raises(KibitzError, match="at most 16 pieces"):
            positions.root(board)
