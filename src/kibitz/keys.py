"""Make keys for the JSON output from texts for people. The keys are in snake_case. In the JSON, each key comes with the
original text as its "label".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def key_of(words: str, before: str = "") -> str:
    """Convert words to a JSON key in snake_case: "side to move" becomes "side_to_move".

    before: the prefix for words that begin with a digit or a minus sign. With the prefix "komi", "6.5" becomes
    "komi_6_5", and "-6.5" becomes "komi_minus_6_5".
    """
    number = re.match(r"-?(?=\d)", words)
    key = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    if number and number[0]:
        key = f"minus_{key}"
    return f"{key_of(before)}_{key}" if before and (number or not key[:1].isalpha()) else key


def counted(counts: Mapping[str, int], before: str = "") -> dict[str, dict[str, Any]]:
    """Convert numbers of games to a dict for JSON: {key: {"label": the value as text, "games": the number of games}}.

    counts: the number of games for each value, such as {"blitz": 20}. The result has the same order. If several values
        have the same key, their numbers of games are added up.
    before: the prefix for values that begin with a digit, such as "komi". The key of a value is `key_of(value,
        before)`.
    """
    found: dict[str, dict[str, Any]] = {}
    for label, games in counts.items():
        found.setdefault(key_of(label, before), {"label": label, "games": 0})["games"] += games
    return found


def labelled_reasons(rejections: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the reasons why an import rejected games to a dict for JSON, with keys that `key_of` makes from the
    reasons.

    rejections: reason -> {"games": the number of rejected games, "first": the first few of these games}. The result has
    the same values, each with the reason as "label".
    """
    return {key_of(reason): {"label": reason, **entry} for reason, entry in rejections.items()}
