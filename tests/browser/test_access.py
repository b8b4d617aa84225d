"""Keyboard, small and dark screens, and what assistive programs are told."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from support.board_page import SEARCHED, Desk, serious

GAME = "1. e4 e5 2. Qh5 Nc6 (2... Nf6 3. Qxe5+) 3. Qxe5+ {a blunder} Nxe5 *"
PANELS = ("Analysis", "Compare", "Explorer", "Play", "Puzzles", "My games", "Training")


def test_axe_finds_nothing_serious(visit: Callable[..., Page]) -> None:
    """In light and in dark, in every panel and dialog."""
    desk = Desk(visit()).ready()
    page = desk.page
    wrong = []

    def look(what: str) -> None:
        page.wait_for_load_state("networkidle")
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
            wrong.extend(f"{what}, {theme}: {line}" for line in serious(page))

    desk.opened(GAME, 6)
    desk.choose("chessnet")
    desk.keys("ArrowRight", "ArrowRight")
    desk.after("e5")
    pieces = page.locator(f"[id='{desk.board().get_attribute('aria-describedby')}']")
    expect(pieces).to_have_text(re.compile(r"^White: Ke1, Qd1, .*pawns a2, .*e4.* Black: Ke8, Qd8, .*e5"))
    for name in PANELS:
        desk.tab(name)
        if name == "Explorer":
            expect(page.locator(".played tbody tr").first).to_be_visible(timeout=SEARCHED)
        look(name)
    desk.keys("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    look("help")
    desk.keys("Escape")
    desk.menu("Set up a position")
    expect(page.get_by_role("dialog", name="Set up a position").get_by_role("application")).to_be_focused()
    look("setup")
    desk.keys("Escape")
    desk.tab("Analysis")
    section = page.locator(".opinion")
    section.get_by_label("Second opinion").select_option("fish")
    expect(section.get_by_role("listitem").first).to_be_visible()
    for theme in ("light", "dark"):  # it never has said all
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        wrong += [f"opinion, {theme}: {line}" for line in serious(page)]
    section.get_by_label("Second opinion").select_option("")
    desk.open("(;GM[1]SZ[9];B[ee];W[ec])")
    desk.analysed(2)
    stones = page.locator(f"[id='{desk.board('go').get_attribute('aria-describedby')}']")
    expect(stones).to_have_text("Black: no stones. White: no stones.")
    desk.keys("End")
    expect(stones).to_have_text("Black: E5: 4 liberties. White: E7: 4 liberties.")
    look("Go")
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_a_telephone(visit: Callable[..., Page]) -> None:
    """390 px: nothing is wider than the screen, the board is as wide as it can be, and moves can be made by touch."""
    desk = Desk(visit(width=390, height=844, touch=True)).ready()
    page = desk.page

    def fits(what: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, what

    desk.opened(GAME, 6)
    # The list of moves is far below, so the moves are also in one row below the board.
    line = page.locator("#line button")
    expect(line).to_have_count(6)
    line.nth(1).tap()
    expect(line.nth(1)).to_have_attribute("aria-current", "true")
    expect(line.nth(1)).to_be_in_viewport(ratio=1)
    expect(page.locator(".chance strong").first).to_be_in_viewport(ratio=1)
    for name in PANELS:
        expect(desk.tab(name)).to_be_visible()
        fits(name)
    page.locator(".graph-second select").select_option("chessnet-value")
    # Two names, the button and the progress: what does not fit gets a separate line.
    parts = page.evaluate(
        """() => [...document.querySelectorAll(".graph-head > :not([hidden])")].map((each) => {
            const { left, right, top } = each.getBoundingClientRect();
            return [top, left, right, each.scrollWidth - each.clientWidth];
        })"""
    )
    assert all(left >= 0 and right <= 390 and cut <= 0 for _, left, right, cut in parts), parts
    for (above, _, end, _), (below, begin, _, _) in itertools.pairwise(parts):
        assert below > above + 10 or end <= begin, parts
    choice = page.locator(".graph-second > select").bounding_box()
    assert choice
    assert choice["width"] >= 110  # the name of the second network is seen
    page.evaluate("scrollTo(0, 0)")
    box = page.locator("#board cg-board").bounding_box()
    assert box
    assert box["width"] >= 330
    desk.drag("d2", "d4")
    desk.after("d4")
    small = page.evaluate(
        """() => [...document.querySelectorAll("#controls button, header button, [role=tab]")]
            .filter((each) => each.offsetParent && (each.offsetWidth < 24 || each.offsetHeight < 24))
            .map((each) => each.outerHTML)"""
    )
    assert small == []
    desk.new("Chess")
    desk.counts(0)
    desk.tab("Explorer")
    row = page.locator(".played tbody tr").first
    expect(row).to_be_visible(timeout=SEARCHED)
    fits("moves of the store")
    row.get_by_role("button").first.tap()
    desk.counts(1)
    page.watch.allow("status of 400")  # type: ignore[attr-defined]
    desk.menu("Set up a position")
    dialog = page.get_by_role("dialog", name="Set up a position")
    assert dialog.evaluate("each => each.scrollWidth <= each.clientWidth")
    use = dialog.get_by_role("button", name="Use this position")
    expect(use).to_be_in_viewport()
    dialog.get_by_role("button", name="Clear").tap()
    placed = dialog.locator("cg-board").bounding_box()
    assert placed
    dialog.get_by_role("radio", name="Black knight").tap()
    page.touchscreen.tap(placed["x"] + 4.5 * placed["width"] / 8, placed["y"] + 4.5 * placed["height"] / 8)
    expect(dialog.get_by_role("textbox", name="FEN")).to_have_value(re.compile("^8/8/8/8/4n3/8/8/8 "))
    page.keyboard.press("Escape")
    panel = desk.tab("Play")
    panel.get_by_label("Clock").select_option("300+0")
    panel.get_by_role("button", name="New game").click()
    page.evaluate("scrollTo(0, 0)")
    for side in ("above", "below"):
        expect(page.locator(f"#player-{side} .clock")).to_be_in_viewport()
    fits("a game with clocks")
    # On its side, and a laptop at 200%: the board, both clocks and what is below the board are in the window.
    outside = []
    for width, height in ((844, 390), (683, 384)):
        page.set_viewport_size({"width": width, "height": height})
        for scrolled in (0, 200):
            page.evaluate(SCROLLED, scrolled)
            for part in ("#board-row", "#player-above .clock", "#player-below .clock", "#controls"):
                box = page.locator(part).bounding_box()
                if not box or box["y"] < 0 or box["y"] + box["height"] > height:
                    outside.append(f"{part} at {width}x{height}, scrolled by {scrolled}: {box}")
    assert not outside, "\n".join(outside)


SCROLLED = """async (to) => {
    scrollTo(0, to);
    for (let frame = 0; frame < 3; frame += 1) await new Promise((drawn) => requestAnimationFrame(drawn));
}"""
UNSEEN = """() => {
    const at = document.activeElement;
    const style = getComputedStyle(at);
    const shown = style.outlineStyle !== "none" || style.boxShadow !== "none" || at === document.body;
    const name = at.getAttribute("aria-label") || at.textContent.trim().slice(0, 20);
    return `${at.tagName} ${name}${shown ? "" : " UNSEEN"}`;
}"""


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024)])
def test_on_a_phone_a_task_is_next_to_the_board(visit: Callable[..., Page], width: int, height: int) -> None:
    """The board, what is asked of the player and the buttons for it are seen together."""
    desk = Desk(visit(width=width, height=height, touch=True)).ready()
    page = desk.page
    desk.choose("human")
    desk.opened("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *", 6)
    below = """(each) => each.getBoundingClientRect().top
        - document.querySelector('#controls').getBoundingClientRect().bottom"""
    # The list of moves comes first where the game is analyzed, except on a phone, and last where another tab is open.
    moves_first = page.locator("#moves").evaluate(below) < page.get_by_role("tablist").evaluate(below)
    assert moves_first == (width > 560)
    panel = desk.tab("Play")
    assert 0 <= page.get_by_role("tablist").evaluate(below) < 60
    assert page.locator("#moves").evaluate(below) > panel.evaluate(below)
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    panel.get_by_role("button", name="New game").click()
    desk.play_state("human")
    for seen in (page.locator("#board-row"), panel.locator(".play-state"), panel.get_by_role("button", name="Resign")):
        expect(seen).to_be_in_viewport(ratio=1)


def test_a_whole_visit_by_keyboard(visit: Callable[..., Page]) -> None:
    page = visit(width=1366, height=768)
    desk = Desk(page).ready()
    desk.keys("o")
    dialog = page.get_by_role("dialog", name="Open")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    page.keyboard.insert_text(GAME)
    desk.keys("Control+Enter")
    expect(dialog).to_be_hidden()
    desk.analysed(6)
    desk.keys("End")
    desk.after("Nxe5")
    expect(page.locator("#spoken")).to_contain_text(re.compile(r"3… Nxe5.*\d+%"))
    hidden = page.locator("#evalbar.none")
    desk.keys("h")
    expect(hidden).to_have_count(1)
    desk.keys("h")
    expect(hidden).to_have_count(0)
    expect(page.get_by_role("button", name="Sound is off")).to_be_visible()
    desk.keys("s")
    expect(page.get_by_role("button", name="Sound is on")).to_be_visible()
    desk.keys("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys.get_by_role("heading", name="Keyboard shortcuts")).to_be_focused()
    assert keys.evaluate("(each) => each.scrollTop") == 0  # it opens at its beginning
    desk.keys("Escape")
    expect(keys).to_be_hidden()
    desk.keys("/")
    page.keyboard.type("Nf3")
    desk.keys("Enter")
    desk.after("Nf3")
    # Tab reaches everything, and one sees where one is.
    seen = set()
    for _ in range(60):
        desk.keys("Tab")
        seen.add(page.evaluate(UNSEEN))
    assert not [name for name in seen if name.endswith("UNSEEN")]
    for part in ("SELECT", "BUTTON New", "BUTTON Open", "BUTTON Analysis", "INPUT", "BUTTON Flip"):
        assert any(name.startswith(part) for name in seen), part
    page.get_by_role("tab", name="Analysis").focus()
    desk.keys("ArrowRight")
    expect(page.get_by_role("tabpanel", name="Compare")).to_be_visible()
    # Go.
    desk.new("Go, 9 × 9")
    board = desk.board("go")
    board.focus()
    desk.keys("ArrowUp", "ArrowLeft", "Enter")
    desk.after("D6", "go")
