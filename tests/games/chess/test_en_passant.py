"""En passant has one meaning, a capture that is legal, on every road by which a position comes: replay, FEN, UCI, the
page, the search's boards. Python-chess's FENs are the oracle."""

from __future__ import annotations

import random
from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kibitz.engines.uci import parser
from kibitz.games.chess.filters import Filter
from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.replay import EN_PASSANT, decode_board, encode_board, keep_legal_passing, replay
from kibitz.play.chess import position as search
from kibitz.play.session import Session
from kibitz.store.store import Store
from kibitz.web.chess.line import read_line
from kibitz.web.params import BadRequest
from support.examples import share

START_POSITIONS = [
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",  # en passant, some of it pinned
    "4k3/p1p1p1p1/8/1P1P1P1P/p1p1p1p1/8/1P1P1P1P/4K3 w - - 0 1",  # room for much en passant
    "3qk3/p1p1p1p1/8/1P1P1P1P/p1p1p1p1/8/1P1P1P1P/3QK2R b K - 0 1",
]


def passing_of(fen: str) -> int:
    """The state's number for the square that a FEN names."""
    square = fen.split()[3]
    return 0 if square == "-" else ord(square[0]) - ord("a") + 1


def roads(start: str, moves: list[chess.Move], board: chess.Board) -> dict[str, NDArray[np.uint8]]:
    """The rows [68] of the position after the moves, by the road that it took; board: the same, from python-chess."""
    names = [move.uci() for move in moves]
    packed = np.array([from_move(move) for move in moves], np.uint16)
    row = encode_board(chess.Board(start))[None]
    zero = np.zeros(1, np.int64)
    whole = replay(packed, np.array([0, len(moves)]), row, np.zeros(1, np.int32), zero, np.array([len(moves)]))
    page = read_line({"game": "chess", "fen": start, "moves": names})
    gui = parser.PositionCommand()
    assert gui.set(["fen", *start.split(), "moves", *names]) is None
    short = parser.PositionCommand()
    assert short.set(["fen", *board.fen().split()]) is None
    return {
        "replay": np.concatenate([part[0] for part in whole]),
        "board": encode_board(board),
        "FEN": encode_board(chess.Board(board.fen())),
        "FEN with a square behind every double step": encode_board(chess.Board(board.fen(en_passant="fen"))),
        "X-FEN": encode_board(chess.Board(board.fen(en_passant="xfen"))),
        "page": np.concatenate([part[0] for part in page.rows(len(moves), len(moves))]),
        "page, FEN": np.concatenate([part[0] for part in read_line({"fen": board.fen(en_passant="fen")}).rows(0, 0)]),
        "UCI, moves": encode_board(gui.board),
        "UCI, FEN": encode_board(short.board),
    }


@settings(max_examples=share(0.5))
@given(fen=st.sampled_from(START_POSITIONS), seed=st.integers(0, 2**32))
@example(fen=START_POSITIONS[2], seed=1)
@example(fen=START_POSITIONS[3], seed=1)
def test_every_road_leads_to_the_same_state(fen: str, seed: int) -> None:
    """At every ply of random games with many double steps."""
    rng = random.Random(seed)
    board, moves = chess.Board(fen), []
    made, _ = search.root(board)
    for _ in range(30):
        for road, row in roads(fen, moves, board).items():
            assert row[64 + EN_PASSANT] == passing_of(board.fen()), (road, board.fen())
            np.testing.assert_array_equal(row, encode_board(chess.Board(board.fen())), err_msg=road)
        there, _ = search.root(chess.Board(board.fen()))
        assert made.key == there.key, board.fen()
        np.testing.assert_array_equal(made.row, there.row)
        assert sorted(made.legal()) == sorted(from_move(move) for move in board.legal_moves)
        legal = list(board.legal_moves)
        if not legal:
            break
        steps = [m for m in legal if abs(m.to_square - m.from_square) == 16 and board.piece_type_at(m.from_square) == 1]
        move = rng.choice(steps if steps and rng.random() < 0.5 else legal)
        board.push(move)
        moves.append(move)
        (made,) = search.children([made], np.array([from_move(move)], np.uint16))


