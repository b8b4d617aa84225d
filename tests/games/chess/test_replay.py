"""Replay against python-chess: bundled games, random games with everything the rules know, real games."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.games.chess.filters import Filter
from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.replay import (
    STANDARD_START,
    captures,
    decode_board,
    encode_board,
    flip_files,
    replay,
    swap_colours,
)
from kibitz.store.store import Store

ENOUGH = 100_000


def boards(store: Store, game: int) -> Iterator[chess.Board]:
    """The positions of a stored game, played by python-chess from the store's moves."""
    start = store.starts[store.start_of[game]]
    board = decode_board(start[:64], start[64:])
    yield board
    for move in store.moves[store.offsets[game] : store.offsets[game + 1]]:
        board.push(to_move(int(move)))
        yield board


def check(store: Store, games: Iterator[int] | range, enough: int) -> int:
    """Compare all positions of the games until there were enough; how many were compared.

    Python-chess's bitboards are compared whole, which is quick enough to look at every square of 100,000 positions.
    """
    compared = 0
    for game in games:
        plies = np.arange(store.plies[game] + 1)
        codes, state = store.replay(np.full(len(plies), game), plies)
        planes = np.packbits(codes[:, None, :] == np.arange(1, 13)[None, :, None], axis=2, bitorder="little")
        found = planes.view("<u8")[:, :, 0].tolist()
        for ply, board in enumerate(boards(store, game)):
            kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
            white, black = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
            assert found[ply] == [kind & white for kind in kinds] + [kind & black for kind in kinds], board.fen()
            assert state[ply].tolist() == encode_state(board), board.fen()
        compared += len(plies)
        if compared >= enough:
            break
    return compared


def encode_state(board: chess.Board) -> list[int]:
    rights = board.castling_rights
    bits = [(chess.BB_H1, 1), (chess.BB_A1, 2), (chess.BB_H8, 4), (chess.BB_A8, 8)]
    return [
        0 if board.turn else 1,
        sum(bit for square, bit in bits if rights & square),
        chess.square_file(board.ep_square or 0) + 1 if board.has_legal_en_passant() else 0,
        min(board.halfmove_clock, 255),
    ]


def test_bundled_games(bundled_store: Store) -> None:
    assert check(bundled_store, range(len(bundled_store)), ENOUGH) >= ENOUGH


@pytest.mark.parametrize(
    "name", ["masters_to_2022.pgn.zst", "lichess_two_players_bullet.pgn.zst", "tcec_engine.pgn.zst"]
)
def test_real_games(name: str, shared_chess: Path, tmp_path: Path, make_store: Callable[..., Store]) -> None:
    source = shared_chess / name
    import zstandard

    with source.open("rb") as packed:  # the first 8 MB are some 10,000 games
        text = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(packed).read(8 << 20)
    (tmp_path / "games.pgn").write_bytes(text)
    store = make_store(tmp_path / "games.store", tmp_path / "games.pgn")
    order = random.Random(0).sample(range(len(store)), len(store))
    assert check(store, iter(order), 25_000) >= 25_000


START_POSITIONS = [
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",  # castling on all sides
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",  # en passant, some of it pinned
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",  # promotions to everything
    "r3k2r/8/8/8/8/8/8/R3K2R b Qk - 30 20",  # half of the rights, a running clock
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",  # en passant in the set-up itself
    "8/8/4k3/8/8/3QK3/8/8 w - - 250 200",  # a clock that runs past 255
]


@given(fen=st.sampled_from(START_POSITIONS), seed=st.integers(0, 2**32), plies=st.integers(0, 120))
def test_random_games(fen: str, seed: int, plies: int) -> None:
    """Random legal moves, those that are rare in real games four times as often."""
    rng = random.Random(seed)
    board = chess.Board(fen)
    start = encode_board(board)
    rows, moves, taken = [start], [], []
    while len(moves) < plies and (legal := list(board.legal_moves)):
        weights = [4 if m.promotion or board.is_castling(m) or board.is_en_passant(m) else 1 for m in legal]
        move = rng.choices(legal, weights)[0]
        taken.append(board.is_capture(move))
        board.push(move)
        moves.append(from_move(move))
        # encode_board is python-chess's view square by square; only its castling rights are cleaned there
        row = encode_board(board)
        row[64:] = encode_state(board)
        rows.append(row)
    offsets = np.array([0, len(moves)])
    starts, start_of = np.stack([STANDARD_START, start]), np.array([1], np.int32)
    count = len(moves) + 1
    codes, state = replay(
        np.array(moves, np.uint16), offsets, starts, start_of, np.zeros(count, np.int64), np.arange(count)
    )
    np.testing.assert_array_equal(np.hstack([codes, state]), np.stack(rows))
    assert captures(np.array(moves, np.uint16), offsets, starts, start_of).tolist() == taken


