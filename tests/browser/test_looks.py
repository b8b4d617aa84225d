"""The page looks as it did: pictures at five sizes and in both themes, compared so coarsely that fonts do not matter.

`make pictures` makes the references anew, in tests/browser/pictures/. Look at them before they are committed.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from support import pictures
from support.board_page import Desk

REFERENCES = Path(__file__).with_name("pictures")
SIZES = [(1440, 900), (1366, 768), (1024, 768), (390, 844), (844, 390)]
GAME = """[White "Ann"]
[Black "Bo"]
[Result "*"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. O-O f6 6. d4 exd4 7. Nxd4 c5 8. Ne2 Qxd1 *
"""

TRAP = "1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Nbd7 5. cxd5 exd5 *"
"""The Elephant Trap: 6. Nxd5 loses a piece, and weak players choose it much more often than strong players."""

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
    expect(page.get_by_label("Handicap")).to_be_visible()
    desk.keys("h")
    expect(page.locator("#evalbar.none")).to_have_count(1)
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


def compared(page: Page, size: tuple[int, int], name: str) -> list[str]:
    """What differs from the reference picture; writes it anew where that is asked for."""
    picture = taken(page, size)
    reference = REFERENCES / f"{name}-{size[0]}x{size[1]}.webp"
    if os.environ.get("KIBITZ_NEW_PICTURES"):
        pictures.save(picture, reference)
    return [f"{reference.name}: {each}" for each in pictures.differences(picture, pictures.load(reference))]


def test_a_long_name_leaves_the_network_menu_as_wide(visit: Callable[..., Page]) -> None:
    """The buttons next to the menu do not move when a run with a long name appears."""
    page = visit(SCENES["chess"][0])
    menu = page.locator(".chooser select")
    width = menu.evaluate("menu => menu.offsetWidth")
    menu.evaluate("menu => menu.add(new Option('personal-of-a-player-with-a-long-name'))")
    assert menu.evaluate("menu => menu.offsetWidth") == width


def test_the_page_looks_as_it_did(visit: Callable[..., Page]) -> None:
    """In both themes: with a game of chess, a board of Go, and the menu of a move. Fonts make no difference."""
    wrong = []
    for scene, (path, prepare) in SCENES.items():
        page = visit(path)
        prepare(page)
        if scene == "chess":
            fonts_pass_and_what_is_missing_or_moved_does_not(page)
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            for size in SIZES:
                wrong += compared(page, size, f"{scene}-{theme}")
            if scene == "chess":
                page.set_viewport_size({"width": SIZES[1][0], "height": SIZES[1][1]})
                page.get_by_role("button", name="Bxc6").click(button="right")
                menu = page.get_by_role("menu", name="4. Bxc6")
                for item in menu.get_by_role("menuitem").all():
                    expect(item).to_have_css("background-color", re.compile(r"rgba\(.*\)|" + re.escape(colour(menu))))
                    expect(item).to_have_css("border-top-color", "rgba(0, 0, 0, 0)")
                wrong += compared(page, SIZES[1], f"menu-{theme}")
                menu.get_by_role("menuitem").first.press("Escape")
                expect(menu).to_have_count(0)
    assert not wrong, "\n".join(wrong)


def colour(element: Locator) -> str:
    return str(element.evaluate("(each) => getComputedStyle(each).backgroundColor"))


FONTS = ["serif", "monospace", "Liberation Sans", "sans-serif"]
"""Families that stand for another machine's fonts; one of them may be the usual one."""

GONE = ["#evalbar", "#board", "#controls", "#game-part", "#graph", "#panels", ".tabs", "#header"]


def fonts_pass_and_what_is_missing_or_moved_does_not(page: Page) -> None:
    """How the pictures of a page with a game are compared."""
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
    page.emulate_media(color_scheme="light")


TABS = ["Analysis", "Explorer", "Play", "Puzzles", "My games", "Compare", "Training"]
LAPTOPS = [(1024, 768), (1280, 720), (1366, 768), (1440, 900)]
BELOW = """() => {
    const panel = [...document.querySelectorAll("[role=tabpanel]")].find((each) => !each.hidden);
    const page = document.documentElement;
    return [panel.scrollHeight - panel.clientHeight, page.scrollHeight - page.clientHeight];
}"""


SETTLED = 100
"""Drawings of the page after which it counts as complete."""


def below(page: Page, what: str) -> list[str]:
    """The sizes of laptops at which some of the tab, or of the page, is below the fold."""
    wrong = []
    for width, height in LAPTOPS:
        page.set_viewport_size({"width": width, "height": height})
        for _ in range(SETTLED):  # what is still loading may be larger
            page.evaluate(DRAWN)
            found = page.evaluate(BELOW)
            if max(found) <= 1:  # heights are rounded
                break
        else:
            wrong.append(f"{what} at {width}x{height}: {found}")
    return wrong


GO = "/#game=go&size=19&network=gohuman&ply=4&moves=Q16.D4.Q4.D16"


def without_a_store(page: Page) -> None:
    """The list of moves that a store has may be long; it is not what is measured here."""
    page.route("**/api/explore", lambda route: route.fulfill(json={"stores": []}))


@pytest.mark.parametrize("game", ["chess", "go"])
def test_nothing_of_a_tab_is_below_the_fold_of_a_laptop(visit: Callable[..., Page], game: str) -> None:
    """With all that the default network says of a game's position: likely moves with their values, other ratings."""
    page = visit("about:blank")
    without_a_store(page)
    page.route("**/api/judge*", lambda route: None)
    page.goto("/" if game == "chess" else GO)
    desk = Desk(page).ready()
    valued = page.locator(".move-bars.valued .continued").first
    expect(valued).to_be_visible()
    wrong = below(page, "at first")
    if game == "chess":
        desk.choose("human")
        desk.opened(TRAP, 10)
        trap = desk.tab("Analysis").locator(".rating-trap")
        expect(valued).to_be_visible()
        expect(page.locator(".rating-risk")).to_be_visible()
        expect(trap).to_be_hidden()  # at the start of the game, every likely move is good
        desk.keys("End")
        desk.after("exd5")
        expect(trap).to_have_text(re.compile(r"Trap: Nxd5 loses \d\d percentage points"))
        expect(valued).to_be_visible()
    for layer in desk.tab("Analysis").locator(".chip").all():
        layer.click()
        expect(page.locator(".on-board .state")).to_be_hidden()
        wrong += below(page, f"Analysis, {layer.inner_text()}")
    for tab in TABS[1:]:
        expect(desk.tab(tab)).to_be_visible()
        wrong += below(page, tab)
    # After a game, with the form for two players, and with a count of Go.
    panel = desk.tab("Play")
    if game == "chess":
        panel.get_by_label("Clock").select_option("300+3")
    else:
        panel.get_by_label("You play").select_option("w")
    panel.get_by_role("button", name="New game").click()
    desk.resign()
    desk.play_state("over")
    wrong += below(page, "after a game")
    panel.locator(".series summary").click()
    expect(panel.get_by_role("button", name="Start")).to_be_visible()
    wrong += below(page, "two players")
    if game == "go":
        desk.open("(;GM[1]SZ[9];B[ee];W[ce];B[eg];W[gc];B[cg];W[gg];B[dg];W[];B[])")
        desk.keys("End")
        expect(page.locator(".go-count")).to_contain_text(re.compile(r"\d"))
        wrong += below(page, "a count")
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
        ...(innerWidth < 560 ? shown(".continued").filter((each) => each.scrollWidth > each.clientWidth) : []),
    ].map((each) => each.className || each.tagName);
}"""
CHOICES = """() => {
    const pen = document.createElement("canvas").getContext("2d");
    return [...document.querySelectorAll(".opinion-choices select")].filter((each) => {
        pen.font = getComputedStyle(each).font;
        const widest = Math.max(...[...each.options].map((option) => pen.measureText(option.text).width));
        return each.offsetParent && each.clientWidth < widest + 20;
    }).map((each) => each.parentElement.textContent);
}"""
"""Choices of engines that are too narrow for a name."""
ROW = "(tabs) => tabs.map((tab) => tab.getBoundingClientRect()).map((box) => [box.y, box.width])"


def test_no_words_are_cut_and_tabs_are_in_one_row(visit: Callable[..., Page]) -> None:
    for locale, game in itertools.product(("en-US", "de-DE"), ("chess", "go")):
        page = visit("about:blank", locale=locale)
        for asked in ("judge", "check"):
            page.route(f"**/api/{asked}*", lambda route: None)
        page.goto("/#network=human&ply=4&moves=e2e4.e7e5.g1f3.b8c6" if game == "chess" else GO)
        expect(page.locator(".move-bars.valued .continued").first).to_be_visible()
        longest = "Black is slightly better" if locale == "en-US" else "Schwarz steht auf Gewinn"
        page.locator("#side .chance-line .verdict").first.evaluate(
            "(each, words) => { each.textContent = words }", longest
        )
        progress = "Evaluated 204/305" if locale == "en-US" else "Prüfung 132/200"
        for width, height in LAPTOPS[2:]:
            page.set_viewport_size({"width": width, "height": height})
            page.locator(".graph-caption").evaluate("(each, words) => { each.textContent = words }", progress)
            page.evaluate(DRAWN)
            assert page.locator("#side").evaluate("(each) => each.offsetWidth") >= 430, width
            assert page.evaluate(CUT) == [], f"{game}, {width}x{height}"
        for width, height in ((1280, 800), (1280, 720), (1024, 768), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(DRAWN)
            assert page.evaluate(CHOICES) == [], f"{game}, {width}x{height}"
            if width == 390:
                assert page.evaluate(CUT) == [], f"{game}, {width}x{height}"
            boxes = page.get_by_role("tab").evaluate_all(ROW)
            assert len(boxes) == 7
            # Longer words may take a second row on a telephone.
            rows = 2 if width == 390 and locale == "de-DE" else 1
            assert len({y for y, _ in boxes}) <= rows, width
            assert all(wide > 20 for _, wide in boxes), width


LONG = """1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 6. O-O O-O 7. Re1 a6 8. Bb3 Ba7 9. h3 h6 10. Nbd2 Re8
11. Nf1 Be6 12. Bc2 d5 13. Qe2 Qd7 14. Ng3 Rad8 15. Nh2 Qd6 16. Qf3 Qe7 17. Qf5 Bxf5 18. exf5 Rd7
19. Bd2 b5 20. Rad1 Kh8 *"""
REASON = """() => {
    const list = document.querySelector(".move-list");
    const reason = [...list.querySelectorAll(".reason")].find((each) => each.textContent.startsWith("Qf5"));
    const { top, bottom } = list.getBoundingClientRect();
    const boxes = [list.querySelector(".move.current"), reason].map((each) => each.getBoundingClientRect());
    return boxes.map((box) => box.top >= top && box.bottom <= bottom);
}"""


def test_the_reason_of_a_mistake_is_seen_above_the_summary(visit: Callable[..., Page]) -> None:
    """At the mistake and at the position before it, which a click on the mark opens."""
    page = visit(width=1280, height=720)
    desk = Desk(page)
    desk.choose("winner")
    desk.open(LONG)
    desk.judged(40)
    expect(page.locator(".move-list .reason", has_text="Qf5")).to_have_count(1)
    expect(page.locator(".summary .summary-accuracy").first).to_be_visible()
    mark = page.locator(".move-list .row", has_text="Qf5").locator("button.mark").first
    for width, height in ((1280, 720), (1366, 768), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        for opened in ("mistake", "before"):
            desk.keys("Home")
            page.evaluate(DRAWN)
            if opened == "before":
                mark.evaluate("(each) => each.click()")
                desk.after("Qe7")
            else:
                page.locator(".move-list").get_by_role("button", name="Qf5", exact=True).evaluate(
                    "(each) => each.click()"
                )
                desk.after("Qf5")
            page.evaluate(DRAWN)
            assert page.evaluate(REASON) == [True, True], f"{opened}, {width}x{height}"


@pytest.mark.parametrize("locale", ["en-US", "de-DE", "fr-FR"])
def test_a_phone_shows_the_analysis_with_the_board(visit: Callable[..., Page], locale: str) -> None:
    page = visit("about:blank", width=390, height=844, touch=True, locale=locale)
    page.route("**/api/judge*", lambda route: None)
    page.goto("/#network=human&ply=4&moves=e2e4.e7e5.g1f3.b8c6")
    expect(page.locator(".move-bars.valued .continued span").first).to_be_visible()
    for width, height in ((390, 844), (360, 740)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("window.scrollTo(0, 0)")
        page.evaluate(DRAWN)
        # Longer words take rows of their own.
        rows = (3 if locale == "en-US" else 2) if height > 800 else 1
        for part in ("#board", ".chance-line", f".move-bars li:nth-child({rows})"):
            box = page.locator(part).first.bounding_box()
            assert box is not None, part
            assert box["y"] >= 0, part
            assert box["y"] + box["height"] <= height, f"{part}, {width}x{height}"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CHOICES) == [], f"{width}x{height}"


def test_a_run_and_its_checkpoints_are_above_the_fold_of_a_laptop(
    visit: Callable[..., Page], rated_run: Path, winner_run: Path
) -> None:
    """With all that a checkpoint says: its chance, its moves, its board. And the page is small."""
    page = visit()
    page.route("**/api/judge*", lambda route: None)
    desk = Desk(page).ready()
    # What is requested before anything is chosen: without the answers of networks, and uncompressed.
    bytes_of = page.evaluate(
        """() => [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")]
            .filter((each) => !each.name.includes("/api/")).map((each) => each.decodedBodySize)"""
    )
    assert 100_000 < sum(bytes_of) <= 400_000
    desk.opened(GAME, 16)
    desk.keys("End")
    desk.after("Qxd1")
    compare = desk.tab("Compare")
    for side in ("left", "right"):
        compare.get_by_label(f"Network on the {side}").select_option("runs/human-1")
        compare.get_by_label(f"Checkpoint on the {side}").select_option(index=1)
    expect(compare.locator(".chance strong")).to_have_text([re.compile(r"\d%")] * 2)
    expect(compare.locator(".small-list li:visible")).to_have_count(6)
    wrong = below(page, "Compare")
    training = desk.tab("Training")
    training.get_by_label("Training run", exact=True).select_option("runs/human-1")
    expect(training.get_by_role("img", name="Loss")).to_be_visible()
    expect(training.locator(".snapshot-said")).to_contain_text(re.compile(r"\d%.* · ", re.DOTALL))
    expect(training.locator(".snapshot-board")).to_be_visible()
    wrong += below(page, "Training, moves")
    training.get_by_label("Training run", exact=True).select_option("runs/winner-1")
    for curve in ("Loss", "Accuracy"):
        expect(training.get_by_role("img", name=curve)).to_be_visible()
    expect(training.locator(".snapshot-said")).to_contain_text(re.compile(r"\d%"))
    wrong += below(page, "Training, two curves")
    assert not wrong, "\n".join(wrong)
