"""What the networks see: heat, arrows, planes, what matters, owners, two networks side by side, a training run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from browser.conftest import offer
from kibitz.store.store import Store
from support.board_page import SEARCHED, Desk, wait_for
from support.trained import trained

FRENCH = "1. e4 e6 2. d4 d5 3. Nc3 Bb4 *"
CORNER = "(;GM[1]SZ[9]KM[7];B[ee];W[ec];B[cd];W[dc];B[cc];W[db];B[cb];W[gd];B[aa];W[ab])"


def layer(desk: Desk, name: str) -> Locator:
    """Chooses what is coloured on the board; the panel."""
    panel = desk.page.get_by_role("tabpanel", name="Analysis")
    panel.get_by_role("radio", name=name, exact=True).check()
    return panel


def heated(desk: Desk, squares: set[str] | None = None) -> None:
    """Waits until something is tinted, or just these squares are."""
    names = [file + rank for rank in "12345678" for file in "abcdefgh"]
    desk.page.wait_for_function(
        """(wanted) => {
            const tinted = [...document.querySelectorAll("#board svg.heat rect")]
                .flatMap((each, at) => (+each.getAttribute("fill-opacity") > 0 ? [at] : []));
            return wanted ? JSON.stringify(tinted) === JSON.stringify(wanted) : tinted.length > 0;
        }""",
        arg=sorted(names.index(square) for square in squares) if squares is not None else None,
    )


def test_moves_as_colours_and_arrows(desk: Desk) -> None:
    desk.choose("chessnet")
    desk.opened(FRENCH, 6)
    desk.keys("End")
    desk.after("Bb4")
    layer(desk, "Which piece")
    heated(desk)
    assert max(desk.heat()) == desk.heat()[28]  # e4: e5 or exd5
    desk.keys("ArrowLeft", "ArrowRight")  # still the moves', though a choice was clicked
    desk.after("Bb4")
    layer(desk, "Where to")
    heated(desk, set())
    desk.click("e4")
    heated(desk)
    strongest = max(range(64), key=desk.heat().__getitem__)
    assert strongest in (35, 36)  # d5, e5
    layer(desk, "Off")
    heated(desk, set())
    first = desk.page.locator(".move-bars button").first
    expect(first).to_have_text(re.compile(r"e5\s*\d+%"))
    arrows = desk.page.locator("#board svg.cg-shapes g line")
    expect(arrows.first).to_be_attached()
    ghost = desk.page.locator("#board cg-auto-pieces piece")
    first.hover()
    expect(ghost).to_have_count(1)
    desk.page.mouse.move(5, 5)
    expect(ghost).to_have_count(0)
    desk.page.get_by_role("checkbox", name="arrows").uncheck()
    expect(arrows).to_have_count(0)
    first.press("Enter")  # a search that adds values draws the list anew, and takes a half-made click away with it
    desk.after("e5")
    # What it is given, and what matters.
    desk.open("4k3/8/8/8/8/8/Q7/4K3 w - - 0 1")
    panel = layer(desk, "Important pieces")
    heated(desk, {"a2"})  # the queen; kings cannot be taken away
    expect(panel.locator(".legend")).to_contain_text("White")
    panel = layer(desk, "What it sees")
    planes = panel.get_by_label("Input", exact=True)
    expect(planes.locator("option").nth(5)).to_be_attached()
    queen = planes.locator("option").filter(has_text=re.compile("^(own )?queens")).first
    planes.select_option(queen.get_attribute("value"))
    heated(desk, {"a2"})
    before = planes.input_value()
    panel.get_by_role("button", name="Next input").click()
    expect(planes).not_to_have_value(before)
    layer(desk, "Off")
    # Moves of weaker and stronger players.
    desk.choose("human")
    panel = desk.tab("Analysis")
    desk.opened('[WhiteElo "900"]\n[BlackElo "2310"]\n\n' + FRENCH, 6)
    expect(panel).to_contain_text("900")
    desk.keys("ArrowRight")
    expect(panel).to_contain_text("2310")
    players = desk.page.locator(".ratings:not(.waiting)")
    slider = players.get_by_role("slider")
    expect(players.locator(".rating-said")).to_contain_text("1400")
    expect(players.locator(".rating-risk")).to_contain_text(re.compile(r"1400: <?\d+%"))
    expect(players.locator("polyline")).to_have_count(4)
    weak = players.locator(".rating-risk").inner_text()
    slider.fill("2600")
    expect(players.locator(".rating-said")).to_contain_text("2600")
    assert players.locator(".rating-risk").inner_text() != weak
    expect(players.locator("li button")).to_have_count(3)
    san = players.locator(".san").first.inner_text().strip()
    players.locator("li button").first.click()
    desk.after(san)
    desk.choose("chessnet")  # it has no rating inputs
    expect(desk.page.locator(".ratings")).to_be_hidden()
    expect(panel).not_to_contain_text("2310")


def test_owners_score_liberties_and_chains_of_go(desk: Desk) -> None:
    desk.choose("chessnet")
    points = desk.page.locator(".graph-points")
    expect(points).to_be_hidden()
    desk.choose("gocnn")
    desk.opened(CORNER, 10)
    # The graph shows Black's lead in points in place of the chance.
    place = desk.page.locator(".graph-place").bounding_box()
    assert place
    middle = (place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    desk.page.mouse.move(*middle)
    caption = desk.page.locator(".graph-caption")
    expect(caption).to_contain_text("%")
    points.click()
    expect(points).to_have_attribute("aria-pressed", "true")
    desk.page.mouse.move(*middle)
    expect(caption).to_contain_text(re.compile(r"[BW]\+\d+\.\d"))
    desk.keys("End")
    shades = desk.page.locator("#board svg.go .shade:not([d=''])")  # all squares of a strength are one path
    expect(desk.page.locator("#board svg.go .shade.black:not([d=''])").first).to_be_attached()
    assert sum((path.get_attribute("d") or "").count("M") for path in shades.all()) > 20
    marks = desk.page.locator("#board svg.go .square:not([d=''])")
    panel = desk.page.get_by_role("tabpanel", name="Analysis")
    expect(panel.locator(".score")).to_contain_text(re.compile("Black|White|Even"))
    expect(panel.locator(".chance .whose")).to_contain_text("Black")
    expect(desk.chance).to_have_accessible_name(re.compile("Black"))
    layer(desk, "Liberties")
    # Two stones have few; the others have as many as the network counts.
    expect(desk.page.locator("#board svg.go .counts text")).to_have_text(["1", "2"], timeout=SEARCHED)
    layer(desk, "Chains")
    expect(desk.page.locator("#board svg.go .links path").nth(1)).to_be_attached()
    layer(desk, "Important stones")
    expect(marks.first).to_be_attached(timeout=SEARCHED)
    layer(desk, "Off")
    expect(marks).to_have_count(0)
    expect(shades).to_have_count(0)


ARROWS = """async () => {
    for (const _ of [1, 2]) await new Promise((drawn) => requestAnimationFrame(drawn));
    return [...document.querySelectorAll("[role=tabpanel] .side .cg-shapes line")].map((each) => each.outerHTML);
}"""


def arrows_of(page: Page, unlike: list[str]) -> list[str]:
    """The arrows of the small boards, as soon as there are some and others than these."""
    so = f"async (unlike) => {{ const all = await ({ARROWS})(); return all.length && `${{all}}` !== `${{unlike}}`; }}"
    wait_for(page, so, unlike)
    return list(page.evaluate(ARROWS))


def same_arrows(page: Page, expected: list[str]) -> None:
    """Waits until the small boards have just these arrows."""
    wait_for(page, f"async (expected) => `${{await ({ARROWS})()}}` === `${{expected}}`", expected)


def test_two_networks_side_by_side(desk: Desk) -> None:
    desk.opened(FRENCH, 6)
    panel = desk.tab("Compare")
    board = panel.locator(".side").first.get_by_role("img").first
    moves = panel.locator(".small-list li")
    # By itself it may be a run of another test.
    panel.get_by_label("Network on the right").select_option("chessnet-value")
    expect(moves).to_have_count(5)
    # A board with the colors of a network is gray, and so is the board next to it.
    grounds = panel.locator("cg-board").evaluate_all(
        "(all) => all.map((each) => getComputedStyle(each).backgroundImage)"
    )
    assert len(grounds) == 2
    assert grounds[0] == grounds[1]
    # Arrows that come while their board is hidden are where they belong, and no error is logged.
    arrows = [arrows_of(desk.page, [])]  # the next ones must be others
    for key, move in (("End", "Bb4"), ("ArrowLeft", "Nc3")):
        desk.keys(key)
        expect(board).to_have_attribute("aria-label", re.compile(move))
        expect(moves).to_have_count(5)
        arrows.append(arrows_of(desk.page, arrows[-1]))
    _, last, before = arrows
    places = panel.locator(".small-place")
    places.evaluate_all("(all) => all.forEach((each) => { each.hidden = true; })")
    same_arrows(desk.page, before)
    desk.keys("End")
    same_arrows(desk.page, last)
    places.evaluate_all("(all) => all.forEach((each) => { each.hidden = false; })")
    same_arrows(desk.page, last)
    expect(board).to_have_attribute("aria-label", re.compile("Bb4"))
    verdict = panel.get_by_role("status").first
    panel.get_by_label("Network on the left").select_option("chessnet")
    panel.get_by_label("Network on the right").select_option("chessnet-value")
    expect(verdict).to_contain_text("White")
    panel.get_by_label("Network on the right").select_option("convchess")
    expect(moves).to_have_count(10)
    expect(verdict).not_to_be_empty()


def test_a_training_run_is_followed(visit: Callable[..., Page], folder: Path, winner_run: Path) -> None:
    """A run that is there, one that goes on while it is looked at, and one that comes and goes."""
    desk = Desk(visit(f"/#game=chess&network={winner_run.relative_to(folder)}")).ready()
    panel = desk.tab("Training")
    state = panel.get_by_role("status").first
    expect(state).to_contain_text(re.compile(r"\b1\d\d\b"))
    expect(panel.get_by_role("img", name="Loss")).to_be_visible()
    slider = panel.get_by_role("slider")
    slider.press("Home")
    words = slider.get_attribute("aria-valuetext")
    expect(panel.locator(".snapshot-said")).to_contain_text(re.compile(r"\d+%"))
    slider.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", words or "")
    desk.drag("e2", "e4")
    expect(panel.locator(".snapshot-said")).to_contain_text(re.compile(r"\d+%"))
    live = folder / "runs" / "winner-2"
    entry = desk.network.locator("option[value='runs/winner-2']")
    expect(entry).to_have_count(0)
    info = json.loads((winner_run / "run.json").read_text())
    for name in ("finished", "result", "ended"):
        info.pop(name, None)
    rows = (winner_run / "metrics.jsonl").read_text().splitlines(keepends=True)
    rows = [row for row in rows if '"iteration"' in row and '"finished"' not in row]
    copy = folder / "winner-2.copy"
    copy.mkdir()
    (copy / "run.json").write_text(json.dumps(info))
    (copy / "metrics.jsonl").write_text("".join(rows[:2]))
    copy.rename(live)
    expect(entry).to_have_count(1)
    panel.get_by_label("Training run", exact=True).select_option("runs/winner-2")
    expect(state).to_contain_text(f"{json.loads(rows[1])['iteration']} iterations")
    with (live / "metrics.jsonl").open("a") as file:
        file.writelines(rows[2:4])
    expect(state).to_contain_text(f"{json.loads(rows[3])['iteration']} iterations")
    # The page may just have asked for more of the run.
    desk.page.watch.allow("404.*winner-2")  # type: ignore[attr-defined]
    shutil.rmtree(live)
    expect(entry).to_have_count(0)


@pytest.fixture(scope="package")
def of_go(small_go_store: Store, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of Go and its checkpoints, on the shared server."""
    from kibitz.systems.gohuman import Settings
    from kibitz.training.trainer import TrainConfig

    made = tmp_path_factory.mktemp("of_go") / "gohuman-1"
    plan = TrainConfig(5, 1000, 5, validate_positions=100, precision="32-true")
    settings = Settings(blocks=1, filters=16, batch=32, warmup=2, iterations=10, most_epochs=0)
    trained("gohuman", settings, small_go_store, made, plan, also=("snapshots",))
    return offer(made, folder / "runs" / "gohuman-1")


