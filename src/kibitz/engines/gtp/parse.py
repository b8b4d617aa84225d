"""Parse GTP command lines and their arguments, and format replies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kibitz.text import shown, whole_number

LONGEST_ID = 20


class GtpError(ValueError):
    """The error for a GTP command that can't be executed. The engine sends its message, one line, as the reply."""


@dataclass(frozen=True)
class Command:
    """A GTP command that was parsed from a line.

    id: the command's number at the start of the line, as text; "" if there is none.
    name: the command's name in lower case, such as "genmove".
    words: the arguments, split at spaces.
    text: the arguments as one text.
    """

    id: str
    name: str
    words: tuple[str, ...]
    text: str


def read_command(line: str) -> Command | None:
    """Parse a line with a GTP command. Returns None if the line is blank or contains only a comment."""
    line = line.removeprefix("\ufeff")  # some programs begin with a byte order mark
    line = "".join(" " if letter == "\t" else letter for letter in line if letter == "\t" or letter >= " ")
    line = line.replace("\x7f", "").split("#", 1)[0].strip()
    if not line:
        return None
    first, _, rest = line.partition(" ")
    number = ""
    if first.isascii() and first.isdigit() and len(first) <= LONGEST_ID:
        number = first
        first, _, rest = rest.strip().partition(" ")
    return Command(number, first.lower(), tuple(rest.split()), rest.strip())


def answer(number: str, text: str, good: bool = True) -> str:
    """Return the reply to a GTP command in the format of GTP. Empty lines inside the reply are removed, and an empty
    line ends the reply.

    number: the number of the command; "" if it had none. text: the text of the reply. good: False if the reply is an
    error.
    """
    lines = [line.rstrip() for line in text.split("\n")]
    body = "\n".join([lines[0], *(line for line in lines[1:] if line)])
    return f"{'=' if good else '?'}{number} {body}\n\n"


def argument(words: Sequence[str], index: int = 0) -> str:
    """Return one of a command's arguments. Raises GtpError if it is missing.

    words: the arguments. index: the position of the argument, from 0.
    """
    if index >= len(words):
        raise GtpError("syntax error: an argument is missing")
    return words[index]


def colour(text: str) -> int:
    """Parse a color, such as "b" or "White", in any case. Returns BLACK = 1 or WHITE = 2. Raises GtpError for other
    text.
    """
    from kibitz.games.go.points import BLACK, WHITE

    side = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}.get(text.lower())
    if side is None:
        raise GtpError(f"syntax error: the color must be b or w (got {shown(text)})")
    return side


def is_colour(text: str) -> bool:
    """Return whether the text is a color that `colour` accepts."""
    return text.lower() in ("b", "black", "w", "white")


def vertex(text: str, size: int) -> int:
    """Parse a point of the board, such as "Q16", or "pass". Returns 19 * row + column, with rows from the top, or 361
    for a pass. Raises GtpError for any other text.

    size: the board's size.
    """
    from kibitz.games.go.points import from_gtp

    try:
        return from_gtp(text, size)
    except ValueError:
        raise GtpError(f"syntax error: {shown(text)} is not a vertex of this board") from None


def whole(text: str, low: int, high: int) -> int:
    """Parse an integer from `low` to `high`. Raises GtpError for any other text."""
    number = whole_number(text)
    if number is None or not low <= number <= high:
        raise GtpError(f"syntax error: the value must be a whole number from {low} to {high} (got {shown(text)})")
    return number


def number(text: str, low: float = -math.inf, high: float = math.inf) -> float:
    """Parse a finite number from `low` to `high`. Raises GtpError for any other text."""
    try:
        value = float(text) if text.isascii() and "_" not in text and len(text) < 40 else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or not low <= value <= high:
        raise GtpError(f"syntax error: the value must be a number in the allowed range (got {shown(text)})")
    return value


def truth(text: str) -> bool:
    """Parse "true" or "false" as a bool. Raises GtpError for any other text."""
    if text.lower() not in ("true", "false"):
        raise GtpError(f"syntax error: the value must be true or false (got {shown(text)})")
    return text.lower() == "true"
