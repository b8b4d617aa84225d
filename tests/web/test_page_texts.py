"""The page translates fixed sentences of the server: each one that a language file names is still in the source."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import kibitz

ROOT = Path(kibitz.__file__).parent
TEXTS = ROOT.parents[1] / "frontend" / "src" / "texts"
LANGUAGES = ("en", "de", "fr")
COMPOSED = re.compile(
    r"White's win|own |the other side's |squares attacked|.*\(own \+1|(origin|target) of the (last )?move|stones with"
    r"|the middlegame|\w+ moves$|.*the moves after it are skipped|move \{1\} '"
    r"|\{1\} (is used|plays|supports ratings|has no rating|cannot play)"
    r"|\{1\} is too large for the explorer: .* with: \{4\}$"
)
"""Sentences that the source puts together from pieces."""


@cache
def templates() -> str:
    """All strings of the source, one a line; what is put into them is "{}"."""
    found: set[str] = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]
                found.add("".join(parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return "\n".join(found).replace("'{}'", "{}")


def keys(language: str) -> list[str]:
    """The server's sentences that a language translates, as its file writes them."""
    text = (TEXTS / f"{language}.ts").read_text(encoding="utf-8")
    server = text[text.index("\n  server: {") :]
    return [found.replace('\\"', '"') for found in re.findall(r'^    "((?:[^"\\]|\\.)+)":', server, re.MULTILINE)]


def plain(key: str) -> str:
    """A key as templates are written: quotes around a name come with the name."""
    return re.sub(r"'?\{\d\}'?", "{}", key)


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_of_the_server_that_are_translated_are_in_the_source(language: str) -> None:
    if not TEXTS.is_dir():
        pytest.skip("the source tree is not here")
    known = keys(language)
    assert len(known) > 20
    missing = [key for key in known if plain(key) not in templates() and not COMPOSED.match(key)]
    assert missing == []


def test_german_and_french_translate_the_same_sentences() -> None:
    if not TEXTS.is_dir():
        pytest.skip("the source tree is not here")
    assert sorted(keys("de")) == sorted(keys("fr"))


def test_a_sentence_that_is_not_in_the_source_is_found() -> None:
    assert plain("nobody says {1} '{2}' anywhere") not in templates()