def held(page: Page) -> list[Route]:
    """Questions to checkpoints, which wait here from now on."""
    waiting: list[Route] = []

    def take(route: Route) -> None:
        if '"snapshot":"' in (route.request.post_data or ""):
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/api/analyse", take)
    return waiting


def release(page: Page, waiting: list[Route]) -> None:
    for route in waiting:
        route.continue_()
    page.unroute("**/api/analyse")


def test_checkpoints_of_go(visit: Callable[..., Page], of_go: Path) -> None:
    """Compared with a network, and one after the other."""
    page = visit("/#game=go&size=9&network=gocnn")
    desk = Desk(page).ready()
    desk.opened(CORNER, 10)
    desk.keys("End")
    panel = desk.tab("Compare")
    verdict = panel.get_by_role("status").first
    panel.get_by_label("Network on the left").select_option("gohuman")
    panel.get_by_label("Network on the right").select_option("runs/gohuman-1")
    expect(verdict).to_contain_text("Black")
    final = panel.locator(".chance strong").nth(1)
    waiting = held(page)
    panel.get_by_label("Checkpoint on the right").select_option(index=1)
    loading = panel.locator(".side").nth(1).get_by_role("status")
    expect(loading).to_contain_text("checkpoint")  # the first answer of a checkpoint takes seconds
    expect(verdict).to_be_empty()
    release(page, waiting)
    expect(final).to_have_text(re.compile(r"\d%"))
    expect(loading).to_be_hidden()
    expect(verdict).to_contain_text(re.compile("territory|intersection"))
    expect(panel.locator(".side").nth(1).locator("svg.go .shade").first).to_be_attached()
    expect(panel.locator(".side").nth(1).locator(".small-list li").first).to_contain_text("%")
    waiting = held(page)
    panel = desk.tab("Training")
    panel.get_by_label("Training run", exact=True).select_option("runs/gohuman-1")
    expect(panel.get_by_role("status").first).to_contain_text("10 iterations")
    slider = panel.get_by_role("slider")
    last = slider.get_attribute("aria-valuetext")
    expect(panel.get_by_text("Loading")).to_be_visible()
    release(page, waiting)
    shown = panel.locator(".snapshot-said")
    expect(shown).to_contain_text(re.compile(r"Black.*\d%", re.DOTALL))
    expect(panel.get_by_text("Loading")).to_be_hidden()
    expect(shown.locator(".score")).not_to_be_empty()
    expect(panel.locator(".snapshot-board svg.go .shade").first).to_be_attached()
    slider.press("Home")
    expect(slider).not_to_have_attribute("aria-valuetext", last or "")
    expect(shown).to_contain_text(re.compile(r"\d%"))
    desk.open("1. e4 e5 *")  # a game of chess
    expect(panel).to_contain_text("Go")
    expect(panel.locator(".snapshot-board")).to_be_hidden()


