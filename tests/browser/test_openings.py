"""The opening trainer of My games: the usual moves, one that loses much, practice, and what comes back."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Server
from support import repertoire
from support.board_page import Desk, serious

WORK = 240_000
GAMES = repertoire.games().count("[Event ")


@pytest.fixture
def own(chromium: Any, tmp_path: Path) -> Iterator[Server]:
    """A board with a file of games."""
    (tmp_path / "mine.pgn").write_text(repertoire.games(), encoding="utf-8")
    (tmp_path / "london.pgn").write_text(
        repertoire.games(white=(), black=repertoire.BLACK[-1:], left=""), encoding="utf-8"
    )
    served = Server(tmp_path)
    served.start("human", "mine.pgn", "london.pgn")
    yield served
    assert served.end() == 0


def type_move(page: Page, move: str) -> None:
    page.keyboard.press("/")
    page.keyboard.type(move)
    page.keyboard.press("Enter")


def test_openings_are_practiced_and_come_back(visit: Callable[..., Page], own: Server) -> None:
    page = visit(of=own, width=1366, height=768)
    page.clock.set_fixed_time(datetime.datetime(2030, 1, 1, 12))
    desk = Desk(page).ready()
    panel = desk.tab("My games")
    panel.get_by_role("button", name="mine.pgn").click()
    expect(panel.get_by_text(f"mine.pgn: {GAMES}")).to_be_visible()
    panel.get_by_role("radio", name="Openings").check()
    view = panel.locator(".my-openings")
    expect(view).to_contain_text(f"From {GAMES} games")
    # The usual move of the start position, and what players of the rating play.
    here = view.get_by_role("region", name="Position on the board")
    expect(here.get_by_role("row", name=re.compile(r"^e4\s*usual\s*19\b"))).to_be_visible()
    told = here.get_by_role("list", name="Players rated 1500 play")
    expect(told).to_contain_text("your opponents played this in 6 games")
    # The usual move that gives the queen, and what is better; the one game that went another way.
    flaws = view.get_by_role("list", name="Your usual moves that lose a lot").get_by_role("listitem")
    expect(flaws).to_have_text(re.compile(r"3… Qd6.*3 games.*better: .*−\d\d%"), timeout=WORK)
    expect(view.get_by_role("list", name="Where you deviated")).to_contain_text("3. d4 instead of Bc4 (6 games)")
    assert serious(page) == []
    flaws.get_by_role("button").click()
    desk.after("Bf4")
    view.get_by_role("list", name="Where you deviated").get_by_role("button").click()
    desk.after("Nc6")
    expect(page.locator("#title")).to_contain_text("Opponent 27")
    expect(page.locator("#moves").get_by_role("button", name="d4", exact=True)).to_be_visible()
    # Practice, by the keyboard alone. A wrong move is not mine; then the right one, and the opponent answers.
    view.get_by_role("combobox", name="Color").select_option("white")
    view.get_by_role("button", name="Practice my openings").press("Enter")
    question, verdict = view.locator(".opening-question"), view.locator(".opening-verdict")
    expect(question).to_have_text("Position 1 of 10. White to move. Play your move.")
    desk.counts(0)
    type_move(page, "a3")
    expect(verdict).to_contain_text("a3 is not your move here", timeout=WORK)
    desk.counts(0)
    assert serious(page) == []
    type_move(page, "e4")
    expect(view.locator(".opening-before")).to_have_class(re.compile("good"), timeout=WORK)
    expect(question).to_contain_text(re.compile(r"Position 2 of 10\. The opponent plays (e5|c5|e6)\."), timeout=WORK)
    desk.counts(2)
    view.get_by_role("button", name="Show my move").press("Enter")
    usual = re.compile(r"Your usual move is (Nf3|d4) \(\d+ of \d+ games\)")
    expect(verdict).to_contain_text(usual, timeout=WORK)
    shown = usual.search(verdict.inner_text())
    assert shown
    view.get_by_role("button", name="End").press("Enter")
    today = view.locator(".opening-today")
    expect(today).to_have_text(
        "Done: 0 solved, 2 missed. Nothing is due today. 8 new. The next position is due tomorrow."
    )
    # Nothing of it is a game that would be kept.
    desk.menu("Earlier games")
    expect(page.get_by_role("dialog", name="Earlier games").get_by_role("listitem")).to_have_count(0)
    page.keyboard.press("Escape")
    # On the next day the one that was shown is due, also where the board was started again and no games were chosen.
    page.watch.allow("ERR_|status of 503")  # type: ignore[attr-defined]
    assert own.end() == 0
    own.start("human")
    page.clock.set_fixed_time(datetime.datetime(2030, 1, 2, 0, 1))
    page.reload()
    desk.ready()
    desk.tab("My games")
    expect(view).to_contain_text(f"Your openings from your last visit ({GAMES} games).")
    expect(today).to_contain_text("1 due today. 10 new.")
    expect(panel.locator(".chip", has_text="Openings").locator(".my-due")).to_have_text("1")
    view.get_by_role("button", name="Practice my openings").click()
    expect(question).to_contain_text("Position 1 of 11.")
    desk.counts(2)
    type_move(page, shown[1])
    expect(verdict).to_contain_text(f"Right: {shown[1]} is your usual move", timeout=WORK)


def test_a_usual_move_that_loses_much_is_not_the_answer(visit: Callable[..., Page], own: Server) -> None:
    page = visit(of=own, width=390, height=844)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    desk = Desk(page).ready()
    panel = desk.tab("My games")
    panel.get_by_role("button", name="london.pgn").click()
    expect(panel.get_by_text("london.pgn: 3")).to_be_visible()
    panel.get_by_role("radio", name="Openings").check()
    view = panel.locator(".my-openings")
    expect(view.locator(".opening-flaws")).to_contain_text("Checked your 3 most frequent usual moves", timeout=WORK)
    better = re.search(r"better: (\S+)", view.locator(".opening-flaws").inner_text())
    assert better
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(page) == []
    view.get_by_role("button", name="Practice my openings").click()
    question, verdict = view.locator(".opening-question"), view.locator(".opening-verdict")
    expect(question).to_contain_text("Position 1 of 3. Black to move after 1. d4")
    for move, answer in (("d5", "Nf3"), ("Nf6", "Bf4")):
        type_move(page, move)
        expect(question).to_contain_text(f"The opponent plays {answer}.", timeout=WORK)
    type_move(page, "Qd6")
    expect(verdict).to_contain_text("Qd6 is your usual move, but according to the search it loses", timeout=WORK)
    expect(verdict).to_contain_text(f"Better: {better[1]}")
    desk.counts(5)
    type_move(page, better[1])
    expect(verdict).to_contain_text(f"Right: {better[1]} is better than your usual Qd6", timeout=WORK)
    view.get_by_role("button", name="Finish").click()
    expect(view.locator(".opening-today")).to_contain_text("Done: 2 solved, 1 missed.")
