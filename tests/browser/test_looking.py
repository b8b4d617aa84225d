"""Games that are opened: stepping, variations, copies, addresses, the graph and the mistakes."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable

import chess
import chess.pgn
import pytest
from playwright.sync_api import Page, Route, expect

from support.board_page import SEARCHED, Desk
from support.browser_games import random_game

TREE = """[Event "Club <b>night</b>"]
[White "Ann"]
[Black "Bo"]
[Result "*"]

1. e4 {the best by test} e5 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Nf3 Nc6 3. Bb5 $1 a6 *
"""

HANGS = "1. e4 e5 2. Qh5 Nc6 3. Qxe5+ Nxe5 4. d4 Ng6 *"
"""White gives the queen for a pawn."""


@pytest.fixture
def desk(page: Page) -> Desk:
    return Desk(page).ready()


def test_stepping(desk: Desk) -> None:
    desk.opened(TREE, 6)
    expect(desk.page.locator("#title")).to_contain_text("Ann – Bo")
    expect(desk.page.locator("#title")).to_contain_text("Club <b>night</b>")
    expect(desk.moves).to_contain_text("the best by test")
    desk.keys("ArrowRight", "ArrowRight", "ArrowRight")
    desk.after("Nf3")
    desk.keys("ArrowLeft")
    desk.after("e5")
    desk.keys("End")
    desk.after("a6")
    desk.keys("Home")
    desk.after("")
    desk.page.mouse.move(*desk.square("e4"))
    desk.page.mouse.wheel(0, 100)
    desk.after("e4")
    desk.page.mouse.wheel(0, -100)
    desk.after("")
    desk.moves.get_by_role("button", name="Bb5!").click()
    desk.after("Bb5")
    for name, move in (
        ("One move back", "Nc6"),
        ("To the start", ""),
        ("One move forward", "e4"),
        ("To the end", "a6"),
    ):
        desk.page.get_by_role("button", name=name, exact=True).click()
        desk.after(move)


def test_variations_are_a_tree(desk: Desk) -> None:
    desk.opened(TREE, 6)
    desk.moves.get_by_role("button", name="d6").click()
    desk.after("d6")
    desk.analysed(4)  # the line that is looked at
    desk.keys("ArrowLeft", "ArrowLeft", "ArrowUp")
    desk.after("e5")
    desk.keys("ArrowDown")
    desk.after("c5")
    desk.drag("d2", "d4")  # a variation of one's own
    desk.after("d4")
    desk.keys("Home", "End")
    desk.after("d4")
    saved = desk.copied("Game as PGN")
    game = chess.pgn.read_game(io.StringIO(saved))
    assert game
    assert not game.errors
    assert game.headers["Event"] == "Club <b>night</b>"
    sicilian = game.variation(0).variation(1)
    assert [node.san() for node in sicilian.variations] == ["Nf3", "c3", "d4"]
    assert game.variation(0).comment == "the best by test"


def test_copies_and_the_address(desk: Desk, visit: Callable[..., Page]) -> None:
    desk.opened(TREE, 6)
    desk.keys("ArrowRight", "ArrowRight")
    board = chess.Board()
    board.push_san("e4")
    board.push_san("e5")
    assert chess.Board(desk.copied("Position as FEN")) == board
    address = desk.copied("Address of this position")
    other = Desk(visit(address.removeprefix(desk.page.url.split("#")[0].rstrip("/")))).ready()
    other.after("e5")
    other.keys("End")
    other.after("a6")
    expect(desk.page).to_have_url(re.compile(r"ply=2"))
    desk.page.reload()
    desk.ready().after("e5")
    expect(desk.moves.get_by_role("button", name="c3")).to_be_visible()  # variations are there again


@pytest.mark.parametrize("address", ["", "/#game=go&size=9&network=gohuman&ply=1&moves=E5.C3"])
def test_a_reload_keeps_the_tab_however_early(visit: Callable[..., Page], address: str) -> None:
    page = visit("about:blank")
    page.route("**/api/networks", lambda route: None)
    page.goto(address or "/")
    for name, tab in (("Explorer", "explorer"), ("Play", "play")):  # before the page knows any network
        page.get_by_role("tab", name=name, exact=True).click()
        assert f"tab={tab}" in page.evaluate("location.hash")
        page.reload()
        expect(page.get_by_role("tab", name=name, exact=True)).to_have_attribute("aria-selected", "true")
    page.unroute("**/api/networks")
    page.reload()
    desk = Desk(page).ready()
    desk.tab("Puzzles")
    assert "tab=puzzles" in page.evaluate("location.hash")  # at once
    page.reload()
    expect(page.get_by_role("tab", name="Puzzles")).to_have_attribute("aria-selected", "true")
    desk.tab("Analysis")
    assert "tab=" not in page.evaluate("location.hash")
    if address:
        desk.after("E5", "go")
        expect(page).to_have_url(re.compile("network=gohuman.*moves=E5.C3|moves=E5.C3.*network=gohuman"))


def test_an_sgf(desk: Desk) -> None:
    desk.open("(;GM[1]SZ[13]KM[6.5]PB[Ann]PW[Bo]C[start];B[jd]C[first](;W[dj];B[jj])(;W[dd]))")
    expect(desk.network).to_have_value("gohuman")
    desk.analysed(3)
    expect(desk.page.locator("#title")).to_contain_text("Ann – Bo")
    desk.keys("End")
    desk.after("K4", "go")
    desk.moves.get_by_role("button", name="D10").click()
    desk.after("D10", "go")
    saved = desk.copied("Game as SGF")
    for part in ("SZ[13]", "KM[6.5]", "PB[Ann]", "C[first]", "(;W[dd]"):
        assert part in saved.replace("\n", "")


def test_turning_and_coordinates(desk: Desk) -> None:
    before = desk.square("a1")
    desk.keys("f")
    expect(desk.page.locator("#board .orientation-black")).to_have_count(1)
    assert desk.square("a1") != before
    desk.drag("e2", "e4")
    desk.after("e4")
    desk.keys("c")
    expect(desk.page.locator("#board .chess.plain")).to_have_count(1)
    desk.keys("c")
    desk.page.get_by_role("button", name="Flip board").click()
    expect(desk.page.locator("#board .orientation-white")).to_have_count(1)


def test_the_graph(desk: Desk) -> None:
    desk.opened(random_game(60), 60)
    expect(desk.chance).to_have_accessible_name("White’s chance")
    expect(desk.chance).to_have_attribute("aria-valuetext", re.compile(r"White \d+%"))
    over = desk.page.locator("#graph .u-over")
    box = over.bounding_box()
    assert box
    over.click(position={"x": box["width"] - 1, "y": 5})
    expect(desk.moves.locator("[aria-current]")).to_have_count(1)
    expect(desk.page).to_have_url(re.compile("ply=(60|59)"))


def test_marks_are_what_a_search_confirms(desk: Desk) -> None:
    caption = desk.page.locator(".graph-caption")
    caption.evaluate(
        "shown => { window.said = []; new MutationObserver(() => said.push(shown.textContent)).observe(shown, "
        "{ childList: true, subtree: true }) }"
    )
    desk.opened(HANGS, 8)
    desk.judged(8)
    expect(caption).to_have_text("")
    assert any(re.fullmatch(r"checking \d of 8", said) for said in desk.page.evaluate("said"))
    marks = desk.moves.locator("button.mark.blunder")
    expect(marks).to_have_text(["??"])
    mark = marks.first
    expect(mark).to_have_attribute("title", re.compile(r"^Qxe5\+\?\? lost [3-9]\d points; better: \w+ "))
    expect(mark).to_have_accessible_name(re.compile(r"better: .*\. Open the position before 3\. Qxe5\+$"))
    expect(desk.graph).to_have_attribute("aria-label", re.compile(r"White’s chance .*[1-9] mistakes?"))
    # A mistake opens before it: the move that was played comes next.
    mark.click()
    expect(desk.status).to_contain_text("Before 3. Qxe5+")
    desk.after("Nc6")
    desk.keys("ArrowRight")
    desk.after("Qxe5+")
    desk.keys("End", "M")
    expect(desk.status).to_contain_text("Before ")
    desk.choose("convchess")  # it says not who wins
    expect(desk.moves.locator(".mark")).to_have_count(0)
    desk.choose("winner")
    expect(marks).to_have_text(["??"])
    desk.opened("1. d4 d5 *", 2)
    desk.judged(2)
    expect(desk.moves.locator(".mark")).to_have_count(0)
    expect(caption).to_have_text("")


def test_a_sign_of_the_record_is_not_said_twice(visit: Callable[..., Page]) -> None:
    """And a move that is marked keeps its clock, which the highlight leaves alone."""
    desk = Desk(visit(width=1366, height=768)).ready()
    timed = re.sub(r"([a-hQNx]\S*)(?= )", r"\1 {[%clk 0:04:31]}", HANGS).replace("*", "0-1")
    desk.opened(timed, 8)
    desk.judged(8)
    move = desk.moves.get_by_role("button", name="Qxe5+", exact=True)
    cell = desk.moves.locator(".cell").filter(has=desk.page.get_by_role("button", name="Qxe5+", exact=True))
    expect(cell.locator(".mark")).to_have_text("??")
    desk.keys("Home", *["ArrowRight"] * 5)
    boxes = [each.bounding_box() for each in (cell, move, cell.locator(".move-time"))]
    whole, current, time = [each or {} for each in boxes]
    assert time["y"] + time["height"] <= whole["y"] + whole["height"]
    assert time["x"] >= current["x"] + current["width"] + 4
    desk.opened(timed.replace("Qxe5+", "Qxe5+??"), 8)
    desk.judged(8)
    expect(desk.moves.get_by_role("button", name="Qxe5+??", exact=True)).to_be_visible()
    expect(desk.moves.locator(".mark.blunder")).to_have_count(0)
    # The result stays in one line.
    assert "0-1" not in desk.page.locator("#title .note").first.inner_text()


WALLS = "D5.E5.D4.E4.D6.E6.D3.E3.D7.E7.D2.E2.D8.E8.D1.E1"
"""Black has four columns of nine and the move at the top, which decides who gets the fifth."""


def test_marks_of_go_are_what_a_search_confirms(visit: Callable[..., Page]) -> None:
    page = visit("about:blank")
    page.route("**/api/check", lambda route: None)
    with page.expect_request("**/api/check"):
        page.goto(f"/#game=go&size=9&komi=0.5&network=gohuman&ply=17&moves={WALLS}.A1")
    desk = Desk(page)
    # The network alone thinks that the last move was bad; nothing is called a mistake until it is searched.
    expect(desk.moves.locator(".mark.doubt")).not_to_have_count(0)
    expect(desk.moves.locator("button.mark")).to_have_count(0)
    page.unroute("**/api/check")
    page.reload()
    mark = desk.moves.locator("button.mark").last
    expect(mark).to_have_text("??", timeout=SEARCHED)
    expect(mark).to_have_attribute(
        "title", re.compile(r"^A1\?\? lost \d+\.\d points on the board, \d+% of the chance; better: [A-J]\d")
    )
    # A network without a search marks nothing, and has no puzzles.
    desk.choose("gocnn")
    desk.analysed(17)
    expect(desk.moves.locator(".mark")).to_have_count(0)
    expect(desk.tab("Puzzles")).to_contain_text("gocnn cannot check moves by a search.")


def test_a_puzzle_of_go_is_judged_by_the_search(visit: Callable[..., Page]) -> None:
    """The search prefers a move that the network alone takes to be as bad as the game's."""

    def answered(asked: Route, *lines: dict[str, object]) -> None:
        seq = (asked.request.post_data_json or {})["seq"]
        body = "".join(json.dumps({"seq": seq, **line}) + "\n" for line in lines)
        asked.fulfill(body=body, content_type="application/x-ndjson")

    def alone(asked: Route) -> None:
        fields = asked.request.post_data_json or {}
        plies = range(fields["from"], fields["to"] + 1)
        answers: list[dict[str, object]] = [{"ply": ply, "black": 0.9 if ply < 17 else 0.4} for ply in plies]
        answered(asked, {"total": len(plies)}, *answers, {"total": len(plies), "done": True})

    def searched(asked: Route) -> None:
        lost = {"loss": 0.5, "mark": "??", "points": 9.0, "before": 0.9, "after": 0.4}
        answered(asked, {**lost, "reply": [], "line": ["J9", "E9"], "done": True})

    page = visit("about:blank")
    page.route("**/api/analyse", alone)
    page.route("**/api/check", searched)
    page.goto(f"/#game=go&size=9&network=gohuman&ply=17&moves={WALLS}.A1")
    desk = Desk(page).ready()
    panel = desk.tab("Puzzles")
    panel.get_by_role("button", name="Begin").click()
    expect(panel.locator(".puzzle-question")).to_contain_text("A1 was played")
    desk.place("J9")
    verdict = panel.locator(".puzzle-verdict")
    expect(verdict).to_have_text("J9 is good: nothing is lost.")
    panel.get_by_role("button", name="Show the answer").click()
    expect(verdict).to_have_text("The best move is J9. The game could go on: J9 E9.")


