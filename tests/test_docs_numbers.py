"""The numbers of the documentation: tables follow from the model cards, and pages that name the same number agree."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

import pytest

from kibitz.runs import WEIGHTS, packaged

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "tools"))

import docs_tables  # noqa: E402

HISTORY = DOCS / "results" / "history"
PAGES = [ROOT / "README.md", *(page for page in sorted(DOCS.rglob("*.md")) if HISTORY not in page.parents)]
NETWORKS = ("winner", "convchess", "chessnet", "human", "personal", "deepchess", "gocnn", "gohuman", "search")
_TWO = re.compile(r"\d%? (and|±|→) ?\d|\d ±\d|\d, \d+, \d|\d%? \(\d+\.?\d* to ")
"""Two numbers in one cell."""
_MARK = re.compile(r"([^\s|(]+(?: of \d+)?)<!--([\w.-]+)-->")


def marks(text: str) -> list[tuple[str, str]]:
    """The marked numbers of a page: (name, number), such as ("winner.masters", "67.3%")."""
    return [(name, number.strip("*")) for number, name in _MARK.findall(text)]


def test_the_tables_of_the_pages_are_current() -> None:
    old = [page for page in PAGES if docs_tables.filled(page.read_text(encoding="utf-8")) != page.read_text("utf-8")]
    assert not old, "run: python tools/docs_tables.py"


def test_a_table_with_another_number_is_noticed() -> None:
    page = (DOCS / "results" / "winner.md").read_text(encoding="utf-8")
    changed = page.replace("| accuracy | 67.3% |", "| accuracy | 67.0% |")
    assert changed != page
    assert docs_tables.filled(changed) == page


@pytest.mark.parametrize("name", [*NETWORKS, "strength"])
def test_every_table_of_a_results_page_is_generated(name: str) -> None:
    text = (DOCS / "results" / f"{name}.md").read_text(encoding="utf-8")
    rest = docs_tables._BLOCK.sub("", text)
    assert "\n|" in text
    assert not [line for line in rest.splitlines() if line.startswith("|")]


def test_every_stored_table_is_on_its_page_once() -> None:
    known = json.loads(docs_tables.TABLES.read_text(encoding="utf-8"))
    for page, tables in known.items():
        text = (DOCS / "results" / f"{page}.md").read_text(encoding="utf-8")
        for name, stored in tables.items():
            assert text.count(f"<!-- table: stored {page} {name} -->") == 1
            assert {len(row) for row in stored["rows"]} == {len(stored["columns"])}, (page, name)


def test_pages_and_cards_name_the_same_value() -> None:
    numbers = docs_tables.read_numbers()
    for name, number in numbers.items():
        if "card" in number:
            network, test, metric = number["card"]
            row = next(row for row in docs_tables.card_rows(network, test) if row.name == metric)
            assert (row.value, row.interval) == (number["value"], number["interval"]), name
            assert row.n == number.get("n", row.n), name
    used: dict[str, set[str]] = {name: set() for name in numbers}
    for page in PAGES:
        for name, number in marks(page.read_text(encoding="utf-8")):
            allowed = [numbers[name]["value"], *numbers[name].get("also", ())]
            assert number in allowed, (page.name, name, number, allowed)
            used[name].add(page.name)
    assert not [name for name, pages in used.items() if not pages]


@pytest.mark.parametrize(("number", "agrees"), [("67.3%", True), ("67.0%", False), ("**67.3%**", True)])
def test_a_mark_with_another_value_is_noticed(number: str, agrees: bool) -> None:
    value = docs_tables.read_numbers()["winner.masters"]["value"]
    assert marks(f"It names {number}<!--winner.masters--> of the winners") == [("winner.masters", number.strip("*"))]
    assert (marks(f"{number}<!--winner.masters-->")[0][1] == value) is agrees


@pytest.mark.parametrize("network", sorted(packaged()))
def test_a_card_names_the_weights_that_are_bundled(network: str) -> None:
    folder = packaged()[network]
    card = (folder / "CARD.md").read_text(encoding="utf-8")
    weights = (folder / WEIGHTS).read_bytes()
    assert hashlib.sha256(weights).hexdigest() in card
    assert hashlib.sha256(weights + b"0").hexdigest() not in card


def test_the_readme_marks_its_numbers() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = re.search(r"^## The networks$(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    strength = re.search(r"^## How strong is it\?$(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    assert table is not None
    assert strength is not None
    for section in (table[1], strength[1]):
        assert section.count("%") == section.count("%<!--") >= 4


@pytest.mark.parametrize("name", NETWORKS)
def test_a_results_page_has_its_form(name: str) -> None:
    text = (DOCS / "results" / f"{name}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    wanted = ["Model", "Data", "Training", "Evaluation", "Ablations", "Negative results", "Limits"]
    if name == "search":
        wanted[:3] = ["Setup"]
    assert sorted(headings) == sorted(wanted)
    prose = re.sub(r"^```.*?^```$|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)
    assert sum(bool(re.search(r"\w", word)) for word in prose.split()) <= 1200


@pytest.mark.parametrize(
    "page", [*(DOCS / "results").glob("*.md"), *(DOCS / "papers").glob("*.md")], ids=lambda p: p.stem
)
def test_tables_are_narrow_and_have_no_sentences(page: Path) -> None:
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert len(cells) <= 7, line
            assert not [cell for cell in cells if re.search(r"\. [A-Z]|; ", cell)], line
            assert not [cell for cell in cells if _TWO.search(cell)], line
            assert not re.search(r"\bload (average )?\d", line), line


@pytest.mark.parametrize(
    ("page", "cell", "other"),
    [
        ("recipes", "7,500 batches, at most 2 epochs", "7,000 batches, at most 2 epochs"),
        ("networks", "| 6 blocks of 64 filters | 572,494 |", "| 5 blocks of 64 filters | 572,494 |"),
    ],
)
def test_a_table_from_the_code_with_another_number_is_noticed(page: str, cell: str, other: str) -> None:
    text = (DOCS / "reference" / f"{page}.md").read_text(encoding="utf-8")
    changed = text.replace(cell, other)
    assert changed != text
    assert docs_tables.filled(changed) == text
