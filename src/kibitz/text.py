"""Parse integers, make texts from users and files safe for one-line messages, and format lists of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def whole_number(text: str) -> int | None:
    """Parse an integer of up to 15 digits, perhaps with a minus sign. Returns None for any other text."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 15 else None


def shown(text: str) -> str:
    """Make a text from a user or a file safe for a one-line message: at most 100 characters, with "?" in place of
    control characters.
    """
    line = "".join(letter if letter.isprintable() else "?" for letter in text[:200])
    return line if len(line) <= 100 else line[:97] + "..."


def number_of(count: int, noun: str) -> str:
    """Return a number with its noun, such as "1 game" or "1,200 games". noun: in the singular, such as "game"; its
    plural must be formed with "s".
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def rounded(value: float, digits: int) -> float:
    """Round a number for output. The result is never -0.0, which looks like a negative number."""
    return round(value, digits) + 0.0


def signed(value: float, digits: int = 1) -> str:
    """Return a number with its sign and `digits` decimals, such as "+2.5"; "+0.0" also for numbers just below 0."""
    return f"{rounded(value, digits):+.{digits}f}"


def either(names: Iterable[str], notes: Mapping[str, str] | None = None, first: str | None = None) -> str:
    """Return names as a text that lists a choice, such as "constant, epoch (× --decay an epoch) or cosine".

    notes: a dict from names to remarks. A remark is put in parentheses after its name. first: the name to put first;
    None to keep the order of `names`.
    """
    ordered = sorted(names, key=lambda name: name != first)
    words = [f"{name} ({notes[name]})" if notes and name in notes else name for name in ordered]
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)
