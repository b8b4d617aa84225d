"""What was played here: the explorer of a store, of the file that is open, and of one's own games."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Server
from support import person
from support.board_page import SEARCHED, Desk, serious


@pytest.fixture
def desk(visit: Callable[..., Page]) -> Desk:
    desk = Desk(visit(width=1366, height=768)).ready()
    desk.tab("Explorer")
    expect(desk.page.locator(".played tbody tr").first).to_be_visible(timeout=SEARCHED)
    return desk


def games(desk: Desk, count: int | str, timeout: int | None = None) -> None:
    """Waits until the panel shows how many games reached the position."""
    counted = re.compile(rf"^{count} games?\b")
    expect(desk.page.locator(".explorer [role=status]")).to_have_text(counted, timeout=timeout)


def test_moves_other_orders_ratings_and_games_of_the_store(desk: Desk) -> None:
    desk.page.get_by_role("button", name="Find").click()
    dialog = desk.page.get_by_role("dialog", name="Games")
    found = dialog.get_by_role("status")
    expect(found).to_contain_text("400")
    dialog.get_by_role("searchbox").fill("nobody")
    expect(found).to_contain_text("0 of 400")
    dialog.get_by_role("searchbox").fill("stockfish")
    dialog.get_by_role("combobox", name="Result").select_option("0")
    dialog.get_by_role("spinbutton", name="From").fill("1990")
    expect(found).to_have_text(re.compile(r"^[1-9]\d* of 400"))
    entries = dialog.get_by_role("listitem")
    expect(entries.filter(has_not_text="½–½")).to_have_count(0)
    expect(entries.first).to_contain_text("½–½")
    dialog.get_by_role("searchbox").fill("")
    dialog.get_by_role("combobox", name="Result").select_option("1")
    expect(entries.first).to_contain_text("1–0")
    assert serious(desk.page) == []
    entries.first.get_by_role("button").click()
    expect(desk.page.locator("#moves button.move").nth(8)).to_be_visible()
    desk.new("Chess")
    desk.counts(0)
    games(desk, 400)
    row = desk.page.locator(".played tbody tr").first
    move = row.get_by_role("button").first.inner_text()
    count = int(row.locator(".count span").inner_text())
    expect(row.get_by_role("img")).to_have_attribute("aria-label", re.compile(r"White .*\d+%.* Black .*\d+%"))
    row.get_by_role("button").first.click()
    desk.after(move)
    games(desk, count)
    opening = desk.page.locator(".explorer .opening")
    expect(opening).to_have_text(re.compile(r"^[A-E]\d\d "))
    desk.keys("Control+z")
    games(desk, 400)
    reached = []
    for moves in ("1. e4 c6 2. d4 *", "1. d4 c6 2. e4 *"):
        desk.open(moves)
        desk.keys("End")
        desk.after(moves.split()[-2])
        expect(opening).to_have_text(re.compile("^B12 "))
        expect(desk.page.locator(".played tbody tr").first).to_be_visible()
        text = desk.page.locator(".explorer [role=status]").inner_text()
        reached.append(int(re.match(r"\d+", text)[0]))  # type: ignore[index]
    assert reached[0] == reached[1] > 0
    choice = desk.page.get_by_role("combobox", name="Ratings")
    choice.select_option("-1200")
    games(desk, "(No|[0-9]+)")
    choice.select_option("")
    games(desk, reached[0])
    desk.page.locator(".stored-games button").first.click()
    expect(desk.page.locator("#moves button.move").nth(8)).to_be_visible()
    desk.open("1. h4 a5 2. Rh3 Ra6 3. Rd3 *")
    desk.keys("End")
    desk.after("Rd3")
    games(desk, "No")
    expect(desk.page.locator(".played")).to_be_hidden()


def test_the_opened_file_and_my_games(visit: Callable[..., Page], serve: Callable[..., Server], tmp_path: Path) -> None:
    """On a board without a store."""
    page = visit(of=serve(), width=1366, height=768)
    desk = Desk(page).ready()
    panel = desk.tab("Explorer")
    said = panel.get_by_role("status")
    # An empty explorer explains what to do, with buttons that do it.
    expect(said).to_contain_text("open a file")
    assert serious(page) == []
    panel.get_by_role("button", name="My games").click()
    expect(page.get_by_role("tab", name="My games")).to_have_attribute("aria-selected", "true")
    desk.tab("Explorer")
    panel.get_by_role("button", name="Open a file").click()
    expect(page.get_by_role("dialog", name="Open a game")).to_be_visible()
    desk.keys("Escape")
    # All games of the opened file, without those that have no result.
    desk.open(person.games(30) + '\n[Event "?"]\n[White "x"]\n[Black "y"]\n[Result "*"]\n\n1. a3 *\n')
    games(desk, 30, SEARCHED)
    source = panel.get_by_role("combobox", name="Games from")
    expect(source.locator("option")).to_have_text(["Opened file (31 games)"])
    expect(panel.get_by_text("1 game is skipped: no result.")).to_be_visible()
    row = panel.locator(".played tbody tr").first
    expect(row.get_by_role("button").first).to_have_text("b3")
    # The number leads to the games with the move; one opens after it, as a game of the file.
    row.get_by_role("button", name=re.compile("^16 53%$")).click()
    dialog = page.get_by_role("dialog", name="Games with b3")
    expect(dialog.get_by_role("listitem")).to_have_count(16)
    assert serious(page) == []
    dialog.get_by_role("listitem").filter(has_text="Opponent 7 ").get_by_role("button").click()
    desk.after("b3")
    expect(page.locator("#title")).to_contain_text("Opponent 7")
    expect(page.get_by_role("button", name="Game 8 of 31")).to_be_visible()
    games(desk, 16)
    # Filters.
    panel.locator("summary").click()
    result = panel.get_by_role("combobox", name="Result")
    result.select_option("1")
    games(desk, 1)
    result.select_option("-1")
    games(desk, 15)
    panel.get_by_role("spinbutton", name="to").fill("1999")
    games(desk, "No")
    page.reload()
    Desk(page).ready()
    games(desk, 16, SEARCHED)
    # One's own games as a further source, by color.
    file = tmp_path / "mine.pgn"
    person.write(file, 24)
    own = desk.tab("My games")
    own.get_by_label("PGN or SGF files of your games").set_input_files(file)
    expect(own.get_by_text("mine.pgn: 24")).to_be_visible()
    own.get_by_role("button", name="Analyze").click()
    own.get_by_role("button", name="Stop").first.click()
    desk.tab("Explorer")
    desk.keys("Home")
    source.select_option(label="My games (24)")
    games(desk, 12, SEARCHED)
    expect(row.get_by_role("button").first).to_have_text("b3")
    expect(row.locator("td").last).to_have_text("0%")
    assert serious(page) == []
    panel.get_by_role("combobox", name="I play").select_option("black")
    games(desk, 12)
    expect(row.get_by_role("button").first).not_to_have_text("b3")
    listed = panel.get_by_role("list", name="Games with this position").get_by_role("button")
    expect(listed).to_have_count(8)
    listed.first.click()
    expect(page.locator("#title")).to_contain_text(re.compile(rf"Opponent \d+ – {person.PERSON}"))
    expect(page.locator("#board .orientation-black")).to_have_count(1)
    expect(source).to_have_value("@my-games")