def test_an_empty_board_of_go_keeps_its_terms(visit: Callable[..., Page]) -> None:
    desk = Desk(visit("/#game=go&size=9&komi=5.5&rules=japanese&side=w")).ready()
    expect(desk.board("go")).to_have_attribute("aria-label", re.compile("White to move"))
    record = desk.copied("Game as SGF")
    for part in ("KM[5.5]", "RU[japanese]", "PL[W]"):
        assert part in record


def test_the_example_of_go_is_whole(visit: Callable[..., Page]) -> None:
    page = visit("/#game=go&network=gohuman")
    page.route("**/api/load", lambda route: (page.wait_for_timeout(300), route.continue_()))
    page.get_by_role("button", name="Try an example").click()
    expect(page.locator("#status")).to_have_text("Opening …")
    expect(page.locator("#title")).to_contain_text("GNU Go")
    expect(page.locator("#title .problems")).to_be_hidden()
    expect(Desk(page).moves.get_by_role("button")).to_have_count(210)


def test_bar_number_and_graph_believe_the_search(desk: Desk) -> None:
    """A queen hangs: chessnet alone sees nearly nothing, and its search sees it. All say the same then."""
    desk.choose("chessnet")
    desk.opened("1. e4 d5 2. exd5 Qxd5 3. Nc3 a6 *", 6)
    desk.keys("End")
    desk.judged(6)
    expect(desk.chance).to_have_attribute("aria-valuenow", re.compile("^(9[0-9]|100)$"))
    now = desk.chance.get_attribute("aria-valuenow")
    expect(desk.page.locator(".chance strong").first).to_have_text(f"{now}%")
    alone = desk.page.evaluate(
        """async (moves) => {
            const body = JSON.stringify({ network: "chessnet", line: { game: "chess", moves }, from: 6 });
            const headers = { "Content-Type": "application/json" };
            const lines = await (await fetch("/api/analyse", { method: "POST", headers, body })).text();
            return JSON.parse(lines.split("\\n")[1]).white;
        }""",
        ["e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "a7a6"],
    )
    assert alone < 0.9, "else this shows nothing"


def test_the_opening_is_named_as_far_as_the_game_has_come(desk: Desk) -> None:
    title = desk.page.locator("#title")
    desk.opened('[ECO "B99"]\n\n1. Nf3 c5 2. e4 d6 3. d4 cxd4 4. Nxd4 h6 5. h3 *', 9)
    expect(title).not_to_contain_text("B")
    desk.keys("ArrowRight", "ArrowRight", "ArrowRight")
    expect(title).to_contain_text("B27 Sicilian Defence")
    desk.keys("End")
    expect(title).to_contain_text("Sicilian Defence")
    expect(title).not_to_contain_text("B99")


def test_a_move_more_is_judged_alone(desk: Desk) -> None:
    asked = list[dict[str, int]]()
    desk.page.on("request", lambda sent: sent.url.endswith("/api/judge") and asked.append(sent.post_data_json))
    desk.opened("1. e4 e5 *", 2)
    desk.judged(2)
    desk.keys("End")
    desk.drag("d1", "g4")
    desk.after("Qg4")
    desk.judged(3)
    assert [(one["from"], one["to"]) for one in asked] == [(1, 2), (3, 3)]
    expect(desk.moves.locator("button.mark")).to_have_count(0)
    desk.drag("d7", "d5")
    desk.judged(4)
    desk.drag("g4", "d7")  # the queen for a pawn
    desk.judged(5)
    expect(desk.moves.locator("button.mark.blunder")).to_have_text(["??"])


def test_an_only_move_has_its_sign(desk: Desk) -> None:
    desk.opened('[FEN "6k1/5ppp/8/8/8/8/q4PPP/3R2K1 w - - 0 1"]\n\n1. Rd8# *', 1)
    desk.judged(1)
    sign = desk.moves.get_by_role("img", name="the only move: every other one loses much")
    expect(sign).to_have_text("□")
    desk.keys("h")  # hints off
    expect(desk.moves.locator(".mark")).to_have_count(0)


def test_puzzles_of_one_s_own_mistakes(desk: Desk) -> None:
    desk.opened(HANGS, 8)
    panel = desk.tab("Puzzles")
    desk.judged(8)
    line = (desk.moves.locator("button.mark.blunder").get_attribute("title") or "").split("better: ")[1].split()
    expect(panel.get_by_role("listitem").first).to_have_text(re.compile(r"3\. Qxe5\+\?\?−[3-9]\d%"))
    panel.get_by_role("button", name="Begin").click()
    question = panel.locator(".puzzle-question")
    expect(question).to_contain_text(re.compile(r"1 of \d+\. White to move: 3\. Qxe5\+ was played"))
    expect(desk.chance).to_have_attribute("aria-valuetext", "not known")  # nothing is given away
    expect(desk.moves.locator(".mark")).to_have_count(0)
    verdict = panel.locator(".puzzle-verdict")
    desk.drag("h5", "f7")  # the other way to give the queen
    expect(verdict).to_have_text("Qxf7+ loses as much as the game did.", timeout=SEARCHED)
    expect(panel.locator(".puzzle-facts")).to_contain_text(re.compile(r"after Qxf7\+White \d+%"))
    panel.get_by_role("button", name="Try again").click()
    desk.after("Nc6")
    board = chess.Board()
    for san in ("e4", "e5", "Qh5", "Nc6"):
        board.push_san(san)
    best = board.parse_san(line[0])
    desk.drag(chess.square_name(best.from_square), chess.square_name(best.to_square))
    expect(verdict).to_have_text(f"{line[0]} is good: nothing is lost.", timeout=SEARCHED)
    panel.get_by_role("button", name="Show the answer").click()
    desk.after("Nc6")
    expect(verdict).to_contain_text(f"The best move is {line[0]}. The game could go on: {' '.join(line)}.")
    panel.get_by_role("button", name="End").click()
    expect(panel.get_by_role("button", name="Begin")).to_be_visible()
    # What was tried is no change: the game is not among those that are kept.
    desk.open("1. d4 d5 *")
    desk.page.get_by_role("button", name="Game", exact=True).click()
    desk.page.get_by_role("menuitem", name="Earlier games").click()
    expect(desk.page.get_by_role("dialog", name="Earlier games")).to_contain_text("None yet.")


def test_two_hundred_plies(desk: Desk) -> None:
    desk.opened(random_game(200, seed=2), 200)
    game = chess.pgn.read_game(io.StringIO(random_game(200, seed=2)))
    assert game
    for _ in range(200):
        desk.page.keyboard.press("ArrowRight")
    board = game.end().board()
    drawn = {
        chess.square_name(square): f"{'white' if piece.color else 'black'} {chess.piece_name(piece.piece_type)}"
        for square, piece in board.piece_map().items()
    }
    expect(desk.moves.locator("[aria-current]")).to_have_text(re.compile(re.escape(game.end().san())))
    assert desk.pieces() == drawn
    for _ in range(200):
        desk.page.keyboard.press("ArrowLeft")
    desk.after("")
    assert len(desk.pieces()) == 32
