"""Legal moves against python-chess: random games, rare rules, known counts of positions, odd set-ups."""

from __future__ import annotations

import random
from itertools import pairwise

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kibitz.games.chess.legal import in_check, legal_moves, moved_pieces
from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.replay import encode_board
from kibitz.store.store import Store

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
PERFT = {
    chess.STARTING_FEN: [20, 400, 8902],
    KIWIPETE: [48, 2039, 97862],
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": [14, 191, 2812, 43238],
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": [6, 264, 9467],
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": [44, 1486, 62379],
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": [46, 2079, 89890],
}
"""The positions that move generators are tested with everywhere, and how many lines of 1, 2, 3... plies they have."""

RARE = [
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b Qk - 30 20",
    "1r2k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1",  # b1 may be attacked when castling long
    "3rk2r/8/8/8/8/8/8/R3K2R w KQk - 0 1",  # d1 may not
    "4kr2/8/8/8/8/8/8/R3K2R w KQ - 0 1",
    "4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1",  # out of check
    "4k3/8/8/8/8/8/6p1/R3K2R w KQ - 0 1",  # through a pawn's and into a knight's attack
    "4k3/8/8/8/8/4n3/8/RN2K2R w KQ - 0 1",
    "4k3/8/8/8/8/8/8/b3K2r w KQ - 0 1",  # the rooks are gone, the rights are not
    "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1",  # two pawns leave a rank: en passant would open it
    "8/8/8/8/k2Pp2R/8/8/4K3 b - d3 0 1",
    "4k3/8/8/2b5/3Pp3/8/5K2/8 b - d3 0 1",
    "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1",  # pinned along the file
    "7k/8/8/2pP4/3K4/8/8/8 w - c6 0 1",  # the pawn that gives check is taken in passing
    "7k/b7/8/2pP4/3K4/8/8/8 w - c6 0 1",  # so it is here, but a bishop is behind it
    "4k3/p1p1p1p1/8/1P1P1P1P/p1p1p1p1/8/1P1P1P1P/4K3 w - - 0 1",  # room for much en passant
    "4k3/8/2b5/3pP3/8/5K2/8/8 w - d6 0 1",  # the captured pawn hides a bishop
    "3k4/8/8/1KPp3r/8/8/8/8 w - d6 0 1",
    "8/8/8/3pP3/8/8/8/k3K3 w - - 0 1",  # no double step just now
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "k2r4/2P5/8/8/8/8/8/3K4 w - - 0 1",  # a promotion that answers a check
    "4k3/8/8/8/7b/5n2/8/4K2R w K - 0 1",  # double check
    "4k3/8/8/8/4N3/8/4R3/4K3 w - - 0 1",  # about to be
    "k7/8/8/q2PK2r/8/2b5/8/4r3 w - - 0 1",
    "6k1/5ppp/8/8/8/8/8/K3r3 w - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",  # stalemate
    "R6k/6pp/8/8/8/8/8/K7 b - - 0 1",  # checkmate
]


