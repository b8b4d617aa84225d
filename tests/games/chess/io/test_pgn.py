"""The PGN reader: why games are left out, what is kept, and the same moves as two other readers."""

from __future__ import annotations

import functools
import io
import random
import subprocess
from collections import Counter
from pathlib import Path

import chess
import chess.pgn
import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.chess.filters import Filter
from kibitz.games.chess.io import blocks, pgn
from kibitz.games.chess.io import fast as fast_parser
from kibitz.games.chess.io.pgn import PgnReader
from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.replay import STANDARD_START, decode_board, encode_board
from support.causes import mentions
from support.helpers import GAMES, program


class Read:
    """All that a reader gives for some texts, each a file."""

    def __init__(self, folder: Path, *texts: str | bytes, keep: Filter | None = None):
        files = []
        for number, text in enumerate(texts):
            file = folder / f"{number}.pgn"
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
            files.append(str(file))
        reader = PgnReader(files, keep or Filter())
        self.batches: list[GameBatch] = list(reader)
        self.broken = reader.broken
        self.rejections = Rejections()
        for batch in self.batches:
            self.rejections.merge(batch.rejections)
        self.reasons = dict(self.rejections.counts)
        self.rows = [row for batch in self.batches for row in batch.table.to_pylist()]
        self.games = []
        for batch in self.batches:
            self.games += np.split(batch.moves, np.cumsum(batch.plies)[:-1]) if len(batch) else []
        self.read = sum(batch.read for batch in self.batches)


def game(moves: str, **headers: str) -> str:
    return "".join(f'[{name} "{value}"]\n' for name, value in headers.items()) + f"\n{moves}\n\n"


CHESS960 = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1"
FOOL = "1. f3 e5 2. g4 Qh4# 0-1"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (game("1. e4 e5 2. Ke3 1-0", Result="1-0"), "illegal move"),
        (game("1. e4 e5 2. Xf9 1-0", Result="1-0"), "unreadable move"),
        (game("1-0", Result="1-0"), "no moves"),
        (game("1. e4 e5 *", Result="*"), "no result"),
        (game("1. e4 e5 1-0", Result="0-1"), "contradicting results"),
        (game(FOOL.replace("0-1", "1-0"), Result="1-0"), "contradicting results"),
        (game("1. e4 1-0", Result="1-0", Variant="Atomic"), "variant"),
        (game("1. e4 1-0", Result="1-0", Variant="Chess960"), "variant"),
        (game("1. e4 1-0", Result="1-0", FEN="8/8/8/8/8/8/8/8 w - - 0 1"), "set-up position"),
        (game("1. e4 1-0", Result="1-0", FEN="not a position"), "set-up position"),
        (game("1. e4 1-0", Result="1-0", FEN=CHESS960), "set-up position"),
    ],
)
def test_why_games_are_left_out(tmp_path: Path, text: str, reason: str) -> None:
    """A good game before and after: one bad game takes nothing with it, and is named."""
    good = game(FOOL, White="A", Black="B", Result="0-1")
    read = Read(tmp_path, good + text + good)
    assert read.reasons == {reason: 1}
    assert [row["number"] for row in read.rows] == [1, 3]
    assert read.read == 3
    example = read.rejections.examples[reason][0]
    assert (example["file"], example["game"]) == (str(tmp_path / "0.pgn"), 2)


@pytest.mark.parametrize("between", ["\n\n", "\r\n\r\n", "\n \n", "\n\n\n\t\n"])
def test_blank_lines_inside_the_moves_lose_none(tmp_path: Path, between: str) -> None:
    text = game(f"1. f3 e5{between}2. g4 Qh4# 0-1", Result="0-1") + game(FOOL, Result="0-1")
    assert [len(moves) for moves in Read(tmp_path, text).games] == [4, 4]


