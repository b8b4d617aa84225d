"""What the networks see: heat, arrows, planes, what matters, owners, two networks side by side, a training run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from browser.conftest import Server
from kibitz.store.store import Store
from support.board_page import SEARCHED, Desk

FRENCH = "1. e4 e6 2. d4 d5 3. Nc3 Bb4 *"
CORNER = "(;GM[1]SZ[9]KM[7];B[ee];W[ec];B[cd];W[dc];B[cc];W[db];B[cb];W[gd];B[aa];W[ab])"


@pytest.fixture
def desk(page: Page) -> Desk:
    return Desk(page).ready()


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


def test_where_moves_start_and_go(desk: Desk) -> None:
    desk.choose("chessnet")
    desk.opened(FRENCH, 6)
    desk.keys("End")
    layer(desk, "From-squares")
    heated(desk)
    assert max(desk.heat()) == desk.heat()[28]  # e4: e5 or exd5
    desk.keys("ArrowLeft", "ArrowRight")  # still the moves', though a choice was clicked
    desk.after("Bb4")
    layer(desk, "To-squares")
    heated(desk, set())
    desk.click("e4")
    heated(desk)
    strongest = max(range(64), key=desk.heat().__getitem__)
    assert strongest in (35, 36)  # d5, e5
    layer(desk, "Off")
    heated(desk, set())


def test_first_moves_are_arrows_that_can_be_played(desk: Desk) -> None:
    desk.choose("chessnet")
    desk.opened(FRENCH, 6)
    desk.keys("End")
    first = desk.page.locator(".move-bars button").first
    expect(first).to_have_text(re.compile(r"e5\s*\d+%"))
    arrows = desk.page.locator("#board svg.cg-shapes g line")
    expect(arrows.first).to_be_attached()
    before = arrows.count()
    ghost = desk.page.locator("#board cg-auto-pieces piece")
    first.hover()
    expect(ghost).to_have_count(1)
    desk.page.mouse.move(5, 5)
    expect(ghost).to_have_count(0)
    desk.page.get_by_role("checkbox", name="Show as arrows").uncheck()
    expect(arrows).to_have_count(0)
    assert before >= 1
    first.click()
    desk.after("e5")


def test_weaker_and_stronger_players_side_by_side(desk: Desk) -> None:
    desk.choose("human")
    desk.opened(FRENCH, 6)
    players = desk.page.locator(".by-rating section")
    expect(players).to_have_count(2)
    expect(players.nth(0)).to_contain_text("Players rated 1200")
    expect(players.nth(1)).to_contain_text("Players rated 2200")
    expect(players.nth(0).locator("button")).to_have_count(5)
    san = players.nth(1).locator(".san").first.inner_text().strip()
    players.nth(1).locator("button").first.click()
    desk.after(san)
    desk.choose("chessnet")  # it knows no ratings
    expect(players).to_have_count(0)


def test_likely_moves_are_those_of_the_players(desk: Desk) -> None:
    desk.choose("human")
    panel = desk.tab("Analysis")
    desk.opened('[WhiteElo "900"]\n[BlackElo "2310"]\n\n' + FRENCH, 6)
    expect(panel).to_contain_text("Likely moves of a player rated 900")
    desk.keys("ArrowRight")
    expect(panel).to_contain_text("Likely moves of a player rated 2310")
    desk.opened(FRENCH, 6)
    expect(panel).to_contain_text("Likely moves")
    expect(panel).not_to_contain_text("Likely moves of")


def test_points_of_go_as_a_graph(desk: Desk) -> None:
    """Pressed, it shows Black's lead in points in place of the chance."""
    desk.choose("chessnet")
    points = desk.page.locator("#graph").get_by_role("button", name="points")
    expect(points).to_be_hidden()
    desk.choose("gocnn")
    desk.opened(CORNER, 10)
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


def test_what_it_is_given_and_what_matters(desk: Desk) -> None:
    desk.open("4k3/8/8/8/8/8/Q7/4K3 w - - 0 1")
    panel = layer(desk, "Important pieces")
    heated(desk, {"a2"})  # the queen; kings cannot be taken away
    expect(panel.locator(".legend")).to_contain_text("White’s chance")
    panel = layer(desk, "Input planes")
    planes = panel.get_by_label("Plane", exact=True)
    expect(planes.locator("option").nth(5)).to_be_attached()
    queen = planes.locator("option").filter(has_text=re.compile("^(own )?queens")).first
    planes.select_option(queen.get_attribute("value"))
    heated(desk, {"a2"})
    before = planes.input_value()
    panel.get_by_role("button", name="Next plane").click()
    expect(planes).not_to_have_value(before)


