"""Second opinions on the page, and mistakes that are told and taken back in a game."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from support.board_client import until
from support.board_page import SEARCHED, Desk, serious


class Asked:
    """What a fake program was asked from now on."""

    def __init__(self, notes: Path):
        self.path = notes / "asked"
        self.before = len(self.lines())

    def lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []

    def count(self, word: str) -> int:
        """How many commands begin with this word."""
        return sum(line.startswith(word) for line in self.lines()[self.before :])


def choose(desk: Desk, name: str) -> Locator:
    """Asks a program; the section where it answers."""
    section = desk.page.locator(".opinion")
    section.get_by_label("Second opinion").select_option(name)
    return section


# Teaching


LATE_NETWORKS = """
const real = window.fetch;
window.fetch = async (url, options) => {
  if (String(url).endsWith("/api/networks")) await new Promise((then) => setTimeout(then, 1000));
  return real(url, options);
};
"""
"""The page learns of the networks after all else."""


def warned(desk: Desk, opponent: str, warn: bool = True) -> Locator:
    """A game from the position that is shown, with warnings; the panel."""
    panel = desk.tab("Play")
    panel.get_by_label("Opponent", exact=True).select_option(opponent)
    panel.get_by_label("Level").select_option("custom")
    panel.get_by_label("Method").select_option("top-prob")
    warnings = panel.get_by_role("checkbox", name="Warn")
    expect(warnings).not_to_be_checked()
    if warn:
        warnings.check()
    panel.get_by_role("button", name="Play from here").click()
    return panel


def test_a_blunder_is_told_and_taken_back(desk: Desk, visit: Callable[..., Page]) -> None:
    desk.open("1. e4 e5 2. Qh5 Nc6 *")
    desk.keys("End")
    desk.after("Nc6")
    # Nothing is told unless it is asked for.
    panel = warned(desk, "chessnet", warn=False)
    advice = panel.locator(".advice")
    desk.my_turn()
    desk.drag("h5", "e5")
    desk.counts(6)
    desk.my_turn()
    expect(advice).to_be_hidden()
    panel.get_by_role("button", name="Leave").click()
    desk.moves.get_by_role("button", name="Nc6", exact=True).click()
    desk.move_menu("Qxe5+", "Delete")
    desk.counts(4)
    warned(desk, "chessnet")
    desk.my_turn()
    desk.drag("h5", "e5")
    expect(advice).to_contain_text("Qxe5+??", timeout=SEARCHED)
    expect(advice).to_contain_text("Nxe5")
    desk.counts(5)  # it has not answered
    desk.page.add_init_script(LATE_NETWORKS)
    desk.page.wait_for_function("() => location.hash.includes('h5e5')")
    desk.page.reload()  # nor after a reload, where the programs may be known before the networks
    desk.tab("Play")
    expect(advice).to_contain_text("Qxe5+??", timeout=SEARCHED)
    desk.counts(5)
    assert serious(desk.page) == []
    panel.get_by_role("button", name="Take back").click()
    desk.after("Nc6")
    expect(advice).to_be_hidden()
    desk.my_turn()
    desk.drag("h5", "e5")
    expect(advice).to_be_visible(timeout=SEARCHED)
    panel.get_by_role("button", name="Continue").click()
    desk.counts(6)
    desk.my_turn()
    panel.get_by_role("button", name="Take back").click()
    desk.after("Nc6")
    desk.drag("f1", "c4")  # no mistake: it is answered
    desk.counts(8, SEARCHED)
    desk.my_turn()
    expect(advice).to_be_hidden()
    # Of Go: Black has four columns of nine and the move that decides who gets the fifth, and wastes it in its corner.
    line = "D5.E5.D4.E4.D6.E6.D3.E3.D7.E7.D2.E2.D8.E8.D1.E1"
    desk = Desk(visit(f"/#game=go&size=9&network=gohuman&ply=16&moves={line}")).ready()
    desk.after("E1", "go")
    panel = desk.tab("Play")
    panel.get_by_label("You play").select_option("b")
    warned(desk, "gohuman")
    advice = panel.locator(".advice")
    desk.my_turn("b")
    desk.place("A1")
    expect(advice).to_have_text(re.compile(r"^A1\?{1,2} .*\b\d+(\.\d)? points"), timeout=SEARCHED)
    desk.counts(17)  # it has not answered
    assert desk.stones() == {"black": 9, "white": 8}
    assert serious(desk.page) == []
    panel.get_by_role("button", name="Take back").click()
    desk.after("E1", "go")
    expect(advice).to_be_hidden()
    desk.my_turn("b")
    desk.place("A1")
    expect(advice).to_be_visible(timeout=SEARCHED)
    panel.get_by_role("button", name="Continue").click()
    desk.counts(18)
    desk.my_turn("b")
    panel.get_by_role("button", name="Take back").click()
    desk.after("E1", "go")
    desk.page.mouse.click(*desk.point("H5"))  # no mistake: it is answered
    desk.counts(20, SEARCHED)  # beside the two that were taken back
    desk.my_turn("b")
    expect(advice).to_be_hidden()


def test_programs_and_candidates_have_values_and_lines(desk: Desk, engines: dict[str, Path]) -> None:
    """A second opinion follows the board and stops. Candidates have chances and lines, of Go points and visits."""
    asked = Asked(engines["fish"])
    section = choose(desk, "fish")
    rows = section.get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(re.compile(r"53%\s*\+0\.30\s*e4\s*e5"))
    expect(rows.nth(1)).to_contain_text("−0.20")
    # A line that is too long ends with "…", which browsers draw in blocks only.
    expect(rows.first.locator(".opinion-moves")).to_have_css("text-overflow", "ellipsis")
    expect(rows.first.locator(".opinion-moves")).to_have_css("display", "block")
    expect(section).to_contain_text(re.compile("Fake Fish.*1,200"))
    until(lambda: asked.count("go") == 1)
    desk.tab("Play")
    until(lambda: asked.count("stop") == 1)
    desk.tab("Analysis")
    expect(rows).to_have_count(2)
    desk.keys("h")
    expect(section).to_be_hidden()
    until(lambda: asked.count("stop") == 2)
    desk.keys("h")
    expect(rows).to_have_count(2)
    rows.nth(1).get_by_role("button", name="d5").click()
    desk.after("d5")
    expect(desk.moves.locator("button.move")).to_have_text(["d4", "d5"])
    until(lambda: asked.count("position startpos moves d2d4 d7d5") == 1)
    section.get_by_label("Second opinion").select_option("")
    expect(rows).to_have_count(0)
    assert asked.count("ucinewgame") <= 1  # one process answers all
    desk.choose("chessnet")
    desk.open("1. f3 e5 2. g4 *")
    desk.keys("End")
    bars = desk.page.get_by_role("tabpanel", name="Analysis").locator(".move-bars").first
    mate = bars.get_by_role("button", name=re.compile("^Qh4#"))
    expect(mate.locator(".value")).to_have_text("#−1", timeout=SEARCHED)
    expect(bars.locator(".value").first).to_have_text(re.compile(r"^(\d+%|#−1|–)$"))
    assert serious(desk.page) == []
    mate.click()
    desk.after("Qh4#")
    desk.open("1. e4 e5 2. Nf3 *")
    desk.keys("End")
    likely = bars.get_by_role("button", name=re.compile("^Nc6"))
    expect(likely.locator(".value")).to_have_text(re.compile(r"^\d+%$"), timeout=SEARCHED)
    expect(likely.locator(".continued")).not_to_be_empty(timeout=SEARCHED)
    # A small board has the position after a move of the line, for the pointer and for the focus; nothing moves for it.
    small = desk.page.locator(".line-preview")
    after = likely.locator("[data-line]").first
    expect(small).to_be_hidden()
    boxes = [desk.page.locator(part).bounding_box() for part in ("#board", "#moves", "#side")]
    after.hover()
    expect(small.locator("[data-after]")).to_have_attribute("data-after", after.inner_text())
    assert boxes == [desk.page.locator(part).bounding_box() for part in ("#board", "#moves", "#side")]
    desk.page.keyboard.press("Escape")
    expect(small).to_be_hidden()
    desk.page.mouse.move(5, 5)
    desk.page.keyboard.press("Tab")  # the keys are in use, so that the focus is visible
    likely.focus()
    last = likely.locator("[data-line]").last
    expect(small.locator("[data-after]")).to_have_attribute("data-after", last.inner_text())
    expect(likely).to_have_attribute("aria-describedby", str(small.get_attribute("id")))
    likely.blur()
    expect(small).to_be_hidden()
    desk.open("(;GM[1]SZ[9];B[ee])")
    desk.choose("gohuman")
    expect(bars.locator(".continued").first).to_have_text(re.compile(r"^[BW]\+\d+\.\d · \d+ visits?"), timeout=SEARCHED)
    expect(bars.locator(".value").first).to_have_text(re.compile(r"^\d+%$"))
    after = bars.locator("[data-line]").first
    after.hover()
    expect(small.locator("[data-after]")).to_have_attribute("data-after", after.inner_text())
    desk.page.mouse.move(5, 5)
    expect(small).to_be_hidden()
    # Bar, number and graph believe the search. A queen hangs: chessnet alone sees nearly nothing.
    desk.choose("chessnet")
    desk.opened("1. e4 d5 2. exd5 Qxd5 3. Nc3 a6 *", 6)
    desk.keys("End")
    desk.judged(6)
    expect(desk.chance).to_have_attribute("aria-valuenow", re.compile("^(9[0-9]|100)$"))
    now = desk.chance.get_attribute("aria-valuenow")
    expect(desk.page.locator(".chance strong").first).to_have_text(f"{now}%")
    alone = desk.page.evaluate(
        """async (moves) => {
            const body = JSON.stringify({ network: "chessnet", line: { game: "chess", moves }, from: 6 });
            const headers = { "Content-Type": "application/json" };
            const lines = await (await fetch("/api/analyse", { method: "POST", headers, body })).text();
            return JSON.parse(lines.split("\\n")[1]).white;
        }""",
        ["e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "a7a6"],
    )
    assert alone < 0.9, "else this shows nothing"
