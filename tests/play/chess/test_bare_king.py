"""A bare king is mated: by the search of its own, and by the players that use it."""

from __future__ import annotations

import threading

import chess
import chess.engine
import numpy as np
import pytest

from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import encode_board
from kibitz.play.chess.bare_king import MAX_NODES, best_move, narrowed
from kibitz.play.chess.player import ChessPlayer
from kibitz.play.puct.player import PuctPlayer
from kibitz.play.result import SearchLimits, SearchResult
from support.chess_fakes import Fake
from support.helpers import program
from support.patience import PATIENCE

ROOK = "8/8/8/3k4/8/8/8/R3K3 w - - 0 1"
ENDINGS = {
    "queen": ("4k3/8/8/8/8/8/8/4K2Q w - - 0 1", 12),
    "rook": (ROOK, 16),
    "bishops": ("8/8/8/3k4/8/8/8/2B1KB2 w - - 0 1", 30),
    "bishop and knight": ("8/8/8/3k4/8/8/8/2B1K1N1 w - - 0 1", 50),
    "the other bishop, Black's": ("2b1k1n1/8/8/8/3K4/8/8/8 b - - 0 1", 50),
}


def driven(board: chess.Board, limits: SearchLimits | None = None) -> chess.Move | None:
    moves = narrowed(board, limits or SearchLimits()).moves
    assert len(moves) < 2
    return moves[0] if moves else None


@pytest.mark.parametrize("name", ENDINGS)
def test_stockfish_is_mated(name: str) -> None:
    """Well before fifty moves, the game's own repetitions and all."""
    fen, most = ENDINGS[name]
    board = chess.Board(fen)
    mover = board.turn
    with chess.engine.SimpleEngine.popen_uci(program("stockfish")) as engine:
        while not board.is_game_over(claim_draw=True):
            if board.turn == mover:
                move = driven(board)
                assert move in board.legal_moves
                board.push(move)
            else:
                move = engine.play(board, chess.engine.Limit(nodes=2000)).move
                assert move
                board.push(move)
    assert board.is_checkmate()
    assert board.turn != mover
    assert len(board.move_stack) <= 2 * most


@pytest.mark.parametrize(
    "fen",
    [
        chess.STARTING_FEN,
        "8/8/8/3k4/8/8/4P3/4K3 w - - 0 1",  # a pawn mates nobody
        "8/8/8/3k4/8/8/8/2B1K3 w - - 0 1",
        "8/8/8/3k4/8/8/8/4KB1B w - - 0 1",  # both on squares of one colour
        "8/8/8/3k4/8/8/8/1N2K1N1 w - - 0 1",
        "8/8/3p4/3k4/8/8/8/R3K3 w - - 0 1",
        "8/8/8/3k4/8/8/8/R3K3 b - - 0 1",  # the bare king itself
        "7k/5K2/6Q1/8/8/8/8/8 b - - 0 1",
    ],
)
def test_where_nothing_is_driven(fen: str) -> None:
    limits = SearchLimits(nodes=7)
    assert narrowed(chess.Board(fen), limits) is limits


def test_what_is_asked_about_certain_moves_stays() -> None:
    board = chess.Board(ROOK)
    limits = SearchLimits(moves=(chess.Move.from_uci("e1e2"),))
    assert narrowed(board, limits) is limits


def test_a_mate_and_a_stalemate() -> None:
    assert driven(chess.Board("7k/8/6K1/8/8/8/8/R7 w - - 0 1")) == chess.Move.from_uci("a1a8")
    board = chess.Board("k7/8/1K6/8/8/8/8/2Q5 w - - 0 1")
    for limits in (SearchLimits(), SearchLimits(seconds=0.02)):
        move = driven(board, limits)
        assert move
        board.push(move)
        assert board.is_checkmate()
        board.pop()


def test_no_time_is_no_reason_to_say_nothing() -> None:
    limits = SearchLimits(seconds=0.0)
    assert narrowed(chess.Board(ROOK), limits) is limits
    assert best_move(encode_board(chess.Board(ROOK))[None], 1) is None
    assert best_move(encode_board(chess.Board(ROOK))[None], MAX_NODES)


def test_positions_of_the_game_are_not_gone_back_to() -> None:
    board = chess.Board("8/8/8/3k4/8/8/8/R3K3 w - - 10 1")
    rows = [encode_board(board)]
    first = best_move(np.stack(rows))
    assert first
    for _ in range(3):  # whatever it chooses is drawn by what has been
        after = board.copy()
        after.push(to_move(best_move(np.stack(rows)) or 0))
        rows.append(encode_board(after))
    chosen = [to_move(best_move(np.stack(rows[: n + 1])) or 0) for n in range(4)]
    assert len(set(chosen)) == 4


def test_a_position_that_has_occurred_before_is_no_end() -> None:
    board = chess.Board("8/8/8/3k4/8/8/8/R3K3 w - - 10 1")
    for uci in ("a1a2", "d5d6", "a2a1", "d6d5"):
        board.push_uci(uci)
    assert driven(board) in board.legal_moves


@pytest.mark.parametrize("method", ["puct", "topprob-negamax", "value-negamax"])
def test_players(method: str) -> None:
    """All searches but the thesis' play it, whatever the network says; PUCT proves a mate in one besides."""
    board, limits = chess.Board(ROOK), SearchLimits(nodes=60)
    make = PuctPlayer if method == "puct" else ChessPlayer
    player = make(Fake(), method=method)
    found = player.think(board, limits)
    assert found
    assert found.lines[0].move == driven(board)
    several = make(Fake(), method=method, lines=3).think(board, limits)
    assert several
    assert len(several.lines) == 3
    if method == "puct":
        assert several.lines[0].move == driven(board)
        assert several.nodes <= 60
        for each in (limits, SearchLimits(seconds=5)):
            mate = player.think(chess.Board("7k/8/6K1/8/8/8/8/R7 w - - 0 1"), each)
            assert mate
            assert mate.lines[0].mate == 1


def test_several_lines_are_shown_before_a_stop() -> None:
    board, stop, shown = chess.Board(ROOK), threading.Event(), []

    def tell(result: SearchResult) -> None:
        shown.append(result)
        stop.set()

    timer = threading.Timer(PATIENCE, stop.set)
    timer.start()
    PuctPlayer(Fake(), lines=3).think(board, SearchLimits(), stop, tell)
    in_time = timer.is_alive()
    timer.cancel()
    assert in_time
    assert [len(result.lines) for result in shown] == [3]
    assert shown[0].lines[0].move == driven(board)
