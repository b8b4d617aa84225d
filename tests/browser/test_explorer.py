"""What was played here: the explorer of a board that was given a store."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

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


def test_moves_other_orders_ratings_and_a_game_of_the_store(desk: Desk) -> None:
    games(desk, 400)
    row = desk.page.locator(".played tbody tr").first
    move = row.get_by_role("button").inner_text()
    count = int(row.locator(".count span").inner_text())
    expect(row.get_by_role("img")).to_have_attribute("aria-label", re.compile(r"White .*\d+%.* Black .*\d+%"))
    row.get_by_role("button").click()
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


def test_a_game_is_looked_for(desk: Desk) -> None:
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
