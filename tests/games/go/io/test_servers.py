"""Records as servers and people write them: results in words, komi in hundredths, Tygem's own format, odd roots."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf

from kibitz import records
from kibitz.games.go.io.blocks import Games
from kibitz.games.go.io.results import Result, read_result
from kibitz.games.go.io.scan import find_games, main_lines
from kibitz.games.go.io.sgf import Record, Unreadable, parse_record, read_records
from kibitz.games.go.points import WHITE, from_gtp
from kibitz.web import files
from kibitz.web.go.files import load_sgf
from support.causes import each_mentions, mentions


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("黑中盘胜", (1, None, "resignation")), ("白中盘胜", (-1, None, "resignation")),
        ("黑中盘负", (-1, None, "resignation")), ("黑胜2又3/4子", (1, 5.5, "counted")),
        ("白胜¼子", (-1, 0.5, "counted")), ("黑胜一又四分之三子", (1, 3.5, "counted")),
        ("白胜3.75子", (-1, 7.5, "counted")), ("白胜半目", (-1, 0.5, "counted")), ("黑超时负", (-1, None, "time")),
        ("黑超时胜", (1, None, "time")), ("黒番三目半勝ち", (1, 3.5, "counted")),
        ("白 十一目半勝", (-1, 11.5, "counted")),
        ("白中押し勝ち", (-1, None, "resignation")), ("黒時間切れ負け", (-1, None, "time")),
        ("白時間切れ勝ち", (-1, None, "time")), ("흑불계승", (1, None, "resignation")),
        ("백 2집반승", (-1, 2.5, "counted")),
        ("백 반집승", (-1, 0.5, "counted")), ("흑시간승", (1, None, "time")), ("백시간패", (1, None, "time")),
        ("무승부", (0, 0.0, "counted")), ("ジゴ", (0, 0.0, "counted")), ("无胜负", (0, None, "void")),
        ("Black wins by resignation", (1, None, "resignation")), ("White wins by 2.5", (-1, 2.5, "counted")),
        ("White won by 12½ points.", (-1, 12.5, "counted")), ("Black resigns", (-1, None, "resignation")),
        ("black lost on time", (-1, None, "time")), ("White forfeits", (1, None, "forfeit")),
        ("W+三目半", (-1, 3.5, "counted")), ("Ｂ＋３．５", (1, 3.5, "counted")), ("B+2又3/4子", (1, 5.5, "counted")),
        ("unknown", (None, None, "unknown")), ("?", (None, None, "unknown")),
    ],
)  # fmt: skip
def test_results_in_words(text: str, result: Result) -> None:
    assert read_result(text) == result
    assert parse_record(f"(;SZ[9]RE[{text}];B[ee])").result == result[0]


@pytest.mark.parametrize(
    ("headers", "komi"),
    [
        ("KM[50]AP[foxwq]", 0.5), ("KM[375]AP[foxwq]", 7.5), ("KM[350]AP[foxwq]", 7.0), ("KM[650]AP[foxwq]", 6.5),
        ("KM[375]AP[GNU Go:3.8]AP[foxwq]", 7.5), ("KM[50]AP[GNU Go:3.8]AP[foxwq]", 0.5), ("KM[0]AP[foxwq]", 0.0),
        ("KM[6.5]AP[foxwq]", 6.5), ("KM[50]", 50.0), ("KM[350]", 3.5),
    ],
)  # fmt: skip
def test_komi_in_hundredths(headers: str, komi: float) -> None:
    text = f"(;GM[1]SZ[19]{headers};B[pd];W[dp])"
    assert parse_record(text).komi == komi
    assert load_sgf(text, 0)["line"]["komi"] == komi


SINA = "(\nTE[第55届]\nRD[2016-03-03]\nPC[]\nKO[6.5]\nRE[黑中盘胜]\nPB[甲]\nPW[乙]\n\n;B[qd];W[dd];B[dp])\n"


def test_a_root_without_its_semicolon() -> None:
    for data in (SINA.encode(), SINA.encode("gbk")):
        record = parse_record(data)
        assert (record.komi, record.result, record.ending) == (6.5, 1, "resignation")
        assert record.headers["EV"] == "第55届"
        assert record.headers["DT"] == "2016-03-03"
        assert len(record.moves) == 3
    shown = load_sgf(SINA, 0)
    assert files.load({"text": SINA}) == shown, "the page takes the text, too"
    assert (shown["line"]["komi"], shown["headers"]["EV"], len(shown["tree"])) == (6.5, "第55届", 4)


GIB = r"""\HS
\[GAMEBLACKNAME=kim (9D)\]
\[GAMEWHITENAME=lee (8D)\]
\[GAMEDATE=2013-10- 9-21-30-00\]
\[GAMEINFOMAIN=GBKIND:3,GTYPE:0,GCDT:3,GTIME:600-30-3,GRLT:{code},ZIPSU:{margin},DUM:0,GONGJE:65,TCNT:239,AUSZ:0\]
\[GAMERESULT=black resign\]
\HE
\GS
2 1 0
119 0 &4
INI 0 1 {stones} &4
STO 0 2 {first} 16 3
STO 0 3 {second} 3 3
SKI 0 4
STO 0 5 {second} 15 15
\GE
"""


@pytest.mark.parametrize(
    ("code", "margin", "result"),
    [(3, 0, (1, None, "resignation")), (4, 0, (-1, None, "resignation")), (0, 35, (1, 3.5, "counted")),
     (1, 125, (-1, 12.5, "counted")), (7, 0, (1, None, "time"))],
)  # fmt: skip
def test_tygem(tmp_path: Path, code: int, margin: int, result: Result) -> None:
    text = GIB.format(code=code, margin=margin, stones=0, first=1, second=2)
    (tmp_path / "game.gib").write_text(text, encoding="utf-8")
    (record,) = read_records([str(tmp_path)])
    assert isinstance(record, Record)
    assert (record.result, record.margin, record.ending) == result
    assert (record.komi, record.headers["PB"], record.headers["BR"], record.headers["DT"]) == (
        6.5, "kim", "9D", "2013-10-09",
    )  # fmt: skip
    assert record.moves == [from_gtp(point, 19) for point in ("R16", "D16", "pass", "Q4")]
    assert len(load_sgf(text, 0)["tree"]) == 5
    assert files.load({"text": text})["headers"]["PB"] == "kim", "the page takes the text, too"


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_tygem_with_other_ends_of_lines(end: str) -> None:
    text = GIB.format(code=0, margin=35, stones=0, first=1, second=2)
    assert parse_record(text.replace("\n", end)) == parse_record(text)


def test_a_tygem_file_that_is_cut_short_is_reported(tmp_path: Path) -> None:
    text = GIB.format(code=3, margin=0, stones=0, first=1, second=2)
    file = tmp_path / "game.gib"
    file.write_text(text.partition("SKI")[0], encoding="utf-8")
    (found,) = read_records([str(file)])
    assert isinstance(found, Unreadable)
    assert "cut short" in found.reason
    (part,) = read_records([str(file)], cut=True)
    assert isinstance(part, Record)
    assert (len(part.moves), part.problem is None) == (2, False)
    file.write_text(text, encoding="utf-8")
    (whole,) = read_records([str(file)])
    assert isinstance(whole, Record)


def test_tygem_with_handicap_and_a_korean_name() -> None:
    text = GIB.format(code=4, margin=0, stones=3, first=2, second=1).replace("kim", "김철수")
    record = parse_record(text.encode("euc_kr"))
    assert record.headers["PB"] == "김철수"
    assert (record.handicap, record.side, len(record.black)) == (3, WHITE, 3)
    assert record.moves[0] == from_gtp("R16", 19)


def test_tygem_with_more_handicap_stones_than_there_are_places_for_is_refused() -> None:
    """Their places are not known: with the usual points alone, the position would be another one."""
    text = GIB.format(code=4, margin=0, stones="{}", first=2, second=1)
    assert len(parse_record(text.format(9)).black) == 9
    with pytest.raises(ValueError, match="outside the board"):
        parse_record(text.format(10))


def test_files_of_tygem_are_games_of_go(tmp_path: Path) -> None:
    (tmp_path / "game.gib").write_text(GIB.format(code=3, margin=0, stones=0, first=1, second=2), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no game")
    found = records.find([str(tmp_path)], tuple(records.ENDINGS))
    assert (found, records.games_by_ending(found)) == ([str(tmp_path / "game.gib")], {"go": found[0]})


def test_stones_set_up_among_the_moves_end_a_record(tmp_path: Path) -> None:
    text = "(;GM[1]SZ[9]RE[B+R];B[ee];W[ec];AB[aa][bb];B[cc])"
    record = parse_record(text)
    assert len(record.moves) == 2
    assert mentions(record.problem, "2 & stones")
    assert parse_record(text.replace("AB[aa][bb]", "")).problem is None
    file = tmp_path / "game.sgf"
    file.write_text(text)
    (read,) = read_records([str(file)])
    assert isinstance(read, Record)
    assert read.moves == record.moves


def test_text_that_belongs_to_no_game_is_reported(tmp_path: Path) -> None:
    game = "(;GM[1]SZ[9];B[ee];W[ec])\n"
    file = tmp_path / "games.sgf"
    file.write_text(f"{game}\nnotes by the club\n{game}1. e4 e5\n")
    read = list(read_records([str(file)]))
    assert [type(one) for one in read] == [Record, Record, Unreadable, Unreadable]
    reasons = [one.reason for one in read if isinstance(one, Unreadable)]
    assert each_mentions(reasons, "line 3 & notes by the club", "line 5 & 1. e4 e5")
    assert mentions(load_sgf(file.read_text(), 0)["problems"][0], "line & 3 & text")
    file.write_text(game * 2)
    assert [type(one) for one in read_records([str(file)])] == [Record, Record]


moves = st.lists(st.sampled_from(["aa", "ee", "ci", "", "tt", "gc", "hh"]), min_size=1, max_size=8)
blanks = st.sampled_from(["", " ", "\n", "\r\n", "\t", " \n "])


@given(moves, st.lists(blanks, min_size=8, max_size=8), st.booleans(), st.integers(0, 400))
@settings(deadline=None, max_examples=150)
def test_fast_and_tree_reader_agree_on_reformatted_and_damaged_text(
    points: list[str], gaps: list[str], among: bool, cut: int
) -> None:
    """The scanner of main lines, the tree reader and sgfmill on one game; then on a part of it."""
    nodes = "".join(
        f"{gaps[i % 8]};{gaps[(i + 1) % 8]}{'BW'[i % 2]}{gaps[(i + 2) % 8]}[{point}]C[x\\]({gaps[(i + 3) % 8]}]"
        for i, point in enumerate(points)
    )
    setup = f"AB[dd:df]{';AW[aa]AE[dd]' if among else ''}"
    text = f"(;{gaps[0]}GM[1]{gaps[1]}SZ[9]KM[6.5]{setup}{nodes}({gaps[2]};B[bb])(;W[cc]))"
    data = text.encode()
    begins, ends, closed = find_games(data)
    games = Games(data, begins, ends, [""], [1], closed, main_lines(data, begins, ends))
    fast = _line(games)
    games._parse_as_tree(0)
    assert _line(games) == fast
    by_sgfmill = sgf.Sgf_game.from_bytes(data).get_main_sequence()
    assert len(fast[2]) == sum(node.has_property(name) for node in by_sgfmill for name in "BW")
    part = text[:cut]
    try:
        record = parse_record(part, cut=True)
    except ValueError:
        return
    whole = parse_record(text)
    assert record.moves == whole.moves[: len(record.moves)]


def _line(games: Games) -> tuple[int, list[int], list[int]]:
    first = int(games.lines.first[0])
    written = games.lines.written[first : first + int(games.lines.move_count[0])].tolist()
    return int(games.lines.status[0]), games.lines.setup[0].tolist(), written
