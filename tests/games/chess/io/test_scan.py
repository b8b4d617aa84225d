"""Where games begin: known texts, and a slow twin on mutated ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.games.chess.io.blocks import find_games
from kibitz.games.chess.io.scan import LONGEST_COMMENT, scan

GAME = '[Event "a"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'


def parts(text: bytes) -> list[tuple[bytes, bytes]]:
    """Headers and moves of each game found."""
    begins, bodies = scan(text)
    ends = [*begins[1:].tolist(), len(text)][: len(begins)]
    return [(text[a:b], text[b:e]) for a, b, e in zip(begins.tolist(), bodies.tolist(), ends, strict=True)]


def test_games_with_headers() -> None:
    found = parts((GAME * 3).encode())
    assert [moves.strip() for _, moves in found] == [b"1. e4 e5 1-0"] * 3
    assert all(headers.startswith(b"[Event") and b"[Result" in headers for headers, _ in found)


def test_no_blank_line_between_games_or_parts() -> None:
    text = b'[Event "a"]\n1. e4 1-0\n[Event "b"]\n1. d4 0-1'
    assert [moves.strip() for _, moves in parts(text)] == [b"1. e4 1-0", b"1. d4 0-1"]


def test_moves_in_the_line_of_a_header() -> None:
    """Behind its bracket, with blanks between them or none."""
    for between in ("", " ", " \t "):
        text = f'[Event "a"]\n[Result "1-0"]{between}1. e4 1-0\n[Event "b"]{between}1. d4 0-1\n'.encode()
        assert [moves.strip() for _, moves in parts(text)] == [b"1. e4 1-0", b"1. d4 0-1"]


def test_windows_line_ends() -> None:
    assert len(parts((GAME * 3).replace("\n", "\r\n").encode())) == 3


def test_games_without_headers() -> None:
    text = b"1. e4 e5 1-0\n\n1. d4 d5\n2. c4 1/2-1/2\n\n1. c4 *\n"
    assert [moves.split()[1] for _, moves in parts(text)] == [b"e4", b"d4", b"c4"]
    assert all(headers == b"" for headers, _ in parts(text))


def test_a_blank_line_inside_moves_ends_no_game() -> None:
    assert len(parts(b'[Event "a"]\n\n1. e4 e5\n\n2. Nf3 Nc6\n\n1. is no result 1-0\n')) == 1


@pytest.mark.parametrize(
    ("last", "ends"),
    [
        *((form, True) for form in ("*", "1-0", "0-1", "1:0", "0:1", "1–0", "0—1", "1‒0", "0−1", "1/2-1/2", "1/2",
                                    "½-½", "0.5-0.5", "0.5")),
        *((form, False) for form in ("e5", "a1", "Ra2", "1-1", "0-0", "0-5", "1.5", "2/2", "1/4", "1.0", "16", "0-2")),
    ],
)  # fmt: skip
def test_a_game_without_headers_ends_with_its_result(last: str, ends: bool) -> None:
    found = parts(f"1. e4 e5 {last}\n\nd4 d5 c4 *\n".encode())
    assert [moves.split()[0] for _, moves in found] == ([b"1.", b"d4"] if ends else [b"1."])


def test_headers_without_moves_belong_to_what_follows() -> None:
    """Two blocks of headers with a blank line between are one game, as other readers have it too."""
    assert len(parts(b'[Event "a"]\n\n[Site "b"]\n\n1. e4 1-0\n')) == 1


def test_a_game_without_moves_does_not_take_the_next_one() -> None:
    """A bye: headers alone, and after a blank line those of the next game."""
    text = b'[Event "a"]\n[White "x"]\n[Result "1-0"]\n\n[Event "b"]\n[White "y"]\n\n1. e4 1-0\n'
    (one, nothing), (other, moves) = parts(text)
    assert (one[:11], nothing) == (b'[Event "a"]', b"")
    assert (other[:11], moves) == (b'[Event "b"]', b"1. e4 1-0\n")


def test_comments_in_brackets_are_no_headers() -> None:
    text = b'[Event "a"]\n\n1. e4 { [%clk 1:00:00] }\n[%eval 0.3] e5 1-0\n'
    assert len(parts(text)) == 1


@pytest.mark.parametrize("comment", [" ; best play leads to 1-0", " ; {1-0", "", " 1-0"])
def test_a_result_in_a_comment_to_the_end_of_the_line_ends_no_game(comment: str) -> None:
    block = find_games(f"1. e4{comment}\n1... e5 2. d4{comment}\n2... d5 1-0 ; the end\n".encode())
    assert (len(block) == 1) == (comment != " 1-0")
    after = find_games(b"1. e4 e5 1-0 ; White won\n1. d4 d5 0-1\n; nothing 1-0\n\n1. c4 *\n")
    assert [after.texts(i)[1].split()[1] for i in range(len(after))] == ["e4", "d4", "c4"]


def test_headers_in_comments_begin_no_game() -> None:
    comment = '1. e4 { see\n\n[Event "no game"]\n[White "x"]\n\n1. d4 1-0\n\n1. c4 } e5 2. Nf3 1-0\n\n'
    text = f'[Event "a"]\n\n{comment}'.encode() + GAME.encode()
    assert len(parts(text)) == 2
    for cut in range(len(text)):  # a block that ends there
        assert scan(text[:cut], whole=False)[0].tolist() in ([], [0], [0, len(text) - len(GAME)])
    of_the_line = b'[Event "a"]\n\n1. e4 ; {\n[Event "b"]\n\n1. d4 {}  1-0\n'
    assert len(parts(of_the_line)) == 2


def test_a_comment_that_is_never_closed_takes_no_other_game() -> None:
    begun = b'[Event "a"]\n\n1. e4 { e5 1-0\n\n'
    assert len(parts(begun + 3 * GAME.encode())) == 4
    assert len(parts(begun + b'[Event "b"]\n\n1. d4 {good} d5 1-0\n\n' + GAME.encode())) == 3
    assert len(scan(begun + (LONGEST_COMMENT // len(GAME) + 2) * GAME.encode(), whole=False)[0]) > 1000


def test_lines_for_other_programs_are_passed_over() -> None:
    text = b"% made by hand\n" + GAME.encode() + b'% [Event "no"]\n' + GAME.encode()
    assert len(parts(text)) == 2


def test_nothing() -> None:
    assert parts(b"") == []
    assert parts(b"\n \r\n\t\n") == []
    assert len(parts(b"[")) == 1


@given(st.lists(st.sampled_from([*b'[]"ab1.*-0/2 \t\r\n%{}', *GAME.encode(), 0, 255]), max_size=200).map(bytes))
def test_any_bytes_are_cut_into_ordered_parts(text: bytes) -> None:
    """Begins grow, bodies lie in their game, and only blank text or lines of % stand before the first."""
    begins, bodies = scan(text)
    ends = [*begins[1:].tolist(), len(text)][: len(begins)]
    for begin, body, end in zip(begins.tolist(), bodies.tolist(), ends, strict=True):
        assert begin <= body <= end
        assert begin < end
        assert (
            begin == 0 or text[begin - 1] in b" \t\r\n]" or text[begin] == ord("[")
        )  # a game begins a word, or with a tag
    before = text[: int(begins[0])] if len(begins) else text
    assert all(line.startswith(b"%") or not line.strip(b" \t\r") for line in before.split(b"\n"))


@given(st.integers(1, 6), st.integers(0, 400))
def test_games_of_a_prefix_are_those_of_the_whole(count: int, cut: int) -> None:
    """What a reader relies on that takes a file in blocks: all but the last game of a prefix stay where they are."""
    text = (GAME * count).encode()
    whole, prefix = scan(text)[0].tolist(), scan(text[:cut])[0].tolist()
    assert prefix[:-1] == whole[: max(len(prefix) - 1, 0)]
