"""The tab My games: a file of one's own games, the report, the mistakes as puzzles, and a network of oneself."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Server
from support import person
from support.board_page import Desk, serious

GAMES = 22
WORK = 240_000
"""Milliseconds that a process may take; its kernels may have to be compiled."""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return person.write(tmp_path_factory.mktemp("mine") / "mine.pgn", GAMES)


@pytest.fixture(scope="module")
def own(human_run: Path, mine: Path, chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A board with a small network that knows ratings, and a file of games."""
    folder = tmp_path_factory.mktemp("own")
    shutil.copytree(human_run, folder / "runs" / "human-1")
    served = Server(folder)
    served.start("runs/human-1", str(mine))
    yield served
    assert served.end() == 0


class Panel:
    """The tab, as a person uses it."""

    def __init__(self, page: Page):
        self.desk = Desk(page).ready()
        self.desk.choose("runs/human-1")
        self.page = page
        self.panel = self.desk.tab("My games")
        self.said = self.panel.locator(".my-progress [role=status]")

    def see(self, view: str) -> None:
        self.panel.get_by_role("radio", name=view, exact=True).check()

    def upload(self, path: Path) -> None:
        self.panel.get_by_label("PGN file of your games").set_input_files(path)

    def analysed(self, path: Path) -> None:
        """Gives a file and waits for the report, by the quick look."""
        self.see("Games")
        self.upload(path)
        expect(self.panel.get_by_text(f"{path.name}: {GAMES} games.")).to_be_visible()
        many = self.panel.get_by_role("combobox", name="How many")
        assert many.evaluate("each => each.offsetWidth") > 250
        self.panel.get_by_role("combobox", name="How carefully").select_option("quick")
        self.panel.get_by_role("button", name="Analyse my games").click()
        expect(self.said).to_have_text(f"{person.PERSON}: {GAMES} games analysed by a quick look.", timeout=WORK)


