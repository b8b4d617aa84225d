"""Moves by hand, of both games, and games against a network."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from support.board_page import SEARCHED, Desk, answer_with


def test_moves_by_hand_and_typed(desk: Desk) -> None:
    desk.drag("e2", "e5")  # may not go there
    desk.drag("e7", "e5")
    desk.click("e2")
    expect(desk.page.locator("#board square.move-dest")).to_have_count(2)  # legal dots
    desk.click("e4")
    desk.after("e4")
    game = ("e7e5 e5", "d1h5 Qh5", "b8c6 Nc6", "f1c4 Bc4", "g8f6 Nf6", "h5f7 Qxf7#")
    for move, san in (word.split() for word in game):
        desk.drag(move[:2], move[2:])
        desk.after(san)
    pieces = desk.pieces()
    assert pieces["f7"] == "white queen"
    assert len(pieces) == 31
    expect(desk.moves.get_by_role("button", name="Qxf7#")).to_have_attribute("aria-current", "true")
    expect(desk.chance).to_have_attribute("aria-valuetext", "White 100%")
    expect(desk.page.locator("#spoken")).to_contain_text("Checkmate")
    # A pawn asks what it becomes.
    desk.open("7k/P7/8/8/8/8/8/K7 w - - 0 1")
    dialog = desk.page.get_by_role("dialog")
    desk.drag("a7", "a8")
    expect(dialog.get_by_role("button", name="queen")).to_be_focused()
    desk.keys("Escape")
    expect(dialog).to_be_hidden()
    assert desk.pieces()["a7"] == "white pawn"
    desk.click("a7", "a8")
    dialog.get_by_role("button", name="knight").click()
    desk.after("a8=N")
    assert desk.pieces()["a8"] == "white knight"
    # A draw that nobody claims is played on.
    desk.open("1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 *")
    desk.keys("End")
    expect(desk.page.locator("#spoken")).to_contain_text("repetition")
    desk.drag("e2", "e4")
    desk.after("e4")
    # Moves can be typed: in English, in other languages, with figures, as squares; null moves are shown.
    desk.open("1. e4 e5 2. Sf3 -- 3. Lb5 *")
    expect(desk.moves.locator("button.move")).to_have_text(["e4", "e5", "Nf3", "--", "Bb5"])
    desk.analysed(5)
    desk.keys("End")
    desk.after("Bb5")
    box = desk.page.locator(".typed input")
    desk.keys("/")
    expect(box).to_be_focused()
    for typed, san in (("Sc6", "Nc6"), ("/♘c3", "Nc3"), ("Nf6", "Nf6"), ("e1g1", "O-O")):
        desk.keys("/")
        box.press_sequentially(typed)
        box.press("Enter")
        desk.after(san)
    desk.page.watch.allow("400")  # type: ignore[attr-defined]
    box.fill("Ke4")
    box.press("Enter")
    expect(desk.status).to_contain_text("legal")
    desk.after("O-O")
    page = desk.page
    desk.new("Go, 9 × 9")
    expect(desk.network).to_have_value("gohuman")
    page.mouse.move(*desk.point("E5"))
    expect(page.locator("#board svg.go .ghost")).to_have_attribute("visibility", "visible")
    desk.place("E5", "A1", "B1", "J9", "A2")
    assert desk.stones() == {"black": 3, "white": 1}
    expect(page.locator("#player-below .lead")).to_contain_text("1")
    expect(page.locator("#player-above .lead")).to_be_empty()
    page.mouse.click(*desk.point("A1"))  # would be suicide
    expect(desk.status).to_contain_text("A1")
    desk.analysed(5)
    for move in (1, 2):
        page.locator("#controls").get_by_role("button", name="Pass").click()
        expect(desk.moves.get_by_role("button", name="pass", exact=True)).to_have_count(move)
    expect(page.locator("#spoken")).to_contain_text("passed")
    expect(desk.chance).to_have_attribute("aria-valuetext", re.compile("Black "))


def begin(desk: Desk, **fields: str) -> Locator:
    """A new game; the panel."""
    panel = desk.tab("Play")
    for label, value in fields.items():
        field = panel.get_by_label(label.replace("_", " "), exact=True)
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    panel.get_by_role("button", name="New game").click()
    return panel


def test_against_a_network(desk: Desk) -> None:
    panel = begin(desk, Opponent="chessnet", You_play="w", Level="custom", Method="top-prob")
    desk.my_turn()
    desk.drag("e2", "e4")
    desk.counts(2)  # it has answered
    desk.my_turn()
    desk.keys("Control+z")
    desk.after("")
    # What is played after taking back is the game.
    desk.drag("d2", "d4")
    desk.counts(4)
    desk.my_turn()
    panel.get_by_role("button", name="Restart game").click()
    desk.after("")
    # It is not left without a question, and goes on where one stays.
    desk.network.select_option("gocnn")
    question = desk.page.get_by_role("dialog", name="Question")
    expect(question).to_contain_text("chessnet")
    question.get_by_role("button", name="Stay").click()
    expect(desk.network).not_to_have_value("gocnn")
    desk.my_turn()
    desk.drag("c2", "c4")
    desk.counts(6)
    desk.my_turn()
    panel.get_by_role("button", name="Resign").click()
    expect(question).to_contain_text("Resign")
    question.get_by_role("button", name="Keep playing").click()
    desk.my_turn()
    desk.resign()
    desk.play_state("over")
    expect(panel.locator(".outcome")).to_contain_text("chessnet")
    game = desk.pgn()
    assert [move.san() for move in game.variations] == ["c4", "d4", "e4"]
    headers = game.headers
    assert (headers["White"], headers["Black"], headers["Result"]) == ("You", "chessnet", "0-1")
    assert re.fullmatch(r"\d{4}\.\d\d\.\d\d", headers["Date"])
    assert headers["TimeControl"] == "-"
    expect(desk.page).to_have_title(re.compile("You – chessnet"))
    # The next game of the record names its own players; it is left for another board, and is not lost.
    panel.get_by_label("Opponent", exact=True).select_option("human")
    panel.get_by_label("Level").select_option("custom")
    panel.get_by_label("Method").select_option("top-prob")
    panel.get_by_label("You play").select_option("b")
    panel.get_by_role("button", name="Play from here").click()
    desk.my_turn("b")
    headers = desk.pgn().headers
    assert headers["White"].startswith("human")
    assert (headers["Black"], headers["Result"]) == ("You", "*")
    desk.network.select_option("gocnn")
    question.get_by_role("button", name="Leave").click()
    expect(desk.board("go")).to_be_visible()
    desk.menu("Earlier games")
    expect(desk.page.get_by_role("dialog", name="Earlier games")).to_contain_text(re.compile("human.* – You"))


def test_a_game_outlives_reloads(desk: Desk) -> None:
    """Without a move, and after some on another tab."""
    page = desk.page
    begin(desk, Opponent="chessnet", You_play="w", Level="custom", Method="top-prob")
    desk.my_turn()
    expect(page).to_have_url(re.compile("first=.*tab=play"))
    page.reload()
    desk.ready()
    expect(page.locator("#title")).to_contain_text("You")
    desk.my_turn()
    desk.drag("e2", "e4")
    desk.counts(2)  # it has answered
    desk.my_turn()
    desk.tab("Analysis")
    expect(page).not_to_have_url(re.compile("tab="))
    page.wait_for_function("() => /moves=e2e4\\.[a-h1-8]{4}/.test(location.hash)")
    page.reload()
    desk.ready()
    expect(page.get_by_role("tab", name="Analysis")).to_have_attribute("aria-selected", "true")
    desk.counts(2)
    desk.my_turn()
    desk.drag("d7", "d5")  # the network's, and its answer stands
    desk.drag("d2", "d4")
    desk.counts(4)


def test_a_player_of_a_rating_has_white(desk: Desk) -> None:
    panel = begin(desk, Opponent="human", You_play="b", Level="1000")
    desk.my_turn("b")
    expect(panel).to_contain_text("1000")
    expect(desk.page.locator("#board .orientation-black")).to_have_count(1)
    expect(desk.page.locator("#title")).to_contain_text("human")
    # No help unless one asks.
    expect(desk.page.locator("#evalbar.none")).to_have_count(1)
    note = desk.page.locator(".graph-note")
    expect(note).to_be_visible()
    assert desk.page.locator(".graph-place").evaluate("(each) => each.offsetHeight") < 30
    expect(panel.get_by_role("button", name="New game")).to_be_hidden()
    panel.get_by_role("checkbox", name="Hints").check()
    expect(desk.chance).to_have_attribute("aria-valuetext", re.compile("White "))


def test_the_page_leaves_it_to_the_server_how_a_rank_is_imitated(visit: Callable[..., Page]) -> None:
    page = visit("/#game=go&size=9&network=gohuman")
    desk = Desk(page).ready()
    with page.expect_request("**/api/think") as asked:
        panel = begin(desk, Opponent="gohuman", You_play="w", Level="5k")
    sent = asked.value.post_data_json
    assert sent["rank"] == "5k"
    assert sent["temperature"] is None
    assert sent["method"] is None
    desk.counts(1, SEARCHED)
    expect(panel).to_contain_text("5 kyu")


def test_go_with_handicap_and_two_passes(visit: Callable[..., Page]) -> None:
    """The record has no result while the game goes on, and has it again when it ends where it ended before."""
    page = visit("/#game=go&size=9&network=gohuman")
    desk = Desk(page).ready()
    panel = desk.tab("Play")
    panel.get_by_label("Handicap").select_option("3")
    expect(panel.get_by_label("Komi")).to_have_value("0.5")
    panel.get_by_label("Rules").select_option("japanese")
    begin(desk, Opponent="gohuman", You_play="w", Level="custom", Seconds_per_move="0.3")
    desk.my_turn("w")
    assert desk.stones() == {"black": 3, "white": 0}
    page.mouse.click(*desk.point("A9"))
    desk.counts(2, SEARCHED)  # the network has answered
    desk.my_turn("w")
    panel.get_by_role("button", name="Restart game").click()
    page.route("**/api/think", lambda asked: answer_with(asked, "pass"))
    record = desk.copied("SGF")
    for part in ("KM[0.5]", "RU[japanese]", "HA[3]"):
        assert part in record
    page.mouse.click(*desk.point("E5"))  # answered at once
    desk.counts(4)
    desk.my_turn("w")
    one = page.locator("#controls").get_by_role("button", name="Pass")
    one.click()
    result: Any = re.compile(r"RE\[[BW]\+[\d.]+\]")
    for _ in range(2):
        desk.play_state("over", "w")
        expect(page.locator(".go-count")).to_be_visible(timeout=SEARCHED)
        assert result.search(desk.copied("SGF"))
        panel.get_by_role("button", name="Take back").click()
        desk.my_turn("w")
        assert not result.search(desk.copied("SGF"))
        one.click()