def test_two_networks_of_go_have_their_rows_side_by_side(visit: Callable[..., Page]) -> None:
    page = visit("/#game=go&size=9&network=gohuman", width=1366, height=768)
    desk = Desk(page).ready()
    desk.opened(CORNER, 10)
    panel = desk.tab("Compare")
    panel.get_by_label("Network on the left").select_option("gohuman")
    panel.get_by_label("Network on the right").select_option("gocnn")
    expect(panel.locator(".chance strong")).to_have_text([re.compile(r"\d%")] * 2)
    # the words of one side may take more lines than those of the other
    panel.locator(".verdict").first.evaluate("each => { each.textContent = 'much longer words '.repeat(5); }")
    for row in (".small-place", ".chance-line", ".chance strong", ".chance-bar", ".score", ".small-list"):
        tops = panel.locator(f".side {row}").evaluate_all(
            "(all) => all.map((each) => Math.round(each.getBoundingClientRect().top))"
        )
        assert len(tops) == 2, row
        assert tops[0] == tops[1], row
    heights = panel.locator(".verdict").evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().height)")
    assert heights[0] > heights[1]


def test_how_to_begin_a_training_is_of_the_game_on_the_board(visit: Callable[..., Page]) -> None:
    desk = Desk(visit("/#game=go&size=9&network=gohuman")).ready()
    commands = desk.tab("Training").locator("pre")
    expect(commands).to_have_text(re.compile(r"games\.sgf[^$]*train gohuman"))
    desk.page.get_by_role("combobox", name="Network", exact=True).select_option("human")
    expect(commands).to_have_text(re.compile(r"games\.pgn[^$]*train human"))
