"""The file of `kibitz analyze --page` in a real browser: opened from disk, without a server and without a network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.board_page import Desk
from support.game_pages import CHESS, write_chess, write_go

CURRENT = ".list > button[aria-current=true]"


@pytest.fixture
def look(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a file: look(path, width, height, theme). An error, or a request for anything else, fails the test."""
    contexts, wrong = [], []

    def open_file(path: Path, width: int = 1280, height: int = 800, theme: str = "light") -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, locale="en-US", offline=True
        )
        contexts.append(context)
        context.on("console", lambda said: wrong.append(said.text))
        context.on("weberror", lambda error: wrong.append(str(error.error)))
        context.on("request", lambda asked: asked.url in (path.as_uri(), "data:,") or wrong.append(asked.url))
        page = context.new_page()
        page.goto(path.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert wrong == []


def steps_through(page: Page, moves: int, stones: str) -> None:
    """Steps by buttons and keys. stones: what the board draws for a piece or a stone."""
    drawn = page.locator(f".boards svg {stones}")
    start = drawn.count()
    expect(page.locator(".readout b")).to_have_text("Start position")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(CURRENT)).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".list > button").nth(1)).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Back").click()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(CURRENT)).to_have_count(0)
    assert drawn.count() == start
    page.keyboard.press("End")
    expect(page.locator(".list > button").nth(moves - 1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("Home")
    expect(page.locator(CURRENT)).to_have_count(0)


def opens_a_marked_move(page: Page) -> None:
    """A marked move shows its reason, and its better line on the board."""
    marked = page.locator(".list > button:is(.inaccuracy, .mistake, .blunder)").first
    marked.click()
    expect(marked).to_have_attribute("aria-current", "true")
    note = page.locator(".note-of.current")
    expect(note).to_be_in_viewport()
    expect(note.locator("b")).to_have_text(re.compile(r"^−\d"))
    assert len(note.inner_text().split("Better:")[0]) > 25
    before = page.locator(".boards").inner_html()
    note.locator(".line button").first.click()
    expect(page.locator(".readout b")).to_have_text(re.compile("^Better: "))
    assert page.locator(".boards").inner_html() != before
    page.keyboard.press("ArrowRight")
    expect(page.locator(".readout b")).not_to_have_text(re.compile("^Better: "))


def clicks_on_the_graph(page: Page) -> None:
    graph = page.locator("svg.course")
    box = graph.bounding_box()
    assert box is not None
    graph.click(position={"x": box["width"] - 6, "y": box["height"] / 2})
    expect(page.locator(".list > button").last).to_have_attribute("aria-current", "true")


def fits(page: Page) -> None:
    wide, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= room


def test_games_of_chess(look: Callable[..., Page], tmp_path: Path) -> None:
    file = write_chess(tmp_path, "--all", games=f"{CHESS}\n{CHESS.replace('Bo', 'Cy')}")
    for width, height, theme in ((1280, 800, "light"), (390, 844, "dark")):
        page = look(file, width, height, theme)
        title = page.get_by_role("heading", level=1)
        expect(title).to_contain_text("</script><img src=x onerror=alert(1)>")
        expect(title).to_contain_text("Bo (1670)")
        expect(page.locator("img")).to_have_count(0)
        expect(page.locator(".sum")).to_contain_text("Turning point")
        steps_through(page, 14, "use[href*=pawn]")
        opens_a_marked_move(page)
        clicks_on_the_graph(page)
        expect(page.locator(".readout")).to_contain_text("White's expected score: 0%")
        fits(page)
        page.get_by_label("Game").select_option(index=1)
        expect(title).to_contain_text("Cy (1670)")


def test_a_game_of_go(look: Callable[..., Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_go(tmp_path, monkeypatch)
    for width, height, theme in ((1280, 800, "dark"), (390, 844, "light")):
        page = look(file, width, height, theme)
        expect(page.get_by_role("heading", level=1)).to_contain_text("</script><img src=x onerror=alert(1)>")
        steps_through(page, 7, "circle[r='9.4']")
        opens_a_marked_move(page)
        clicks_on_the_graph(page)
        expect(page.locator(".boards circle[r='9.4']")).to_have_count(7)
        expect(page.locator(".readout")).to_contain_text("Black's lead")
        fits(page)


def test_the_board_saves_the_same_page(desk: Desk, look: Callable[..., Page], tmp_path: Path) -> None:
    desk.choose("winner")
    desk.opened("1. e4 e5 2. Nf3 Nc6 3. Bc4 Nd4 4. Nxe5 Qg5 5. Nxf7 Qxg2 *", 10)
    desk.judged(10)
    expect(desk.page.locator(".summary")).to_be_visible()
    marks = [sign.strip() for sign in desk.moves.locator(".mark").all_inner_texts()]
    with desk.page.expect_download() as downloading:
        desk.menu("Save as a page")
    file = tmp_path / "game.html"
    downloading.value.save_as(file)
    assert downloading.value.suggested_filename.endswith(".html")
    page = look(file)
    texts = page.locator(".list > button").all_inner_texts()
    assert len(texts) == 10
    assert sum(bool(re.search(r"\?", text)) for text in texts) == sum("?" in mark for mark in marks) > 0
    expect(page.locator(".sum")).to_contain_text("Accuracy")
    opens_a_marked_move(page)
