"""The match's PGN: what is written is read again, cut games are dropped, and other matches refused."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import chess
import chess.pgn
import pytest

from kibitz.arena.chess.engine import MoveAnswer
from kibitz.arena.chess.game import GameResult
from kibitz.arena.chess.record import PGN, counted, text_of
from kibitz.arena.record import ScoredGame, append
from kibitz.arena.record import resume as resume_any
from kibitz.errors import UsageError

SETTINGS = {"A": 'one "quoted" \\ path', "Seed": "3"}
NAMES = {"A": "one", "B": "other"}


def resume(path: Path, settings: dict[str, str]) -> list[ScoredGame]:
    return resume_any(path, settings, PGN)


def game(**more: object) -> GameResult:
    board = chess.Board()
    answers = []
    for move in ("f3", "e5", "g4", "Qh4#"):
        board.push_san(move)
        answers.append(MoveAnswer(chess.Move.null(), 0.01, 12, 3, 40))
    values = {"result": "0-1", "ending": "checkmate", "termination": "normal", **more}
    return GameResult(board, 2, tuple(answers[2:]), **values)  # type: ignore[arg-type]


FORFEIT = {
    "result": "1-0", "ending": "illegal", "termination": "rules infraction",
    "at_fault": chess.BLACK, "reason": 'answered "{e2e5}"',
}  # fmt: skip


def test_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "m.pgn"
    games = [(0, game()), (1, game()), (2, game(**FORFEIT)), (3, game(**FORFEIT))]
    for number, played in games:
        append(path, text_of(number, played, NAMES, 5, SETTINGS))
    read = resume(path, SETTINGS)
    assert [(r.number, r.points, r.ending, r.forfeit) for r in read] == [
        (0, 0, "checkmate", ""), (1, 2, "checkmate", ""), (2, 2, "illegal", "B"), (3, 0, "illegal", "A"),
    ]  # fmt: skip
    assert [r.points for r in read] == [counted(number, played).points for number, played in games]
    with path.open() as file:
        parsed = [chess.pgn.read_game(file) for _ in games]
    for number, one in enumerate(parsed):
        assert one is not None
        assert not one.errors
        assert [node.san() for node in one.mainline()] == ["f3", "e5", "g4", "Qh4#"]
        assert one.headers["White"] == ("one" if number % 2 == 0 else "other")
    assert parsed[2] is not None
    assert parsed[2].headers["Termination"] == "rules infraction"
    assert "Black forfeits: answered '(e2e5)'" in parsed[2].end().comment


def test_the_comment_of_a_move_says_what_the_engine_reported() -> None:
    null = chess.Move.null()
    answers = (MoveAnswer(null, 0.01, 12, 3, 40), MoveAnswer(null, 0.5, -250, None, None))
    text = text_of(0, replace(game(), answers=answers), NAMES, 5, SETTINGS)
    assert "{ +0.12/3 0.010s 40n }" in text
    assert "{ -2.50 0.500s; checkmate }" in text
    text = text_of(0, replace(game(), answers=(MoveAnswer(null, 0.01, None, 3, 40), answers[1])), NAMES, 5, SETTINGS)
    assert "{ 0.010s 40n }" in text


def test_a_game_cut_anywhere_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "m.pgn"
    first = text_of(0, game(), NAMES, 5, SETTINGS)
    second = text_of(1, game(), NAMES, 5, SETTINGS)
    for length in range(len(second)):
        path.write_text(first + second[:length])
        assert [found.number for found in resume(path, SETTINGS)] == [0], length
        assert path.read_text() == first
    for length in range(len(first)):
        path.write_text(first[:length])
        assert resume(path, SETTINGS) == []
        assert path.read_text() == ""


def test_a_record_with_other_line_ends_keeps_its_whole_games(tmp_path: Path) -> None:
    path = tmp_path / "m.pgn"
    texts = [text_of(number, game(), NAMES, 5, SETTINGS) for number in range(3)]
    path.write_bytes((texts[0] + texts[1] + texts[2][:60]).replace("\n", "\r\n").encode())
    for _ in range(2):
        assert [found.number for found in resume(path, SETTINGS)] == [0, 1]
    append(path, texts[2])
    assert len(resume(path, SETTINGS)) == 3


def test_no_file_is_no_games(tmp_path: Path) -> None:
    assert resume(tmp_path / "none.pgn", SETTINGS) == []


def test_other_settings_are_refused_and_named(tmp_path: Path) -> None:
    path = tmp_path / "m.pgn"
    append(path, text_of(0, game(), NAMES, 5, SETTINGS))
    before = path.read_text()
    with pytest.raises(UsageError, match=r"Seed: 3, now 4.*--pgn"):
        resume(path, {**SETTINGS, "Seed": "4"})
    assert path.read_text() == before


@pytest.mark.parametrize(
    "content", [b"notes of mine\n", b"\xff\xfe", b'[Event "Club"]\n[Result "1-0"]\n\n1. e4 1-0\n\n']
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.pgn"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="Choose another"):
        resume(path, SETTINGS)
    assert path.read_bytes() == content


def test_lines_are_short(tmp_path: Path) -> None:
    text = text_of(0, game(), NAMES, 5, SETTINGS)
    assert max(map(len, text.splitlines())) <= 100
    assert chess.pgn.read_game(io.StringIO(text)) is not None
