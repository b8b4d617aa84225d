"""From SGF files to batches: what is kept, what is left out and why."""

from __future__ import annotations

import datetime
import gzip
import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz import records
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.go.filters import Filter
from kibitz.games.go.io.ingest import COLUMNS, SgfReader
from kibitz.games.go.points import PASS
from kibitz.games.go.replay import START_WIDTH, replay, start_row
from support.causes import mentions
from support.helpers import SHARED

HEAD = "GM[1]FF[4]CA[UTF-8]PB[Shusaku]PW[Gennan]RE[B+2.5]"
KO = ";B[ba];W[ca];B[ab];W[db];B[bc];W[cc];B[qq];W[bb];B[cb]"
"""Black takes in a ko at cb."""


def read(path: Path | str, keep: Filter | None = None) -> tuple[list[GameBatch], SgfReader]:
    reader = SgfReader([str(path)], keep or Filter())
    return list(reader), reader


def one(tmp_path: Path, text: str | bytes, keep: Filter | None = None) -> GameBatch:
    file = tmp_path / "games.sgf"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    batches, reader = read(file, keep)
    assert reader.broken == []
    (batch,) = batches
    return batch


def reason_of(batch: GameBatch) -> tuple[str, str]:
    ((reason, examples),) = batch.rejections.examples.items()
    return reason, examples[0]["detail"]


def test_a_game_as_arrays(tmp_path: Path) -> None:
    batch = one(
        tmp_path, f"(;{HEAD}SZ[9]KM[6.5]RU[Chinese]BR[9段]WR[3k]DT[1846-09-11]EV[Ear]PC[Inoshima];B[cc];W[gg];B[])"
    )
    assert batch.moves.tolist() == [40, 120, PASS]
    assert batch.plies.tolist() == [3]
    assert batch.starts is not None
    assert (batch.starts == start_row(9)).all()
    assert batch.table.schema.equals(COLUMNS)
    assert batch.table.to_pylist() == [{
        "black": "Shusaku", "white": "Gennan", "black_rank": "9d", "white_rank": "3k", "result": 1, "margin": 2.5,
        "ending": "counted", "komi": 6.5, "rules": "chinese", "handicap": 0, "size": 9,
        "date": datetime.date(1846, 9, 11), "event": "Ear", "place": "Inoshima", "labels": None,
        "source": str(tmp_path / "games.sgf"), "number": 1,
    }]  # fmt: skip


def test_the_standard_start_needs_no_row(tmp_path: Path) -> None:
    assert one(tmp_path, f"(;{HEAD};B[cc])").starts is None


def test_handicap_of_the_old_style_is_set_up(tmp_path: Path) -> None:
    batch = one(tmp_path, f"(;{HEAD};B[pd];B[dp];B[pp];W[cc];B[qq])")
    assert batch.starts is not None
    assert (batch.starts[0] == start_row(19, (72, 288 + 12, 288), (), 1)).sum() == START_WIDTH
    assert batch.moves.tolist() == [40, 16 * 19 + 16]
    assert batch.table["handicap"].to_pylist() == [3]


def test_set_up_stones_are_the_handicap(tmp_path: Path) -> None:
    batch = one(tmp_path, f"(;{HEAD}HA[2];AB[pd:pd][dp];W[cc];B[qq])")
    assert batch.starts is not None
    assert batch.starts[0, 361] == 1
    assert batch.table["handicap"].to_pylist() == [2]


def test_a_board_full_of_stones_is_no_handicap(tmp_path: Path) -> None:
    batch = one(tmp_path, f"(;{HEAD}AB[aa:sg];W[pq];B[dq])")
    assert batch.table["handicap"].to_pylist() == [0]


def test_a_player_who_moves_twice_gets_a_pass_between(tmp_path: Path) -> None:
    batch = one(tmp_path, f"(;{HEAD};B[cc];W[dd];W[ee];B[ff];B[gg])")
    assert batch.moves.tolist() == [40, 60, PASS, 80, 100, PASS, 120]


