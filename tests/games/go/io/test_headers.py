"""What headers say: ranks, results, komi, rules; and the encodings that they come in."""

from __future__ import annotations

import datetime
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.games.go.io.headers import assumptions, interpret_headers, read_komi, read_result, read_rules
from kibitz.games.go.io.text import charset_of, put_right, read_headers, unscramble
from kibitz.games.go.ranks import read_rank
from support.causes import each_mentions


@pytest.mark.parametrize(
    ("text", "read"),
    [("B+3.5", (1, 3.5, "counted")), ("W+R", (-1, None, "resignation")), ("W+Resign", (-1, None, "resignation")),
     ("B+T", (1, None, "time")), ("B+Time", (1, None, "time")), ("W+F", (-1, None, "forfeit")),
     ("B+Offline", (1, None, "forfeit")), ("0", (0, 0.0, "counted")), ("Draw", (0, 0.0, "counted")),
     ("Jigo", (0, 0.0, "counted")), ("Void", (0, None, "void")), ("?", (None, None, "unknown")),
     ("", (None, None, "unknown")), ("B+", (1, None, "unknown")), ("w+0.50", (-1, 0.5, "counted")),
     ("W+0.0", (-1, None, "unknown")), ("B+0.02", (1, None, "unknown")), ("B+2,5", (1, 2.5, "counted")),
     ("B+1/2", (1, 0.5, "counted")), ("W+2 3/4", (-1, 2.75, "counted")), ("B+3又1/4子", (1, 6.5, "counted")),
     ("B+½", (1, 0.5, "counted")), ("W+.5", (-1, 0.5, "counted")), ("B+1/3", (1, None, "unknown")),
     ("Black wins", (1, None, "unknown")), ("Black wins game 3 by 2.5 points", (1, 2.5, "counted")),
     ("Black won by 3.5 in game 2", (1, 3.5, "counted")), ("第3局 白胜2又3/4子", (-1, 5.5, "counted")),
     ("第3局 黑胜半目", (1, 0.5, "counted")), ("黑贴3又3/4子胜1/4子", (1, 0.5, "counted"))],
)  # fmt: skip
def test_results(text: str, read: tuple[int | None, float | None, str]) -> None:
    assert read_result(text) == read


@pytest.mark.parametrize("digits", [400, 5000])
def test_numbers_that_no_float_holds_are_none(digits: int) -> None:
    long = "9" * digits
    for text in (f"{long} 1/2", f"1/{long}", f"{long}½"):
        assert read_komi(text, None, None, 0) == 0
        assert read_result(f"B+{text}") == (1, None, "unknown")
    assert read_result("黑胜" + "九" * digits + "子") == (1, None, "unknown")
    assert read_komi("9 1/2", None, None, 0) == 9.5
    assert read_result("黑胜九子") == (1, 18, "counted")


@pytest.mark.parametrize("text", ["9" * 30_000, "9" + " " * 30_000, "9 " * 15_000])
def test_the_time_to_read_a_komi_is_proportional_to_its_length(text: str) -> None:
    began = time.process_time()
    read_komi(text, None, None, 0)
    assert time.process_time() - began < 2, "with a second start at each digit, it is 10 s"


