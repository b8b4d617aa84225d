"""The book of a person: counts, blending, and the answers that faces get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import chess
import numpy as np
import pytest

from kibitz.errors import KibitzError
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import encode_board
from kibitz.personal.book import Book, blend
from kibitz.personal.chess.answers import blended_answers, position_keys
from kibitz.personal.chess.positions import ChessPlayerPositions
from kibitz.personal.games import sides_of
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import Session
from kibitz.runs import Run, with_default_side_inputs
from kibitz.store.store import Store
from support import person
from support.causes import naming


def test_counts_are_those_of_a_dictionary(my_games: Path, make_store: Callable[..., Store], tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", my_games)
    asked = ChessPlayerPositions(store, np.arange(len(store)), sides_of(store, person.SPELLINGS))
    book = Book.count(asked.keys, asked.packed)
    rows = [asked.codes[i].tobytes() + asked.state[i, :3].tobytes() for i in range(len(asked))]
    slow = Counter(zip(rows, (asked.packed & 0xFFF).tolist(), strict=True))
    counts = asked.counts(book)
    position = np.repeat(np.arange(len(asked)), np.diff(asked.offsets))
    assert [slow[rows[i], int(move) & 0xFFF] for i, move in zip(position, asked.moves, strict=True)] == counts.tolist()
    assert book.positions == len(set(rows))
    book.save(tmp_path / "b.npy")
    again = Book.open(tmp_path / "b.npy")
    assert isinstance(again.rows, np.memmap)
    assert (again.rows == book.rows).all()


def test_keys_tell_what_matters_and_nothing_else() -> None:
    board = chess.Board()
    rows = [encode_board(board)]
    for change in ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1",
                   "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1",
                   "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 7 9"):  # fmt: skip
        rows.append(encode_board(chess.Board(change)))
    table = np.stack(rows)
    keys = position_keys(table[:, :64], table[:, 64:])
    assert len(set(keys[:3].tolist())) == 3
    assert keys[3] == keys[0], "plies since a capture are no part of it"


def test_blending() -> None:
    offsets = np.array([0, 2, 4])
    mixed = blend(np.array([0.9, 0.1, 0.5, 0.5]), np.array([0.0, 3.0, 0.0, 0.0]), offsets, 1.0)
    assert mixed.tolist() == [0.225, 0.775, 0.5, 0.5]
    assert len(blend(np.zeros(0), np.zeros(0), np.zeros(1, np.int64), 1.0)) == 0


def test_answers_of_the_session_are_the_blended_shares(personal_run: Path) -> None:
    """Through origin and target, as faces read them, the book says what `blend` says, also beside promotions."""
    run = Run(personal_run)
    raw = Session(run, corrected=False)
    boards = [chess.Board(), chess.Board("7k/P7/8/8/8/8/8/K7 w - - 0 1"), chess.Board("8/8/8/8/8/8/1k6/K7 b - - 0 1")]
    rows = np.stack([encode_board(board) for board in boards])
    codes, state = rows[:, :64], with_default_side_inputs(rows[:, 64:], raw.side_inputs)
    moves, offsets = legal_moves(codes, state)
    known = np.array([0, 0, 0, 1, 1])
    played = np.array([from_move(chess.Move.from_uci(move)) for move in ("b2b3", "b2b3", "e2e4", "a7a8q", "a1b1")])
    book = Book.count(position_keys(codes, state)[known], played.astype(np.uint16))
    answers = raw.evaluate(codes, state)
    shares = normalised(move_probabilities(answers, codes, moves, offsets), offsets).astype(np.float64)
    told = blended_answers(book, 2.0, codes, state, answers)
    found = normalised(move_probabilities(told, codes, moves, offsets), offsets)
    plain = slice(offsets[0], offsets[1])
    expected = blend(shares, book.counts(position_keys(codes, state), moves, offsets), offsets, 2.0)
    assert np.abs(found[plain] - expected[plain]).max() < 1e-5
    pawn = slice(offsets[1], offsets[2])
    promotes = moves[pawn] >> 12 > 0
    before, after = shares[pawn][promotes], found[pawn][promotes]
    assert after.sum() == pytest.approx((1 + 2 * before.sum()) / (2 + 2), abs=1e-4)
    assert after / after.sum() == pytest.approx(before / before.sum(), abs=1e-4), "the network says what it becomes"
    assert np.abs(found[offsets[2] :] - shares[offsets[2] :]).max() < 1e-6, "a position that the book does not have"
    assert (told["value"] == answers["value"]).all()


def test_every_face_plays_by_the_book(personal_run: Path) -> None:
    row = encode_board(chess.Board())[None]
    corrected, plain = (
        Session(personal_run, corrected=way).evaluate(row[:, :64], row[:, 64:]) for way in (True, False)
    )
    b2, b3 = chess.B2, chess.B3
    assert corrected["origin"][0, b2] * corrected["target"][0, b2, b3] > 0.8 > plain["origin"][0, b2]


def test_a_damaged_book(tmp_path: Path) -> None:
    (tmp_path / "b.npy").write_bytes(b"no book")
    with pytest.raises(KibitzError, match=naming("opening")):
        Book.open(tmp_path / "b.npy")
    np.save(tmp_path / "b.npy", np.zeros(3))
    with pytest.raises(KibitzError, match=naming("opening")):
        Book.open(tmp_path / "b.npy")


def test_a_promotion_counts_once(make_store: Callable[..., Store], tmp_path: Path) -> None:
    """A book has pairs of squares: of the four promotions the queen's has the count."""
    game = '[White "Ana"]\n[Black "Ben"]\n[SetUp "1"]\n[FEN "7k/P7/8/8/8/8/8/K7 w - - 0 1"]\n\n1. a8=Q+ Kh7 1-0\n\n'
    file = tmp_path / "games.pgn"
    file.write_text(game)
    store = make_store(tmp_path / "s", file)
    asked = ChessPlayerPositions(store, np.arange(len(store)), sides_of(store, ["Ana"]))
    counts = asked.counts(Book.count(asked.keys, asked.booked))
    assert counts.sum() == counts[asked.played[0]] == 1
