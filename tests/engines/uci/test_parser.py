"""`position` and `go`: any words give a legal position and a readable wish."""

from __future__ import annotations

import random

import chess
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kibitz.engines.uci.parser import FLAGS, NUMBERS, PositionCommand, legal, read_go
from support.causes import mentions
from support.examples import share

START = chess.Board()


def at(line: str) -> tuple[PositionCommand, str | None]:
    position = PositionCommand()
    return position, position.set(line.split())


def test_a_game_and_its_repetitions() -> None:
    position, problem = at("startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8")
    assert problem is None
    assert position.board.is_repetition(3)
    assert len(position.board.move_stack) == 8


@pytest.mark.parametrize("castling", ["e1g1", "E1G1", "e1h1"])
def test_castling(castling: str) -> None:
    position, problem = at(f"fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves {castling}")
    assert problem is None
    assert position.board.king(chess.WHITE) == chess.G1


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/4P3/4K3 w",  # what is missing is as usual
        "4k3/8/8/8/8/8/4P3/4K3 w KQkq - 0 1",  # rights without a rook
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e6 0 1",  # no pawn moved two
        "4k3/8/8/8/8/8/4P3/4K3 w - - 300 999",
        "k7/P7/K7/8/8/8/8/8 b - - 0 1",  # stalemate
    ],
)
def test_fens_that_are_taken(fen: str) -> None:
    position, problem = at(f"fen {fen}")
    assert problem is None
    assert position.board.board_fen() == fen.split()[0]
    assert position.board.is_valid()


def test_a_pawn_that_moved_two_can_be_taken_in_passing() -> None:
    position, problem = at("fen 4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1 moves d4e3")
    assert problem is None
    assert position.board.board_fen() == "4k3/8/8/8/8/4p3/8/4K3"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "FEN"),
        ("moves e2e4", "FEN"),
        ("startpos now", "FEN"),
        ("fen", "cannot be read"),
        ("fen x", "cannot be read"),
        ("fen 8/8/8/8/8/8/8/8 w - - 0 1", "no king"),
        ("fen kk6/8/8/8/8/8/8/K7 w - - 0 1", "more than one king"),
        ("fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "not to move is in check"),
        ("fen P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "first or last rank"),
        ("fen 4k3/8/8/8/8/8/8/4K3 w - - x 1", "counts"),
        (f"fen 4k3/8/8/8/8/8/8/4K3 w - - 0 {'9' * 5000}", "counts"),
        ("fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1 e2e4", "six fields & moves"),
        ("fen 4k3/8/8/8/8/8/8/4K3 \x00 - - 0 1", "cannot be read"),
    ],
)
def test_impossible_positions_change_nothing(line: str, told: str) -> None:
    position = PositionCommand()
    position.set(["startpos", "moves", "e2e4"])
    before = position.board.fen()
    problem = position.set(line.split(" ") if line else [])
    assert problem is not None
    assert mentions(problem, told)
    assert problem.isprintable()
    assert position.board.fen() == before
    assert position.set(["startpos", "moves", "e2e4", "e7e5"]) is None  # and the game can go on
    assert position.board.peek() == chess.Move.from_uci("e7e5")


@pytest.mark.parametrize("line", ["", "moves e2e4"])
def test_the_first_position_needs_a_start_like_all_others(line: str) -> None:
    position, problem = at(line)
    assert mentions(problem or "", "startpos & fen")
    assert position.refused
    assert position.board == START


@pytest.mark.parametrize("wrong", ["e2e5", "0000", "P@e4", "e7e5", "abc", "\x00", "e7e8q", "e2e4q"])
def test_an_illegal_move_ends_the_moves(wrong: str) -> None:
    position, problem = at(f"startpos moves d2d4 d7d5 {wrong} e7e6")
    assert problem is not None
    assert problem.startswith("position: move 3 (")
    assert [move.uci() for move in position.board.move_stack] == ["d2d4", "d7d5"]
    assert position.set(["startpos", "moves", "d2d4", "d7d5", "c2c4", "e7e6"]) is None
    assert len(position.board.move_stack) == 4


