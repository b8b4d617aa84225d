"""Games that are opened: stepping, variations, copies, addresses, the graph and the mistakes."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import chess
import chess.pgn
import pytest
from playwright.sync_api import Page, expect

from support.board_page import Desk
from support.browser_games import random_game

TREE = """[Event "Club <b>night</b>"]
[White "Ann"]
[Black "Bo"]
[Result "*"]

1. e4 {the best by test} e5 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Nf3 Nc6 3. Bb5 $1 a6 *
"""


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


def test_an_sgf(desk: Desk) -> None:
    desk.open("(;GM[1]SZ[13]KM[6.5]PB[Ann]PW[Bo]C[start];B[jd]C[first](;W[dj];B[jj])(;W[dd]))")
    expect(desk.network).to_have_value("gocnn")
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
    desk.page.get_by_role("button", name="Turn the board").click()
    expect(desk.page.locator("#board .orientation-white")).to_have_count(1)


def test_the_graph_and_the_mistakes(desk: Desk) -> None:
    desk.opened(random_game(60), 60)
    expect(desk.chance).to_have_accessible_name("White’s chance")
    expect(desk.chance).to_have_attribute("aria-valuetext", re.compile(r"White \d+%"))
    over = desk.page.locator("#graph .u-over")
    box = over.bounding_box()
    assert box
    over.click(position={"x": box["width"] - 1, "y": 5})
    expect(desk.moves.locator("[aria-current]")).to_have_count(1)
    expect(desk.page).to_have_url(re.compile("ply=(60|59)"))
    # A mistake opens before it: the move that was played comes next.
    mark = desk.moves.locator("button.mark").first
    name = re.search(r"before (?:\d+)(?:\.|…) (\S+)$", mark.get_attribute("aria-label") or "")
    assert name
    mark.click()
    expect(desk.status).to_contain_text(f"Before {mark.get_attribute('aria-label').split('before ')[1]}")
    desk.keys("ArrowRight")
    desk.after(name[1])
    desk.keys("Home", "m")
    expect(desk.status).to_contain_text("Before ")
    expect(desk.graph).to_have_attribute("aria-label", re.compile(r"White’s chance .*[1-9]\d* mistakes"))


def test_puzzles_of_one_s_own_mistakes(desk: Desk) -> None:
    desk.opened(random_game(60), 60)
    panel = desk.tab("Puzzles")
    panel.get_by_role("button", name="Begin").click()
    question = panel.locator(".puzzle-question")
    expect(question).to_contain_text(re.compile(r"1 of \d+\. (White|Black) to move: .* was played"))
    expect(desk.chance).to_have_attribute("aria-valuetext", "not known")  # nothing is given away
    label = desk.board().get_attribute("aria-label") or ""
    assert (question.text_content() or "").split(". ")[1].startswith(label.split(". ")[1].split(" ")[0])
    expect(desk.page).to_have_url(re.compile("ply="))
    board = chess.Board()
    said = dict(part.split("=") for part in desk.page.url.split("#")[1].split("&"))
    for move in said["moves"].split(".")[: int(said["ply"])]:
        board.push_uci(move)
    played = said["moves"].split(".")[int(said["ply"])]
    other = next(move for move in board.legal_moves if move.uci() != played and not move.promotion)
    desk.drag(chess.square_name(other.from_square), chess.square_name(other.to_square))
    expect(panel.locator(".puzzle-verdict")).to_contain_text(re.compile("is good|better|loses as much"))
    expect(panel.locator(".puzzle-facts")).to_contain_text(re.compile(r"White \d+%"))
    panel.get_by_role("button", name="End").click()
    expect(panel.get_by_role("button", name="Begin")).to_be_visible()


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
