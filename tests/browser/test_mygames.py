"""The tab My games: a file of one's own games, the report, the mistakes as puzzles, and a network of oneself."""

from __future__ import annotations

import datetime
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Server
from support import person
from support.board_page import Desk, serious

GAMES, FEW = 22, 6
"""Games that are enough to train a network of oneself, and for a report."""
WORK = 240_000
"""Milliseconds that a process may take; its kernels may have to be compiled."""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return person.write(tmp_path_factory.mktemp("mine") / "mine.pgn", GAMES)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return person.write(tmp_path_factory.mktemp("few") / "few.pgn", FEW)


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
        self.panel.get_by_label("PGN or SGF files of your games").set_input_files(path)

    def analysed(self, path: Path) -> None:
        """Gives a file and waits for the report, by the quick look."""
        self.see("Games")
        self.upload(path)
        expect(self.panel.get_by_text(f"{path.name}: {FEW}")).to_be_visible()
        many = self.panel.get_by_role("combobox", name="Number of games")
        assert many.evaluate("each => each.offsetWidth") > 250
        self.panel.get_by_role("combobox", name="Depth").select_option("quick")
        self.panel.get_by_role("button", name="Analyze").click()
        expect(self.said).to_contain_text(f"{person.PERSON}: analyzed {FEW}", timeout=WORK)