@pytest.mark.parametrize(
    ("text", "margin", "rules", "handicap", "komi"),
    [("6.5", None, None, 0, 6.5), ("650", None, None, 0, 6.5), ("375", None, "chinese", 0, 7.5),
     ("3.75", None, "chinese", 0, 7.5), ("0", None, None, 0, 0.0), ("", None, None, 0, 0.0),
     ("0", 0.5, "japanese", 0, 6.5), ("0", 2.5, "chinese", 0, 7.5),
     ("8", 2.5, "ing", 0, 7.5), ("8", 2.0, "ing", 0, 8.0), ("7", 2.5, "new zealand", 0, 6.5),
     ("7", 2.0, "new zealand", 0, 7.0), ("0", 3.0, "japanese", 2, 0.0),
     ("", 3.5, "japanese", 3, 0.5), ("-9.5", None, None, 0, -9.5), ("5,5", None, None, 0, 5.5),
     (".5", None, None, 0, 0.5), ("6½", None, None, 0, 6.5), ("+6.5", None, None, 0, 6.5),
     ("3 3/4", None, None, 0, 7.5), ("65.00", None, None, 0, 65.0), ("65", None, None, 0, 6.5),
     ("none", None, None, 0, 0.0), ("6目半", None, "japanese", 0, 6.5), ("-5 目半", None, None, 0, -5.5),
     ("6집반", None, "korean", 0, 6.5), ("6目", None, "japanese", 0, 6.0),
     ("６．５", None, None, 0, 6.5), ("－５．５", None, None, 0, -5.5), ("六目半", None, None, 0, 6.5),
     ("덤 6호반", None, None, 0, 6.5), ("コミ6目半", None, None, 0, 6.5), ("5目半コミ出し", None, None, 0, 5.5),
     ("黑贴3又3/4子", None, None, 0, 7.5), ("3.5子", None, None, 0, 7.0), ("三又四分之三子", None, None, 0, 7.5),
     ("7.5子", None, None, 0, 7.5)],
)  # fmt: skip
def test_komi(text: str, margin: float | None, rules: str | None, handicap: int, komi: float) -> None:
    assert read_komi(text, margin, rules, handicap) == komi


@pytest.mark.parametrize(
    ("text", "rules"),
    [("Japanese", "japanese"), ("jp", "japanese"), ("Chinese", "chinese"), ("AGA", "aga"), ("NZ", "new zealand"),
     ("New Zealand", "new zealand"), ("Ing GOE", "ing"), ("GOE", "ing"), ("Tromp-Taylor", "tromp-taylor"),
     ("Korean", "korean"), ("韓国", "korean"), ("韓國規則", "korean"), ("応氏", "ing"),
     ("日本", "japanese"), ("", None), ("house", None)],
)  # fmt: skip
def test_rules(text: str, rules: str | None) -> None:
    assert read_rules(text) == rules


@pytest.mark.parametrize(
    ("headers", "komi", "rules", "handicap", "told"),
    [({}, 0, None, 0, ["komi & 0"]),
     ({"KM": " "}, 6.5, None, 0, ["komi & 6.5"]),
     ({"KM": "none"}, 0, None, 0, ["komi & none & 0"]),
     ({"KM": "0", "RU": "Weird\n"}, 0, None, 0, ["rules & Weird & area"]),
     ({"KM": "6.5", "RU": "Japanese", "HA": "0"}, 6.5, "japanese", 0, []),
     ({"KM": "0.5", "HA": "3"}, 0.5, None, 0, ["3 & stones"]),
     ({"KM": "0.5", "HA": "３"}, 0.5, None, 0, ["３ & stones"]),
     ({"KM": "0.5", "HA": "3"}, 0.5, None, 3, []), ({"KM": "0.5", "HA": "3", "AW": "aa"}, 0.5, None, 0, [])],
)  # fmt: skip
def test_what_is_assumed(
    headers: dict[str, str], komi: float, rules: str | None, handicap: int, told: list[str]
) -> None:
    assert each_mentions(assumptions(headers, komi, rules, handicap), *told)


@pytest.mark.parametrize(
    "text",
    ["2015-6-3", "2015-6-3 12:30", "2015/6/3 12:00", "2015年6月3日", "2015년 6월 3일", "2015-6-3,4", "2015-6-3~4",
     "2015.06.03T10:00", "2015 06 03", "２０１５年６月３日"],
)  # fmt: skip
def test_a_day_may_be_followed_by_anything(text: str) -> None:
    assert interpret_headers({"DT": text}, 0, 19).date == datetime.date(2015, 6, 3)


@pytest.mark.parametrize(
    ("text", "first"),
    [("2015", (2015, 1, 1)), ("2015-06", (2015, 6, 1)), ("2015-06-??", (2015, 6, 1)), ("2015-00-00", (2015, 1, 1)),
     ("20150603", None), ("2015-13-03", None), ("3.6.2015", None), ("", None), ("0000-00-00", None)],
)  # fmt: skip
def test_days_that_are_not_known(text: str, first: tuple[int, int, int] | None) -> None:
    assert interpret_headers({"DT": text}, 0, 19).date == (datetime.date(*first) if first else None)


