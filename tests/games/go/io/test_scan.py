"""The fast reader of SGF main lines against sgfmill, and what it says of what it cannot read."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from sgfmill import sgf

from kibitz.games.go.filters import Filter
from kibitz.games.go.io import blocks
from kibitz.games.go.io.ingest import SgfReader
from kibitz.games.go.io.scan import (
    AMONG,
    COLOUR_SHIFT,
    FINE,
    ODD,
    OUT,
    PAIRS,
    SET_UP_OUT,
    SHIFT_JIS,
    SINGLE,
    Lines,
    find_games,
    main_lines,
    whole,
)
from kibitz.games.go.io.sgf import Record, parse_record, read_records
from kibitz.games.go.points import BLACK, PASS, WHITE
from support.helpers import SHARED


def lines(text: bytes, kind: int = SINGLE) -> Lines:
    begins, ends, _ = find_games(text, whole(kind))
    return main_lines(text, begins, ends, whole(kind).of(begins))


def written(text: bytes, game: int = 0) -> list[tuple[int, int]]:
    """Colours and points of a game's moves."""
    found = lines(text)
    first = int(found.first[game])
    return [
        (move >> COLOUR_SHIFT, move & 511) for move in found.written[first : first + found.move_count[game]].tolist()
    ]


def by_sgfmill(text: bytes) -> list[tuple[int, int]]:
    game = sgf.Sgf_game.from_bytes(text, override_encoding="latin-1")
    moves = []
    for node in game.get_main_sequence():
        for colour, name in ((BLACK, "B"), (WHITE, "W")):
            if node.has_property(name):
                at = node.get(name)
                moves.append((colour, PASS if at is None else (game.get_size() - 1 - at[0]) * 19 + at[1]))
    return moves


def test_games_of_a_file_are_found() -> None:
    text = b"some mail\n(;GM[1];B[aa](;W[bb])(;W[cc]))\n\n ( ;FF[4]C[a \\] ( b];B[dd])(;SZ[9])"
    begins, ends, closed = find_games(text)
    assert [text[a:b] for a, b in zip(begins, ends, strict=True)] == [
        b"(;GM[1];B[aa](;W[bb])(;W[cc]))", b"( ;FF[4]C[a \\] ( b];B[dd])", b"(;SZ[9])",
    ]  # fmt: skip
    assert closed.all()


@pytest.mark.parametrize("cut", [b"(;GM[1]FF[4];B[aa];W[b", b"(;GM[1]PB[x];B[aa]", b"(;GM[1];B[aa]C[said (", b"(;GM[1"])
def test_a_game_cut_short_does_not_swallow_the_next(cut: bytes) -> None:
    text = cut + b"\n(;GM[1]FF[4];B[cc];W[dd])\n"
    begins, ends, closed = find_games(text)
    assert closed.tolist() == [False, True]
    assert text[begins[1] : ends[1]] == b"(;GM[1]FF[4];B[cc];W[dd])"
    assert written(text, 1) == [(1, 40), (2, 60)]


def test_a_game_pasted_into_a_comment_is_none_of_its_own() -> None:
    text = b"(;GM[1];B[aa]C[look:\n(;GM[1\\];B[bb\\])\nwell];W[cc])"
    assert len(find_games(text)[0]) == 1
    assert written(text) == [(1, 0), (2, 40)]


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        (b"(;B[aa];W[];B[tt];W[ss])", [(1, 0), (2, PASS), (1, PASS), (2, 360)]),
        (b"(;SZ[9];B[ii];W[tt])", [(1, 8 * 19 + 8), (2, PASS)]),
        (b"(;\n B\n[ dd\n] (;W[cc](;B[aa])(;B[bb]))(;W[dc]))", [(1, 60), (2, 40), (1, 0)]),
        (b"(;Black[dd];White[cc])", [(1, 60), (2, 40)]),
        (b"(;FF[4];C[B[dd\\]];B[cc]LB[dd:B]BL[3]WL[4])", [(1, 40)]),
        (b"(;B[dd]W[cc])", [(1, 60), (2, 40)]),
    ],
)
def test_moves(text: bytes, moves: list[tuple[int, int]]) -> None:
    assert written(text) == moves


def test_the_first_variation_is_the_main_line() -> None:
    text = b"(;GM[1](;B[aa];W[bb](;B[cc];W[dd])(;B[ee]))(;B[ff]))"
    assert written(text) == by_sgfmill(text) == [(1, 0), (2, 20), (1, 40), (2, 60)]