def in_window(page: Page, *, width: int) -> None:
    """Nothing is wider than the window."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_report_mistakes_and_exercises(visit: Callable[..., Page], own: Server, mine: Path, few: Path) -> None:
    # An address with an empty board, which the file of the command line does not replace. Next to a game, with its
    # moves and its graph, the panel is lower and scrolls.
    page = visit("/#game=chess", of=own, width=1366, height=768)
    panel = Panel(page)
    expect(panel.panel.get_by_role("button", name=str(mine))).to_be_visible()
    expect(panel.panel.get_by_role("combobox", name="Number of games")).to_be_hidden()
    panel.analysed(few)
    # The report: every division there is. A quick one compares nothing with other players, and says so.
    by = panel.panel.get_by_role("combobox", name="Group by")
    expect(panel.panel.locator(".my-big")).to_have_text(re.compile(r"^\d+\.\d$"))
    # All of it is seen: there is no game on the board, but the ways in are on the first tab alone.
    expect(page.locator("#welcome")).to_be_hidden()
    assert page.locator("#panel-mygames").evaluate("each => each.scrollHeight - each.clientHeight") <= 1
    expect(panel.panel.locator(".my-report")).to_contain_text("does not compare you with other players")
    expect(panel.panel.locator(".my-report")).to_contain_text("expected score lost per move")
    expect(by.locator("option")).to_have_count(6)
    by.select_option(index=3)  # by color
    rows = panel.panel.locator(".my-parts tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_have_text(re.compile(r"White\s*\d+\.\d\s*$"))
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
    expect(panel.desk.status).to_contain_text(first.rstrip("?!"))
    expect(page.locator("#title")).to_contain_text(person.PERSON)
    assert page.locator("#board .orientation-black").count() == ("…" in first)
    # The same as exercises, one game after the other; the answer is judged.
    page.clock.set_fixed_time(datetime.datetime(2030, 1, 1, 12))
    expect(today := panel.panel.locator(".my-today")).to_have_text(re.compile(r"^Nothing is due today\. \d+ new\.$"))
    panel.panel.get_by_role("button", name="Practice my mistakes").click()
    question, verdict = page.locator(".puzzle-question"), page.locator(".puzzle-verdict")
    total = int(re.search(r"1 of (\d+)\.", _awaited(question, "1 of "))[1])  # type: ignore[index]
    assert total > 1
    expect(question).to_contain_text(re.compile(rf"{re.escape(first.rstrip('?!'))}.*Opponent"))
    page.get_by_role("button", name="solution").click()
    move = re.compile(r"\b(O-O(-O)?|[KQRBN]?[a-h1-8]{0,2}x?[a-h][1-8](=[QRBN])?)[+#]?(?=\. )")
    expect(verdict).to_contain_text("Best", timeout=WORK)
    best = move.search(verdict.inner_text() + " ")
    assert best
    page.get_by_role("button", name="Try again").click()
    page.keyboard.press("/")
    page.keyboard.type(best[0])
    page.keyboard.press("Enter")
    expect(verdict).to_have_class(re.compile("good"), timeout=WORK)
    page.get_by_role("button", name="Next", exact=True).click()
    expect(question).to_contain_text(f"2 of {total}.")
    page.get_by_role("button", name="End", exact=True).click()
    expect(question).to_be_hidden()
    # The one whose solution was shown comes back on the next day, before new ones.
    panel.desk.tab("My games")
    expect(today).to_have_text(re.compile(r"^Nothing is due today\. \d+ new\. The next position is due tomorrow\.$"))
    panel.panel.get_by_role("button", name="Practice my mistakes").click()
    expect(question).to_contain_text(f"1 of {total - 1}.")
    expect(question).not_to_contain_text(first.rstrip("?!"))
    page.get_by_role("button", name="End", exact=True).click()
    page.clock.set_fixed_time(datetime.datetime(2030, 1, 2, 0, 1))
    page.reload()
    Desk(page).ready()
    panel.desk.tab("My games")
    expect(today).to_contain_text("1 due today.")
    expect(panel.panel.locator(".chip", has_text="Mistakes").locator(".my-due")).to_have_text("1")
    assert serious(page) == []
    panel.panel.get_by_role("button", name="Practice my mistakes").click()
    expect(question).to_contain_text(re.compile(rf"1 of \d+\..*{re.escape(first.rstrip('?!'))}"))
    page.get_by_role("button", name="End", exact=True).click()
    # Also after the board was started again, without an analysis: the browser has kept what is needed.
    page.watch.allow("ERR_|status of 503")  # type: ignore[attr-defined]
    assert own.end() == 0
    own.start("runs/human-1", str(mine))
    page.reload()
    Desk(page).ready()
    panel.desk.tab("My games")
    expect(panel.panel.get_by_text("Choose your games first. The report")).to_have_count(1)
    expect(today).to_have_text("1 due today.")
    panel.panel.get_by_role("button", name="Practice my mistakes").click()
    expect(question).to_contain_text(re.compile(rf"1 of 1\..*{re.escape(first.rstrip('?!'))} \(an earlier game\)"))
    expect(page.locator("#title")).not_to_contain_text(person.PERSON)
    page.get_by_role("button", name="solution").click()
    expect(verdict).to_contain_text(f"Best move: {best[0]}.", timeout=WORK)


def _awaited(element: Any, words: str) -> str:
    expect(element).to_contain_text(words)
    text: str = element.inner_text()
    return text


def test_a_network_of_oneself_plays(
    visit: Callable[..., Page], own: Server, mine: Path, few: Path, tmp_path: Path
) -> None:
    page = visit(of=own, width=390, height=844)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    panel = Panel(page)
    # What cannot be used gets a line.
    page.watch.allow("400")  # type: ignore[attr-defined]
    panel.see("Games")
    (tmp_path / "odd.pgn").write_text("a letter to a friend")
    panel.upload(tmp_path / "odd.pgn")
    problem = panel.panel.get_by_role("alert")
    expect(problem).to_contain_text("odd.pgn")
    panel.upload(few)
    expect(panel.panel.get_by_text(f"few.pgn: {FEW}")).to_be_visible()
    expect(problem).to_be_hidden()
    panel.see("My network")
    expect(panel.panel.get_by_role("button", name=re.compile("^Train "))).to_be_disabled()
    panel.see("Games")
    panel.panel.get_by_role("button", name=str(mine)).click()
    expect(panel.panel.get_by_text(f"{mine.name}: {GAMES}")).to_be_visible()
    in_window(page, width=390)
    panel.see("My network")
    in_window(page, width=390)
    assert serious(page) == []
    panel.panel.get_by_role("button", name="Train my network").click()
    made = panel.desk.network.locator("option", has_text=re.compile("^runs/personal-ana-munoz$"))
    expect(made).to_have_count(1, timeout=WORK)
    panel.panel.get_by_role("button", name="Play against yourself").click()
    play = page.get_by_role("tabpanel", name="Play")
    panel.desk.my_turn()
    expect(play.get_by_text(re.compile("^Muñoz, Ana: .*person"))).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    panel.desk.drag("e2", "e4")
    panel.desk.counts(2, WORK)
    panel.desk.my_turn()


@pytest.fixture
def sites(human_run: Path, tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A board whose lichess is a server on this computer, with an account of thirty games."""
    from support.game_server import Game, GameServer

    lichess = GameServer("Tester-1", [Game(number) for number in range(30)])
    monkeypatch.setenv("KIBITZ_LICHESS", lichess.address)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # of games; kernels stay where they are
    shutil.copytree(human_run, tmp_path / "runs" / "human-1")
    served = Server(tmp_path)
    served.start("runs/human-1")
    served.lichess = lichess  # type: ignore[attr-defined]
    yield served
    assert served.end() == 0
    lichess.close()


