"""Quiet positions, beside a slow search of the same rules on python-chess."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import decode_board, encode_board
from kibitz.play.chess.quiescence import MATE_SCORE, SURE, MoveQuiescence, QuiescenceResult, quiescence_search
from support.examples import share

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}


def quiet(fen: str, depth: int = 0) -> QuiescenceResult:
    return quiescence_search(encode_board(chess.Board(fen))[None], depth)


def line(found: QuiescenceResult, at: int = 0) -> list[str]:
    return [to_move(int(move)).uci() for move in found.lines[at, -1] if move]


def balance(board: chess.Board) -> int:
    """Material in hundredths of a pawn, the mover's less the other side's."""
    sign = {board.turn: 100, not board.turn: -100}
    return sum(sign[piece.color] * VALUES[piece.piece_type] for piece in board.piece_map().values())


def minimax(board: chess.Board, depth: int) -> int | None:
    """The best balance over all lines of `depth` plies that end in positions where nothing can be captured, promoted
    or answered; None where one of them is not so quiet, or the game ends."""
    if board.is_game_over() or board.halfmove_clock > 90:
        return None
    if depth == 0:
        loud = board.is_check() or any(board.is_capture(move) or move.promotion for move in board.legal_moves)
        return None if loud else balance(board)
    best = -MATE_SCORE
    for move in list(board.legal_moves):
        board.push(move)
        value = minimax(board, depth - 1)
        board.pop()
        if value is None:
            return None
        best = max(best, -value)
    return best


@pytest.mark.parametrize(
    ("fen", "depth", "score", "moves"),
    [
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", 0, 100, ["e4d5"]),  # a pawn hangs
        ("4k3/8/2p5/3p4/4P3/8/8/4K3 w - - 0 1", 0, -100, []),  # guarded: a trade changes nothing
        ("4k3/2p5/3p4/8/8/3Q4/8/4K3 w - - 0 1", 0, 700, []),  # the queen does not take a guarded pawn
        ("8/1P4k1/8/8/8/8/6K1/8 w - - 0 60", 0, 900, ["b7b8q"]),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", 0, 100, ["e5d6"]),  # in passing
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 1, MATE_SCORE - 1, ["d1d8"]),
        ("7k/8/8/8/8/8/R7/1R5K w - - 0 1", 3, MATE_SCORE - 3, None),  # two rooks mate in two
    ],
)
def test_known_positions(fen: str, depth: int, score: int, moves: list[str] | None) -> None:
    found = quiet(fen, depth)
    assert found.reached.tolist() == [depth]
    assert found.scores[0, depth] == score
    if moves is not None:
        assert line(found) == moves


def test_mate_and_stalemate_are_seen_at_once() -> None:
    assert quiet("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1").scores[0, 0] == -MATE_SCORE
    assert quiet("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1").scores[0, 0] == 0
    # In check every answer counts, also where captures alone are followed.
    assert quiet("6k1/5ppp/8/8/8/8/5PPP/r5K1 w - - 0 1").scores[0, 0] <= -SURE


def test_the_quiet_position_stands_behind_the_exchange() -> None:
    found = quiet("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", 2)
    board = decode_board(found.rows[0, 2, :64], found.rows[0, 2, 64:])
    assert board.board_fen() == "4k3/8/8/3P4/8/8/8/4K3"
    assert board.turn == chess.BLACK
    calm = encode_board(chess.Board())
    np.testing.assert_array_equal(quiescence_search(calm[None], 3).rows[0, 3], calm)


def test_what_is_not_finished_does_not_count() -> None:
    board = chess.Board("r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4")
    found = quiescence_search(encode_board(board)[None], 5, max_nodes=300)
    assert 0 <= found.reached[0] < 5
    whole = quiescence_search(encode_board(board)[None], 5)
    depths = slice(0, found.reached[0] + 1)
    assert found.scores[0, depths].tolist() == whole.scores[0, depths].tolist()


@pytest.mark.parametrize(
    ("fen", "depth", "nodes"),
    [
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", 0, 1),  # nothing to take
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", 0, 2),
        ("4k3/8/2p5/3p4/4P3/8/8/4K3 w - - 0 1", 0, 3),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 2, 3),  # one for each depth
    ],
)
def test_visited_positions_are_counted(fen: str, depth: int, nodes: int) -> None:
    assert quiet(fen, depth).nodes.tolist() == [nodes]


def test_none_and_many() -> None:
    assert quiescence_search(np.zeros((0, 68), np.uint8), 2).scores.shape == (0, 3)
    rows = np.repeat(encode_board(chess.Board("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1"))[None], 70, 0)
    for threads in (1, 2):
        assert (quiescence_search(rows, 1, threads=threads).scores == 100).all()


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_few_pieces_beside_python_chess(seed: int, depth: int) -> None:
    """Positions of kings and pawns where no line of that length holds a capture: all agree with plain minimax."""
    rng = np.random.default_rng(seed)
    board = chess.Board.empty()
    squares = [int(square) for square in rng.permutation(64)]
    board.set_piece_at(squares[0], chess.Piece(chess.KING, chess.WHITE))
    board.set_piece_at(squares[1], chess.Piece(chess.KING, chess.BLACK))
    for square in squares[2:6]:
        if 8 <= square < 48:
            board.set_piece_at(square, chess.Piece(chess.PAWN, bool(rng.integers(2))))
    board.turn = bool(rng.integers(2))
    if not board.is_valid():
        return
    wanted = minimax(board, depth)
    found = quiescence_search(encode_board(board)[None], depth)
    if wanted is not None:
        assert found.scores[0, depth] == wanted
    # The line is one of legal moves, whatever was searched.
    for move in line(found):
        board.push_uci(move)


@settings(max_examples=share(0.5))
@given(st.lists(st.integers(0, 1 << 30), max_size=60), st.integers(0, 1))
def test_colours_do_not_matter(choices: list[int], depth: int) -> None:
    """Without transpositions: from depth 2 on the order of moves decides what the table knows."""
    board = chess.Board()
    for choice in choices:
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(moves[choice % len(moves)])
    if board.halfmove_clock > 80:
        return
    one, other = (quiescence_search(encode_board(each)[None], depth) for each in (board, board.mirror()))
    assert one.scores.tolist() == other.scores.tolist()
    assert np.abs(one.scores).max() <= MATE_SCORE


def test_every_move_is_followed_as_its_position_is_by_itself() -> None:
    same = total = 0
    for seed in range(15):
        draw, board, boards = np.random.default_rng(seed), chess.Board(), []
        while not board.is_game_over() and board.ply() < 60:
            board.push(list(board.legal_moves)[draw.integers(board.legal_moves.count())])
            boards.append(board.copy(stack=False))
        boards = [one for one in boards if any(one.legal_moves)][::7]
        rows = np.stack([encode_board(one) for one in boards])
        moves, offsets = legal_moves(rows[:, :64].copy(), rows[:, 64:].copy())
        found = MoveQuiescence().scores(rows, moves, offsets)
        assert found.material.tolist() == [balance(one) for one in boards]
        for i, one in enumerate(boards):
            part, after, best = slice(offsets[i], offsets[i + 1]), [], -MATE_SCORE
            for move, check in zip(moves[part].tolist(), found.checks[part].tolist(), strict=True):
                one.push(to_move(move))
                after.append(encode_board(one))
                assert one.is_check() == check
                one.pop()
            alone = -quiescence_search(np.stack(after)).scores[:, 0]
            for score, by_itself in zip(found.scores[part].tolist(), alone.tolist(), strict=True):
                same += score == max(by_itself, best - 500)
                best = max(best, score)
            total += len(after)
    # A line that comes back to the position before the move is a draw there, which the one after it cannot know.
    assert same >= 0.995 * total
