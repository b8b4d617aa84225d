"""Keyboard, small and dark screens, and what assistive programs are told."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from support.board_page import Desk, serious

GAME = "1. e4 e5 2. Qh5 Nc6 (2... Nf6 3. Qxe5+) 3. Qxe5+ {a blunder} Nxe5 *"
PANELS = ("Analysis", "Compare", "Explorer", "Play", "Puzzles", "My games", "Training")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Callable[..., Page], scheme: str) -> None:
    desk = Desk(visit()).ready()
    desk.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    desk.opened(GAME, 6)
    desk.choose("chessnet")
    desk.keys("ArrowRight", "ArrowRight")
    wrong = []
    for name in PANELS:
        desk.tab(name)
        desk.page.wait_for_load_state("networkidle")
        wrong += [f"{name}: {line}" for line in serious(desk.page)]
    desk.keys("?")
    wrong += [f"help: {line}" for line in serious(desk.page)]
    desk.keys("Escape")
    desk.open("(;GM[1]SZ[9];B[ee];W[ec])")
    desk.analysed(2)
    wrong += [f"Go: {line}" for line in serious(desk.page)]
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_a_telephone(visit: Callable[..., Page]) -> None:
    """390 px: nothing is wider than the screen, the board is as wide as it can be, and moves can be made."""
    desk = Desk(visit(width=390, height=844)).ready()
    desk.opened(GAME, 6)
    for name in PANELS:
        panel = desk.tab(name)
        expect(panel).to_be_visible()
        wide = desk.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, name
    desk.page.locator(".graph-second select").select_option("chessnet-value")
    ends = desk.page.evaluate(
        """() => [...document.querySelectorAll(".graph-head > :not([hidden]), .graph-second > select")]
            .map((each) => each.getBoundingClientRect())
            .map(({ left, right }) => [Math.round(left), Math.round(right)])"""
    )
    first, second, choice, caption = ends
    assert first[1] <= second[0]
    assert max(second[1], choice[1]) <= caption[0] <= caption[1] <= 390
    desk.page.evaluate("scrollTo(0, 0)")
    box = desk.page.locator("#board cg-board").bounding_box()
    assert box
    assert box["width"] >= 330
    desk.drag("d2", "d4")
    desk.after("d4")
    small = desk.page.evaluate(
        """() => [...document.querySelectorAll("#controls button, header button, [role=tab]")]
            .filter((each) => each.offsetParent && (each.offsetWidth < 24 || each.offsetHeight < 24))
            .map((each) => each.outerHTML)"""
    )
    assert small == []


def test_a_whole_visit_by_keyboard(page: Page) -> None:
    desk = Desk(page).ready()
    desk.keys("o")
    dialog = page.get_by_role("dialog", name="Open a game")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    page.keyboard.insert_text(GAME)
    desk.keys("Control+Enter")
    expect(dialog).to_be_hidden()
    desk.analysed(6)
    desk.keys("End")
    desk.after("Nxe5")
    expect(page.locator("#spoken")).to_contain_text(re.compile(r"3… Nxe5\. White’s chance \d+%"))
    desk.keys("h")
    expect(desk.chance).to_have_attribute("aria-valuetext", "not known")
    desk.keys("h", "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    desk.keys("Escape", "/")
    page.keyboard.type("Nf3")
    desk.keys("Enter")
    desk.after("Nf3")
    # Tab reaches everything, and one sees where one is.
    seen = set()
    for _ in range(60):
        desk.keys("Tab")
        seen.add(
            page.evaluate(
                """() => { const at = document.activeElement; const style = getComputedStyle(at);
                    const shown = style.outlineStyle !== "none" || style.boxShadow !== "none" || at === document.body;
                    return `${at.tagName} ${at.getAttribute("aria-label") || at.textContent.trim().slice(0, 20)}`
                        + (shown ? "" : " UNSEEN"); }"""
            )
        )
    assert not [name for name in seen if name.endswith("UNSEEN")]
    for part in (
        "SELECT",
        "BUTTON New",
        "BUTTON Open",
        "BUTTON Analysis",
        "INPUT Type a move",
        "BUTTON Flip board",
    ):
        assert any(name.startswith(part) for name in seen), part
    page.get_by_role("tab", name="Analysis").focus()
    desk.keys("ArrowRight")
    expect(page.get_by_role("tabpanel", name="Compare")).to_be_visible()


def test_go_by_keyboard(visit: Callable[..., Page]) -> None:
    desk = Desk(visit("/#game=go&size=9")).ready()
    desk.keys("Tab")
    board = desk.board("go")
    for _ in range(20):
        if board.evaluate("each => each === document.activeElement"):
            break
        desk.keys("Tab")
    desk.keys("ArrowUp", "ArrowLeft", "Enter")
    desk.after("D6", "go")
    expect(desk.page.locator("#status")).to_contain_text("D6")


def test_the_help_opens_at_its_beginning(visit: Callable[..., Page]) -> None:
    page = visit(width=1366, height=768)
    Desk(page).ready()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog.get_by_role("heading", name="Keys")).to_be_focused()
    assert dialog.evaluate("(each) => each.scrollTop") == 0
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_sound_is_off_until_it_is_asked_for(page: Page) -> None:
    expect(page.get_by_role("button", name="Sound is off")).to_be_visible()
    page.keyboard.press("s")
    expect(page.get_by_role("button", name="Sound is on")).to_be_visible()