def test_set_up_stones_before_the_first_move() -> None:
    found = lines(b"(;SZ[19]AB[aa:cb][dd];AW[dd]AE[ba]PL[W];B[qq])")
    expected = np.zeros((19, 19), np.uint8)
    expected[:2, :3] = 1
    expected[3, 3], expected[0, 1] = 2, 0
    assert found.status[0] == FINE
    assert (found.setup[0].reshape(19, 19) == expected).all()
    assert found.side[0] == WHITE


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"(;SZ[9];B[jj])", OUT),
        (b"(;SZ[13]AB[ss];B[aa])", SET_UP_OUT),
        (b"(;B[aa];AW[bb];B[cc])", AMONG),
        (b"(;B[aa];W[bb]AE[aa])", FINE),  # dead stones taken off when all is over
        (b"(;B[a])", ODD),
        (b"(;B[D4])", ODD),
        (b"(;B[aa][bb])", ODD),
        (b"(;B[aa]\xe9;W[bb])", ODD),
    ],
)
def test_what_is_not_read_is_marked(text: bytes, status: int) -> None:
    assert lines(text).status[0] == status


@pytest.mark.parametrize(
    ("said", "size"),
    [(b"SZ[9]", 9), (b"SZ[ 13 ]", 13), (b"SZ[19:19]", 19), (b"", 19), (b"SiZe[9]", 9), (b"SZ[9:13]", 0), (b"SZ[x]", 0),
     (b"SZ[20]", 20), (b"C[SZ[9\\]]", 19), (b"PB[a];SZ[9]", 9)],
)  # fmt: skip
def test_size(said: bytes, size: int) -> None:
    assert lines(b"(;GM[1]" + said + b";B[aa])").size[0] == size


def test_a_bracket_in_the_second_byte_of_a_character() -> None:
    text = b"(;PB[\x81\x5d\x95\x5c]PW[x];B[aa])"
    for kind in (PAIRS, SHIFT_JIS):
        assert lines(text, kind).move_count[0] == 1
        assert lines(text, kind).status[0] == FINE


def test_half_width_katakana_are_single_bytes() -> None:
    text = "(;GM[1]CA[Shift_JIS]PB[山田]PW[ﾋｶﾙ];B[pd]C[ｲｲﾃ];W[dd]C[表示])".encode("shift_jis")
    assert lines(text, SHIFT_JIS).move_count[0] == 2
    record = parse_record(text)
    assert (record.headers["PB"], record.headers["PW"], len(record.moves)) == ("山田", "ﾋｶﾙ", 2)
    guessed = parse_record(text.replace(b"CA[Shift_JIS]", b""))
    assert (guessed.headers["PB"], guessed.headers["PW"], len(guessed.moves)) == ("山田", "ﾋｶﾙ", 2)


GAME = "(;GM[1]SZ[19]CA[{}]PB[{}]PW[{}]RE[B+R]C[{}];B[pd];W[dd]C[{}];B[pp])\n"
IN_ENCODINGS = {
    "gb18030": ("柯洁", "古力", "黑棋好"), "utf-8": ("柯洁", "古力", "黑棋好"), "shift_jis": ("表示", "ソ", "ﾖｲ手ﾖ"),
    "big5": ("周俊勳", "許功蓋", "功"), "euc_kr": ("이창호", "조훈현", "좋다"), "latin-1": ("Müller", "Lé", "à"),
    "iso2022_jp": ("山田", "武宮正樹", "遊園地の手"),
}  # fmt: skip


@pytest.mark.parametrize("names", list(itertools.permutations(IN_ENCODINGS, 2)))
def test_joined_files_with_two_encodings(names: tuple[str, str], tmp_path: Path) -> None:
    """No bracket after a character is lost, whichever encoding comes first."""
    texts = [(name, IN_ENCODINGS[name]) for name in (*names, *names)]
    file = tmp_path / "a.sgf"
    file.write_bytes(b"".join(GAME.format(name, *text, text[2]).encode(name) for name, text in texts))
    found = [one for one in read_records([str(file)]) if isinstance(one, Record)]
    assert [(one.headers["PB"], one.headers["PW"], one.headers["C"]) for one in found] == [text for _, text in texts]
    assert [len(one.moves) for one in found] == [3] * 4
    (batch,) = SgfReader([str(file)], Filter())
    assert batch.plies.tolist() == [3] * 4


