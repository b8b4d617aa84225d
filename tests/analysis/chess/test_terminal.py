"""The table on a terminal: a recorded transcript, and what hostile headers and narrow windows do to it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from kibitz.analysis.chess.moves import AnalysedGame, ByStrength, Judged, Worth
from kibitz.analysis.chess.shown import shown_game
from kibitz.analysis.chess.terminal import show
from support.causes import mentions

Judge = Callable[[str, Sequence[float]], AnalysedGame]

GAME = """[Event "Café de la Régence"]
[Site "?"]
[Date "1858.??.??"]
[White "Morphy"]
[Black "B"]
[Result "1-0"]
[WhiteElo "2690"]

1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0
"""
WHITE = [0.53, 0.55, 0.552, 0.449, 0.44, 0.42, 0.98, 0.8]

TRANSCRIPT = """\
Game 1: Morphy (2690) – B, 1-0
Café de la Régence, 1858.??.??

White's win probability, from start to end:
▅▅▅▄▄▄█▇

change: percentage points, for the player.
move            before  after change   White wins
   1. e4           53%    55%     +2   ███████████·········
   1… e5           55%    55%      0   ███████████·········
   2. Bc4?!        55%    45%    -10   █████████···········
   2… Nc6          45%    44%     +1   ████████▊···········
   3. Qh5          44%    42%     -2   ████████▍···········
   3… Nf6??        42%    98%    -56   ███████████████████▋
   4. Qxf7#        98%    80%      #   ████████████████····

Checkmate. The last number is the network's prediction, not
the result.
2 swings (10 percentage points or more):
   3… Nf6??       -56  White 42% → 98%
   2. Bc4?!       -10  White 55% → 45%
Average loss per move, in percentage points: White 4.1,
Black 18.7.
"""


def printed(judged: AnalysedGame, width: int, encoding: str = "utf-8", colour: bool = False) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="\n")
    console = Console(file=file, width=width, force_terminal=colour, color_system="standard" if colour else None)
    show(judged, 0.1, console)
    file.flush()
    return raw.getvalue().decode(encoding)


def test_a_loss_on_a_page_is_not_rounded_to_the_limit_of_the_next_mark(judge_text: Judge) -> None:
    (move,) = shown_game(judge_text("1. e4 *", [0.6, 0.304]), 0.1)["moves"]
    assert (move["mark"], move["change"]) == ("?", -29.6)
    (move,) = shown_game(judge_text("1. e4 *", [0.6, 0.35]), 0.1)["moves"]
    assert move["change"] == -25


def test_transcript(judge_text: Judge) -> None:
    assert printed(judge_text(GAME, WHITE), 60) == TRANSCRIPT


def test_colour_adds_nothing_to_the_words(judge_text: Judge) -> None:
    judged = judge_text(GAME, WHITE)
    coloured = printed(judged, 60, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == TRANSCRIPT


@pytest.mark.parametrize("width", [30, 48, 49, 60, 100])
def test_no_line_is_wider_than_the_terminal(width: int, judge_text: Judge) -> None:
    judged = judge_text(GAME.replace("Morphy", "M" * 200), [0.2, 0.9])
    for line in printed(judged, width).splitlines():
        assert cell_len(line) <= width


def test_headers_are_no_markup_and_no_control_codes(judge_text: Judge) -> None:
    judged = judge_text(
        '[White "[bold red]Eve[/] \x1b[2J\x07"]\n[Black "[link=x]"]\n[Result "[/]"]\n\n1. e4 *\n', [0.5]
    )
    text = printed(judged, 80)
    assert "Game 1: [bold red]Eve[/] [2J – [link=x], [/]" in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_terminal_without_unicode(judge_text: Judge) -> None:
    text = printed(judge_text(GAME, [0.2, 0.9]), 60, encoding="ascii")
    assert "Caf? de la R?gence" in text
    assert "28282828" in text
    assert "#####" in text


WANTED = (
    {"e2e4": 0.45, "d2d4": 0.31, "g1f3": 0.09, "c2c4": 0.15}, {"c7c5": 0.5, "e7e5": 0.3, "e7e6": 0.2},
    {"g1f3": 0.75, "d2d4": 0.15, "f1c4": 0.1}, {"g8f6": 0.51, "b8c6": 0.46, "f8c5": 0.03},
    {"d2d3": 0.6, "d1h5": 0.004, "b1c3": 0.396}, {"g7g6": 0.9, "d8e7": 0.06, "d8f6": 0.04},
    {"h5f7": 0.7, "h5e2": 0.2, "a2a3": 0.1}, {"a2a3": 1},
)  # fmt: skip

ROWS = """\
change: percentage points, for the player. rank, prob: of the played move.
move             White change  rank prob   network's choices
   1. e4           45%     -5     1  45%   e4 45%       d4 31%       c4 15%
   1… e5?!         55%    -10     2  30%   c5 50%       e5 30%       e6 20%
   2. Bc4?!        45%    -10     3  10%   Nf3 75%      d4 15%       Bc4 10%
   2… Nc6          50%     -5     2  46%   Nf6 51%      Nc6 46%      Bc5 3%
   3. Qh5          50%      0     3  <1%*  d3 60%       Nc3 40%      Qh5 <1%
   3… Nf6??        97%    -47    27   0%*  g6 90%       Qe7 6%       Qf6 4%
   4. Qxf7#        95%      #     1  70%   Qxf7# 70%    Qe2 20%      a3 10%

