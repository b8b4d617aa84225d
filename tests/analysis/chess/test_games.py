"""Reading games: what counts as one, what is left out with what words, and that nothing makes it raise or hang."""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import re
from pathlib import Path

import chess.pgn
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kibitz.errors import KibitzError
from kibitz.games.chess.io import blocks
from kibitz.games.chess.io import reader as games
from kibitz.games.chess.io.blocks import Stray
from kibitz.games.chess.io.exporter import Exporter
from kibitz.games.chess.io.reader import Record, glance, parse, read
from kibitz.games.chess.io.tags import read_headers
from kibitz.records import Stream
from support.causes import each_mentions, mentions, naming
from support.helpers import GAMES

SCHOLAR = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n'


def read_text(path: Path, text: str | bytes, wanted: int | None = None) -> list[Record]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read(str(path), wanted))


def moves(record: Record) -> list[str]:
    return [node.san() for node in record.game.mainline()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "games.pgn"


def test_the_bundled_games_are_those_that_python_chess_reads() -> None:
    text = io.StringIO(next(Stream(str(GAMES)).blocks(1 << 16)).decode())
    for number, record in zip(range(1, 30), read(str(GAMES)), strict=False):
        assert record.number == number
        assert record.refused is record.problem is None
        assert record.game.accept(chess.pgn.StringExporter(columns=None)) == str(chess.pgn.read_game(text))


def test_a_game_by_number(file: Path) -> None:
    text = "".join(f'[White "{name}"]\n\n1. e4 {{{name}}} *\n\n' for name in "abc")
    (record,) = read_text(file, text, 2)
    assert (record.number, record.game.headers["White"]) == (2, "b")
    with pytest.raises(KibitzError, match=naming("4 & 3 games & --game & 1")):
        read_text(file, text, 4)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_packings_and_line_ends(pack: type[bytes], ends: str, file: Path) -> None:
    text = ("\ufeff" + SCHOLAR * 2).replace("\n", ends)
    first, second = read_text(file, pack(text.encode()))
    assert moves(first) == moves(second) == ["e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7#"]
    assert first.game.headers["Result"] == "1-0"


def test_lines_across_blocks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "BLOCK", 3)
    (record,) = read_text(file, "\ufeff" + SCHOLAR.replace("\n", "\r\n"))
    assert len(moves(record)) == 7
    assert record.game.headers["Black"] == "B"


def test_utf8_and_latin1_in_one_file(file: Path) -> None:
    first, second = read_text(
        file, '[White "Müller"]\n\n1. e4 *\n\n'.encode() + '[White "Müller"]\n\n1. d4 *\n'.encode("latin-1")
    )
    assert first.game.headers["White"] == second.game.headers["White"] == "Müller"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n\n\n",
        b"these are words\n\nand more words\n",
        bytes(range(1, 256)) * 50,
        b"# A heading\n\nthe pawn went e4 and then\n",
    ],
)
def test_no_game(text: bytes, file: Path) -> None:
    with pytest.raises(KibitzError, match="no game headers"):
        read_text(file, text)


@pytest.mark.parametrize("text", [b"\x00" * 3000, b"\x7fELF\x00\x01 a2 e4 Nf3\n"])
def test_a_binary_file_is_no_game_even_where_it_spells_a_move(text: bytes, file: Path) -> None:
    with pytest.raises(KibitzError, match="binary"):
        read_text(file, text)


def test_a_missing_file() -> None:
    with pytest.raises(KibitzError, match=r"nowhere\.pgn: no such file"):
        list(read("nowhere.pgn"))


def test_text_between_games_is_not_counted(file: Path) -> None:
    records = read_text(file, f"a collection\n\nby somebody\n\n{SCHOLAR}\nwords\n\n1. d4 d5 *\n", None)
    assert [(record.number, len(moves(record))) for record in records] == [(1, 7), (2, 2)]
    assert moves(read_text(file, file.read_bytes(), 2)[0]) == ["d4", "d5"]


