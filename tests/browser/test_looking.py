"""Games that are opened: stepping, variations, addresses, the graph, mistakes and puzzles of them."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Callable
from pathlib import Path

import chess
import chess.pgn
from playwright.sync_api import Page, expect

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


def test_a_game_and_its_variations_are_stepped_through(desk: Desk) -> None:
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
    for name, move in (("Previous", "Nc6"), ("First", ""), ("Next", "e4"), ("Last", "a6")):
        desk.page.locator("#controls").get_by_role("button", name=name).click()
        desk.after(move)
    # Turned, and without coordinates.
    before = desk.square("a1")
    desk.keys("f")
    expect(desk.page.locator("#board .orientation-black")).to_have_count(1)
    assert desk.square("a1") != before
    desk.keys("c")
    expect(desk.page.locator("#board .chess.plain")).to_have_count(1)
    desk.page.get_by_role("button", name="Flip").click()
    expect(desk.page.locator("#board .orientation-white")).to_have_count(1)
    desk.keys("c")
    # Variations are a tree.
    desk.moves.get_by_role("button", name="d6").click()
    desk.after("d6")
    desk.analysed(4)  # the line that is looked at
    desk.keys("ArrowLeft", "ArrowLeft", "ArrowUp")
    desk.after("e5")
    desk.keys("ArrowDown")
    desk.after("c5")
    desk.drag("d2", "d4")  # a variation of one's own
    desk.after("d4")
    desk.keys("Home")
    desk.after("")
    desk.keys("End")
    desk.after("d4")
    game = desk.pgn()
    assert game.headers["Event"] == "Club <b>night</b>"
    sicilian = game.variation(0).variation(1)
    assert [node.san() for node in sicilian.variations] == ["Nf3", "c3", "d4"]
    assert game.variation(0).comment == "the best by test"


def test_a_long_game_and_its_graph(desk: Desk) -> None:
    desk.opened(random_game(80, seed=2), 80)
    game = chess.pgn.read_game(io.StringIO(random_game(80, seed=2)))
    assert game
    for _ in range(80):
        desk.page.keyboard.press("ArrowRight")
    board = game.end().board()
    drawn = {
        chess.square_name(square): f"{'white' if piece.color else 'black'} {chess.piece_name(piece.piece_type)}"
        for square, piece in board.piece_map().items()
    }
    expect(desk.moves.locator("[aria-current]")).to_have_text(re.compile(re.escape(game.end().san())))
    desk.after(game.end().san())
    assert desk.pieces() == drawn
    for _ in range(80):
        desk.page.keyboard.press("ArrowLeft")
    desk.after("")
    assert len(desk.pieces()) == 32
    expect(desk.chance).to_have_accessible_name(re.compile("White"))
    expect(desk.chance).to_have_attribute("aria-valuetext", re.compile(r"White \d+%"))
    over = desk.page.locator("#graph .u-over")
    box = over.bounding_box()
    assert box
    over.click(position={"x": box["width"] - 1, "y": 5})
    expect(desk.page).to_have_url(re.compile("ply=(80|79)"))
    expect(desk.moves.locator("[aria-current]")).to_have_count(1)


def test_marks_are_what_a_search_confirms(visit: Callable[..., Page]) -> None:
    desk = Desk(visit(width=1366, height=768)).ready()
    timed = re.sub(r"([a-hQNx]\S*)(?= )", r"\1 {[%clk 0:04:31]}", HANGS).replace("*", "0-1")
    caption = desk.page.locator(".graph-caption")
    caption.evaluate(
        "shown => { window.seen = []; new MutationObserver(() => seen.push(shown.textContent)).observe(shown, "
        "{ childList: true, subtree: true }) }"
    )
    desk.opened(timed, 8)
    desk.judged(8)
    expect(caption).to_have_text("")
    assert any(re.search(r"\d/8$", text) for text in desk.page.evaluate("seen"))
    marks = desk.moves.locator("button.mark.blunder")
    expect(marks).to_have_text(["??"])
    mark = marks.first
    expect(mark).to_have_attribute("title", re.compile(r"^Qxe5\+\?\? .*[3-9]\d .*: \w+ "))
    expect(mark).to_have_accessible_name(re.compile(r"3\. Qxe5\+$"))
    assert "0-1" not in desk.page.locator("#title .note").first.inner_text()  # the result stays in one line
    # A mistake opens before it: the move that was played comes next.
    mark.click()
    expect(desk.status).to_contain_text("3. Qxe5+")
    desk.after("Nc6")
    desk.keys("ArrowRight")
    desk.after("Qxe5+")
    # The highlight of the move leaves its clock alone.
    cell = desk.moves.locator(".cell").filter(has=desk.page.get_by_role("button", name="Qxe5+", exact=True))
    current = desk.moves.get_by_role("button", name="Qxe5+", exact=True)
    boxes = [each.bounding_box() or {} for each in (cell, current, cell.locator(".move-time"))]
    whole, lit, time = boxes
    assert time["y"] + time["height"] <= whole["y"] + whole["height"]
    assert time["x"] >= lit["x"] + lit["width"] + 4
    desk.choose("convchess")  # it does not predict who wins
    expect(desk.moves.locator(".mark")).to_have_count(0)
    desk.choose("winner")
    expect(marks).to_have_text(["??"])
    # A sign of the record is not shown twice.
    desk.opened(HANGS.replace("Qxe5+", "Qxe5+??"), 8)
    desk.judged(8)
    expect(desk.moves.get_by_role("button", name="Qxe5+??", exact=True)).to_be_visible()
    expect(desk.moves.locator(".mark.blunder")).to_have_count(0)
    # An only move.
    desk.opened('[FEN "6k1/5ppp/8/8/8/8/q4PPP/3R2K1 w - - 0 1"]\n\n1. Rd8# *', 1)
    desk.judged(1)
    expect(desk.moves.locator(".mark.only")).to_have_text("□")
    desk.keys("h")  # hints off
    expect(desk.moves.locator(".mark")).to_have_count(0)


def test_the_summary_of_a_game_leads_to_its_moves(desk: Desk) -> None:
    desk.choose("winner")
    desk.opened(HANGS, 8)
    desk.judged(8)
    card = desk.page.locator(".summary")
    expect(card).to_be_visible()
    white, black = (card.locator(".summary-accuracy").nth(side) for side in (0, 1))
    percent = [int(re.sub(r"\D", "", each.inner_text())) for each in (white, black)]
    assert percent[0] < 60 < percent[1]
    blunders = card.locator(".summary-count.blunder")
    expect(blunders).to_have_text(["1 ??", "0 ??"])
    expect(blunders.nth(1)).to_be_disabled()
    blunders.first.click()
    desk.after("Nc6")
    desk.keys("Home")
    card.locator(".summary-link").click()
    desk.after("Nc6")
    desk.keys("h")
    expect(card).to_be_hidden()
    desk.keys("h")
    card.get_by_role("button", name="Practice").click()
    expect(desk.page.locator("#panel-puzzles .puzzle-list li")).to_have_count(1)
    # Another network has not checked the game yet: its progress is shown, and no numbers of the first one.
    desk.page.route("**/api/judge*", lambda route: None)
    desk.choose("human")
    desk.analysed(8)
    expect(card.locator(".summary-progress")).to_have_text(re.compile(r"\b0/8\b"))
    expect(white).to_be_hidden()
    desk.choose("winner")
    expect(white).to_have_text(f"{percent[0]}%")
    expect(card.locator(".summary-progress")).to_have_text("")


def test_a_game_with_evaluations_is_read_again_with_the_same_marks(desk: Desk, tmp_path: Path) -> None:
    desk.choose("winner")
    desk.opened(HANGS, 8)
    desk.judged(8)
    expect(desk.page.locator(".summary")).to_be_visible()
    marks = [sign.strip() for sign in desk.moves.locator(".mark").all_inner_texts()]
    assert "??" in marks
    text = desk.copied("Game with evaluations")
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert [node.eval() is not None for node in game.mainline()] == [True] * 8
    assert float(game.headers["WhiteAccuracy"]) < 60
    desk.page.evaluate("delete window.showSaveFilePicker")
    with desk.page.expect_download() as downloading:
        desk.menu("Save with evaluations")
    downloading.value.save_as(tmp_path / "game.pgn")
    assert (tmp_path / "game.pgn").read_text(encoding="utf-8") == text
    desk.keys("h")
    desk.open(text)
    desk.counts(8)
    expect(desk.moves.locator(".mark")).to_have_count(0)
    signs = [re.sub(r"[^?!]", "", move) for move in desk.moves.locator("button.move").all_inner_texts()]
    assert [sign for sign in signs if sign] == [mark for mark in marks if mark != "□"]


WALLS = "D5.E5.D4.E4.D6.E6.D3.E3.D7.E7.D2.E2.D8.E8.D1.E1"
"""Black has four columns of nine and the move at the top, which decides who gets the fifth."""


NOON = datetime.datetime(2030, 1, 1, 12)


def due(page: Page) -> list[str]:
    """The days on which the puzzles that were answered are due."""
    kept = "JSON.parse(localStorage.getItem('kibitz-schedule') ?? '[]')"
    days: list[str] = page.evaluate(f"{kept}.map(([_, due]) => new Date(due).toDateString())")
    return days


def test_marks_and_puzzles_of_go_are_what_a_search_confirms(visit: Callable[..., Page]) -> None:
    page = visit("about:blank")
    page.route("**/api/check", lambda route: None)
    with page.expect_request("**/api/check"):
        page.goto(f"/#game=go&size=9&komi=0.5&network=gohuman&ply=17&moves={WALLS}.A1")
    desk = Desk(page)
    # The network alone predicts that the last move was bad; nothing is called a mistake until it is searched.
    expect(desk.moves.locator(".mark.doubt")).not_to_have_count(0)
    expect(desk.moves.locator("button.mark")).to_have_count(0)
    page.unroute("**/api/check")
    page.reload()
    mark = desk.moves.locator("button.mark").last
    expect(mark).to_have_text("??", timeout=SEARCHED)
    expect(mark).to_have_attribute("title", re.compile(r"^A1\?\? .*\d+\.\d .*\d+ percent.*: [A-J]\d"))
    title = mark.get_attribute("title") or ""
    best = re.findall(r"\b[A-HJ]\d\b", title)[1]
    panel = desk.tab("Puzzles")
    page.clock.set_fixed_time(NOON)
    panel.get_by_role("button", name="Start").click()
    expect(panel.locator(".puzzle-question")).to_contain_text("A1")
    desk.place(best)
    expect(panel.locator(".puzzle-verdict")).to_contain_text(best, timeout=SEARCHED)
    expect(panel.locator(".puzzle-verdict")).to_have_class(re.compile("good"), timeout=SEARCHED)
    panel.get_by_role("button", name="End").click()
    assert due(page) == ["Fri Jan 04 2030"], "three days after a first try"
    # On that day its position opens by itself, though another game is on the board; what was better is known.
    desk.open("1. d4 d5 *")
    desk.counts(2)
    expect(page).not_to_have_url(re.compile("game=go"))  # a reload opens the game of the address
    again = panel.get_by_role("button", name="Practice 1 mistake due today", exact=True)
    expect(again).to_be_hidden()
    page.clock.set_fixed_time(NOON + datetime.timedelta(days=3))
    page.reload()
    desk.ready()
    again.click()
    expect(panel.locator(".puzzle-question")).to_contain_text("A1 (an earlier game)")
    desk.counts(17)
    expect(page.locator("#board svg.go")).to_be_visible()
    panel.get_by_role("button", name="Show solution").click()
    expect(panel.locator(".puzzle-verdict")).to_contain_text(f"Best move: {best}.", timeout=SEARCHED)
    panel.get_by_role("button", name="End").click()
    expect(again).to_be_hidden()
    assert due(page) == ["Sat Jan 05 2030"], "the day after one without an answer"
    # A network without a search marks nothing, and has no puzzles.
    desk.choose("gocnn")
    desk.analysed(17)
    expect(desk.moves.locator(".mark")).to_have_count(0)
    expect(desk.tab("Puzzles")).to_contain_text("gocnn")


def test_puzzles_of_one_s_own_mistakes(desk: Desk) -> None:
    desk.opened(HANGS, 8)
    panel = desk.tab("Puzzles")
    desk.judged(8)
    line = (desk.moves.locator("button.mark.blunder").get_attribute("title") or "").split(": ")[1].split()
    expect(panel.get_by_role("listitem").first).to_have_text(re.compile(r"3\. Qxe5\+\?\?−[3-9]\d%"))
    desk.page.clock.set_fixed_time(NOON)
    panel.get_by_role("button", name="Start").click()
    question = panel.locator(".puzzle-question")
    expect(question).to_contain_text("3. Qxe5+")
    expect(desk.page.locator("#evalbar.none")).to_have_count(1)  # nothing is given away
    expect(desk.moves.locator(".mark")).to_have_count(0)
    verdict = panel.locator(".puzzle-verdict")
    desk.drag("h5", "f7")  # the other way to give the queen
    expect(panel.locator(".puzzle-facts")).to_contain_text(re.compile(r"Qxf7\+White \d+%"), timeout=SEARCHED)
    expect(verdict).to_contain_text("Qxf7+")
    expect(verdict).not_to_have_class(re.compile("good"))
    panel.get_by_role("button", name="again").click()
    desk.after("Nc6")
    board = chess.Board()
    for san in ("e4", "e5", "Qh5", "Nc6"):
        board.push_san(san)
    best = board.parse_san(line[0])
    desk.drag(chess.square_name(best.from_square), chess.square_name(best.to_square))
    expect(verdict).to_have_class(re.compile("good"), timeout=SEARCHED)
    panel.get_by_role("button", name="solution").click()
    desk.after("Nc6")
    expect(verdict).to_contain_text(" ".join(line))
    expect(verdict).to_contain_text("Qxe5+ loses the queen")
    panel.get_by_role("button", name="End").click()
    expect(panel.get_by_role("button", name="Start")).to_be_visible()
    assert due(desk.page) == ["Thu Jan 03 2030"], "two days after a second try"
    # What was tried is no change: the game is not among those that are kept.
    desk.open("1. d4 d5 *")
    desk.menu("Earlier games")
    games = desk.page.get_by_role("dialog", name="Earlier games")
    expect(games.get_by_role("button", name="Close")).to_be_visible()
    expect(games.get_by_role("listitem")).to_have_count(0)
