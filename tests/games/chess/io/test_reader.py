"""The reader of PGN: odd records have the same games in import, analysis and on the board; nothing is lost silently."""

from __future__ import annotations

import io
import random
import subprocess
import time
from pathlib import Path

import chess
import chess.pgn
import pytest

from kibitz.games.chess.filters import Filter, is_bot
from kibitz.games.chess.io import pgn
from kibitz.games.chess.io import reader as reader_of_pgn
from kibitz.games.chess.io.comments import clocks, evaluation
from kibitz.games.chess.io.movetext import split_games
from kibitz.games.chess.io.pgn import PgnReader
from kibitz.games.chess.io.reader import Record, read
from kibitz.games.chess.io.san import Word, read_word
from kibitz.games.chess.io.tags import read_headers, read_result
from kibitz.games.chess.start import BadStart, read_fen
from kibitz.web.chess import files as board_files
from support.causes import naming
from support.helpers import program

TAGS = '[Event "e"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n'


def records(folder: Path, text: str) -> tuple[list[Record], list[int]]:
    """The games of a text, and the lines of what belongs to none."""
    file = folder / "games.pgn"
    file.write_text(text, encoding="utf-8")
    lines: list[int] = []
    return list(read(str(file), on_stray=lambda stray: lines.append(stray.line))), lines


def ucis(record: Record) -> str:
    return " ".join(move.uci() for move in record.game.mainline_moves())


def check_all_readers(folder: Path, text: str, games: int) -> list[Record]:
    """Import, analysis and the board find so many whole games in a text, with the same moves; the games."""
    found, strays = records(folder, text)
    assert len(found) == games
    assert not strays
    reader = PgnReader([str(folder / "games.pgn")], Filter())
    batches = list(reader)
    assert sum(batch.read for batch in batches) == games
    assert sum(map(len, batches)) == games, [batch.rejections.counts for batch in batches]
    plies = [int(count) for batch in batches for count in batch.plies]
    assert plies == [len(list(record.game.mainline_moves())) for record in found]
    loaded = board_files.load_pgn(text, games - 1)
    assert len(loaded["games"]) == games
    assert len(loaded["tree"]) - 1 == plies[-1]
    assert not loaded["problems"]
    return found


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("1. e4 e5 1-0\n1. d4 d5 0-1\n1. c4 1/2-1/2", [2, 2, 1]),
        ("1. e4 e5 1-0 1. d4 d5 0-1 1. c4 1/2-1/2", [2, 2, 1]),
        ("e4 e5 Nf3 1-0\n\nd4 d5 c4 0-1\n\nc4 e5 1/2-1/2", [3, 3, 2]),
        ("e4 e5 Nf3 1-0\nd4 d5 c4 0-1\nc4 e5 ½-½\n", [3, 3, 2]),
        ("1 e4 e5 2 Nf3 1-0\n1 d4 d5 0-1", [3, 2]),
        ("1.e4 e5 2.Nf3 1-0\r\n1.d4 d5 0-1\r\n", [3, 2]),
        (f"{TAGS}1. e4 1-0\n1. d4 d5 0-1", [1, 2]),
        (f"1. e4 1-0{TAGS}1. e4 e5 1-0", [1, 2]),
        (f"{TAGS}1. e4 1-0 {TAGS.replace(chr(10), ' ')} 1. d4 d5 1-0", [1, 2]),
        (TAGS.replace("\n", " ") + "1. e4 e5 2. Nf3 1-0", [3]),
        (TAGS.replace("\n", "\n\n") + "1. e4 e5 2. Nf3 1-0", [3]),
        (TAGS.rstrip() + "\n1. e4 e5 2. Nf3 1-0\n" + TAGS.rstrip() + "\n1. d4 1-0", [3, 1]),
        ("1. e4 e5\n\n2. Nf3 Nc6 1-0\n\n\n\n1. d4 0-1", [4, 1]),
        (f"1. e4 (1. d4 d5 1-0) 1... e5 1-0\n\n{TAGS}1. d4 1-0", [2, 1]),
    ],
)
def test_where_games_begin_and_end(tmp_path: Path, text: str, moves: list[int]) -> None:
    found = check_all_readers(tmp_path, text, len(moves))
    assert [len(list(record.game.mainline_moves())) for record in found] == moves


@pytest.mark.parametrize(
    "line",
    [
        '[ White "Ann Lee" ]', "[White 'Ann Lee']", "[White “Ann Lee”]", "[White „Ann Lee“]", "[White «Ann Lee»]",
        "[White Ann Lee]", '[White "Ann Lee"', '[White Ann Lee"]', '[White: "Ann Lee"]', '[White="Ann Lee"]',
        '[white "Ann Lee"]', '[WHITE "Ann Lee"]', '[White"Ann Lee"]', '\t[White  "Ann Lee"  ]  ', "[White `Ann Lee`]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("first", [True, False])
def test_headers_in_odd_forms(tmp_path: Path, line: str, first: bool) -> None:
    lines = [line, '[Event "x"]'] if first else ['[Event "x"]', line]
    text = "\n".join([*lines, '[Result "1-0"]', "", "1. e4 e5 1-0", ""])
    before = f"{TAGS}1. d4 1-0\n\n"
    found = check_all_readers(tmp_path, before + text + "\n" + before, 3)
    assert found[1].game.headers["White"] == "Ann Lee"
    assert found[1].game.headers["Event"] == "x"
    rows = [row for batch in PgnReader([str(tmp_path / "games.pgn")], Filter()) for row in batch.table.to_pylist()]
    assert [row["white"] for row in rows] == ["A", "Ann Lee", "A"]


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("e4 e5 Nf3\n\nd4 d5 c4\n\ne4 c5\n", [3, 3, 2]),
        ("e4 e5\n\nNf3 Nc6\n\nBb5 a6\n", [6]),
        ("e4\n\nd4\n\nc4", [1, 1, 1]),
    ],
)
def test_games_without_numbers_and_results(tmp_path: Path, text: str, moves: list[int]) -> None:
    """After a blank line a move begins a game only if it cannot go on with the one before."""
    found, strays = records(tmp_path, text)
    assert [len(list(record.game.mainline_moves())) for record in found] == moves
    assert not strays
    assert len(board_files.load_pgn(text, 0)["games"]) == len(moves)


