"""Every call of kibitz in README.md and docs/ has a command and options that exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz import cli
from support.calls import options_of

ROOT = Path(__file__).parents[1]
HISTORY = ROOT / "docs" / "results" / "history"
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if HISTORY not in page.parents)]
_BLOCK = re.compile(r"^( *)```(?:text|sh)?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def calls_in(text: str) -> Iterator[str]:
    """The calls of a page: lines of blocks, with their continuations, and what stands in backquotes."""
    for found in _BLOCK.finditer(text):
        for line in found[2].replace("\\\n", " ").splitlines():
            if line.strip().startswith("kibitz "):
                yield line.strip()
    prose = _BLOCK.sub("", text)
    yield from re.findall(r"`(kibitz [a-z][^`]*)`", prose)


def unknown(text: str) -> list[str]:
    """What is wrong in the calls of a page."""
    wrong = []
    for call in calls_in(text):
        for part in re.split(r"&&|;|\|", call):
            words = shlex.split(part, comments=True)[1:] if part.strip().startswith("kibitz ") else []
            if not words or words[0].startswith("-"):
                continue
            if words[0] not in cli.COMMANDS:
                wrong.append(f"{call}: no command {words[0]}")
                continue
            options = [word.split("=")[0] for word in words[1:] if re.match(r"--?[a-z]", word)]
            wrong += [f"{call}: no option {option}" for option in options if option not in options_of(words[0])]
    return wrong


@pytest.mark.parametrize(
    ("text", "many"),
    [
        ("```\nkibitz train winner my.store --layers 8conv4x4.ip8 \\\n    --nonsense 3\n```", 1),
        ("Type `kibitz inport games.pgn`.", 1),
        ("Type `kibitz import games.pgn --into my.store --limit 3`.", 0),
        ("```\nkibitz import a.pgn --into s && kibitz tran winner s\n```", 1),
    ],
)
def test_a_wrong_call_is_found(text: str, many: int) -> None:
    assert len(unknown(text)) == many


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_calls_of_a_page_exist(page: Path) -> None:
    assert unknown(page.read_text(encoding="utf-8")) == []
