"""What a browser remembers: the language, pieces and boards."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from support.board_page import Desk, serious

PICTURE = """each => getComputedStyle(each).backgroundImage"""
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
    found: Locator = desk.page.locator("#board cg-board piece.white.pawn").first
    return found


def test_the_browsers_language_is_taken_and_another_can_be_chosen(visit: Callable[..., Page]) -> None:
    page = visit(locale="de-AT")
    desk = Desk(page)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("tab")).to_have_text(
        ["Analyse", "Vergleich", "Explorer", "Spielen", "Aufgaben", "Meine Partien", "Training"]
    )
    page.get_by_role("button", name="Tastenkürzel").click()
    expect(page.get_by_role("dialog", name="Tastenkürzel")).to_contain_text("Leertaste")
    assert serious(page) == []
    page.keyboard.press("Escape")
    # What the server refuses, and what it found wrong.
    page.watch.allow("400")  # type: ignore[attr-defined]
    page.keyboard.press("o")
    dialog = page.get_by_role("dialog", name="Partie öffnen")
    for text, word in (("ein Brief an einen Freund", "Partie"), ("8/8/8/8/8/8/8/K7 w - - 0 1", "König")):
        dialog.get_by_role("textbox").fill(text)
        page.keyboard.press("Control+Enter")
        expect(dialog.get_by_role("alert")).to_contain_text(word)
    dialog.get_by_role("textbox").fill("1. e4 e5 2. Qe5 *")
    page.keyboard.press("Control+Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator("#status")).to_contain_text("„Qe5“")
    page.keyboard.press("End")
    desk.after("e5")
    expect(desk.board()).to_have_attribute("aria-label", re.compile("Weiß.*e5"))
    page.get_by_role("tab", name="Spielen").click()
    page.get_by_role("button", name="Einstellungen").click()
    page.get_by_role("combobox", name="Sprache").select_option(label="Français")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.get_by_role("tab")).to_have_text(
        ["Analyse", "Comparer", "Explorer", "Jouer", "Problèmes", "Mes parties", "Entraîner"]
    )
    expect(desk.board()).to_have_attribute("aria-label", re.compile("Blancs.*e5"))
    assert serious(page) == []
    page.get_by_role("button", name="Réglages").click()
    page.get_by_role("combobox", name="Langue").select_option(label="English")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.get_by_role("tab", name="Play")).to_have_attribute("aria-selected", "true")
    expect(desk.board()).to_have_attribute("aria-label", re.compile("White.*e5"))
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_moves_have_the_piece_letters_of_the_language(visit: Callable[..., Page]) -> None:
    """In German: in the list, the reasons, the likely moves and what is read aloud. Records keep English letters."""
    page = visit(locale="de-DE")
    desk = Desk(page)
    expect(page.get_by_role("combobox", name="Netz", exact=True)).to_be_enabled()
    desk.paste("1. e4 c6 2. d4 d5 3. Nc3 dxe4 4. Nxe4 Nd7 5. Qe2 Ngf6 6. Nd6# *")
    moves = page.get_by_role("group", name="Züge", exact=True).locator("button.move")
    expect(moves).to_have_text(["e4", "c6", "d4", "d5", "Sc3", "dxe4", "Sxe4", "Sd7", "De2", "Sgf6", "Sd6#"])
    desk.judged(11)
    reason = page.locator("p.reason", has_text="Sgf6")
    expect(reason).to_contain_text("Matt in 1: Sd6#.")
    # Its line has the small board, from the position after the move, for the pointer and by Tab from the move.
    line, small = reason.locator(".line").first, page.locator(".line-preview")
    line.locator("[data-line]").hover()
    expect(small.locator("[data-after]")).to_have_attribute("data-after", "Nd6#")
    page.keyboard.press("Escape")
    expect(small).to_be_hidden()
    page.mouse.move(5, 5)
    moves.nth(9).click()
    desk.after("Ngf6")
    moves.nth(9).focus()
    page.keyboard.press("Tab")
    expect(line).to_be_focused()
    expect(small.locator("[data-after]")).to_have_attribute("data-after", "Nd6#")
    assert serious(page) == []
    # The better move begins in the position before.
    page.keyboard.press("Tab")
    better = reason.locator(".line").last
    expect(better).to_be_focused()
    expect(small.locator("[data-after]")).to_have_attribute("data-turn", "w")
    desk.keys("ArrowLeft")
    desk.after("Qe2")
    expect(small).to_be_hidden()
    expect(better).to_have_attribute("tabindex", "-1")
    expect(page.locator(".mark.blunder").last).to_have_attribute("title", re.compile(r"^Sgf6\?\? .*: S"))
    desk.keys("End")
    desk.after("Nd6#")
    expect(desk.board()).to_have_attribute("aria-label", re.compile("Sd6#"))
    expect(page.locator("#spoken")).to_contain_text("6. Sd6#")
    desk.keys("ArrowLeft", "ArrowLeft")
    desk.after("Qe2")
    bars = page.locator(".move-bars .san")
    expect(bars.first).to_be_visible()
    first = {name.strip()[:1] for name in bars.all_text_contents()}
    assert first & set("STD"), first
    assert not first & set("NRQ"), first
    # A typed move has either letters; what is refused is named as it was typed.
    page.watch.allow("400")  # type: ignore[attr-defined]
    box = page.locator(".typed input")
    for typed, after in (("Sdf6", "Ndf6"), ("Lf4", "Bf4"), ("Qa5", "Qa5+"), ("Ld2", "Bd2")):
        box.fill(typed)
        box.press("Enter")
        desk.after(after)
    box.fill("Tc8")
    box.press("Enter")
    desk.after("Bd2")
    expect(page.locator("#status")).to_contain_text("Tc8")
    expect(box).to_have_value("Tc8")
    with desk.copying() as copied:
        page.get_by_role("button", name="Kopieren", exact=True).click()
        page.get_by_role("menuitem", name="PGN").click()
    assert "5. Qe2 Ngf6 ( 5... Ndf6 6. Bf4 Qa5+ 7. Bd2 ) 6. Nd6#" in " ".join(copied[0].split())


def test_pieces_boards_and_numbers_of_stones(desk: Desk) -> None:
    page = desk.page
    board = page.locator("#board cg-board")
    usual, squares = a_pawn(desk).evaluate(PICTURE), board.evaluate(PICTURE)
    seen = {usual}
    for name, code in (("Plain", "plain"), ("Letters", "letters")):
        choose(page, Chess_pieces=name, Chess_board="Green")
        expect(page.locator("html")).to_have_attribute("data-pieces", code)
        page.wait_for_function("() => document.adoptedStyleSheets.length === 1")
        seen.add(a_pawn(desk).evaluate(PICTURE))
    assert len(seen) == 3
    assert board.evaluate(PICTURE) != squares
    page.reload()
    desk.ready()
    page.wait_for_function("() => document.adoptedStyleSheets.length === 1")
    assert a_pawn(desk).evaluate(PICTURE) in seen - {usual}
    desk.click("e2", "e4")
    desk.after("e4")
    choose(page, Chess_pieces="Classic", Chess_board="Wood")
    expect(page.locator("html")).not_to_have_attribute("data-pieces", "letters")
    assert a_pawn(desk).evaluate(PICTURE) == usual
    assert board.evaluate(PICTURE) == squares
    desk.new("Go, 9 × 9")
    wood = page.locator("#board svg.go .wood")
    expect(wood).to_be_visible()
    colours = [wood.evaluate(WOOD)]
    for name in ("Light wood", "Paper"):
        choose(page, Go_board=name)
        colours.append(wood.evaluate(WOOD))
    assert len(set(colours)) == 3
    page.reload()
    desk.ready()
    desk.new("Go, 9 × 9")
    expect(wood).to_be_visible()
    assert wood.evaluate(WOOD) == colours[-1]
    page = desk.page
    desk.open("(;GM[1]SZ[9];B[aa];W[ba];B[ee];W[ab];B[ec];W[ed];B[dd];W[cc];B[gg];W[hh];B[gh];W[hg])")
    desk.keys("End")
    desk.after("H3", "go")
    numbers = page.locator("#board svg.go .order text")
    expect(numbers).to_have_count(0)
    desk.keys("n")
    expect(page.locator("#status")).to_contain_text("10")
    expect(numbers).to_have_text([str(ply) for ply in range(12, 2, -1)])
    desk.keys("n")
    # The first stone was captured.
    expect(numbers).to_have_text([str(ply) for ply in range(12, 1, -1)])
    choose(page, Move_numbers="None")
    expect(numbers).to_have_count(0)
    # The dialog shows what the key has chosen since.
    desk.keys("n")
    expect(numbers).to_have_count(10)
    choose(page, Move_numbers="None")
    expect(numbers).to_have_count(0)