def test_an_illegal_move_ends_the_main_line(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = "1. e4 e5 2. Ke3 Nc6 ( 2... Nf6 ) ) 3. Nf3 { and on } *\n\n" + SCHOLAR
    with caplog.at_level(logging.WARNING):
        broken, whole = read_text(file, text)
    assert moves(broken) == ["e4", "e5"]
    assert broken.problem == "move 2. 'Ke3' is illegal"
    assert whole.problem is None
    assert not caplog.records  # python-chess would log it too, below the program's own line


def test_an_illegal_move_in_a_variation_leaves_the_main_line_whole(file: Path) -> None:
    text = (
        "1. e4 (1. d4 {queen's pawn} Qh8 $2 {lost} (1. c4 {lost} Nf6) 2. c4) 1... e5 (1... c5 2. Nf3 (2. Nc3)) "
        "2. Nf3 {kept} (2. Ke5 {lost} d6) 2... Nc6 $1 3. Bb5 *\n"
    )
    (record,) = read_text(file, text)
    assert record.problem is None
    assert each_mentions(record.notes, "1… & Qh8 & variation", "2. & Ke5 & variation")
    exporter = chess.pgn.StringExporter(headers=False, columns=None)
    assert record.game.accept(exporter) == (
        "1. e4 ( 1. d4 { queen's pawn } ) 1... e5 ( 1... c5 2. Nf3 ( 2. Nc3 ) ) 2. Nf3 { kept } 2... Nc6 $1 3. Bb5 *"
    )


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ('[Variant "Atomic"]', "Atomic"),
        ('[Variant "Chess960"]', "Chess960"),
        ('[Variant "\x1b[31mred"]', r"\[31mred"),
        ('[FEN "no board"]', "start position"),
        ('[FEN "bnrbkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNRBKRQN w KQkq - 0 1"]', "castling rights of Chess960"),
        ('[FEN "8/8/8/8/8/8/8/K7 w - - 0 1"]', "king"),
        ('[FEN "7k/8/5K2/6Q1/8/8/8/7R w - - 0 1"]', "check"),
        ('[FEN "7k/8/8/8/8/8/8/KK6 w - - 0 1"]', "king"),
        (
            '[FEN "7k/8/8/8/8/8/8/KP6 w - - 0 1"]',
            "pawn",
        ),
    ],
)
def test_what_cannot_be_analysed(headers: str, why: str, file: Path) -> None:
    refused, whole = read_text(file, f"{headers}\n\n1. e4 {{ 2. x }} *\n\n{SCHOLAR}")
    assert refused.refused is not None
    assert re.search(why, refused.refused)
    assert whole.number == 2
    assert whole.refused is None


def test_set_up_positions(file: Path) -> None:
    (record,) = read_text(file, '[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 30"]\n\n30... Kd7 31. e4 *\n')
    assert moves(record) == ["Kd7", "e4"]


def test_a_comment_without_end_does_not_fill_the_memory(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_GAME_BYTES", 5000)
    monkeypatch.setattr(games, "BLOCK", 1000)
    with pytest.raises(KibitzError, match=naming("end & game")):
        read_text(file, SCHOLAR + "\n1. d4 {" + "no end\n" * 1000)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_games_never_make_it_raise(tmp_path: Path, data: st.DataObject) -> None:
    text = bytearray(
        b'[White "A"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 (1. Kd2 {x} (1. e3 Kd7)) Kd7 $2 2. e5 *\n\n'
        + SCHOLAR.encode()
    )
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        piece = data.draw(
            st.sampled_from([b"", b"(", b")", b"{", b"}", b"\n\n", b"[", b'"', b"$", b"\xff", b"--", b"*"])
        )
        text[at : at + data.draw(st.integers(0, 3))] = piece
    try:
        records = read_text(tmp_path / "mutated.pgn", bytes(text))
    except KibitzError:
        return
    for record in records:
        for node in record.game.mainline():
            assert node.move in node.parent.board().legal_moves or not node.move


@pytest.mark.parametrize(
    ("moves", "kept", "problem"),
    [
        ("1. e4 e5 2. Kf9 Nf3 Nc6 1-0", ["e2e4", "e7e5"], "move 2. 'Kf9' cannot be read"),
        ("1. e4 zzz 2. Nf3 1-0", ["e2e4"], "'zzz' & move"),
        ("1. e4 e5 (1... zzz 2. Nf3) 2. Nf3 {zzz} Nc6 $1 1-0", ["e2e4", "e7e5", "g1f3", "b8c6"], None),
    ],
)
def test_a_token_that_is_no_move_ends_the_main_line(
    file: Path, moves: str, kept: list[str], problem: str | None
) -> None:
    """python-chess alone passes over it and goes on with the next token, in another position than was played."""
    (record,) = read_text(file, f'[Event "x"]\n[Result "1-0"]\n\n{moves}\n'.encode())
    assert [move.uci() for move in record.game.mainline_moves()] == kept
    if problem is None:
        assert record.problem is None
    else:
        assert record.problem is not None
        assert mentions(record.problem, problem)


FOOL = "1. f3 e5 2. g4 Qh4# 0-1"
TWO = '[Event "two"]\n[White "Cid"]\n[WhiteElo "1500"]\n\n1. d4 d5 1-0\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5\n\n4. O-O Nf6 5. Re1 O-O 0-1\n", [("?", 10)]),
        ("1. f3 e5\n \n\n2. g4 Qh4# 0-1\n", [("?", 4)]),
        ('[White "A"]\n\n\n\n' + FOOL, [("A", 4)]),
        ('[White "A"]\n\n{ intro }\n\n1. f3 {[%clk 1:0:0]}\n\n1... e5\n\n(1... d5\n\n2. d4 *)\n\n2. g4 *', [("A", 3)]),
        (f"{FOOL}\n{TWO}", [("?", 4), ("Cid", 2)]),
        (f"1. f3 e5\n  {TWO}{TWO}", [("?", 2), ("Cid", 2), ("Cid", 2)]),
        (f"1. f3 e5\n\n{TWO}", [("?", 2), ("Cid", 2)]),
        (f"\ufeff{TWO}\ufeff{TWO}\n\ufeff{TWO}", [("Cid", 2)] * 3),
        (f"{FOOL}\n\n1. d4 d5 *\n\n{FOOL}", [("?", 4), ("?", 2), ("?", 4)]),
        ("1. d4 d5\n\n1. e4 e5\n", [("?", 2), ("?", 2)]),
        (f'1. f3 {{ a\n\n[Event "no header"]\n\n }} e5 ; {{ no comment\n\n2. g4 *\n{TWO}', [("?", 3), ("Cid", 2)]),
        ('[White "A"]\n\n\n[White "B"]\n\n1. e4 *\n', [("A", 0), ("B", 1)]),
        (f'[Event "bye"]\n[White "A"]\n\n{TWO}', [("A", 0), ("Cid", 2)]),
        (f"1. f3 e5 (1... c5\n\n2. c4 1-0\n\n1. d4 *\n{TWO}", [("?", 2), ("?", 1), ("Cid", 2)]),
        ("1. e4 e5\n\n% escaped\n2. Nf3 *\n", [("?", 3)]),
    ],
)
def test_where_a_game_ends(text: str, expected: list[tuple[str, int]], file: Path) -> None:
    """python-chess alone ends games at blank lines inside them, and takes headers after a result for moves."""
    records = read_text(file, text)
    assert [(record.game.headers["White"], len(moves(record))) for record in records] == expected
    assert all(record.problem is None for record in records)
    one = parse(text)
    assert one is not None
    assert moves(one) == moves(records[0])