def in_window(page: Page, *, width: int) -> None:
    """Nothing is wider than the window."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_report_mistakes_and_exercises(visit: Callable[..., Page], own: Server, mine: Path) -> None:
    page = visit(of=own, width=1366, height=768)
    panel = Panel(page)
    expect(panel.panel.get_by_role("button", name=str(mine))).to_be_visible()
    expect(panel.panel.get_by_role("combobox", name="How many")).to_be_hidden()
    panel.analysed(mine)
    # The report: every division there is, with what is usual beside it.
    by = panel.panel.get_by_role("combobox", name="Points lost by")
    expect(panel.panel.locator(".my-big")).to_have_text(re.compile(r"^\d+\.\d$"))
    # All of it is seen: there is no game on the board, but the ways in are on the first tab alone.
    expect(page.locator("#welcome")).to_be_hidden()
    assert page.locator("#panel-mygames").evaluate("each => each.scrollHeight - each.clientHeight") <= 1
    expect(panel.panel.locator(".my-report")).to_contain_text("Players of the same rating lose")
    names = by.locator("option").all_inner_texts()
    assert names == ["Phase", "Piece", "Time left", "Colour", "Result", "Opening"]
    by.select_option("Colour")
    rows = panel.panel.locator(".my-parts tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_have_text(re.compile(r"as White\s*\d+\.\d\s*\d+\.\d\s*[+−]?\d+\.\d"))
    assert rows.last.evaluate("each => each.getBoundingClientRect().bottom") <= 768
    assert serious(page) == []
    # It is still there after a reload, and for who comes later.
    page.reload()
    Desk(page).ready()
    expect(page.get_by_role("tab", name="My games")).to_have_attribute("aria-selected", "true")
    expect(panel.panel.locator(".my-big")).to_be_visible()
    # A mistake opens its game before the move.
    panel.see("Mistakes")
    assert serious(page) == []
    worst = panel.panel.get_by_role("list", name="Worst mistakes").get_by_role("button")
    first = worst.first.locator(".puzzle-move").inner_text()
    worst.first.click()
    expect(panel.desk.status).to_contain_text(f"Before {first.rstrip('?!')}, which lost")
    expect(page.locator("#title")).to_contain_text(person.PERSON)
    assert page.locator("#board .orientation-black").count() == ("…" in first)
    # The same as exercises, one game after the other; the answer is judged.
    panel.panel.get_by_role("button", name="Practise my mistakes").click()
    question, verdict = page.locator(".puzzle-question"), page.locator(".puzzle-verdict")
    total = int(re.search(r"1 of (\d+)\.", _awaited(question, "1 of "))[1])  # type: ignore[index]
    assert total > 1
    expect(question).to_contain_text(f"{first.rstrip('?!')} was played against Opponent")
    page.get_by_role("button", name="Show the answer").click()
    expect(verdict).to_have_text(re.compile(r"The best move is .+\."), timeout=WORK)
    best = re.match(r"The best move is (\S+?)\. ", verdict.inner_text() + " ")
    assert best
    page.get_by_role("button", name="Try again").click()
    page.keyboard.press("/")
    page.keyboard.type(best[1])
    page.keyboard.press("Enter")
    expect(verdict).to_have_text(f"{best[1]} is good: nothing is lost.", timeout=WORK)
    page.get_by_role("button", name="Next").click()
    expect(question).to_contain_text(f"2 of {total}.")
    page.get_by_role("button", name="End", exact=True).click()
    expect(question).to_be_hidden()


def _awaited(element: Any, words: str) -> str:
    expect(element).to_contain_text(words)
    text: str = element.inner_text()
    return text


def test_a_network_of_oneself_plays(visit: Callable[..., Page], own: Server, mine: Path) -> None:
    page = visit(of=own, width=390, height=844)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    panel = Panel(page)
    panel.panel.get_by_role("button", name=str(mine)).click()
    expect(panel.panel.get_by_text(f": {GAMES} games.")).to_be_visible()
    in_window(page, width=390)
    panel.see("My network")
    expect(panel.panel).to_contain_text("20 games are the least, a few hundred are good.")
    in_window(page, width=390)
    assert serious(page) == []
    panel.panel.get_by_role("button", name="Train a network on my games").click()
    # On a fast machine a training may begin and end between two looks at it.
    expect(panel.panel).to_contain_text(re.compile(r"Training [123] of two or three: \d+%|is ready"), timeout=WORK)
    expect(panel.panel.get_by_text("runs/personal-ana-munoz is ready")).to_be_visible(timeout=WORK)
    expect(panel.desk.network.locator("option", has_text="runs/personal-ana-munoz")).to_have_count(1)
    panel.panel.get_by_role("button", name="Play against yourself").click()
    play = page.get_by_role("tabpanel", name="Play")
    expect(play.locator(".play-state")).to_have_text("Your move. You play White.")
    expect(play.get_by_text("runs/personal-ana-munoz: plays like the person")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    panel.desk.drag("e2", "e4")
    expect(panel.desk.moves.get_by_role("button")).to_have_count(2, timeout=WORK)
    expect(play.locator(".play-state")).to_have_text("Your move. You play White.")


def test_what_cannot_be_used_gets_a_line(visit: Callable[..., Page], own: Server, tmp_path: Path) -> None:
    page = visit(of=own)
    page.watch.allow("400")  # type: ignore[attr-defined]
    panel = Panel(page)
    panel.see("Games")
    problem = panel.panel.get_by_role("alert")
    for text, words in (
        ("", "odd.pgn: the file is empty"),
        ("a letter to a friend", "odd.pgn: no game in it; is it a PGN file?"),
        (
            '[White "A"]\n[Variant "Atomic"]\n\n1. e4 *\n',
            "odd.pgn: no game of standard chess in it, only of variants (1)",
        ),
    ):
        (tmp_path / "odd.pgn").write_text(text)
        panel.upload(tmp_path / "odd.pgn")
        expect(problem).to_contain_text(words)
    few = person.write(tmp_path / "few.pgn", 5)
    panel.upload(few)
    expect(panel.panel.get_by_text("few.pgn: 5 games.")).to_be_visible()
    expect(problem).to_be_hidden()
    panel.panel.get_by_role("combobox", name=re.compile("Whose games")).fill("bob")
    panel.panel.get_by_role("button", name="Analyse my games").click()
    expect(problem).to_contain_text("bob: no game of that name in few.pgn")
    panel.panel.get_by_role("combobox", name=re.compile("Whose games")).fill("Muñoz, Ana")
    panel.see("My network")
    expect(panel.panel).to_contain_text("There are 5 games of yours here: too few to learn from.")
    expect(panel.panel.get_by_role("button", name=re.compile("^Train "))).to_be_disabled()