def test_a_header_in_two_lines(tmp_path: Path) -> None:
    text = '[Event "World\nChampionship"]\n[White "A"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n'
    (whole,) = check_all_readers(tmp_path, text, 1)
    assert (whole.game.headers["Event"], whole.game.headers["White"]) == ("World Championship", "A")
    two = check_all_readers(tmp_path, text + "\n" + text.replace("\nCh", " Ch").replace('"A"', '"B"'), 2)
    assert [one.game.headers["White"] for one in two] == ["A", "B"]


def test_headers_in_lines_for_other_programs_are_skipped() -> None:
    text = '%[Event "no"]\n% a [White "no"]\n [Site "%"] [White "A"]\n%\n[Site "twice"]\n%[Black "no"]'
    assert read_headers(text) == {"Site": "%", "White": "A"}


def test_first_moves_that_begin_a_line_begin_a_game() -> None:
    """After several moves, even without a result and a blank line; inside a line they begin none."""
    for between, begins in (
        ("\n", True),
        ("\n  ", True),
        (" \t\n ", True),
        ("\n\n", True),
        (" ", False),
        ("\t", False),
    ):
        text = f"1. e4 e5{between}1. d4 d5{between}1. c4 c5"
        found = [text[game.begin : game.end].strip() for game in split_games(text)]
        assert found == (["1. e4 e5", "1. d4 d5", "1. c4 c5"] if begins else [text])


@pytest.mark.parametrize(
    ("number", "signs"),
    [
        (1, "!"), (2, "?"), (3, "!! ‼"), (4, "?? ⁇"), (5, "!? ⁉"), (6, "?! ⁈"), (7, "□ []"), (10, "="), (13, "∞ ~"),
        (14, "⩲ += +/="), (15, "⩱ =+ =/+"), (16, "± +/- +/−"), (17, "∓ -/+"), (18, "+- +−"), (19, "-+ −+"),
        (22, "⨀ ⊙"), (26, "○"), (32, "⟳"), (36, "↑"), (40, "→"), (44, "⯹ =∞"), (132, "⇆"), (138, "⊕"),
    ],
)  # fmt: skip
def test_signs_have_the_numbers_of_the_pgn_standard(number: int, signs: str) -> None:
    for sign in signs.split():
        assert read_word(f"Nf3{sign}") == Word("Nf3", (number,))
        assert read_word(sign) == Word("", (number,))


@pytest.mark.parametrize(
    ("text", "core", "nags"),
    [("Nc6N", "Nc6", (146,)), ("a6TN", "a6", (146,)), ("Bb5+N", "Bb5", (146,)), ("Nc6N!?", "Nc6", (146, 5)),
     ("e8N", "e8N", ()), ("bxa1N+", "bxa1N", ())],
)  # fmt: skip
def test_the_sign_of_a_novelty_may_touch_its_move(text: str, core: str, nags: tuple[int, ...]) -> None:
    assert read_word(text) == Word(core, nags)


def test_a_letter_apart_from_its_square_is_a_piece_or_a_sign(tmp_path: Path) -> None:
    """N and D can also be signs, of a novelty and a diagram. A word that can be both is not guessed."""
    (one,) = check_all_readers(tmp_path, f"{TAGS}1. e4 e5 N 2. Nf3 D Nc6 N 1-0\n", 1)
    assert one.problem is None
    (one,) = check_all_readers(
        tmp_path, f"{TAGS}1. e4 Nf6 2. e5 N xe4 N 2... Ng4 1-0\n".replace("N xe4 N 2...", "N"), 1
    )
    assert ucis(one) == "e2e4 g8f6 e4e5 f6g4"
    for moves, problem in (
        ("1. e4 N c6 2. Nf3", "move 1… 'N' fits several moves"),
        ("1. e4 e5 2. N(g1)f3 Nc6", "move 2. 'N' cannot be read"),
    ):
        ((one,), _) = records(tmp_path, f"{TAGS}{moves} 1-0\n")
        (batch,) = PgnReader([str(tmp_path / "games.pgn")], Filter())
        assert len(batch) == 0
        assert one.problem == problem


