"""The match's SGF: what is written is read again, cut games are dropped, and other matches refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from sgfmill import sgf

from kibitz.arena.go.engine import MoveAnswer
from kibitz.arena.go.game import GameResult, GoRules
from kibitz.arena.go.record import SGF, counted, text_of
from kibitz.arena.record import ScoredGame, append
from kibitz.arena.record import resume as resume_any
from kibitz.errors import UsageError
from kibitz.games.go.points import BLACK, PASS, WHITE, from_gtp
from support.causes import mentions, naming

SETTINGS = {"A": 'one [quoted] \\ "path"', "Seed": "3"}
NAMES = {"A": "one]", "B": "other"}


def resume(path: Path, settings: dict[str, str]) -> list[ScoredGame]:
    return resume_any(path, settings, SGF)


def game(**more: object) -> GameResult:
    moves = [(1 + ply % 2, from_gtp(f"{column}5", 9)) for ply, column in enumerate("ABCDEFGHJ" * 3)]
    moves += [(WHITE, PASS), (BLACK, PASS)]
    answers = {BLACK: (MoveAnswer(0, 0.1),), WHITE: ()}
    values = {"result": "W+7.5", "ending": "both passed", "referee": "GNU Go", **more}
    return GameResult(GoRules(9), tuple(moves), 2, answers, **values)  # type: ignore[arg-type]


FORFEIT = {
    "result": "B+F", "ending": "illegal", "at_fault": WHITE, "referee": "",
    "reason": "answered an illegal\n\n(;EV[kibitz match] move\\",
}  # fmt: skip


def test_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "m.sgf"
    games = [(0, game()), (1, game()), (2, game(**FORFEIT)), (3, game(**FORFEIT)), (4, game(result="0"))]
    for number, played in games:
        append(path, text_of(number, played, NAMES, 5, SETTINGS))
    read = resume(path, SETTINGS)
    assert [(r.number, r.points, r.ending, r.forfeit, r.referee) for r in read] == [
        (0, 0, "both passed", "", "GNU Go"), (1, 2, "both passed", "", "GNU Go"), (2, 2, "illegal", "B", ""),
        (3, 0, "illegal", "A", ""), (4, 1, "both passed", "", "GNU Go"),
    ]  # fmt: skip
    assert [r.points for r in read] == [counted(number, played).points for number, played in games]
    assert mentions(read[2].reason, "EV & match")


def test_another_reader_reads_it() -> None:
    for number, more in ((0, {}), (1, FORFEIT)):
        played = game(**more)
        read = sgf.Sgf_game.from_string(text_of(number, played, NAMES, 5, SETTINGS))
        assert (read.get_size(), read.get_komi()) == (9, 7.5)
        assert read.get_player_name("b") == ("one]" if number == 0 else "other")
        assert read.get_winner() == ("w" if number == 0 else "b")
        nodes = [node for node in read.get_main_sequence() if node.has_property("B") or node.has_property("W")]
        assert len(nodes) == len(played.moves)
        assert nodes[0].get_move() == ("b", (4, 0))
        assert nodes[-1].get_move() == ("b", None)
        assert mentions(nodes[-1].get("C"), "White & forfeits" if more else "passed & GNU Go")


def test_a_game_cut_anywhere_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "m.sgf"
    first = text_of(0, game(**FORFEIT), NAMES, 5, SETTINGS)
    second = text_of(1, game(**FORFEIT), NAMES, 5, SETTINGS)
    for length in range(len(second)):
        path.write_text(first + second[:length])
        assert [found.number for found in resume(path, SETTINGS)] == [0], length
        assert path.read_text() == first
    for length in range(len(first)):
        path.write_text(first[:length])
        assert resume(path, SETTINGS) == []
        assert path.read_text() == ""


def test_a_game_cut_inside_a_letter_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "m.sgf"
    named = {**NAMES, "A": "Jürgen"}
    first, second = (text_of(number, game(), named, 5, SETTINGS).encode() for number in (0, 1))
    path.write_bytes(first + second[: second.index("ü".encode()) + 1])
    assert [found.number for found in resume(path, SETTINGS)] == [0]
    assert path.read_bytes() == first
    path.write_bytes(first + b"\xff" + second)
    with pytest.raises(UsageError, match=naming("m.sgf & match")):
        resume(path, SETTINGS)


def test_other_settings_are_refused_and_named(tmp_path: Path) -> None:
    path = tmp_path / "m.sgf"
    append(path, text_of(0, game(), NAMES, 5, SETTINGS))
    before = path.read_text()
    with pytest.raises(UsageError, match=r"Seed: 3, now 4.*--sgf"):
        resume(path, {**SETTINGS, "Seed": "4"})
    assert path.read_text() == before


@pytest.mark.parametrize(
    "content", [b"notes of mine\n", b"\xff\xfe", b"(;FF[4]SZ[9];B[ee])", b"(;EV[kibitz Cup]\n;B[ee])"]
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.sgf"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="Choose another"):
        resume(path, SETTINGS)
    assert path.read_bytes() == content