def test_a_damaged_head_is_read_in_one_pass() -> None:
    """Each of these texts would take hours if a search began again at each letter."""
    for rest in ("C[" + "x" * 1_000_000, "x" * 1_000_000, "C[" * 500_000, "C[" + "\\]" * 500_000 + "\\"):
        assert read_headers("(;PB[Go]" + rest) == {"PB": "Go"}
    assert read_headers("(;PB[Go]C[" + "x" * 1_000_000 + "]PW[Shu]")["PW"] == "Shu"


def test_all_of_it() -> None:
    info = interpret_headers({"RE": "W+1.75", "KM": "375", "RU": "Chinese", "DT": "2005-03-08,09", "BR": "3d"}, 0, 19)
    assert (info.result, info.margin, info.komi, info.rules) == (-1, 3.5, 7.5, "chinese")  # stones made points
    assert info.date == datetime.date(2005, 3, 8)
    assert (info.black_rank, info.white_rank) == ("3d", None)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("(;PB[Lee Sedol])", "utf-8"), ("(;PB[忧郁的孤影]PW[楚阳春])", "utf-8"),
     ("(;PB[忧郁的孤影]PW[楚阳春])", "gb18030"),
     ("(;PB[羽根泰正]PW[たけみや])", "shift_jis"), ("(;PB[이세돌 구단]PW[박정환 구단])", "euc_kr"),
     ("(;PB[柯洁]PW[李世石]EV[三星杯])", "gb18030"), ("(;PB[周俊勳]PW[王元均]EV[名人戰])", "big5"),
     ("(;PB[黑嘉嘉]PW[謝依旻])", "big5"), ("(;PB[趙治勲]PW[小林光一]EV[第１５期名人戦])", "shift_jis"),
     ("(;PB[井山裕太]PW[一力遼]EV[棋聖戦])", "euc_jp"), ("(;PB[신진서]PW[최정])", "euc_kr"),
     ("(;PB[José Müller])", "latin-1"), ("(;PB[Åsa Öberg])", "latin-1")],
)  # fmt: skip
def test_an_encoding_is_guessed(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    assert data.decode(charset_of(data)) == text


@pytest.mark.parametrize("encoding", ["gb18030", "utf-8", "big5", "latin-1"])
def test_a_record_read_as_latin_letters_is_put_right(encoding: str) -> None:
    text = "(;PB[François]PW[Björn])" if encoding == "latin-1" else "(;PB[張栩]PW[山下敬吾]EV[名人])"
    for wrong in ("latin-1", "cp1252"):
        read = "".join(bytes((byte,)).decode(wrong, "replace") for byte in text.encode(encoding))
        if "�" not in read:  # Windows' code page lacks five bytes
            assert put_right(read) == text
    assert put_right("(;PB[柯洁]PW[Müller])") == "(;PB[柯洁]PW[Müller])"


def test_ca_is_believed_where_it_is_right() -> None:
    data = "(;CA[GB2312]PB[联通])".encode("gb18030")  # which happens to be UTF-8 too
    assert "联通" in data.decode(charset_of(data))
    data = "(;CA[Shift_JIS]PB[武宮正樹])".encode("shift_jis")
    assert "武宮正樹" in data.decode(charset_of(data))
    data = "(;CA[Shift_JIS]PB[髙尾紳路]EV[①])".encode("cp932")  # as Windows has it
    assert "髙尾紳路]EV[①" in data.decode(charset_of(data))
    data = "(;CA[UTF-8]PB[楚阳春忧郁的孤影])".encode("gb18030")  # not right
    assert "楚阳春" in data.decode(charset_of(data))
    assert charset_of("(;CA[nonsense]PB[é])".encode()) == "utf-8"
    for name in ("UTF-16", "UTF-32", "cp037"):  # a text with brackets of one byte is in none of these
        for blanks in ("", " ", "  ", "   "):
            data = f"(;CA[{name}]{blanks}PB[井山裕太])".encode()
            assert read_headers(data.decode(charset_of(data)))["PB"] == "井山裕太"


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded(data: bytes) -> None:
    read_headers(data.decode(charset_of(data)))


def test_text_read_with_the_wrong_encoding_is_put_right() -> None:
    assert unscramble("蔡文驰".encode().decode("latin-1")) == "蔡文驰"
    assert unscramble("9段]".encode().decode("gb18030")) == "9段]"
    assert unscramble("檀啸") == "檀啸"  # in Chinese bytes these are UTF-8 for something odd
    assert unscramble("José") == "José"


LOST = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))


