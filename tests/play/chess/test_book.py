"""Opening books, written here and read as files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import chess
import pytest

from kibitz.errors import UsageError
from kibitz.play.chess.book import OpeningBook
from support.causes import naming
from support.polyglot import write_book

MOVES = {"": {"e2e4": 30, "d2d4": 10, "g1f3": 0}, "e2e4": {"e7e5": 1}, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5": {"e1h1": 2}}


def test_moves_are_drawn_by_weight(tmp_path: Path) -> None:
    book = OpeningBook(str(write_book(tmp_path / "book.bin", MOVES)), seed=1)
    drawn = Counter(book.draw(chess.Board()) for _ in range(400))
    e4, d4 = (chess.Move.from_uci(text) for text in ("e2e4", "d2d4"))
    assert set(drawn) == {(e4, 30, 40), (d4, 10, 40)}
    assert 250 < drawn[e4, 30, 40] < 350
    assert book.draw(chess.Board(), (d4,)) == (d4, 10, 10)


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    path = str(write_book(tmp_path / "book.bin", MOVES))
    draws = [[book.draw(chess.Board()) for _ in range(40)] for book in (OpeningBook(path, 5), OpeningBook(path, 5))]
    assert draws[0] == draws[1]
    assert len(set(draws[0])) == 2


def test_castling_and_the_end_of_the_book(tmp_path: Path) -> None:
    """Polyglot castles by taking the own rook."""
    book = OpeningBook(str(write_book(tmp_path / "book.bin", MOVES)))
    board = chess.Board()
    for move in ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5"]:
        board.push_uci(move)
    assert book.draw(board) == (chess.Move.from_uci("e1g1"), 2, 2)
    board.push_uci("e1g1")
    assert book.draw(board) is None


def test_what_is_no_book(tmp_path: Path) -> None:
    path = write_book(tmp_path / "book.bin", MOVES)
    data = path.read_bytes()
    for damaged, told in (
        (b"", "0 bytes"),
        (data[:-5], "bytes"),
        (data[16:] + data[:16], "not in order"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(UsageError, match=naming(f"book.bin & Polyglot & {told} & book")):
            OpeningBook(str(path))
    with pytest.raises(UsageError, match=r"nowhere.bin: no such file"):
        OpeningBook(str(tmp_path / "nowhere.bin"))
    with pytest.raises(UsageError):
        OpeningBook(str(tmp_path))