def test_a_header_with_a_long_blank_is_read_in_one_pass() -> None:
    """Each of these headers would take hours if a search began again at each space."""
    blank = " " * 300_000
    assert read_headers(f"[Event{blank}x]\n[White{blank}:{blank}y]") == {"Event": "x", "White": "y"}
    assert read_headers(f'[Event {blank}"x"]\n[{blank}White "y"]') == {"Event": "x", "White": "y"}
    assert read_headers(f"[event{blank}\n") == {"Event": ""}
    for value in ('"] ' * 500_000, "] x " * 500_000):
        assert read_headers(f'[Event "{value}"]\n[White "y"]')["White"] == "y"
        assert read_headers(f"[Event {value}]\n[White y]")["White"] == "y"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"Ivanov "Sasha" (GM)"', 'Ivanov "Sasha" (GM)'), ('"B, "B""', 'B, "B"'), ('"Backslash\\"', "Backslash\\"),
        ('"6th "Open\\""', '6th "Open"'), ('"a \\"b\\" c\\\\"', 'a "b" c\\'), ('"[x] ]["', "[x] ]["), ('""', ""),
    ],
)  # fmt: skip
def test_quotation_marks_in_headers(written: str, value: str) -> None:
    assert read_headers(f'[White {written}]\n[Black "b"]\n') == {"White": value, "Black": "b"}
    assert read_headers(f'[White {written}] [Black "b"]\n') == {"White": value, "Black": "b"}


RESULTS = {
    "1-0": ("1-0", "1:0", "1–0", "1‒0", "1−0", "1 - 0", "1.0-0.0", "{1-0}", "1-0F", "White wins", "White won on time"),
    "0-1": ("0-1", "0:1", "0—1", "0 - 1", "{ 0-1 }", "(0-1)", "0-1ff", "Black wins by resignation"),
    "1/2-1/2": (
        "1/2-1/2",
        "1/2",
        "½-½",
        "½–½",
        "½",
        "0.5-0.5",
        "0,5:0,5",
        "1/2 - 1/2",
        "1/2:1/2",
        "{1/2-1/2}",
        "draw",
        "Drawn game",
        "remis",
    ),
}


@pytest.mark.parametrize(("result", "form"), [(result, form) for result, forms in RESULTS.items() for form in forms])
def test_results_in_odd_forms(tmp_path: Path, result: str, form: str) -> None:
    header = f'[White "A"]\n[Result "{form.strip("{}() ")}"]\n\n'
    for text in (f"{header}1. e4 e5 {form}\n", f'[White "A"]\n\n1. e4 e5 {form}\n', f"{header}1. e4 e5\n"):
        found = check_all_readers(tmp_path, text * 2, 2)
        assert [record.game.headers["Result"] for record in found] == [result] * 2


def test_words_that_only_begin_like_a_result(tmp_path: Path) -> None:
    """A remark between moves is no result, and no game after it is lost."""
    for words in (
        "White wins a pawn", "drawback", "1-0Foo", "draw offered", "draw?", "White wins 1...", "Black wins\n",
        "Draw\r\n",
    ):  # fmt: skip
        (record, other), _ = records(tmp_path, f"{TAGS}1. e4 e5 {words} 2. Nf3\n\n{TAGS}1. d4 d5 1-0\n")
        assert record.written is None, words
        assert record.problem == f"move 2. '{words.split()[0]}' cannot be read"
        assert ucis(other) == "d2d4 d7d5"
    for end in ("", "\n", ".\r\n\r\n", " 1-0\n", "\n1-0\n"):
        (record,), _ = records(tmp_path, f"{TAGS}1. e4 e5 2. Nf3 White wins{end}")
        assert (record.written, record.problem, ucis(record)) == ("1-0", None, "e2e4 e7e5 g1f3"), end


