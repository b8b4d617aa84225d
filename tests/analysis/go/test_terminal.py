"""A judged Go game on a terminal: a recorded transcript, and what hostile headers and narrow windows do to it."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from kibitz.analysis.go import answers
from kibitz.analysis.go.games import AnalysedGame, analyse
from kibitz.analysis.go.terminal import show
from kibitz.games.go.io.sgf import parse_record
from support.causes import mentions
from support.go_fakes import FakeOwners, owners

GAME = (
    "(;GM[1]FF[4]SZ[9]KM[6.5]PB[Sh\u016b]BR[3k]PW[B]EV[Cup]DT[2020-01-02]RU[Chinese]RE[W+3.5]"
    ";B[ee];W[ec];B[cc];W[gg];B[ge];W[])"
)
OPENING = ["555555555"] * 9
LEFT = ["999555000"] * 9
LOST = ["000555000"] * 3 + ["999555000"] * 6
MAPS = [OPENING, LEFT, LEFT, LOST, LOST, LEFT, LEFT]

TRANSCRIPT = """\
Game 1: Shū (3k) (Black) – B (White), W+3.5
Cup, 2020-01-02, 9×9, komi 6.5, Chinese

Black's lead, from start to end (28 points behind to 28 ahead):
▄▃▃▁▁▃▃

before, after: the lead. count: the lead if each intersection goes to its more
likely owner. change: points for the player who moved.
move            before   after   count  change    Black leads
   1. B E5?!     W+6.5  W+11.9   W+6.5    -5.4    ████████▋·····················
   2. W E7      W+11.9  W+11.9   W+6.5       0    ████████▋·····················
   3. B C7??    W+11.9  W+28.1  W+24.5   -16.2    ······························
   4. W G3      W+28.1  W+28.1  W+24.5       0    ······························
   5. B G5      W+28.1  W+11.9   W+6.5   +16.2 ↑  ████████▋·····················
   6. W pass    W+11.9  W+11.9   W+6.5       0    ████████▋·····················

3 swings (3 points or more):
   3. B C7??    -16.2  W+11.9 → W+28.1
      9 points around B8 become White's
   5. B G5      +16.2  W+28.1 → W+11.9
      8 points around B8 become Black's; the black stone at C7 lives
   1. B E5?!     -5.4  W+6.5 → W+11.9
      most of it in the upper right

Summary    accuracy   lost  ?!   ?  ??
Black           13%    7.2   1   0   1
White          100%    0.0   0   0   0
lost: points per move.
At the end: W+11.9 (count W+6.5). Recorded result: W+3.5.
The count, by area scoring with komi 6.5, differs from the recorded W+3.5. The
komi, the rules or the dead stones of the players may have been different.

After move 3, Black C7: W+28.1 (count W+24.5)
    A B C D E F G H J
 9  - - - . . . - - -  9
 8  - - - . . . - - -  8
 7  - -(x). O . - - -  7
 6  + + + . . . - - -  6
 5  + + + . X . - - -  5
 4  + + + . . . - - -  4
 3  + + + . . . - - -  3
 2  + + + . . . - - -  2
 1  + + + . . . - - -  1
    A B C D E F G H J

After move 6, White pass, the end: W+11.9 (count W+6.5)
    A B C D E F G H J
 9  + + + . . . - - -  9
 8  + + + . . . - - -  8
 7  + + X . O . - - -  7
 6  + + + . . . - - -  6
 5  + + + . X . x - -  5
 4  + + + . . . - - -  4
 3  + + + . . . O - -  3
 2  + + + . . . - - -  2
 1  + + + . . . - - -  1
    A B C D E F G H J

