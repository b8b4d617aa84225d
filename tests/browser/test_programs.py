"""Games against programs of the machine, and a match of a network against one, on the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.board_page import SEARCHED, Desk, serious
from support.helpers import program
from support.opinion_fakes import fake

HEADING = "Programs on this machine"


@pytest.fixture
def beside(visit: Callable[..., Page], serve: Callable[..., Any], tmp_path: Path) -> Callable[..., Desk]:
    """A board with a fake program: beside(protocol, fault, path of the page)."""

    def open_(protocol: str, fault: str, path: str = "/") -> Desk:
        server = serve("--engine", fake(protocol, fault, tmp_path))
        return Desk(visit(path, of=server, width=1366, height=768)).ready()

    return open_


def choose(desk: Desk, label: str, starts: str = "python") -> str:
    """Chooses the first program whose name starts like that; its name."""
    choice = desk.tab("Play").get_by_label(label, exact=True)
    options = choice.locator(f'optgroup[label="{HEADING}"] option').filter(has_text=re.compile(f"^{starts}"))
    expect(options.first).to_be_attached()
    name = options.first.inner_text()
    choice.select_option(label=name)
    return str(name)


def test_a_game_against_a_program(beside: Callable[..., Desk]) -> None:
    desk = beside("uci", "sound")
    name = choose(desk, "Against")
    panel = desk.tab("Play")
    level = panel.get_by_label("Level", exact=True)
    expect(level.locator("option")).to_have_text(
        [f"Plays like {rating} player" for rating in ("a 1400", "a 1600", "an 1800", "a 2000")]
        + ["Full strength: 1 second a move", "Custom …"]
    )
    expect(level).to_have_value("1400")
    assert serious(desk.page) == []
    panel.get_by_role("button", name="New game").click()
    desk.drag("e2", "e4")
    desk.after("a5")  # the first of the legal moves by their names
    expect(panel.get_by_role("status")).to_have_text("Your move. You play White.")
    expect(desk.page.locator("#player-above .name")).to_have_text(name)
    desk.page.wait_for_function("() => location.hash.includes('a7a5')")
    desk.page.reload()  # the game goes on with the same opponent
    desk.ready()
    desk.drag("d2", "d4")
    desk.after("a4")
    record = desk.copied("PGN")
    assert f'[Black "{name}"]' in record
    assert f'[Event "Game against {name}, like a player of 1400"]' in record


def test_a_program_that_crashes_in_a_game_can_be_asked_again(beside: Callable[..., Desk]) -> None:
    desk = beside("uci", "crash once")
    choose(desk, "Against")
    panel = desk.tab("Play")
    panel.get_by_role("button", name="New game").click()
    desk.drag("e2", "e4")
    expect(panel.get_by_role("status")).to_have_text("No answer: Fake Fish ended (exit code 3)")
    panel.get_by_role("button", name="Ask again").click()
    desk.after("a5")


def test_a_program_of_go_without_ratings_that_resigns(beside: Callable[..., Desk]) -> None:
    desk = beside("gtp", "resigner", "/#game=go&size=9")
    name = choose(desk, "Against")
    panel = desk.tab("Play")
    expect(panel).to_contain_text(f"{name} cannot be told a rating: it plays at full strength")
    panel.get_by_label("You play", exact=True).select_option("b")
    panel.get_by_role("button", name="New game").click()
    expect(panel.get_by_role("status")).to_have_text("Your move. You play Black.")
    desk.page.mouse.click(*desk.point("E5"))
    expect(panel).to_contain_text(f"{name} resigns. You win.")
    assert "RE[B+R]" in desk.copied("SGF")


def test_a_network_plays_a_program(beside: Callable[..., Desk]) -> None:
    """Two games with the colours changed, of two plies each."""
    desk = beside("uci", "sound")
    desk.open("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 98 90")  # a draw by the fifty-move rule, or a mate, in two plies
    panel = desk.tab("Play")
    panel.get_by_text("Two players against each other").click()
    panel.get_by_label("First player").select_option("chessnet")
    name = choose(desk, "Second player")
    expect(panel.get_by_label("Strength of the first")).to_be_hidden()
    panel.get_by_label("Strength of the second").select_option("1600")
    panel.get_by_label("Each move may take").select_option("nodes")
    panel.get_by_label("Games", exact=True).fill("2")
    panel.get_by_role("button", name="Start").click()
    expect(panel).to_contain_text("2 of 2 games played.", timeout=SEARCHED)
    score = re.compile(rf"chessnet (1 – 1|2 – 0|0 – 2|1½ – ½|½ – 1½) {re.escape(name)} \(1600\)")
    expect(panel.locator(".series-score")).to_have_text(score)
    record = desk.copied("PGN")
    assert f'[White "{name} (1600)"]' in record
    assert '[Black "chessnet"]' in record
    assert not re.search(r'\[Result "\*"\]', record)
    assert serious(desk.page) == []


def test_stockfish_plays(visit: Callable[..., Page]) -> None:
    program("stockfish")
    desk = Desk(visit()).ready()
    choose(desk, "Against", "stockfish")
    panel = desk.tab("Play")
    expect(panel.get_by_label("Level", exact=True)).to_have_value("1400")
    panel.get_by_role("button", name="New game").click()
    desk.drag("e2", "e4")
    expect(desk.moves.locator("button.move")).to_have_count(2)


def test_gnu_go_plays(visit: Callable[..., Page]) -> None:
    program("gnugo")
    desk = Desk(visit("/#game=go&size=9")).ready()
    choose(desk, "Against", "gnugo")
    panel = desk.tab("Play")
    panel.get_by_label("You play", exact=True).select_option("b")
    panel.get_by_role("button", name="New game").click()
    expect(panel.get_by_role("status")).to_have_text("Your move. You play Black.")
    desk.page.mouse.click(*desk.point("E5"))
    expect(desk.moves.locator("button.move")).to_have_count(2)