def test_real_games_say_what_their_fens_say(bundled_store: Store) -> None:
    met = {"double step": 0, "legal": 0}
    for game in range(0, len(bundled_store), 25):
        plies = np.arange(bundled_store.plies[game] + 1)
        _, state = bundled_store.replay(np.full(len(plies), game), plies)
        start = bundled_store.starts[bundled_store.start_of[game]]
        board = decode_board(start[:64], start[64:])
        first = bundled_store.offsets[game]
        for ply in plies.tolist():
            assert state[ply, EN_PASSANT] == passing_of(board.fen()), board.fen()
            met["double step"] += board.ep_square is not None
            met["legal"] += board.has_legal_en_passant()
            if ply < plies[-1]:
                board.push(to_move(int(bundled_store.moves[first + ply])))
    assert met["double step"] > 10 * met["legal"] > 100, met


PINNED = [
    "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1",  # two pawns leave a rank
    "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1",  # this pin lets it go along its file only
    "8/8/8/8/R2pP2k/8/8/4K3 b - e3 0 1",
]


@pytest.mark.parametrize("fen", PINNED)
def test_a_forbidden_capture_is_none(fen: str) -> None:
    board = chess.Board(fen)
    legal = board.has_legal_en_passant()
    assert encode_board(board)[64 + EN_PASSANT] == (passing_of(fen) if legal else 0)
    without = chess.Board(board.fen())  # its FEN names the square only where it is legal
    assert (search.root(board)[0].key == search.root(without)[0].key) or legal
    if not legal:
        assert board.has_pseudo_legal_en_passant()


def test_stores_made_before_say_it_too(bundled_store: Store) -> None:
    """A set-up position whose row has the square of a pawn that nobody can take."""
    row = encode_board(chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"))
    row[64 + EN_PASSANT] = 5
    zero = np.zeros(1, np.int64)
    _, state = replay(np.empty(0, np.uint16), np.zeros(2, np.int64), row[None], np.zeros(1, np.int32), zero, zero)
    assert state[0, EN_PASSANT] == 0


def test_set_up_games_are_stored_without_it(tmp_path: Path, make_store) -> None:  # type: ignore[no-untyped-def]
    fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
    (tmp_path / "a.pgn").write_text(f'[FEN "{fen}"]\n[SetUp "1"]\n[Result "1-0"]\n\n1... e5 2. Nf3 1-0\n')
    store = make_store(tmp_path / "a.store", tmp_path / "a.pgn", keep=Filter())
    assert store.starts[store.start_of[0]][64 + EN_PASSANT] == 0


def test_a_square_behind_no_pawn_is_dropped() -> None:
    fen = "4k3/8/8/4P3/8/8/8/4K3 w - d6 0 1"  # python-chess would let e5 take
    line = read_line({"fen": fen})
    assert line.fen.split()[3] == "-"
    with pytest.raises(BadRequest, match="illegal"):
        read_line({"fen": fen, "moves": ["e5d6"]})
    gui = parser.PositionCommand()
    assert gui.set(["fen", *fen.split()]) is None
    assert gui.board.ep_square is None


def test_many_at_once() -> None:
    boards = [chess.Board(fen) for fen in (*PINNED, "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1")]
    rows = np.stack([encode_board(board) for board in boards])
    rows[:, 64 + EN_PASSANT] = [chess.square_file(board.ep_square or 0) + 1 for board in boards]
    keep_legal_passing(rows[:, :64], rows[:, 64:])
    assert rows[:, 64 + EN_PASSANT].tolist() == [passing_of(board.fen()) for board in boards]


def test_a_network_answers_the_same_to_the_same_position(bundled_store: Store) -> None:
    """`chessnet` sees en passant: replayed games and the FENs of the same positions, after double steps."""
    games = np.arange(0, 600, 3)
    plies = np.minimum(np.arange(len(games)) % 12 + 1, bundled_store.plies[games])
    codes, state = bundled_store.replay(games, plies)
    rows, chosen = [], []
    for i, (game, ply) in enumerate(zip(games.tolist(), plies.tolist(), strict=True)):
        board = chess.Board()
        first = bundled_store.offsets[game]
        for move in bundled_store.moves[first : first + ply]:
            board.push(to_move(int(move)))
        if board.ep_square is not None:
            chosen.append(i)
            rows.append(encode_board(chess.Board(board.fen())))
    read = np.stack(rows)
    assert len(read) > 30
    session = Session("chessnet")
    replayed = session.evaluate(codes[chosen], state[chosen])
    from_fens = session.evaluate(read[:, :64], read[:, 64:])
    for name, values in replayed.items():
        np.testing.assert_array_equal(values, from_fens[name])
