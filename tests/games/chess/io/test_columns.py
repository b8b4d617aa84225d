"""The fast parser and columns of headers against the reader of all games, on real records, broken ones too."""

from __future__ import annotations

import datetime
import functools
import os
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kibitz.games.batch import GameBatch
from kibitz.games.chess.filters import Filter
from kibitz.games.chess.io import ingest, pgn
from kibitz.games.chess.io.blocks import find_games
from kibitz.games.chess.io.headers import TAGS, Headers
from kibitz.games.chess.io.movetext import split_games
from kibitz.games.chess.io.plain import PLAIN
from kibitz.games.chess.io.tags import read_headers
from kibitz.records import decode
from support.helpers import GAMES

SHARED = Path(__file__).parents[5] / "shared" / "data" / "chess"
DAY = datetime.date
FILTERS = [
    Filter(),
    Filter(min_rating=2000, max_rating=3000, ending="decisive", result=("1-0", "0-1"), since=DAY(1950, 1, 1),
           until=DAY(2022, 12, 31), min_plies=10),
    Filter(ending="checkmate"),
    Filter(min_rating=1500, unrated=True, speed=("blitz", "bullet"), min_plies=30),
    Filter(player=("MAG", "an"), result=("1/2-1/2",)),
]  # fmt: skip


def same(one: GameBatch, other: GameBatch) -> None:
    assert one.read == other.read
    assert one.table.equals(other.table)
    assert one.moves.dtype == other.moves.dtype
    assert np.array_equal(one.moves, other.moves)
    assert one.plies.dtype == other.plies.dtype
    assert np.array_equal(one.plies, other.plies)
    assert (one.starts is None) == (other.starts is None)
    if one.starts is not None and other.starts is not None:
        assert np.array_equal(one.starts, other.starts)
    assert one.per_move.keys() == other.per_move.keys()
    assert all(np.array_equal(values, other.per_move[name]) for name, values in one.per_move.items())
    # Their order too, which decides between reasons as frequent as each other.
    assert list(one.rejections.counts.items()) == list(other.rejections.counts.items())
    assert list(one.rejections.examples.items()) == list(other.rejections.examples.items())


def compare(text: bytes, before: int = 0, last: bool = True) -> int:
    """Compare a block under all filters, read by the fast parser and by the reader of all games; how many games it has.

    A plain game is one game to the reader, too. Each game is read once, whatever the filters do with it.
    """
    block = find_games(text)
    block.file, block.before, block.last = "some.pgn", before, last
    slow = replace(block, flags=np.zeros(len(block), np.uint8))
    for game in np.flatnonzero(block.flags & PLAIN).tolist():
        whole = decode(text[int(block.begins[game]) : int(block.ends[game])])
        assert len(list(split_games(whole))) == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingest, "read_game", functools.cache(ingest.read_game))
        for keep in FILTERS:
            same(pgn._read(keep, slow), pgn._read(keep, block))
    return len(block)


LINES = (
    b"", b" \t", b"\r", b'% [Event "no"]', "\u00a0".encode(), "\u00a0[Event \"é\"]".encode(), b'[White "\xe9\\"\\\\x"]',
    b'[Black "a\\', b'[Event "open', b'[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]',
    b'[FEN "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1"]', b'[FEN "x"]', b'[Result "1-0"]',
    b'[Result " 1/2-1/2 "]', b'[Result "*"]', b'[Date "20\xd9\xa14.1_2.+3"]', b'[Date ""]', b'[UTCDate "2014.05.??"]',
    b'[WhiteElo " 2000?"]', b'[WhiteElo "20000"]', "[BlackElo \"٢٠٠٠\"]".encode(), b'[BlackElo "-"]',
    b'[Termination "Time FORFEIT"]', b'[Termination "rules infraction: forfeits"]', b'[Variant " Standard"]',
    b'[Variant "Chess960"]', b'[TimeControl ""]', b'[TimeControl "40/7200:3600"]', b'[Event "a Blitz, b"]',
    b"1. e4 e5 {", b"} 1-0", b"0-1", b"*", b"{[%clk 0:01:02][%eval -0.5]}", b"\x1c\x85\xff",
)  # fmt: skip


@functools.cache
def bundled() -> bytes:
    return zstandard.decompress(GAMES.read_bytes())


BYTES = 6_000
"""Of records in an example: about eight games."""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), changes=st.integers(0, 80), where=st.floats(0, 1), last=st.booleans())
def test_broken_records(seed: int, changes: int, where: float, last: bool) -> None:
    chance = random.Random(seed)
    text = bundled()
    begin = int(where * max(0, len(text) - BYTES))
    lines = text[begin : begin + BYTES].split(b"\n")
    for _ in range(changes):
        at = chance.randrange(len(lines))
        what = chance.randrange(4)
        if what == 0:
            lines[at] = chance.choice(LINES)
        elif what == 1:
            lines.insert(at, chance.choice(LINES))
        elif what == 2 and lines[at]:
            i = chance.randrange(len(lines[at]))
            lines[at] = (
                lines[at][:i] + bytes([chance.choice(b'"\\[]{}%\r \t\x0b\xe9\xa0*1-KQab.')]) + lines[at][i + 1 :]
            )
        else:
            del lines[at]
            lines = lines or [b""]
    compare(b"\n".join(lines), before=7, last=last)


TIMES = "0 5 07 59 60 5.2 0.05 1:05 12:34:56.25 17:00:00 9999 0:00:00.5 5,2 5.125 1:2.5:3 16:40:01 :5 5: -1 "
VALUES = "0.25 -1 +0.1 #3 #-12 #+1 #0 #-0 0.25,18 -3.14,1 25,18 -905,28 #3,20 #\u00a04 1.234 # x "
MOVES = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7", "Re1", "b5"]


