"""Positions of chess and stones, labels and marks of Go that are set up by hand."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect
from sgfmill import sgf

from support.board_page import SEARCHED, Desk, serious


def refusals(desk: Desk) -> None:
    """The server is asked about positions that are none; browsers log its answers as errors."""
    desk.page.watch.allow("status of 400")  # type: ignore[attr-defined]


def editor(desk: Desk) -> Locator:
    refusals(desk)
    desk.menu("Set up a position")
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


def test_a_position_by_mouse_by_keys_and_as_a_fen(desk: Desk) -> None:
    dialog, mouse = editor(desk), desk.page.mouse
    dialog.get_by_role("button", name="Clear").click()
    expect(fen(dialog)).to_have_value("8/8/8/8/8/8/8/8 w - - 0 1")
    expect(dialog.locator(".setup-problem")).to_contain_text("king")
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
    dialog.get_by_role("radio", name="Move pieces", exact=True).click()
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
    desk.after("")
    assert desk.pieces() == {"e1": "white king", "e8": "black king", "h1": "white rook", "d3": "black pawn"}
    desk.drag("e1", "g1")
    desk.after("O-O")
    # By keys, and as FENs.
    desk.open("1. e4 e5 *")
    desk.keys("End")
    desk.after("e5")
    dialog = editor(desk)
    before = fen(dialog).input_value()
    desk.keys("Delete", "ArrowUp", "N", "ArrowLeft", "q", "ArrowLeft", "Delete")  # e4, e5, d5, c5
    expect(fen(dialog)).to_have_value("rnbqkbnr/pppp1ppp/8/3qN3/8/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    desk.keys("Control+z", "Control+z", "Control+z")
    expect(fen(dialog)).to_have_value(re.compile(f"^{re.escape(before.split()[0])} "))
    desk.keys("Control+y", "Control+y")
    expect(fen(dialog)).to_have_value(re.compile("4N3"))
    use = dialog.get_by_role("button", name="Use this position")
    expect(use).to_be_enabled()  # the server has looked at it
    use.press("Enter")
    desk.counts(0)
    assert desk.pieces()["e5"] == "white knight"
    desk.keys("Control+z")
    expect(desk.moves.locator("button.move")).to_have_text(["e4", "e5"])
    desk.after("e5")
    dialog = editor(desk)
    assert serious(desk.page) == []
    box = fen(dialog)
    box.fill("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq - 0 3")
    box.press("Enter")
    passed = dialog.get_by_role("combobox", name="En passant")
    expect(passed.locator("option")).to_have_count(2)
    passed.select_option("d6")
    expect(box).to_have_value("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3")
    use.click()
    expect(dialog).to_be_hidden()
    desk.drag("e5", "d6")
    desk.after("exd6")
    dialog = editor(desk)
    box = fen(dialog)
    for wrong, word in (
        ("hello", "FEN"),
        ("4k3/8/8/8/8/8/8/8 w - - 0 1", "king"),
        ("k6P/8/8/8/8/8/8/K7 w - - 0 1", "pawn"),
        ("k7/8/8/8/8/8/8/K6r b - - 0 1", "check"),
    ):
        box.fill(wrong)
        box.press("Enter")
        expect(dialog.locator(".setup-problem")).to_contain_text(word)
        if word != "FEN":
            expect(use).to_be_disabled()


# Go


def go(desk: Desk) -> None:
    desk.new("Go, 9 × 9")
    expect(desk.board("go")).to_be_visible()
    desk.page.get_by_role("button", name="Edit", exact=True).click()


def tool(desk: Desk, name: str, *points: str) -> None:
    desk.page.get_by_role("radio", name=name, exact=True).click()
    for point in points:
        desk.page.mouse.click(*desk.point(point))


def record(desk: Desk) -> sgf.Sgf_game:
    return sgf.Sgf_game.from_string(desk.copied("SGF"))


def stones(desk: Desk, colour: str) -> Locator:
    found: Locator = desk.page.locator(f"#board svg.go .stones circle.{colour}")
    return found


def test_stones_labels_and_marks_are_kept_in_the_sgf(desk: Desk) -> None:
    go(desk)
    tools = desk.page.get_by_role("radiogroup", name="Tools")
    expect(tools.get_by_role("radio", name="Play moves")).to_be_focused()
    assert serious(desk.page) == []
    # By keys.
    desk.keys("ArrowRight")
    expect(tools.get_by_role("radio", name="Black stone")).to_have_attribute("aria-checked", "true")
    desk.board("go").focus()
    desk.keys("ArrowLeft", "Enter")
    expect(stones(desk, "black")).to_have_count(1, timeout=SEARCHED)
    desk.keys("Control+z")
    expect(stones(desk, "black")).to_have_count(0)
    # By the mouse.
    tool(desk, "Black stone", "C3")
    expect(stones(desk, "black")).to_have_count(1, timeout=SEARCHED)
    tool(desk, "Black stone", "G7")
    expect(stones(desk, "black")).to_have_count(2)
    for count, point in enumerate(("C7", "G3"), 1):
        tool(desk, "White stone", point)
        expect(stones(desk, "white")).to_have_count(count)
    tool(desk, "Remove a stone or a label", "G3")
    expect(stones(desk, "white")).to_have_count(1)
    desk.page.get_by_role("button", name="Black moves first").click()
    expect(desk.page.get_by_role("button", name="White moves first")).to_be_visible()
    tool(desk, "Play moves", "E5")
    desk.after("E5", "go")
    marks = desk.page.locator("#board svg.go .markup > *")
    drawn = (
        ("Letter", "A1"), ("Letter", "B1"), ("Number", "C1"), ("Triangle", "E5"), ("Square", "C3"), ("Circle", "C7"),
        ("Cross", "J9"),
    )  # fmt: skip
    for count, (name, point) in enumerate(drawn, 1):
        tool(desk, name, point)
        expect(marks).to_have_count(count)
    tool(desk, "Black stone", "J1")
    expect(desk.status).to_contain_text("start")
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
    # The other game, a reload and another game leave it as it is.
    desk.network.select_option("chessnet")
    expect(desk.board()).to_be_visible()
    desk.network.select_option("gohuman")
    expect(marks).to_have_count(7)
    expect(desk.page).to_have_url(re.compile("black=C3.G7|black=G7.C3"))
    expect(desk.page).to_have_url(re.compile("moves=E5"))
    desk.page.reload()
    desk.ready()
    expect(stones(desk, "black")).to_have_count(2)
    desk.open("1. d4 d5 *")
    desk.menu("Earlier games")
    entries = desk.page.get_by_role("dialog", name="Earlier games").get_by_role("listitem")
    expect(entries).to_have_count(1)
    entries.get_by_role("button").first.click()
    expect(stones(desk, "black")).to_have_count(2)
    desk.keys("End")
    expect(marks).to_have_count(7)
    # Under moves that were played.
    go(desk)
    expect(marks).to_have_count(0)
    expect(stones(desk, "black")).to_have_count(0)
    tool(desk, "Play moves", "E5")
    expect(stones(desk, "black")).to_have_count(1, timeout=SEARCHED)
    desk.keys("Home")
    desk.after("", "go")
    refusals(desk)
    tool(desk, "White stone", "E5")
    expect(desk.status).to_have_class(re.compile("problem"))
    tool(desk, "White stone", "A1")
    expect(stones(desk, "white")).to_have_count(1)
    desk.counts(1)
    desk.keys("Control+z")
    expect(stones(desk, "white")).to_have_count(0)
    desk.counts(1)
