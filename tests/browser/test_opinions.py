"""Second opinions on the page, and mistakes that are told and taken back in a game."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from support.board_client import until
from support.board_page import SEARCHED, Desk, serious
from support.helpers import program
from support.opinion_fakes import fake


class Engine:
    """A board with a fake engine, and what that was asked."""

    def __init__(self, server: Any, notes: Path):
        self.server, self.notes = server, notes

    def asked(self, word: str) -> int:
        """How many of its commands begin with this word."""
        path = self.notes / "asked"
        return sum(line.startswith(word) for line in path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def engine(serve: Callable[..., Any], tmp_path: Path) -> Callable[[str], Engine]:
    """Serves a board with a fake: engine(fault)."""
    return lambda fault: Engine(serve("--engine", fake("uci", fault, tmp_path)), tmp_path)


def choose(desk: Desk, name: str | re.Pattern[str]) -> Locator:
    """Asks a program; the section where it answers."""
    section = desk.page.locator(".opinion")
    options = section.get_by_label("Second opinion").locator("option")
    expect(options.filter(has_text=name)).to_have_count(1)
    section.get_by_label("Second opinion").select_option(options.filter(has_text=name).inner_text())
    return section


FAKE = re.compile("^python")


def test_it_follows_and_stops(visit: Callable[..., Page], engine: Callable[[str], Engine]) -> None:
    own = engine("sound")
    desk = Desk(visit(of=own.server)).ready()
    section = choose(desk, FAKE)
    rows = section.get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(re.compile(r"53%\s*\+0\.30\s*e4\s*e5"))
    expect(rows.nth(1)).to_contain_text("−0.20")
    expect(section).to_contain_text("Fake Fish · depth 3 · 1,200 positions")
    assert own.asked("go") == 1
    desk.tab("Play")
    until(lambda: own.asked("stop") == 1)
    desk.tab("Analysis")
    expect(rows).to_have_count(2)
    desk.keys("h")
    expect(section).to_be_hidden()
    until(lambda: own.asked("stop") == 2)
    desk.keys("h")
    expect(rows).to_have_count(2)
    rows.nth(1).get_by_role("button", name="d5").click()
    desk.after("d5")
    expect(desk.moves.locator("button.move")).to_have_text(["d4", "d5"])
    until(lambda: own.asked("position startpos moves d2d4 d7d5") == 1)
    section.get_by_label("Second opinion").select_option("Off")
    expect(rows).to_have_count(0)
    assert len((own.notes / "started").read_text().splitlines()) == 1


def test_an_engine_that_crashes_is_started_again(visit: Callable[..., Page], engine: Callable[[str], Engine]) -> None:
    desk = Desk(visit(of=engine("crash once").server)).ready()
    section = choose(desk, FAKE)
    expect(section.get_by_role("status")).to_have_text("Fake Fish ended (exit code 3).")
    section.get_by_role("button", name="Start again").click()
    expect(section.get_by_role("listitem")).to_have_count(2)
    expect(section.get_by_role("status")).to_be_hidden()


def test_stockfish_says_more_than_one_line(visit: Callable[..., Page]) -> None:
    program("stockfish")
    desk = Desk(visit()).ready()
    desk.open("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    section = choose(desk, "stockfish")
    rows = section.get_by_role("listitem")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text(re.compile(r"100%\s*#1\s*Ra8#"))
    section.get_by_label("Lines").select_option("5")
    expect(rows).to_have_count(5)
    rows.first.get_by_role("button", name="Ra8#").click()
    desk.after("Ra8#")
    expect(section).to_contain_text("The game is over.")
    expect(rows).to_have_count(0)


def test_gnu_go_estimates(visit: Callable[..., Page]) -> None:
    program("gnugo")
    desk = Desk(visit("/#game=go&size=9&moves=E5")).ready()
    section = choose(desk, "gnugo")
    rows = section.get_by_role("listitem")
    expect(section).to_contain_text("done", timeout=SEARCHED)
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text(re.compile(r"[BW]\+\d+\.\d"))


@pytest.mark.parametrize(("width", "height", "scheme"), [(1366, 768, "light"), (390, 844, "dark")])
def test_axe_finds_nothing_serious_in_an_opinion(
    visit: Callable[..., Page], engine: Callable[[str], Engine], width: int, height: int, scheme: str
) -> None:
    desk = Desk(visit(of=engine("sound").server, width=width, height=height)).ready()
    desk.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    section = choose(desk, FAKE)
    expect(section.get_by_role("listitem")).to_have_count(2)
    assert serious(desk.page) == []
    assert desk.page.evaluate("document.documentElement.scrollWidth") <= width


# Teaching


LATE_NETWORKS = """
const real = window.fetch;
window.fetch = async (url, options) => {
  if (String(url).endsWith("/api/networks")) await new Promise((then) => setTimeout(then, 1000));
  return real(url, options);
};
"""
"""The page learns of the networks after all else."""


def warned(desk: Desk) -> Locator:
    """A game from a position in which a queen can be given away, with warnings; the panel."""
    desk.open("1. e4 e5 2. Qh5 Nc6 *")
    desk.keys("End")
    panel = desk.tab("Play")
    panel.get_by_label("Against").select_option("chessnet")
    panel.get_by_label("Level").select_option("custom")
    panel.get_by_label("Method").select_option("top-prob")
    warnings = panel.get_by_role("checkbox", name="Warn me of mistakes")
    expect(warnings).not_to_be_checked()
    warnings.check()
    panel.get_by_role("button", name="Play from here").click()
    expect(panel.locator(".play-state")).to_have_text("Your move. You play White.")
    return panel


def test_a_blunder_is_told_and_taken_back(visit: Callable[..., Page]) -> None:
    desk = Desk(visit()).ready()
    panel = warned(desk)
    moves = desk.moves.locator("button.move")
    state = panel.locator(".play-state")
    desk.drag("h5", "e5")
    advice = panel.locator(".advice")
    expect(advice).to_contain_text("Qxe5+?? is a blunder.", timeout=SEARCHED)
    expect(advice).to_contain_text("The answer would be Nxe5")
    expect(moves).to_have_count(5)  # it has not answered
    desk.page.add_init_script(LATE_NETWORKS)
    desk.page.reload()  # nor after a reload, where the programs may be known before the networks
    desk.tab("Play")
    expect(advice).to_contain_text("Qxe5+?? is a blunder.", timeout=SEARCHED)
    expect(moves).to_have_count(5)
    assert serious(desk.page) == []
    panel.get_by_role("button", name="Take it back").click()
    desk.after("Nc6")
    expect(advice).to_be_hidden()
    expect(state).to_have_text("Your move. You play White.")
    desk.drag("h5", "e5")
    expect(advice).to_be_visible(timeout=SEARCHED)
    panel.get_by_role("button", name="Go on").click()
    expect(moves).to_have_count(6)
    expect(state).to_have_text("Your move. You play White.")
    panel.get_by_role("button", name="Take back").click()
    desk.after("Nc6")
    desk.drag("f1", "c4")  # no mistake: it is answered at once
    expect(desk.board()).to_have_attribute("aria-label", re.compile(r"White to move"), timeout=SEARCHED)
    expect(advice).to_be_hidden()


def test_a_blunder_that_was_taken_back_can_be_looked_at_later(visit: Callable[..., Page]) -> None:
    """It was never answered, and ends its variation: a look at it is no move of the game that goes on."""
    desk = Desk(visit()).ready()
    panel = warned(desk)
    desk.drag("h5", "e5")
    panel.get_by_role("button", name="Take it back").click(timeout=SEARCHED)
    desk.after("Nc6")
    desk.drag("f1", "c4")
    moves = desk.moves.locator("button.move")
    state = panel.locator(".play-state")
    expect(moves).to_have_count(7, timeout=SEARCHED)
    expect(state).to_have_text("Your move. You play White.")
    desk.moves.get_by_role("button", name="Qxe5+", exact=True).click()
    desk.after("Qxe5+")
    expect(state).to_have_text("You are viewing an earlier position. You play White.")
    panel.get_by_role("button", name="Back to the game").click()
    expect(state).to_have_text("Your move. You play White.")
    expect(moves).to_have_count(7)
    assert "3. Bc4 ( 3. Qxe5+ ) 3... " in desk.copied("PGN")


def test_a_blunder_of_go_is_told_and_taken_back(visit: Callable[..., Page]) -> None:
    """Black has four columns of nine and the move that decides who gets the fifth, and wastes it in its own corner."""
    line = "D5.E5.D4.E4.D6.E6.D3.E3.D7.E7.D2.E2.D8.E8.D1.E1"
    desk = Desk(visit(f"/#game=go&size=9&network=gohuman&ply=16&moves={line}")).ready()
    desk.after("E1", "go")
    panel = desk.tab("Play")
    panel.get_by_label("Against").select_option("gohuman")
    panel.get_by_label("You play").select_option("b")
    panel.get_by_label("Level").select_option("custom")
    panel.get_by_label("Method").select_option("top-prob")
    teaching = panel.get_by_role("checkbox", name="Warn me of mistakes")
    expect(teaching).not_to_be_checked()
    teaching.check()
    panel.get_by_role("button", name="Play from here").click()
    moves = desk.moves.locator("button.move")
    state = panel.locator(".play-state")
    advice = panel.locator(".advice")
    expect(state).to_have_text("Your move. You play Black.")
    desk.place("A1")
    told = re.compile(
        r"^A1\?{1,2} is a (blunder|mistake)\. It costs about \d+(\.\d)? points on the board\. Your chance: "
    )
    expect(advice).to_have_text(told, timeout=SEARCHED)
    expect(advice).to_contain_text("The answer would be ")
    expect(moves).to_have_count(17)  # it has not answered
    assert desk.stones() == {"black": 9, "white": 8}
    assert serious(desk.page) == []
    panel.get_by_role("button", name="Take it back").click()
    desk.after("E1", "go")
    expect(advice).to_be_hidden()
    expect(state).to_have_text("Your move. You play Black.")
    desk.place("A1")
    expect(advice).to_be_visible(timeout=SEARCHED)
    panel.get_by_role("button", name="Go on").click()
    expect(moves).to_have_count(18)
    expect(state).to_have_text("Your move. You play Black.")
    panel.get_by_role("button", name="Take back").click()
    desk.after("E1", "go")
    desk.page.mouse.click(*desk.point("H5"))  # no mistake: it is answered
    expect(moves).to_have_count(20, timeout=SEARCHED)  # beside the two that were taken back
    expect(state).to_have_text("Your move. You play Black.")
    expect(advice).to_be_hidden()


def test_nothing_is_told_unless_it_is_asked_for(visit: Callable[..., Page]) -> None:
    desk = Desk(visit()).ready()
    desk.open("1. e4 e5 2. Qh5 Nc6 *")
    desk.keys("End")
    panel = desk.tab("Play")
    panel.get_by_label("Against").select_option("chessnet")
    panel.get_by_label("Level").select_option("easy")
    panel.get_by_role("button", name="Play from here").click()
    desk.drag("h5", "e5")
    expect(desk.moves.locator("button.move")).to_have_count(6)
    expect(panel.locator(".advice")).to_be_hidden()


# Candidate moves


def test_candidates_have_values_and_lines(visit: Callable[..., Page]) -> None:
    desk = Desk(visit()).ready()
    desk.choose("chessnet")
    desk.open("1. f3 e5 2. g4 *")
    desk.keys("End")
    bars = desk.page.get_by_role("tabpanel", name="Analysis").locator(".move-bars").first
    mate = bars.get_by_role("button", name=re.compile("^Qh4#"))
    expect(mate.locator(".value")).to_have_text("#−1", timeout=SEARCHED)
    expect(bars.locator(".value").first).to_have_text(re.compile(r"^(\d+%|#−1|–)$"))
    assert serious(desk.page) == []
    mate.click()
    desk.after("Qh4#")
    desk.open("1. e4 e5 2. Nf3 *")
    desk.keys("End")
    likely = bars.get_by_role("button", name=re.compile("^Nc6"))
    expect(likely.locator(".value")).to_have_text(re.compile(r"^\d+%$"), timeout=SEARCHED)
    expect(likely.locator(".continued")).not_to_be_empty(timeout=SEARCHED)


def test_candidates_of_go_have_points_and_visits(visit: Callable[..., Page]) -> None:
    desk = Desk(visit("/#game=go&size=9&moves=E5&network=gohuman")).ready()
    bars = desk.page.get_by_role("tabpanel", name="Analysis").locator(".move-bars").first
    expect(bars.locator(".continued").first).to_have_text(re.compile(r"^[BW]\+\d+\.\d · \d+ visits?"), timeout=SEARCHED)
    expect(bars.locator(".value").first).to_have_text(re.compile(r"^\d+%$"))