def test_go_owners_score_liberties_and_chains(desk: Desk) -> None:
    desk.opened(CORNER, 10)
    desk.keys("End")
    shades = desk.page.locator("#board svg.go .shade:not([d=''])")  # all squares of a strength are one path
    expect(shades.first).to_be_attached()
    assert sum((path.get_attribute("d") or "").count("M") for path in shades.all()) > 20
    assert desk.page.locator("#board svg.go .shade.black:not([d=''])").count()
    marks = desk.page.locator("#board svg.go .square:not([d=''])")
    panel = desk.page.get_by_role("tabpanel", name="Analysis")
    expect(panel.locator(".score")).to_contain_text(re.compile("leads by|Even"))
    expect(panel).to_contain_text(re.compile("Black’s winning probability"))
    expect(desk.chance).to_have_accessible_name("Black’s chance")
    layer(desk, "Liberties")
    # Two stones have few; the others have as many as the network counts.
    expect(desk.page.locator("#board svg.go .counts text")).to_have_text(["1", "2"], timeout=SEARCHED)
    layer(desk, "Chains")
    assert desk.page.locator("#board svg.go .links path").count() >= 2
    layer(desk, "Important stones")
    expect(marks.first).to_be_attached()
    layer(desk, "Off")
    expect(marks).to_have_count(0)
    expect(shades).to_have_count(0)


def test_two_networks_side_by_side(desk: Desk) -> None:
    desk.opened(FRENCH, 6)
    panel = desk.tab("Compare")
    panel.get_by_label("Left network").select_option("chessnet")
    panel.get_by_label("Right network").select_option("chessnet-value")
    expect(panel.get_by_role("status").first).to_contain_text("White’s chance")
    panel.get_by_label("Right network").select_option("convchess")
    expect(panel.get_by_role("status").first).to_contain_text(re.compile("Both would play|One would play"))
    desk.keys("End")
    expect(panel.locator(".side").first.get_by_role("img").first).to_have_attribute("aria-label", re.compile("Bb4"))
    expect(panel.locator(".small-list li")).to_have_count(10)


ARROWS = """async () => {
    for (const _ of [1, 2]) await new Promise((drawn) => requestAnimationFrame(drawn));
    return [...document.querySelectorAll("[role=tabpanel] .side .cg-shapes line")].map((each) => each.outerHTML);
}"""


def test_arrows_that_come_while_their_board_is_hidden(desk: Desk) -> None:
    """They are where they belong, and no error is logged."""
    desk.opened(FRENCH, 6)
    panel = desk.tab("Compare")
    board = panel.locator(".side").first.get_by_role("img").first
    places = panel.locator(".small-place")
    arrows = []
    for key, move in (("End", "Bb4"), ("ArrowLeft", "Nc3")):
        desk.keys(key)
        expect(board).to_have_attribute("aria-label", re.compile(move))
        expect(panel.locator(".small-list li")).to_have_count(5)
        arrows.append(desk.page.evaluate(ARROWS))
    assert arrows[0]
    assert arrows[0] != arrows[1]
    places.evaluate_all("(all) => all.forEach((each) => { each.hidden = true; })")
    assert desk.page.evaluate(ARROWS) == arrows[1]
    desk.keys("End")
    assert desk.page.evaluate(ARROWS) == arrows[0]
    places.evaluate_all("(all) => all.forEach((each) => { each.hidden = false; })")
    assert desk.page.evaluate(ARROWS) == arrows[0]
    expect(board).to_have_attribute("aria-label", re.compile("Bb4"))


def test_a_training_run(visit: Callable[..., Page], folder: Path) -> None:
    run = folder / "runs" / "winner-1"
    desk = Desk(visit(f"/#game=chess&network={run.relative_to(folder)}")).ready()
    panel = desk.tab("Training")
    state = panel.get_by_role("status").first
    expect(state).to_contain_text(re.compile(r"(Finished after|Live:) 1\d\d iterations"))
    expect(panel.get_by_role("img", name="Loss after")).to_be_visible()
    slider = panel.get_by_role("slider")
    slider.press("Home")
    words = slider.get_attribute("aria-valuetext")
    expect(panel.locator(".snapshot-said")).to_contain_text(re.compile(r"\d+%"))
    slider.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", words or "")
    desk.drag("e2", "e4")
    expect(panel.locator(".snapshot-said")).to_contain_text(re.compile(r"\d+%"))


