"""Clocks, rematches, offers of a draw and moves ahead of one's turn, in games against a network."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from support.board_page import SEARCHED, Desk, answer_with, serious


@pytest.fixture
def desk(page: Page) -> Desk:
    return Desk(page).ready()


def begin(desk: Desk, **fields: str) -> Locator:
    """A game with these choices; the panel."""
    panel = desk.tab("Play")
    for label, value in fields.items():
        panel.get_by_label(label.replace("_", " "), exact=True).select_option(value)
    panel.get_by_role("button", name="New game").click()
    return panel


def clock(desk: Desk, side: str) -> Locator:
    """Of "above" or "below" the board."""
    found: Locator = desk.page.locator(f"#player-{side} .clock")
    return found


def wait_for_turn(panel: Locator, colour: str = "White") -> None:
    expect(panel.get_by_role("status")).to_have_text(f"Your move. You play {colour}.")


def answered(desk: Desk, panel: Locator) -> None:
    """Waits until the network has made its first move; its kernels may have to be compiled before."""
    expect(desk.moves.locator("button.move")).to_have_count(2, timeout=SEARCHED)
    wait_for_turn(panel)


def test_a_game_with_clocks_and_its_record(desk: Desk) -> None:
    page = desk.page
    panel = begin(desk, Against="chessnet", You_play="w", Level="easy", Clock="300+3")
    expect(panel).to_contain_text("5 min + 3 s a move")
    expect(clock(desk, "below")).to_have_text("5:00")
    page.clock.install()
    page.clock.fast_forward("02:00")  # the first move is free
    desk.drag("e2", "e4")
    answered(desk, panel)
    expect(clock(desk, "below")).to_have_class(re.compile("runs"))
    page.clock.fast_forward("00:30")
    expect(clock(desk, "below")).to_have_text(re.compile(r"4:[12]\d"))
    desk.drag("d2", "d3")
    expect(desk.moves.locator("button.move")).to_have_count(4)
    wait_for_turn(panel)
    expect(clock(desk, "below")).to_have_text(re.compile(r"4:[0-3]\d"))
    # A reload keeps the game and its clocks, once the address has its moves.
    page.wait_for_function("() => location.hash.includes('d2d3')")
    page.reload()
    desk.ready()
    panel = page.get_by_role("tabpanel", name="Play")
    wait_for_turn(panel)
    expect(clock(desk, "below")).to_have_text(re.compile(r"(4:[0-3]|3:[345])\d"))
    expect(clock(desk, "above")).to_have_text(re.compile(r"(5:0|4:[0-5])\d"))
    # What was taken back gives its time back.
    panel.get_by_role("button", name="Take back").click()
    desk.after(desk.moves.locator("button.move").nth(1).inner_text())
    expect(clock(desk, "below")).to_have_text(re.compile(r"(5:00|4:[45]\d)"))
    panel.get_by_role("button", name="Resign").click()
    record = desk.copied("PGN")
    assert '[TimeControl "300+3"]' in record
    assert '[Result "0-1"]' in record
    assert re.search(r"\[%clk 0:05:00\.0\]", record)


def test_time_runs_out(desk: Desk) -> None:
    page = desk.page
    panel = begin(desk, Against="chessnet", You_play="w", Level="easy", Clock="60+0")
    desk.drag("e2", "e4")
    answered(desk, panel)
    page.clock.install()
    page.clock.fast_forward("00:45")
    expect(desk.status).to_contain_text("20 seconds left")
    expect(clock(desk, "below")).to_have_class(re.compile("low"))
    assert serious(page) == []
    page.clock.fast_forward("00:20")
    expect(panel).to_contain_text("Your time is up. chessnet wins on time.")
    expect(panel).to_contain_text("You 0 – 1 chessnet")
    expect(clock(desk, "below")).to_have_text("0:00.0")
    record = desk.copied("PGN")
    assert '[Result "0-1"]' in record
    assert '[Termination "Time forfeit"]' in record
    assert '[TimeControl "60"]' in record


def test_a_rematch_changes_colours(desk: Desk) -> None:
    panel = begin(desk, Against="chessnet", You_play="w", Level="easy", Clock="600+5")
    desk.drag("e2", "e4")
    answered(desk, panel)
    panel.get_by_role("button", name="Offer a draw").click()
    expect(panel.get_by_role("status")).to_contain_text("chessnet declines the draw: it is too early.")
    expect(panel.get_by_role("button", name="Offer a draw")).to_be_disabled()
    panel.get_by_role("button", name="Resign").click()
    panel.get_by_role("button", name="Rematch, colours changed").click()
    wait_for_turn(panel, "Black")
    expect(desk.page.locator("#board .orientation-black")).to_have_count(1)
    expect(desk.moves.locator("button.move")).to_have_count(1)
    expect(clock(desk, "below")).to_have_text("10:00")
    expect(panel).to_contain_text("You 0 – 1 chessnet")
    expect(desk.page.locator("#player-below .name")).to_have_text("You")


def test_a_move_ahead_of_its_turn(desk: Desk) -> None:
    """While the network thinks: shown, taken back with Escape, and played after its move where that is legal."""
    page = desk.page
    held: list[Route] = []
    panel = begin(desk, Against="chessnet", You_play="w", Level="easy")
    page.route("**/api/think", lambda route: held.append(route))
    desk.drag("e2", "e4")
    expect(panel.get_by_role("status")).to_have_text("chessnet is thinking …")
    ahead = page.locator("#board square.current-premove:visible")
    desk.drag("g1", "f3")
    expect(ahead).to_have_count(2)
    desk.keys("Escape")
    expect(ahead).to_have_count(0)
    desk.drag("d2", "d4")
    expect(ahead).to_have_count(2)
    desk.click("b1", "c3")  # another one in its place
    expect(ahead).to_have_count(2)
    expect(desk.status).to_contain_text("b1 to c3 is played as soon as it can be")
    assert desk.pieces()["b1"] == "white knight"
    desk.keys("Escape", "/")
    expect(ahead).to_have_count(0)
    typed = page.get_by_role("textbox", name="Type a move")
    typed.fill("b1c3")
    typed.press("Enter")
    expect(ahead).to_have_count(2)
    asked = held.pop()
    answer_with(asked, "e7e5")
    expect(desk.moves.get_by_role("button", name="Nc3")).to_be_visible()
    expect(ahead).to_have_count(0)


def test_a_move_ahead_that_cannot_be_played(desk: Desk) -> None:
    page = desk.page
    held: list[Route] = []
    desk.open("4k3/8/8/8/8/4p3/3P4/4K3 w - - 0 1")
    panel = desk.tab("Play")
    panel.get_by_label("Against", exact=True).select_option("chessnet")
    page.route("**/api/think", lambda route: held.append(route))
    panel.get_by_role("button", name="Play from here").click()
    desk.drag("e1", "f1")
    expect(panel.get_by_role("status")).to_have_text("chessnet is thinking …")
    desk.drag("d2", "e3")
    expect(page.locator("#board square.current-premove:visible")).to_have_count(2)
    asked = held.pop()
    answer_with(asked, "e3d2")
    wait_for_turn(panel)
    expect(desk.status).to_contain_text("d2 to e3 cannot be played now.")
    assert desk.pieces()["d2"] == "black pawn"


@pytest.mark.parametrize(
    ("act", "start", "end", "sans"),
    [("Leave game", "c7", "c5", ["e4", "c5"]), ("Take back", "d2", "d4", ["d4", "e4"])],
)
def test_a_move_that_comes_too_late(desk: Desk, act: str, start: str, end: str, sans: list[str]) -> None:
    """The network's move is on its way to the board when the game is left, or the person's move taken back."""
    page = desk.page
    held: list[Route] = []
    panel = begin(desk, Against="chessnet", You_play="w", Level="easy")
    page.route("**/api/think", lambda route: held.append(route))
    desk.drag("e2", "e4")
    expect(panel.get_by_role("status")).to_have_text("chessnet is thinking …")
    page.route("**/api/move", lambda route: held.append(route))
    with page.expect_request("**/api/move"):
        answer_with(held.pop(), "e7e5")
    expect(panel.get_by_role("button", name="Ask again")).to_be_hidden()
    panel.get_by_role("button", name=act).click()
    page.unroute("**/api/move")
    held.pop().continue_()
    desk.drag(start, end)  # one move after the other
    desk.after(end)
    expect(desk.moves.locator("button.move")).to_have_text(sans)
    expect(panel.get_by_role("button", name="New game" if act == "Leave game" else "Stop", exact=True)).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_the_clocks_stand_at_the_board(visit: Callable[..., Page], width: int, height: int) -> None:
    desk = Desk(visit(width=width, height=height)).ready()
    begin(desk, Against="chessnet", You_play="w", Level="easy", Clock="300+0")
    desk.page.evaluate("scrollTo(0, 0)")
    for side in ("above", "below"):
        expect(clock(desk, side)).to_be_in_viewport()
    assert desk.page.evaluate("document.documentElement.scrollWidth") <= width


def test_two_networks_play_each_other(visit: Callable[..., Page]) -> None:
    """Two games with the colours changed from near the end of a game: the score, the record, stopping."""
    desk = Desk(visit(width=1366, height=768)).ready()
    desk.open("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 98 90")  # a draw by the fifty-move rule, or a mate, in two plies
    panel = desk.tab("Play")
    panel.get_by_text("Two players against each other").click()
    panel.get_by_label("First player").select_option("chessnet")
    panel.get_by_label("Second player").select_option("human")
    panel.get_by_label("Each move may take").select_option("quick")
    panel.get_by_label("Games", exact=True).fill("2")
    panel.get_by_role("button", name="Start").click()
    expect(panel).to_contain_text("2 of 2 games played.", timeout=SEARCHED)
    expect(panel.locator(".series-score")).to_have_text(re.compile(r"chessnet (1 – 1|2 – 0|0 – 2|1½ – ½|½ – 1½) human"))
    expect(desk.page.locator("#player-below .name")).to_have_text("human")
    record = desk.copied("PGN")
    assert '[Event "chessnet against human, game 2 of 2"]' in record
    assert not re.search(r'\[Result "\*"\]', record)
    assert serious(desk.page) == []


SETTLED = """(;GM[1]FF[4]SZ[9]KM[6.5]RU[japanese];B[ee];W[ec];B[fc];W[gc];B[fd];W[gd];B[fe];W[ge];B[ff];W[gf]
;B[fg];W[gg];B[fh];W[gh];B[fi];W[gi];B[fb];W[gb];B[fa];W[ga];B[cc];W[hc];B[];W[])"""


def test_a_game_of_go_is_counted(visit: Callable[..., Page]) -> None:
    """A white stone is caught in Black's half: the network knows it, a click says otherwise, another one again."""
    desk = Desk(visit(width=1366, height=768)).ready()
    desk.open(SETTLED)
    desk.keys("End")
    counted = desk.page.locator(".go-count")
    expect(counted).to_contain_text("Black 44, White 23.5 with komi: Black wins by 20.5.", timeout=SEARCHED)
    desk.page.mouse.click(*desk.point("E7"))  # alive: no point of that half is Black's alone
    expect(counted).to_contain_text("White wins by 23.5")
    assert "RE[W+23.5]" in desk.copied("SGF")
    desk.page.mouse.click(*desk.point("E7"))
    expect(counted).to_contain_text("Black wins by 20.5")
    desk.keys("ArrowLeft")
    assert serious(desk.page) == []
    # A variation that ends otherwise is counted too, and the record keeps the result of the game.
    desk.keys("ArrowLeft")
    desk.place("A1")
    for _ in range(2):
        desk.page.locator("#controls").get_by_role("button", name="Pass").click()
    expect(counted).to_contain_text("Black 43,", timeout=SEARCHED)
    assert "RE[B+20.5]" in desk.copied("SGF")


def test_go_with_handicap(visit: Callable[..., Page]) -> None:
    desk = Desk(visit("/#game=go&size=9&network=gocnn")).ready()
    panel = desk.tab("Play")
    panel.get_by_label("Handicap").select_option("3")
    expect(panel.get_by_label("Komi")).to_have_value("0.5")
    panel.get_by_label("Rules").select_option("japanese")
    panel.get_by_label("You play").select_option("w")
    panel.get_by_role("button", name="New game").click()
    expect(panel.get_by_role("status").first).to_have_text("Your move. You play White.")
    assert desk.stones() == {"black": 3, "white": 0}
    record = desk.copied("SGF")
    assert "KM[0.5]" in record
    assert "RU[japanese]" in record
    assert "HA[3]" in record
