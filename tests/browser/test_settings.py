"""Pieces and boards that somebody chooses, and that the browser remembers."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from support.board_page import Desk, serious

PIECE = """each => getComputedStyle(each).backgroundImage.length"""
SQUARES = """each => getComputedStyle(each).backgroundImage"""
WOOD = """each => getComputedStyle(each).fill"""


def choose(page: Page, **choices: str) -> None:
    page.get_by_role("button", name="Settings").click()
    dialog = page.get_by_role("dialog", name="Settings")
    for label, choice in choices.items():
        dialog.get_by_role("combobox", name=label.replace("_", " "), exact=True).select_option(label=choice)
    assert serious(page) == []
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def a_pawn(desk: Desk) -> Locator:
    return desk.page.locator("#board cg-board piece.white.pawn").first


def test_pieces_and_squares(visit: Callable[..., Page]) -> None:
    desk = Desk(visit()).ready()
    page = desk.page
    board = page.locator("#board cg-board")
    usual, squares = a_pawn(desk).evaluate(PIECE), board.evaluate(SQUARES)
    seen = {usual}
    for name, code in (("Plain", "plain"), ("Letters", "letters")):
        choose(page, Chess_pieces=name, Chess_board="Green")
        expect(page.locator("html")).to_have_attribute("data-pieces", code)
        page.wait_for_function("document.adoptedStyleSheets.length === 1")
        seen.add(a_pawn(desk).evaluate(PIECE))
    assert len(seen) == 3
    assert board.evaluate(SQUARES) != squares
    page.reload()
    desk.ready()
    page.wait_for_function("document.adoptedStyleSheets.length === 1")
    assert a_pawn(desk).evaluate(PIECE) in seen - {usual}
    desk.click("e2", "e4")
    desk.after("e4")
    choose(page, Chess_pieces="Classic", Chess_board="Wood")
    expect(page.locator("html")).not_to_have_attribute("data-pieces", "letters")
    assert a_pawn(desk).evaluate(PIECE) == usual
    assert board.evaluate(SQUARES) == squares


def test_boards_of_go(visit: Callable[..., Page]) -> None:
    desk = Desk(visit("/#game=go&size=9")).ready()
    wood = desk.page.locator("#board svg.go .wood")
    expect(wood).to_be_visible()
    colours = [wood.evaluate(WOOD)]
    for name in ("Light wood", "Paper"):
        choose(desk.page, Go_board=name)
        colours.append(wood.evaluate(WOOD))
    assert len(set(colours)) == 3
    desk.page.reload()
    desk.ready()
    assert wood.evaluate(WOOD) == colours[-1]