Checkmate. The last number is the network's prediction, not the result.
3 swings (10 percentage points or more):
   3… Nf6??       -47  White 50% → 97%
   1… e5?!        -10  White 45% → 55%
   2. Bc4?!       -10  White 55% → 45%
Average loss per move, in percentage points: White 5.0, Black 20.8.
2 surprising moves (below the 10th choice of the network, or under 1%): *
   3… Nf6??       27th of 28, 0%; first choice g6 90%
   3. Qh5         3rd of 33, <1%; first choice d3 60%

Predicted moves   moves  top-1  top-3  mean prob.
White                 4    50%   100%         31%
Black                 3     0%    67%         25%
"""

WITHOUT_VALUE = """\
Game 1: Morphy (2690) – B, 1-0
Café de la Régence, 1858.??.??

rank, prob: of the played move.
move            rank prob   network's choices
   1. e4           1  45%   e4 45%       d4 31%       c4 15%
   1… e5           2  30%   c5 50%       e5 30%       e6 20%
   2. Bc4          3  10%   Nf3 75%      d4 15%       Bc4 10%
   2… Nc6          2  46%   Nf6 51%      Nc6 46%      Bc5 3%
   3. Qh5          3  <1%*  d3 60%       Nc3 40%      Qh5 <1%
   3… Nf6         27   0%*  g6 90%       Qe7 6%       Qf6 4%
   4. Qxf7#        1  70%   Qxf7# 70%    Qe2 20%      a3 10%

