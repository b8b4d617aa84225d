"""The fast parser and columns of headers against the reader of all games, on real records, broken ones too."""

from __future__ import annotations

import datetime
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
from kibitz.games.chess.io import pgn
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

    A plain game is one game to the reader, too.
    """
    block = find_games(text)
    block.file, block.before, block.last = "some.pgn", before, last
    slow = replace(block, flags=np.zeros(len(block), np.uint8))
    for game in np.flatnonzero(block.flags & PLAIN).tolist():
        whole = decode(text[int(block.begins[game]) : int(block.ends[game])])
        assert len(list(split_games(whole))) == 1
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

BYTES = 6_000
"""Of records in an example: about eight games."""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), changes=st.integers(0, 80), where=st.floats(0, 1), last=st.booleans())
def test_broken_records(seed: int, changes: int, where: float, last: bool) -> None:
    chance = random.Random(seed)
    text = zstandard.decompress(GAMES.read_bytes())
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


@pytest.mark.parametrize("text", [b"", b"\n", b"1. e4", b'[Event "a"]', b'[Event "a"]\n\n', b"\xef\xbb\xbf", b"\xff"])
def test_little_texts(text: bytes) -> None:
    compare(text)


@pytest.mark.parametrize("name", ["fics_2015_lightning_sample", "online_mixed", "tcec_engine"])
def test_real_records(name: str) -> None:
    file = SHARED / f"{name}.pgn.zst"
    if not file.is_file():
        pytest.skip("the shared records are not there")
    with open(file, "rb") as packed:
        text = zstandard.ZstdDecompressor(max_window_size=1 << 31).stream_reader(packed).read(1 << 20)
    assert compare(text) > 500


def test_values_are_those_of_the_reader() -> None:
    text = b'[White "a"]\n[White "b"]\n[WhiteX "c"]\n [Black\t"\\"d\\\\"]\n[Site "x"]\n[ECO"A"]\n'
    text += b'[Result  ""] [Date "2"]\n\n1. e4\n'
    headers = Headers(find_games(text))
    known = read_headers(text.decode())
    assert {name: headers.value(0, name) for name in TAGS} == {name: known.get(name) for name in TAGS}
    assert known == {
        "White": "a", "WhiteX": "c", "Black": '"d\\', "Site": "x", "ECO": "A", "Result": "", "Date": "2",
    }  # fmt: skip
