"""rust_chess plays by the rules of python-chess: counted by perft, and move by move on random games."""

from __future__ import annotations

import random

import chess
import pytest
import rust_chess

from kibitz.play.chess import position as positions

ALONE = rust_chess.RepetitionDetectionMode.NONE

# The positions and counts that every move generator is tested with (chessprogramming.org, "Perft Results").
PERFT = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", (20, 400, 8902, 197281, 4865609)),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", (48, 2039, 97862, 4085603)),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", (14, 191, 2812, 43238, 674624)),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", (6, 264, 9467, 422333)),
    ("r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1", (6, 264, 9467, 422333)),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", (44, 1486, 62379, 2103487)),
    ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", (46, 2079, 89890, 3894594)),
]


def perft(board: rust_chess.Board, depth: int) -> int:
    board.reset_move_generator()
    if depth == 1:
        return len(board.generate_legal_moves())
    return sum(perft(board.make_move_new(move, False), depth - 1) for move in board.generate_legal_moves())


@pytest.mark.parametrize(("fen", "counts"), PERFT)
def test_perft(fen: str, counts: tuple[int, ...]) -> None:
    board = rust_chess.Board(fen, ALONE)
    assert tuple(perft(board, depth) for depth in range(1, len(counts) + 1)) == counts


def some_games(games: int, plies: int, seed: int) -> list[chess.Board]:
    """Boards of random games from the perft positions, which have castling, promotions and en passant in them; captures
    and pawn moves are taken more often, or games would hardly leave the opening."""
    draw = random.Random(seed)
    boards = []
    for game in range(games):
        board = chess.Board(PERFT[game % len(PERFT)][0])
        for _ in range(plies):
            moves = list(board.legal_moves)
            if not moves:
                break
            boards.append(board.copy())
            board.push(
                draw.choice([m for m in moves if board.is_zeroing(m)] or moves if draw.random() < 0.3 else moves)
            )
        boards.append(board.copy())
    return boards


def test_moves_and_ends_are_python_chess_s() -> None:
    ends = set()
    for board in some_games(70, 80, seed=1):
        position, _ = positions.root(board)
        assert sorted(position.legal()) == sorted(positions.packed(tuple(board.legal_moves)))
        rust = position.board
        assert rust.is_check() == board.is_check()
        assert rust.is_checkmate() == board.is_checkmate()
        assert rust.is_stalemate() == board.is_stalemate()
        ends |= {"mate"} if board.is_checkmate() else set()
        assert position.has_insufficient_material() == board.is_insufficient_material()
    assert ends  # or nothing was tested there


def test_a_game_made_move_by_move_stays_the_same_position() -> None:
    draw = random.Random(2)
    for game in range(20):
        board = chess.Board(PERFT[game % len(PERFT)][0])
        position, _ = positions.root(board)
        for _ in range(60):
            moves = position.legal()
            if not moves:
                break
            move = draw.choice(moves)
            board.push(chess.Move(move & 63, move >> 6 & 63, move >> 12 or None))
            (position,) = positions.children([position], positions.np.array([move], "u2"))
            fresh, _ = positions.root(board)
            assert position.key == fresh.key
            assert position.row.tolist() == fresh.row.tolist()
            assert position.board.get_fen().split()[0] == board.board_fen()


def test_a_key_tells_what_the_rules_tell_apart() -> None:
    def key(fen: str) -> int:
        return positions.root(chess.Board(fen))[0].key

    assert key("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1") != key("4k3/8/8/8/8/8/8/R3K2R w K - 0 1")
    assert key("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1") != key("4k3/8/8/8/8/8/8/R3K2R b KQ - 0 1")
    assert key("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1") == key("4k3/8/8/8/8/8/8/R3K2R w KQ - 45 99")
    # En passant counts where a pawn stands ready for it, and not where none does.
    assert key("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2") != key("4k3/8/8/3pP3/8/8/8/4K3 w - - 0 2")
    assert key("4k3/8/8/3p4/8/8/8/4K3 w - d6 0 2") == key("4k3/8/8/3p4/8/8/8/4K3 w - - 0 2")


def test_keys_are_equal_exactly_where_python_chess_s_are() -> None:
    """Of positions made move by move, too, where rust_chess itself keeps en passant apart that a pin forbids."""
    keys: dict[int, object] = {}
    for board in some_games(40, 80, seed=3):
        theirs = board._transposition_key()
        assert keys.setdefault(positions.root(board)[0].key, theirs) == theirs
    assert len(set(keys.values())) == len(keys) > 1000


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/8/8/8/b7/8/KB5k w - - 0 1",  # bishops on squares of both colours
        "8/8/8/8/8/8/B7/KB5k w - - 0 1",  # of one colour: rust_chess itself does not see it
        "8/8/8/8/8/1n6/8/KN5k w - - 0 1",
        "8/8/8/8/8/8/8/KN5k w - - 0 1",
        "8/8/8/8/8/8/8/K6k w - - 0 1",
        "8/8/8/8/8/8/P7/K6k w - - 0 1",
        "B1B1B1B1/8/8/8/8/8/7k/KB6 w - - 0 1",
    ],
)
def test_dead_positions(fen: str) -> None:
    board = chess.Board(fen)
    assert positions.root(board)[0].has_insufficient_material() == board.is_insufficient_material()


def test_big_counters_and_idle_rights_do_not_matter() -> None:
    for fen in (
        "4k3/8/8/8/8/8/8/R3K2R w KQkq - 250 900",  # rights of a side without rooks
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e6 300 400",
        "4k3/8/8/8/8/8/8/1RK4R w K - 0 1",
    ):
        board = chess.Board(fen)
        position, _ = positions.root(board)
        assert sorted(position.legal()) == sorted(positions.packed(tuple(board.legal_moves)))
