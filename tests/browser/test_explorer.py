"""What was played here: the explorer of a board that was given a store."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from kibitz import cli
from support.board_page import Desk, serious

INDEXED = 120_000
"""Milliseconds that the kernels of an index may take to be compiled."""


@pytest.fixture
def desk(visit: Callable[..., Page], stored: Any) -> Desk:
    desk = Desk(visit(of=stored, width=1366, height=768)).ready()
    desk.tab("Explorer")
    expect(desk.page.locator(".played tbody tr").first).to_be_visible(timeout=INDEXED)
    return desk


def shown(desk: Desk) -> int:
    """Games that reached the position, as the panel says."""
    said = desk.page.locator(".explorer [role=status]").inner_text()
    found = re.match(r"([\d,]+) games?\b", said)
    assert found, said
    return int(found[1].replace(",", ""))


def test_a_click_plays_a_move(desk: Desk) -> None:
    assert shown(desk) == 400
    row = desk.page.locator(".played tbody tr").first
    move = row.get_by_role("button").inner_text()
    count = int(row.locator(".count span").inner_text())
    results = row.get_by_role("img")
    expect(results).to_have_attribute("aria-label", re.compile(r"White won \d+%, drawn .*%, Black won \d+%"))
    row.get_by_role("button").click()
    desk.after(move)
    expect(desk.page.locator(".explorer [role=status]")).to_have_text(re.compile(rf"^{count} games"))
    expect(desk.page.locator(".explorer .opening")).to_have_text(re.compile(r"^[A-E]\d\d "))
    desk.keys("Control+z")
    expect(desk.page.locator(".explorer [role=status]")).to_have_text(re.compile(r"^400 games"))


def test_other_orders_ratings_and_a_game_of_the_store(desk: Desk) -> None:
    names = []
    for moves in ("1. e4 c6 2. d4 *", "1. d4 c6 2. e4 *"):
        desk.open(moves)
        desk.keys("End")
        desk.after(moves.split()[-2])
        expect(desk.page.locator(".explorer .opening")).to_have_text("B12 Caro-Kann Defence")
        expect(desk.page.locator(".played tbody tr").first).to_be_visible()
        names.append(shown(desk))
    assert names[0] == names[1] > 0
    choice = desk.page.get_by_role("combobox", name="Players rated")
    choice.select_option("-1200")
    expect(desk.page.locator(".explorer [role=status]")).to_have_text(re.compile("^(No game|[0-9]+ games?)"))
    choice.select_option("")
    expect(desk.page.locator(".explorer [role=status]")).to_have_text(re.compile(rf"^{names[0]} games?"))
    desk.page.locator(".stored-games button").first.click()
    expect(desk.status).to_have_text(re.compile("^Game opened"))
    expect(desk.page.locator("#moves button.move").nth(8)).to_be_visible()


def test_a_game_is_looked_for(desk: Desk) -> None:
    desk.page.get_by_role("button", name="Find a game").click()
    dialog = desk.page.get_by_role("dialog", name="Games in this store")
    said = dialog.get_by_role("status")
    expect(said).to_have_text("400 games; the first 200 are shown.")
    dialog.get_by_role("searchbox").fill("nobody")
    expect(said).to_have_text("0 of 400 games.")
    dialog.get_by_role("searchbox").fill("stockfish")
    dialog.get_by_role("combobox", name="Result").select_option("0")
    dialog.get_by_role("spinbutton", name="From year").fill("1990")
    expect(said).to_have_text(re.compile(r"^\d+ of 400 games\b"))
    expect(dialog.get_by_role("listitem").first).to_contain_text("½–½")
    assert all("½–½" in each for each in dialog.get_by_role("listitem").all_inner_texts())
    dialog.get_by_role("searchbox").fill("")
    dialog.get_by_role("combobox", name="Players rated").select_option("2600-")
    expect(said).to_have_text(re.compile(r"^\d+ of 400 games\.$"))
    dialog.get_by_role("combobox", name="Players rated").select_option("")
    dialog.get_by_role("combobox", name="Result").select_option("1")
    expect(dialog.get_by_role("listitem").first).to_contain_text("1–0")
    assert serious(desk.page) == []
    dialog.get_by_role("listitem").first.get_by_role("button").click()
    expect(desk.status).to_have_text(re.compile("^Game opened"))
    expect(desk.page.locator("#moves button.move").nth(8)).to_be_visible()


def test_beyond_the_store(desk: Desk) -> None:
    desk.open("1. h4 a5 2. Rh3 Ra6 3. Rd3 *")
    desk.keys("End")
    desk.after("Rd3")
    expect(desk.page.locator(".explorer [role=status]")).to_have_text("No game reached this position.")
    expect(desk.page.locator(".played")).to_be_hidden()


def test_games_that_are_added_meanwhile_count(
    serve: Callable[..., Any], open_at: Callable[..., Any], tmp_path: Path
) -> None:
    store = tmp_path / "growing.store"
    for number, moves in enumerate(("1. e4 e5 2. Nf3 Nc6", "1. e4 c5 2. Nf3 d6", "1. e4 e5 2. Nc3 Nf6")):
        (tmp_path / f"{number}.pgn").write_text(f'[Event "?"]\n[Result "1-0"]\n\n{moves} 1-0\n')
    begun = ["import", str(tmp_path / "0.pgn"), "--into", str(store)]
    assert cli.run(begun) == 0
    page, _ = open_at(serve(str(store)))
    desk = Desk(page).ready()
    desk.tab("Explorer")
    said = page.locator(".explorer [role=status]")
    expect(said).to_have_text(re.compile("^1 game\\b"), timeout=INDEXED)
    page.locator(".played tbody tr").first.get_by_role("button").click()
    desk.after("e4")
    assert cli.run([*begun[:1], str(tmp_path / "1.pgn"), str(tmp_path / "2.pgn"), *begun[2:], "--append"]) == 0
    desk.keys("Control+z")
    expect(said).to_have_text(re.compile("^3 games\\b"), timeout=INDEXED)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(desk: Desk, scheme: str) -> None:
    desk.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    assert serious(desk.page) == []


def test_without_a_store_it_says_what_to_do(page: Page) -> None:
    panel = Desk(page).ready().tab("Explorer")
    expect(panel).to_contain_text("kibitz board my.store", timeout=INDEXED)
    expect(panel.locator(".played")).to_be_hidden()


def test_a_telephone(visit: Callable[..., Page], stored: Any) -> None:
    page = visit(of=stored, width=390, height=844, touch=True)
    Desk(page).ready().tab("Explorer")
    row = page.locator(".played tbody tr").first
    expect(row).to_be_visible(timeout=INDEXED)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    row.get_by_role("button").tap()
    expect(page.locator("#moves button.move")).to_have_count(1)