def together(boards: list[chess.Board]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    rows = np.stack([encode_board(board) for board in boards])
    return rows[:, :64], rows[:, 64:]


def check(boards: list[chess.Board]) -> None:
    """Moves, masks and checks of all positions are those of python-chess."""
    codes, state = together(boards)
    moves, offsets = legal_moves(codes, state)
    assert (moves.dtype, offsets.dtype, len(offsets), offsets[0]) == (np.uint16, np.int64, len(boards) + 1, 0)
    assert offsets[-1] == len(moves)
    checks = in_check(codes, state).tolist()
    for i, board in enumerate(boards):
        expected = sorted(from_move(move) for move in board.legal_moves)
        assert sorted(moves[offsets[i] : offsets[i + 1]].tolist()) == expected, board.fen()
        assert checks[i] == board.is_check(), board.fen()


def random_game(board: chess.Board, rng: random.Random, plies: int) -> list[chess.Board]:
    """The positions of a game of random moves, rare ones and checks more often."""
    boards = [board.copy(stack=False)]
    while len(boards) <= plies and (legal := list(board.legal_moves)):
        weights = [
            6 if m.promotion or board.is_castling(m) or board.is_en_passant(m) or board.gives_check(m) else 1
            for m in legal
        ]
        board.push(rng.choices(legal, weights)[0])
        boards.append(board.copy(stack=1))
    return boards


@given(fen=st.sampled_from([*PERFT, *RARE]), seed=st.integers(0, 2**32), plies=st.integers(1, 80))
def test_random_games(fen: str, seed: int, plies: int) -> None:
    check(random_game(chess.Board(fen), random.Random(seed), plies))


@pytest.mark.parametrize("fen", RARE)
def test_rare_rules(fen: str) -> None:
    board = chess.Board(fen)
    check([board, board.mirror()])


def test_the_rare_rules_are_met() -> None:
    """The set-ups and the random games from them are a test only if they come to what they are for."""
    rng = random.Random(5)
    met = dict.fromkeys(["castling", "en passant", "promotion", "double check", "pinned", "forbidden en passant"], 0)
    boards = [board for fen in [*PERFT, *RARE] * 4 for board in random_game(chess.Board(fen), rng, 40)]
    for board in boards:
        met["castling"] += any(map(board.is_castling, board.legal_moves))
        met["en passant"] += any(map(board.is_en_passant, board.legal_moves))
        met["promotion"] += any(move.promotion for move in board.legal_moves)
        met["double check"] += len(board.checkers()) > 1
        met["pinned"] += any(
            board.is_pinned(board.turn, square) for square in chess.SquareSet(board.occupied_co[board.turn])
        )
        met["forbidden en passant"] += board.has_pseudo_legal_en_passant() and not board.has_legal_en_passant()
    assert min(met.values()) >= 8, met
    check(boards)


@pytest.mark.parametrize(("fen", "counts"), PERFT.items())
def test_known_counts(fen: str, counts: list[int]) -> None:
    """Lines of each length: python-chess makes the moves, legal_moves counts those of the last ply."""
    boards = [chess.Board(fen)]
    for depth, count in enumerate(counts, 1):
        moves, offsets = legal_moves(*together(boards))
        assert len(moves) == count
        if depth == len(counts):
            break
        deeper = []
        for i, board in enumerate(boards):
            for code in moves[offsets[i] : offsets[i + 1]].tolist():
                deeper.append(board.copy(stack=False))
                deeper[-1].push(to_move(code))
        boards = deeper


def test_odd_set_ups() -> None:
    """A board full of queens, boards without kings, and pawns where none can be; nobody's moves run out of room."""
    queens = chess.Board("QQQQQQQQ/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/QQQQQQQQ w - - 0 1")
    bare = chess.Board("8/8/2q5/8/3P4/8/1N6/8 w - - 0 1")
    check([queens, bare, queens, bare.mirror(), *[queens] * 30, chess.Board.empty()])
    codes = np.random.default_rng(0).integers(0, 13, (2000, 64)).astype(np.uint8)
    codes[::2] *= codes[::2] > 8  # some room to move
    state = np.random.default_rng(1).integers(0, [2, 16, 9, 100], (2000, 4)).astype(np.uint8)
    moves, offsets = legal_moves(codes, state)
    mover = state[np.repeat(np.arange(2000), np.diff(offsets)), 0]
    piece = codes[np.repeat(np.arange(2000), np.diff(offsets)), moves & 63]
    assert len(moves)
    assert ((piece > 6) == (mover == 1)).all()
    assert (piece > 0).all()


def test_no_positions() -> None:
    codes, state = np.empty((0, 64), np.uint8), np.empty((0, 4), np.uint8)
    moves, offsets = legal_moves(codes, state)
    assert (moves.tolist(), offsets.tolist()) == ([], [0])
    assert in_check(codes, state).shape == (0,)


def test_moved_pieces(bundled_store: Store) -> None:
    store = bundled_store
    kinds = moved_pieces(store.moves, store.offsets, store.starts, store.start_of)
    assert (kinds.shape, kinds.dtype) == (store.moves.shape, np.uint8)
    games = np.repeat(np.arange(len(store)), store.plies)
    some = np.random.default_rng(0).permutation(len(games))[:50_000]
    codes, _ = store.replay(games[some], some - store.offsets[games[some]])
    movers = codes[np.arange(len(some)), store.moves[some] & 63]
    np.testing.assert_array_equal(kinds[some], (movers - 1) % 6)


def test_moved_pieces_of_rare_moves() -> None:
    """Promoted pieces, castled rooks, and games from set-up positions, in one store."""
    rng = random.Random(3)
    moves: list[int] = []
    expected: list[int] = []
    offsets, starts = [0], []
    for fen in [*PERFT, *RARE] * 3:
        boards = random_game(chess.Board(fen), rng, 100)
        starts.append(encode_board(boards[0]))
        for board, after in pairwise(boards):
            move = after.peek()
            moves.append(from_move(move))
            expected.append((board.piece_type_at(move.from_square) or 0) - 1)
        offsets.append(len(moves))
    rows = np.random.default_rng(2).permutation(len(starts))  # start rows lie in another order than games
    found = moved_pieces(
        np.array(moves, np.uint16), np.array(offsets), np.stack(starts)[rows], np.argsort(rows).astype(np.int32)
    )
    assert found.tolist() == expected