@settings(max_examples=share(0.5))
@given(st.randoms(use_true_random=False))
def test_step_by_step_is_at_once(rng: random.Random) -> None:
    """A game sent move by move, with steps back and other games between, is the game sent whole."""
    position = PositionCommand()
    board, moves = chess.Board(), []
    for _ in range(30):
        if rng.random() < 0.2:
            back = rng.randrange(len(moves) + 1)
            del moves[back:]
        if rng.random() < 0.1:
            position.set(["fen", "4k3/8/8/8/8/8/4P3/4K3", "w", "-", "-", "0", "1", "moves", "e2e4"])
        board = chess.Board()
        for text in moves:
            board.push_uci(text)
        if choice := list(board.legal_moves):
            moves.append(rng.choice(choice).uci())
            board.push_uci(moves[-1])
        assert position.set(["startpos", "moves", *moves]) is None
        assert position.board.fen() == board.fen()
        assert position.board.move_stack == board.move_stack


def test_go() -> None:
    go = read_go(
        [
            "wtime",
            "1000",
            "btime",
            "-5",
            "winc",
            "10",
            "binc",
            "0",
            "movestogo",
            "3",
            "movetime",
            "7",
            "depth",
            "2",
            "nodes",
            "9",
            "mate",
            "1",
        ],
        START,
    )
    assert go.numbers == dict(zip(NUMBERS, (1000, -5, 10, 0, 3, 7, 2, 9, 1), strict=True))
    assert not go.infinite
    assert not go.moves
    assert not go.problems


def test_searchmoves_end_at_the_next_name() -> None:
    go = read_go(["searchmoves", "e2e4", "D2D4", "e2e4", "depth", "3", "infinite"], START)
    assert [move.uci() for move in go.moves] == ["e2e4", "d2d4"]
    assert go.numbers == {"depth": 3}
    assert go.infinite
    go = read_go(["searchmoves", "e2e5", "0000", "infinite", "e2e4"], START)
    assert not go.moves
    assert len(go.problems) == 3


@pytest.mark.parametrize(
    "words", ["wtime", "depth x", "nodes 1.5", "movetime 9" + "9" * 30, "and so on", "depth \x00", "wtime ٣"]
)
def test_what_cannot_be_read_is_told(words: str) -> None:
    go = read_go(words.split(), START)
    assert not go.numbers
    assert go.problems
    assert all(problem.startswith("go") and problem.isprintable() for problem in go.problems)


word = (
    st.sampled_from(
        [*NUMBERS, *FLAGS, "searchmoves", "startpos", "fen", "moves", "e2e4", "e7e5", "0000", "-", "w", "b"]
    )
    | st.sampled_from(["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", "4k3/8/8/8/8/8/8/4K3", "KQkq", "e3"])
    | st.integers().map(str)
    | st.text(min_size=1)
)


@given(st.lists(word), st.lists(word))
@example(["fen", "4k3/8/8/8/8/8/8/4K3", "w", "-", "-", "0", "1", "moves", "0000"], [])
def test_any_words_are_read(first: list[str], second: list[str]) -> None:
    position = PositionCommand()
    for words in (first, ["startpos", "moves", *second], ["fen", *second]):
        problem = position.set(words)
        assert problem is None or problem.isprintable()
        assert position.board.is_valid()
        go = read_go(words, position.board)
        assert all(position.board.is_legal(move) for move in go.moves)
        assert all(problem.isprintable() for problem in go.problems)


def test_legal() -> None:
    assert legal(START, "E2e4") == chess.Move.from_uci("e2e4")
    assert legal(START, "e2e5") is None
    promotion = chess.Board("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1")
    assert legal(promotion, "e7e8N") == chess.Move.from_uci("e7e8n")
    assert legal(promotion, "e7e8") is None


@pytest.mark.parametrize(
    "fen",
    [
        "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1",
        "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1",
        "4k3/8/8/8/8/8/8/1R2K3 w B - 0 1",
        "4k3/8/8/8/8/8/8/5KR1 w G - 0 1",
    ],
)
def test_chess960_is_refused(fen: str) -> None:
    position, problem = at(f"fen {fen}")
    assert problem
    assert mentions(problem, "Chess960 & position")
    assert position.board == chess.Board()


@pytest.mark.parametrize("castling", ["HAha", "KQkq", "-", "H"])
def test_usual_castling_by_other_letters_is_taken(castling: str) -> None:
    position, problem = at(f"fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w {castling} - 0 1")
    assert problem is None
    assert bool(position.board.castling_rights) == (castling != "-")
