"""Print parts of an analysis on a terminal, for chess and Go. Everything that is shown by color is also shown by text
or signs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from kibitz.analysis.glyphs import GAINED, SIGNS
from kibitz.analysis.summary import GameSummary, TurningPoint

LEVELS = "▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉"
STYLES = {"??": "bold red", "?": "red", "?!": "yellow", GAINED: "green"}
_PLAIN = str.maketrans({"…": "...", "→": ">", "–": "-", "×": "x", "−": "-", GAINED: "^", "½": "="})


def clean(text: str, most: int = 120) -> str:
    """Return a text from a game record without control characters, and shortened to at most `most` characters."""
    text = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return text if len(text) <= most else text[: most - 1] + "…"


def sparkline(shares: NDArray[np.float64], width: int, ascii_only: bool = False) -> str:
    """Draw values as a curve of at most `width` characters. Each character shows the mean of a section of the values,
    as a block or, if `ascii_only` is true, as a digit from 0 to 9.

    shares: the values, [n], 0 to 1.
    """
    levels = "0123456789" if ascii_only else LEVELS
    means = [float(part.mean()) for part in np.array_split(shares, max(1, min(width, len(shares))))]
    return "".join(levels[min(int(mean * len(levels)), len(levels) - 1)] for mean in means)


def bar(share: float, width: int, ascii_only: bool = False) -> str:
    """Draw a share, 0 to 1, as a bar of `width` characters. The part up to the share is filled, and the rest is
    dotted.
    """
    if ascii_only:
        filled = round(share * width)
        return "#" * filled + "." * (width - filled)
    filled, part = divmod(round(share * width * 8), 8)
    return ("█" * filled + (EIGHTHS[part] if part else "")).ljust(width, "·")


def turning_words(turning: TurningPoint, move: str) -> str:
    """Return a sentence about the turning point of a game. move: the text for the move at the turning point, such as
    "12. Nf3".
    """
    return (
        f"Turning point: {f'{turning.ahead.capitalize()} stays' if turning.ahead else 'nobody is'} ahead after {move}"
    )


def show_summary(console: Console, summary: GameSummary, unit: str, scale: float, name: Callable[[int], str]) -> None:
    """Print the accuracy, the mean loss and the annotations of each side, and the turning point of a game.

    unit: the name of the unit in which losses are printed.
    scale: the factor that converts the losses of `summary` to this unit.
    name: a function that takes the number of a move, from 1. It returns the text for the move, such as "12. Nf3".
    """
    print_line(console, f"{'Summary':<10}{'accuracy':>9}{'lost':>7}" + "".join(f"{sign:>4}" for sign in SIGNS), "bold")
    for side, one in summary.sides.items():
        if one.accuracy is not None and one.loss is not None:
            marks = "".join(f"{one.marks[sign]:>4}" for sign in SIGNS)
            print_line(console, f"{side.capitalize():<10}{one.accuracy:>9.0%}{one.loss * scale:>7.1f}{marks}")
    print_line(console, f"lost: {unit} per move.")
    if turning := summary.turning_point:
        print_line(console, turning_words(turning, name(turning.ply)))


def print_line(console: Console, text: str, style: str = "") -> None:
    """Print a line of text. style: a style of the library Rich, such as "bold"."""
    print_text(console, Text(text, style=style))


def print_text(console: Console, text: Text) -> None:
    """Print styled text. If the terminal can't show Unicode, some characters are replaced."""
    if console.options.ascii_only:  # replacing a character is better than an encoding error
        plain = text.plain.translate(_PLAIN)
        text.plain = plain.encode(console.encoding, "replace").decode(console.encoding)
    for line in text.wrap(console, console.width, overflow="fold") or [text]:
        line.rstrip()
        console.print(line, no_wrap=True, highlight=False, markup=False)
