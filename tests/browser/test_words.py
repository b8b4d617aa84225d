"""The words of the page: languages are whole, one chooses among them, and no module has words of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from support.board_page import Desk, serious

SOURCES = Path(__file__).parents[2] / "frontend" / "src"

SENTENCE = re.compile(r"""["`][A-Z][a-z’]+(?: [A-Za-z0-9’,]+)+[^"`]*["`]""")
"""A literal that begins with a capital letter and has a blank."""

WORDS = re.compile(r"""el\("[a-z]+\d?", \{[^{}]*\}, "([A-Za-z][a-z]+)"[,)]""")
"""Words that an element is given."""

NAMES = {"kibitz", "FEN"}

OF_RECORDS = {'"Time forfeit"'}
"""Values of PGN's tags, which are English everywhere."""


def keys(language: str) -> dict[str, list[str]]:
    """section.key → what the page puts into it, in the order of the words."""
    path = SOURCES / "texts" / f"{language}.ts"
    if not path.is_file():
        pytest.skip("the source tree is not here")
    found: dict[str, list[str]] = {}
    section = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if begun := re.match(r"  (\w+): \{", line):
            section = begun[1]
        elif entry := re.match(r"    (\w+)(?:,|: (.*))", line):
            parameters = re.match(r"\(([^)]*)\) =>", entry[2] or "")
            names = re.sub(r":[^,]*", "", parameters[1]).split(", ") if parameters else []
            found[f"{section}.{entry[1]}"] = names
    return found


def test_every_language_has_every_word_and_is_given_the_same() -> None:
    english = keys("en")
    assert len(english) > 500
    others = sorted(path.stem for path in (SOURCES / "texts").glob("??.ts") if path.stem != "en")
    assert "de" in others
    for other in others:
        assert {key: len(names) for key, names in keys(other).items()} == {
            key: len(names) for key, names in english.items()
        }, other


def test_modules_have_no_sentences_of_their_own() -> None:
    own = []
    for path in sorted(SOURCES.glob("*.ts")):
        if path.name == "examples.ts":
            continue
        code = re.sub(r"/\*.*?\*/|^\s*//.*$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        own += [f"{path.name}: {each}" for each in SENTENCE.findall(code) if each not in OF_RECORDS]
        own += [f"{path.name}: {each}" for each in WORDS.findall(code) if each not in NAMES]
    assert not own


def test_the_browsers_language_is_taken_and_another_can_be_chosen(visit: Callable[..., Page]) -> None:
    page = visit()
    Desk(page).ready()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("combobox", name="Language").select_option(label="Deutsch")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("tab")).to_have_text(
        ["Analyse", "Vergleich", "Partien", "Spielen", "Aufgaben", "Meine", "Training"]
    )
    desk = Desk(page)
    expect(page.get_by_role("combobox", name="Netz", exact=True)).to_be_enabled()
    desk.click("e2", "e4")
    expect(desk.board()).to_have_attribute("aria-label", "Schachbrett. Schwarz am Zug, nach e4.")
    expect(page.locator(".chance .whose")).to_have_text("Erwartung für Weiß")
    page.get_by_role("tab", name="Spielen").click()
    expect(page.get_by_role("tabpanel", name="Spielen")).to_contain_text("Spielt wie jemand mit 1400")
    assert serious(page) == []
    page.reload()
    expect(page.get_by_role("tab", name="Spielen")).to_have_attribute("aria-selected", "true")
    expect(desk.board()).to_have_attribute("aria-label", "Schachbrett. Schwarz am Zug, nach e4.")
    page.get_by_role("button", name="Einstellungen").click()
    page.get_by_role("combobox", name="Sprache").select_option(label="English")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(desk.board()).to_have_attribute("aria-label", "Chess board. Black to move, after e4.")


def test_a_german_browser_gets_german(visit: Callable[..., Page]) -> None:
    page = visit(locale="de-AT")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("button", name="Beispiel ansehen")).to_be_visible()
    page.get_by_role("button", name="Hilfe: Tasten").click()
    expect(page.get_by_role("dialog", name="Tasten")).to_contain_text("Leertaste")
    assert serious(page) == []
    page.keyboard.press("Escape")
    # What the server refuses, and what it found wrong.
    page.watch.allow("400")  # type: ignore[attr-defined]
    page.keyboard.press("o")
    dialog = page.get_by_role("dialog", name="Eine Partie öffnen")
    for text, words in (
        ("ein Brief an einen Freund", "in diesem Text ist keine Partie"),
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "kann man nicht spielen: Schwarz hat keinen König"),
    ):
        dialog.get_by_role("textbox").fill(text)
        page.keyboard.press("Control+Enter")
        expect(dialog.get_by_role("alert")).to_contain_text(words)
    dialog.get_by_role("textbox").fill("1. e4 e5 2. Qe5 *")
    page.keyboard.press("Control+Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator("#status")).to_contain_text("„Qe5“")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1024, 768), (390, 844)])
@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
def test_the_tabs_stand_in_one_row(visit: Callable[..., Page], width: int, height: int, locale: str) -> None:
    page = visit(width=width, height=height, locale=locale)
    expect(page.get_by_role("tab")).to_have_count(7)
    # All at once: what comes above them, as the page begins, moves them.
    boxes = page.get_by_role("tab").evaluate_all(
        "(tabs) => tabs.map((tab) => tab.getBoundingClientRect()).map((box) => [box.y, box.width])"
    )
    assert len({y for y, _ in boxes}) == 1
    assert all(width > 20 for _, width in boxes)


def test_the_page_is_small(visit: Callable[..., Page]) -> None:
    """What is asked for before anything is chosen: without the answers of networks, and uncompressed."""
    page = visit()
    Desk(page).ready()
    expect(page.get_by_role("tab")).to_have_count(7)
    bytes_of = page.evaluate(
        """() => [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")]
            .filter((each) => !each.name.includes("/api/")).map((each) => each.decodedBodySize)"""
    )
    assert 100_000 < sum(bytes_of) <= 400_000
