"""Keys of positions beside python-chess and a board of Go: equal where the positions are, else different."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from kibitz.explorer import chess as chess_keys
from kibitz.explorer import go as go_keys
from kibitz.explorer.keys import NO_MOVE, random_words
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import STANDARD_START, encode_board
from kibitz.games.go.points import GRID, PASS, symmetries
from kibitz.games.go.replay import start_row
from kibitz.games.go.rules import Board
from support.random_lines import random_chess, random_go

DEPTH = 60


def filled(kernels, moves: list[int], start, depth: int = DEPTH):  # type: ignore[no-untyped-def]
    keys, played, counts = np.zeros((1, depth), np.uint64), np.zeros((1, depth), np.uint16), np.zeros(1, np.int64)
    packed, offsets = np.array(moves, np.uint16), np.array([0, len(moves)])
    kernels.fill_keys(packed, offsets, start[None], np.zeros(1, np.int32), 0, keys, played, counts)
    return keys[0, : counts[0]], played[0, : counts[0]]


def test_the_words_never_change() -> None:
    """Indexes on disk are made of them."""
    assert random_words(3, 0).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@pytest.mark.parametrize("seed", range(12))
def test_a_chess_key_is_the_position(seed: int) -> None:
    """Castling, promotion, en passant: after each move the key that goes along is that of the board itself."""
    board, names = chess.Board(), {}
    moves = [chess.Move.from_uci(move) for move in random_chess(seed, DEPTH + 5)]
    keys, played = filled(chess_keys, [from_move(move) for move in moves], STANDARD_START)
    for ply, key in enumerate(keys.tolist()):
        assert key == chess_keys.key_of(board)
        assert names.setdefault(key, board.epd()) == board.epd()
        if ply < len(moves):
            assert int(played[ply]) == from_move(moves[ply])
            board.push(moves[ply])


@pytest.mark.parametrize(
    "fen",
    [
        "r3k2r/pPppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBP1P/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",  # a capture en passant would leave the king in check
        "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    ],
)
def test_every_first_and_second_move(fen: str) -> None:
    root = chess.Board(fen)
    for first in list(root.legal_moves):
        after = root.copy()
        after.push(first)
        for second in list(after.legal_moves):
            keys, played = filled(chess_keys, [from_move(first), from_move(second)], encode_board(root))
            last = after.copy()
            last.push(second)
            assert keys.tolist() == [chess_keys.key_of(board) for board in (root, after, last)]
            assert played[2] == NO_MOVE


def test_other_ways_to_a_position_count() -> None:
    ways = [["d2d4", "g8f6", "c2c4", "e7e6"], ["c2c4", "e7e6", "d2d4", "g8f6"]]
    ends = [filled(chess_keys, [from_move(chess.Move.from_uci(m)) for m in way], STANDARD_START)[0][-1] for way in ways]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("seed", range(6))
def test_a_go_key_is_the_same_for_every_turn_of_the_board(seed: int) -> None:
    line = random_go(seed, 90, 19)
    keys, _ = filled(go_keys, list(line.moves), start_row(), 90)
    board = line.start()
    for ply, point in enumerate(line.moves[:90]):
        assert keys[ply] == go_keys.key_of(board)
        board.play(board.to_move, point)
    for way in symmetries(GRID)[1:].tolist():
        turned = [point if point == PASS else way[point] for point in line.moves]
        assert filled(go_keys, turned, start_row(), 90)[0].tolist() == keys.tolist()
    assert len(set(keys.tolist())) == len(keys)


def test_captures_in_go_are_seen() -> None:
    """A corner stone is taken; a board where it never stood has the same key."""
    taken = Board(GRID)
    for point in (1, 0, GRID, PASS):  # Black B19, White A19, Black A18 takes
        taken.play(taken.to_move, point)
    never = Board(GRID)
    for point in (1, PASS, GRID, PASS):
        never.play(never.to_move, point)
    assert go_keys.key_of(taken) == go_keys.key_of(never)
    assert filled(go_keys, [1, 0, GRID, PASS], start_row())[0][4] == go_keys.key_of(never)


def test_equal_moves_of_a_symmetric_position_are_one() -> None:
    corners = [3 * GRID + 3, 3 * GRID + 15, 15 * GRID + 3, 15 * GRID + 15]
    seen = {int(filled(go_keys, [corner], start_row())[1][0]) for corner in corners}
    assert len(seen) == 1
    assert go_keys.unseen(Board(GRID), seen.pop()) == 3 * GRID + 15  # Q16, as people write it


def test_a_move_is_told_as_it_lies_on_this_board() -> None:
    """A game and its mirror: the reply that was played is found at the place that fits the board that is looked at."""
    draw = random.Random(3)
    for _ in range(20):
        moves = [3 * GRID + 15, draw.choice([2 * GRID + 4, 16 * GRID + 2, 9 * GRID + 7])]
        board = Board(GRID)
        board.play(board.to_move, moves[0])
        way = symmetries(GRID)[draw.randrange(8)].tolist()
        seen = int(filled(go_keys, [way[move] for move in moves], start_row())[1][1])
        board_after, other = Board(GRID), Board(GRID)
        for move in moves:
            board_after.play(board_after.to_move, move)
        for move in (moves[0], go_keys.unseen(board, seen)):
            other.play(other.to_move, move)
        assert go_keys.key_of(other) == go_keys.key_of(board_after)


def test_smaller_boards_have_no_positions() -> None:
    assert len(filled(go_keys, [0, 1], start_row(9))[0]) == 0


def test_a_move_on_a_stone_changes_nothing() -> None:
    """Only a damaged store has such a move. It is a pass, as in the replay."""
    moves = [60, 61, 60, 80, 61, 60, 60, 61, 42, 41, 60, 79]
    keys, _ = filled(go_keys, moves, start_row())
    board = Board()
    for ply, key in enumerate(keys.tolist()):
        assert key == go_keys.key_of(board)
        if ply < len(moves):
            board.play(board.to_move, moves[ply] if board[moves[ply]] == 0 else PASS)


def test_a_promotion_to_no_piece_changes_nothing() -> None:
    """Only a damaged store has such a move. It is played without the promotion, as in the replay."""
    board, moves = chess.Board(), []
    for move in ("e2e4", "d7d5", "e4d5", "d8d5"):
        moves.append(from_move(chess.Move.from_uci(move)))
    keys, _ = filled(chess_keys, [moves[0] | 9 << 12, moves[1] | 15 << 12, *moves[2:]], STANDARD_START)
    assert keys.tolist() == filled(chess_keys, moves, STANDARD_START)[0].tolist()
    assert keys[0] == chess_keys.key_of(board)