def test_a_file_cut_in_the_middle_of_a_game(tmp_path: Path) -> None:
    text = game(FOOL, Result="0-1") * 2 + game("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0", Result="1-0")
    for cut in ("3. B", "{a com", "3. Bb5 (3. Bc4"):
        read = Read(tmp_path, text[: text.index("3. Bb5")] + cut)
        assert read.reasons == {"cut short": 1}, cut
        assert len(read.rows) == 2


def test_a_result_in_one_place_is_enough(tmp_path: Path) -> None:
    read = Read(tmp_path, game(FOOL) + game("1. f3 e5 2. g4 Qh4#", Result="0-1") + game(FOOL, Result="0-1"))
    assert [row["result"] for row in read.rows] == [-1, -1, -1]
    assert [row["ending"] for row in read.rows] == ["checkmate"] * 3


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_names_in_both_encodings(tmp_path: Path, encoding: str) -> None:
    read = Read(tmp_path, game(FOOL, White="Müller, Jörg", Black='O\\"Neil \\\\ Sons', Result="0-1").encode(encoding))
    assert (read.rows[0]["white"], read.rows[0]["black"]) == ("Müller, Jörg", 'O"Neil \\ Sons')


def test_a_mark_of_utf8_and_windows_line_ends(tmp_path: Path) -> None:
    text = game(FOOL, Event="first", Result="0-1") * 2
    read = Read(tmp_path, "\ufeff" + text.replace("\n", "\r\n"))
    assert [row["event"] for row in read.rows] == ["first", "first"]
    assert read.read == 2


def test_games_without_headers(tmp_path: Path) -> None:
    read = Read(tmp_path, "1. f3 e5 2. g4 Qh4# 0-1\n\n1. e4 e5 2. Nf3 1/2-1/2\n\n1. d4 1-0")
    assert [row["result"] for row in read.rows] == [-1, 0, 1]
    assert [row["white"] for row in read.rows] == ["?"] * 3
    assert [row["white_rating"] for row in read.rows] == [None] * 3


def test_columns(tmp_path: Path) -> None:
    headers = {
        "Event": "Rated Blitz game", "Site": "here", "Date": "2015.06.??", "White": "A", "Black": "B", "Result": "0-1",
        "WhiteElo": "2001", "BlackElo": "?", "ECO": "A00", "TimeControl": "300+3", "Termination": "Time forfeit",
    }  # fmt: skip
    row = Read(tmp_path, game("1. e4 e5 0-1", **headers)).rows[0]
    assert {key: row[key] for key in ("event", "site", "white", "black", "eco", "time_control")} == {
        "event": "Rated Blitz game", "site": "here", "white": "A", "black": "B", "eco": "A00", "time_control": "300+3",
    }  # fmt: skip
    assert (row["white_rating"], row["black_rating"], row["result"]) == (2001, None, -1)
    assert (row["ending"], row["speed"], str(row["date"])) == ("time", "blitz", "2015-06-01")
    assert (row["source"], row["number"]) == (str(tmp_path / "0.pgn"), 1)


def test_several_headers_in_a_line(tmp_path: Path) -> None:
    """As the standard's import format allows."""
    text = '[Event "a"] [White "W ] [x"][Black "B \\"b\\""]  [WhiteElo "2100"]\n[Result "1-0"] [Date "2001.02.03"]\n'
    text += "\n1. e4 e5 1-0\n"
    row = Read(tmp_path, text).rows[0]
    assert (row["event"], row["white"], row["black"], row["white_rating"]) == ("a", "W ] [x", 'B "b"', 2100)
    assert (row["result"], str(row["date"])) == (1, "2001-02-03")


def test_carriage_returns_alone(tmp_path: Path) -> None:
    text = game("1. e4 e5\n2. Nf3 1-0", White="a", Result="1-0") + game("1. d4 d5 0-1", White="b", Result="0-1")
    read = Read(tmp_path, text.replace("\n", "\r"))
    assert [row["white"] for row in read.rows] == ["a", "b"]
    assert [len(moves) for moves in read.games] == [3, 2]


