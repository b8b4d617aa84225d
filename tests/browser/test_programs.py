"""Programs of the machine: games against them, their opinions, and a match of a network against one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from support.board_page import SEARCHED, Desk, serious
from support.helpers import program


def begin(desk: Desk, name: str, side: str = "w") -> None:
    """A game against a program."""
    panel = desk.tab("Play")
    choice = panel.get_by_label("Opponent", exact=True)
    option = choice.locator("optgroup option").filter(has_text=re.compile(f"^{name}$"))
    expect(option).to_be_attached()
    choice.select_option(label=name)
    panel.get_by_label("You play", exact=True).select_option(side)
    panel.get_by_role("button", name="New game").click()
    desk.my_turn(side)


def test_a_game_against_a_program(visit: Callable[..., Page]) -> None:
    desk = Desk(visit(width=1366, height=768)).ready()
    panel = desk.tab("Play")
    panel.get_by_label("Opponent", exact=True).select_option(label="fish")
    level = panel.get_by_label("Level", exact=True)
    expect(level.locator("option", has_text=re.compile("[0-9]{4}"))).to_have_text(
        [re.compile(rating) for rating in ("1400", "1600", "1800", "2000")]
    )
    expect(level).to_have_value("1400")
    assert serious(desk.page) == []
    begin(desk, "fish")
    desk.drag("e2", "e4")
    desk.after("a5")  # the first of the legal moves by their names
    desk.my_turn()
    expect(desk.page.locator("#player-above .name")).to_have_text("fish")
    desk.page.wait_for_function("() => location.hash.includes('a7a5')")
    desk.page.reload()  # the game goes on with the same opponent
    desk.ready()
    desk.my_turn()
    desk.drag("d2", "d4")
    desk.after("a4")
    headers = desk.pgn().headers
    assert headers["Black"] == "fish"
    assert "1400" in headers["Event"]


def test_a_program_that_crashes_can_be_asked_again(desk: Desk, engines: dict[str, Path]) -> None:
    """For an opinion, and in a game."""
    crashed = engines["faller"] / "crashed"
    crashed.unlink(missing_ok=True)
    section = desk.page.locator(".opinion")
    section.get_by_label("Second opinion").select_option("faller")
    expect(section.get_by_role("status")).to_contain_text("3")  # its exit code
    section.get_by_role("button", name="Restart").click()
    expect(section.get_by_role("listitem")).to_have_count(2)
    expect(section.get_by_role("status")).to_be_hidden()
    crashed.unlink()
    begin(desk, "faller")
    desk.drag("e2", "e4")
    desk.play_state("lost")
    expect(desk.page.locator(".play-state")).to_contain_text("Fake Fish")
    desk.page.get_by_role("button", name="again").click()
    desk.after("a5")
    desk.my_turn()


def test_a_network_plays_a_program(visit: Callable[..., Page]) -> None:
    """Two games with the colours changed, of two plies each."""
    desk = Desk(visit(width=1366, height=768)).ready()
    desk.open("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 98 90")  # a draw by the fifty-move rule, or a mate, in two plies
    panel = desk.tab("Play")
    panel.locator(".series summary").click()
    panel.get_by_label("Player 1", exact=True).select_option("chessnet")
    panel.get_by_label("Player 2", exact=True).select_option(label="fish")
    expect(panel.get_by_label("Strength of player 1")).to_be_hidden()
    panel.get_by_label("Strength of player 2").select_option("1600")
    panel.get_by_label("Limit per move").select_option("nodes")
    panel.get_by_label("Games", exact=True).fill("2")
    panel.get_by_role("button", name="Start").click()
    expect(panel).to_contain_text("2 of 2", timeout=SEARCHED)
    score = re.compile(r"chessnet (1 – 1|2 – 0|0 – 2|1½ – ½|½ – 1½) fish \(1600\)")
    expect(panel.locator(".series-score")).to_have_text(score)
    headers = desk.pgn().headers
    assert (headers["White"], headers["Black"]) == ("fish (1600)", "chessnet")
    assert headers["Result"] != "*"
    assert serious(desk.page) == []


def test_stockfish_plays_and_has_an_opinion(desk: Desk) -> None:
    program("stockfish")
    desk.open("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    section = desk.page.locator(".opinion")
    section.get_by_label("Second opinion").select_option("stockfish")
    rows = section.get_by_role("listitem")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text(re.compile(r"100%\s*#1\s*Ra8#"))
    section.get_by_label("Lines").select_option("5")
    expect(rows).to_have_count(5)
    rows.first.get_by_role("button", name="Ra8#").click()
    desk.after("Ra8#")
    expect(rows).to_have_count(0)
    section.get_by_label("Second opinion").select_option("")
    begin(desk, "stockfish")
    expect(desk.page.get_by_label("Level", exact=True)).to_have_value("1400")
    desk.drag("e2", "e4")
    desk.counts(2)


def test_programs_of_go_estimate_play_and_resign(visit: Callable[..., Page]) -> None:
    program("gnugo")
    desk = Desk(visit("/#game=go&size=9&moves=E5")).ready()
    section = desk.page.locator(".opinion")
    section.get_by_label("Second opinion").select_option("gnugo")
    rows = section.get_by_role("listitem")
    expect(rows).to_have_count(3, timeout=SEARCHED)
    expect(rows.first).to_contain_text(re.compile(r"[BW]\+\d+\.\d"))
    section.get_by_label("Second opinion").select_option("")
    begin(desk, "gnugo", "b")
    desk.page.mouse.click(*desk.point("E5"))
    desk.counts(2)
    desk.my_turn("b")
    desk.resign()
    desk.play_state("over", "b")
    begin(desk, "gtp-resigner", "b")  # without a setting of ratings
    desk.page.mouse.click(*desk.point("E5"))
    desk.play_state("over", "b")
    expect(desk.page.locator(".outcome")).to_contain_text("gtp-resigner")
    assert "RE[B+R]" in desk.copied("SGF")
