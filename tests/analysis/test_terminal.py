"""The table on a terminal: a recorded transcript, and what hostile headers and narrow windows do to it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from kibitz.analysis.moves import Judged
from kibitz.analysis.terminal import bar, show, sparkline

Judge = Callable[[str, Sequence[float]], Judged]

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

White's winning probability, from start to end:
▅▅▅▄▄▄█▇

move             before  after   mover   White wins
   1. e4            53%    55%      +2   ██████████▌········
   1… e5            55%    55%       0   ██████████▌········
   2. Bc4?!         55%    45%     -10   ████████▌··········
   2… Nc6           45%    44%      +1   ████████▍··········
   3. Qh5           44%    42%      -2   ████████···········
   3… Nf6??         42%    98%     -56   ██████████████████▋
   4. Qxf7#         98%    80%       #   ███████████████▎···

Checkmate: the last number is the network's, not the result.
Swings of 10 points or more: 2:
   3… Nf6??       -56  White 42% → 98%
   2. Bc4?!       -10  White 55% → 45%
Average loss a move: White 4.1 points, Black 18.7 points.
"""


def printed(judged: Judged, width: int, encoding: str = "utf-8", colour: bool = False) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="\n")
    console = Console(file=file, width=width, force_terminal=colour, color_system="standard" if colour else None)
    show(judged, 0.1, console)
    file.flush()
    return raw.getvalue().decode(encoding)


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


def test_bar_and_sparkline() -> None:
    assert bar(0.0, 4) == "····"
    assert bar(1.0, 4) == "████"
    assert bar(0.5, 4) == "██··"
    assert bar(0.4, 4) == "█▋··"  # 12.8 eighths of 32
    assert bar(0.5, 4, ascii_only=True) == "##.."
    assert sparkline(np.array([0.0, 0.5, 1.0]), 3) == "▁▅█"
    assert sparkline(np.array([0.0, 1.0, 1.0, 1.0]), 2) == "▅█"
    assert len(sparkline(np.full(301, 0.5), 60)) == 60
    assert sparkline(np.array([0.3]), 60) == "▃"
