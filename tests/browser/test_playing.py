"""Moves by hand, of both games, and games against a network."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from support.board_page import SEARCHED, Desk, answer_with


@pytest.fixture
def desk(page: Page) -> Desk:
    return Desk(page).ready()


def test_a_game_by_dragging(desk: Desk) -> None:
    game = ("e2e4 e4", "e7e5 e5", "d1h5 Qh5", "b8c6 Nc6", "f1c4 Bc4", "g8f6 Nf6", "h5f7 Qxf7#")
    for move, san in (word.split() for word in game):
        desk.drag(move[:2], move[2:])
        desk.after(san)
    pieces = desk.pieces()
    assert pieces["f7"] == "white queen"
    assert len(pieces) == 31
    expect(desk.moves.get_by_role("button", name="Qxf7#")).to_have_attribute("aria-current", "true")
    expect(desk.chance).to_have_attribute("aria-valuetext", "White 100%")
    expect(desk.page.locator("#spoken")).to_contain_text("Checkmate: White wins.")


def test_a_drag_to_where_it_may_not_go_changes_nothing(desk: Desk) -> None:
    desk.drag("e2", "e5")
    desk.drag("e7", "e5")
    desk.drag("a1", "a4")
    assert desk.pieces()["e2"] == "white pawn"
    desk.click("e2")
    expect(desk.page.locator("#board square.move-dest")).to_have_count(2)  # legal dots
    desk.click("e4")
    desk.after("e4")


def test_a_pawn_asks_what_it_becomes(desk: Desk) -> None:
    desk.open("7k/P7/8/8/8/8/8/K7 w - - 0 1")
    dialog = desk.page.get_by_role("dialog", name="The pawn becomes")
    desk.drag("a7", "a8")
    expect(dialog.get_by_role("button", name="queen")).to_be_focused()
    desk.keys("Escape")
    expect(dialog).to_be_hidden()
    assert desk.pieces()["a7"] == "white pawn"
    desk.click("a7", "a8")
    dialog.get_by_role("button", name="knight").click()
    desk.after("a8=N")
    assert desk.pieces()["a8"] == "white knight"


def test_moves_can_be_typed(desk: Desk) -> None:
    desk.keys("/")
    box = desk.page.get_by_role("textbox", name="Type a move")
    expect(box).to_be_focused()
    for typed, san in (("Nf3", "Nf3"), ("e7e5", "e5"), ("g3", "g3")):
        box.fill(typed)
        box.press("Enter")
        desk.after(san)
    desk.page.watch.allow("400")  # type: ignore[attr-defined]
    box.fill("Ke4")
    box.press("Enter")
    expect(desk.status).to_contain_text("no legal move")
    desk.after("g3")


def test_a_game_that_is_pasted_into_the_box_for_moves_is_opened(desk: Desk) -> None:
    page = desk.page
    box = page.get_by_role("textbox", name="Type a move")
    box.click()
    for text in ("e4", "1. d4 d5 2. c4 *"):
        page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        desk.keys("ControlOrMeta+v")
    expect(desk.moves.get_by_role("button")).to_have_count(3)
    expect(box).to_have_value("e4")  # a move stays there
    expect(box).not_to_be_focused()
    # A click on the board gives the keys back to the page.
    box.click()
    page.mouse.click(*desk.square("e5"))
    expect(box).not_to_be_focused()
    desk.keys("End")
    desk.after("c4")


def test_go_by_hand(desk: Desk) -> None:
    page = desk.page
    page.get_by_role("button", name="New", exact=True).click()
    page.get_by_role("menuitem", name="Go, 9 × 9").click()
    expect(desk.network).to_have_value("gohuman")
    page.mouse.move(*desk.point("E5"))
    expect(page.locator("#board svg.go .ghost")).to_have_attribute("visibility", "visible")
    desk.place("E5", "A1", "B1", "J9", "A2")
    assert desk.stones() == {"black": 3, "white": 1}
    expect(page.locator("#player-below")).to_contain_text("1 capture")
    expect(page.locator("#player-above .lead")).to_be_empty()
    page.mouse.click(*desk.point("A1"))  # would be suicide
    expect(desk.status).to_contain_text("A1 cannot be played")
    desk.analysed(5)
    for _ in range(2):
        page.locator("#controls").get_by_role("button", name="Pass").click()
    expect(desk.moves.get_by_role("button", name="pass", exact=True)).to_have_count(2)
    expect(page.locator("#spoken")).to_contain_text("Both have passed")
    expect(desk.chance).to_have_attribute("aria-valuetext", re.compile("Black "))


def begin(desk: Desk, **fields: str) -> None:
    panel = desk.tab("Play")
    for label, value in fields.items():
        name = label.replace("_", " ")
        field = panel.get_by_label(name)
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    panel.get_by_role("button", name="New game").click()


def test_against_a_network(desk: Desk) -> None:
    begin(desk, Against="chessnet", You_play="w", Level="custom", Method="top-prob")
    panel = desk.page.get_by_role("tabpanel", name="Play")
    state = panel.get_by_role("status")
    expect(state).to_have_text("Your move. You play White.")
    desk.drag("e2", "e4")
    expect(desk.moves.locator("button.move")).to_have_count(2)  # it has answered
    expect(state).to_have_text("Your move. You play White.")
    panel.get_by_role("button", name="Take back").click()
    desk.after("")
    desk.drag("d2", "d4")
    expect(desk.page.locator("#board .chess")).to_have_attribute("aria-label", re.compile("White to move, after"))
    panel.get_by_role("button", name="Retry").click()
    desk.after("")
    panel.get_by_role("button", name="Resign").click()
    expect(panel).to_contain_text("You have resigned. chessnet wins.")


@pytest.mark.parametrize("game", ["chess", "go"])
def test_a_game_without_moves_outlives_a_reload(visit: Callable[..., Page], game: str) -> None:
    page = visit("/" if game == "chess" else "/#game=go&size=9&network=gocnn")
    desk = Desk(page).ready()
    if game == "chess":
        begin(desk, Against="chessnet", You_play="w", Level="custom", Method="top-prob")
    else:
        begin(desk, Against="gocnn", You_play="b", Level="custom", Seconds_a_move="0.3")
    state = page.get_by_role("tabpanel", name="Play").get_by_role("status").first
    expect(state).to_contain_text("Your move.")
    expect(page).to_have_url(re.compile("first=.*tab=play"))
    page.reload()
    desk.ready()
    expect(page.locator("#title")).to_contain_text("You")
    expect(state).to_contain_text("Your move.")
    if game == "chess":
        desk.drag("e2", "e4")
    else:
        page.mouse.click(*desk.point("E5"))
    expect(desk.moves.locator("button.move")).to_have_count(2)  # it has answered


def test_a_game_goes_on_after_a_reload_on_another_tab(desk: Desk) -> None:
    begin(desk, Against="chessnet", You_play="w", Level="custom", Method="top-prob")
    desk.drag("e2", "e4")
    moves = desk.moves.locator("button.move")
    expect(moves).to_have_count(2)
    desk.tab("Analysis")
    expect(desk.page).not_to_have_url(re.compile("tab="))
    desk.page.reload()
    desk.ready()
    expect(desk.page.get_by_role("tab", name="Analysis")).to_have_attribute("aria-selected", "true")
    expect(moves).to_have_count(2)
    desk.page.wait_for_function("document.querySelector('.play-state')?.textContent.includes('Your move.')")
    desk.drag("d7", "d5")  # the network's, and its answer stands
    desk.drag("d2", "d4")
    expect(moves).to_have_count(4)


def test_the_next_game_of_a_record_names_its_own_players(desk: Desk) -> None:
    begin(desk, Against="chessnet", You_play="w", Level="custom", Method="top-prob")
    desk.drag("e2", "e4")
    expect(desk.moves.locator("button.move")).to_have_count(2)
    panel = desk.page.get_by_role("tabpanel", name="Play")
    panel.get_by_role("button", name="Resign").click()
    assert '[Result "0-1"]' in desk.copied("PGN")
    panel.get_by_label("Against").select_option("human")
    panel.get_by_label("Level").select_option("custom")
    panel.get_by_label("Method").select_option("top-prob")
    panel.get_by_label("You play").select_option("b")
    panel.get_by_role("button", name="Play from here").click()
    expect(desk.moves.locator("button.move")).to_have_count(3)
    expect(panel.locator(".play-state")).to_have_text("Your move. You play Black.")
    record = desk.copied("PGN")
    for header in ('[White "human (network)"]', '[Black "You"]', '[Result "*"]'):
        assert header in record


def test_a_draw_that_nobody_claims_is_played_on(desk: Desk) -> None:
    desk.open("1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 *")
    desk.keys("End")
    expect(desk.page.locator("#spoken")).to_contain_text("repetition")
    desk.drag("e2", "e4")
    desk.after("e4")


def test_both_pass_again_after_taking_back(visit: Callable[..., Page]) -> None:
    """The record has no result while the game goes on, and has it again when it ends where it ended before."""
    page = visit("/#game=go&size=9&network=gohuman")
    desk = Desk(page).ready()
    page.route("**/api/think", lambda asked: answer_with(asked, "pass"))
    begin(desk, Against="gohuman", You_play="b", Level="custom", Seconds_a_move="0.3")
    panel = page.get_by_role("tabpanel", name="Play")
    expect(panel.locator(".play-state")).to_have_text("Your move. You play Black.")
    page.mouse.click(*desk.point("E5"))  # answered at once
    expect(desk.moves.locator("button.move")).to_have_count(2)
    one = page.locator("#controls").get_by_role("button", name="Pass")
    one.click()
    result = re.compile(r"RE\[B\+[\d.]+\]")
    for _ in range(2):
        expect(panel.locator(".outcome")).to_contain_text("Black wins by", timeout=SEARCHED)
        assert result.search(desk.copied("SGF"))
        panel.get_by_role("button", name="Take back").click()
        expect(panel.locator(".play-state")).to_have_text("Your move. You play Black.")
        assert not result.search(desk.copied("SGF"))
        one.click()


def test_the_network_begins_where_one_has_black(desk: Desk) -> None:
    begin(desk, Against="chessnet", You_play="b", Level="custom", For_a_move="0.3")
    panel = desk.page.get_by_role("tabpanel", name="Play")
    expect(panel.get_by_role("status")).to_have_text("Your move. You play Black.")
    expect(desk.page.locator("#board .orientation-black")).to_have_count(1)
    expect(desk.chance).to_have_attribute("aria-valuetext", "not known")  # no help unless one asks
    expect(desk.page.locator("#graph")).to_contain_text("Hints are off.")
    panel.get_by_role("checkbox", name="Hints").check()
    expect(desk.chance).to_have_attribute("aria-valuetext", re.compile("White "))


def test_a_player_of_a_rating(desk: Desk) -> None:
    begin(desk, Against="human", You_play="w", Level="1000")
    panel = desk.page.get_by_role("tabpanel", name="Play")
    expect(panel).to_contain_text("human: plays like a 1000 player")
    expect(panel.get_by_label("Level").locator("option")).to_contain_text(
        ["Plays like an 800 player", "Plays like a 1000 player"]
    )
    expect(desk.page.locator("#title")).to_contain_text("You – human (network)")
    note = desk.page.locator(".graph-place")
    expect(note).to_have_text("Hints are off.")
    assert note.evaluate("(each) => each.offsetHeight") < 30
    expect(panel.get_by_role("button", name="New game")).to_be_hidden()
    desk.drag("e2", "e4")
    expect(desk.moves.locator("button.move")).to_have_count(2)
    expect(panel.get_by_role("status")).to_have_text("Your move. You play White.")


def test_go_against_a_network(visit: Callable[..., Page]) -> None:
    desk = Desk(visit("/#game=go&size=9&network=gocnn")).ready()
    begin(desk, Against="gocnn", You_play="b", Level="custom", Seconds_a_move="0.3")
    expect(desk.page.get_by_role("tabpanel", name="Play")).to_contain_text("Your move. You play Black.")
    desk.page.mouse.click(*desk.point("E5"))
    expect(desk.moves.locator("button.move")).to_have_count(2)
    assert desk.stones() == {"black": 1, "white": 1}
    desk.page.locator("#controls").get_by_role("button", name="Resign").click()
    expect(desk.page.get_by_role("tabpanel", name="Play")).to_contain_text("You have resigned. gocnn wins.")
