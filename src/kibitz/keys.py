"""Make the keys of the JSON output, which are stable names in snake_case. Each key has a "label", a text for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def key_of(words: str, before: str = "") -> str:
    """Convert words to a JSON key: "side to move" becomes side_to_move.

    before: a prefix for words that begin with a digit; with the prefix "komi", "6.5" becomes komi_6_5, and "-6.5"
    becomes komi_minus_6_5.
    """
    number = re.match(r"-?(?=\d)", words)
    key = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    if number and number[0]:
        key = f"minus_{key}"
    return f"{key_of(before)}_{key}" if before and (number or not key[:1].isalpha()) else key


def counted(counts: Mapping[str, int], before: str = "") -> dict[str, dict[str, Any]]:
    """Return how many games have each value, in the given order. Each value has a key, and the entry of the key is
    {"label": the value as text, "games": the number of games}.

    Values with the same key are added.
    """
    found: dict[str, dict[str, Any]] = {}
    for label, games in counts.items():
        found.setdefault(key_of(label, before), {"label": label, "games": 0})["games"] += games
    return found


def labelled_reasons(rejections: Mapping[str, Any]) -> dict[str, Any]:
    """Return rejected games by key: {"label", "games", "first"}. rejections: the games by reason, as in a store."""
    return {key_of(reason): {"label": reason, **entry} for reason, entry in rejections.items()}