@pytest.mark.parametrize(
    ("said", "ending"),
    [
        ("sometimes123 won by resignation", "resignation"), ("sometimes123 won on time", "time"),
        ("abandoned_king won by resignation", "resignation"), ("x won - game abandoned", "abandoned"),
        ("Time forfeit", "time"), ("Game drawn by timeout vs insufficient material", "time"), ("Normal", "resignation"),
    ],
)  # fmt: skip
def test_endings_are_not_read_from_names(tmp_path: Path, said: str, ending: str) -> None:
    text = game("1. e4 e5 1-0", White="sometimes123", Result="1-0", Termination=said)
    assert Read(tmp_path, text).rows[0]["ending"] == ending


def test_comments_variations_and_marks_are_no_moves(tmp_path: Path) -> None:
    text = "1. e4! {good [really]} $1 (1. d4 d5 (1... Nf6 {x}) 2. c4) 1... e5?! ; the rest 2. Ke2\n% 3. Kf3\n2. Nf3 1-0"
    read = Read(tmp_path, game(text, Result="1-0"))
    assert [str(to_move(int(move))) for move in read.games[0]] == ["e2e4", "e7e5", "g1f3"]


def test_clocks_and_evaluations(tmp_path: Path) -> None:
    with_both = "1. e4 {[%eval 0.25] [%clk 0:03:00]} e5 {[%clk 1:00:01.6]} 2. Nf3 {[%eval -1.5]} 1-0"
    read = Read(tmp_path, game(with_both, Result="1-0") + game("1. d4 1-0", Result="1-0") * 2)
    beside = read.batches[0].per_move
    assert beside["evaluation"].tolist() == [25, -32768, -150, -32768]
    assert beside["clock"].tolist()[0] == 180
    assert beside["clock"].tolist()[1] in (3601, 3602)
    assert beside["clock"].tolist()[2:] == [65535, 65535]


def test_a_flag_that_has_fallen_is_a_clock_at_zero(tmp_path: Path) -> None:
    read = Read(tmp_path, game("1. d4 {[%clk 0:00:00]} d5 {[%clk 0:00:01]} 2. c4 {[%clk 99:00:00]} 1-0", Result="1-0"))
    assert read.batches[0].per_move["clock"].tolist() == [0, 1, 65534], "18 hours at most; one more says none"


def test_nothing_beside_the_moves_where_comments_say_nothing(tmp_path: Path) -> None:
    assert Read(tmp_path, game("1. d4 {hm} 1-0", Result="1-0")).batches[0].per_move == {}


def test_set_up_positions(tmp_path: Path) -> None:
    fen = "4k3/P7/8/8/8/8/8/R3K3 w Q - 12 40"
    read = Read(
        tmp_path, game("40. O-O-O Ke7 41. a8=N 1-0", FEN=fen, Result="1-0") + game("1. e4 1-0", Result="1-0") * 2
    )
    starts = read.batches[0].starts
    assert starts is not None
    np.testing.assert_array_equal(starts, [encode_board(chess.Board(fen)), STANDARD_START])
    assert [str(to_move(int(move))) for move in read.games[0]] == ["e1c1", "e8e7", "a7a8n"]


def test_several_files_are_numbered_each(tmp_path: Path) -> None:
    read = Read(
        tmp_path, game(FOOL, Result="0-1") * 2, "", game(FOOL, Result="0-1") + game("1. Ke2 *"), b"\x7fELF\0\0\0"
    )
    assert [(Path(row["source"]).name, row["number"]) for row in read.rows] == [
        ("0.pgn", 1),
        ("0.pgn", 2),
        ("2.pgn", 1),
    ]
    assert [Path(line.split(": ")[0]).name for line in read.broken] == ["1.pgn", "3.pgn"]
    assert mentions(read.broken[0], "1.pgn & file")
    assert "binary" in read.broken[1]


