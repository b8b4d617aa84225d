"""What goes wrong in real life: tabs, reloads, a server that goes away, games that are huge or meant to harm."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from support.board_page import Desk
from support.browser_games import random_game

HARM = """<img src=x onerror="window.harmed=1"><script>window.harmed=1</script><b id=harmed>bold</b>"""


@pytest.fixture
def desk(page: Page) -> Desk:
    return Desk(page).ready()


def test_two_tabs_do_not_disturb_each_other(visit: Callable[..., Page]) -> None:
    """One network, two games: both are analysed to the end."""
    first = Desk(visit()).ready()
    page = first.page.context.new_page()
    page.goto("/")
    second = Desk(page).ready()
    first.open(random_game(120, seed=3))
    second.open(random_game(100, seed=4))
    second.analysed(100)
    first.analysed(120)
    for desk in (first, second):  # of the start; as soon as moves are judged, what the search says
        expect(desk.chance).to_have_attribute("aria-valuetext", re.compile(r"White [45]\d%"))
    first.keys("ArrowRight")
    second.after("")


def test_a_reload_in_the_middle_of_an_analysis(desk: Desk) -> None:
    desk.choose("convchess")
    desk.open(random_game(200, seed=5))
    desk.keys("ArrowRight", "ArrowRight")
    expect(desk.page).to_have_url(re.compile("moves=.*ply=2"))
    desk.page.reload()
    desk.ready()
    expect(desk.network).to_have_value("convchess")
    expect(desk.board()).to_have_attribute("aria-label", re.compile("after"))
    desk.choose("winner")
    desk.analysed(200)


def test_a_server_that_is_killed_and_comes_back(chromium: Browser, own_server, open_at) -> None:  # type: ignore[no-untyped-def]
    page, watch = open_at(own_server)
    watch.allow("ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE")
    desk = Desk(page).ready()
    desk.drag("e2", "e4")
    desk.after("e4")
    own_server.end(signal.SIGKILL)
    desk.drag("e7", "e5")
    expect(desk.status).to_contain_text("does not answer")
    desk.after("e4")  # the move has gone back
    desk.keys("Home", "End")
    desk.after("e4")  # what is there can still be looked at
    own_server.start()
    expect(desk.status).to_contain_text("answers again")
    desk.drag("e7", "e5")
    desk.after("e5")
    desk.analysed(2)


def test_a_game_of_2000_moves(desk: Desk) -> None:
    """A long ko-less dance: stones fill the board, are taken, and it goes on."""
    moves = []
    for i in range(1000):
        moves += [f";B[{'abcdefgh'[i % 8]}{'abcdefghi'[i // 8 % 9]}]", ";W[]"] if i % 72 < 64 else [";B[]", ";W[]"]
    # Only passes are always legal: points are played while they are empty, then both pass.
    seen: set[str] = set()
    text = "".join(m if m.endswith("[]") or not (m in seen or seen.add(m)) else m[:2] + "[]" for m in moves)
    desk.open(f"(;GM[1]SZ[9]KM[7]PB[Long]PW[Game]{text})")
    expect(desk.moves.locator("button.move")).to_have_count(2000)
    desk.keys("End")
    expect(desk.moves.locator("[aria-current]")).to_be_in_viewport()
    desk.keys("ArrowLeft", "ArrowLeft", "Home", "ArrowRight")
    desk.after("A9", "go")
    expect(desk.chance).to_have_attribute("aria-valuetext", re.compile(r"Black \d+%"))


def test_markup_in_a_record_is_text(desk: Desk) -> None:
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
    for what in ("Game as PGN", "Address of this position"):
        desk.copied(what)
    escaped = HARM.replace("]", r"\]").replace("[", r"\[")
    desk.open(f"(;GM[1]SZ[9]PB[{escaped}]PW[{escaped}]C[{escaped}];B[ee]C[{escaped}](;W[ec])(;W[gg]C[{escaped}]))")
    desk.keys("End")
    desk.after("E7", "go")
    expect(desk.moves.locator(".comment").first).to_contain_text("<script>")
    assert not harmed(desk.page)


def harmed(page: Page) -> bool:
    return bool(
        page.evaluate("window.harmed || document.querySelector('#harmed, img, body script:not([type=module])')")
    )


def test_what_is_no_game_is_said_where_it_was_pasted(desk: Desk) -> None:
    desk.page.watch.allow("400")  # type: ignore[attr-defined]
    page = desk.page
    page.get_by_role("button", name="Open", exact=True).click()
    dialog = page.get_by_role("dialog", name="Open a game")
    for text in ("", "no game at all", "(;GM[1]SZ[7];B[aa])", "8/8/8/8 w - - 0 1", f"<b>{HARM}</b>"):
        dialog.get_by_role("textbox").fill(text)
        dialog.get_by_role("button", name="Open", exact=True).click()
        expect(dialog.get_by_role("alert")).not_to_be_empty()
    assert not harmed(page)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    desk.drag("e2", "e4")
    desk.after("e4")


def test_dropped_and_pasted_files(desk: Desk) -> None:
    desk.page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], "game.pgn"));
            document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        "1. d4 d5 2. c4 *",
    )
    expect(desk.moves.locator("button.move")).to_have_count(3)
    desk.page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            document.body.dispatchEvent(event);
        }""",
        "1. Nf3 *",
    )
    expect(desk.moves.locator("button.move")).to_have_count(1)
