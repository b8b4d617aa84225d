"""Clocks, rematches, offers of a draw and moves ahead of one's turn, in games against a network; the count of Go."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, Route, expect

from support.board_page import SEARCHED, Desk, answer_with, arrived, serious


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


def seconds(desk: Desk, side: str) -> float:
    minutes, rest = clock(desk, side).inner_text().split(":")
    return 60 * int(minutes) + float(rest)


def answered(desk: Desk, moves: int) -> None:
    """Waits until the network has moved; its kernels may have to be compiled before."""
    desk.counts(moves, SEARCHED)
    desk.my_turn()


def test_a_game_with_clocks_and_its_record(desk: Desk) -> None:
    """Real time runs beside the clock that the test moves: a machine may be slow, but never fast."""
    page = desk.page
    panel = begin(desk, Opponent="chessnet", You_play="w", Level="easy", Clock="1800+0")
    desk.my_turn()
    expect(clock(desk, "below")).to_have_text("30:00")
    page.clock.install()
    page.clock.fast_forward("02:00")  # the first move is free
    desk.drag("e2", "e4")
    answered(desk, 2)
    expect(clock(desk, "below")).to_have_class(re.compile("runs"))
    assert seconds(desk, "below") <= 1800
    page.clock.fast_forward("05:00")
    expect(clock(desk, "below")).to_have_text(re.compile(r"^2[0-4]:"))
    desk.drag("d2", "d3")
    answered(desk, 4)
    left = seconds(desk, "below")
    assert left <= 1500
    # A reload keeps the game and its clocks, once the address has its moves.
    page.wait_for_function("() => location.hash.includes('d2d3')")
    page.reload()
    desk.ready()
    desk.my_turn()
    expect(clock(desk, "below")).to_have_text(re.compile(r"^\d+:"))
    assert seconds(desk, "below") <= left
    # What was taken back gives its time back.
    panel.get_by_role("button", name="Take back").click()
    desk.after(desk.moves.locator("button.move").nth(1).inner_text())
    expect(clock(desk, "below")).to_have_text(re.compile("^(30:00|2[5-9]:)"))
    desk.resign()
    desk.play_state("over")
    record = desk.copied("PGN")
    assert '[TimeControl "1800"]' in record
    assert '[Result "0-1"]' in record
    assert "[%clk 0:30:00.0]" in record


def test_time_runs_out_and_a_rematch_changes_colours(desk: Desk) -> None:
    page = desk.page
    panel = begin(desk, Opponent="chessnet", You_play="w", Level="easy", Clock="1800+0")
    desk.drag("e2", "e4")
    answered(desk, 2)
    panel.get_by_role("button", name="Offer draw").click()
    expect(panel.locator(".play-state")).to_contain_text("chessnet")
    expect(panel.get_by_role("button", name="Offer draw")).to_be_disabled()
    page.clock.install()
    now, shown = page.evaluate("() => [Date.now(), document.querySelector('#player-below .clock').textContent]")
    left = functools.reduce(lambda seconds, part: 60 * seconds + float(part), shown.split(":"), 0.0)
    page.clock.pause_at(now / 1000 + left - 15)
    page.clock.run_for(1000)
    expect(clock(desk, "below")).to_have_class(re.compile("low"))
    page.clock.run_for(20_000)
    desk.play_state("over")
    expect(clock(desk, "below")).to_have_text("0:00.0")
    page.clock.resume()
    expect(panel).to_contain_text("You 0 – 1 chessnet")
    assert serious(page) == []
    record = desk.copied("PGN")
    for header in ('[Result "0-1"]', '[Termination "Time forfeit"]', '[TimeControl "1800"]'):
        assert header in record
    panel.get_by_role("button", name="Rematch").click()
    desk.my_turn("b", SEARCHED)
    expect(page.locator("#board .orientation-black")).to_have_count(1)
    desk.counts(1)
    expect(clock(desk, "below")).to_have_text("30:00")
    expect(panel).to_contain_text("You 0 – 1 chessnet")
    expect(page.locator("#player-below .name")).to_have_text("You")


def test_a_move_ahead_of_its_turn(desk: Desk) -> None:
    """While the network thinks: shown, taken back with Escape, played after its move, or not where it is not legal."""
    page = desk.page
    held: list[Route] = []
    begin(desk, Opponent="chessnet", You_play="w", Level="easy")
    page.route("**/api/think", lambda route: held.append(route))
    desk.drag("e2", "e4")
    desk.play_state("thinking")
    ahead = page.locator("#board square.current-premove:visible")
    desk.drag("g1", "f3")
    expect(ahead).to_have_count(2)
    desk.keys("Escape")
    expect(ahead).to_have_count(0)
    desk.drag("d2", "d4")
    expect(ahead).to_have_count(2)
    desk.click("b1", "c3")  # another one in its place
    expect(desk.status).to_contain_text("b1–c3")
    expect(ahead).to_have_count(2)
    assert desk.pieces()["b1"] == "white knight"
    desk.keys("Escape", "/")
    expect(ahead).to_have_count(0)
    typed = page.locator(".typed input")
    typed.fill("b1c3")
    typed.press("Enter")
    expect(ahead).to_have_count(2)
    answer_with(arrived(page, held), "e7e5")
    expect(desk.moves.get_by_role("button", name="Nc3")).to_be_visible()
    expect(ahead).to_have_count(0)
    # One that cannot be played.
    desk.play_state("thinking")
    desk.drag("d2", "d4")
    expect(ahead).to_have_count(2)
    desk.drag("e4", "d5")
    expect(desk.status).to_contain_text("e4–d5")
    answer_with(arrived(page, held), "g8f6")
    desk.my_turn()
    expect(desk.status).to_contain_text("e4–d5")
    expect(ahead).to_have_count(0)
    desk.counts(4)


SETTLED = """(;GM[1]FF[4]SZ[9]KM[6.5]RU[japanese];B[ee];W[ec];B[fc];W[gc];B[fd];W[gd];B[fe];W[ge];B[ff];W[gf]
;B[fg];W[gg];B[fh];W[gh];B[fi];W[gi];B[fb];W[gb];B[fa];W[ga];B[cc];W[hc];B[];W[])"""


def test_a_game_of_go_is_counted(visit: Callable[..., Page]) -> None:
    """A white stone is caught in Black's half: the network knows it, a click says otherwise, another one again."""
    desk = Desk(visit(width=1366, height=768)).ready()
    desk.open(SETTLED)
    desk.keys("End")
    counted = desk.page.locator(".go-count")
    expect(counted).to_contain_text(re.compile(r"44\D+23\.5\D+20\.5"), timeout=SEARCHED)
    desk.page.mouse.click(*desk.point("E7"))  # alive: no point of that half is Black's alone
    expect(counted).to_contain_text(re.compile(r"White wins\D*23\.5.*E9: 42"))
    assert "RE[W+23.5]" in desk.copied("SGF")
    desk.page.mouse.click(*desk.point("E7"))
    expect(counted).to_contain_text(re.compile(r"Black wins\D*20\.5\D*$"))
    desk.keys("ArrowLeft")
    assert serious(desk.page) == []
    # A variation that ends otherwise is counted too, and the record keeps the result of the game.
    desk.keys("ArrowLeft")
    desk.after("H7", "go")
    desk.place("A1")
    for passes in (3, 4):
        desk.page.locator("#controls").get_by_role("button", name="Pass").click()
        expect(desk.moves.get_by_role("button", name="pass", exact=True)).to_have_count(passes)
    expect(counted).to_contain_text("43", timeout=SEARCHED)
    assert "RE[B+20.5]" in desk.copied("SGF")
