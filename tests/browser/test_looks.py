"""The page looks as it did: pictures at five sizes and in both themes, compared so coarsely that fonts do not matter.

`make pictures` makes the references anew, in tests/browser/pictures/. Look at them before they are committed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Server
from support import pictures
from support.board_page import Desk

REFERENCES = Path(__file__).with_name("pictures")
SIZES = [(1440, 900), (1366, 768), (1024, 768), (390, 844), (844, 390)]
GAME = """[White "Ann"]
[Black "Bo"]
[Result "*"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. O-O f6 6. d4 exd4 7. Nxd4 c5 8. Ne2 Qxd1 *
"""

DRAWN = """async () => {
    await document.fonts.ready;
    for (let frame = 0; frame < 3; frame += 1) await new Promise((drawn) => requestAnimationFrame(drawn));
}"""


def chess(page: Page) -> Desk:
    """A game with its graph. The search of its moves never answers, so that no mark comes between two pictures."""
    desk = Desk(page)
    page.route("**/api/judge*", lambda route: None)
    desk.choose("winner")
    desk.opened(GAME, 16)
    desk.keys("End")
    desk.after("Qxd1")
    expect(page.locator(".chance .number, .chance strong").first).to_be_visible()
    # Which engines this machine has is no matter of looks.
    page.locator(".opinion").evaluate("(each) => each.remove()")
    return desk


def go(page: Page) -> Desk:
    """A board of Go and the form of a game, without hints."""
    desk = Desk(page).ready()
    desk.after("D3", "go")
    expect(page.get_by_role("tabpanel", name="Play")).to_contain_text("Handicap")
    desk.keys("h")
    expect(desk.status).to_have_text("Hints off.")
    return desk


SCENES = {"chess": ("/", chess), "go": ("/#game=go&size=9&network=gocnn&tab=play&ply=7&moves=E5.C5.E3.G7.C3.G3.D3", go)}


def taken(page: Page, size: tuple[int, int]) -> pictures.Picture:
    """The page at this size, once it stands still."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.mouse.move(0, 0)
    page.evaluate(
        "document.activeElement?.blur(); window.scrollTo(0, 0); document.getElementById('status').textContent = ''"
    )
    page.evaluate(DRAWN)
    return pictures.small(page.screenshot())


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scene", list(SCENES))
def test_the_page_looks_as_it_did(visit: Callable[..., Page], scene: str, theme: str) -> None:
    path, prepare = SCENES[scene]
    page = visit(path, theme=theme)
    prepare(page)
    wrong = []
    for size in SIZES:
        picture = taken(page, size)
        reference = REFERENCES / f"{scene}-{theme}-{size[0]}x{size[1]}.webp"
        if os.environ.get("KIBITZ_NEW_PICTURES"):
            pictures.save(picture, reference)
        wrong += [f"{reference.name}: {each}" for each in pictures.differences(picture, pictures.load(reference))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_menu_of_a_move_looks_as_it_did(visit: Callable[..., Page], theme: str) -> None:
    page = visit("/", theme=theme)
    chess(page)
    size = SIZES[1]
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.get_by_role("button", name="Bxc6").click(button="right")
    menu = page.get_by_role("menu", name="4. Bxc6")
    for item in menu.get_by_role("menuitem").all():
        expect(item).to_have_css("background-color", re.compile(r"rgba\(.*\)|" + re.escape(colour(menu))))
        expect(item).to_have_css("border-top-color", "rgba(0, 0, 0, 0)")
    picture = taken(page, size)
    reference = REFERENCES / f"menu-{theme}-{size[0]}x{size[1]}.webp"
    if os.environ.get("KIBITZ_NEW_PICTURES"):
        pictures.save(picture, reference)
    assert pictures.differences(picture, pictures.load(reference)) == []


def colour(element: Locator) -> str:
    return str(element.evaluate("(each) => getComputedStyle(each).backgroundColor"))


FONTS = ["serif", "monospace", "Liberation Sans", "sans-serif"]
"""Families that stand for another machine's fonts; one of them may be the usual one."""

GONE = ["#evalbar", "#board", "#controls", "#game-part", "#graph", "#panels", ".tabs", "#header"]


def test_fonts_pass_and_what_is_missing_or_moved_does_not(visit: Callable[..., Page]) -> None:
    page = visit("/")
    chess(page)
    size = SIZES[1]
    usual = taken(page, size)
    assert pictures.differences(usual, usual) == []
    root = page.locator("html")
    for font in FONTS:
        root.evaluate("(each, font) => { each.style.fontFamily = font; }", font)
        assert pictures.differences(taken(page, size), usual) == [], font
    root.evaluate("(each) => { each.style.fontFamily = ''; }")
    for gone in GONE:
        part = page.locator(gone).first
        part.evaluate("(each) => { each.style.visibility = 'hidden'; }")
        assert pictures.differences(taken(page, size), usual), f"{gone} is missing"
        part.evaluate("(each) => { each.style.visibility = ''; }")
    for moved in ("#board", "#panels", "#game-part"):
        part = page.locator(moved).first
        part.evaluate("(each) => { each.style.translate = '0 120px'; }")
        assert pictures.differences(taken(page, size), usual), f"{moved} has moved"
        part.evaluate("(each) => { each.style.translate = ''; }")
    assert pictures.differences(taken(page, size), usual) == []
    page.emulate_media(color_scheme="dark")
    assert pictures.differences(taken(page, size), usual), "the colours of the dark"


TABS = ["Analysis", "Explorer", "Play", "Puzzles", "My games", "Compare", "Training"]
LAPTOPS = [(1024, 768), (1366, 768), (1440, 900)]
BELOW = """() => {
    const panel = [...document.querySelectorAll("[role=tabpanel]")].find((each) => !each.hidden);
    const page = document.documentElement;
    return [panel.scrollHeight - panel.clientHeight, page.scrollHeight - page.clientHeight];
}"""


def below(page: Page, what: str) -> list[str]:
    """The sizes of laptops at which some of the tab, or of the page, is below the fold."""
    wrong = []
    for width, height in LAPTOPS:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(DRAWN)
        if max(page.evaluate(BELOW)) > 1:  # heights are rounded
            wrong.append(f"{what} at {width}x{height}: {page.evaluate(BELOW)}")
    return wrong


GO = "/#game=go&size=19&network=gohuman&ply=4&moves=Q16.D4.Q4.D16"


@pytest.mark.parametrize("game", ["chess", "go"])
def test_nothing_of_a_tab_is_below_the_fold_of_a_laptop(visit: Callable[..., Page], game: str) -> None:
    """With all that the default network says of a game's position: likely moves with their values, other ratings."""
    page = visit("/" if game == "chess" else GO)
    page.route("**/api/judge*", lambda route: None)
    desk = Desk(page).ready()
    valued = page.locator(".move-bars.valued .continued").first
    expect(valued).to_be_visible()
    wrong = below(page, "at first")
    if game == "chess":
        desk.choose("human")
        desk.opened(GAME, 16)
        desk.keys("End")
        desk.after("Qxd1")
        expect(valued).to_be_visible()
    for layer in desk.tab("Analysis").locator(".chip").all():
        layer.click()
        expect(page.locator(".on-board .state")).to_be_hidden()
        wrong += below(page, f"Analysis, {layer.inner_text()}")
    for tab in TABS[1:]:
        expect(desk.tab(tab)).to_be_visible()
        wrong += below(page, tab)
    assert not wrong, "\n".join(wrong)


def test_nothing_of_a_game_that_is_over_is_below_the_fold(visit: Callable[..., Page]) -> None:
    """The panel after a game, the one for two players, and a count of Go."""
    page = visit("/")
    panel = Desk(page).ready().tab("Play")
    panel.get_by_label("Clock").select_option("300+3")
    panel.get_by_role("button", name="New game").click()
    panel.get_by_role("button", name="Resign").click()
    expect(panel).to_contain_text("You have resigned. human (network) wins.")
    wrong = below(page, "after a game")
    panel.get_by_text("Two players against each other").click()
    expect(panel.get_by_role("button", name="Start")).to_be_visible()
    wrong += below(page, "two players")
    page = visit("/#game=go&size=9&network=gohuman&ply=7&moves=E5.C5.E3.G7.C3.G3.D3")
    desk = Desk(page).ready()
    desk.after("D3", "go")
    for _ in range(2):
        page.locator("#controls").get_by_role("button", name="Pass").click()
    expect(page.locator(".go-count")).to_contain_text("with komi")
    wrong += below(page, "a count")
    panel = desk.tab("Play")
    panel.get_by_role("button", name="New game").click()
    panel.get_by_role("button", name="Resign").click()
    expect(panel).to_contain_text("You have resigned.")
    wrong += below(page, "after a game of Go")
    assert not wrong, "\n".join(wrong)


SIDEWAYS = [(844, 390), (683, 384)]
"""A phone on its side, and a laptop at 200%."""


def test_a_timed_game_is_in_the_window_of_a_phone_on_its_side(visit: Callable[..., Page]) -> None:
    """The board, both clocks and what is below the board: at first, and where the page is scrolled."""
    page = visit("/", width=844, height=390)
    panel = Desk(page).ready().tab("Play")
    panel.get_by_label("Clock").select_option("300+3")
    panel.get_by_role("button", name="New game").click()
    expect(panel.get_by_role("status").first).to_have_text("Your move. You play White.")
    wrong = []
    for width, height in SIDEWAYS:
        page.set_viewport_size({"width": width, "height": height})
        for scrolled in (0, 200):
            page.evaluate("(to) => scrollTo(0, to)", scrolled)
            page.evaluate(DRAWN)
            for part in ("#board-row", "#player-above .clock", "#player-below .clock", "#controls"):
                box = page.locator(part).bounding_box()
                if not box or box["y"] < 0 or box["y"] + box["height"] > height:
                    wrong.append(f"{part} at {width}x{height}, scrolled by {scrolled}: {box}")
    assert not wrong, "\n".join(wrong)


CUT = """() => {
    const pen = document.createElement("canvas").getContext("2d");
    const wide = (each) => {
        pen.font = getComputedStyle(each).font;
        return pen.measureText(each.selectedOptions[0].text).width + 20;
    };
    const shown = (words) => [...document.querySelectorAll(words)].filter((each) => each.offsetParent);
    return [
        ...shown("#graph select").filter((each) => each.clientWidth < wide(each)),
        ...shown(".graph-caption").filter((each) => each.scrollWidth > each.clientWidth),
        ...shown(".chance-line").filter((each) => each.offsetHeight > 40),
        ...shown(".continued").filter((each) => each.clientWidth < 140),
    ].map((each) => each.className || each.tagName);
}"""


@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
@pytest.mark.parametrize("game", ["chess", "go"])
def test_no_words_beside_the_board_are_cut_on_a_laptop(visit: Callable[..., Page], game: str, locale: str) -> None:
    page = visit("about:blank", locale=locale)
    for asked in ("judge", "check"):
        page.route(f"**/api/{asked}*", lambda route: None)
    page.goto("/#network=human&ply=4&moves=e2e4.e7e5.g1f3.b8c6" if game == "chess" else GO)
    expect(page.locator(".move-bars.valued .continued").first).to_be_visible()
    longest = "Black is a little better" if locale == "en-US" else "Schwarz steht etwas besser"
    page.locator("#side .chance-line .words").first.evaluate("(each, words) => { each.textContent = words }", longest)
    for width, height in LAPTOPS[1:]:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(DRAWN)
        assert page.locator("#side").evaluate("(each) => each.offsetWidth") >= 430, width
        assert page.evaluate(CUT) == [], f"{width}x{height}"


@pytest.fixture(scope="module")
def trained(
    human_run: Path, small_run: Path, chromium: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A board with a run whose checkpoints suggest moves, and one with two curves."""
    folder = tmp_path_factory.mktemp("trained")
    shutil.copytree(human_run, folder / "runs" / "human-1")
    shutil.copytree(small_run, folder / "runs" / "winner-1")
    served = Server(folder)
    served.start()
    yield served
    assert served.end() == 0


def test_a_run_and_its_checkpoints_are_above_the_fold_of_a_laptop(visit: Callable[..., Page], trained: Server) -> None:
    """With all that a checkpoint says: its chance, its moves, its board."""
    page = visit(of=trained)
    page.route("**/api/judge*", lambda route: None)
    desk = Desk(page).ready()
    desk.opened(GAME, 16)
    desk.keys("End")
    desk.after("Qxd1")
    compare = desk.tab("Compare")
    for side in ("Left", "Right"):
        compare.get_by_label(f"{side} network").select_option("runs/human-1")
        compare.get_by_label(f"{side} checkpoint").select_option(index=1)
    expect(compare.locator(".chance strong")).to_have_text([re.compile(r"\d%")] * 2)
    expect(compare.locator(".small-list li:visible")).to_have_count(6)
    wrong = below(page, "Compare")
    training = desk.tab("Training")
    training.get_by_label("Run", exact=True).select_option("runs/human-1")
    expect(training.get_by_role("img", name="Loss after")).to_be_visible()
    expect(training.locator(".snapshot-said")).to_contain_text(re.compile(r"\d%.* · ", re.DOTALL))
    expect(training.locator(".snapshot-board")).to_be_visible()
    wrong += below(page, "Training, moves")
    training.get_by_label("Run", exact=True).select_option("runs/winner-1")
    for curve in ("Loss after", "Accuracy after"):
        expect(training.get_by_role("img", name=curve)).to_be_visible()
    expect(training.locator(".snapshot-said")).to_contain_text(re.compile(r"\d%"))
    wrong += below(page, "Training, two curves")
    assert not wrong, "\n".join(wrong)