def scrambled(text: str, encoding: str) -> str:
    """What is left of a UTF-8 text that was written with `?` for the bytes that cp1252 lacks."""
    return "".join("?" if byte in LOST else bytes((byte,)).decode(encoding) for byte in text.encode())


@pytest.mark.parametrize(
    ("meant", "read"),
    [("聂明", "聂明"), ("梁", "梁"), ("卢光亏 9段", "卢光亏 9段"), ("梁明?", "梁明?"), ("ふかし", "ふかし"),
     ("李明", "\ufffd明"), ("品明", "\ufffd明"),  # other common characters may have stood there
     ("明\u3401", "明\ufffd")],  # and here no common one
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_names_that_lost_bytes_are_put_right(meant: str, read: str, encoding: str) -> None:
    left = scrambled(meant, encoding)
    assert "?" in left
    assert unscramble(left) == read
    assert read_headers(f"(;PB[{left}]PW[b])") == {"PB": read, "PW": "b"}


@pytest.mark.parametrize(
    "name",
    [
        "José?",
        "é??",
        "Zoë??",
        "ça? été",
        "Ã?",
        "Ñuño?²",
        "æ?",
        "?é",
        "李?",
        "who?",
        "Björn (3d?)",
        "æ?Ž and Müller",
        "¿qué?",
    ],
)
def test_names_that_lost_nothing_stay(name: str) -> None:
    assert unscramble(name) == name


@given(st.text(max_size=12))
def test_names_in_latin_letters_stay(name: str) -> None:
    latin = "".join(letter for letter in name if letter < "\u0250" and letter.isprintable()) + "é ?"
    assert unscramble(latin) == latin


def test_headers() -> None:
    head = "(;GM[1]PB[]PW[a \\] b\\\\]GN[two\nlines] ;PB[second]PW[other]EV[x\\\ny]"
    assert read_headers(head) == {"GM": "1", "PB": "second", "PW": "a ] b\\", "GN": "two lines", "EV": "xy"}


def test_words_about_a_game_are_no_headers() -> None:
    head = "(;GM[1]C[The server wrote  RE[B+R\\] but White won]EV[a  PW[x\\]]PB[a]PW[b]RE[W+3.5]"
    found = read_headers(head)
    assert (found["RE"], found["PW"], found["EV"]) == ("W+3.5", "b", "a PW[x]")
    assert found["C"].startswith("The server wrote RE[B+R] but")


def test_a_header_that_lost_its_bracket() -> None:
    headers = read_headers("(;BR[9娈礭  WR[P9娈礭  KM[650]HA[0]RE[W+R]")
    assert {name: headers[name] for name in ("KM", "HA", "RE")} == {"KM": "650", "HA": "0", "RE": "W+R"}
    assert read_rank(headers["BR"]) == "9d"
    assert read_rank(headers["WR"]) == "9p"


def test_a_text_that_says_utf8_is_believed_while_it_has_few_letters() -> None:
    assert put_right("(;GM[1]CA[UTF-8]C[¢Ã])") == "(;GM[1]CA[UTF-8]C[¢Ã])"
    chinese = "(;GM[1]CA[UTF-8]PB[古力]PW[李世石]EV[三星杯决赛])"
    assert put_right(chinese.encode("gb18030").decode("latin-1")) == chinese
