"""What goes wrong in real life: tabs, reloads, a server that goes away, games that are huge or meant to harm."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, expect

from kibitz import cli
from support.board_page import SEARCHED, Desk, arrived, wait_for
from support.browser_games import random_game

HARM = """<img src=x onerror="window.harmed=1"><script>window.harmed=1</script><b id=harmed>bold</b>"""


def test_tabs_and_reloads_do_not_disturb_each_other(visit: Callable[..., Page]) -> None:
    """Two games are analyzed to the end, one of them begun again in the middle."""
    first = Desk(visit()).ready()
    page = first.page.context.new_page()
    page.goto("/")
    second = Desk(page).ready()
    first.open(random_game(20, seed=3))
    second.choose("convchess")
    second.open(random_game(16, seed=4))
    second.keys("ArrowRight", "ArrowRight")
    expect(page).to_have_url(re.compile("moves=.*ply=2"))
    page.reload()
    second.ready()
    expect(second.network).to_have_value("convchess")
    expect(second.board()).not_to_have_attribute("data-after", "")
    second.choose("winner")
    second.analysed(16)
    first.analysed(20)
    expect(first.chance).to_have_attribute("aria-valuetext", re.compile(r"White [45]\d%"))  # of the start
    first.keys("ArrowRight")
    expect(first.board()).not_to_have_attribute("data-after", "")
    second.keys("Home")
    second.after("")
    # A reload keeps the tab of the page however early it comes.
    page = visit("about:blank")
    page.route("**/api/networks", lambda route: None)
    page.goto("/#game=go&size=9&network=gohuman&ply=1&moves=E5.C3")
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
    desk.after("E5", "go")
    expect(page).to_have_url(re.compile("network=gohuman.*moves=E5.C3|moves=E5.C3.*network=gohuman"))


def games_reached(desk: Desk, count: int) -> None:
    """Waits until the explorer shows how many games of the store reached the position."""
    counted = re.compile(rf"^{count} games?\b")
    expect(desk.page.locator(".explorer [role=status]")).to_have_text(counted, timeout=SEARCHED)


def test_a_server_of_a_growing_store_is_killed_and_comes_back(
    visit: Callable[..., Page], serve: Callable[..., Any], tmp_path: Path
) -> None:
    store = tmp_path / "growing.store"
    for number, moves in enumerate(("1. e4 e5 2. Nf3 Nc6", "1. e4 c5 2. Nf3 d6", "1. e4 e5 2. Nc3 Nf6")):
        (tmp_path / f"{number}.pgn").write_text(f'[Event "?"]\n[Result "1-0"]\n\n{moves} 1-0\n')
    begun = ["import", str(tmp_path / "0.pgn"), "--into", str(store)]
    assert cli.run(begun) == 0
    own = serve(str(store))
    page = visit(of=own)
    # The error message of a closed connection depends on the moment at which it closes.
    page.watch.allow("net::ERR_")  # type: ignore[attr-defined]
    desk = Desk(page).ready()
    desk.tab("Explorer")
    games_reached(desk, 1)
    page.locator(".played tbody tr").first.get_by_role("button").first.click()
    desk.after("e4")
    # Games that are added meanwhile count.
    assert cli.run([*begun[:1], str(tmp_path / "1.pgn"), str(tmp_path / "2.pgn"), *begun[2:], "--append"]) == 0
    desk.keys("Control+z")
    games_reached(desk, 3)
    desk.tab("Analysis")
    desk.drag("e2", "e4")
    desk.after("e4")
    own.end(signal.SIGKILL)
    desk.drag("e7", "e5")
    expect(desk.status).to_have_class(re.compile("lost"))
    desk.after("e4")  # the move has gone back
    desk.keys("Home")
    desk.after("")
    desk.keys("End")
    desk.after("e4")  # what is there can still be looked at
    own.start(str(store))
    expect(desk.status).not_to_have_class(re.compile("lost"))
    desk.drag("e7", "e5")
    desk.after("e5")
    desk.analysed(2)


def test_long_games_of_go(visit: Callable[..., Page]) -> None:
    """The example, though the server takes its time; then 2,000 moves, most of them passes. No move is searched."""
    page = visit("about:blank")
    page.route("**/api/judge*", lambda route: None)
    page.goto("/#game=go&network=gohuman")
    asked: list[Route] = []
    page.route("**/api/load", lambda route: asked.append(route))
    page.get_by_role("button", name="example").click()
    held = arrived(page, asked)
    expect(page.locator("#status")).not_to_be_empty()
    held.continue_()
    page.unroute("**/api/load")
    expect(page.locator("#title")).to_contain_text("GNU Go")
    expect(page.locator("#title .problems")).to_be_hidden()
    desk = Desk(page).ready()
    desk.counts(210)
    moves = []
    for i in range(1000):
        moves += [f";B[{'abcdefgh'[i % 8]}{'abcdefghi'[i // 8 % 9]}]", ";W[]"] if i % 72 < 64 else [";B[]", ";W[]"]
    # Only passes are always legal: points are played while they are empty, then both pass.
    seen: set[str] = set()
    text = "".join(m if m.endswith("[]") or not (m in seen or seen.add(m)) else m[:2] + "[]" for m in moves)
    desk.open(f"(;GM[1]SZ[9]KM[7]PB[Long]PW[Game]{text})")
    desk.counts(2000)
    desk.keys("End")
    expect(desk.moves.locator("[aria-current]")).to_be_in_viewport()
    desk.keys("ArrowLeft", "ArrowLeft", "Home", "ArrowRight")
    desk.after("A9", "go")
    expect(desk.chance).to_have_attribute("aria-valuetext", re.compile(r"Black \d+%"))


def harmed(page: Page) -> bool:
    return bool(
        page.evaluate("window.harmed || document.querySelector('#harmed, img, body script:not([type=module])')")
    )


def test_games_come_in_every_way_and_their_markup_is_text(desk: Desk) -> None:
    """Dropped, pasted, into the dialog and into the box for moves; what is no game gets a line where it was given."""
    quoted = HARM.replace('"', r"\"")
    desk.opened(
        f'[Event "{quoted}"]\n[White "{quoted}"]\n[Black "{quoted}"]\n[Site "{quoted}"]\n\n'
        f"{{{HARM}}} 1. e4 {{{HARM}}} (1. d4 {{{HARM}}} d5) e5 {{{HARM}}} 2. Nf3 *\n\n"
        f'[Event "two"]\n[White "{quoted}"]\n[Black "Bo"]\n\n1. d4 *\n',
        3,
    )
    expect(desk.page.locator("#title h2")).to_contain_text("<img src=x")
    expect(desk.moves.locator(".comment").first).to_contain_text("<script>")
    for panel in ("Compare", "Play", "Puzzles", "Training", "Analysis"):
        desk.tab(panel)
    desk.keys("End", "Home", "ArrowRight", "ArrowDown")
    assert not harmed(desk.page)
    for what in ("PGN", "Link"):
        assert desk.copied(what)
    escaped = HARM.replace("]", r"\]").replace("[", r"\[")
    desk.open(f"(;GM[1]SZ[9]PB[{escaped}]PW[{escaped}]C[{escaped}];B[ee]C[{escaped}](;W[ec])(;W[gg]C[{escaped}]))")
    desk.keys("End")
    desk.after("E7", "go")
    expect(desk.moves.locator(".comment").first).to_contain_text("<script>")
    assert not harmed(desk.page)
    page = desk.page
    page.watch.allow("400")  # type: ignore[attr-defined]
    page.get_by_role("button", name="Open", exact=True).click()
    dialog = page.get_by_role("dialog", name="Open")
    for text in ("", "no game at all", "(;GM[1]SZ[7];B[aa])", "8/8/8/8 w - - 0 1", f"<b>{HARM}</b>"):
        dialog.get_by_role("textbox").fill(text)
        dialog.get_by_role("button", name="Open", exact=True).click()
        expect(dialog.get_by_role("alert")).not_to_be_empty()
    assert not harmed(page)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    desk.drop("1. d4 d5 2. c4 *")
    desk.counts(3)
    desk.paste("1. Nf3 *")
    desk.counts(1)
    desk.paste("no game at all")
    expect(desk.status).to_have_class(re.compile("problem"))
    assert desk.status.evaluate("each => getComputedStyle(each).whiteSpace") == "normal"
    desk.counts(1)
    box = page.locator(".typed input")
    for typed, moves in (("e4", 1), ("1. d4 d5 2. c4 *", 3)):
        box.click()
        page.evaluate("(text) => navigator.clipboard.writeText(text)", typed)
        wait_for(page, "async (text) => (await navigator.clipboard.readText()) === text", typed)
        desk.keys("ControlOrMeta+v")
        desk.counts(moves)
        expect(box).to_have_value("e4")  # a move stays there
    expect(box).not_to_be_focused()
    # A click on the board gives the keys back to the page.
    box.click()
    desk.click("e5")
    expect(box).not_to_be_focused()
    desk.keys("End")
    desk.after("c4")
