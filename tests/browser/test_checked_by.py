"""Who checks the moves: the network's own search or an engine, the real Stockfish and one that ends."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from support.board_page import SEARCHED, Desk, serious
from support.helpers import program
from support.opinion_fakes import fake

GAME = "1. e4 e5 2. Nf3 Nc6 3. Bb5 Qg5 4. Nxg5 *"
"""Black leaves the queen."""


def test_stockfish_checks_the_moves(visit: Callable[..., Page], serve: Callable[..., object]) -> None:
    program("stockfish")
    page = visit(of=serve("--checked-by", "stockfish"))
    desk = Desk(page).ready()
    panel = page.get_by_role("tabpanel", name="Analysis")
    choice = panel.get_by_role("combobox", name="Checked by")
    expect(choice).to_have_value("stockfish")
    desk.opened(GAME, 7)
    desk.judged(7)
    blunder = desk.moves.get_by_role("button", name=re.compile(r"^Qg5")).first
    expect(blunder).to_be_visible()
    desk.keys("End")
    expect(panel.locator(".chance .source")).to_have_text(re.compile("^Checked by Stockfish"))
    # Two rows at most, however long the words before the engine's name are.
    panel.locator(".chance .verdict").evaluate("(each) => { each.textContent = 'Black is slightly better' }")
    assert panel.locator(".chance-line").evaluate("(each) => each.offsetHeight") <= 40
    assert panel.locator(".chance .words > *").evaluate_all("(all) => all.map((each) => each.offsetHeight <= 20)") == [
        True,
        True,
    ]
    expect(page.locator(".graph-first")).to_contain_text("Stockfish")
    expect(page.locator(".graph-place")).to_have_attribute("title", re.compile(r"\(stockfish\)$", re.IGNORECASE))
    expect(page.locator(".summary")).to_contain_text("Stockfish", timeout=SEARCHED)
    expect(desk.moves).to_contain_text("??")
    assert serious(page) == []
    by_engine = desk.chance.get_attribute("aria-valuenow")
    value = panel.locator(".move-bars .value").first
    expect(value).to_have_text(re.compile(r"^(\d+%|#)"), timeout=SEARCHED)
    # By keyboard to the network's own search, and back at once.
    choice.focus()
    page.keyboard.press("Home")
    expect(choice).to_have_value("")
    desk.judged(7)
    expect(panel.locator(".chance .source")).not_to_contain_text("Stockfish")
    page.keyboard.type("stockfish")
    expect(choice).to_have_value("stockfish")
    expect(desk.chance).to_have_attribute("aria-valuenow", str(by_engine))
    page.reload()
    desk.ready()
    expect(choice).to_have_value("stockfish")
    desk.judged(7)
    expect(desk.chance).to_have_attribute("aria-valuenow", re.compile(r"\d"))
    my_games = desk.tab("My games")
    expect(my_games.get_by_role("combobox", name="Checked by")).to_have_count(0)  # no games yet


def test_an_engine_that_ends_is_said_in_one_line(
    visit: Callable[..., Page], serve: Callable[..., object], tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    script = tmp_path / "faller.sh"
    script.write_text(f"#!/bin/sh\nexec {fake('uci', 'crash', notes)}\n")
    script.chmod(0o755)
    page = visit(of=serve("--checked-by", str(script)))
    desk = Desk(page).ready()
    panel = page.get_by_role("tabpanel", name="Analysis")
    desk.opened("1. e4 e5 *", 2)
    problem = panel.get_by_role("alert")
    expect(problem).to_contain_text("The network’s own search checks the moves now.", timeout=SEARCHED)
    desk.judged(2)
    expect(panel.get_by_role("combobox", name="Checked by")).to_have_value("faller")
    panel.get_by_role("button", name="Restart engine").click()
    expect(problem).to_contain_text("The network’s own search", timeout=SEARCHED)