def test_blocks_smaller_than_a_game_give_the_same(
    tmp_path: Path, bundled_games: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(bundled_games[:60])
    whole = Read(tmp_path, text)
    for size in (100, 1000, 5000):
        monkeypatch.setattr(pgn, "BLOCK", size)
        pieces = Read(tmp_path, text)
        assert len(pieces.batches) > 3
        assert pieces.rows == whole.rows
        np.testing.assert_array_equal(np.concatenate(pieces.games), np.concatenate(whole.games))


def test_a_text_too_long_for_a_game_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Megabytes without an end of a game are told once, and the games after them are read."""
    monkeypatch.setattr(pgn, "BLOCK", 1000)
    monkeypatch.setattr(blocks, "MAX_GAME_BYTES", 5000)
    good = game(FOOL, Event="good", Result="0-1")
    read = Read(tmp_path, good + '[Event "long"]\n\n1. e4 {' + "word and " * 4000 + "} 1-0\n\n" + good * 3)
    assert [row["event"] for row in read.rows] == ["good"] * 4
    assert len(read.broken) == 1
    assert mentions(read.broken[0], "end & game")


def test_a_whole_game_before_a_text_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that ends before a text without end is read; one that does not end is not."""
    monkeypatch.setattr(pgn, "BLOCK", 1000)
    monkeypatch.setattr(blocks, "MAX_GAME_BYTES", 5000)
    good = game(FOOL, Event="gööd", Result="0-1")
    long = "{" + "no end" * 2000
    read = Read(tmp_path, good * 2 + long)
    assert [row["event"] for row in read.rows] == ["gööd"] * 2
    assert len(read.broken) == 1
    cut = Read(tmp_path, good + good.replace("0-1", "*").rstrip().removesuffix("*") + long)
    assert [row["event"] for row in cut.rows] == ["gööd"]


def test_leaving_early_ends_the_threads(tmp_path: Path, bundled_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setattr(pgn, "BLOCK", 10_000)
    before = set(threading.enumerate())
    batches = iter(PgnReader([str(bundled_file)], Filter()))
    next(batches)
    batches.close()
    assert not [thread for thread in threading.enumerate() if thread not in before and thread.is_alive()]


def test_an_error_while_reading_reaches_the_caller(bundled_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: bytes, whole: bool) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(blocks, "scan", fail)
    with pytest.raises(MemoryError, match="no room"):
        list(PgnReader([str(bundled_file)], Filter()))


def test_a_game_that_the_parser_does_not_survive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No such text is known; a panic of the Rust parser would be no Exception."""

    class PanicException(BaseException):
        pass

    parse = pgn.parse

    def panics(texts: pa.StringArray) -> object:
        if any("Kd3" in text for text in texts.to_pylist()):
            raise PanicException("index out of bounds")
        return parse(texts)

    monkeypatch.setattr(pgn, "parse", panics)
    good = game(FOOL, Result="0-1")
    read = Read(tmp_path, good + game("1. e4 e5 2. Kd3 1-0", Result="1-0") + good)
    assert read.reasons == {"unreadable move": 1}
    assert [row["number"] for row in read.rows] == [1, 3]


def test_without_the_fast_parser_the_games_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """conda-forge doesn't have it, so each game then goes through the full reader."""
    clocks = "1. e4 {[%clk 0:01:00] [%eval 0.3]} e5 {[%clk 0:00:59]} 1-0"
    start = game("1. Ra8# 1-0", Result="1-0", FEN="6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", SetUp="1")
    text = game(FOOL, Result="0-1") + game("1. e4 e5 2. Kd3 1-0", Result="1-0") + game(clocks, Result="1-0") + start
    file = tmp_path / "games.pgn"
    file.write_text(text, encoding="utf-8")
    fast = list(PgnReader([str(file)], Filter()))
    monkeypatch.setattr(fast_parser, "_rust", None)
    assert not fast_parser.is_installed()
    slow = list(PgnReader([str(file)], Filter()))
    assert sum(map(len, fast)) == 3
    assert [batch.rejections.counts for batch in fast] == [batch.rejections.counts for batch in slow]
    for left, right in zip(fast, slow, strict=True):
        assert left.table.equals(right.table)
        for name in ("moves", "plies", "starts"):
            assert np.array_equal(getattr(left, name), getattr(right, name)), name
        assert left.per_move.keys() == right.per_move.keys()
        assert all(np.array_equal(left.per_move[name], right.per_move[name]) for name in left.per_move)


@pytest.mark.parametrize(
    ("comments", "clock", "evaluation"),
    [
        ("{[%clk 0:03:00] [%eval -0.25]}", 180, -25),
        ("{[%clk 0:03:00] [%clk 0:04:00]}", 180, None),
        ("{[%clk 0:03:00]} {[%clk 0:04:00]}", 180, None),
        ("{[%clk 0:03:00]} (1. d4 {[%clk 0:05:00] [%eval 5]}) {[%clk 0:04:00] [%eval 1]}", 180, 100),
        ("{[%eval 0.3] [%eval 0.7]}", None, 30),
        ("{[%eval 1.015]}", None, 101),  # 101.5 as a float of 32 bits
        ("{[%eval .5]}", None, None),
        ("{[%eval 1e2]}", None, None),
        ("{[%eval inf]}", None, None),
        ("{[%eval5]}", None, None),
        ("{[%clk0:03:00]}", None, None),
        ("{[%eval +5 ] [%clk\t12:00:59.9]}", 43260, 500),
    ],
)
def test_both_parsers_read_the_same_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comments: str, clock: int | None, evaluation: int | None
) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(game(f"1. e4 {comments} 1... e5 {{[%clk 0:00:07] [%eval 0.01]}} 1-0", Result="1-0"))
    for _ in range(2):
        (batch,) = PgnReader([str(file)], Filter())
        assert batch.per_move["clock"].tolist() == [65535 if clock is None else clock, 7]
        assert batch.per_move["evaluation"].tolist() == [-32768 if evaluation is None else evaluation, 1]
        monkeypatch.setattr(fast_parser, "_rust", None)


def test_many_blank_lines_take_no_time(tmp_path: Path) -> None:
    """Two megabytes of blank lines between headers: an expression that looks back would take hours."""
    text = '[Event "a"]\n' + "\n" * 2_000_000 + '[Result "0-1"]\n\n' + FOOL
    assert len(Read(tmp_path, text).rows) == 1


# other readers


def moves_of(text: str) -> list[int] | None:
    """Python-chess's moves of a game; None where it finds an error."""
    read = chess.pgn.read_game(io.StringIO(text))
    assert read is not None
    return None if read.errors else [from_move(move) for move in read.mainline_moves()]


def test_the_same_moves_as_python_chess(tmp_path: Path, bundled_games: list[str]) -> None:
    sample = random.Random(1).sample(bundled_games, 150)
    read = Read(tmp_path, "".join(sample))
    assert [moves.tolist() for moves in read.games] == [moves_of(text) for text in sample]


def test_the_same_moves_as_python_chess_of_damaged_games(tmp_path: Path, bundled_games: list[str]) -> None:
    """Half the texts have a few characters exchanged: what is kept has python-chess's moves, and what python-chess
    refuses is not kept. (Kibitz may refuse more: python-chess passes over words it does not know.)"""
    rng = random.Random(2)
    texts = []
    for text in rng.sample(bundled_games, 200):
        headers, _, moves = text.partition("\n\n")
        letters = list(moves.strip())
        for _ in range(rng.choice((0, 1, 3))):
            letters[rng.randrange(len(letters) - 8)] = rng.choice("abcdefgh12345678NBRQKxO-=+# ")
        texts.append(f"{headers}\n\n{''.join(letters)}\n\n")
    read = Read(tmp_path, "".join(texts))
    assert read.read == 200
    assert len(read.rows) + sum(read.reasons.values()) == 200
    assert 50 < len(read.rows) < 190
    for row, moves in zip(read.rows, read.games, strict=True):
        assert moves.tolist() == moves_of(texts[row["number"] - 1]), row["number"]


def test_the_same_games_as_pgn_extract(tmp_path: Path, bundled_games: list[str]) -> None:
    """Games by result, and the moves of all in long algebraic notation."""
    text = "".join(bundled_games[:1500])
    read = Read(tmp_path, text)
    command = [program("pgn-extract"), "-s", "-Wuci", "--notags", "-w100000", str(tmp_path / "0.pgn")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    games = [line.split() for line in lines if line.strip()]
    assert len(games) == len(read.games) == read.read
    ours = [[str(to_move(int(move))) for move in moves] for moves in read.games]
    assert [[word.lower() for word in words[:-1]] for words in games] == ours
    results = Counter(words[-1] for words in games)
    assert results == Counter({1: "1-0", 0: "1/2-1/2", -1: "0-1"}[row["result"]] for row in read.rows)


# what nobody wrote on purpose


@functools.cache
def some_games() -> list[bytes]:
    with GAMES.open("rb") as packed:
        text = zstandard.ZstdDecompressor().stream_reader(packed).read()
    return [b"[Event " + game for game in text.split(b"[Event ")[1:]]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=600))
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    check_any(tmp_path, data)