def commands(chance: random.Random, kinds: str) -> str:
    """A comment after a move with commands of these kinds: evaluation (v), clock (c), elapsed time (e)."""
    time = chance.choice(TIMES.split(" "))
    value = chance.choice(VALUES.split(" "))
    clock = chance.choice(["0:01:02", "1:00:00", "0:00:05.5", "0:1", ""])
    written = {"v": f"[%eval {value}]", "c": f"[%clk {clock}]", "e": f"[%emt {time}]"}
    parts = [written[kind] for kind in kinds if chance.random() < 0.9]
    if chance.random() < 0.1:
        parts.insert(0, chance.choice(["[%emt  3 ]", "[%emts 3]", "[%eval 1]", "50% [%csl Ga4]", "[%em"]))
    return "{" + " ".join(parts) + "}"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), kinds=st.sampled_from(["v", "c", "e", "ve", "ec", "vc"]), odd=st.booleans())
def test_commands_in_comments(seed: int, kinds: str, odd: bool) -> None:
    """Games with any command after their moves are the same to both readers. odd: also with forms that are rare."""
    chance = random.Random(seed)
    control = chance.choice(["300+3", "40/7200:3600", "60", "-", "5/100:50+1", "0+1"])
    games = []
    for _ in range(3):
        moves = []
        for ply, move in enumerate(MOVES):
            number = f"{ply // 2 + 1}." if ply % 2 == 0 else ""
            plain = {"v": "[%eval #-3]", "c": "[%clk 0:01:02]", "e": f"[%emt {chance.randrange(60)}.{ply}]"}
            comment = commands(chance, kinds) if odd else "{" + "".join(plain[kind] for kind in kinds) + "}"
            moves.append(f"{number}{move} {comment}" + chance.choice(["", "", f" ({number or '1...'}d4 {comment})"]))
        games.append(f'[Event "x"]\n[TimeControl "{control}"]\n[Result "1-0"]\n\n{" ".join(moves)} 1-0\n\n')
    assert compare("".join(games).encode()) == 3


@pytest.mark.parametrize(
    ("comments", "clocks", "evaluations"),
    [
        (["[%eval #3]", "[%eval #-12]", "[%eval 0.25,18]"], None, [31997, -31988, 25]),
        (["[%eval 25,18]", "[%eval -905,28]", "[%eval 0,0]"], None, [25, -905, 0]),
        (["[%emt 5.2]", "[%emt 1:05]", "[%emt 0:00:10]"], [295, 235, 285], None),
        (["[%emt 5] [%eval #1]", "[%emt 6] [%eval 0.1]", ""], [295, 294, 65535], [31999, 10, -32768]),
    ],
)
def test_the_fast_parser_reads_mates_depths_and_elapsed_times(
    comments: list[str], clocks: list[int] | None, evaluations: list[int] | None
) -> None:
    moves = " ".join(f"{move} {{{comment}}}" for move, comment in zip(["1. e4", "e5", "2. d4"], comments, strict=True))
    block = find_games(f'[TimeControl "300"]\n[Result "1-0"]\n\n{moves} 1-0\n'.encode())
    assert block.flags[0] & PLAIN
    per_move = pgn._read(Filter(), block).per_move
    assert per_move.keys() == {name for name, row in (("clock", clocks), ("evaluation", evaluations)) if row}
    if clocks:
        assert per_move["clock"].tolist() == clocks
    if evaluations:
        assert per_move["evaluation"].tolist() == evaluations


@pytest.mark.parametrize(("event", "clock"), [("FICS rated blitz game", 122), ("City Open", 7202)])
def test_the_time_control_of_a_server_is_in_seconds(event: str, clock: int) -> None:
    text = f'[Event "{event}"]\n[TimeControl "120+12"]\n[Result "1-0"]\n\n1. e4 {{[%emt 10]}} 1-0\n'
    per_move = pgn._read(Filter(), find_games(text.encode())).per_move
    assert per_move["clock"].tolist() == [clock]


@pytest.mark.parametrize("text", [b"", b"\n", b"1. e4", b'[Event "a"]', b'[Event "a"]\n\n', b"\xef\xbb\xbf", b"\xff"])
def test_little_texts(text: bytes) -> None:
    compare(text)


SIZE = 1 << (19 if os.environ.get("CI") else 18)
"""Of a real record, in bytes: as there are more examples of a property under CI."""


@pytest.mark.parametrize("name", ["fics_2015_lightning_sample", "online_mixed", "tcec_engine"])
def test_real_records(name: str) -> None:
    file = SHARED / f"{name}.pgn.zst"
    if not file.is_file():
        pytest.skip("the shared records are not there")
    with open(file, "rb") as packed:
        text = zstandard.ZstdDecompressor(max_window_size=1 << 31).stream_reader(packed).read(SIZE)
    assert compare(text) > SIZE >> 12


def test_values_are_those_of_the_reader() -> None:
    text = b'[White "a"]\n[White "b"]\n[WhiteX "c"]\n [Black\t"\\"d\\\\"]\n[Site "x"]\n[ECO"A"]\n'
    text += b'[Result  ""] [Date "2"]\n\n1. e4\n'
    headers = Headers(find_games(text))
    known = read_headers(text.decode())
    assert {name: headers.value(0, name) for name in TAGS} == {name: known.get(name) for name in TAGS}
    assert known == {
        "White": "a", "WhiteX": "c", "Black": '"d\\', "Site": "x", "ECO": "A", "Result": "", "Date": "2",
    }  # fmt: skip
