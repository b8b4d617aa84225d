"""Tablebases at the root, with real tables of five small endings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import chess
import pytest

from kibitz.errors import UsageError
from kibitz.play.chess.tablebase import WON, Outcome, Tablebases

SYZYGY = Path(__file__).parents[2] / "syzygy"


@pytest.fixture(scope="module")
def tables() -> Tablebases:
    return Tablebases(str(SYZYGY))


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/8/4k3/8/8/8/KQ6 w - - 0 1",
        "8/8/8/4k3/8/8/8/KR6 w - - 0 1",
        "4k3/8/4K3/4P3/8/8/8/8 w - - 0 1",
        "7k/8/8/8/8/8/8/KR6 w - - 60 80",
    ],
)
def test_a_won_ending_is_won_in_time(tables: Tablebases, fen: str) -> None:
    """Both sides play the first of the best moves: the side with more mates before fifty moves have passed."""
    board = chess.Board(fen)
    while known := tables.best(board):
        assert known.outcome.sign == (1 if board.turn else -1)
        board.push(known.moves[0])
        assert board.halfmove_clock < 100 or board.is_checkmate()
    assert board.is_checkmate()


def test_only_moves_that_keep_the_result_are_left(tables: Tablebases) -> None:
    """Of a pawn ending, against the result of each move by itself: the king must keep the opposition."""
    board = chess.Board("4k3/8/8/3PK3/8/8/8/8 w - - 0 1")
    for _ in range(12):
        known = tables.best(board)
        if known is None:
            break
        for move in board.legal_moves:
            board.push(move)
            value = -tables._tables.probe_wdl(board)
            board.pop()
            assert value <= 2 * known.outcome.sign
            assert (move not in known.moves) or value == 2 * known.outcome.sign
        board.push(known.moves[-1])


def test_a_win_that_comes_too_late_is_a_draw(tables: Tablebases) -> None:
    board = chess.Board("8/8/8/4k3/8/8/8/KR6 w - - 0 1")
    early = tables.best(board)
    assert early
    assert early.outcome is Outcome.WIN
    board.halfmove_clock = 100 - early.plies + 1
    late = tables.best(board)
    assert late
    assert (late.outcome, late.moves) == (Outcome.LATE_WIN, early.moves)
    assert late.line(late.moves[0]).wdl == (0, 1000, 0)
    board.turn = chess.BLACK
    assert tables.best(board).outcome in (Outcome.LATE_LOSS, Outcome.DRAW)  # type: ignore[union-attr]


def test_a_mate_comes_first_and_a_stalemate_last(tables: Tablebases) -> None:
    known = tables.best(chess.Board("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1"))
    assert known
    assert {move.uci() for move in known.moves} == {"f1f8"}
    assert (known.outcome, known.plies) == (Outcome.MATE, 1)
    line = known.line(known.moves[0])
    assert (line.mate, line.score, line.wdl) == (1, WON - 1, (1000, 0, 0))
    lost = chess.Board("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1")
    only = tables.best(lost, [chess.Move.from_uci("f1f7")])
    assert only
    assert (only.outcome, only.plies) == (Outcome.DRAW, 0)  # stalemate
    drawn = only.line(only.moves[0])
    assert (drawn.mate, drawn.score, drawn.wdl) == (None, 0, (0, 1000, 0))


def test_what_is_not_known(tables: Tablebases) -> None:
    for fen in (chess.STARTING_FEN, "4k3/8/8/8/8/8/8/KQR5 w - - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"):
        assert tables.best(chess.Board(fen)) is None


def test_a_folder_that_is_of_no_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere: no such file"):
        Tablebases(str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match=r"has no tables"):
        Tablebases(str(tmp_path))
    both = Tablebases(os.pathsep.join([str(tmp_path), str(SYZYGY)]))
    assert len(both.problems) == 1
    assert both.best(chess.Board("8/8/8/4k3/8/8/8/KQ6 w - - 0 1"))


def test_a_damaged_table_is_left_out(tmp_path: Path) -> None:
    shutil.copytree(SYZYGY, tmp_path / "tables")
    rook = tmp_path / "tables" / "KRvK.rtbz"
    rook.write_bytes(rook.read_bytes()[:5000])
    (tmp_path / "tables" / "KPvK.rtbw").write_bytes(b"")
    tables = Tablebases(str(tmp_path / "tables"))
    assert "KPvK.rtbw and 1 more: damaged" in tables.problems[0]
    (tmp_path / "tables" / "KPvK.rtbw").unlink()
    (problem,) = Tablebases(str(tmp_path / "tables")).problems
    assert "KRvK.rtbz: damaged" in problem
    assert tables.best(chess.Board("8/8/8/4k3/8/8/8/KQ6 w - - 0 1"))
    assert tables.best(chess.Board("8/8/8/4k3/8/8/8/KR6 w - - 0 1")) is None