PIECES = [
    b"{", b"}", b"(", b")", b";", b"%", b"[", b"]", b'"', b"\\", b"\n", b"\n\n", b"\r", b"\0", b"\xff", b"\xe2\x82",
    b"$9999999999",
    b'[Event "', b'[FEN "', b'[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n', b'[FEN "4k3/8/8/8/8/8/8/4K2R w K e3 999999 0"]\n',
    b"1-0",
    b"1/2-1/2", b"*", b"--", b"O-O-O", b"e8=K", b"{[%clk 99999999:99:99]}", b"{[%eval 1e99]}", b"{[%eval #-3]}",
    b"(" * 50,
    b'[WhiteElo "99999999999999999999"]\n', b'[Date "9999.99.99"]\n', b'[Date "0000.00.00"]\n',
    b'[TimeControl "1/0+0:*/"]\n',
    b'[TimeControl "99999999999999999999+5"]\n', b'[Result "1-0"]\n', b'[Variant "x"]\n',
]  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    numbers=st.lists(st.integers(0, 3000), min_size=1, max_size=4),
    edits=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 20), st.sampled_from(PIECES)), min_size=1, max_size=8),
)
def test_real_games_with_bytes_exchanged(
    tmp_path: Path, numbers: list[int], edits: list[tuple[float, int, bytes]]
) -> None:
    games = some_games()  # no fixture: hypothesis would print it
    text = bytearray(b"\n\n".join(games[number][:900] for number in numbers))
    for share, length, piece in edits:
        place = int(share * len(text))
        text[place : place + length] = piece
    check_any(tmp_path, bytes(text))


def check_any(folder: Path, data: bytes) -> None:
    """Any bytes are read without an error, every game is counted once, and what is kept can be played."""
    try:
        read = Read(folder, data)
    except KibitzError:
        return
    assert read.read == len(read.rows) + sum(read.reasons.values())
    starts: list[NDArray[np.uint8]] = []
    for batch in read.batches:
        starts += [STANDARD_START] * len(batch) if batch.starts is None else list(batch.starts)
    for start, moves in zip(starts, read.games, strict=True):
        board = decode_board(start[:64], start[64:])
        for code in moves:
            move = to_move(int(code))
            assert board.is_legal(move), (board.fen(), move)
            board.push(move)