def test_an_account_is_downloaded_after_a_question(visit: Callable[..., Page], sites: Server) -> None:
    lichess = sites.lichess  # type: ignore[attr-defined]
    page = visit(of=sites, width=390, height=844)
    panel = Panel(page)
    panel.see("Games")
    name, load = panel.panel.get_by_label("Account name"), panel.panel.get_by_role("button", name="Download my games")
    name.fill("Tester-1")
    load.click()
    question = panel.panel.locator(".my-question")
    expect(question).to_contain_text("127.0.0.1")
    expect(question.get_by_role("button", name="Allow")).to_be_focused()
    assert serious(page) == []
    in_window(page, width=390)
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_be_hidden()
    assert lichess.requests == [], "nothing before the permission"
    load.click()
    question.get_by_role("button", name="Allow").click()
    expect(panel.panel.get_by_text("lichess:Tester-1: 30 games, 30 new.")).to_be_visible(timeout=WORK)
    expect(panel.panel.get_by_label("Player (separate")).to_have_value("Tester-1")
    # The second time there is no question, and only the new game comes.
    lichess.games.append(type(lichess.games[0])(30, moment=int(time.time() * 1000)))
    name.fill("lichess:tester-1")
    load.click()
    expect(panel.panel.get_by_text("31 games, 1 new.")).to_be_visible(timeout=WORK)
    expect(question).to_be_hidden()
    # An unknown account is a line.
    name.fill("Nobody-9")
    load.click()
    expect(panel.panel.locator(".problem", has_text="Nobody-9")).to_be_visible(timeout=WORK)


GO_MOVES = ("ee", "gc", "ac")
"""The last move is on the edge and loses many points."""


@pytest.fixture
def go_board(tmp_path: Path, chromium: Any) -> Iterator[Server]:
    served = Server(tmp_path)
    served.start("gohuman")
    yield served
    assert served.end() == 0


def _go_file(path: Path, opponent: str, date: str, moves: int) -> Path:
    played = "".join(f";{'BW'[ply % 2]}[{point}]" for ply, point in enumerate(GO_MOVES[:moves]))
    path.write_text(f"(;GM[1]SZ[9]KM[6.5]PB[Kim]PW[{opponent}]BR[3k]WR[3k]DT[{date}]RE[W+R]{played})")
    return path


def test_a_go_player_gets_a_report_and_practices(visit: Callable[..., Page], go_board: Server, tmp_path: Path) -> None:
    page = visit(of=go_board, width=1366, height=768)
    panel = Panel.__new__(Panel)
    panel.desk, panel.page = Desk(page).ready(), page
    panel.panel = panel.desk.tab("My games")
    panel.said = panel.panel.locator(".my-progress [role=status]")
    # Several files at once; the opening trainer is for chess alone.
    openings = panel.panel.get_by_role("radio", name="Openings")
    expect(openings).to_be_visible()
    days = ("2024-01-05", "2024-05-01")
    files = [_go_file(tmp_path / f"{n}.sgf", f"Bo {n}", date, 3 - 2 * n) for n, date in enumerate(days)]
    panel.panel.get_by_label("PGN or SGF files of your games").set_input_files(files)
    expect(panel.panel.get_by_text("2.sgf: 2 games")).to_be_visible()
    expect(openings).to_be_hidden()
    expect(panel.panel.get_by_label("Player (separate")).to_have_value("Kim")
    panel.panel.get_by_role("combobox", name="Depth").select_option("thorough")
    panel.panel.get_by_role("button", name="Analyze").focus()
    page.keyboard.press("Enter")
    expect(panel.said).to_contain_text("Kim: analyzed 2 games", timeout=WORK)
    report = panel.panel.locator(".my-report")
    expect(panel.panel.locator(".my-big")).to_have_text(re.compile(r"^\d+\.\d\d$"))
    expect(report).to_contain_text("rank 3k")
    expect(report.get_by_role("heading", name="Since 2024-04-02")).to_be_visible()
    by = panel.panel.get_by_role("combobox", name="Group by")
    assert by.locator("option").all_inner_texts() == ["Phase", "Area", "Kind of move", "Color", "Result"]
    by.select_option("by_area")
    expect(report.locator(".my-parts tbody tr", has_text="in the corners")).to_be_visible()
    assert serious(page) == []
    # A mistake opens its game before the move; it can be practiced, and comes back.
    panel.see("Mistakes")
    worst = panel.panel.get_by_role("list", name="Worst mistakes").get_by_role("button")
    expect(worst.filter(has_text="Black 3 A7")).not_to_have_count(0)
    assert serious(page) == []
    worst.filter(has_text="Black 3 A7").first.click()
    expect(panel.desk.status).to_contain_text("Before Black 3 A7, which lost")
    expect(page.locator("#title")).to_contain_text("Kim")
    page.clock.set_fixed_time(datetime.datetime(2030, 1, 1, 12))
    panel.panel.get_by_role("button", name="Practice my mistakes").click()
    question, verdict = page.locator(".puzzle-question"), page.locator(".puzzle-verdict")
    expect(question).to_contain_text("against Bo", timeout=WORK)
    page.get_by_role("button", name="solution").click()
    expect(verdict).to_contain_text("Best", timeout=WORK)
    page.get_by_role("button", name="End", exact=True).click()
    page.clock.set_fixed_time(datetime.datetime(2030, 1, 2, 0, 1))
    page.reload()
    Desk(page).ready()
    panel.desk.tab("My games")
    panel.see("Mistakes")
    expect(panel.panel.locator(".my-today")).to_contain_text("1 due today.")
