"""A judged game on a terminal: a curve of the whole, a row a move, what mattered. Nothing is told by colour alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from kibitz.analysis.games import clean
from kibitz.analysis.moves import GAINED, MATE, STALEMATE, Judged, Move

LEVELS = "▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉"
WIDEST_BAR, NARROWEST_BAR = 30, 8
ROW = 41
"""Columns of a row before its bar."""
MOST_SWINGS = 5
_PLAIN = str.maketrans({"…": "...", "→": ">", "–": "-", GAINED: "^", STALEMATE: "="})
STYLES = {"??": "bold red", "?": "red", "?!": "yellow", GAINED: "green", MATE: "bold", STALEMATE: "bold"}


def show(judged: Judged, swing: float, console: Console) -> None:
    """Print a game. From 60 columns it reads as meant; under 49 the bars are left out."""
    _show_heading(judged, console)
    _line(console, "")
    if judged.moves:
        _line(console, "White's winning probability, from start to end:")
        _line(console, sparkline(judged.white, min(console.width, len(judged.white)), console.options.ascii_only))
        _line(console, "")
        _show_moves(judged.moves, console)
        _line(console, "")
    _show_summary(judged, swing, console)


def sparkline(white: NDArray[np.float64], width: int, ascii_only: bool = False) -> str:
    """Probabilities 0..1 [n] as so many characters, each the mean of its share of the game; digits 0-9 in ASCII."""
    levels = "0123456789" if ascii_only else LEVELS
    means = [float(part.mean()) for part in np.array_split(white, max(1, min(width, len(white))))]
    return "".join(levels[min(int(mean * len(levels)), len(levels) - 1)] for mean in means)


def bar(white: float, width: int, ascii_only: bool = False) -> str:
    """White's share as a filled bar, the rest dotted."""
    if ascii_only:
        filled = round(white * width)
        return "#" * filled + "." * (width - filled)
    filled, part = divmod(round(white * width * 8), 8)
    return ("█" * filled + (EIGHTHS[part] if part else "")).ljust(width, "·")


def _show_heading(judged: Judged, console: Console) -> None:
    headers = judged.record.game.headers
    players = []
    for side in ("White", "Black"):
        name, rating = clean(headers.get(side, "?"), 60), clean(headers.get(f"{side}Elo", ""), 6)
        players.append(f"{name} ({rating})" if rating.strip("?-0") else name)
    _line(
        console, f"Game {judged.record.number}: {' – '.join(players)}, {clean(headers.get('Result', '*'), 10)}", "bold"
    )
    rest = [clean(headers.get(name, "?")) for name in ("Event", "Site", "Date")]
    if known := [text for text in rest if text.strip("?.- ")]:
        _line(console, ", ".join(known))


def _show_moves(moves: list[Move], console: Console) -> None:
    ascii_only = console.options.ascii_only
    width = min(WIDEST_BAR, console.width - ROW)
    bars = width >= NARROWEST_BAR
    _line(console, f"{'move':<17}{'before':>6}{'after':>7}{'mover':>8}" + ("   White wins" if bars else ""), "bold")
    for move in moves:
        number = _number(move, ascii_only)
        sign = move.mark if move.mark not in (GAINED, MATE, STALEMATE) else ""
        change = move.mark if move.change is None else _points(move.change)
        text = Text(f"{number:>5} {move.san + sign:<11}{move.before:>6.0%}{move.after:>7.0%}{change:>8}")
        text.append(f" {GAINED if move.mark == GAINED else ' '} ")
        if move.mark:
            text.stylize(STYLES[move.mark])
        if bars:
            text.append(bar(move.after, width, ascii_only))
        _print(console, text)


def _show_summary(judged: Judged, swing: float, console: Console) -> None:
    if not judged.moves:
        _line(console, f"no moves; White wins this position with {judged.white[0]:.0%}")
        return
    end = {MATE: "Checkmate", STALEMATE: "Stalemate"}.get(judged.moves[-1].mark)
    if end:
        _line(console, f"{end}: the last number is the network's, not the result.")
    swings = judged.swings
    points = f"{swing * 100:g} points or more"
    if not swings:
        _line(console, f"No move changed its player's chances by {points}.")
    else:
        more = f", the largest {MOST_SWINGS}" if len(swings) > MOST_SWINGS else ""
        _line(console, f"Swings of {points}: {len(swings)}{more}:")
    for move in swings[:MOST_SWINGS]:
        number = _number(move, console.options.ascii_only)
        sign = "" if move.mark == GAINED else move.mark
        line = f"{number:>5} {move.san + sign:<11}{_points(move.change or 0):>4}"
        _line(console, f"{line}  White {move.before:.0%} → {move.after:.0%}", STYLES[move.mark])
    losses = []
    for side in ("white", "black"):
        loss, _ = judged.average_loss(side)
        if loss is not None:
            losses.append(f"{side.capitalize()} {loss * 100:.1f} points")
    if losses:
        _line(console, f"Average loss a move: {', '.join(losses)}.")


def _number(move: Move, ascii_only: bool) -> str:
    return f"{move.move_number}{'.' if move.side == 'white' else '...' if ascii_only else '…'}"


def _points(change: float) -> str:
    """A change in points of probability: +7, -12, 0."""
    points = round(change * 100)
    return f"{points:+d}" if points else "0"


def _line(console: Console, line: str, style: str = "") -> None:
    _print(console, Text(line, style=style))


def _print(console: Console, text: Text) -> None:
    if console.options.ascii_only:  # rather a wrong letter than an encoding error
        plain = text.plain.translate(_PLAIN)
        text.plain = plain.encode(console.encoding, "replace").decode(console.encoding)
    console.print(text, overflow="fold", highlight=False, markup=False)