Checkmate.
2 surprising moves (below the 10th choice of the network, or under 1%): *
"""
VALUES = [0.0, 0.1, 0.1, 0.1, 0.0, 0.0, 0.95, -0.9]


def test_with_choices_it_fits_80_columns(judge_moves: Callable[..., AnalysedGame]) -> None:
    judged = judge_moves(GAME, WANTED, VALUES)
    assert printed(judged, 80).split("\n\n", 2)[2] == ROWS
    coloured = printed(judged, 80, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == printed(judged, 80)
    assert printed(judge_moves(GAME, WANTED), 80).startswith(WITHOUT_VALUE)


@pytest.mark.parametrize(
    ("width", "value", "row"),
    [
        (
            120,
            True,
            "   1. e4           45%     -5     1  45%   e4 45%       d4 31%       c4 15%        █████████████▌·",
        ),
        (92, True, "   1. e4           45%     -5     1  45%   e4 45%       d4 31%       c4 15%        ███▋····"),
        (90, True, "   1. e4           45%     -5     1  45%   e4 45%       d4 31%       c4 15%"),
        (79, True, "   1. e4           45%     -5     1  45%   e4 45%       d4 31%"),
        (66, True, "   1. e4           45%     -5     1  45%   e4 45%"),
        (53, True, "   1. e4           45%     -5     1  45%"),
        (66, False, "   1. e4           1  45%   e4 45%       d4 31%       c4 15%"),
        (40, False, "   1. e4           1  45%   e4 45%"),
    ],
)
def test_narrow_windows_lose_bars_first_and_then_choices(
    width: int, value: bool, row: str, judge_moves: Callable[..., AnalysedGame]
) -> None:
    text = printed(judge_moves(GAME, WANTED, VALUES if value else None), width)
    found = next(line for line in text.splitlines() if line.startswith("   1. e4"))
    assert found.rstrip("·") == row.rstrip("·")
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_the_longest_moves_fit(judge_moves: Callable[..., AnalysedGame]) -> None:
    text = '[FEN "q2qk3/8/8/3P4/q7/8/8/6K1 b - - 0 130"]\n\n130... Qa8xd5 *'
    judged = judge_moves(text, [{"a8d5": 0.35, "d8d5": 0.33, "a4d1": 0.32}], [-1.0, -1.0])
    row = next(line for line in printed(judged, 80).splitlines() if line.startswith(" 130"))
    assert cell_len(row) <= 80
    assert "Qaxd5 35%    Qdxd5 33%    Qd1+ 32%" in row


def test_an_underpromotion_is_explained(judge_moves: Callable[..., AnalysedGame]) -> None:
    text = '[FEN "8/4P1k1/8/8/8/8/8/K7 w - - 0 60"]\n\n60. e8=N+ *'
    shown = printed(judge_moves(text, [{"e7e8": 0.9, "a1a2": 0.1}]), 80)
    assert "  60. e8=N+        7   0%*  e8=Q 90%     Ka2 10%      Kb1 0%" in shown
    assert "7th of 7, 0%; first choice e8=Q 90%" in shown
    assert mentions(shown, "pawn")
    assert "A pawn" not in printed(judge_moves(text.replace("e8=N+", "e8=Q"), [{"e7e8": 1}]), 80)


def test_no_surprise_and_no_move(judge_moves: Callable[..., AnalysedGame]) -> None:
    shown = printed(judge_moves("1. e4 *", [{"e2e4": 1}]), 80)
    assert mentions(shown, "10th & 1% & choice")
    assert "Black" not in shown.rsplit("Predicted moves", 1)[1]
    assert printed(judge_moves('[White "A"]\n\n*', [{"e2e4": 1}]), 80).endswith("\nno moves\n")


def test_a_stalemate_that_was_judged_is_named_with_its_cost(judge_text: Judge) -> None:
    judged = judge_text('[FEN "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1"]\n\n1. Qg6 1/2-1/2', [1.0, 0.5])
    (move,) = judged.moves
    assert mentions(printed(judged, 60), "Stalemate & number")
    found = Judged(0.5, "g5g7", ("Qg7#",), False, "endgame", "queen")
    move = replace(move, worth=Worth(1.0, 0.5, -0.5), judged=found, fault="??")
    shown = printed(replace(judged, moves=[move]), 60)
    assert re.search(r"1\. Qg6\?\? +100% +50% +50 ", shown)
    assert mentions(shown, "1 mistake & 10 & Stalemate")
    assert "better: Qg7#" in shown


def test_a_loss_that_is_not_the_change_of_the_value_is_explained(judge_text: Judge) -> None:
    """The loss compares two moves in one search. The values of the positions have a search each."""
    judged = judge_text("1. e4 *", [0.6, 0.4])
    (move,) = judged.moves
    for loss, after, explained in ((0.2, 0.4, False), (0.2, 0.58, True), (0.0, 0.4, True), (0.0, 0.7, False)):
        found = Judged(loss, "d2d4", ("d4",), False, "opening", "pawn")
        one = replace(move, worth=Worth(0.6, after, -loss), judged=found)
        shown = printed(replace(judged, moves=[one]), 80)
        assert ("separate" in shown) == explained, (loss, after)


def test_the_title_of_a_list_says_which_moves_it_shows(judge_text: Judge) -> None:
    """The list is sorted by the size of the changes, so its first moves are not the first ones of the game."""
    text = printed(judge_text(GAME, [0.5, 0.62, 0.5, 0.7, 0.5, 0.8, 0.98, 0.8]), 80)
    assert mentions(text, "6 swings & 5 largest")


@pytest.mark.parametrize(("rating", "shown"), [(1500, "at 1100 1500 1900"), (350, "at 16 350 750")])
def test_the_ratings_of_weaker_and_stronger_players(
    rating: int, shown: str, judge_moves: Callable[..., AnalysedGame]
) -> None:
    game = judge_moves(GAME, WANTED)
    rated = [replace(move, by_strength=ByStrength(rating, 0.3, 0.2, 0.4)) for move in game.moves]
    assert shown in " ".join(printed(replace(game, moves=rated), 80).split())