def test_captures_of_bundled_games(bundled_store: Store) -> None:
    """Castling, promotions and captures in passing among them."""
    taken = bundled_store.captures()
    assert taken.dtype == np.bool_
    assert taken.shape == bundled_store.moves.shape
    kinds = {"castling": 0, "promotion": 0, "en passant": 0}
    for game in range(0, len(bundled_store), 15):
        first, end = bundled_store.offsets[game : game + 2]
        moves = [to_move(int(move)) for move in bundled_store.moves[first:end]]
        expected = []
        for board, move in zip(boards(bundled_store, game), moves, strict=False):
            expected.append(board.is_capture(move))
            kinds["castling"] += board.is_castling(move)
            kinds["promotion"] += move.promotion is not None
            kinds["en passant"] += board.is_en_passant(move)
        assert taken[first:end].tolist() == expected
    assert min(kinds.values()) > 5, kinds


@given(fen=st.sampled_from(START_POSITIONS), seed=st.integers(0, 2**32), plies=st.integers(0, 40))
def test_swapped_colours_are_python_chess_mirror(fen: str, seed: int, plies: int) -> None:
    rng = random.Random(seed)
    board = chess.Board(fen)
    for _ in range(plies):
        if legal := list(board.legal_moves):
            board.push(rng.choice(legal))
    row, mirrored = encode_board(board), encode_board(board.mirror())
    codes, state = np.stack([row, row, row])[:, :64].copy(), np.stack([row, row, row])[:, 64:].copy()
    found = swap_colours(codes, state, np.array([True, False, True]))
    assert found[0] is codes
    assert found[1] is state
    np.testing.assert_array_equal(np.hstack([codes, state]), [mirrored, row, mirrored])
    swap_colours(codes, state, np.array([True, False, True]))
    np.testing.assert_array_equal(np.hstack([codes, state]), [row, row, row])


def test_files_are_flipped_where_nobody_may_castle() -> None:
    """As python-chess flips them, en passant too; positions with castling rights and those not selected stay."""
    fens = (
        "4k3/8/8/pP6/8/8/8/4K3 w - a6 0 1",
        "4k3/8/8/8/1Pp5/8/8/4K2R b - b3 0 1",
        "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
        "r3k3/8/8/8/8/8/8/4K3 w q - 0 1",
        "4k3/8/8/8/8/8/1Q6/4K3 w - - 0 1",
    )
    boards = [chess.Board(fen) for fen in fens]
    rows = np.stack([encode_board(board) for board in boards])
    codes, state = flip_files(rows[:, :64].copy(), rows[:, 64:].copy(), np.array([True, True, True, True, False]))
    for i, board in enumerate(boards):
        wanted = board.transform(chess.flip_horizontal) if i < 2 else board
        assert decode_board(codes[i], state[i]) == wanted, board.fen()


def test_boards_come_back(bundled_store: Store) -> None:
    """decode_board is the other way of encode_board, and of replay."""
    games, plies = np.arange(200), np.minimum(np.arange(200), bundled_store.plies[:200])
    codes, state = bundled_store.replay(games, plies)
    for position in range(200):
        board = decode_board(codes[position], state[position])
        assert board.is_valid()
        np.testing.assert_array_equal(encode_board(board), np.concatenate([codes[position], state[position]]))


@pytest.mark.parametrize(("game", "ply"), [(-1, 0), (3124, 0), (0, -1), (0, 100_000)])
def test_positions_that_are_not_there(bundled_store: Store, game: int, ply: int) -> None:
    with pytest.raises(IndexError):
        bundled_store.replay(np.array([game]), np.array([ply]))


def test_no_positions(bundled_store: Store) -> None:
    codes, state = bundled_store.replay(np.empty(0, np.int64), np.empty(0, np.int64))
    assert codes.shape == (0, 64)
    assert state.shape == (0, 4)


def test_set_up_positions_reach_the_store(tmp_path: Path, make_store: Callable[..., Store]) -> None:
    fen = START_POSITIONS[5]
    (tmp_path / "a.pgn").write_text(f'[FEN "{fen}"]\n[SetUp "1"]\n[Result "1-0"]\n\n3. exf6 gxf6 4. Nf3 1-0\n')
    store = make_store(tmp_path / "a.store", tmp_path / "a.pgn", keep=Filter())
    assert check(store, range(1), 1) == 4
    codes, state = store.replay(np.zeros(2, np.int64), np.arange(2))
    assert decode_board(codes[0], state[0]).ep_square == chess.F6
    assert codes[1][chess.F5] == 0  # the pawn that was taken in passing