X, O: stones. x, o: stones that will be lost. +, -: territory of Black, White
(75% sure).
"""


def one_game(text: str = GAME, maps: list[list[str]] = MAPS) -> AnalysedGame:
    fake: Any = FakeOwners([owners(*rows) for rows in maps])
    return analyse(1, parse_record(text), fake, answers)


def printed(
    judged: AnalysedGame, width: int, encoding: str = "utf-8", colour: bool = False, ply: int | None = None
) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="\n")
    console = Console(file=file, width=width, force_terminal=colour, color_system="truecolor" if colour else None)
    show(judged, ply, console)
    file.flush()
    return raw.getvalue().decode(encoding)


def test_transcript() -> None:
    assert printed(one_game(), 80) == TRANSCRIPT


def test_two_values_of_one_position_are_explained() -> None:
    """A search found that the second move lost 3 points; the network sees no loss."""
    judged = one_game()
    first, second, *rest = judged.moves
    searched = replace(second, before=replace(second.before, lead=second.after.lead - 3))
    assert not mentions(printed(judged, 80), "row above")
    assert mentions(" ".join(printed(replace(judged, moves=[first, searched, *rest]), 80).split()), "row above")


def test_the_count_is_shown_of_settled_boards_only() -> None:
    """Two thirds of the points surely have an owner, 54 of 81; one point less is not enough."""
    one_less = ["995555000", *["999555000"] * 8]
    lines = printed(one_game(maps=[OPENING, LEFT, one_less]), 80).splitlines()
    rows = [line.split()[3:] for line in lines if re.match(r" +[124]\. ", line)]
    assert [row[:3] for row in rows[:3]] == [
        ["W+6.5", "W+11.9", "W+6.5"], ["W+11.9", "W+12.7", "+0.8"], ["W+6.5", "W+11.9", "W+6.5"],
    ]  # fmt: skip
    none = printed(one_game(maps=[OPENING]), 80)
    assert "count" not in none
    assert "(count " in printed(one_game(), 80)
    assert "after  change" in none


def test_colour_adds_nothing_to_the_words() -> None:
    coloured = printed(one_game(), 80, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == TRANSCRIPT


@pytest.mark.parametrize("width", [30, 100])
def test_the_count_is_explained_also_without_its_column(width: int) -> None:
    shown = printed(one_game(GAME), width)
    assert "(count W+6.5)" in " ".join(shown.split())
    assert mentions(" ".join(shown.split()), "count & intersection")


@pytest.mark.parametrize("width", [30, 40, 48, 49, 60, 100])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for line in printed(one_game(GAME.replace("Sh\u016b", "M" * 200)), width).splitlines():
        assert cell_len(line) <= width


def test_a_large_board_in_a_narrow_window() -> None:
    judged = one_game("(;GM[1]SZ[19]KM[0];B[dd];W[pp])", [["5" * 19] * 19])
    assert "16  . . .(X)" not in printed(judged, 44)
    assert "\n16 ...X..............." in printed(judged, 44)
    assert "\n16  . . . X . . ." in printed(judged, 45)
    assert "\n 4  . . . . . . . . . . . . . . .(O). . .  4\n" in printed(judged, 45)


def test_brackets_at_the_edges() -> None:
    judged = one_game("(;GM[1]SZ[9]KM[0];B[aa];W[ii];B[ia])", [OPENING])
    assert "\n 9 (X). . . . . . . .  9\n" in printed(judged, 80, ply=1)
    assert "\n 1  . . . . . . . .(O) 1\n" in printed(judged, 80, ply=2)
    assert "\n 9  X . . . . . . .(X) 9\n" in printed(judged, 80, ply=3)
    assert "Before the first move: 0\n" in printed(judged, 80, ply=0)


def test_headers_are_no_markup_and_no_control_codes() -> None:
    text = printed(one_game("(;GM[1]SZ[9]KM[0]PB[[bold red\\]Eve\x1b[2J\x07]PW[[link=x\\]]RE[?];B[ee])"), 80)
    assert mentions(text, "Eve & 2J & Black & White")
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_terminal_without_unicode() -> None:
    text = printed(one_game(), 80, encoding="ascii")
    assert "Sh? (3k) (Black) - B (White)" in text
    assert "9x9" in text


def test_no_moves_and_no_swings() -> None:
    text = printed(one_game("(;GM[1]SZ[9]KM[0])"), 80)
    assert "\nno moves\n" in text
    assert "Before the first move" in text
    quiet = printed(one_game("(;GM[1]SZ[9]KM[0];B[ee])", [OPENING]), 80)
    assert mentions(quiet, "3 & points")
