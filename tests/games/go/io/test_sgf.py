"""Records for faces: read, written, and read again, by us and by sgfmill."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf, sgf_moves

from kibitz.errors import KibitzError
from kibitz.games.go.filters import Filter
from kibitz.games.go.io.ingest import SgfReader
from kibitz.games.go.io.sgf import Record, Unreadable, glance, parse_record, read_records, write_sgf
from kibitz.games.go.points import BLACK, GRID, PASS, WHITE
from kibitz.games.go.rules import Board, Illegal
from kibitz.web.files import load
from support.causes import mentions
from support.examples import share

GAME = "(;GM[1]FF[4]SZ[9]KM[5.5]RU[Chinese]RE[W+R]PB[a\\]b]PW[c\\\\d];B[cc];W[gg];B[];W[cg])"


def random_game(seed: int, size: int, plies: int) -> list[int]:
    """Legal moves, a pass now and then."""
    draw, board, moves = random.Random(seed), Board(size), list[int]()
    for ply in range(plies):
        colour = 1 + ply % 2
        some = [draw.randrange(size) * GRID + draw.randrange(size) for _ in range(20)]
        point = next((point for point in some if board.why_not(colour, point) is None), PASS)
        board.play(colour, point)
        moves.append(point)
    return moves


def test_a_glance_skips_text_between_the_games(tmp_path: Path) -> None:
    file = tmp_path / "my.sgf"
    file.write_text("Downloaded games\n(;GM[1]B[aa])\nThe second one\n(;GM[1]B[bb])\n")
    assert list(glance(str(file))) == ["(;GM[1]B[aa])", "(;GM[1]B[bb])"]
    file.write_text("Downloaded games\n")
    with pytest.raises(KibitzError, match="no games"):
        list(glance(str(file)))


def test_a_record() -> None:
    record = parse_record(GAME)
    assert (record.size, record.komi, record.rules, record.result, record.ending) == (
        9,
        5.5,
        "chinese",
        -1,
        "resignation",
    )
    assert record.moves == [40, 120, PASS, 6 * 19 + 2]
    assert (record.headers["PB"], record.headers["PW"]) == ("a]b", "c\\d")
    assert record.board().to_move == BLACK
    assert record.board(1)[40] == BLACK
    assert record.board(1)[120] == 0
    assert record.start()[362] == 9


def test_a_record_with_handicap() -> None:
    record = parse_record("(;SZ[19]HA[2]AB[dd][pp];W[cc])")
    assert (record.black, record.white, record.side, record.handicap) == ((60, 300), (), WHITE, 2)
    assert record.board(0).to_move == WHITE


def test_a_handicap_stone_on_a_stone_is_an_illegal_move() -> None:
    """Black's moves before White's first are handicap stones, up to a move on one of them."""
    record = parse_record("(;SZ[19];B[dd];B[pp];B[dd];W[cc])")
    assert (record.black, record.handicap, record.leading, record.side) == ((60, 300), 2, 2, WHITE)
    assert (record.moves, record.inserted) == ([PASS, 60, 2 * GRID + 2], (0,))
    with pytest.raises(Illegal):
        record.board()
    sound = parse_record("(;SZ[19];B[dd];B[pp];B[dp];W[cc])")
    assert (sound.handicap, sound.leading, sound.moves, sound.inserted) == (3, 3, [2 * GRID + 2], ())
    sound.board()


def test_illegal_moves_are_read_but_not_played() -> None:
    record = parse_record("(;B[aa];W[aa])")
    assert record.board(1)[0] == BLACK
    with pytest.raises(Illegal, match="on a stone"):
        record.board()


def test_the_rules_of_the_game_count() -> None:
    suicide = "(;RU[%s];B[ba];W[qq];B[ab];W[aa])"
    with pytest.raises(Illegal, match="suicide"):
        parse_record(suicide % "Japanese").board()
    parse_record(suicide % "Ing").board()
    parse_record(suicide % "Japanese").board(suicide=True)


@pytest.mark.parametrize(("setup", "legal"), [("AB[cc][dd]", True), ("AB[cc]", False), ("", False)])
def test_suicide_without_rules_is_read_as_on_the_page_and_in_stores(setup: str, legal: bool, tmp_path: Path) -> None:
    text = f"(;SZ[9]RE[B+1]{setup}PL[B];B[ba];W[hh];B[ab];W[aa];B[gg])"
    record = parse_record(text)
    board = record.board(None if legal else 3)
    assert board.colours()[0] == 0
    if not legal:
        with pytest.raises(Illegal, match="suicide"):
            record.board()
    page = load({"text": text})
    assert (len(page["tree"]), len(page["problems"])) == ((6, 0) if legal else (4, 1))
    (tmp_path / "game.sgf").write_text(text)
    (batch,) = SgfReader([str(tmp_path / "game.sgf")], Filter())
    assert len(batch) == legal


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "no game"), ("hello", "no game"), ("(;B[aa]", "cut short"), ("(;SZ[20];B[aa])", "board of 20×20"),
     ("(;B[aaa])", "unreadable"), ("(;GM[40];B[aa])", "another game"), (b"\xff\xfe\0(\0;\0", "no game")],
)  # fmt: skip
def test_what_is_no_record(text: str | bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_record(text)


@pytest.mark.parametrize(
    ("text", "moves"),
    [("(;SZ[9];B[aa];W[bb];B[", 2), ("(;SZ[9];B[aa];W[bb];B[c", 2), ("(;SZ[9];B[aa];W[bb];B[cc", 2),
     ("(;SZ[9];B[aa];W[bb];B", 2), ("(;SZ[9];B[aa];W[bb]", 2), ("(;SZ[9];B[aa];W[bb]C[a \\] b (; [", 2),
     ("(;SZ[9];B[aa]C[)];W[bb](;B[cc](;W[dd])(;W[ee", 4), ("(;SZ[9];B[aa](;W[bb]C[x\\", 2),
     ("(;SZ[9]C[(];B[aa]\n;W[bb]TR[aa][b", 2)],
)  # fmt: skip
def test_a_game_that_is_cut_short(text: str, moves: int) -> None:
    with pytest.raises(ValueError, match="cut short"):
        parse_record(text)
    record = parse_record(text, cut=True)
    assert mentions(record.problem, "cut & short & bracket")
    assert record.moves == [0, 20, 40, 60][:moves]


@pytest.mark.parametrize(
    "text", ["(;SZ[9]PB[A]", "(;SZ[9]PB[Sh", "(;SZ[9];B[", "(;SZ[20];B[aa];W[", "(;GM[2];B[aa]", "(;"]
)
def test_nothing_is_left_of_some_games(text: str) -> None:
    with pytest.raises(ValueError, match=r"cut short|another game"):
        parse_record(text, cut=True)


def test_a_chinese_game_that_is_cut_short() -> None:
    """The second byte of a character looks like a bracket."""
    text = "(;CA[GB18030]SZ[9]PB[昡];B[aa]C[昡];W[bb]C[昡".encode("gb18030")
    assert text.count(b"]") == 6 + 3
    record = parse_record(text, cut=True)
    assert (record.headers["PB"], record.moves) == ("昡", [0, 20])


@given(st.binary(max_size=60))
def test_any_end_of_a_cut_game_is_read(end: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert parse_record(b"(;SZ[9];B[aa]" + end, cut=True).moves[:1] == [0]


def test_text_and_bytes() -> None:
    assert parse_record("(;CA[GB2312]PB[古力];B[aa])").headers["PB"] == "古力"  # text has no encoding any more
    assert parse_record("(;CA[GB2312]PB[古力];B[aa])".encode("gb18030")).headers["PB"] == "古力"
    bracket = parse_record("(;CA[GBK]PB[昡];B[aa]C[昡];W[bb])".encode("gbk"))  # the second byte is a closing bracket
    assert (bracket.headers["PB"], bracket.moves) == ("昡", [0, GRID + 1])
    by_tree = parse_record("(;CA[GBK]PB[昡];B[AA]C[昡];W[bb])".encode("gbk"))  # capital letters are for the tree reader
    assert (by_tree.headers["PB"], by_tree.moves) == ("昡", [0, GRID + 1])


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text(GAME + "\n(;SZ[20];B[aa])\n" + GAME)
    (tmp_path / "b.sgf").write_bytes(b"\0\1\2")
    first, wrong, last, file = read_records([str(tmp_path)])
    assert isinstance(first, Record)
    assert first == last
    assert wrong == Unreadable(str(tmp_path / "a.sgf"), 2, "board of 20×20: SZ[20]")
    assert file == Unreadable(str(tmp_path / "b.sgf"), 0, "a binary file, not text. SGF files are text.")
    with pytest.raises(KibitzError, match="no such file"):
        list(read_records([str(tmp_path / "c.sgf")]))


def test_a_game_that_an_e_mail_quotes(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("Hello\n\n> (;GM[1]SZ[9]\n> ;B[ee]C[a > b];W[gc]\n>\n> ;B[cc])\n")
    (record, stray) = read_records([str(file)])
    assert isinstance(record, Record)
    assert len(record.moves) == 3
    assert isinstance(stray, Unreadable)
    assert stray.is_stray


def test_what_is_written_is_as_it_was_read() -> None:
    for text in (GAME, "(;SZ[13]HA[3]AB[aa][bb][cc]AW[dd]PL[B];B[ee])", "(;RE[Void];W[aa])", "(;RE[B+3.5]KM[0])"):
        record = parse_record(text)
        again = parse_record(write_sgf(record))
        for headers in (record.headers, again.headers):
            headers.clear()
        assert again == record


def test_ten_moves_are_written_in_a_line() -> None:
    head, *lines = write_sgf(parse_record("(;SZ[9]KM[0.5]" + ";B[aa];W[]" * 11 + ")")).splitlines()
    assert head == "(;FF[4]GM[1]CA[UTF-8]KM[0.5]SZ[9]"
    assert lines == [";B[aa];W[]" * 5, ";B[aa];W[]" * 5, ";B[aa];W[])"]


def test_what_a_record_without_a_header_of_its_result_says() -> None:
    def result(**fields: Any) -> str:
        return write_sgf(Record(9, **fields)).partition("RE[")[2].partition("]")[0]

    assert result() == ""
    assert result(ending="void") == "Void"
    assert result(result=0) == "0"
    assert result(result=1) == "B+"
    assert result(result=-1, margin=2.5) == "W+2.5"
    for ending, letter in (("resignation", "R"), ("time", "T"), ("forfeit", "F")):
        assert result(result=1, ending=ending, margin=3.0) == f"B+{letter}"


def test_notes_and_headers() -> None:
    record = parse_record(GAME)
    text = write_sgf(
        record, {0: {"C": ["start ] \\"]}, 2: {"TR": ["aa", "bb"], "LB": ["cc:1"]}}, {"AP": "kibitz:1", "KM": "7"}
    )
    game = sgf.Sgf_game.from_string(text)
    nodes = list(game.get_main_sequence())
    assert nodes[0].get("C") == "start ] \\"
    assert nodes[0].get("AP") == ("kibitz", "1")
    assert nodes[0].get("KM") == 7
    assert nodes[2].get("TR") == {(8, 0), (7, 1)}
    assert nodes[2].get("LB") == [((6, 2), "1")]
    assert game.get_player_name("b") == "a]b"
    assert game.get_winner() == "w"


@given(
    st.integers(0, 2**32),
    st.sampled_from([9, 13, 19]),
    st.integers(0, 150),
    st.floats(-20, 20).map(lambda x: round(x * 2) / 2),
)
@settings(max_examples=share(0.5))
def test_any_game_comes_back(seed: int, size: int, plies: int, komi: float) -> None:
    moves = random_game(seed, size, plies)
    record = Record(size, moves=moves, komi=komi, result=1, ending="time", headers={"PB": "]\\[ é 古"})
    text = write_sgf(record)
    again = parse_record(text)
    assert (again.moves, again.size, again.komi, again.result, again.ending) == (moves, size, komi, 1, "time")
    assert again.headers["PB"] == "]\\[ é 古"
    board, played = sgf_moves.get_setup_and_moves(sgf.Sgf_game.from_string(text))
    for colour, at in played:
        if at is not None:
            board.play(*at, colour)
    colours = again.board().colours().reshape(GRID, GRID)
    for row in range(size):
        for column in range(size):
            assert {None: 0, "b": BLACK, "w": WHITE}[board.get(row, column)] == colours[size - 1 - row, column]


@given(st.integers(0, 2**32), st.integers(0, 80))
@settings(max_examples=share(0.1))
def test_games_written_by_sgfmill(seed: int, plies: int) -> None:
    moves = random_game(seed, 13, plies)
    game = sgf.Sgf_game(13, encoding="UTF-8")
    game.root.set("KM", 6.5)
    for ply, point in enumerate(moves):
        at = None if point == PASS else (12 - point // GRID, point % GRID)
        game.extend_main_sequence().set_move("bw"[ply % 2], at)
    record = parse_record(game.serialise())
    assert (record.moves, record.size, record.komi) == (moves, 13, 6.5)


def test_void_and_draw_and_nothing_are_told() -> None:
    for record, value in (
        (Record(19, ending="void", result=0), "RE[Void]"),
        (Record(19, ending="counted", result=0, margin=0.0), "RE[0]"),
        (Record(19, ending="counted", result=-1, margin=2.5), "RE[W+2.5]"),
        (Record(19, ending="forfeit", result=1), "RE[B+F]"),
    ):
        assert value in write_sgf(record)
    assert "RE" not in write_sgf(Record(19))


def test_moves_before_one_outside_the_board_are_kept() -> None:
    """As before set-up stones among the moves, and as on the board. Without a move, there is no game."""
    record = parse_record("(;SZ[9]KM[5.5];B[ee];W[cc];B[jj];W[gg])")
    assert len(record.moves) == 2
    assert mentions(record.problem or "", "3 & board")
    assert parse_record("(;SZ[9]KM[5.5];B[ee];W[cc];B[gc];W[gg])").problem is None
    with pytest.raises(ValueError, match="outside the board"):
        parse_record("(;SZ[9]KM[5.5];B[jj];W[gg])")


@pytest.mark.parametrize("charset", ["", "CA[Shift_JIS]", "CA[GB2312]", "CA [UTF-16]"])
def test_utf16_counts_more_than_the_named_charset(tmp_path: Path, charset: str) -> None:
    """An editor that saves as "Unicode" leaves CA as it was."""
    file = tmp_path / "game.sgf"
    file.write_bytes(f"\ufeff(;GM[1]{charset}SZ[9]PB[柯洁]PW[Müller];B[ee])".encode("utf-16-le"))
    (record,) = read_records([str(file)])
    assert isinstance(record, Record)
    assert (record.headers["PB"], record.headers["PW"]) == ("柯洁", "Müller")