def test_a_move_that_cannot_be_read_after_a_blank_line(file: Path) -> None:
    (record,) = read_text(file, "1. e4 e5\n\n2. Nf9 Nc6 *\n")
    assert record.problem == "move 2. 'Nf9' cannot be read"


def test_the_text_of_each_game(file: Path) -> None:
    parts = ['[Event "one"]\n\n1. f3 e5\n\n2. g4 { a\n\n[Event "x"] } Qh4# 0-1\n', TWO, f"{TWO}\n"]
    file.write_text("".join(parts), encoding="utf-8")
    found = list(glance(str(file)))
    assert [text for _, text in found] == parts
    assert [headers.get("White") for headers, _ in found] == [None, "Cid", "Cid"]


def test_several_headers_in_a_line_and_quotation_marks_in_them(file: Path) -> None:
    text = '[Event "x"] [White "A \\"the\\" B"]\t[Black "C:\\\\"]\n[Site "]["] [Result "1-0"]\n\n1. e4 e5 1-0\n'
    names = {"White": 'A "the" B', "Black": "C:\\", "Site": "][", "Event": "x", "Result": "1-0"}
    (record,) = read_text(file, text + "\n")
    assert {name: record.game.headers[name] for name in names} == names
    assert moves(record) == ["e4", "e5"]
    ((headers, _),) = glance(str(file))
    assert {name: headers[name] for name in names} == names
    again = record.game.accept(Exporter(columns=80))
    assert '[White "A \\"the\\" B"]\n[Black "C:\\\\"]\n' in again
    assert read_headers(again) | {"Date": "", "Round": ""} == names | {"Date": "", "Round": ""}
    second = parse(again)
    assert second is not None
    assert second.game.headers == record.game.headers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (f"{FOOL}\n\n{TWO}", []),
        (f"{FOOL}\n\nwords\n\n{TWO}", [1]),
        (f"words\n\n{FOOL}\n\nwords\n", [0, 1]),
        (f"{FOOL}\n\n1. d4 ; words\n d5 *\n", []),
        (f"{FOOL}\n\n% words\n", [1]),
        (f'[White "A"\n{TWO}', []),
    ],
)
def test_text_that_is_in_no_record_is_told(text: str, numbers: list[int], file: Path) -> None:
    file.write_text(text, encoding="utf-8")
    strays: list[Stray] = []
    assert list(read(str(file), on_stray=strays.append))
    assert [stray.games for stray in strays] == numbers
    lines = text.split("\n")
    assert all(lines[stray.line - 1].startswith((stray.words, FOOL[:5])) for stray in strays)