@pytest.mark.parametrize(
    ("text", "reason", "detail"),
    [
        (f"(;{HEAD}SZ[20];B[aa])", "board of 20×20", "SZ[20]"),
        (f"(;{HEAD}SZ[9:13];B[aa])", "board of 9×13", "SZ[9:13]"),
        (f"(;{HEAD}{KO};W[bb])", "illegal move", "10 & White & B18 & ko"),
        (f"(;{HEAD};B[aa];W[aa])", "illegal move", "2 & White & A19 & stone"),
        (f"(;{HEAD};B[ba];W[qq];B[ab];W[aa])", "illegal move", "move 4, White A19: suicide"),
        (f"(;{HEAD}SZ[9];B[aa];W[jj])", "illegal move", "move 2: outside the board"),
        (f"(;{HEAD}SZ[9]AB[aa][jj];W[bb])", "set-up position", "outside the board"),
        (f"(;{HEAD};B[aa];AW[bb];B[cc])", "stones", "after move 1"),
        (f"(;{HEAD}AB[aa]AW[ab][ba];W[cc])", "set-up position", "liberties"),
        (f"(;{HEAD})", "no moves", ""),
        (f"(;{HEAD};B[aa];W[b", "cut short", "bracket"),
        (f"(;{HEAD};B[aa];W[xyz])", "unreadable", ""),
        (f"(;{HEAD};B[aa]C[see [1] (here)];W[bb])", "unreadable", "backslash"),
        (f"(;{HEAD};B[aa](;W[bb](;B[cc])(;B[dd]C[)]));W[ee])", "unreadable", "backslash"),
        ("(;GM[1]RE[Void];B[aa])", "void", ""),
        ("(;GM[1]RE[?];B[aa])", "no result", ""),
        ("(;GM[1];B[aa])", "no result", ""),
        (f"(;{HEAD}HA[3];W[aa];B[bb])", "handicap stones missing", ""),
        ("(;GM[2]RE[B+];B[aa])", "another game", "GM[2]"),
    ],
)
def test_what_is_left_out(tmp_path: Path, text: str, reason: str, detail: str) -> None:
    batch = one(tmp_path, text)
    assert len(batch) == 0
    assert batch.read == 1
    found = reason_of(batch)
    assert mentions(found[0], reason)
    assert mentions(found[1], detail)


@pytest.mark.parametrize("after", ["", "(;W[cc];B[dd](;W[ee])\n( ;W[ff]C[) x \\] (]))", " \n(;C[x])\t", "()"])
def test_variations_may_follow_the_main_line(tmp_path: Path, after: str) -> None:
    assert one(tmp_path, f"(;{HEAD};B[aa](;W[bb];B[cc]){after})").moves.tolist() == [0, 20, 40]


@pytest.mark.parametrize("size", ["", "SZ[]", "SZ[ ]"])
def test_a_record_without_a_size_is_19x19(tmp_path: Path, size: str) -> None:
    batch = one(tmp_path, f"(;{HEAD}{size};B[aa];W[bb])")
    assert (len(batch), batch.table["size"].to_pylist()) == (1, [19])


def test_suicide_and_repetition_go_by_the_rules(tmp_path: Path) -> None:
    suicide = f"(;{HEAD}RU[%s];B[ba];W[qq];B[ab];W[aa])"
    assert len(one(tmp_path, suicide % "Ing")) == 1
    assert len(one(tmp_path, suicide % "Japanese")) == 0
    # a lone stone dies at once: the position is the one before it
    assert reason_of(one(tmp_path, suicide % "Tromp-Taylor"))[1].endswith("repeats a position")


def test_left_out_games_are_named(tmp_path: Path) -> None:
    batch = one(tmp_path, f"(;{HEAD};B[aa])(;{HEAD}DT[1999]EV[Cup];B[aa];W[aa])")
    assert batch.read == 2
    example = batch.rejections.examples["illegal move"][0]
    assert example["game"] == 2
    assert example["headers"] == {"White": "Gennan", "Black": "Shusaku", "Date": "1999", "Event": "Cup"}


def test_what_the_fast_reader_does_not_understand_sgfmill_may(tmp_path: Path) -> None:
    batch = one(tmp_path, f"(;{HEAD};B[qq];W[qc])(;{HEAD}AW[]AB[dd];B[cc];W[bb])(;{HEAD};B[qd];W[dd])")
    assert batch.read == len(batch) == 3
    assert batch.moves.tolist() == [320, 2 * 19 + 16, 40, 20, 3 * 19 + 16, 60]
    assert batch.starts is not None
    assert batch.starts[1, 60] == 1


MIXED = (
    f"(;{HEAD}SZ[19]AB[dd:ee]AW[pp];B[aa];W[](;B[bb]C[x])(;B[cc]))\n(;{HEAD};B[aa];W[aa])\n(;GM[1]PB[é];B[tt])".encode()
)


@given(
    edits=st.lists(st.tuples(st.integers(0, len(MIXED)), st.integers(0, 9), st.binary(max_size=5)), max_size=10),
    deep=st.sampled_from([0, 0, 0, 3000]),
)
def test_damage_never_stops_an_import(tmp_path_factory: pytest.TempPathFactory, edits: Any, deep: int) -> None:
    data = MIXED
    for at, gone, new in edits:
        data = data[:at] + new + data[at + gone :]
    if deep:
        data += b"(;GM[1]AW[]" + b"(;C[a]" * deep + b")" * deep + b")"
    file = tmp_path_factory.mktemp("damaged") / "a.sgf"
    file.write_bytes(data)
    batches, _ = read(file)
    for batch in batches:
        assert batch.read == len(batch) + batch.rejections.counts.total()