def test_a_mate_is_a_result(tmp_path: Path) -> None:
    (record,) = check_all_readers(tmp_path, '[White "A"]\n\n1. f3 e5 2. g4 Qh4#\n', 1)
    assert record.game.headers["Result"] == "0-1"
    (record,) = check_all_readers(tmp_path, "1. f3 e5 2. g4 Qh4# *\n", 1)
    assert record.game.headers["Result"] == "0-1"
    assert read_result("a draw was agreed") is None


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("1. e4 a6 2. e5 d5 3. exd6 e.p. Nf6", "e2e4 a7a6 e4e5 d7d5 e5d6 g8f6"),
        ("1. e4 a6 2. e5 d5 3. exd6ep Nf6", "e2e4 a7a6 e4e5 d7d5 e5d6 g8f6"),
        ("1. e4 a6 2. e5 d5 3. exd6e.p. Nf6", "e2e4 a7a6 e4e5 d7d5 e5d6 g8f6"),
        ("1. e4 a6 2. e5 d5 3. ed Nf6", "e2e4 a7a6 e4e5 d7d5 e5d6 g8f6"),
        ("1.e4 e5 2.Nf3 Nf6 3.Bc4 Bc5 4.0-0 0-0", "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8"),
        ("1.e4 e5 2.Nf3 Nf6 3.Bc4 Bc5 4.o-o O–O", "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8"),
        ("1. e2-e4 e7–e5 2. Ng1-f3 Nb8-c6 3. Bf1-b5 a7-a6 4. Bb5xc6 d7:c6", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6"),
        ("1. e2e4 e7e5 2. g1f3 b8c6", "e2e4 e7e5 g1f3 b8c6"),
        ("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7++", "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7"),
        ("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7 mate", "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7"),
        ("1. e4 e5 2. d3+- d6± 3. Nf3⩲ Nf6!? 4. c3 ∞", "e2e4 e7e5 d2d3 d7d6 g1f3 g8f6 c2c3"),
        ("1. Sf3 Sf6 2. c4 e6 3. Sc3 Lb4", "g1f3 g8f6 c2c4 e7e6 b1c3 f8b4"),
        ("1. e4 e5 2. Cf3 Cc6 3. Fb5 a6", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"),
        ("1. e4 e5 2. Cf3 Cc6 3. Ab5 a6", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"),
        ("1. e4 e5 2. Pf3 Pc6 3. Lb5 a6", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"),
        ("1. e4 e5 2. Кf3 Кc6 3. Сb5 a6 4. Сa4 Крe7", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 e8e7"),
        ("1. ♘f3 d5 2. d4 ♞f6 3. ♙c4 e6", "g1f3 d7d5 d2d4 g8f6 c2c4 e7e6"),
        ("1. nf3 d5 2. d4 nf6", "g1f3 d7d5 d2d4 g8f6"),
        ("1. E4 E5 2. NF3 NC6", "e2e4 e7e5 g1f3 b8c6"),
        ("1) e4 e5 2) Nf3 Nc6", "e2e4 e7e5 g1f3 b8c6"),
        ("1: e4 1: ... e5 2:Nf3 Nc6 3: Bb5", "e2e4 e7e5 g1f3 b8c6 f1b5"),
        ("1- e4 e5 2-Nf3 Nc6", "e2e4 e7e5 g1f3 b8c6"),
        ("1/ e4 e5 2/ Nf3 Nc6", "e2e4 e7e5 g1f3 b8c6"),
        ("(1) e4 e5 (2) Nf3 Nc6", "e2e4 e7e5 g1f3 b8c6"),
        ("1\\. e4 e5 2\\. Nf3 Nc6", "e2e4 e7e5 g1f3 b8c6"),
        ("1．e4 e5 2。Nf3 Nc6", "e2e4 e7e5 g1f3 b8c6"),
        ("**1. e4** e5 **2. Nf3** *Nc6*", "e2e4 e7e5 g1f3 b8c6"),
        ("*1.* __e4 e5__\n**2. Nf3**\nNc6", "e2e4 e7e5 g1f3 b8c6"),
        ("<b>1. e4</b> e5 <p class='x'><b>2. Nf3</b> Nc6<br>", "e2e4 e7e5 g1f3 b8c6"),
        ("```\n1. e4 `e5` _2. Nf3_ Nc6 ```", "e2e4 e7e5 g1f3 b8c6"),
        ("1. e4 (35) e5 (1:05) 2. Nf3 (0:35) Nc6", "e2e4 e7e5 g1f3 b8c6"),
        ("1. e4 1:00 e5 0:05 2. Nf3 (2:00) Nc6 1:00:00", "e2e4 e7e5 g1f3 b8c6"),
        ("1. e4 e5 2. N f3 N c6 3. B c4 N f6 4. N g5 d5 5. e x d5", "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 f3g5 d7d5 e4d5"),
        ("1. e4 e5 2. B c4 Nc6 3. B xf7+ K x f7", "e2e4 e7e5 f1c4 b8c6 c4f7 e8f7"),
        ("1. ♘ f3 d5 2. e3 ♞ f6", "g1f3 d7d5 e2e3 g8f6"),
        ("1. S f3 S f6 2. d4 e6 3. g3 L e7", "g1f3 g8f6 d2d4 e7e6 g2g3 f8e7"),
        ("1. e4 d5 2. e4Xd5 QXd5 3. Nb1-c3 Qd5 X g2 4. Bf1 xg2", "e2e4 d7d5 e4d5 d8d5 b1c3 d5g2 f1g2"),
        ("1. e2 - e4 e7 -e5 2. Ng1- f3 Nb8 c6", "e2e4 e7e5 g1f3 b8c6"),
        ("1. e4 - e5 2. Nf3 - Nc6", "e2e4 e7e5 g1f3 b8c6"),
        ("1. е4 е5 2. Кf3 Кс6", "e2e4 e7e5 g1f3 b8c6"),
        ("1.e4 e5 2.Nf3 Nf6 3.Bc4 Bc5 4. O - O 0 - 0", "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8"),
        ("1.e4 e5 2.Nf3 Nf6 3.Bc4 Bc5 4. 00 00+", "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8"),
        ("1.d4 d5 2.Nc3 Nc6 3.Bf4 Bf5 4.Qd2 Qd7 5. 000 O - O - O", "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e1c1 e8c8"),
        ("1.d4 d5 2.Nc3 Nc6 3.Bf4 Bf5 4.Qd2 Qd7 5. 0-0-0+ 000", "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e1c1 e8c8"),
    ],
)  # fmt: skip
def test_spellings_of_moves(tmp_path: Path, moves: str, expected: str) -> None:
    (record,) = check_all_readers(tmp_path, f"{TAGS}{moves} 1-0\n", 1)
    assert ucis(record) == expected


@pytest.mark.parametrize(
    "spelling",
    ["e8=Q", "e8Q", "e8(Q)", "e8(=Q)", "e8/Q", "e7e8q", "e7-e8=Q", "e8=D", "e8 Q", "e8 = Q", "e8= Q", "e8 =Q+",
     "e8=(Q)", "e8 (Q)", "e8-Q", "e8:Q", "e8q", "e8 ♕", "e7-e8 Q", "e7-e8(Q)+"],
)  # fmt: skip
def test_spellings_of_promotions(tmp_path: Path, spelling: str) -> None:
    text = f'[Result "1-0"]\n[FEN "8/4P1k1/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. {spelling} Kh7 1-0\n'
    (record,) = check_all_readers(tmp_path, text, 1)
    assert ucis(record) == "e7e8q g7h7"


@pytest.mark.parametrize(
    ("spelling", "uci"),
    [("bxc8 Q", "b7c8q"), ("bxc8=(Q)", "b7c8q"), ("bxc8-Q", "b7c8q"), ("bxc8/Q", "b7c8q"), ("bxc8(Q)", "b7c8q"),
     ("bxc8q", "b7c8q"), ("bxc8b", "b7c8b"), ("bc8Q", "b7c8q"), ("Bxc8", "h3c8"), ("B xc8", "h3c8"), ("bxc8", ""),
     ("b xc8 Q", "b7c8q"), ("bh3xc8", "h3c8")],
)  # fmt: skip
def test_a_pawn_that_promotes_is_not_a_bishop(tmp_path: Path, spelling: str, uci: str) -> None:
    """A small b is the pawn if both can capture; without the piece of the promotion, the move is not guessed."""
    text = f'[Result "1-0"]\n[FEN "2r5/1P4k1/8/8/8/7B/8/4K3 w - - 0 1"]\n\n1. {spelling} 1-0\n'
    ((record,), _) = records(tmp_path, text)
    assert ucis(record) == uci


@pytest.mark.parametrize(
    ("end", "moves", "result"),
    [
        ("2. g4 Qh4#0-1", 4, "0-1"), ("2. g4 Qh40-1", 4, "0-1"), ("2. g4 Nc61/2-1/2", 4, "1/2-1/2"),
        ("2. Nc3 a61-0 {end}", 4, "1-0"), ("2. g4 Qh4# White resigns", 4, "0-1"), ("2. g4 Black resigned", 3, "1-0"),
        ("2. g4 d6 WHITE RESIGNS.", 4, "0-1"), ("2. g4 d6 black lost on time", 4, "1-0"),
        ("2. g4 d6 Draw agreed", 4, "1/2-1/2"), ("2. g4 d6 draw by repetition", 4, "1/2-1/2"),
        ("2. g4 d6 {White resigns}", 4, "0-1"), ("2. g4 d6 Resigns 0-1", 4, "0-1"), ("2. g4 d6 1-0 (time)", 4, "1-0"),
        ("2. g4 d6 Black resigns 1-0", 4, "1-0"), ("2. g4 d6 time 0-1", 4, "0-1"),
        ("2. g4 d6 and White lost easily", 4, "*"), ("2. g4 d6 resigns", 4, "*"),
        ("2. g4 d6 White resigns?? no", 4, "*"),
        ("2. g4 d6 White should have resigned", 4, "*"), ("2. g4 d6 White won a pawn but lost *", 4, "*"),
        ("2. g4 Qh4# Black resigns", 4, "0-1"), ("2. g4 d6 Black resigns *", 4, "1-0"),
    ],
)  # fmt: skip
def test_words_after_the_last_move(tmp_path: Path, end: str, moves: int, result: str) -> None:
    """All moves are kept. Words give a result only if they say it alone, and no other place gives one."""
    text = f'[White "A"]\n\n1. f3 e5 {end}\n'
    (one, other), strays = records(tmp_path, f"{text}\n{TAGS}1. d4 d5 1-0\n")
    assert (one.problem, other.problem, strays) == (None, None, [])
    assert (len(list(one.game.mainline_moves())), one.game.headers["Result"]) == (moves, result)
    batches = list(PgnReader([str(tmp_path / "games.pgn")], Filter()))
    assert [reason for batch in batches for reason in batch.rejections.counts] == ["no result"] * (result == "*")
    if result != "*":
        assert [int(plies) for batch in batches for plies in batch.plies] == [moves, 2]
        (one,), _ = records(tmp_path, '[Result "1/2-1/2"]\n' + text.replace("1-0", "").replace("0-1", ""))
        assert one.game.headers["Result"] == "1/2-1/2"


def test_words_after_the_last_move_become_a_comment(tmp_path: Path) -> None:
    (one,), _ = records(tmp_path, "1. f3 e5 2. g4 d6 {hm} resigned (time). 0-1\n")
    assert [node.comment for node in one.game.mainline()] == ["", "", "", "hm resigned (time)."]
    for cut in ("Nxd", "N", "Qx", "d", "Kfg", "Ra.", "Xf9", "Nf3 White won", "Q&"):
        (one,), _ = records(tmp_path, f"1. f3 e5 2. g4 d6 3. {cut}\n")
        assert one.problem or cut == "N", cut


@pytest.mark.parametrize("variant", ["Standard", " Standard", "normal ", "", "From Position"])
def test_names_of_standard_chess(tmp_path: Path, variant: str) -> None:
    check_all_readers(tmp_path, f'[Variant "{variant}"]\n[Result "1-0"]\n\n1. e4 e5 1-0 {{odd}}\n', 1)


@pytest.mark.parametrize(
    ("moves", "variations"),
    [
        ("1. e4 (depth 12) e5 (see game 3) 2. Nf3 (see 12 ) Nc6", [""] * 4),
        ("1. e4 e5 2. Nf3 (2. f4 Nc6 12) Nc6", ["", "", "f2f4 b8c6", ""]),
        ("1) e4 e5 ( 1... c5 2) Nf3 d6 ) 2) Nf3 Nc6", ["", "c7c5 g1f3 d7d6", "", ""]),
    ],
)
def test_a_number_and_a_bracket_end_a_variation(tmp_path: Path, moves: str, variations: list[str]) -> None:
    (record,), _ = records(tmp_path, f"{TAGS}{moves} 1-0\n")
    assert ucis(record) == "e2e4 e7e5 g1f3 b8c6"
    assert record.written == "1-0"
    found = []
    for node in record.game.mainline():
        others = node.parent.variations[1:] if node.parent else []
        found.append(" ".join(move.uci() for other in others for move in [other.move, *other.mainline_moves()]))
    assert found == variations


def test_the_time_to_read_a_word_is_proportional_to_its_length() -> None:
    began = time.process_time()
    read_word("e8" + " " * 20_000 + "!")
    assert time.process_time() - began < 3, "with a second start at each blank, it is 10 s"


def test_no_move_is_guessed(tmp_path: Path) -> None:
    (record,), _ = records(tmp_path, f"{TAGS}1. e4 e5 2. Nf3 Nc6 3. Sf6 1-0\n")
    assert record.problem == "move 3. 'Sf6' is illegal"
    (record,), _ = records(tmp_path, f"{TAGS}1. e4 e5 2. Nc3 Nc6 3. Nc3 d5 1-0\n")
    assert record.problem == "move 3. 'Nc3' is illegal"  # not the move Nc3d5
    two = '[Result "1-0"]\n[FEN "4k3/8/8/8/8/8/8/1N1K1N2 w - - 0 1"]\n\n1. {}d2 1-0\n'
    (record,), _ = records(tmp_path, two.format("N"))
    assert record.problem == "move 1. 'Nd2' fits several moves"
    (record,), _ = records(tmp_path, two.format("Nb"))
    assert record.problem is None


@pytest.mark.parametrize(
    ("fen", "clean"),
    [
        ("1r4k1/b2b1Rpr/p2P3p/1ppB4/8/2B5/PP1q1PPP/2R3K1 w Qq - 0 1", "w - - 0 1"),
        ("rnb1kb1Q/1p1qp2p/p3p1p1/2pp4/8/8/PPPP1PPP/RNB1K1NR b KQkq - 1 10", "b KQq - 1 10"),
        ("5rk1/5rpp/2qp1P2/pp1b2Q1/2p3R1/P7/BPP3PP/5R1K w KQkq - 0 1", "w - - 0 1"),
        ("4k3/8/8/8/8/8/4P3/4K3 w", "w - - 0 1"), ("4k3/8/8/8/8/8/4P3/4K3_w_-_-_0_1", "w - - 0 1"),
        ("4k3/8/8/8/8/8/4P3/4K3", "w - - 0 1"), ('4k3/8/8/8/8/8/4P3/4K3 w - - bm e4; id "x";', "w - - 0 1"),
        ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b HAha e3 0 1", "b KQkq - 0 1"),
    ],
)  # fmt: skip
def test_positions(tmp_path: Path, fen: str, clean: str) -> None:
    assert read_fen(fen).fen().split(" ", 1)[1] == clean
    assert board_files.load_fen(board_files.fen_of(f"FEN: {fen}") or "")["tree"][0]["fen"].endswith(clean)
    move = next(iter(read_fen(fen).legal_moves))
    header = fen.replace('"', "'")
    (record,) = check_all_readers(tmp_path, f'[Result "1-0"]\n[FEN "{header}"]\n\n{move.uci()} 1-0\n', 1)
    assert record.game.headers["FEN"].endswith(clean)


@pytest.mark.parametrize("fen", ["", "8/8/8/8/8/8/8/8 w - - 0 1", "rnbqkbn/8/8/8/8/8/8/4K3 w - - 0 1", "x y z"])
def test_positions_that_cannot_be(fen: str) -> None:
    with pytest.raises(BadStart):
        read_fen(fen)


def test_a_side_has_at_most_16_pieces() -> None:
    full = chess.Board("k7/8/8/8/8/NNNNNNN1/NNNNNNNN/K7 w - - 0 1")
    assert read_fen(full.fen()) == full
    full.set_piece_at(chess.H5, chess.Piece(chess.KNIGHT, chess.WHITE))
    with pytest.raises(BadStart, match=naming("impossible & White & 16")):
        read_fen(full.fen())
    with pytest.raises(BadStart, match=naming("impossible & Black & 16")):
        read_fen(full.mirror().fen())


@pytest.mark.parametrize(
    ("fen", "cause"),
    [("", "empty"), ("hello", "1 rank "), ("8/8/8/8/8/8/8", "7 ranks"), ("8/8/8/8/8/8/8/7 w - -", "rank 1 & 7 squares"),
     ("x7/8/8/8/8/8/8/8", "rank 8 & letter x"), ("8/9/8/8/8/8/8/8", "rank 7 & letter 9"),
     ("8/8/8/8/8/8/8/8 s - -", "side & s "), ("8/8/8/8/8/8/8/8 w XYZ -", "castling & XYZ"),
     ("44/8/8/8/8/8/8/8 w - -", "rank 8 & 44"), ("8/8/8/8/8/8/8/8 w kqKQ -", "castling & kqKQ"),
     ("8/8/8/8/8/8/8/\x1b w - -", "rank 1 & ?")],
)  # fmt: skip
def test_the_fault_of_a_fen_is_named_in_own_words(fen: str, cause: str) -> None:
    with pytest.raises(BadStart, match=naming(cause)) as error:
        read_fen(fen)
    assert "of fen" not in str(error.value)  # python-chess says "expected 8 rows in position part of fen: 'hello'"
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize("fen", ["", "?", " ", "-"])
def test_an_empty_fen_is_the_usual_start(tmp_path: Path, fen: str) -> None:
    text = TAGS.rstrip() + f'\n[SetUp "0"]\n[FEN "{fen}"]\n\n1. e4 e5 1-0\n'
    (one,) = check_all_readers(tmp_path, text, 1)
    assert one.game.board() == chess.Board()


def test_elapsed_times_are_clocks(tmp_path: Path) -> None:
    moves = ["1. e4 {[%emt 0]}", "e5 {[%emt 0:00:00]}", "2. Qh5 {[%emt 100]}", "Nc6 {[%emt 2.4]}", "3. Nf3 {[%emt 9]}"]
    text = f'[Result "1-0"]\n[TimeControl "180+2"]\n\n{" ".join(moves)} 1-0\n'
    check_all_readers(tmp_path, text, 1)
    (batch,) = PgnReader([str(tmp_path / "games.pgn")], Filter())
    assert batch.per_move["clock"].tolist() == [182, 182, 84, 182, 77]
    assert clocks(["[%clk 0:01:00]", "", "[%emt 1]"], "60") == [60, None, 59]
    assert clocks(["[%emt 1]"] * 4, "-") == [None] * 4
    assert clocks(["[%emt 10]"] * 4, "2/100:50") == [90, 90, 130, 130]
    assert clocks(["[%emt 10]"] * 4, "0/100") == [90, 90, 80, 80]  # a period of no moves is the rest of the game
    assert clocks(["[%emt 10]"], "9" * 5000 + "/100") == [None]
    assert clocks(["[%emt 10]"], "90+30", "Open") == [5420]
    assert clocks(["[%emt 10]"], "120+12", "FICS rated blitz game") == [122]


def test_evaluations(tmp_path: Path) -> None:
    assert [evaluation(f"x [%eval {text}]") for text in ("0.25", "-1.5,18", "#3", "#-2")] == [25, -150, 31997, -31998]
    assert [evaluation(f"[%eval {text}]") for text in ("25,18", "-905, 28", "0,0", "2")] == [25, -905, 0, 200]
    assert evaluation("[%eval x]") is None
    text = f"{TAGS}1. e4 {{[%eval 0.2]}} e5 {{[%eval #-2]}} 2. Nf3 {{[%eval 0.5,20]}} 1-0\n"
    check_all_readers(tmp_path, text, 1)
    (batch,) = PgnReader([str(tmp_path / "games.pgn")], Filter())
    assert batch.per_move["evaluation"].tolist() == [20, -31998, 50]


def test_text_that_belongs_to_no_game(tmp_path: Path) -> None:
    text = f"My games\n\n{TAGS}1. e4 1-0\n\nsome words here\n\n{TAGS}1. d4 1-0\nthe end\n"
    found, lines = records(tmp_path, text)
    assert len(found) == 2
    assert lines == [1, 10, 18]
    (batch, *more) = PgnReader([str(tmp_path / "games.pgn")], Filter())
    strays = [stray for each in (batch, *more) for stray in each.strays]
    assert [stray.rpartition("line ")[2] for stray in strays] == ["1: My games", "10: some words here", "18: the end"]


@pytest.mark.parametrize(
    ("name", "title", "kind", "mark", "bot"),
    [
        ("x", "BOT", "", "", True), ("x", "", "program", "", True), ("x", "", "", "Yes", True),
        ("Crafty(C)", "", "", "", True), ("lichess AI level 3", "", "", "", True),
        ("Botvinnik, M", "GM", "human", "No", False),
        ("Stockfish", "", "", "", True), ("x", "", "", "", False),
    ],
)  # fmt: skip
def test_programs(tmp_path: Path, name: str, title: str, kind: str, mark: str, bot: bool) -> None:
    assert is_bot(name, title, kind, mark) is bot
    headers = f'[White "A"]\n[Black "{name}"]\n[BlackTitle "{title}"]\n[BlackType "{kind}"]\n[BlackIsComp "{mark}"]\n'
    (tmp_path / "games.pgn").write_text(f"{headers}\n1. e4 1-0\n\n{TAGS}1. d4 1-0\n")
    counts = [
        sum(map(len, PgnReader([str(tmp_path / "games.pgn")], keep))) for keep in (Filter(), Filter(no_bots=True))
    ]
    assert counts == [2, 2 - bot]


# Real games, written in other forms


def reformatted(text: str, rng: random.Random) -> str:
    """A game of the bundled ones in another form that says the same."""
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    moves = game.accept(chess.pgn.StringExporter(headers=False, comments=False, variations=False, columns=None))
    if rng.random() < 0.3:
        moves = " ".join(word for word in moves.split() if not word[0].isdigit() or "-" in word)
    if rng.random() < 0.3:
        moves = moves.replace("O-O-O", "0-0-0").replace("O-O", "0-0")
    if rng.random() < 0.3:
        moves = moves.replace("1/2-1/2", rng.choice(["½-½", "1/2", "0.5-0.5"]))
    if rng.random() < 0.2:
        moves = moves.replace(". ", ".")
    names = ("Event", "White", "Black", "Result")
    pattern = rng.choice(['[{} "{}"]', '[ {} "{}" ]', "[{} “{}”]", '[{}  "{}"]'])
    headers = rng.choice(["\n", "\n", " "]).join(pattern.format(name, game.headers[name]) for name in names)
    return headers + rng.choice(["\n\n", "\n", "\n\n\n"]) + moves + rng.choice(["\n\n", "\n", "\r\n\r\n", "\n\n\n"])


@pytest.mark.parametrize("seed", range(4))
def test_reformatted_games_are_the_same(tmp_path: Path, bundled_games: list[str], seed: int) -> None:
    rng = random.Random(seed)
    sample = rng.sample(bundled_games, 30)
    texts = [reformatted(text, rng) for text in sample]
    found = check_all_readers(tmp_path, "".join(texts), len(texts))
    for record, text in zip(found, sample, strict=True):
        game = chess.pgn.read_game(io.StringIO(text))
        assert game is not None
        assert list(record.game.mainline_moves()) == list(game.mainline_moves())
        for name in ("White", "Black", "Result"):
            assert record.game.headers[name] == game.headers[name]


def test_a_game_that_an_e_mail_quotes(tmp_path: Path) -> None:
    text = f"{TAGS}1. e4 e5 2. Nf3\nNc6 {{a > b}} 1-0\n\n{TAGS}1. d4 1-0"
    for quote in ("> ", ">", ">> ", "> > "):
        found, strays = records(tmp_path, "Hello,\n\n" + quote + text.replace("\n", f"\n{quote}") + "\n\nBye\n")
        assert [ucis(record) for record in found] == ["e2e4 e7e5 g1f3 b8c6", "d2d4"]
        assert [record.game.headers["White"] for record in found] == ["A", "A"]
        assert strays == [1, len(text.splitlines()) + 4]
    (one,) = check_all_readers(tmp_path, f"{TAGS}1. e4 {{a\n> b}} e5 1-0\n", 1)
    assert one.game.next().comment == "a\n> b"  # type: ignore[union-attr]


LINES = f"{TAGS}1. e4 ; a remark\ne5 2. Nf3 1-0\n\n{TAGS}1. d4 d5 1-0\n\n"


@pytest.mark.parametrize(
    "written",
    [
        LINES.replace("\n", "\r"),
        LINES.replace("\n", "\r\n"),
        LINES.replace("\n", "\r\r\n"),
        LINES + LINES.replace("\n", "\r"),
        LINES.replace("\n", "\r\n") + LINES.replace("\n", "\r"),
        LINES.replace("\n", "\r") + LINES,
    ],
)
def test_ends_of_lines(tmp_path: Path, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a file that was joined from files of several systems. A block may end within the end of a line."""
    for size in (1 << 18, 40, 7):
        monkeypatch.setattr(reader_of_pgn, "BLOCK", size)
        monkeypatch.setattr(pgn, "BLOCK", size)
        file = tmp_path / "games.pgn"
        file.write_bytes(written.encode())
        found = list(read(str(file)))
        assert [ucis(record) for record in found] == ["e2e4 e7e5 g1f3", "d2d4 d7d5"] * (len(found) // 2)
        assert len(found) == written.count("Event")
        assert [record.game.headers["Black"] for record in found] == ["B"] * len(found)
        assert sum(map(len, PgnReader([str(file)], Filter()))) == len(found)
        assert len(board_files.load_pgn(written, 0)["games"]) == len(found)


@pytest.mark.parametrize(
    "moves",
    [
        "1. e4 (0:03) e5 (0:05) 2. Nf3 (0:10) Nc6 (1:00:01)",
        "1. e4 0:03 e5 0:05.2 2. Nf3 12:10 Nc6",
        "1. e4\u200be5 2.\u200bNf3\u200b Nc6\u2060",
    ],
)
def test_times_and_unseen_characters_between_moves(tmp_path: Path, moves: str) -> None:
    (record,) = check_all_readers(tmp_path, f"{TAGS}{moves} 1-0\n", 1)
    assert ucis(record) == "e2e4 e7e5 g1f3 b8c6"
    assert not record.notes


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf16(tmp_path: Path, charset: str) -> None:
    file = tmp_path / "games.pgn"
    file.write_bytes(("\ufeff" + LINES.replace('"A"', '"Müller"')).encode(charset))
    assert [record.game.headers["White"] for record in read(str(file))] == ["Müller"] * 2
    assert sum(map(len, PgnReader([str(file)], Filter()))) == 2


def test_many_carriage_returns_take_no_longer_than_their_length(tmp_path: Path) -> None:
    """A million of them after the moves, where a quadratic search would take an hour."""
    (record,) = check_all_readers(tmp_path, f"{TAGS}1. e4 e5{chr(13) * 1_000_000}2. Nf3 1-0\n", 1)
    assert ucis(record) == "e2e4 e7e5 g1f3"


def test_the_same_games_as_pgn_extract(tmp_path: Path, bundled_games: list[str]) -> None:
    """Games one a line, without headers, some without move numbers."""
    rng = random.Random(5)
    lines = []
    for text in rng.sample(bundled_games, 60):
        game = chess.pgn.read_game(io.StringIO(text))
        assert game is not None
        words = game.accept(chess.pgn.StringExporter(headers=False, comments=False, variations=False, columns=None))
        bare = rng.random() < 0.5
        lines.append(" ".join(word for word in words.split() if not bare or not word[0].isdigit() or "-" in word))
    found = check_all_readers(tmp_path, "\n".join(lines) + "\n", len(lines))
    command = [program("pgn-extract"), "-s", "-Wuci", "--notags", "-w100000", str(tmp_path / "games.pgn")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    theirs = [" ".join(line.lower().split()[:-1]) for line in printed if line.strip()]
    assert [ucis(record) for record in found] == theirs