def test_a_block_that_ends_within_a_character(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "gb18030"
    words = ["癩" * 3] * 4  # the second byte of this character is a bracket
    data = b"".join(GAME.format(name, *words).encode(name) for _ in range(3))
    assert b"]]" in data
    file = tmp_path / "a.sgf"
    file.write_bytes(data)
    for size in range(60, 200):
        monkeypatch.setattr(blocks, "BLOCK", size)
        assert [len(one.moves) for one in read_records([str(file)]) if isinstance(one, Record)] == [3] * 3


values = st.text(st.characters(min_codepoint=1, max_codepoint=0x2FF), max_size=12).map(
    lambda text: text.replace("\\", "\\\\").replace("]", "\\]")
)
points = st.sampled_from(["", "tt", *(c + r for c in "aejs" for r in "aejs")])
nodes = st.tuples(st.sampled_from("BW"), points, values).map(lambda node: f";{node[0]}[{node[1]}]C[{node[2]}]")
trees = st.recursive(
    st.lists(nodes, min_size=1, max_size=4).map("".join),
    lambda inner: st.tuples(inner, st.lists(inner.map("({})".format), max_size=3)).map(lambda t: t[0] + "".join(t[1])),
    max_leaves=8,
)


@given(st.lists(trees, min_size=1, max_size=4), st.sampled_from(["", "\n", " \n\n", "junk \n"]))
def test_any_trees_are_read_as_sgfmill_reads_them(games: list[str], between: str) -> None:
    texts = [f"(;GM[1]FF[4]SZ[19]{game})".encode() for game in games]
    text = between.encode().join(texts)
    begins, ends, closed = find_games(text)
    assert [text[a:b] for a, b in zip(begins, ends, strict=True)] == texts
    assert closed.all()
    for i, one in enumerate(texts):
        assert written(text, i) == by_sgfmill(one)


@given(
    st.lists(
        st.sampled_from([b"(;", b"(", b")", b"[", b"]", b"B", b"aa", b"\\", b"\n", b"SZ[9", b"\xe9", b";W[bb]", b":"])
    )
)
def test_garbage_never_fails(parts: list[bytes]) -> None:
    for kind in (SINGLE, PAIRS, SHIFT_JIS):
        lines(b"".join(parts), kind)


@pytest.mark.parametrize("name", ["fox_pro", "kgs6d_to_2016", "tom9d_2003-2011", "tygem9d_2010"])
def test_real_games_are_read_as_sgfmill_reads_them(name: str) -> None:
    path = SHARED / "go" / f"{name}.sgfl.zst"
    if not path.exists():
        pytest.skip("needs the shared records")
    with path.open("rb") as file:
        text = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(file).read(300_000)
    text = text[: text.rfind(b"\n") + 1]
    begins, ends, closed = find_games(text)
    assert len(begins) == text.count(b"\n")
    assert closed.all()
    for i in range(len(begins)):
        assert written(text[begins[i] : ends[i]]) == by_sgfmill(text[begins[i] : ends[i]])


def test_many_empty_values_of_one_move_fit() -> None:
    """Each takes two bytes, fewer than any other move."""
    found = lines(b"(;B" + b"[]" * 1000 + b")")
    assert found.status.tolist() == [ODD]
    assert found.move_count.tolist() == [1000]
    assert lines(b"(;B[]" + b";W[];B[]" * 500 + b")").move_count.tolist() == [1001]


def test_a_first_move_in_the_root_leaves_the_headers_around_it() -> None:
    """The properties of a node have no order."""
    text = b"(;GM[1]B[ee]SZ[9]PB[a]RE[B+R];W[ec]C[SZ[19\\]];B[cc])(;GM[1]PB[b];B[aa]C[x];W[bb])"
    found = lines(text)
    assert found.size.tolist() == [9, 19]
    begins, _, _ = find_games(text)
    heads = [text[begin:head] for begin, head in zip(begins, found.heads, strict=True)]
    assert heads == [b"(;GM[1]B[ee]SZ[9]PB[a]RE[B+R]", b"(;GM[1]PB[b];"]
    stones = lines(b"(;B[aa]SZ[9]AB[cc];W[bb])(;B[aa];W[bb]AB[cc];B[dd])")
    assert stones.status.tolist() == [FINE, AMONG]
    assert written(text, 0) == [(1, 4 * 19 + 4), (2, 2 * 19 + 4), (1, 2 * 19 + 2)]
