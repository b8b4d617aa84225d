"""Positions of chess and stones, labels and marks of Go that are set up by hand."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from sgfmill import sgf

from support.board_page import Desk, serious

FIRST = 120_000
"""Milliseconds that kernels of Go may take to be compiled."""


@pytest.fixture
def desk(page: Page) -> Desk:
    return Desk(page).ready()


def refusals(desk: Desk) -> None:
    """The server is asked about positions that are none; browsers log its answers as errors."""
    desk.page.watch.allow("status of 400")


def editor(desk: Desk) -> Locator:
    refusals(desk)
    desk.page.get_by_role("button", name="Game", exact=True).click()
    desk.page.get_by_role("menuitem", name="Set up a position").click()
    dialog = desk.page.get_by_role("dialog", name="Set up a position")
    expect(dialog.get_by_role("application")).to_be_focused()
    return dialog


def fen(dialog: Locator) -> Locator:
    return dialog.get_by_role("textbox", name="FEN")


def square(dialog: Locator, name: str) -> tuple[float, float]:
    box = dialog.locator("cg-board").bounding_box()
    assert box
    side = box["width"] / 8
    return box["x"] + ("abcdefgh".index(name[0]) + 0.5) * side, box["y"] + (8.5 - int(name[1])) * side


def test_pieces_are_put_moved_and_taken_away(desk: Desk) -> None:
    dialog, mouse = editor(desk), desk.page.mouse
    dialog.get_by_role("button", name="Clear").click()
    expect(fen(dialog)).to_have_value("8/8/8/8/8/8/8/8 w - - 0 1")
    expect(dialog.locator(".setup-problem")).to_have_text("White has no king.")
    use = dialog.get_by_role("button", name="Use this position")
    expect(use).to_be_disabled()
    for piece, where in (("White king", "e1"), ("Black king", "e8"), ("White rook", "h1"), ("White rook", "a5")):
        dialog.get_by_role("radio", name=piece).click()
        mouse.click(*square(dialog, where))
    expect(fen(dialog)).to_have_value("4k3/8/8/R7/8/8/8/4K2R w - - 0 1")
    mouse.click(*square(dialog, "a5"))  # the same piece again
    expect(fen(dialog)).to_have_value("4k3/8/8/8/8/8/8/4K2R w - - 0 1")
    pawn = dialog.get_by_role("radio", name="Black pawn").bounding_box()
    assert pawn
    mouse.move(pawn["x"] + 10, pawn["y"] + 10)
    mouse.down()
    mouse.move(*square(dialog, "d4"), steps=4)
    mouse.up()
    expect(fen(dialog)).to_have_value("4k3/8/8/8/3p4/8/8/4K2R w - - 0 1")
    dialog.get_by_role("radio", name="Move pieces").click()
    mouse.move(*square(dialog, "d4"))
    mouse.down()
    mouse.move(*square(dialog, "d3"), steps=4)
    mouse.up()
    expect(fen(dialog)).to_have_value("4k3/8/8/8/8/3p4/8/4K2R w - - 0 1")
    castle = dialog.get_by_role("checkbox", name="White O-O", exact=True)
    expect(dialog.get_by_role("checkbox", name="White O-O-O")).to_be_disabled()
    castle.check()
    expect(fen(dialog)).to_have_value("4k3/8/8/8/8/3p4/8/4K2R w K - 0 1")
    use.click()
    expect(dialog).to_be_hidden()
    expect(desk.status).to_have_text("Position set up.")
    assert desk.pieces() == {"e1": "white king", "e8": "black king", "h1": "white rook", "d3": "black pawn"}
    desk.drag("e1", "g1")
    desk.after("O-O")


def test_by_keys_alone_and_back_again(desk: Desk) -> None:
    desk.open("1. e4 e5 *")
    desk.keys("End")
    desk.after("e5")
    dialog = editor(desk)
    before = fen(dialog).input_value()
    desk.keys("ArrowUp", "N", "ArrowLeft", "q", "ArrowLeft", "Delete")  # e5, d5, c5
    expect(fen(dialog)).to_have_value("rnbqkbnr/pppp1ppp/8/3qN3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1")
    desk.keys("Control+z", "Control+z")
    assert fen(dialog).input_value().split()[0] == before.split()[0]
    desk.keys("Control+y")
    expect(fen(dialog)).to_have_value(re.compile("4N3"))
    use = dialog.get_by_role("button", name="Use this position")
    expect(use).to_be_enabled()  # the server has looked at it
    use.press("Enter")
    expect(desk.moves.locator("button.move")).to_have_count(0)
    assert desk.pieces()["e5"] == "white knight"
    desk.keys("Control+z")
    expect(desk.moves.locator("button.move")).to_have_text(["e4", "e5"])
    desk.after("e5")
    desk.keys("Control+y")
    expect(desk.moves.locator("button.move")).to_have_count(0)
    assert desk.pieces()["e5"] == "white knight"


def test_fens_in_and_out_and_en_passant(desk: Desk) -> None:
    dialog = editor(desk)
    box = fen(dialog)
    box.fill("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq - 0 3")
    box.press("Enter")
    passed = dialog.get_by_role("combobox", name="En passant on")
    assert passed.locator("option").all_inner_texts() == ["none", "d6"]
    passed.select_option("d6")
    expect(box).to_have_value("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 1")
    dialog.get_by_role("button", name="Use this position").click()
    expect(dialog).to_be_hidden()
    desk.drag("e5", "d6")
    desk.after("exd6")
    dialog = editor(desk)
    box = fen(dialog)
    box.fill("hello")
    box.press("Enter")
    expect(dialog.locator(".setup-problem")).to_contain_text("This is no FEN")
    for wrong, words in (
        ("4k3/8/8/8/8/8/8/8 w - - 0 1", "White has no king."),
        ("k6P/8/8/8/8/8/8/K7 w - - 0 1", "A pawn stands on the first or last rank."),
        ("k7/8/8/8/8/8/8/K6r b - - 0 1", "The side that is not to move is in check."),
    ):
        box.fill(wrong)
        box.press("Enter")
        expect(dialog.locator(".setup-problem")).to_have_text(words)
        expect(dialog.get_by_role("button", name="Use this position")).to_be_disabled()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1366), ("dark", 390)])
def test_axe_and_a_telephone(visit: Callable[..., Page], scheme: str, width: int) -> None:
    desk = Desk(visit(width=width, height=768)).ready()
    desk.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    dialog = editor(desk)
    assert serious(desk.page) == []
    wide = dialog.evaluate("each => each.scrollWidth <= each.clientWidth")
    assert wide
    expect(dialog.get_by_role("button", name="Use this position")).to_be_in_viewport()


def test_by_touch(visit: Callable[..., Page]) -> None:
    desk = Desk(visit(width=390, height=844, touch=True)).ready()
    dialog = editor(desk)
    dialog.get_by_role("radio", name="Black knight").tap()
    desk.page.touchscreen.tap(*square(dialog, "e4"))
    expect(fen(dialog)).to_have_value(re.compile("^rnbqkbnr/pppppppp/8/8/4n3/"))


# Go


def go(desk: Desk) -> None:
    desk.page.get_by_role("button", name="New", exact=True).click()
    desk.page.get_by_role("menuitem", name="Go, 9 × 9").click()
    expect(desk.board("go")).to_be_visible()
    desk.page.get_by_role("button", name="Edit", exact=True).click()


def tool(desk: Desk, name: str, *points: str) -> None:
    desk.page.get_by_role("radio", name=name, exact=True).click()
    for point in points:
        desk.page.mouse.click(*desk.point(point))


def record(desk: Desk) -> sgf.Sgf_game:
    return sgf.Sgf_game.from_string(desk.copied("Game as SGF"))


def test_stones_labels_and_marks_are_kept_in_the_sgf(desk: Desk) -> None:
    go(desk)
    stones = desk.page.locator("#board svg.go .stones circle")
    tool(desk, "Black stone", "C3")
    expect(desk.page.locator("#board svg.go .stones circle.black")).to_have_count(1, timeout=FIRST)
    tool(desk, "Black stone", "G7")
    tool(desk, "White stone", "C7", "G3")
    expect(desk.page.locator("#board svg.go .stones circle.white")).to_have_count(2)
    tool(desk, "Take a stone or a mark away", "G3")
    expect(desk.page.locator("#board svg.go .stones circle.white")).to_have_count(1)
    desk.page.get_by_role("button", name="Black moves first").click()
    expect(desk.page.get_by_role("button", name="White moves first")).to_be_visible()
    tool(desk, "Play moves", "E5")
    desk.after("E5", "go")
    tool(desk, "Letter", "A1", "B1")
    tool(desk, "Number", "C1")
    for name, point in (("Triangle", "E5"), ("Square", "C3"), ("Circle", "C7"), ("Cross", "J9")):
        tool(desk, name, point)
    marks = desk.page.locator("#board svg.go .markup > *")
    expect(marks).to_have_count(7)
    tool(desk, "Black stone", "J1")
    expect(desk.status).to_contain_text("set up at the start")
    root = record(desk).get_root()
    black, white, _ = root.get_setup_stones()
    assert (black, white) == ({(2, 2), (6, 6)}, {(6, 2)})
    node = record(desk).get_last_node()
    assert node.get_move() == ("w", (4, 4))
    assert dict(node.get("LB")) == {(0, 0): "A", (0, 1): "B", (0, 2): "1"}
    assert [node.get(name) for name in ("TR", "SQ", "CR", "MA")] == [{(4, 4)}, {(2, 2)}, {(6, 2)}, {(8, 8)}]
    tool(desk, "Triangle", "E5")  # once more: taken away
    expect(marks).to_have_count(6)
    desk.keys("Control+z", "Control+z", "Control+z")
    expect(marks).to_have_count(5)
    desk.keys("Control+y", "Control+y")
    expect(marks).to_have_count(7)
    for _ in range(8):
        desk.keys("Control+z")
    expect(stones.and_(desk.page.locator(".white"))).to_have_count(1)
    desk.open(desk.copied("Game as SGF"))
    expect(stones.and_(desk.page.locator(".black"))).to_have_count(2)


def test_stones_under_moves_that_were_played(desk: Desk) -> None:
    go(desk)
    tool(desk, "Play moves", "E5")
    expect(desk.page.locator("#board svg.go .stones circle.black")).to_have_count(1, timeout=FIRST)
    desk.keys("Home")
    desk.after("", "go")
    refusals(desk)
    tool(desk, "White stone", "E5")
    expect(desk.status).to_contain_text("This cannot be set up")
    tool(desk, "White stone", "A1")
    expect(desk.page.locator("#board svg.go .stones circle.white")).to_have_count(1)
    expect(desk.moves.locator("button.move")).to_have_count(1)
    desk.keys("Control+z")
    expect(desk.page.locator("#board svg.go .stones circle.white")).to_have_count(0)
    expect(desk.moves.locator("button.move")).to_have_count(1)


def test_tools_by_keys_and_axe(desk: Desk) -> None:
    go(desk)
    tools = desk.page.get_by_role("radiogroup", name="Tools")
    expect(tools.get_by_role("radio", name="Play moves")).to_be_focused()
    desk.keys("ArrowRight")
    expect(tools.get_by_role("radio", name="Black stone")).to_have_attribute("aria-checked", "true")
    assert serious(desk.page) == []
    desk.board("go").focus()
    desk.keys("ArrowLeft", "Enter")
    expect(desk.page.locator("#board svg.go .stones circle.black")).to_have_count(1, timeout=FIRST)
