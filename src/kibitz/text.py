"""Text from outside: parsing of numbers, and sanitising of text for one-line messages."""

from __future__ import annotations


def whole_number(text: str) -> int | None:
    """A number of up to 15 digits; None for anything else. No clock and no count needs more."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 15 else None


def shown(text: str) -> str:
    """A text fit for an answer's line: short, and nothing in it that a terminal obeys."""
    line = "".join(letter if letter.isprintable() else "?" for letter in text[:200])
    return line if len(line) <= 100 else line[:97] + "..."
