"""docs/reference/json.md names every key that the commands print."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz.commands.help_texts import COMMANDS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "json.md"
RECORDED = ROOT / "tests" / "recorded"
FREE = {"headers", "options", "marks", "filter", "boards", "rules", "komi", "handicaps", "endings", "left_out"}
"""Keys whose contents are data, or counts by value."""
KEY = re.compile(r"[a-z][a-z_0-9]*")


def documented() -> set[str]:
    """Every key in backquotes, also those of an example."""
    spans = re.findall(r"`([^`]*)`", PAGE.read_text(encoding="utf-8"))
    return set(KEY.findall(" ".join(spans)))


def keys(value: Any) -> Iterator[str]:
    """The keys of an object and of all objects in it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in FREE:
                yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


def recorded(name: str) -> Any:
    return json.loads(lzma.decompress((RECORDED / f"{name}.json.xz").read_bytes()))


@pytest.mark.parametrize("name", [path.name.split(".")[0] for path in sorted(RECORDED.glob("analyze-*.json.xz"))])
def test_every_key_of_an_analysis_is_on_the_page(name: str) -> None:
    found = {key for key in keys(recorded(name)) if KEY.fullmatch(key)}
    assert len(found) > 10
    assert sorted(found - documented()) == []


def test_every_key_of_a_store_is_on_the_page() -> None:
    both = recorded("info")
    found = {key for store in (both["chess"], both["go"]) for key in keys(store) if KEY.fullmatch(key)}
    values = {"white_won", "black_won", "playouts"}  # counts by value
    assert sorted(found - documented() - values) == []


@pytest.mark.parametrize("name", ["winner", "chessnet", "human", "deepchess", "gocnn", "gohuman"])
def test_the_keys_of_a_test_are_on_the_page(name: str) -> None:
    result = recorded(f"test-{name}")
    assert sorted((result.keys() | result["data"].keys()) - documented()) == []


def test_every_command_that_prints_json_has_a_section() -> None:
    sections = set(re.findall(r"^## (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    printing = {
        name
        for name, words in COMMANDS.items()
        if any("--json" in row for row in (words.common, *words.panels.values()))
    }
    assert len(printing) > 10
    assert sorted(printing - sections) == []


def test_a_key_without_a_word_is_noticed() -> None:
    assert "a_new_key" in set(keys({"games": [{"moves": [{"a_new_key": 1}]}]})) - documented()