def test_text_in_any_encoding(tmp_path: Path) -> None:
    names = {"gb18030": "古力孔杰", "utf-8": "이세돌", "latin-1": "Müller", "shift_jis": "たけみや"}
    for encoding, name in names.items():
        text = f"(;GM[1]RE[B+R]PB[{name}]PW[{name}];B[aa])".encode(encoding)
        assert one(tmp_path, text).table["black"].to_pylist() == [name]
    lying = "(;GM[1]RE[B+R]CA[UTF-8]PB[古力]PW[孔杰];B[aa])".encode("gb18030")
    assert one(tmp_path, lying).table["black"].to_pylist() == ["古力"]


def test_filters_are_asked(tmp_path: Path) -> None:
    assert reason_of(one(tmp_path, f"(;{HEAD};B[aa])", Filter(min_moves=2)))[0] == "under 2 moves"
    assert reason_of(one(tmp_path, f"(;{HEAD}BR[1d];B[aa])", Filter(rank="5d")))[0] == "no rank"


def test_small_files_come_together(tmp_path: Path) -> None:
    for i in range(30):
        (tmp_path / f"{i:02}.sgf").write_text(f"(;{HEAD}GN[game {i}];B[aa];W[bb])\n(;{HEAD};B[aa];W[aa])")
    found = records.find([str(tmp_path)], (".sgf",))
    (batch,) = SgfReader(found, Filter())
    assert batch.read == 60
    assert batch.table["source"].to_pylist() == found
    assert set(batch.table["number"].to_pylist()) == {1}
    assert batch.rejections.examples["illegal move"][0]["game"] == 2


def test_a_large_file_comes_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "many.sgfl.gz"
    file.write_bytes(gzip.compress(b"".join(f"(;{HEAD}GN[{i} é];B[aa];W[bb])\n".encode() for i in range(200))))
    monkeypatch.setattr("kibitz.games.go.io.blocks.BLOCK", 777)
    batches, reader = read(file)
    assert len(batches) > 10
    assert [number for batch in batches for number in batch.table["number"].to_pylist()] == list(range(1, 201))
    assert reader.consumed == file.stat().st_size


def test_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("one.sgf", f"(;{HEAD};B[aa])")
        archive.writestr("two.sgfl", f"(;{HEAD};B[aa])\n(;{HEAD};B[bb])")
        archive.writestr("read.me", "no game")
    found = records.find([str(tmp_path / "all.zip")], (".sgf", ".sgfl"))
    (batch,) = SgfReader(found, Filter())
    assert batch.table["source"].to_pylist() == [found[0], found[1], found[1]]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "SGF & file"),
        (b"1. e4 e5", "SGF & file"),
        (bytes(range(256)) * 10, "SGF & binary"),
        (gzip.compress(b"(;GM[1]RE[B+R];B[aa])" * 1000, mtime=0)[:-40], "cannot be unpacked"),
    ],
)
def test_broken_files_are_told_in_one_line(tmp_path: Path, data: bytes, words: str) -> None:
    file = tmp_path / "broken.sgf"
    file.write_bytes(data)
    _, reader = read(file)
    (line,) = reader.broken
    assert mentions(line, words)


def test_a_file_without_an_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kibitz.games.go.io.blocks.MAX_GAME_BYTES", 5000)
    monkeypatch.setattr("kibitz.games.go.io.blocks.BLOCK", 1000)
    file = tmp_path / "long.sgf"
    file.write_bytes(b"(;GM[1]C[" + b"x" * 20_000)
    _, reader = read(file)
    assert mentions(reader.broken[0], "long.sgf & game")


def test_a_truncated_collection(tmp_path: Path) -> None:
    batch = one(tmp_path, f"(;{HEAD};B[aa])\n(;{HEAD};B[bb];W[c")
    assert len(batch) == 1
    assert batch.rejections.counts == {"cut short": 1}


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": io.BytesIO(f"(;{HEAD};B[aa])".encode())}))
    (batch,), _ = read("-")
    assert batch.table["source"].to_pylist() == ["standard input"]


KNOWN: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "fox_pro": (10_318, {"cut short": 4, "illegal move": 1, "handicap stones missing": 132}),
}


@pytest.mark.parametrize("name", KNOWN)
def test_real_files(name: str) -> None:
    path = SHARED / "go" / f"{name}.sgfl.zst"
    if not path.exists():
        pytest.skip("needs the shared records")
    rejections, kept, positions = Rejections(), 0, 0
    for batch in SgfReader([str(path)], Filter()):
        rejections.merge(batch.rejections)
        kept += len(batch)
        if kept < 2000:
            positions += _replayed(batch)
    read_games, reasons = KNOWN[name]
    assert kept == read_games - sum(reasons.values())
    assert rejections.counts == reasons
    assert positions > 100_000


def _replayed(batch: GameBatch) -> int:
    """How many positions the store's replay makes of a batch."""
    offsets = np.concatenate(([0], np.cumsum(batch.plies, dtype=np.int64)))
    starts: Any = batch.starts if batch.starts is not None else np.stack([start_row()] * len(batch))
    ends = batch.plies.astype(np.int64)
    games = np.arange(len(batch))
    replay(batch.moves, offsets, starts, games.astype(np.int32), games, ends)
    return int(ends.sum())