def test_a_run_that_goes_on_is_followed(visit: Callable[..., Page], folder: Path) -> None:
    """Rows that are added to metrics.jsonl come to the page."""
    run = folder / "runs" / "winner-1"
    live = folder / "runs" / "winner-2"
    live.mkdir(exist_ok=True)
    info = json.loads((run / "run.json").read_text())
    for name in ("finished", "result", "ended"):
        info.pop(name, None)
    (live / "run.json").write_text(json.dumps(info))
    rows = (run / "metrics.jsonl").read_text().splitlines(keepends=True)
    rows = [row for row in rows if '"iteration"' in row and '"finished"' not in row]
    (live / "metrics.jsonl").write_text("".join(rows[:2]))
    desk = Desk(visit("/")).ready()
    panel = desk.tab("Training")
    panel.get_by_label("Run", exact=True).select_option("runs/winner-2")
    last = json.loads(rows[1])["iteration"]
    state = panel.get_by_role("status").first
    expect(state).to_contain_text(f"{last} iterations")
    with (live / "metrics.jsonl").open("a") as file:
        file.writelines(rows[2:4])
    expect(state).to_contain_text(f"{json.loads(rows[3])['iteration']} iterations")


def test_a_run_appears_by_itself_and_goes(visit: Callable[..., Page], folder: Path) -> None:
    desk = Desk(visit("/")).ready()
    entry = desk.network.locator("option[value='runs/winner-3']")
    expect(entry).to_have_count(0)
    shutil.copytree(folder / "runs" / "winner-1", folder / "runs" / "winner-3")
    expect(entry).to_have_count(1)
    shutil.rmtree(folder / "runs" / "winner-3")
    expect(entry).to_have_count(0)


@pytest.fixture(scope="module")
def of_go(small_go_store: Store, chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A board with a run of Go and its checkpoints."""
    from kibitz.systems.gohuman import Settings
    from kibitz.training.fit import train
    from kibitz.training.trainer import TrainConfig

    folder = tmp_path_factory.mktemp("of_go")
    plan = TrainConfig(5, 1000, 5, validate_positions=100, precision="32-true")
    settings = Settings(blocks=1, filters=16, batch=32, warmup=2, iterations=10, most_epochs=0)
    train("gohuman", settings, str(small_go_store.path), run=folder / "runs" / "gohuman-1", plan=plan)
    served = Server(folder)
    served.start()
    yield served
    assert served.end() == 0


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


def test_checkpoints_of_go_are_compared(visit: Callable[..., Page], of_go: Server) -> None:
    page = visit("/#game=go&size=9&network=gocnn", of=of_go)
    desk = Desk(page).ready()
    desk.opened(CORNER, 10)
    desk.keys("End")
    panel = desk.tab("Compare")
    verdict = panel.get_by_role("status").first
    panel.get_by_label("Left network").select_option("gohuman")
    panel.get_by_label("Right network").select_option("runs/gohuman-1")
    expect(verdict).to_contain_text(re.compile("Black’s chance (differs by|is the same)"))
    final = panel.locator(".chance strong").nth(1)
    waiting = held(page)
    panel.get_by_label("Right checkpoint").select_option(index=1)
    loading = panel.get_by_text("Loading the checkpoint …")
    expect(loading).to_be_visible()  # the first answer of a checkpoint takes seconds
    expect(verdict).to_be_empty()
    release(page, waiting)
    expect(final).to_have_text(re.compile(r"\d%"))
    expect(loading).to_be_hidden()
    expect(verdict).to_contain_text("who will own")
    expect(panel.locator(".side").nth(1).locator("svg.go .shade").first).to_be_attached()
    expect(panel.locator(".side").nth(1).locator(".small-list li").first).to_contain_text("%")


def test_a_training_of_go(visit: Callable[..., Page], of_go: Server) -> None:
    page = visit("/#game=go&size=9&network=gocnn", of=of_go)
    desk = Desk(page).ready()
    desk.opened(CORNER, 10)
    desk.keys("End")
    waiting = held(page)
    panel = desk.tab("Training")
    panel.get_by_label("Run", exact=True).select_option("runs/gohuman-1")
    expect(panel.get_by_role("status").first).to_contain_text("10 iterations")
    loading = panel.get_by_text("Loading the checkpoint …")
    expect(loading).to_be_visible()
    release(page, waiting)
    said = panel.locator(".snapshot-said")
    expect(said).to_contain_text(re.compile(r"Black.*\d%", re.DOTALL))
    expect(loading).to_be_hidden()
    expect(said).to_contain_text(re.compile("leads by|Even"))
    expect(panel.locator(".snapshot-board svg.go .shade").first).to_be_attached()
    slider = panel.get_by_role("slider")
    last = slider.get_attribute("aria-valuetext")
    slider.press("Home")
    expect(slider).not_to_have_attribute("aria-valuetext", last or "")
    expect(said).to_contain_text(re.compile(r"\d%"))
    desk.open("1. e4 e5 *")  # a game of chess
    expect(panel).to_contain_text("This run is of Go")
